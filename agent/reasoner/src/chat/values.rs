//! Values of the manual for mounting: torque, grease, heating by the tool of the table, clearance
//! by the manual.

use pdm_shared::text::Language;
use serde_json::{Map, Value};

use super::intent::{self, QUESTION_WORDS, Topic, has};
use super::passage;
use crate::toolbox::{self, Toolbox};

/// The tool of the table.
const TABLE: &str = "look_up_mounting_value";

/// Returns the values that a clause asks for, each with its section; `None` if no table and no
/// manual has them.
pub(super) async fn value_in_words(
    tools: &dyn Toolbox,
    topic: Topic,
    clause: &str,
    language: Language,
) -> Option<String> {
    if topic == Topic::Torque
        && let Some(told) = of_no_bolt(tools, clause, language).await
    {
        return Some(told);
    }
    if topic == Topic::Grease
        && let Some(told) = of_size(clause, language)
    {
        return Some(told);
    }
    if topic == Topic::Grease
        && let Some(told) = of_designation(tools, clause, language).await
    {
        return Some(told);
    }
    let name = match topic {
        Topic::Torque => "torque",
        Topic::Grease => "grease",
        Topic::Heating => "heating",
        Topic::Clearance => return passage::manual(tools, clause, language).await,
    };
    let arguments = Map::from_iter([("topic".to_owned(), Value::from(name))]);
    let answer = toolbox::traced(tools, "extraction", TABLE, arguments).await;
    let rows = answer.data.get("rows").and_then(Value::as_array).cloned().unwrap_or_default();
    let rows: Vec<&Value> = rows.iter().filter(|row| is_asked(row, topic, clause)).collect();
    let lines: Vec<String> = rows.iter().filter_map(|row| line(row, language)).collect();
    if lines.is_empty() {
        return passage::manual(tools, clause, language).await;
    }
    // EM-06 §6 says so of tightening alone
    let first = (topic == Topic::Torque).then(|| match language {
        Language::Ko => "설비 도면의 값이 있으면 도면이 먼저입니다.".to_owned(),
        Language::En => "A value on the machine's drawing comes first.".to_owned(),
    });
    Some(lines.into_iter().chain(first).collect::<Vec<_>>().join("\n"))
}

/// Returns the manual's statement about tightening something that is no bolt of the table, such as
/// a locknut; never the torque of a bolt.
async fn of_no_bolt(tools: &dyn Toolbox, clause: &str, language: Language) -> Option<String> {
    let lower = clause.to_lowercase();
    let group = QUESTION_WORDS.not_bolts.iter().find(|group| has(&lower, group))?;
    let name = group.iter().find(|word| lower.contains(word.as_str()))?;
    let mut lines = lines_of_section(tools, ("EM-06", "6"), language).await;
    lines.retain(|line| has(&line.to_lowercase(), group));
    let refers = match (lines.is_empty(), language) {
        (false, Language::Ko) => "값은 제 문서에 없습니다: 제조사의 값을 따릅니다.".to_owned(),
        (false, Language::En) => "My documents state no value: the maker's holds.".to_owned(),
        (true, Language::Ko) => {
            format!(
                "{name}: 조임값이 제 문서에 없습니다. 제조사나 도면의 값을 찾고, 값 없이 조이지 마십시오."
            )
        }
        (true, Language::En) => {
            format!(
                "{name}: no torque is in my documents. Find the maker's or the drawing's value; \
                 do not tighten without one."
            )
        }
    };
    if lines.is_empty() {
        return Some(refers);
    }
    Some(format!("{} [EM-06 §6]\n{refers}", lines.join("\n")))
}

/// Returns the manual's statement for the bearing that a clause names by its designation (`6205`),
/// else that its outside diameter and width are not in the documents.
async fn of_designation(tools: &dyn Toolbox, clause: &str, language: Language) -> Option<String> {
    let is_designation =
        |word: &&str| (4..6).contains(&word.len()) && word.chars().all(|c| c.is_ascii_digit());
    let designation = clause.split(|c: char| !c.is_ascii_digit()).find(is_designation)?;
    let lines = lines_of_section(tools, ("EM-01", "4"), language).await;
    let formula = lines.iter().find(|line| line.contains('G') && line.contains('·'))?;
    let is_there = lines.iter().any(|line| line.contains(designation));
    let note = match (is_there, language) {
        (true, _) => String::new(),
        (false, Language::Ko) => format!(
            "\n{designation}의 외경 D와 폭 B는 제 문서에 없습니다. 도면이나 제조사 자료의 값을 식에 넣으십시오."
        ),
        (false, Language::En) => format!(
            "\nThe outside diameter D and the width B of {designation} are not in my documents: \
             take them from the drawing or the maker."
        ),
    };
    Some(format!("{formula} [EM-01 §4]{note}"))
}

