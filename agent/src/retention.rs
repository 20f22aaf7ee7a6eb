//! Forgets what is no longer kept: every hour, a little at a time, so that nobody waits for it.

use std::sync::Arc;
use std::time::Duration;

use pdm_shared::clock::{SharedClock, Timestamp};
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use crate::settings::RetentionSettings;
use crate::store::{Forget, Forgotten, Store, StoreError};

/// How often it looks.
const EVERY: Duration = Duration::from_hours(1);
/// Rows of one kind at a time. Chosen: some milliseconds of the one writer that SQLite has.
const LIMIT: u32 = 1000;
/// Pause between two times, for those who wait to write.
const PAUSE: Duration = Duration::from_millis(100);
const DAY_S: f64 = 86_400.0;

/// The forgetting task.
#[derive(Debug)]
pub(crate) struct Retention {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: SharedClock,
    pub(crate) settings: RetentionSettings,
}

impl Retention {
    /// Forgets until `stop`.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let mut tick = interval(EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = tick.tick() => {}
                () = stop.cancelled() => return,
            }
            tokio::select! {
                done = self.look() => if let Err(error) = done {
                    tracing::warn!(%error, "cannot forget what is no longer kept, trying on");
                },
                () = stop.cancelled() => return,
            }
        }
    }

    async fn look(&self) -> Result<(), StoreError> {
        let now = self.clock.now();
        let forget = forget(self.settings, now);
        loop {
            let gone = self.store.forget(&forget, now).await?;
            count(&gone);
            if !gone.has_more {
                return Ok(());
            }
            sleep(PAUSE).await;
        }
    }
}

fn forget(settings: RetentionSettings, now: Timestamp) -> Forget {
    let before = |days: u32| (days > 0).then(|| now.plus_seconds(-f64::from(days) * DAY_S));
    Forget {
        events_before: before(settings.events_days),
        judgements_before: before(settings.judgements_days),
        told_before: before(settings.told_days),
        refused_before: before(settings.refused_days),
        limit: LIMIT,
    }
}

fn count(gone: &Forgotten) {
    for (what, rows) in [
        ("events", gone.events),
        ("judgements", gone.judgements),
        ("notifications", gone.told),
        ("dead_letters", gone.refused),
    ] {
        metrics::counter!("pdm_agent_forgotten_total", "what" => what).increment(rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_days_are_for_ever() {
        let now = Timestamp::from_unix_ms(1_795_238_000_000).expect("in range");
        let forget = forget(RetentionSettings::default(), now);
        assert_eq!(forget.judgements_before, None);
        assert_eq!(forget.events_before, Some(now.plus_seconds(-90.0 * DAY_S)));
    }
}
