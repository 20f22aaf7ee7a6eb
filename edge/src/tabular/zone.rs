//! The zone of times that state none: the configured one, else that of this machine.
//!
//! One rule for all of them: names of files, columns of times and day numbers of spreadsheets, headers,
//! times in messages. Invariant: whoever reads a time by this rule says in which zone it was read.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Duration, FixedOffset, Local, NaiveDateTime, Offset, TimeZone};
use chrono_tz::Tz;

/// What a zone may be, for errors.
pub const ZONES: &str = "a zone such as \"Asia/Seoul\", \"UTC\" or \"+09:00\"";

/// A zone of local times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LocalZone {
    /// That of this machine (`TZ`).
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
    /// Of its first occurrence.
    pub first_s: i32,
    /// Of its second one, in the hour that the end of summer time repeats.
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
    /// The offsets of a local time. One that a clock which is set forward leaves out has the offset of
    /// before.
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

    /// The words for this zone where its offset is so many seconds, with what decides.
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

/// Local times in the order of their rows, s since 1970 as if they were UTC, as UTC; and whether one of them
/// lies in an hour that is repeated. There the order of the rows tells which of both it is.
pub fn in_utc(zone: LocalZone, local: &[f64]) -> (Vec<f64>, bool) {
    let falls = local.first() > local.last();
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

#[cfg(test)]
mod tests {
    use super::*;

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
