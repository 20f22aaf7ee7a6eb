//! Waiting for something to become true, with an end.

use std::time::{Duration, Instant};

/// Asks `condition` until it gives a value.
///
/// # Panics
/// After `seconds`, naming `what` was waited for.
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