/// Whether a message asks for grease and states the size of a bearing.
pub(super) fn states_size(message: &str) -> bool {
    intent::topic(message) == Some(Topic::Grease) && of_size(message, Language::En).is_some()
}

/// The quantity of grease by the formula of EM-01 §4 for the outside diameter and the width that a
/// clause states.
fn of_size(clause: &str, language: Language) -> Option<String> {
    const OUTSIDE: [&str; 10] = [
        "outside diameter",
        "outer diameter",
        "outside dia",
        "outer dia",
        "od",
        "d",
        "외경",
        "바깥지름",
        "바깥 지름",
        "외륜경",
    ];
    const WIDTH: [&str; 5] = ["width", "b", "폭", "너비", "두께"];
    let text = clause.to_lowercase();
    let numbers = intent::numbers(&text);
    // the number behind a name, with a particle, an equals sign or a word between them
    let behind = |names: &[&str]| {
        numbers.iter().find_map(|(from, _, value)| {
            let before = text[..*from].trim_end_matches([' ', '=', ':', '은', '는', '이', '가']);
            let before =
                before.strip_suffix(" is").or_else(|| before.strip_suffix(" of")).unwrap_or(before);
            let is_it = names.iter().any(|name| {
                before.strip_suffix(name).is_some_and(|rest| {
                    !name.is_ascii() || !rest.ends_with(|c: char| c.is_ascii_alphanumeric())
                })
            });
            is_it.then_some(*value)
        })
    };
    let (outside, width) = (behind(&OUTSIDE)?, behind(&WIDTH)?);
    let told = |value: f64| value.to_string();
    let grams = pdm_expert::wording::figure(0.005 * outside * width);
    let (outside, width) = (told(outside), told(width));
    Some(match language {
        Language::Ko => format!(
            "보충량 G = 0.005 · D · B = 0.005 · {outside} · {width} = {grams} g (외경 D {outside} mm, 폭 \
             B {width} mm는 질문의 값). 70 °C를 넘으면 15 °C마다 급유 주기를 절반으로 줄인다. [EM-01 §4]"
        ),
        Language::En => format!(
            "Relubrication amount G = 0.005 · D · B = 0.005 · {outside} · {width} = {grams} g \
             (outside diameter D {outside} mm and width B {width} mm as the question states them). \
             Above 70 °C halve the relubrication interval for every 15 °C. [EM-01 §4]"
        ),
    })
}

/// The lines of a section of a manual, in a language.
async fn lines_of_section(
    tools: &dyn Toolbox,
    (document, number): (&str, &str),
    language: Language,
) -> Vec<String> {
    let arguments = Map::from_iter([
        ("document".to_owned(), Value::from(document)),
        ("number".to_owned(), Value::from(number)),
    ]);
    let answer = toolbox::traced(tools, "extraction", "read_document_section", arguments).await;
    let documents = answer.data.get("documents").and_then(Value::as_array).cloned();
    let field = if language == Language::En { "english" } else { "text" };
    let documents = documents.unwrap_or_default();
    let texts = documents.iter().filter_map(|one| one.get(field).and_then(Value::as_str));
    texts.flat_map(str::lines).map(|line| line.trim().to_owned()).collect()
}

