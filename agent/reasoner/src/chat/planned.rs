//! Answers questions for planning a replacement: whether a spare is there, how long parts take, how
//! long the work takes.

use pdm_shared::text::{Language, Text};
use serde_json::{Map, Value};

use super::desk::{Focus, NoteLine};
use super::intent::{PLAIN_WORDS, has};
use super::passage;
use super::reader::Reader;
use super::records::written;
use crate::toolbox::{self, Toolbox};

/// Parts that one question is answered for.
const PARTS_OF_QUESTION: usize = 4;
/// The tool that finds spare parts.
const PARTS: &str = "search_part";
/// The tool that tells the spare parts of a machine.
pub(super) const MACHINE: &str = "get_equipment_info";
/// Words by which the tool says that a machine of the register may be of several sites.
const UNCLEAR: &str = "does not say of which site";
/// The text to search for where a question asks how long a replacement takes.
const CREW: &str = "베어링 교체 작업 인원과 작업 시간, 준비물 (crew and time of a bearing replacement, preparation)";
/// Words by which a note speaks of parts.
const OF_PARTS: [&str; 13] = [
    "재고",
    "예비품",
    "부품",
    "입고",
    "발주",
    "창고",
    "자재",
    "spare",
    "stock",
    "part",
    "order",
    "store",
    "shelf",
];

/// The spare parts of a bearing's machine with how many are there, and what people wrote of parts.
pub(super) async fn stock(tools: &dyn Toolbox, focus: &Focus, reader: Reader) -> String {
    let language = reader.language;
    // several sites may have a machine of this name
    let (site, machine) = (&focus.core.key.site, &focus.core.key.equipment);
    let id = format!("{site}/{machine}");
    let arguments = Map::from_iter([("equipment_id".to_owned(), Value::from(id))]);
    let answer = toolbox::traced(tools, "extraction", MACHINE, arguments).await;
    let rows = answer.data.get("parts").and_then(Value::as_array);
    let spares: Vec<String> =
        rows.into_iter().flatten().filter_map(|row| spare(row, language)).collect();
    let is_of_parts = |note: &&NoteLine| {
        let text = note.note.as_ref().map(|text| text.to_lowercase()).unwrap_or_default();
        let number = focus.record.designation.as_deref().and_then(|name| name.get(..4));
        number.is_some_and(|number| text.contains(&number.to_lowercase()))
            || OF_PARTS.iter().any(|word| text.contains(word))
    };
    let notes: Vec<String> =
        focus.record.notes.iter().filter(is_of_parts).map(|note| written(note, reader)).collect();
    let none = if answer.is_error && answer.text.contains(UNCLEAR) {
        Text::new(
            "자산 목록이 이 설비가 어느 사업장 것인지 밝히지 않아 예비품을 답할 수 없습니다.",
            "The register of assets does not say of which site this machine is, so its spare parts \
             are not known.",
        )
    } else {
        Text::new(
            "예비품 재고는 자산 목록에 없습니다.",
            "The register of assets has no stock of spare parts for it.",
        )
    };
    let none = spares.is_empty().then(|| none.in_language(language).to_owned());
    let designation = focus.record.designation.as_ref().map(|name| match language {
        Language::Ko => format!("베어링 형번 {name}"),
        Language::En => format!("bearing {name}"),
    });
    let name = focus.core.full_name(language);
    let head = designation.map_or_else(|| name.clone(), |bearing| format!("{name}: {bearing}"));
    std::iter::once(head).chain(spares).chain(none).chain(notes).collect::<Vec<_>>().join("\n")
}

/// Returns the spare parts of a number or a name that a clause has, with how many are there; `None`
/// where it names none.
pub(super) async fn stock_of_part(
    tools: &dyn Toolbox,
    clause: &str,
    language: Language,
) -> Option<String> {
    let numbers = clause
        .split(|c: char| !c.is_ascii_alphanumeric() && !['-', '/', '.'].contains(&c))
        .filter(|word| word.chars().filter(char::is_ascii_digit).count() > 2);
    let mut wanted: Vec<String> = numbers.map(str::to_owned).collect();
    wanted.dedup();
    if wanted.is_empty() {
        wanted.extend(part_named(clause));
    }
    let mut told = Vec::new();
    for number in wanted.iter().take(PARTS_OF_QUESTION) {
        told.push(stock_of_number(tools, number, language).await);
    }
    (!told.is_empty()).then(|| told.join("\n"))
}

