//! Units as texts write them, in Korean and English.

/// The unit of a figure.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) enum Unit {
    /// A bare number.
    None,
    /// A physical unit by its base name, and how many of the base one of it is: hours for times.
    Measure(String, f64),
    /// A time before now; hours in one of it.
    Ago(f64),
    /// Hundredths.
    Percent,
    /// Multiples of something: `3배`, `3 times`.
    Times,
    /// A stage of the P–F curve.
    Stage,
    /// Things that are counted: `4건`, `4개`.
    Count,
    /// A date, a time of day or both, as `%Y`, `%m`, `%d`, `%H`, `%M`, `%S` of what is given.
    Instant(String),
    /// Part of a name.
    Name,
}

const HOUR: &str = "h";

/// Units in Latin letters and signs, by what is written: base name and size.
const LATIN: &[(&str, &str, f64)] = &[
    ("h", HOUR, 1.0),
    ("hr", HOUR, 1.0),
    ("hrs", HOUR, 1.0),
    ("hour", HOUR, 1.0),
    ("hours", HOUR, 1.0),
    ("d", HOUR, 24.0),
    ("day", HOUR, 24.0),
    ("days", HOUR, 24.0),
    ("week", HOUR, 168.0),
    ("weeks", HOUR, 168.0),
    ("month", HOUR, 730.0),
    ("months", HOUR, 730.0),
    ("year", HOUR, 8766.0),
    ("years", HOUR, 8766.0),
    ("min", HOUR, 1.0 / 60.0),
    ("minute", HOUR, 1.0 / 60.0),
    ("minutes", HOUR, 1.0 / 60.0),
    ("s", HOUR, 1.0 / 3600.0),
    ("sec", HOUR, 1.0 / 3600.0),
    ("second", HOUR, 1.0 / 3600.0),
    ("seconds", HOUR, 1.0 / 3600.0),
    ("ms", HOUR, 1.0 / 3_600_000.0),
    ("db", "db", 1.0),
    ("g", "g", 1.0),
    ("mg", "g", 0.001),
    ("hz", "hz", 1.0),
    ("khz", "hz", 1000.0),
    ("rpm", "rpm", 1.0),
    ("mm/s", "mm/s", 1.0),
    ("m/s²", "m/s²", 1.0),
    ("m/s2", "m/s²", 1.0),
    ("m/s^2", "m/s²", 1.0),
    ("mm", "mm", 1.0),
    ("µm", "mm", 0.001),
    ("μm", "mm", 0.001),
    ("um", "mm", 0.001),
    ("°c", "°c", 1.0),
    ("℃", "°c", 1.0),
    ("kw", "kw", 1.0),
    ("v", "v", 1.0),
    ("kn", "kn", 1.0),
    ("bar", "bar", 1.0),
    ("nm", "nm", 1.0),
    ("n·m", "nm", 1.0),
    ("n.m", "nm", 1.0),
    ("kgf·m", "kgf·m", 1.0),
    ("kgf·cm", "kgf·m", 0.01),
    ("mpa", "mpa", 1.0),
    ("kpa", "mpa", 0.001),
    ("cst", "cst", 1.0),
    ("mm²/s", "cst", 1.0),
    ("ppm", "ppm", 1.0),
    ("kg", "kg", 1.0),
    ("cm", "mm", 10.0),
    ("ml", "ml", 1.0),
    ("cc", "ml", 1.0),
    ("ips", "in/s", 1.0),
    ("in/s", "in/s", 1.0),
    ("mv/g", "mv/g", 1.0),
];

/// Units in Hangul that are times: what is written, and hours.
const KOREAN_TIMES: &[(&str, f64)] = &[
    ("시간", 1.0),
    ("분", 1.0 / 60.0),
    ("초", 1.0 / 3600.0),
    ("일", 24.0),
    ("주", 168.0),
    ("개월", 730.0),
    ("달", 730.0),
    ("년", 8766.0),
];

/// Words by which Korean counts things.
const KOREAN_COUNTERS: &[&str] =
    &["회", "건", "개", "번", "차", "대", "명", "매", "곳", "가지", "종", "점", "쪽", "장", "알"];

/// A unit of the base name `base`, of size 1.
pub(in super::super) fn measure(base: &str) -> Unit {
    Unit::Measure(base.to_owned(), 1.0)
}

