//! The clocks that are given to the stages of a program.
//!
//! Code that needs the present instant takes a [`Clock`]; only [`SystemClock`] asks the machine.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
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

    /// Takes the clock of a server that several machines share. Most clocks go on by themselves.
    fn follow(&self, _server: Timestamp) {}

    /// By how much a server's clock that is followed is ahead of the machine's, s; none where both
    /// agree.
    fn apart_s(&self) -> Option<f64> {
        None
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

/// The machine's clock, or that of a server where both are a minute apart: replicas whose clocks
/// differ would find each other's due times passed or far away.
#[derive(Debug)]
pub struct FollowingClock {
    inner: SharedClock,
    ahead_ms: AtomicI64,
}

impl FollowingClock {
    /// A clock that follows nobody yet.
    pub fn new(inner: SharedClock) -> Self {
        Self { inner, ahead_ms: AtomicI64::new(0) }
    }
}

impl Clock for FollowingClock {
    fn now(&self) -> Timestamp {
        let ahead_ms = self.ahead_ms.load(Ordering::Relaxed);
        self.inner.now().plus_seconds(ahead_ms as f64 / 1000.0)
    }

    fn uptime(&self) -> Duration {
        self.inner.uptime()
    }

    fn follow(&self, server: Timestamp) {
        let ahead_ms = server.unix_ms().saturating_sub(self.inner.now().unix_ms());
        let is_apart = Duration::from_millis(ahead_ms.unsigned_abs()).as_secs_f64() > JUMP_S;
        let before = self.ahead_ms.load(Ordering::Relaxed);
        // what changes by less is the time that the answer took
        if !is_apart || ahead_ms.abs_diff(before) > APART_STEP_MS {
            self.ahead_ms.store(if is_apart { ahead_ms } else { 0 }, Ordering::Relaxed);
        }
    }

    fn apart_s(&self) -> Option<f64> {
        let ahead_ms = self.ahead_ms.load(Ordering::Relaxed);
        (ahead_ms != 0).then_some(ahead_ms as f64 / 1000.0)
    }
}

/// A difference to a server's clock changes by more before it is taken anew, ms.
const APART_STEP_MS: u64 = 5000;

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

    #[derive(Debug)]
    struct Still(i64);

    impl Clock for Still {
        fn now(&self) -> Timestamp {
            Timestamp::from_unix_ms(self.0).expect("in range")
        }
    }

    /// R-AGENT-10: two replicas whose clocks were two hours apart found each other's pauses passed.
    #[test]
    fn clocks_that_are_apart_follow_the_server_and_those_that_agree_go_on_by_themselves() {
        let server = Timestamp::from_unix_ms(1_800_000_000_000).expect("in range");
        for off_ms in [7_200_000, -7_200_000, 90_000] {
            let clock = FollowingClock::new(Arc::new(Still(1_800_000_000_000 + off_ms)));
            clock.follow(server);
            assert_eq!(clock.now(), server, "{off_ms}");
            assert_eq!(clock.apart_s(), Some(-off_ms as f64 / 1000.0));
            clock.follow(server.plus_seconds(2.0));
            assert_eq!(clock.now(), server, "an answer that took longer moves nothing");
        }
        let clock = FollowingClock::new(Arc::new(Still(1_800_000_020_000)));
        clock.follow(server);
        assert_eq!((clock.now().unix_ms(), clock.apart_s()), (1_800_000_020_000, None));
    }

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
