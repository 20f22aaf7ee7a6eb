//! A UTC day: the partition of every table.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, NaiveDate, Utc};

/// Milliseconds of a day.
pub const DAY_MS: i64 = 86_400_000;

/// A UTC day, counted from 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(i64);

impl Day {
    /// The day with this number since 1970-01-01, if the calendar has it.
    pub fn of_number(number: i64) -> Option<Self> {
        DateTime::<Utc>::from_timestamp_millis(number.checked_mul(DAY_MS)?).map(|_at| Self(number))
    }

    /// The day of an instant in milliseconds since 1970-01-01T00:00:00Z.
    pub fn of_ms(ms: i64) -> Option<Self> {
        Self::of_number(ms.div_euclid(DAY_MS))
    }

    /// Number of the day since 1970-01-01.
    pub const fn number(self) -> i64 {
        self.0
    }

    /// The first millisecond of the day.
    pub const fn begin_ms(self) -> i64 {
        self.0 * DAY_MS
    }

    /// The first millisecond of the next day.
    pub const fn end_ms(self) -> i64 {
        (self.0 + 1) * DAY_MS
    }

    /// The day after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match DateTime::<Utc>::from_timestamp_millis(self.begin_ms()) {
            Some(at) => write!(out, "{}", at.format("%Y-%m-%d")),
            None => write!(out, "day {}", self.0),
        }
    }
}

impl FromStr for Day {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let date: NaiveDate = text.parse().map_err(|_no_date| {
            format!("{text:?} is no day, expected a date such as 2026-03-04")
        })?;
        let midnight = date.and_hms_opt(0, 0, 0).ok_or_else(|| format!("{text:?} is no day"))?;
        Self::of_ms(midnight.and_utc().timestamp_millis())
            .ok_or_else(|| format!("{text:?} is no day"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_read_as_it_is_written_and_holds_its_instants() {
        let day: Day = "2026-03-04".parse().expect("a day");
        assert_eq!(day.to_string(), "2026-03-04");
        assert_eq!(Day::of_ms(day.begin_ms()), Some(day));
        assert_eq!(Day::of_ms(day.end_ms() - 1), Some(day));
        assert_eq!(Day::of_ms(day.end_ms()), Some(day.next()));
        assert_eq!(Day::of_ms(-1).map(|day| day.to_string()), Some("1969-12-31".to_owned()));
        assert!("2026-3-44".parse::<Day>().is_err());
        assert_eq!(Day::of_number(i64::MAX), None);
    }
}
