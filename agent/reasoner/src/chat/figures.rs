//! Tells the measurements of a bearing: its last figures, those of a day, and when it was last
//! measured.

use chrono::{NaiveDate, NaiveTime};
use pdm_shared::event::IsoZone;
use pdm_shared::text::{Language, Text};
use pdm_shared::time::Timestamp;
use serde_json::{Map, Value};

use super::dates::Span;
use super::desk::{CoreFields, DefectLine, Desk, Focus, MeasuredWindow, Operation, Watch};
use super::intent::{self, QUESTION_WORDS, has};
use super::reader::Reader;
use super::records::levels;
use super::watching;
use crate::toolbox::{self, Toolbox};

/// The age in hours from which the last window of a bearing is called old. Chosen: half a day more
/// than the longest usual period, a day.
pub(super) const OLD_H: f64 = 36.0;
/// Windows of a day that are read. Chosen: one in five minutes.
const MAX_WINDOWS: u32 = 300;
/// Days that are told one by one.
const MAX_DAYS: usize = 31;

/// The figures of the last window that a clause asks for: speed, zone, or all.
pub(super) fn last_figures(focus: &Focus, clause: &str, reader: Reader) -> String {
    let language = reader.language;
    let (lower, words) = (clause.to_lowercase(), &QUESTION_WORDS.figures);
    let operation = focus.record.operation.as_ref();
    let speed = operation.map(|operation| speed_in_words(operation, language));
    let zone = operation.and_then(|operation| zone_in_words(operation.zone?, language));
    let asked = [(has(&lower, &words.speed), &speed), (has(&lower, &words.zone), &zone)];
    let mut parts: Vec<String> = asked
        .into_iter()
        .filter(|(is_asked, _)| *is_asked)
        .filter_map(|(_, text)| text.clone())
        .collect();
    let is_of_levels = has(&lower, &words.level) || parts.is_empty();
    if is_of_levels {
        parts.extend(levels(focus, language));
        parts.extend(zone.filter(|_| !has(&lower, &words.zone)));
    }
    parts.extend(
        watching::temperature(focus, language).filter(|_| intent::asks_temperature(&lower)),
    );
    let parts = parts.join(". ");
    let parts = if parts.is_empty() { not_measured(language).to_owned() } else { parts };
    let lines = [Some(format!("{}: {parts}", focus.core.full_name(language)))];
    let unseen = watching::unseen(&focus.core, reader);
    let usual = is_of_levels.then(|| usual(language).to_owned());
    let lines = lines.into_iter().chain([usual, unseen, age(&focus.core, reader)]);
    lines.flatten().collect::<Vec<_>>().join("\n")
}

/// The shaft speed in the last window.
pub(super) fn speed(focus: &Focus, reader: Reader) -> String {
    let language = reader.language;
    let operation = focus.record.operation.as_ref();
    let told = operation.map(|operation| speed_in_words(operation, language));
    let told = told.unwrap_or_else(|| not_measured(language).to_owned());
    let line = format!("{}: {told}", focus.core.full_name(language));
    let unseen = watching::unseen(&focus.core, reader);
    std::iter::once(line).chain(unseen).collect::<Vec<_>>().join("\n")
}

/// Against what figures are read. The kurtosis of a random signal is 3; zones are those of ISO
/// 20816-3.
const fn usual(language: Language) -> &'static str {
    match language {
        Language::Ko => {
            "읽는 법: 첨도는 건전한 베어링에서 3 안팎이고 충격이 있으면 커집니다. \
             진동속도는 구역 A·B면 계속 운전, C면 기한을 두고, D면 손상 위험입니다. 한 값으로 판정하지 않습니다."
        }
        Language::En => {
            "To read them: kurtosis is about 3 for a sound bearing and grows with impacts. \
             Velocity in zones A and B may go on, C for a limited time, D may cause damage. No \
             single value decides."
        }
    }
}

fn speed_in_words(operation: &Operation, language: Language) -> String {
    let speed = operation.speed_rpm.map(|rpm| format!("{rpm:.0} rpm"));
    match (operation.is_running, speed, language) {
        (false, _, Language::Ko) => "마지막 측정 때 정지해 있었음".to_owned(),
        (false, _, Language::En) => "it stood still in the last measurement".to_owned(),
        (true, Some(rpm), Language::Ko) => format!("회전 속도 {rpm}"),
        (true, Some(rpm), Language::En) => format!("shaft speed {rpm}"),
        (true, None, Language::Ko) => "회전 속도는 알 수 없음".to_owned(),
        (true, None, Language::En) => "the shaft speed is not known".to_owned(),
    }
}

