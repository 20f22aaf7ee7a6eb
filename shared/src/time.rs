//! Instants in UTC, written with milliseconds.
//!
//! This module never asks for the present instant: programs are given a clock
//! (`pdm_service::clock`).

use std::fmt;

use chrono::{DateTime, Datelike, SecondsFormat, SubsecRound, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An instant in UTC; on the wire RFC 3339 with milliseconds (`2026-11-21T05:10:21.000Z`).
///
/// Invariant: an instant that is written is read back as the same instant. So it is a whole number
/// of milliseconds in the years 0 to 9999, which RFC 3339 can write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(DateTime<Utc>);

impl Timestamp {
    /// 1970-01-01T00:00:00Z, where the clock of a machine without a battery begins.
    pub const EPOCH: Self = Self(DateTime::UNIX_EPOCH);

    /// The instant `milliseconds` after 1970-01-01T00:00:00Z, or `None` outside the calendar.
    pub fn from_unix_ms(milliseconds: i64) -> Option<Self> {
        DateTime::from_timestamp_millis(milliseconds).and_then(Self::of)
    }

    /// The instant in whole milliseconds, or `None` if RFC 3339 cannot write its year.
    pub fn of(at: DateTime<Utc>) -> Option<Self> {
        (0..=9999).contains(&at.year()).then(|| Self(at.trunc_subsecs(3)))
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub fn unix_ms(self) -> i64 {
        self.0.timestamp_millis()
    }

    /// Reads an RFC 3339 text with any offset.
    ///
    /// # Errors
    /// The parser's error.
    pub fn parse(text: &str) -> Result<Self, chrono::ParseError> {
        let at = DateTime::parse_from_rfc3339(text)?.with_timezone(&Utc);
        // an offset can lead into a year that RFC 3339 cannot write: reading that text is the error
        Self::of(at).map_or_else(
            || DateTime::parse_from_rfc3339(&at.to_rfc3339()).map(|at| Self(at.to_utc())),
            Ok,
        )
    }

    /// This instant plus `seconds`; unchanged if the sum leaves the calendar.
    #[must_use]
    pub fn plus_seconds(self, seconds: f64) -> Self {
        TimeDelta::try_milliseconds((seconds * 1000.0).round() as i64)
            .and_then(|delta| self.0.checked_add_signed(delta))
            .and_then(Self::of)
            .unwrap_or(self)
    }

    /// Returns the instant ten years on: later than everything that is stored, also by a clock that
    /// was ahead. A list of what is newest begins there.
    #[must_use]
    pub fn ten_years_on(self) -> Self {
        self.plus_seconds(10.0 * 365.25 * 86_400.0)
    }

    /// Seconds from `earlier` to this instant; negative if `earlier` is later.
    pub fn seconds_since(self, earlier: Self) -> f64 {
        (self.unix_ms() - earlier.unix_ms()) as f64 / 1000.0
    }

    /// The calendar form, for texts in local time.
    pub const fn date_time(self) -> DateTime<Utc> {
        self.0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(|reason| {
            serde::de::Error::custom(format!("{text:?} is not an RFC 3339 time: {reason}"))
        })
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_is_written_in_utc_with_milliseconds() {
        let at = Timestamp::parse("2026-11-21T14:10:21+09:00").expect("valid");
        assert_eq!(at.to_string(), "2026-11-21T05:10:21.000Z");
    }

    /// Two kinds of instants were once written as others: those with microseconds, and those in a
    /// year that only an offset reaches.
    #[test]
    fn what_is_written_is_read_back_as_the_same_instant() {
        for text in
            ["2026-11-21T05:10:21.123456789Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:60Z"]
        {
            let at = Timestamp::parse(text).expect(text);
            assert_eq!(Timestamp::parse(&at.to_string()), Ok(at), "{text}");
        }
        for text in ["9999-12-31T23:59:59-00:01", "0000-01-01T00:00:00+00:01"] {
            assert!(Timestamp::parse(text).is_err(), "{text}");
        }
        assert_eq!(Timestamp::from_unix_ms(253_402_300_800_000), None, "the year 10000");
    }

    #[test]
    fn no_number_of_seconds_leads_out_of_the_calendar() {
        let at = Timestamp::from_unix_ms(1).expect("valid");
        for seconds in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e300, 1e15, -1e12] {
            assert_eq!(at.plus_seconds(seconds), at, "{seconds}");
        }
        assert_eq!(at.plus_seconds(-0.001).unix_ms(), 0);
    }

    #[test]
    fn a_bad_time_is_named_in_the_error() {
        let error = serde_json::from_str::<Timestamp>("\"yesterday\"").expect_err("not a time");
        assert!(error.to_string().contains("yesterday"), "{error}");
    }
}
