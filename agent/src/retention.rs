//! Deletes what is no longer kept: every hour, in small amounts, so that writers do not wait. Looks
//! every few seconds how large the store is: from four fifths of `[store] max_bytes` on staff is
//! told, and at the ceiling room is made, the oldest spectra first, then the oldest windows judged
//! Normal, then the oldest others. Open alarms, and what has not been judged or told, stay.

use std::time::Duration;

use pdm_service::clock::SharedClock;
use pdm_store::{Forget, Forgotten, RetentionStore, Room, StoreError};
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use crate::captures::Captures;
use crate::notify::remarks::{Remark, Remarks};
use crate::photos::Photos;
use crate::progress::Reporter;
use crate::settings::RetentionSettings;

/// How often the task looks: ages are counted in days, so an hour late does not matter.
const EVERY: Duration = Duration::from_hours(1);
/// Rows of one kind at a time: some milliseconds of SQLite's only writer.
const LIMIT: u32 = 1000;
/// Pause between two amounts, in which the intake and the judging write.
const PAUSE: Duration = Duration::from_millis(100);

/// How often the size is looked at. Chosen: at 1,450 messages a second, which an attack has
/// reached, the store grows by some 40 MB in this time, which is the slack above the ceiling.
const LOOK_AT_SIZE: Duration = Duration::from_secs(5);
/// The share of the ceiling from which staff is told.
const TOLD_PERCENT: u64 = 80;

/// The task that deletes.
#[derive(Debug)]
pub(crate) struct Retention {
    pub(crate) store: RetentionStore,
    pub(crate) clock: SharedClock,
    pub(crate) settings: RetentionSettings,
    /// Photos, where documents are written.
    pub(crate) photos: Option<Photos>,
    /// Captured waveforms, where they are kept.
    pub(crate) captures: Option<Captures>,
    /// `[store] max_bytes`.
    pub(crate) max_bytes: u64,
    pub(crate) reporter: Reporter,
    pub(crate) remarks: Remarks,
}

impl Retention {
    /// Deletes until `stop`. The stop also breaks off a look: each amount is a transaction of its
    /// own, so nothing is half deleted.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let mut tick = interval(EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut size = interval(LOOK_AT_SIZE);
        size.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut room = Room::default();
        loop {
            let done = tokio::select! {
                _ = tick.tick() => self.look().await,
                _ = size.tick() => self.look_at_size(&mut room).await,
                () = stop.cancelled() => return,
            };
            if let Err(error) = done {
                log_failed(&error);
            }
            if stop.is_cancelled() {
                return;
            }
        }
    }

    /// Tells the size, warns of it, and makes room.
    async fn look_at_size(&self, room: &mut Room) -> Result<(), StoreError> {
        let size = self.store.size().await?;
        metrics::gauge!("pdm_agent_store_bytes", "what" => "used").set(size.used_bytes as f64);
        metrics::gauge!("pdm_agent_store_bytes", "what" => "held").set(size.held_bytes as f64);
        let most = self.max_bytes;
        metrics::gauge!("pdm_agent_store_max_bytes").set(most as f64);
        if most == 0 {
            return Ok(());
        }
        let percent = percent_of(size.used_bytes, most);
        let shown = (percent >= TOLD_PERCENT).then_some(percent);
        self.reporter.update(|progress| progress.store_full_percent = shown);
        if shown.is_some() {
            self.remarks.note(Remark::StoreFull { percent, max_bytes: most });
        }
        if size.used_bytes > most {
            room.make(&self.store, most).await?;
        }
        Ok(())
    }

    async fn look(&self) -> Result<(), StoreError> {
        if let Some(photos) = &self.photos {
            photos.sweep().await;
        }
        if let Some(captures) = &self.captures {
            captures.sweep().await;
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

fn percent_of(used: u64, most: u64) -> u64 {
    used.saturating_mul(100) / most.max(1)
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