/// The unit that begins at `end`, and where it ends.
pub(super) fn unit(text: &str, end: usize, own: &[String]) -> Option<(Unit, usize)> {
    let gap = usize::from(text[end..].starts_with([' ', '-']));
    let (at, rest) = (end + gap, &text[end + gap..]);
    let known = own.iter().filter(|unit| !unit.is_empty() && rest.starts_with(unit.as_str()));
    if let Some(unit) = known.max_by_key(|unit| unit.len()) {
        return Some((Unit::Measure(unit.clone(), 1.0), at + unit.len()));
    }
    if let Some(sign) = ["%", "％"].iter().find(|sign| rest.starts_with(**sign)) {
        return Some((Unit::Percent, at + sign.len()));
    }
    latin(text, at, gap > 0).or_else(|| korean(text, at))
}

fn latin(text: &str, at: usize, is_apart: bool) -> Option<(Unit, usize)> {
    let rest = &text[at..];
    let of_unit = |c: char| c.is_ascii_alphabetic() || "µμ°℃/²^·⋅".contains(c);
    let length = rest.find(|c: char| !of_unit(c)).unwrap_or(rest.len());
    let mut token = rest[..length].trim_end_matches(['/', '·', '⋅']);
    if token.eq_ignore_ascii_case("n") && rest[length..].to_ascii_lowercase().starts_with(".m") {
        token = &rest[..length + ".m".len()];
    }
    if token == "m/s" && rest[length..].starts_with('2') {
        token = &rest[..=length];
    }
    if token.is_empty() {
        let times =
            rest.strip_prefix('×').is_some_and(|more| !more.starts_with(char::is_alphabetic));
        return times.then_some((Unit::Times, at + '×'.len_utf8()));
    }
    let end = at + token.len();
    // a letter or digit that goes on makes it another word
    if text[end..].starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let lower = token.to_lowercase().replace('⋅', "·");
    match lower.as_str() {
        "percent" => return Some((Unit::Percent, end)),
        "times" | "x" => return Some((Unit::Times, end)),
        _ => {}
    }
    if let Some((_, base, size)) = LATIN.iter().find(|(name, _, _)| *name == lower) {
        return Some(aged(text, base, *size, end));
    }
    // a quotient is a unit even if no list holds it; so is what is written to the number
    let is_quotient = token.contains('/') && is_apart;
    is_quotient.then(|| (Unit::Measure(token.to_owned(), 1.0), end))
}

/// A time is an age where `ago` or `전` follows.
fn aged(text: &str, base: &str, size: f64, end: usize) -> (Unit, usize) {
    let after = &text[end..];
    let gap = after.len() - after.trim_start_matches(' ').len();
    let word = ["ago", "전"].iter().find(|word| after[gap..].starts_with(**word));
    match word {
        Some(word) if base == HOUR => (Unit::Ago(size), end + gap + word.len()),
        Some(_) | None => (Unit::Measure(base.to_owned(), size), end),
    }
}

fn korean(text: &str, at: usize) -> Option<(Unit, usize)> {
    let rest = &text[at..];
    let starts = |word: &&str| rest.starts_with(*word);
    if let Some(word) = ["단계"].iter().find(|word| starts(word)) {
        return Some((Unit::Stage, at + word.len()));
    }
    if let Some((word, size)) = KOREAN_TIMES.iter().find(|(word, _)| rest.starts_with(word)) {
        return Some(aged(text, HOUR, *size, at + word.len()));
    }
    if let Some(word) = ["퍼센트", "프로"].iter().find(|word| starts(word)) {
        return Some((Unit::Percent, at + word.len()));
    }
    if rest.starts_with('배') {
        return Some((Unit::Times, at + '배'.len_utf8()));
    }
    if rest.starts_with('도') {
        return Some((measure("°c"), at + '도'.len_utf8()));
    }
    let counter = KOREAN_COUNTERS.iter().find(|word| starts(word))?;
    Some((Unit::Count, at + counter.len()))
}

/// `stage 2`
pub(super) fn is_stage(text: &str, start: usize) -> bool {
    text[..start].trim_end().to_ascii_lowercase().ends_with("stage")
}