fn zone_in_words(zone: IsoZone, language: Language) -> Option<String> {
    let name = serde_json::to_value(zone).ok()?.as_str()?.to_owned();
    Some(match language {
        Language::Ko => format!("ISO 20816-3 구역 {name}"),
        Language::En => format!("ISO 20816-3 zone {name}"),
    })
}

const fn not_measured(language: Language) -> &'static str {
    match language {
        Language::Ko => "마지막 측정값이 제 기록에 없습니다",
        Language::En => "the last measurement is not in my records",
    }
}

/// The figures of one day or of several by the windows that the desk keeps, days being those of the
/// plant's clock; nothing where it keeps none.
pub(super) async fn of_days(
    desk: &dyn Desk,
    focus: &Focus,
    span: Span,
    reader: Reader,
) -> Option<String> {
    let language = reader.language;
    let name = focus.core.full_name(language);
    let mut lines = Vec::new();
    let mut day = span.to;
    for _ in 0..MAX_DAYS {
        let begin = reader.zone.instant(day.and_time(NaiveTime::MIN))?;
        let end = reader.zone.instant(day.succ_opt()?.and_time(NaiveTime::MIN))?;
        let read = desk.windows(&focus.core.key, end.plus_seconds(-0.001), MAX_WINDOWS).await;
        let Ok(rows) = read else { return Some(cannot_read(&name, language)) };
        let of_day: Vec<MeasuredWindow> = rows?.into_iter().filter(|row| row.at >= begin).collect();
        lines.extend(day_in_words(day, &of_day, reader));
        if day <= span.from {
            break;
        }
        day = day.pred_opt()?;
    }
    if !lines.is_empty() {
        return Some(format!("{name}:\n{}", lines.join("\n")));
    }
    let days = span.in_words();
    Some(match language {
        Language::Ko => format!("{name}: {days}의 측정값은 제 기록에 없습니다."),
        Language::En => format!("{name}: there is no measurement of {days} in my records."),
    })
}

/// The figures at an instant: the last window before it and the next one, each with its time.
pub(super) async fn of_instant(
    desk: &dyn Desk,
    focus: &Focus,
    at: Timestamp,
    reader: Reader,
) -> Option<String> {
    let language = reader.language;
    let name = focus.core.full_name(language);
    let until = at.plus_seconds(86_400.0);
    let Ok(rows) = desk.windows(&focus.core.key, until, MAX_WINDOWS).await else {
        return Some(cannot_read(&name, language));
    };
    let rows = rows?;
    let before = rows.iter().rev().find(|row| row.at <= at);
    let after = rows.iter().find(|row| row.at > at);
    let asked = reader.clock_time(at);
    let line = |row: &MeasuredWindow, ko: &str, en: &str| {
        let (when, told) = (reader.clock_time(row.at), window_in_words(row, language));
        match language {
            Language::Ko => format!("- {when} ({ko}): {told}"),
            Language::En => format!("- {when} ({en}): {told}"),
        }
    };
    let lines = [
        before.map(|row| line(row, "그때까지의 마지막 측정", "the last one until then")),
        after.map(|row| line(row, "그다음 측정", "the next one")),
    ];
    let lines: Vec<String> = lines.into_iter().flatten().collect();
    Some(match (lines.is_empty(), language) {
        (true, Language::Ko) => format!("{name}: {asked} 무렵의 측정값은 제 기록에 없습니다."),
        (true, Language::En) => {
            format!("{name}: there is no measurement about {asked} in my records.")
        }
        (false, _) => format!("{name}, {asked}:\n{}", lines.join("\n")),
    })
}

fn cannot_read(name: &str, language: Language) -> String {
    match language {
        Language::Ko => format!("{name}: 지금은 측정값을 읽을 수 없습니다."),
        Language::En => format!("{name}: the measurements cannot be read at the moment."),
    }
}

