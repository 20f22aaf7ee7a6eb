//! Tells how a bearing went on, and how it stands beside others, in sentences.

use chrono::NaiveDate;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Language;
use serde_json::{Map, Value};

use super::desk::{CoreFields, Desk, Focus, Onset};
use super::reader::Reader;
use super::records::{levels, onset, written};
use super::{dates, figures, records, watching};
use crate::toolbox::{self, Toolbox};

/// The place of the thought about the trend among the five.
const TREND: usize = 2;

/// Returns the changes of a bearing: its trend over the period that the clause names, and its
/// earlier judgements.
pub(super) async fn changes(
    tools: &dyn Toolbox,
    focus: &Focus,
    clause: &str,
    reader: Reader,
) -> String {
    let language = reader.language;
    let key = &focus.core.key;
    let since = since_in(clause, reader);
    let period =
        since.map_or_else(|| period(clause), |(from, today)| figures::period_back_to(from, today));
    let arguments = Map::from_iter([
        ("bearing_id".to_owned(), Value::from(key.to_string())),
        ("period".to_owned(), Value::from(period)),
    ]);
    let answer = toolbox::traced(tools, "extraction", "get_bearing_trend", arguments).await;
    if let Some((from, _)) = since
        && let Some(told) = changed_since(&answer.data["daily"], from, language)
    {
        let head = format!("{}{told}", focus.core.name());
        let parts = std::iter::once(head).chain(trend_judged(focus, language));
        let parts = parts.chain([onset(focus, reader)]);
        return parts.collect::<Vec<_>>().join("\n");
    }
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
                "{}: there are measurements of one day only in this time, so nothing can be \
                 compared. {levels}",
                focus.core.name()
            ),
        })
    };
    let now = trend.or_else(alone).unwrap_or_default();
    let memory = focus.memory.in_language(language).to_owned();
    let parts = std::iter::once(now).chain(trend_judged(focus, language));
    let parts: Vec<String> = parts.chain([onset(focus, reader), memory]).collect();
    parts.join("\n").trim().to_owned()
}

/// Returns the last judgement's statement of how quickly the bearing deteriorates (its third
/// thought).
fn trend_judged(focus: &Focus, language: Language) -> Option<String> {
    let thought = focus.grounds.get(TREND)?.in_language(language);
    Some(match language {
        Language::Ko => format!("진행 속도 판정: {thought}"),
        Language::En => format!("How quickly it goes on: {thought}"),
    })
}

/// Returns the day since which a clause asks for changes, and today; `None` where it names no day,
/// or a time that is over.
fn since_in(clause: &str, reader: Reader) -> Option<(NaiveDate, NaiveDate)> {
    let today = reader.today()?;
    let span = dates::span_in(clause, today)?;
    (span.to == today || span.is_day()).then_some((span.from, today))
}

/// The change from the last measurement before a day, or the first since, to the last one.
fn changed_since(daily: &Value, from: NaiveDate, language: Language) -> Option<String> {
    let rows = daily.as_array()?;
    let date = |row: &Value| row["date"].as_str().and_then(|date| date.parse::<NaiveDate>().ok());
    // the newest row comes first
    let last = rows.first()?;
    let before = rows.iter().find(|row| date(row).is_some_and(|day| day < from));
    let first = before.or_else(|| rows.last()).filter(|first| date(first) != date(last))?;
    let lines = [
        ("velocity_rms", "velocity_rms_mm_s", "mm/s"),
        ("acceleration_rms", "rms_g", "g"),
        ("kurtosis", "kurtosis", "1"),
    ]
    .into_iter()
    .filter_map(|(name, field, unit)| {
        let (start, end) = (first[field].as_f64()?, last[field].as_f64()?);
        let percent = (start > 0.0).then(|| (end / start - 1.0) * 100.0);
        let one = serde_json::json!({
            "feature": name, "unit": unit, "start": start, "end": end, "change_percent": percent,
        });
        feature(&one, language)
    });
    let lines: Vec<String> = lines.collect();
    let (from, to) = (date(first)?, date(last)?);
    let head = match language {
        Language::Ko => format!(" ({from} → {to}, 각 날의 마지막 측정):"),
        Language::En => format!(" ({from} → {to}, the last measurement of each day):"),
    };
    (!lines.is_empty()).then(|| format!("{head}\n{}", lines.join("\n")))
}

