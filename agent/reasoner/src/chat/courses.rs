//! How a bearing went on, and how it stands beside others, in sentences.

use pdm_shared::text::Language;
use serde_json::{Map, Value};

use super::desk::{Focus, Onset, told_time};
use super::records::{levels, onset};
use crate::toolbox::{self, Toolbox};

/// What has changed of a bearing: its trend over the period that the clause names, and its earlier judgements.
pub(super) async fn changes(
    tools: &dyn Toolbox,
    focus: &Focus,
    clause: &str,
    language: Language,
) -> String {
    let key = &focus.core.key;
    let period = period(clause);
    let arguments = Map::from_iter([
        ("bearing_id".to_owned(), Value::from(key.to_string())),
        ("period".to_owned(), Value::from(period)),
    ]);
    let answer = toolbox::traced(tools, "extraction", "get_bearing_trend", arguments).await;
    let features = answer.data["summary"]["features"].as_array().cloned().unwrap_or_default();
    let (from, to) = (&answer.data["summary"]["start_date"], &answer.data["summary"]["end_date"]);
    let dates = match (from.as_str(), to.as_str()) {
        (Some(from), Some(to)) => format!(" ({from} → {to})"),
        _ => String::new(),
    };
    // one day is no course
    let is_course = from != to;
    let lines = features.iter().filter(|_| is_course).filter_map(|one| feature(one, language));
    let lines: Vec<String> = lines.collect();
    let head = format!("{}{dates}:", focus.core.name());
    let trend = (!lines.is_empty()).then(|| format!("{head}\n{}", lines.join("\n")));
    let alone = || {
        let levels = levels(focus, language)?;
        Some(match language {
            Language::Ko => format!(
                "{}: 이 기간에는 하루의 측정값만 있어 비교할 수 없습니다. {levels}",
                focus.core.name()
            ),
            Language::En => format!(
                "{}: there are measurements of one day only in this time, so nothing can be compared. {levels}",
                focus.core.name()
            ),
        })
    };
    let now = trend.or_else(alone).unwrap_or_default();
    format!("{now}\n{}\n{}", onset(focus, language), focus.memory.in_language(language))
        .trim()
        .to_owned()
}

fn feature(one: &Value, language: Language) -> Option<String> {
    let number = |name: &str| one.get(name).and_then(Value::as_f64);
    let name = match (one.get("feature")?.as_str()?, language) {
        ("velocity_rms", Language::Ko) => "진동속도 RMS",
        ("velocity_rms", Language::En) => "vibration velocity RMS",
        ("acceleration_rms", Language::Ko) => "가속도 RMS",
        ("acceleration_rms", Language::En) => "acceleration RMS",
        ("kurtosis", Language::Ko) => "첨도",
        ("kurtosis", Language::En) => "kurtosis",
        _ => return None,
    };
    let unit =
        one.get("unit").and_then(Value::as_str).filter(|unit| *unit != "1").unwrap_or_default();
    let figure = pdm_expert::wording::figure;
    let (start, end) = (figure(number("start")?), figure(number("end")?));
    let change =
        number("change_percent").map(|change| format!(" ({change:+.1} %)")).unwrap_or_default();
    Some(format!("- {name}: {start} → {end} {unit}{change}").replace("  ", " "))
}

/// The period of a trend that a clause names; a month where it names none.
fn period(clause: &str) -> &'static str {
    let lower = clause.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    match () {
        () if has(&["지난주", "지난 주", "일주일", "이번 주", "week", "1주"]) => "1w",
        () if has(&["석 달", "분기", "3개월", "quarter", "three months"]) => "3m",
        () if has(&["반년", "6개월", "half a year", "six months"]) => "6m",
        () if has(&["작년", "1년", "일년", "year"]) => "1y",
        () => "1m",
    }
}

/// Two bearings and more beside each other.
pub(super) fn compared(foci: &[&Focus], language: Language) -> Option<String> {
    if foci.len() < 2 {
        return None;
    }
    let one = |focus: &&Focus| {
        let since = focus.record.onset.as_ref().filter(|onset| onset.closed_at.is_none());
        let since = since.map(|onset: &Onset| match language {
            Language::Ko => format!("{}부터", told_time(onset.opened_at)),
            Language::En => format!("since {}", told_time(onset.opened_at)),
        });
        let parts = [Some(focus.core.line(language)), since, levels(focus, language)];
        format!("- {}", parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
    };
    let worst = foci.iter().max_by_key(|focus| (focus.core.risk, focus.core.stage))?;
    let is_equal = foci.iter().all(|focus| focus.core.risk == worst.core.risk);
    let verdict = match (is_equal, language) {
        (true, Language::Ko) => "위험 수준이 같습니다.".to_owned(),
        (true, Language::En) => "They stand at the same level of risk.".to_owned(),
        (false, Language::Ko) => format!("더 나쁜 쪽: {}", worst.core.name()),
        (false, Language::En) => format!("Worse: {}", worst.core.name()),
    };
    let lines: Vec<String> = foci.iter().map(one).chain([verdict]).collect();
    Some(lines.join("\n"))
}