/// A day by its last window that can be judged, with how far the vibration went on it; nothing of a
/// day without one.
fn day_in_words(day: NaiveDate, rows: &[MeasuredWindow], reader: Reader) -> Option<String> {
    let language = reader.language;
    let judged: Vec<&MeasuredWindow> =
        rows.iter().filter(|row| row.is_valid && row.is_running).collect();
    let last = judged.last().copied().or_else(|| rows.last())?;
    let at = reader.zone.local(last.at).format("%H:%M");
    let levels = || judged.iter().filter_map(|row| row.velocity_rms_mm_s);
    let (low, high) = (levels().reduce(f64::min), levels().reduce(f64::max));
    let figure = pdm_expert::wording::figure;
    let range = low.zip(high).filter(|(low, high)| low < high).map(|(low, high)| match language {
        Language::Ko => format!(", 그날 진동속도 {}–{} mm/s", figure(low), figure(high)),
        Language::En => format!(", that day's velocity {}–{} mm/s", figure(low), figure(high)),
    });
    let (count, range) = (rows.len(), range.unwrap_or_default());
    let told = window_in_words(last, language);
    Some(match language {
        Language::Ko => format!("- {day}: {told} ({at}의 마지막 측정{range}, 측정 {count}회)"),
        Language::En => {
            format!("- {day}: {told} (the last one, {at}{range}, {count} measurements)")
        }
    })
}

fn window_in_words(row: &MeasuredWindow, language: Language) -> String {
    let (velocity, rms, kurtosis) = match language {
        Language::Ko => ("진동속도 RMS", "가속도 RMS", "첨도"),
        Language::En => ("vibration velocity RMS", "acceleration RMS", "kurtosis"),
    };
    let figure = |value: Option<f64>| value.map(pdm_expert::wording::figure);
    let told = [
        figure(row.velocity_rms_mm_s).map(|value| format!("{velocity} {value} mm/s")),
        figure(row.rms_g).map(|value| format!("{rms} {value} g")),
        figure(row.kurtosis).map(|value| format!("{kurtosis} {value}")),
    ];
    let told = told.into_iter().flatten().collect::<Vec<_>>().join(", ");
    match (row.is_running, row.is_valid, language) {
        (true, true, _) => told,
        (false, _, Language::Ko) => "설비 정지".to_owned(),
        (false, _, Language::En) => "the machine stood still".to_owned(),
        (true, false, Language::Ko) => format!("무효한 측정({told})"),
        (true, false, Language::En) => format!("not a valid measurement ({told})"),
    }
}

/// The shortest period of a trend that reaches back to before a day.
pub(super) fn period_back_to(from: NaiveDate, today: NaiveDate) -> &'static str {
    let age_days = (today - from).num_days();
    let periods = [(7, "1w"), (30, "1m"), (91, "3m"), (182, "6m"), (i64::MAX, "1y")];
    periods.into_iter().find(|(days, _)| age_days < days - 1).map_or("1y", |(_, name)| name)
}

/// The figures of one day or of several, by the day's last window.
pub(super) async fn figures_of_days(
    tools: &dyn Toolbox,
    focus: &Focus,
    (span, today): (Span, NaiveDate),
    language: Language,
) -> String {
    let name = focus.core.full_name(language);
    let period = period_back_to(span.from, today);
    let arguments = Map::from_iter([
        ("bearing_id".to_owned(), Value::from(focus.core.key.to_string())),
        ("period".to_owned(), Value::from(period)),
    ]);
    let answer = toolbox::traced(tools, "extraction", "get_bearing_trend", arguments).await;
    if answer.is_error {
        return cannot_read(&name, language);
    }
    let daily = answer.data["daily"].as_array().cloned().unwrap_or_default();
    let rows = daily.iter().filter(|row| {
        let day = row["date"].as_str().and_then(|date| date.parse().ok());
        day.is_some_and(|day| span.holds(day))
    });
    let lines: Vec<String> = rows.take(MAX_DAYS).filter_map(|row| of_day(row, language)).collect();
    if !lines.is_empty() {
        return format!("{name}:\n{}", lines.join("\n"));
    }
    let days = span.in_words();
    match language {
        Language::Ko => format!("{name}: {days}의 측정값은 제 기록에 없습니다."),
        Language::En => format!("{name}: there is no measurement of {days} in my records."),
    }
}

fn of_day(row: &Value, language: Language) -> Option<String> {
    let window = MeasuredWindow {
        at: Timestamp::from_unix_ms(0)?,
        is_running: true,
        is_valid: true,
        velocity_rms_mm_s: row["velocity_rms_mm_s"].as_f64(),
        rms_g: row["rms_g"].as_f64(),
        kurtosis: row["kurtosis"].as_f64(),
    };
    Some(format!("- {}: {}", row["date"].as_str()?, window_in_words(&window, language)))
}

/// Says that the last window of a bearing is old, if it is.
pub(super) fn age(core: &CoreFields, reader: Reader) -> Option<String> {
    let language = reader.language;
    let now = reader.now;
    let measured_at = core.measured_at?;
    let hours = now?.seconds_since(measured_at) / 3600.0;
    (hours >= OLD_H).then(|| {
        let (days, at) = ((hours / 24.0).round(), reader.clock_time(measured_at));
        match language {
            Language::Ko => format!(
                "주의: 마지막 측정이 {days}일 전({at})입니다. 그 뒤의 상태는 알 수 없습니다."
            ),
            Language::En => format!(
                "Mind: it was last measured {days} days ago ({at}). Its state since then is not \
                 known."
            ),
        }
    })
}

