//! A clock that stands where a test sets it.

use std::sync::atomic::{AtomicI64, Ordering};

use pdm_service::clock::Clock;
use pdm_shared::time::Timestamp;

/// Where the clocks of tests begin: 2026-11-21T05:13:20Z.
pub(in crate::notify) const BEGIN_MS: i64 = 1_795_238_000_000;

/// Returns the instant so many seconds after the beginning.
pub(in crate::notify) fn since_begin(seconds: f64) -> Timestamp {
    Timestamp::from_unix_ms(BEGIN_MS).expect("in range").plus_seconds(seconds)
}

/// A clock whose time a test sets, in milliseconds since 1970.
#[derive(Debug)]
pub(in crate::notify) struct SetClock(pub(in crate::notify) AtomicI64);

impl Default for SetClock {
    fn default() -> Self {
        Self(AtomicI64::new(BEGIN_MS))
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ms(self.0.load(Ordering::Relaxed)).expect("in range")
    }
}