/// Whether a row is of the bolt, the seal or the place that a clause names; every row where it
/// names none.
fn is_asked(row: &Value, topic: Topic, clause: &str) -> bool {
    let what = row.get("what").and_then(Value::as_str).unwrap_or_default();
    let lower = clause.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    match topic {
        Topic::Torque => match bolt(&lower) {
            Some(bolt) => what.ends_with(&bolt),
            None => true,
        },
        Topic::Heating if has(&["시간", "몇 분", "오래", "how long", "minutes"]) => {
            what.contains("time")
        }
        Topic::Heating if has(&["밀봉", "씰", "실 달린", "2rs", "sealed", "shielded"]) => {
            what.contains("sealed")
        }
        Topic::Heating if has(&["한계", "최고", "넘", "max", "limit", "at most"]) => {
            what.contains("limit")
        }
        Topic::Grease if has(&["주기", "how often", "interval"]) => what.contains("halving"),
        Topic::Grease if has(&["하우징", "housing"]) => what.contains("housing"),
        Topic::Grease if has(&["보충", "relubric", "top up", "g 넣", "그램", "grams"]) => {
            what.contains("relubrication") || what.contains("coefficient")
        }
        Topic::Grease => !what.contains("halving"),
        Topic::Heating | Topic::Clearance => true,
    }
}

/// The size of a bolt in a text in lower case: `m12`.
fn bolt(text: &str) -> Option<String> {
    text.match_indices('m').find_map(|(at, _)| {
        let before = text[..at].chars().next_back();
        let digits: String = text[at + 1..].chars().take_while(char::is_ascii_digit).collect();
        let is_size = !digits.is_empty() && !before.is_some_and(|c| c.is_ascii_alphanumeric());
        is_size.then(|| format!("m{digits}"))
    })
}

/// `M12, 강도 8.8, 건조: 85 N·m [EM-06 §6]`
fn line(row: &Value, language: Language) -> Option<String> {
    let text = |name: &str| row.get(name).and_then(Value::as_str);
    let number = |name: &str| row.get(name).and_then(Value::as_f64).map(|value| value.to_string());
    let (unit, meaning, section) = (text("unit")?, text("meaning")?, text("section")?);
    let meaning = in_language(meaning, language);
    let says_so = ["최고", "limit"].iter().any(|word| meaning.contains(word));
    let most = |value: &str| match language {
        _ if says_so => value.to_owned(),
        Language::Ko => format!("최고 {value}"),
        Language::En => format!("at most {value}"),
    };
    let value = match (number("value"), number("from"), number("at_most")) {
        (Some(value), _, _) => value,
        (None, Some(from), Some(to)) => format!("{from}–{to}"),
        (None, None, Some(to)) => most(&to),
        (None, Some(from), None) => from,
        (None, None, None) => return None,
    };
    Some(format!("- {meaning}: {value} {unit} [{section}]"))
}

/// One language of `한국어 (English)`.
pub(super) fn in_language(text: &str, language: Language) -> &str {
    let Some(open) = text.find(" (").filter(|_| text.ends_with(')')) else { return text };
    // of "보충량 G = 0.005 · D · B (g, mm) (relubrication …)" the last brackets that begin with a word
    let inner = text.match_indices(" (").map(|(at, _)| at);
    let starts_word = |at: &usize| {
        let rest = &text[at + 2..];
        let letters = rest.chars().take_while(char::is_ascii_alphanumeric).count();
        letters > 2 || rest.starts_with("M1") || rest.starts_with("M8")
    };
    let at = inner.filter(starts_word).min().unwrap_or(open);
    match language {
        Language::Ko => &text[..at],
        Language::En => &text[at + 2..text.len() - 1],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meaning_is_told_in_one_language() {
        for (text, ko, en) in [
            (
                "M12, 강도 8.8, 건조 (M12, class 8.8, dry)",
                "M12, 강도 8.8, 건조",
                "M12, class 8.8, dry",
            ),
            ("개방형 최고 (limit of open bearings)", "개방형 최고", "limit of open bearings"),
            (
                "보충량 G = 0.005 · D · B (g, mm) (relubrication amount G = 0.005 · D · B (g, mm))",
                "보충량 G = 0.005 · D · B (g, mm)",
                "relubrication amount G = 0.005 · D · B (g, mm)",
            ),
            ("no brackets", "no brackets", "no brackets"),
        ] {
            assert_eq!(
                (in_language(text, Language::Ko), in_language(text, Language::En)),
                (ko, en)
            );
        }
        assert_eq!(bolt("torque for m16 bolts").as_deref(), Some("m16"));
        assert_eq!(bolt("5 mm에서"), None);
    }
}