/// Says when a bearing was last measured; `gateway` is the line of its gateway, where that is
/// offline.
pub(super) fn last_heard(core: &CoreFields, gateway: Option<&str>, reader: Reader) -> String {
    let language = reader.language;
    let now = reader.now;
    let name = core.full_name(language);
    let Some(at) = core.measured_at else {
        return format!("{name}: {}", not_measured(language));
    };
    let hours = now.map_or(0.0, |now| now.seconds_since(at) / 3600.0);
    let since = match (hours >= 48.0, language) {
        (true, Language::Ko) => format!("{:.0}일 전", hours / 24.0),
        (false, Language::Ko) => format!("{hours:.0}시간 전"),
        (true, Language::En) => format!("{:.0} days ago", hours / 24.0),
        (false, Language::En) => format!("{hours:.0} h ago"),
    };
    let verdict = match (hours >= OLD_H || gateway.is_some(), language) {
        (true, Language::Ko) => "그 뒤로 측정값이 들어오지 않습니다.",
        (true, Language::En) => "Nothing has come in since.",
        (false, Language::Ko) => "측정값이 들어오고 있습니다.",
        (false, Language::En) => "It is being measured.",
    };
    let verdict = match &core.watch {
        Watch::Judged => verdict.to_owned(),
        // what comes in and cannot be judged is no measurement
        Watch::Standing { .. } | Watch::Invalid { .. } | Watch::Silent { .. } => {
            watching::unseen(core, reader).unwrap_or_default()
        }
    };
    let last = Text::new("마지막 측정", "last measured");
    let gateway = gateway.map(|line| format!("\n{line}")).unwrap_or_default();
    let (last, at) = (last.in_language(language), reader.clock_time(at));
    format!("{name}: {last} {since} ({at}). {verdict}{gateway}")
}

/// Lists the bearings that have not been measured for this many hours.
pub(super) fn not_heard(fleet: &[CoreFields], hours: f64, reader: Reader) -> String {
    let language = reader.language;
    let now = reader.now;
    let is_old = |core: &&CoreFields| {
        let age_h = now.zip(core.measured_at).map(|(now, at)| now.seconds_since(at) / 3600.0);
        age_h.is_none_or(|age_h| age_h >= hours)
    };
    let mut old: Vec<&CoreFields> = fleet.iter().filter(is_old).collect();
    old.sort_by_key(|core| core.measured_at);
    let lines = old.iter().map(|core| format!("- {}", last_heard(core, None, reader)));
    let (count, all) = (old.len(), fleet.len());
    let head = match (count, language) {
        (0, Language::Ko) => {
            format!("베어링 {all}개 모두 지난 {hours:.0}시간 안에 측정되었습니다.")
        }
        (0, Language::En) => format!("All {all} bearings were measured in the last {hours:.0} h."),
        (_, Language::Ko) => format!("지난 {hours:.0}시간 동안 측정되지 않은 베어링 {count}개:"),
        (_, Language::En) => format!("Not measured in the last {hours:.0} h: {count} bearings"),
    };
    let is_blind = |core: &&CoreFields| core.watch != Watch::Judged && !is_old(core);
    let blind: Vec<String> = fleet
        .iter()
        .filter(is_blind)
        .filter_map(|core| Some(format!("- {}", watching::unseen(core, reader)?)))
        .collect();
    let blind = (!blind.is_empty()).then(|| match language {
        Language::Ko => {
            format!("그 가운데 지금 판정할 수 없는 베어링 {}개:\n{}", blind.len(), blind.join("\n"))
        }
        Language::En => {
            format!("Of these cannot be judged now: {}\n{}", blind.len(), blind.join("\n"))
        }
    });
    std::iter::once(head).chain(lines).chain(blind).collect::<Vec<_>>().join("\n")
}

