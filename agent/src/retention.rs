//! Forgets what is no longer kept: every hour, a little at a time, so that nobody waits for it.

use std::sync::Arc;
use std::time::Duration;

use pdm_service::clock::SharedClock;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use crate::settings::RetentionSettings;
use crate::store::{Forget, Forgotten, RetentionStore, StoreError};

/// How often it looks.
const EVERY: Duration = Duration::from_hours(1);
/// Rows of one kind at a time. Chosen: some milliseconds of the one writer that SQLite has.
const LIMIT: u32 = 1000;
/// Pause between two times, for those who wait to write.
const PAUSE: Duration = Duration::from_millis(100);

/// The forgetting task.
#[derive(Debug)]
pub(crate) struct Retention {
    pub(crate) store: Arc<dyn RetentionStore>,
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
        let forget = forget(self.settings);
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

fn forget(settings: RetentionSettings) -> Forget {
    let RetentionSettings { events_days, judgements_days, told_days, refused_days } = settings;
    Forget { events_days, judgements_days, told_days, refused_days, limit: LIMIT }
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
