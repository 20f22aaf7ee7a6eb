//! A reading that a question states (`6.2 mm/s`, `방앗간 6.2`, `108도`): it is no number of a machine,
//! and it is met with what was measured last and with the zones of ISO 20816-3, never answered by
//! the level alone.

use pdm_shared::risk::RiskLevel;
use pdm_shared::text::{Language, Text};

use super::desk::Focus;
use super::intent::{self, PLAIN_WORDS, has};
use super::reader::Reader;
use super::{dates, figures, watching, zone_limits};

/// Lowest value that is a temperature where `c` or `도` alone stands behind it, °C. Chosen: lower
/// numbers stand before these letters in names and counts.
const LEAST_CELSIUS: f64 = 25.0;
/// Share by which a stated velocity may differ from the measured one and still be told as the same.
/// Chosen: a tenth is within what two instruments show of one vibration.
const SAME: f64 = 0.1;
/// Difference of temperatures that are told as the same, K.
const SAME_K: f64 = 3.0;

/// Of what a reading is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Vibration velocity, mm/s; `has_unit`: the question says so.
    Velocity { has_unit: bool },
    /// Temperature, °C.
    Temperature,
    /// Something that is not measured here.
    Other,
}

/// A reading that a question states.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StatedReading {
    pub(super) value: f64,
    pub(super) quantity: Quantity,
    /// The number with its unit, as it is written.
    pub(super) written: String,
}

/// The reading that a clause states; nothing where its number is of something else, or it asks for
/// a time, a list, or a value of a manual.
pub(super) fn reading_in(clause: &str) -> Option<StatedReading> {
    let text = clause.to_lowercase();
    let asks_now = ["오늘", "지금", "방금", "현재", "today", " now", "just "];
    let is_of_past = dates::names_day(clause) && !asks_now.iter().any(|word| text.contains(word));
    if is_of_past || has(&text, &PLAIN_WORDS.no_reading) || intent::topic(clause).is_some() {
        return None;
    }
    let all = intent::numbers(&text);
    let with_unit = all.iter().find_map(|(from, to, value)| {
        let (quantity, length) = unit_at(&text, (*from, *to), *value)?;
        let end = to + (text[*to..].len() - text[*to..].trim_start().len()) + length;
        let written = text.get(*from..end)?.to_owned();
        Some(StatedReading { value: *value, quantity, written })
    });
    with_unit.or_else(|| {
        let mut bare = all.iter().filter(|(from, to, _)| is_bare(&text, *from, *to));
        let (from, to, value) = bare.next().filter(|_| bare.next().is_none())?;
        let quantity = Quantity::Velocity { has_unit: false };
        Some(StatedReading { value: *value, quantity, written: text[*from..*to].to_owned() })
    })
}

/// Whether the number at a place of a text is a reading and no number of a machine: one with a
/// decimal point, or with a unit behind it.
pub(super) fn is_reading_at(text: &str, from: usize, to: usize) -> bool {
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    let behind = text[to..].strip_prefix('.').map(|rest| rest.chars().next());
    let before = text[..from].strip_suffix('.').map(|rest| rest.chars().next_back());
    if behind.is_some_and(digit) || before.is_some_and(digit) {
        return true;
    }
    let value = text[from..to].parse().unwrap_or_default();
    let is_share = ["%", "프로", "퍼센트", "percent", "ton", "톤", "kg"];
    unit_at(text, (from, to), value).is_some()
        || is_share.iter().any(|unit| text[to..].trim_start().starts_with(unit))
}

/// The quantity whose unit stands behind a number, with the unit's length in bytes.
fn unit_at(text: &str, (from, to): (usize, usize), value: f64) -> Option<(Quantity, usize)> {
    const VELOCITY: [&str; 6] = ["mm/s", "mm / s", "mm/sec", "mmps", "밀리", "미리"];
    const TEMPERATURE: [&str; 7] = ["°c", "° c", "℃", "°", "degrees", "degree", "celsius"];
    const OTHER: [&str; 12] = [
        "ips",
        "in/s",
        "inch/s",
        "bar",
        "psi",
        "kpa",
        "mpa",
        "amps",
        "amp",
        "ampere",
        "암페어",
        "dbm",
    ];
    let before = text[..from].chars().next_back();
    let is_of_code = before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if is_of_code {
        return None;
    }
    let rest = text[to..].trim_start();
    let is_word = |unit: &&&str| {
        let next = rest.strip_prefix(**unit).map(|rest| rest.chars().next());
        next.is_some_and(|next| {
            !unit.is_ascii() || !next.is_some_and(|c| c.is_ascii_alphanumeric())
        })
    };
    let of = |units: &[&str]| units.iter().filter(is_word).map(|unit| unit.len()).max();
    if let Some(length) = of(&VELOCITY) {
        return Some((Quantity::Velocity { has_unit: true }, length));
    }
    if let Some(length) = of(&TEMPERATURE) {
        return Some((Quantity::Temperature, length));
    }
    if let Some(length) = of(&OTHER) {
        return Some((Quantity::Other, length));
    }
    let is_letter = of(&["c", "deg"]).filter(|_| value >= LEAST_CELSIUS);
    let korean = rest.strip_prefix('도').filter(|_| value >= LEAST_CELSIUS);
    let is_korean = korean.is_some_and(|rest| is_degree(rest, text));
    is_letter.or(is_korean.then_some('도'.len_utf8())).map(|length| (Quantity::Temperature, length))
}

