//! Waits for a condition, with a time limit.

use std::time::{Duration, Instant};

/// Calls `condition` until it returns a value.
///
/// # Panics
/// After `seconds`, with `what` in the message.
pub fn until<T>(what: &str, seconds: u64, mut condition: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(seconds);
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(Instant::now() < end, "waited {seconds} s in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