/// The bearings in the zones that a clause names, else all with their zone.
pub(super) fn zones(foci: &[Focus], clause: &str, language: Language) -> Option<String> {
    let asked = zones_in(clause);
    let zone_of = |focus: &Focus| focus.record.operation.and_then(|operation| operation.zone);
    let is_asked = |focus: &&Focus| {
        zone_of(focus).is_some_and(|zone| asked.is_empty() || asked.contains(&zone))
    };
    let lines: Vec<String> = foci
        .iter()
        .filter(is_asked)
        .filter_map(|focus| {
            let zone = zone_in_words(zone_of(focus)?, language)?;
            let velocity = levels(focus, language).unwrap_or_default();
            Some(format!("- {}: {zone}. {velocity}", focus.core.full_name(language)))
        })
        .collect();
    if foci.is_empty() {
        return None;
    }
    if lines.is_empty() {
        return Some(match language {
            Language::Ko => "그 구역에 있는 베어링은 없습니다.".to_owned(),
            Language::En => "No bearing is in that zone.".to_owned(),
        });
    }
    Some(lines.join("\n"))
}

/// Zones by their letters: `C`, `zone D`, `C나 D`.
fn zones_in(clause: &str) -> Vec<IsoZone> {
    let letters = [("A", IsoZone::A), ("B", IsoZone::B), ("C", IsoZone::C), ("D", IsoZone::D)];
    let words: Vec<&str> = clause.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    letters.into_iter().filter(|(name, _)| words.contains(name)).map(|(_, zone)| zone).collect()
}

/// Names the bearing and its place on the machine.
pub(super) fn identity(focus: &Focus, language: Language) -> String {
    let name = focus.core.full_name(language);
    let (record, not_known) = (&focus.record, Text::new("기록 없음", "not in my records"));
    let unknown = not_known.in_language(language).to_owned();
    let designation = record.designation.clone().unwrap_or_else(|| unknown.clone());
    let place = focus.core.location.as_ref();
    let place = place.map_or(unknown, |place| place.in_language(language).to_owned());
    match language {
        Language::Ko => format!("{name}: 베어링 형번 {designation}, 위치 {place}"),
        Language::En => format!("{name}: bearing {designation}, location {place}"),
    }
}

/// The lines of a bearing's elements in the last spectrum: those that a clause names, or all.
pub(super) fn defect_lines(focus: &Focus, clause: &str, language: Language) -> String {
    let (lower, name) = (clause.to_lowercase(), focus.core.full_name(language));
    let all = &focus.record.lines;
    let is_named = |line: &&DefectLine| lower.contains(&line.name.to_lowercase());
    let named: Vec<&DefectLine> = all.iter().filter(is_named).collect();
    let shown = if named.is_empty() { all.iter().collect() } else { named };
    let told = shown.iter().map(|line| {
        let (element, hz) = (line.name, line.frequency_hz);
        match (line.snr_db, language) {
            (Some(db), Language::Ko) => {
                format!("- {element} {hz:.1} Hz: 노이즈 플로어보다 {db:.1} dB 높음")
            }
            (Some(db), Language::En) => {
                format!("- {element} {hz:.1} Hz: {db:.1} dB above the noise floor")
            }
            (None, Language::Ko) => format!("- {element} {hz:.1} Hz: 높이를 잴 수 없었음"),
            (None, Language::En) => {
                format!("- {element} {hz:.1} Hz: its height could not be measured")
            }
        }
    });
    let told: Vec<String> = told.collect();
    match (told.is_empty(), language) {
        (true, Language::Ko) => format!("{name}: 마지막 측정의 결함 주파수가 제 기록에 없습니다."),
        (true, Language::En) => format!("{name}: the last measurement has no defect frequencies."),
        (false, Language::Ko) => {
            format!("{name}, 마지막 측정의 결함 주파수(포락선 스펙트럼):\n{}", told.join("\n"))
        }
        (false, Language::En) => {
            format!(
                "{name}, defect frequencies of the last measurement (envelope spectrum):\n{}",
                told.join("\n")
            )
        }
    }
}

/// Says that a quantity is not measured, and what is.
pub(super) fn unmeasured(clause: &str, language: Language) -> String {
    let lower = clause.to_lowercase();
    let words = QUESTION_WORDS.figures.unmeasured.iter();
    let what =
        words.filter(|word| has(&lower, std::slice::from_ref(*word))).max_by_key(|word| word.len());
    let unnamed = if language == Language::Ko { "물으신 값" } else { "What you ask for" };
    let what = what.map_or(unnamed, String::as_str);
    match language {
        Language::Ko => format!(
            "{what}: 측정하지 않습니다. 제 기록에 있는 것은 진동(가속도·속도 RMS, 첨도, 파고율, 결함 주파수)과 회전 속도입니다."
        ),
        Language::En => format!(
            "{what}: not measured. My records hold vibration (acceleration and velocity RMS, \
             kurtosis, crest factor, defect frequencies) and the shaft speed."
        ),
    }
}
