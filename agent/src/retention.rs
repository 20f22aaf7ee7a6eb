//! Deletes what is no longer kept: every hour, in small amounts, so that writers do not wait.

use std::sync::Arc;
use std::time::Duration;

use pdm_service::clock::SharedClock;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use crate::photos::Photos;
use crate::settings::RetentionSettings;
use crate::store::{Forget, Forgotten, RetentionStore, StoreError};

/// How often the task looks: ages are counted in days, so an hour late does not matter.
const EVERY: Duration = Duration::from_hours(1);
/// Rows of one kind at a time: some milliseconds of SQLite's only writer.
const LIMIT: u32 = 1000;
/// Pause between two amounts, in which the intake and the judging write.
const PAUSE: Duration = Duration::from_millis(100);

/// The task that deletes.
#[derive(Debug)]
pub(crate) struct Retention {
    pub(crate) store: Arc<dyn RetentionStore>,
    pub(crate) clock: SharedClock,
    pub(crate) settings: RetentionSettings,
    /// Photos, where documents are written.
    pub(crate) photos: Option<Photos>,
}

impl Retention {
    /// Deletes until `stop`. The stop also breaks off a look: each amount is a transaction of its own, so
    /// nothing is half deleted.
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
                    log_failed(&error);
                },
                () = stop.cancelled() => return,
            }
        }
    }

    async fn look(&self) -> Result<(), StoreError> {
        if let Some(photos) = &self.photos {
            photos.sweep().await;
        }
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

fn log_failed(error: &StoreError) {
    tracing::warn!(%error, "cannot delete what is no longer kept, trying again in an hour");
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
