//! The zone of times that state none: the configured one, else that of this machine.
//!
//! One rule for all of them: names of files, columns of times and day numbers of spreadsheets,
//! headers, times in messages. Invariant: whoever reads a time by this rule says in which zone it
//! was read.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Duration, FixedOffset, Local, NaiveDateTime, Offset, TimeZone};
use chrono_tz::Tz;

/// The allowed forms of a zone, for errors.
pub const ZONES: &str = "a zone such as \"Asia/Seoul\", \"UTC\" or \"+09:00\"";

/// A zone of local times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LocalZone {
    /// The zone of this machine (`TZ`).
    #[default]
    Machine,
    /// One of the IANA data base.
    Named(Tz),
    /// A constant offset.
    Fixed(FixedOffset),
}

/// Seconds east of UTC at a local time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalOffsets {
    /// The offset of its first occurrence, s.
    pub first_s: i32,
    /// The offset of its second one, s, in the hour that the end of summer time repeats.
    pub second_s: Option<i32>,
}

impl FromStr for LocalZone {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("{text:?} is no zone; allowed is {ZONES}");
        if let Ok(zone) = text.parse::<Tz>() {
            return Ok(Self::Named(zone));
        }
        let (sign, rest) = match text.as_bytes().first() {
            Some(b'+') => (1, &text[1..]),
            Some(b'-') => (-1, &text[1..]),
            _ => return Err(unknown()),
        };
        let digits: String = rest.chars().filter(|letter| *letter != ':').collect();
        let is_offset = matches!(digits.len(), 2 | 4) && digits.bytes().all(|b| b.is_ascii_digit());
        let number = |part: Option<&str>| part.map_or(Ok(0), str::parse::<i32>);
        let (Ok(hours), Ok(minutes), true) =
            (number(digits.get(..2)), number(digits.get(2..4)), is_offset)
        else {
            return Err(unknown());
        };
        let offset = FixedOffset::east_opt(sign * (hours * 3600 + minutes * 60));
        offset.filter(|_| hours <= 14 && minutes < 60).map(Self::Fixed).ok_or_else(unknown)
    }
}

impl LocalZone {
    /// The offsets of a local time. One that a clock which is set forward leaves out has the offset
    /// of before.
    pub fn offsets(self, local: NaiveDateTime) -> LocalOffsets {
        match self {
            Self::Machine => offsets_in(&Local, local),
            Self::Named(zone) => offsets_in(&zone, local),
            Self::Fixed(zone) => offsets_in(&zone, local),
        }
    }

    /// The offsets of a local time in seconds since 1970, as if it were UTC.
    pub fn offsets_at(self, local_s: f64) -> LocalOffsets {
        let local = DateTime::from_timestamp_millis((local_s * 1000.0).round() as i64);
        self.offsets(local.unwrap_or_default().naive_utc())
    }

    /// Returns the words for this zone where its offset is `offset_s` seconds, with the key that
    /// sets it.
    pub fn words(self, offset_s: i32) -> String {
        let sign = if offset_s < 0 { '-' } else { '+' };
        let minutes = offset_s.abs() / 60;
        let utc = if minutes == 0 {
            "UTC".to_owned()
        } else {
            format!("UTC{sign}{:02}:{:02}", minutes / 60, minutes % 60)
        };
        match self {
            Self::Machine => format!("{utc}, the zone of this machine; zone decides"),
            Self::Named(_) | Self::Fixed(_) => format!("{self} ({utc})"),
        }
    }
}

impl fmt::Display for LocalZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Machine => f.write_str("the zone of this machine"),
            Self::Named(zone) => f.write_str(zone.name()),
            Self::Fixed(offset) => write!(f, "{offset}"),
        }
    }
}

/// Words for a zone that have one meaning, in lower case, with their hours. `CST` and `IST` have
/// several.
const ZONE_WORDS: [(&str, i32); 9] = [
    ("utc", 0),
    ("gmt", 0),
    ("zulu", 0),
    ("kst", 9),
    ("jst", 9),
    ("cet", 1),
    ("cest", 2),
    ("한국시간", 9),
    ("한국표준시", 9),
];

