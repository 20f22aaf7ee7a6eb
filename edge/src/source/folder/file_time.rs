//! The time at which a file of a folder was recorded: from its name, else from its last change.
//!
//! A name gives a time if it holds a date and at least hours and minutes: digits in a row
//! (`20231122134502`), separated (`2023-11-22_13.45.02`, `2003.10.22.12.06.24`), with or without a
//! fraction, or seconds or milliseconds since 1970 (10 or 13 digits). `Z` or an offset such as
//! `+0900` at its end states the zone; a time without one is read in the zone of the source. A date
//! alone gives none, since many files of a day would share it.

use chrono::{FixedOffset, NaiveDate, NaiveDateTime, TimeZone, Utc};
use pdm_shared::time::Timestamp;

use crate::tabular::LocalZone;

/// Years that the date of a name may have. Recordings of before have been converted, and carry the
/// name of their conversion; digits beyond are a serial number.
const YEARS: std::ops::RangeInclusive<i32> = 1980..=2099;

/// Seconds since 1970 that a row of digits may stand for: 2001-09-09 to 2099-12-31. Ten digits
/// below begin with 0 and are a serial number.
const UNIX_S: std::ops::RangeInclusive<i64> = 1_000_000_000..=4_102_444_799;

/// When a file was recorded, and where that is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileTime {
    pub(super) at: Timestamp,
    /// The name of the file states it.
    pub(super) is_of_name: bool,
    /// A note on it for the person.
    pub(super) note: String,
}

/// The time that a file's name states.
pub(super) fn time_of_name(name: &str, changed_at: Timestamp, zone: LocalZone) -> Option<FileTime> {
    let bytes = name.as_bytes();
    let starts = (0..bytes.len())
        .filter(|&at| bytes[at].is_ascii_digit() && (at == 0 || !bytes[at - 1].is_ascii_digit()));
    for at in starts {
        if let Some(time) = calendar(&bytes[at..], changed_at, zone).or_else(|| unix(&bytes[at..]))
        {
            return Some(time);
        }
    }
    None
}

/// Reads digits from a text piece by piece.
struct Digits<'a> {
    rest: &'a [u8],
}

impl Digits<'_> {
    /// Reads a number of exactly `digits` digits, after at most one separator.
    fn number(&mut self, digits: usize) -> Option<u32> {
        let separated = self.rest.first().is_some_and(|byte| b"-_.:T t".contains(byte));
        let from = usize::from(separated);
        let text = self.rest.get(from..from + digits)?;
        if !text.iter().all(u8::is_ascii_digit) {
            return None;
        }
        self.rest = &self.rest[from + digits..];
        std::str::from_utf8(text).ok()?.parse().ok()
    }

    /// A fraction of a second after a dot, a comma or an underscore: three, six or nine digits.
    fn nanoseconds(&mut self) -> u32 {
        let Some((first, digits)) = self.rest.split_first() else { return 0 };
        let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !b".,_".contains(first) || !matches!(count, 3 | 6 | 9) {
            return 0;
        }
        let text = std::str::from_utf8(&digits[..count]).unwrap_or("0");
        self.rest = &digits[count..];
        text.parse::<u32>().unwrap_or(0) * 10u32.pow(9 - count as u32)
    }

    /// The offset that follows: `Z`, `+09`, `+0900`, `+09:00`; `None` if none is stated.
    fn offset(&mut self) -> Option<FixedOffset> {
        let (sign, rest) = self.rest.split_first()?;
        if matches!(sign, b'Z' | b'z') {
            return FixedOffset::east_opt(0);
        }
        let east = match sign {
            b'+' => 1,
            // a minus separates words in names, so that it needs four digits to be an offset
            b'-' if rest.len() >= 4 && rest[..4].iter().all(u8::is_ascii_digit) => -1,
            _ => return None,
        };
        let mut digits = Digits { rest };
        let hours = digits.number(2)?;
        let minutes = digits.number(2).unwrap_or(0);
        let is_offset = hours <= 14 && minutes < 60 && !digits.begins_with_digit();
        let seconds = i32::try_from(hours * 3600 + minutes * 60).ok()?;
        is_offset.then(|| FixedOffset::east_opt(east * seconds)).flatten()
    }

    fn begins_with_digit(&self) -> bool {
        self.rest.first().is_some_and(u8::is_ascii_digit)
    }
}

fn calendar(text: &[u8], changed_at: Timestamp, zone: LocalZone) -> Option<FileTime> {
    let mut digits = Digits { rest: text };
    let year = i32::try_from(digits.number(4)?).ok().filter(|year| YEARS.contains(year))?;
    let (month, day) = (digits.number(2)?, digits.number(2)?);
    let (hour, minute) = (digits.number(2)?, digits.number(2)?);
    let date = NaiveDate::from_ymd_opt(year, month, day)?;
    let second = digits.number(2).unwrap_or(0);
    let nanoseconds = digits.nanoseconds();
    if digits.begins_with_digit() {
        // more digits in a row: not a time, but a number that begins like one
        return None;
    }
    let time = date.and_hms_nano_opt(hour, minute, second, nanoseconds)?;
    match digits.offset() {
        Some(offset) => {
            let at = offset.from_local_datetime(&time).single()?.with_timezone(&Utc);
            Some(of_name(Timestamp::of(at)?, "dated by the file's name".to_owned()))
        }
        None => in_zone(time, changed_at, zone),
    }
}