/// Whether `도` behind a number is a degree and not the particle for "too": by what stands behind
/// it, or by a word for heat.
fn is_degree(rest: &str, text: &str) -> bool {
    const BEHIND: [&str; 24] = [
        "인데", "까지", "가 ", "예요", "에요", "이에", "입니", "나 ", "나와", "나오", "로 ", "를 ",
        "쯤", "정도", "던데", "라는", "라고", "넘", "찍", "올라", "야", "이상", "씨", "이면",
    ];
    let rest = rest.trim_start();
    let is_hot = ["온도", "뜨거", "뜨겁", "열이", "발열"].iter().any(|word| text.contains(word));
    is_hot || BEHIND.iter().any(|word| rest.starts_with(word))
}

/// Whether a number has a decimal point and no unit: a velocity as people say it. Numbers of
/// sections and versions, multiples and times are none.
fn is_bare(text: &str, from: usize, to: usize) -> bool {
    const COUNTED: [&str; 40] = [
        "배",
        "시간",
        "일",
        "주",
        "개",
        "년",
        "월",
        "분",
        "초",
        "절",
        "장",
        "조",
        "호",
        "번",
        "대",
        "kw",
        "mw",
        "hz",
        "rpm",
        "%",
        "프로",
        "퍼센트",
        "times",
        "x ",
        "hour",
        "h ",
        "day",
        "week",
        "month",
        "year",
        "min",
        "sec",
        "kg",
        "ton",
        "톤",
        "리터",
        "l ",
        "m ",
        "m/s",
        "mm",
    ];
    const SECTION: [&str; 8] = ["section", "§", "절", "version", "ver", "v", "iso", "tls"];
    let (before, rest) = (text[..from].trim_end(), text[to..].trim_start());
    let is_joined = text[..from]
        .chars()
        .next_back()
        .is_some_and(|c| c.is_ascii_alphanumeric() || ['-', '/', '.', ':'].contains(&c));
    let is_letter =
        text[to..].chars().next().is_some_and(|c| c.is_ascii_alphabetic() || "./:".contains(c))
            && !text[to..].trim_start_matches('.').trim().is_empty();
    text[from..to].contains('.')
        && !is_joined
        && !is_letter
        && !COUNTED.iter().any(|unit| rest.starts_with(unit))
        && !SECTION.iter().any(|word| before.ends_with(word))
}

/// A reading beside what was measured of a bearing: how it differs, in which zones it would be, and
/// what the judgement says where it stands; a level that is not of this reading never says that the
/// machine may go on.
pub(super) fn against(focus: &Focus, reading: &StatedReading, reader: Reader) -> String {
    let language = reader.language;
    let core = &focus.core;
    let mut parts = vec![core.line(language), stated_and_measured(focus, reading, reader)];
    if matches!(reading.quantity, Quantity::Velocity { .. }) {
        let known = focus.record.operation.and_then(|one| one.zone).zip(velocity_of(focus));
        parts.push(zone_limits::zones_of(reading.value, known, language));
    }
    parts.extend(watching::unseen(core, reader));
    if core.risk >= RiskLevel::Warning {
        let advice = focus.advice.in_language(language);
        let stop = super::stopping::verdict(core.risk).in_language(language).to_owned();
        parts.extend([stop, format!("→ {advice}")]);
    }
    let end = Text::new(
        "기록된 판정은 마지막 측정에 대한 것이며 말씀하신 값에 대한 판정이 아닙니다. 현장 문서에 한계값이 있으면 그것을 따르고, 바로 다시 측정하십시오. \
         운전과 정지는 현장의 안전 절차와 담당자가 정합니다.",
        "The recorded judgement rests on the last measurement and not on the value that you state. \
         Follow the limit of the plant's documents where there is one, and measure again at once. \
         The plant's own safety rules and its people decide on running and stopping.",
    );
    parts.push(end.in_language(language).to_owned());
    parts.extend(figures::age(core, reader));
    parts.join("\n")
}

