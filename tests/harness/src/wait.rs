//! Waits for a condition, with a time limit.

use std::time::{Duration, Instant};

/// How many times as long a test waits as it would on an idle machine: tests of several programs
/// run side by side, and a limit only ends what would wait for ever.
pub const PATIENCE: u32 = 4;

/// Calls `condition` until it returns a value.
///
/// # Panics
/// After [`PATIENCE`] times `seconds`, with `what` in the message.
pub fn until<T>(what: &str, seconds: u64, mut condition: impl FnMut() -> Option<T>) -> T {
    let limit = Duration::from_secs(seconds) * PATIENCE;
    let end = Instant::now() + limit;
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(Instant::now() < end, "waited {limit:?} in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
