//! The clocks that are given to the stages of a program.
//!
//! Code that needs the present instant takes a [`Clock`]; only [`SystemClock`] asks the machine.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use chrono::Utc;
use pdm_shared::time::Timestamp;

/// A source of the present instant.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The present instant.
    fn now(&self) -> Timestamp;

    /// Time that has passed since the program first asked, whatever the present instant was set to.
    fn uptime(&self) -> Duration {
        static BEGUN: OnceLock<Instant> = OnceLock::new();
        BEGUN.get_or_init(Instant::now).elapsed()
    }
}

/// A clock that is shared by the tasks of one program.
pub type SharedClock = Arc<dyn Clock>;

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the machine")]
    fn now(&self) -> Timestamp {
        Timestamp::of(Utc::now()).unwrap_or(Timestamp::EPOCH)
    }
}

/// A clock that never goes back: where the inner one is set back, it goes on from the last instant.
///
/// Used for due times: a pause that was computed before the clock was set back still ends on time.
#[derive(Debug)]
pub struct SteadyClock {
    inner: SharedClock,
    latest: Mutex<(Timestamp, Instant)>,
}

impl SteadyClock {
    /// A steady clock that begins at the present instant of `inner`.
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

/// Decides whether the wall clock can be trusted when a record is to be given up as too old.
///
/// A machine without a battery starts in 1970, and a clock can be set wrong and corrected later. No
/// record may be given up because of such an instant. So ages are not judged for a while after the
/// start, in which the clock can be set and old records can be sent. After a jump against the
/// monotonic clock ages are not judged until every record written before the jump is too old by any
/// clock.
#[derive(Debug)]
pub struct Patience {
    clock: SharedClock,
    age: Duration,
    jumps: JumpWatch,
    trusted_from: Mutex<Instant>,
}

/// A step of the wall clock against the monotonic one that counts as a jump, s. No data chose it:
/// 60 s is above the corrections that a time service slews, and small against ages of hours.
pub const JUMP_S: f64 = 60.0;

/// Notices that the wall clock was moved against the time that really passed.
#[derive(Debug)]
pub struct JumpWatch {
    clock: SharedClock,
    seen: Mutex<(Timestamp, Duration)>,
}

impl JumpWatch {
    /// A watch that begins at the present instant.
    pub fn new(clock: SharedClock) -> Self {
        let seen = Mutex::new((clock.now(), clock.uptime()));
        Self { clock, seen }
    }

    /// Returns by how much the wall clock was moved since the last look, s: above 0 ahead. `None`
    /// for less than a minute.
    pub fn moved_s(&self) -> Option<f64> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (wall, uptime) = (self.clock.now(), self.clock.uptime());
        let passed_s = uptime.saturating_sub(seen.1).as_secs_f64();
        let moved_s = wall.seconds_since(seen.0) - passed_s;
        *seen = (wall, uptime);
        (moved_s.abs() > JUMP_S).then_some(moved_s)
    }
}

impl Patience {
    /// Time after the start in which ages are not judged. No data chose it: one hour leaves time to
    /// set the clock and to deliver a backlog, and delays the removal of old records by no more.
    const SETTLE: Duration = Duration::from_hours(1);

    /// Patience for records that are too old at `age`. Ages are not judged for `age` after a jump,
    /// and for the shorter of `age` and one hour after the start.
    pub fn new(clock: SharedClock, age: Duration) -> Self {
        let trusted_from = Mutex::new(Instant::now() + age.min(Self::SETTLE));
        let jumps = JumpWatch::new(Arc::clone(&clock));
        Self { clock, age, jumps, trusted_from }
    }

    /// The present instant, if an age may be judged by it.
    pub fn now(&self) -> Option<Timestamp> {
        let wall = self.clock.now();
        let mut trusted_from = self.trusted_from.lock().unwrap_or_else(PoisonError::into_inner);
        let at = Instant::now();
        if self.jumps.moved_s().is_some() {
            *trusted_from = at + self.age;
        }
        (at >= *trusted_from).then_some(wall)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

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
    fn a_clock_that_is_moved_is_noticed_once_and_by_how_much() {
        let set = Arc::new(SetClock::default());
        set.set(5000);
        let watch = JumpWatch::new(set.clone());
        set.set(5030);
        assert_eq!(watch.moved_s(), None, "less than a minute");
        set.set(5030 + 3600);
        let ahead_s = watch.moved_s().expect("an hour");
        assert!((3590.0..=3600.0).contains(&ahead_s), "{ahead_s}");
        assert_eq!(watch.moved_s(), None, "once");
        set.set(0);
        assert!(watch.moved_s().is_some_and(|back_s| back_s < -8000.0));
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
        let left = *jumping.trusted_from.lock().expect("whole") - Instant::now();
        assert!(left > Duration::from_hours(23), "what was noticed before is not a day old yet");
    }
}