/// The zone of a text that is nothing else: `Asia/Seoul`, `UTC`, `UTC+9`, `GMT-05:30`, `+0900`,
/// `KST`.
pub fn zone_of_text(text: &str) -> Option<LocalZone> {
    let text = text.trim_matches([' ', '"', '(', ')', '[', ']']);
    let lower = text.to_lowercase();
    if let Some((_, hours)) = ZONE_WORDS.iter().find(|(word, _)| *word == lower) {
        return FixedOffset::east_opt(hours * 3600).map(LocalZone::Fixed);
    }
    let offset = ["utc", "gmt"].iter().find_map(|word| lower.strip_prefix(word));
    let offset = offset.unwrap_or(&lower).trim();
    if let Some(sign) = offset.chars().next().filter(|c| matches!(c, '+' | '-')) {
        let digits = &offset[1..];
        // `UTC+9`
        let full = match digits.len() {
            1 => format!("{sign}0{digits}"),
            4 if digits.contains(':') => format!("{sign}0{digits}"),
            _ => offset.to_owned(),
        };
        return full.parse().ok();
    }
    // a name of the data base has a region before it; `EST` and `CET` alone are others
    if text.contains('/') { text.parse().ok() } else { None }
}

/// The zone that the name of a column of times states in its brackets or as its last word:
/// `timestamp (+0900)`, `Time [KST]`, `time_utc`.
pub fn zone_of_name(name: &str) -> Option<LocalZone> {
    let name = name.trim();
    let bracketed = [('(', ')'), ('[', ']')].into_iter().find_map(|(open, close)| {
        let (from, to) = (name.find(open)?, name.rfind(close)?);
        zone_of_text(name.get(from + 1..to)?)
    });
    let last = || {
        let word = name.rsplit(['_', ' ', '-', '.', '/']).next()?;
        let lower = word.to_lowercase();
        let is_word = ZONE_WORDS.iter().any(|(own, _)| *own == lower);
        is_word.then(|| zone_of_text(word)).flatten()
    };
    // `timeUTC`, `utcTime`
    let joined = || {
        let is_utc = name.ends_with("UTC") || name.ends_with("GMT") || name.starts_with("utc");
        is_utc.then(|| zone_of_text("utc")).flatten()
    };
    // `Date Time, GMT+09:00`, `Date Time - UTC+9`
    let behind = || {
        let lower = name.to_lowercase();
        let at = lower.rfind("utc").or_else(|| lower.rfind("gmt")).filter(|at| *at > 0)?;
        let is_apart = lower.get(..at)?.ends_with([' ', ',', '-', '_', '/']);
        zone_of_text(name.get(at..)?).filter(|_| is_apart && lower.len() == name.len())
    };
    bracketed.or_else(last).or_else(behind).or_else(joined)
}

/// Whether a key says that its value is a zone: `timezone`, `Time zone`, `tz`, `시간대`.
pub fn is_zone_key(key: &str) -> bool {
    const KEYS: [&str; 11] = [
        "timezone",
        "tz",
        "timezoneid",
        "timezonename",
        "utcoffset",
        "gmtoffset",
        "zeitzone",
        "시간대",
        "타임존",
        "时区",
        "タイムゾーン",
    ];
    let plain: String =
        key.to_lowercase().chars().filter(|c| !matches!(c, ' ' | '_' | '-' | '"')).collect();
    KEYS.contains(&plain.as_str())
}

/// The zone of a line that states it: `# timezone: Asia/Seoul`, `Zeitzone;Europe/Berlin`.
pub fn zone_of_line(line: &str) -> Option<LocalZone> {
    let plain = line.trim().trim_start_matches(['#', '%', '/', '*', ';', '!', '"', ' ']);
    let at = plain.find([':', '=', ';', ',', '\t'])?;
    let (key, value) = plain.split_at(at);
    let value = value.trim_matches([':', '=', ';', ',', '\t', ' ', '"']);
    if is_zone_key(key) { zone_of_text(value) } else { None }
}

