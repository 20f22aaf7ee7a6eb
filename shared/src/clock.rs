//! Time: UTC instants with millisecond texts, and the clock that a stage is given.
//!
//! A file that needs "now" takes a [`Clock`]; only [`SystemClock`] asks the machine.

use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An instant in UTC; on the wire RFC 3339 with milliseconds (`2026-11-21T05:10:21.000Z`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(DateTime<Utc>);

impl Timestamp {
    /// The instant `milliseconds` after 1970-01-01T00:00:00Z, or `None` outside chrono's range.
    pub fn from_unix_ms(milliseconds: i64) -> Option<Self> {
        DateTime::from_timestamp_millis(milliseconds).map(Self)
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub fn unix_ms(self) -> i64 {
        self.0.timestamp_millis()
    }

    /// Reads an RFC 3339 text with any offset.
    ///
    /// # Errors
    /// The parser's own words.
    pub fn parse(text: &str) -> Result<Self, chrono::ParseError> {
        DateTime::parse_from_rfc3339(text).map(|at| Self(at.with_timezone(&Utc)))
    }

    /// This instant and `seconds` more; stays where it is if that leaves the calendar.
    #[must_use]
    pub fn plus_seconds(self, seconds: f64) -> Self {
        let delta = TimeDelta::milliseconds((seconds * 1000.0).round() as i64);
        Self(self.0.checked_add_signed(delta).unwrap_or(self.0))
    }

    /// Seconds from `earlier` to this instant; negative if `earlier` is later.
    pub fn seconds_since(self, earlier: Self) -> f64 {
        (self.unix_ms() - earlier.unix_ms()) as f64 / 1000.0
    }

    /// The calendar form, for local texts.
    pub const fn date_time(self) -> DateTime<Utc> {
        self.0
    }
}

impl From<DateTime<Utc>> for Timestamp {
    fn from(at: DateTime<Utc>) -> Self {
        Self(at)
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

/// Who tells the time.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The present instant.
    fn now(&self) -> Timestamp;
}

/// A clock that is shared by the tasks of one program.
pub type SharedClock = Arc<dyn Clock>;

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the machine")]
    fn now(&self) -> Timestamp {
        Timestamp(Utc::now())
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

    #[test]
    fn a_bad_time_is_named_in_the_error() {
        let error = serde_json::from_str::<Timestamp>("\"yesterday\"").expect_err("not a time");
        assert!(error.to_string().contains("yesterday"), "{error}");
    }
}