fn velocity_of(focus: &Focus) -> Option<f64> {
    focus.record.levels.iter().find(|level| level.unit == "mm/s").map(|level| level.value)
}

/// What the question states, what was measured, and whether both are the same.
fn stated_and_measured(focus: &Focus, reading: &StatedReading, reader: Reader) -> String {
    let language = reader.language;
    let at = focus.core.measured_at.map(|at| reader.clock_time(at)).unwrap_or_default();
    let (measured, unit) = match reading.quantity {
        Quantity::Velocity { .. } => (velocity_of(focus), "mm/s"),
        Quantity::Temperature => (focus.record.temperature_c, "°C"),
        Quantity::Other => (None, ""),
    };
    let written = match reading.quantity {
        Quantity::Velocity { has_unit: false } => match language {
            Language::Ko => format!("{} (단위를 mm/s로 봄)", reading.written),
            Language::En => format!("{} (taken as mm/s)", reading.written),
        },
        Quantity::Velocity { .. } | Quantity::Temperature => {
            format!("{} {unit}", pdm_expert::wording::figure(reading.value))
        }
        Quantity::Other => reading.written.clone(),
    };
    let is_same = measured.is_some_and(|value| match reading.quantity {
        Quantity::Temperature => (value - reading.value).abs() <= SAME_K,
        Quantity::Velocity { .. } | Quantity::Other => {
            (value - reading.value).abs() <= SAME * reading.value
        }
    });
    let figure = measured.map(pdm_expert::wording::figure);
    match (figure, is_same, language) {
        (Some(value), false, Language::Ko) => format!(
            "말씀하신 값은 {written}, 제 기록의 마지막 측정은 {value} {unit}({at})로 서로 다릅니다."
        ),
        (Some(value), true, Language::Ko) => {
            format!(
                "말씀하신 값 {written}은 제 기록의 마지막 측정 {value} {unit}({at})과 비슷합니다."
            )
        }
        (Some(value), false, Language::En) => format!(
            "You state {written}; the last measurement in my records is {value} {unit} ({at}), \
             which differs."
        ),
        (Some(value), true, Language::En) => format!(
            "You state {written}, which is about the last measurement in my records, {value} \
             {unit} ({at})."
        ),
        (None, _, Language::Ko) => {
            format!(
                "말씀하신 값은 {written}입니다. 이 값은 제 기록에 측정된 것이 없어 비교할 수 없습니다."
            )
        }
        (None, _, Language::En) => format!(
            "You state {written}. My records have no measurement of it, so it cannot be compared."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(text: &str) -> Option<(f64, Quantity)> {
        reading_in(text).map(|reading| (reading.value, reading.quantity))
    }

    #[test]
    fn a_reading_is_known_by_its_unit_or_its_decimal_point() {
        let (velocity, bare) =
            (Quantity::Velocity { has_unit: true }, Quantity::Velocity { has_unit: false });
        for (text, value, quantity) in [
            ("the saw shows 5.4 mm/s, keep it going?", 5.4, velocity),
            ("톱 5.4 나오는데 괜찮나", 5.4, bare),
            ("톱 진동 8mm/s 찍혔어", 8.0, velocity),
            ("the dryer is at 97 °C", 97.0, Quantity::Temperature),
            ("dryer bearing at 88 degrees, ok?", 88.0, Quantity::Temperature),
            ("건조기 베어링 96도인데", 96.0, Quantity::Temperature),
            ("건조기 온도 96도 괜찮아?", 96.0, Quantity::Temperature),
            ("grinder 101 C fine?", 101.0, Quantity::Temperature),
            ("hydraulic line at 140 bar", 140.0, Quantity::Other),
        ] {
            assert_eq!(stated(text), Some((value, quantity)), "{text}");
        }
    }

    #[test]
    fn numbers_of_machines_dates_sections_and_multiples_are_no_readings() {
        for text in [
            "P-101 상태",
            "그럼 102도 괜찮아?",
            "펌프 3 rpm은?",
            "EM-06 5.2절 보여줘",
            "baseline의 2.5배",
            "is it fine for 1.5 hours",
            "11월 21일 3.3이었나",
            "when did it go over 4.5 mm/s",
            "4.5 mm/s 넘은 게 언제야",
            "M12 85.5 torque ok?",
            "ISO 20816-3.",
            "dock pump 4. Then what?",
        ] {
            assert_eq!(stated(text), None, "{text}");
        }
    }
}
