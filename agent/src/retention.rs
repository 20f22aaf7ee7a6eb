//! Deletes what is no longer kept: every hour, in small amounts, so that writers do not wait. Looks every
//! few seconds how large the store is: from four fifths of `[store] max_bytes` on staff is told, and at the
//! ceiling room is made, the oldest spectra first, then the oldest windows judged Normal, then the oldest
//! others. Open alarms, and what has not been judged or told, stay.

use std::sync::Arc;
use std::time::Duration;

use pdm_service::clock::SharedClock;
use pdm_shared::id::EventId;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use crate::notify::remarks::{Remark, Remarks};
use crate::photos::Photos;
use crate::progress::Reporter;
use crate::settings::RetentionSettings;
use crate::store::{Forget, Forgotten, RetentionStore, RoomStage, StoreError};

/// How often the task looks: ages are counted in days, so an hour late does not matter.
const EVERY: Duration = Duration::from_hours(1);
/// Rows of one kind at a time: some milliseconds of SQLite's only writer.
const LIMIT: u32 = 1000;
/// Pause between two amounts, in which the intake and the judging write.
const PAUSE: Duration = Duration::from_millis(100);

/// How often the size is looked at. Chosen: at 1,450 messages a second, which an attack has reached, the
/// store grows by some 40 MB in this time, which is the slack above the ceiling.
const LOOK_AT_SIZE: Duration = Duration::from_secs(5);
/// Room is made until this share of the ceiling is free, so that it is not made for each batch.
const FREE_PERCENT: u64 = 5;
/// From this share of the ceiling on staff is told.
const TOLD_PERCENT: u64 = 80;

/// The task that deletes.
#[derive(Debug)]
pub(crate) struct Retention {
    pub(crate) store: Arc<dyn RetentionStore>,
    pub(crate) clock: SharedClock,
    pub(crate) settings: RetentionSettings,
    /// Photos, where documents are written.
    pub(crate) photos: Option<Photos>,
    /// `[store] max_bytes`.
    pub(crate) max_bytes: u64,
    pub(crate) reporter: Reporter,
    pub(crate) remarks: Remarks,
}

impl Retention {
    /// Deletes until `stop`. The stop also breaks off a look: each amount is a transaction of its own, so
    /// nothing is half deleted.
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
            room.make(self.store.as_ref(), most).await?;
        }
        Ok(())
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

fn percent_of(used: u64, most: u64) -> u64 {
    used.saturating_mul(100) / most.max(1)
}

/// Makes room. What the spectra of a window are is looked at once.
#[derive(Debug, Default)]
pub(crate) struct Room {
    /// The last window whose spectra were looked at.
    spectra_through: Option<EventId>,
    /// Nothing more could be deleted.
    is_full: bool,
}

impl Room {
    /// Deletes until the ceiling holds and some of it is free, or nothing more may go.
    pub(crate) async fn make(
        &mut self,
        store: &dyn RetentionStore,
        most: u64,
    ) -> Result<(), StoreError> {
        let wanted = most - most / 100 * FREE_PERCENT;
        // a server counts what was deleted and what has come in since when it gives room away
        store.reuse_room().await?;
        let size = store.size().await?;
        let mut used = size.used_bytes;
        for stage in RoomStage::ALL {
            while used > wanted {
                let after = self.spectra_through.filter(|_| stage == RoomStage::Spectra);
                let made = store.make_room(stage, after, LIMIT).await?;
                self.spectra_through = made.through.or(self.spectra_through);
                count_room(stage, made.windows);
                if made.looked_at == 0 {
                    break;
                }
                if made.windows > 0 {
                    used = match size.window_bytes {
                        0 => store.size().await?.used_bytes,
                        each => used.saturating_sub(each * made.windows),
                    };
                    sleep(PAUSE).await;
                }
            }
        }
        if size.window_bytes > 0 {
            store.reuse_room().await?;
            used = store.size().await?.used_bytes;
        }
        let is_full = used > most;
        if is_full && !self.is_full {
            log_no_room(used, most);
        }
        self.is_full = is_full;
        Ok(())
    }
}

fn count_room(stage: RoomStage, windows: u64) {
    let what = stage.as_str();
    metrics::counter!("pdm_agent_room_made_total", "what" => what).increment(windows);
    if windows > 0 {
        tracing::warn!(what, windows, "store.max_bytes is reached, the oldest are deleted");
    }
}

fn log_no_room(used_bytes: u64, max_bytes: u64) {
    tracing::error!(
        used_bytes,
        max_bytes,
        "the store is above store.max_bytes, and nothing that may be deleted is left: raise it"
    );
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
