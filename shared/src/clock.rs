//! Time: UTC instants with millisecond texts, and the clock that a stage is given.
//!
//! A file that needs "now" takes a [`Clock`]; only [`SystemClock`] asks the machine.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chrono::{DateTime, Datelike, SecondsFormat, SubsecRound, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An instant in UTC; on the wire RFC 3339 with milliseconds (`2026-11-21T05:10:21.000Z`).
///
/// Invariant: what is written is read back as the same instant, so it is a whole number of
/// milliseconds in the years 0 to 9999 that RFC 3339 can write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(DateTime<Utc>);

impl Timestamp {
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
    /// The parser's own words.
    pub fn parse(text: &str) -> Result<Self, chrono::ParseError> {
        let at = DateTime::parse_from_rfc3339(text)?.with_timezone(&Utc);
        // an offset can lead into a year that has no text: reading that text is the error
        Self::of(at).map_or_else(
            || DateTime::parse_from_rfc3339(&at.to_rfc3339()).map(|at| Self(at.to_utc())),
            Ok,
        )
    }

    /// This instant and `seconds` more; stays where it is if that leaves the calendar.
    #[must_use]
    pub fn plus_seconds(self, seconds: f64) -> Self {
        TimeDelta::try_milliseconds((seconds * 1000.0).round() as i64)
            .and_then(|delta| self.0.checked_add_signed(delta))
            .and_then(Self::of)
            .unwrap_or(self)
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
        Timestamp(Utc::now().trunc_subsecs(3))
    }
}

/// A clock that never goes back: where the inner one is set back, it goes on from the last instant.
///
/// For what is due: a pause that was reckoned before the clock was set back ends when it should.
#[derive(Debug)]
pub struct SteadyClock {
    inner: SharedClock,
    latest: Mutex<(Timestamp, Instant)>,
}

impl SteadyClock {
    /// Beginning with what `inner` tells now.
    pub fn new(inner: SharedClock) -> Self {
        let latest = Mutex::new((inner.now(), Instant::now()));
        Self { inner, latest }
    }
}

impl Clock for SteadyClock {
    fn now(&self) -> Timestamp {
        let told = self.inner.now();
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let at = Instant::now();
        if told >= latest.0 {
            *latest = (told, at);
            return told;
        }
        latest.0.plus_seconds(at.duration_since(latest.1).as_secs_f64())
    }
}

/// When the wall clock may be trusted to say that something is too old.
///
/// A machine without a battery begins in 1970, a clock is set wrong and put right again: by such an
/// instant nothing may be given up. After the start ages are not judged for a while, in which the
/// clock can be set and what is old can leave; after a jump against the monotonic clock not until
/// whatever was written before it is old by any clock.
#[derive(Debug)]
pub struct Patience {
    clock: SharedClock,
    age: Duration,
    seen: Mutex<Seen>,
}

#[derive(Debug)]
struct Seen {
    wall: Timestamp,
    at: Instant,
    trusted_from: Instant,
}

/// A step of the wall clock against the monotonic one that counts as a jump, s. Chosen: above what
/// a time service slews away, below what matters to an age of hours.
const JUMP_S: f64 = 60.0;

impl Patience {
    /// How long ages are not judged after the start. Chosen: time enough to set the clock and to
    /// deliver a backlog.
    const SETTLE: Duration = Duration::from_hours(1);

    /// Patience with `clock`, for whatever is old at `age`: that long after a jump, and an hour, or
    /// `age` if that is shorter, after the start.
    pub fn new(clock: SharedClock, age: Duration) -> Self {
        let at = Instant::now();
        let trusted_from = at + age.min(Self::SETTLE);
        let seen = Seen { wall: clock.now(), at, trusted_from };
        Self { clock, age, seen: Mutex::new(seen) }
    }

    /// The present instant, if an age may be judged by it.
    pub fn now(&self) -> Option<Timestamp> {
        let wall = self.clock.now();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let at = Instant::now();
        let passed_s = at.duration_since(seen.at).as_secs_f64();
        if (wall.seconds_since(seen.wall) - passed_s).abs() > JUMP_S {
            seen.trusted_from = at + self.age;
        }
        (seen.wall, seen.at) = (wall, at);
        (at >= seen.trusted_from).then_some(wall)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI64, Ordering};

    #[derive(Debug, Default)]
    struct SetClock(AtomicI64);

    impl SetClock {
        fn set(&self, unix_s: i64) {
            self.0.store(unix_s * 1000, Ordering::Relaxed);
        }
    }

    impl Clock for SetClock {
        fn now(&self) -> Timestamp {
            Timestamp::from_unix_ms(self.0.load(Ordering::Relaxed)).expect("in range")
        }
    }

    #[test]
    fn a_steady_clock_follows_forward_and_never_goes_back() {
        let set = Arc::new(SetClock::default());
        let steady = SteadyClock::new(set.clone());
        set.set(5000);
        assert_eq!(steady.now().unix_ms(), 5_000_000);
        set.set(1000);
        assert!((5_000_000..5_060_000).contains(&steady.now().unix_ms()), "{}", steady.now());
        set.set(6000);
        assert_eq!(steady.now().unix_ms(), 6_000_000);
    }

    #[test]
    fn no_age_is_judged_after_the_start_or_a_jump_until_it_can_be_told() {
        let set = Arc::new(SetClock::default());
        let long = Patience::new(set.clone(), Duration::from_hours(24));
        assert_eq!(long.now(), None, "just begun");
        let short = Patience::new(set.clone(), Duration::ZERO);
        assert!(short.now().is_some(), "settled at once");
        let jumping = Patience {
            age: Duration::from_hours(24),
            ..Patience::new(set.clone(), Duration::ZERO)
        };
        assert!(jumping.now().is_some());
        set.set(56 * 366 * 86_400);
        assert_eq!(jumping.now(), None, "1970 was wrong, or this is");
        let left = jumping.seen.lock().expect("whole").trusted_from - Instant::now();
        assert!(left > Duration::from_hours(23), "what was noticed before is not a day old yet");
    }

    #[test]
    fn a_timestamp_is_written_in_utc_with_milliseconds() {
        let at = Timestamp::parse("2026-11-21T14:10:21+09:00").expect("valid");
        assert_eq!(at.to_string(), "2026-11-21T05:10:21.000Z");
    }

    /// A time with microseconds, or in a year that only an offset leads to, was written as another.
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