/// The spare parts of a number or a name with how many are there.
async fn stock_of_number(tools: &dyn Toolbox, number: &str, language: Language) -> String {
    let arguments = Map::from_iter([("query".to_owned(), Value::from(number))]);
    let answer = toolbox::traced(tools, "extraction", PARTS, arguments).await;
    let rows = answer.data.as_array();
    let found: Vec<String> =
        rows.into_iter().flatten().filter_map(|row| spare(row, language)).collect();
    match (found.is_empty(), language) {
        (false, _) => found.join("\n"),
        (true, Language::Ko) => format!("{number}: 자산 목록에 그런 예비품이 없습니다."),
        (true, Language::En) => {
            format!("{number}: the register of assets has no such spare part.")
        }
    }
}

/// Returns the part that a clause names by words: `mechanical seal` of "do we have a mechanical
/// seal?"; `None` where it asks for spare parts in general.
fn part_named(clause: &str) -> Option<String> {
    const GENERAL: [&str; 12] = [
        "재고",
        "in stock",
        "part number",
        "parts",
        "spare",
        "부품",
        "예비품",
        "스페어",
        "예비 베어링",
        "여분",
        "예비 부품",
        "여유 베어링",
    ];
    let lower = clause.to_lowercase();
    let parts = PLAIN_WORDS.parts.iter().filter(|word| !GENERAL.contains(&word.as_str()));
    let named = parts.filter(|word| has(&lower, std::slice::from_ref(*word)));
    named.max_by_key(|word| word.len()).cloned()
}

pub(super) fn spare(row: &Value, language: Language) -> Option<String> {
    let text = |field: &str| row.get(field).and_then(Value::as_str);
    let name = text("name").or_else(|| text("part_id"))?;
    let id = text("part_no").or_else(|| text("part_id"));
    let id = id.map(|id| format!(" ({id})")).unwrap_or_default();
    let stock = row.get("stock").and_then(Value::as_f64);
    let stock = match (stock, language) {
        (Some(count), Language::Ko) => format!("재고 {count}"),
        (Some(count), Language::En) => format!("{count} in stock"),
        (None, Language::Ko) => "재고 기록 없음".to_owned(),
        (None, Language::En) => "no stock on record".to_owned(),
    };
    Some(format!("- {name}{id}: {stock}"))
}

/// The lead time by which judgements plan, against the remaining life where a bearing is meant.
pub(super) fn lead_time(foci: &[&Focus], reader: Reader) -> Option<String> {
    let language = reader.language;
    let mut times: Vec<f64> = foci.iter().filter_map(|focus| focus.record.lead_time_h).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let (first, last) = (times.first()?, times.last()?);
    let days = |hours: f64| pdm_expert::wording::figure(hours / 24.0);
    let range =
        if first < last { format!("{}–{}", days(*first), days(*last)) } else { days(*first) };
    let head = match language {
        Language::Ko => format!(
            "판정이 쓰는 조달·계획 리드타임은 {range}일입니다. 부품마다의 납기는 제 기록에 없습니다."
        ),
        Language::En => format!(
            "Judgements plan with a lead time of {range} days for parts and planning. Delivery \
             times of single parts are not in my records."
        ),
    };
    let compared = foci.iter().filter_map(|focus| against_life(focus, language));
    Some(std::iter::once(head).chain(compared).collect::<Vec<_>>().join("\n"))
}

/// Whether the remaining life is longer than the lead time.
fn against_life(focus: &Focus, language: Language) -> Option<String> {
    let (life_h, lead_h) = (focus.core.rul_hours?, focus.record.lead_time_h?);
    let name = focus.core.full_name(language);
    let is_longer = life_h > lead_h;
    Some(match (is_longer, language) {
        (true, Language::Ko) => {
            format!("- {name}: 계획에 쓰는 잔여수명 {life_h:.0}시간으로 리드타임보다 깁니다.")
        }
        (false, Language::Ko) => {
            format!(
                "- {name}: 계획에 쓰는 잔여수명 {life_h:.0}시간으로 리드타임보다 짧습니다. 조달을 서두르십시오."
            )
        }
        (true, Language::En) => {
            format!(
                "- {name}: the remaining life to plan with, {life_h:.0} h, is longer than that."
            )
        }
        (false, Language::En) => format!(
            "- {name}: the remaining life to plan with, {life_h:.0} h, is shorter than that. \
             Expedite the parts."
        ),
    })
}

/// Says how many people a replacement needs and how long it takes, by the manual; costs are in no
/// record.
pub(super) async fn replacement_time(tools: &dyn Toolbox, language: Language) -> Option<String> {
    passage::manual(tools, CREW, language).await
}
