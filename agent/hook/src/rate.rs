//! Limits how often a receiver may be asked: messages leave evenly, whichever recipient they are
//! for.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until};

/// The pace of a hook.
#[derive(Debug)]
pub(crate) struct Pace {
    between: Duration,
    next: Mutex<Option<Instant>>,
}

impl Pace {
    /// Creates a limit of `per_minute` requests a minute; 0 is no limit.
    pub(crate) fn of(per_minute: u32) -> Self {
        let between = Duration::from_mins(1).checked_div(per_minute).unwrap_or_default();
        Self { between, next: Mutex::new(None) }
    }

    /// Waits for the next place.
    pub(crate) async fn wait(&self) {
        if self.between.is_zero() {
            return;
        }
        let at = {
            let mut next = self.next.lock().await;
            let at = next.map_or_else(Instant::now, |next| next.max(Instant::now()));
            *next = Some(at + self.between);
            at
        };
        sleep_until(at).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn messages_leave_evenly() {
        let (pace, begun) = (Pace::of(60), Instant::now());
        for _ in 0..4 {
            pace.wait().await;
        }
        assert_eq!(begun.elapsed().as_secs(), 3);
    }
}