fn offsets_in<Z: TimeZone>(zone: &Z, local: NaiveDateTime) -> LocalOffsets {
    let seconds = |offset: Z::Offset| offset.fix().local_minus_utc();
    match zone.offset_from_local_datetime(&local) {
        chrono::LocalResult::Single(offset) => {
            LocalOffsets { first_s: seconds(offset), second_s: None }
        }
        chrono::LocalResult::Ambiguous(first, second) => {
            LocalOffsets { first_s: seconds(first), second_s: Some(seconds(second)) }
        }
        chrono::LocalResult::None => {
            // no clock is set forward by more than a few hours
            let before = local - Duration::hours(4);
            let offset = zone.offset_from_local_datetime(&before).earliest();
            LocalOffsets { first_s: offset.map_or(0, seconds), second_s: None }
        }
    }
}

/// Local times in the order of their rows, s since 1970 as if they were UTC, as UTC; and whether
/// one of them lies in an hour that is repeated. There the order of the rows tells which of both it
/// is.
pub fn in_utc(zone: LocalZone, local: &[f64]) -> (Vec<f64>, bool) {
    // the repeated hour may set the last time before the first
    let down = local.windows(2).filter(|two| two[1] < two[0]).count();
    let falls = 2 * down > local.len();
    let mut before = if falls { f64::INFINITY } else { f64::NEG_INFINITY };
    let mut is_any_twice = false;
    let read = |local_s: &f64| {
        let LocalOffsets { first_s, second_s } = zone.offsets_at(*local_s);
        let first = local_s - f64::from(first_s);
        let at = match second_s.map(|second_s| local_s - f64::from(second_s)) {
            None => first,
            Some(second) => {
                is_any_twice = true;
                let (usual, other) = if falls { (second, first) } else { (first, second) };
                let goes_on = if falls { usual < before } else { usual > before };
                if goes_on { usual } else { other }
            }
        };
        before = at;
        at
    };
    (local.iter().map(read).collect(), is_any_twice)
}

fn offset_at(zone: LocalZone, local_ns: i64) -> LocalOffsets {
    zone.offsets_at(local_ns.div_euclid(1_000_000_000) as f64)
}

/// Whether local times are so near each other that no clock of this zone is set twice among them,
/// and it is not set once. The millions of rows of a recording need one look then.
fn is_of_one_offset(zone: LocalZone, local: &[i64]) -> bool {
    const WEEK_NS: i64 = 7 * 86_400 * 1_000_000_000;
    let (Some(least), Some(most)) = (local.iter().min(), local.iter().max()) else { return true };
    let (first, last) = (offset_at(zone, *least), offset_at(zone, *most));
    most.saturating_sub(*least) < WEEK_NS && first == last && first.second_s.is_none()
}