/// A time that states no zone. In the hour that the end of summer time repeats, the one that lies
/// nearer to the file's last change.
fn in_zone(time: NaiveDateTime, changed_at: Timestamp, zone: LocalZone) -> Option<FileTime> {
    let local = Timestamp::of(time.and_utc())?;
    let offsets = zone.offsets(time);
    let of = |offset_s: i32| local.plus_seconds(-f64::from(offset_s));
    let note = format!("dated by the file's name in {}", zone.words(offsets.first_s));
    let first = of(offsets.first_s);
    let Some(second) = offsets.second_s.map(of) else { return Some(of_name(first, note)) };
    let distance = |at: Timestamp| changed_at.seconds_since(at).abs();
    let (at, which) =
        if distance(second) < distance(first) { (second, "second") } else { (first, "first") };
    let note = format!(
        "{note}; its hour is repeated (the end of summer time): the {which} one lies nearer to the \
         file's last change"
    );
    Some(of_name(at, note))
}

const fn of_name(at: Timestamp, note: String) -> FileTime {
    FileTime { at, is_of_name: true, note }
}

/// Seconds or milliseconds since 1970.
fn unix(text: &[u8]) -> Option<FileTime> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number: i64 = std::str::from_utf8(&text[..count]).ok()?.parse().ok()?;
    let (seconds, ms) = match count {
        10 => (number, number * 1000),
        13 => (number / 1000, number),
        _ => return None,
    };
    let at = UNIX_S.contains(&seconds).then(|| Timestamp::from_unix_ms(ms)).flatten()?;
    Some(of_name(at, "dated by the file's name".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(name: &str) -> Option<Timestamp> {
        time_of_name(name, Timestamp::EPOCH, seoul()).map(|time| time.at)
    }

    fn seoul() -> LocalZone {
        "Asia/Seoul".parse().expect("a zone")
    }

    fn local(text: &str) -> Option<Timestamp> {
        Timestamp::parse(&format!("{text}+09:00")).ok()
    }

    /// Berlin shows 02:00 to 03:00 of 2026-10-25 twice.
    #[test]
    fn a_repeated_hour_is_that_of_the_last_change_and_is_told() {
        let zone = "Europe/Berlin".parse().expect("a zone");
        for (offset, which) in [("+02:00", "first"), ("+01:00", "second")] {
            let at = Timestamp::parse(&format!("2026-10-25T02:30:00{offset}")).expect("a time");
            let changed_at = at.plus_seconds(40.0);
            let read = time_of_name("p_20261025_023000.csv", changed_at, zone).expect("a time");
            assert_eq!(read.at, at, "{read:?}");
            assert!(read.note.contains(which) && read.note.contains("Europe/Berlin"), "{read:?}");
        }
    }

    /// Names as loggers and public sets write them.
    #[test]
    fn a_time_in_a_name_is_read_in_the_spellings_of_the_field() {
        for name in [
            "2003.10.22.12.06.24",
            "20031022120624.csv",
            "pump_20031022_120624.wav",
            "P-101 2003-10-22 12-06-24.csv",
            "acc_2003-10-22T12:06:24.npy",
            "rec-20031022T120624.mat",
            "ch1_2003_10_22_12_06_24_DE.csv",
        ] {
            assert_eq!(at(name), local("2003-10-22T12:06:24"), "{name}");
        }
        assert_eq!(at("2003-10-22_12.06.csv"), local("2003-10-22T12:06:00"));
        assert_eq!(at("20031022_120624_250.csv"), local("2003-10-22T12:06:24.250"));
        let utc = Timestamp::parse("2003-10-22T12:06:24Z").ok();
        for name in ["20031022T120624Z.csv", "2003-10-22T21-06-24+0900.wav", "1066824384.csv"] {
            assert_eq!(at(name), utc, "{name}");
        }
        assert_eq!(at("rms_1066824384250.csv"), utc.map(|at| at.plus_seconds(0.25)));
    }

    #[test]
    fn a_serial_number_or_a_date_alone_is_no_time() {
        for name in [
            "1.csv",
            "00001234.npy",
            "20031022.csv",
            "2003-10-22.wav",
            "acc_00012.csv",
            "20031022120699.csv",
            "123456789012.csv",
            "0000000042.csv",
            "SN20031399120624.csv",
            "200310221206241234567.csv",
        ] {
            assert_eq!(at(name), None, "{name}");
        }
    }
}