/// The grounds of a judgement: of the last one, or of an earlier one where a clause asks why it was
/// at a level at which it does not stand now.
pub(super) async fn why(
    desk: &dyn Desk,
    focus: &Focus,
    clause: &str,
    reader: Reader,
) -> Option<String> {
    let language = reader.language;
    let now = records::why(focus, language);
    let Some(least) = earlier_level(clause, focus.core.risk) else { return now };
    let name = focus.core.full_name(language);
    let then = match desk.earlier_grounds(&focus.core.key, least).await {
        Ok(Some(then)) => then,
        Ok(None) => {
            let label = least.label();
            let label = label.in_language(language);
            let none = match language {
                Language::Ko => format!(
                    "{name}: {label} 판정은 제 기록에 없습니다. 지금의 판정은 다음과 같습니다."
                ),
                Language::En => format!(
                    "{name}: no judgement of {label} is in my records. It is judged now as follows."
                ),
            };
            return Some(std::iter::once(none).chain(now).collect::<Vec<_>>().join("\n"));
        }
        Err(_reason) => {
            return Some(match language {
                Language::Ko => format!("{name}: 그때의 판정을 지금은 읽을 수 없습니다."),
                Language::En => format!("{name}: the judgement of then cannot be read now."),
            });
        }
    };
    let (at, label) = (reader.clock_time(then.at), then.risk.label());
    let label = label.in_language(language);
    let lines = then.grounds.iter().map(|text| format!("- {}", text.in_language(language)));
    let head = match language {
        Language::Ko => format!("{name}: 그때({at})의 {label} 판정 근거:"),
        Language::En => format!("{name}: grounds of {label} then ({at}):"),
    };
    Some(std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n"))
}

/// The level of an earlier judgement whose grounds a clause asks for.
fn earlier_level(clause: &str, now: RiskLevel) -> Option<RiskLevel> {
    const NAMES: [(RiskLevel, &[&str]); 3] = [
        (RiskLevel::Critical, &["critical", "위험"]),
        (RiskLevel::Warning, &["warning", "경고"]),
        (RiskLevel::Watch, &["watch", "주의"]),
    ];
    let lower = clause.to_lowercase();
    let named = NAMES.into_iter().find(|(_, words)| words.iter().any(|word| lower.contains(word)));
    let is_past = [
        " was ",
        " were ",
        "했었",
        "였었",
        "이었",
        "였지",
        "였어",
        "였나",
        "떴었",
        "그때",
        "back then",
    ]
    .iter()
    .any(|word| lower.contains(word));
    match named {
        Some((level, _)) => (level > now).then_some(level),
        None => (is_past && now == RiskLevel::Normal).then_some(RiskLevel::Watch),
    }
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

/// The history of a bearing: its abnormalities, what people wrote, and its earlier judgements.
pub(super) async fn past(desk: &dyn Desk, focus: &Focus, reader: Reader) -> String {
    let language = reader.language;
    let listed = match desk.abnormalities(&focus.core.key).await {
        Ok(all) => abnormalities(&all, reader),
        // an unread record is not an empty one
        Err(_reason) => match language {
            Language::Ko => "지난 이상 기록을 지금은 읽을 수 없습니다.".to_owned(),
            Language::En => "The records of earlier abnormalities cannot be read now.".to_owned(),
        },
    };
    let notes = focus.record.notes.iter().map(|note| written(note, reader));
    let notes: Vec<String> = notes.collect();
    let notes = (!notes.is_empty()).then(|| match language {
        Language::Ko => format!("메모와 점검 결과:\n{}", notes.join("\n")),
        Language::En => format!("Notes and findings:\n{}", notes.join("\n")),
    });
    let judged = focus.core.measured_at.map(|at| match language {
        Language::Ko => format!("{} 판정 기준: {}", reader.clock_time(at), focus.memory.ko),
        Language::En => format!("As of {}: {}", reader.clock_time(at), focus.memory.en),
    });
    let parts = [Some(focus.core.line(language)), Some(listed), notes, judged];
    let parts = parts.into_iter().chain([figures::age(&focus.core, reader)]);
    parts.flatten().collect::<Vec<_>>().join("\n")
}

/// Abnormalities, each in a line.
fn abnormalities(all: &[Onset], reader: Reader) -> String {
    let head = match (all.len(), reader.language) {
        (0, Language::Ko) => "제 기록에는 이상이 있었던 적이 없습니다.".to_owned(),
        (0, Language::En) => "No abnormality is in my records.".to_owned(),
        (1, Language::Ko) => {
            "제 기록에 있는 이상은 이 한 번입니다(측정 시각, 확인은 확인한 시각):".to_owned()
        }
        (1, Language::En) => {
            "The only abnormality in my records (times of measurement; acknowledgements by the \
             clock):"
                .to_owned()
        }
        (count, Language::Ko) => {
            format!("이상 {count}번, 새것부터(측정 시각, 확인은 확인한 시각):")
        }
        (count, Language::En) => {
            format!(
                "Abnormalities: {count}, newest first (times of measurement; acknowledgements \
                     by the clock):"
            )
        }
    };
    let lines = all.iter().map(|one| abnormality(one, reader));
    std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
}

/// One abnormality in a line: from when to when, the levels that staff was told of, who
/// acknowledged it.
fn abnormality(one: &Onset, reader: Reader) -> String {
    let language = reader.language;
    let from = reader.clock_time(one.opened_at);
    let to = one.closed_at.map(|at| reader.clock_time(at));
    let span = match (to, language) {
        (Some(to), _) => format!("{from} – {to}"),
        (None, Language::Ko) => format!("{from}부터 지금까지"),
        (None, Language::En) => format!("since {from}"),
    };
    let has_times = one.levels.iter().any(|(_, at)| at.is_some());
    let told = one.levels.iter().filter(|(_, at)| at.is_some() || !has_times).map(|(level, at)| {
        let (level, at) = (level.label(), at.map(|at| format!(" {}", reader.clock_time(at))));
        format!("{}{}", level.in_language(language), at.unwrap_or_default())
    });
    let seen = one.acknowledged.iter().map(|(by, at)| {
        let at = reader.clock_time(*at);
        match language {
            Language::Ko => format!("{by} {at} 확인"),
            Language::En => format!("acknowledged by {by} {at}"),
        }
    });
    let details: Vec<String> = told.chain(seen).collect();
    let details =
        if details.is_empty() { String::new() } else { format!(": {}", details.join(", ")) };
    format!("- {span}{details}")
}

/// Two bearings and more beside each other.
pub(super) fn compared(foci: &[&Focus], reader: Reader) -> Option<String> {
    let language = reader.language;
    if foci.len() < 2 {
        return None;
    }
    let one = |focus: &&Focus| {
        let since = focus.record.onset.as_ref().filter(|onset| onset.closed_at.is_none());
        let since = since.map(|onset: &Onset| match language {
            Language::Ko => format!("이상 {}부터", reader.clock_time(onset.opened_at)),
            Language::En => format!("abnormal since {}", reader.clock_time(onset.opened_at)),
        });
        let since = since.map(|since| format!("{since}{}", focus.core.reached_in_words(reader)));
        let parts = [Some(focus.core.line(language)), since, levels(focus, language)];
        format!("- {}", parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
    };
    // the order of every list decides
    let mut order: Vec<&CoreFields> = foci.iter().map(|focus| &focus.core).collect();
    order.sort_by(|a, b| a.worst_first(b));
    let worst = *order.first()?;
    let is_same_risk = order.iter().all(|core| core.risk == worst.risk);
    let is_equal = order.iter().all(|core| core.worst_first(worst).is_eq());
    let verdict = match (is_equal, is_same_risk, language) {
        (true, _, Language::Ko) => "위험 수준이 같습니다.".to_owned(),
        (true, _, Language::En) => "They stand at the same level of risk.".to_owned(),
        (false, true, Language::Ko) => {
            format!("위험 수준은 같고, 먼저 볼 쪽(단계와 잔여수명): {}", worst.name())
        }
        (false, true, Language::En) => {
            format!(
                "At the same level of risk; by stage and remaining life worse: {}",
                worst.name()
            )
        }
        (false, false, Language::Ko) => format!("더 나쁜 쪽: {}", worst.name()),
        (false, false, Language::En) => format!("Worse: {}", worst.name()),
    };
    let unseen = foci.iter().filter_map(|focus| watching::unseen(&focus.core, reader));
    let lines: Vec<String> = foci.iter().map(one).chain([verdict]).chain(unseen).collect();
    Some(lines.join("\n"))
}