/// Does the same as [`in_utc`] in nanoseconds, which have more digits than a floating-point number.
pub fn in_utc_ns(zone: LocalZone, local: &[i64]) -> Vec<i64> {
    const NS: i64 = 1_000_000_000;
    // the repeated hour may set the last time before the first
    let down = local.windows(2).filter(|two| two[1] < two[0]).count();
    let falls = 2 * down > local.len();
    if is_of_one_offset(zone, local) {
        let offset_s = local.first().map_or(0, |first| offset_at(zone, *first).first_s);
        return local.iter().map(|ns| ns.saturating_sub(i64::from(offset_s) * NS)).collect();
    }
    let mut before: Option<i64> = None;
    let read = |local_ns: &i64| {
        let LocalOffsets { first_s, second_s } = offset_at(zone, *local_ns);
        let utc = |offset_s: i32| local_ns.saturating_sub(i64::from(offset_s) * NS);
        let at = match second_s {
            None => utc(first_s),
            Some(second_s) => {
                let (first, second) = (utc(first_s), utc(second_s));
                let (usual, other) = if falls { (second, first) } else { (first, second) };
                let goes_on = before.is_none_or(|b| if falls { usual <= b } else { usual >= b });
                if goes_on { usual } else { other }
            }
        };
        before = Some(at);
        at
    };
    local.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-EDGE-4: a zone that the file states was not taken, and the recording was nine hours late.
    #[test]
    fn the_zone_of_a_name_and_of_a_line_is_found() {
        let hours = |zone: Option<LocalZone>| {
            let at = at("2026-07-01T08:00:00");
            zone.map(|zone| f64::from(zone.offsets_at(at).first_s) / 3600.0)
        };
        for (name, expected) in [
            ("stamp (+0530)", Some(5.5)),
            ("Time (UTC-3)", Some(-3.0)),
            ("Time [KST]", Some(9.0)),
            ("time_utc", Some(0.0)),
            ("Timestamp (UTC)", Some(0.0)),
            ("timeUTC", Some(0.0)),
            ("Date GMT", Some(0.0)),
            ("Stamp, GMT-03:00", Some(-3.0)),
            ("Date/Time, UTC+5", Some(5.0)),
            ("Date Time - GMT+05:30", Some(5.5)),
            ("Zeit (Europe/Berlin)", Some(2.0)),
            ("Time (s)", None),
            ("time", None),
            ("Time (ms)", None),
            ("acc/x", None),
        ] {
            assert_eq!(hours(zone_of_name(name)), expected, "{name}");
        }
        for (line, expected) in [
            ("# timezone: Asia/Seoul", Some(9.0)),
            ("Zeitzone;Europe/Berlin", Some(2.0)),
            ("\"Time zone\",\"UTC+05:30\"", Some(5.5)),
            ("TZ=-03:00", Some(-3.0)),
            ("zone: 4", None),
            ("tag: Asia/Seoul", None),
        ] {
            assert_eq!(hours(zone_of_line(line)), expected, "{line}");
        }
    }

    fn at(text: &str) -> f64 {
        let local: NaiveDateTime = text.parse().expect("a time");
        local.and_utc().timestamp() as f64
    }

    #[test]
    fn a_zone_is_a_name_or_an_offset() {
        for (text, hours) in [("Asia/Seoul", 9), ("+09:00", 9), ("-0530", -5), ("UTC", 0)] {
            let zone: LocalZone = text.parse().expect(text);
            let offset = zone.offsets_at(at("2026-03-01T08:00:00")).first_s;
            assert_eq!(offset / 3600, hours, "{text}");
        }
        for text in ["", "KST?", "+9:0", "+25:00", "local", "09:00", "+0960"] {
            assert!(text.parse::<LocalZone>().is_err(), "{text}");
        }
    }

    /// Berlin repeats 02:00 to 03:00 of 2026-10-25 and leaves out the same hour of 2026-03-29.
    #[test]
    fn rows_of_the_repeated_hour_are_told_apart_by_their_order() {
        let zone: LocalZone = "Europe/Berlin".parse().expect("a zone");
        let rows = ["01:30", "02:00", "02:30", "02:00", "02:30", "03:00"];
        let local = rows.map(|clock| at(&format!("2026-10-25T{clock}:00")));
        let (utc, is_twice) = in_utc(zone, &local);
        let steps: Vec<f64> = utc.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(is_twice && steps == [1800.0; 5], "{steps:?}");
        let newest_first: Vec<f64> = local.iter().rev().copied().collect();
        let (mut fallen, _) = in_utc(zone, &newest_first);
        fallen.reverse();
        assert_eq!(fallen, utc);
        let spring = ["01:30", "03:00"].map(|clock| at(&format!("2026-03-29T{clock}:00")));
        let (utc, is_twice) = in_utc(zone, &spring);
        assert!(!is_twice && (utc[1] - utc[0] - 1800.0).abs() < 1e-9, "{utc:?}");
        assert_eq!(zone.offsets_at(at("2026-03-29T02:30:00")).first_s, 3600, "left out");
    }
}
