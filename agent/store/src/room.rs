//! Makes room in a store at its ceiling (`[store] max_bytes`): the oldest spectra first, then the oldest
//! windows judged Normal, then the oldest others, a little at a time, so that writers do not wait.

use std::time::Duration;

use pdm_shared::id::EventId;
use tokio::time::sleep;

use super::{RetentionStore, RoomStage, StoreError};

/// Rows of one kind at a time: some milliseconds of SQLite's only writer.
const LIMIT: u32 = 1000;
/// Pause between two amounts, in which the intake and the judging write.
const PAUSE: Duration = Duration::from_millis(100);
/// Room is made until this share of the ceiling is free, so that it is not made for each batch.
const FREE_PERCENT: u64 = 5;

/// Makes room. What the spectra of a window are is looked at once.
#[derive(Debug, Default)]
pub struct Room {
    /// The last window whose spectra were looked at.
    spectra_through: Option<EventId>,
    /// Nothing more could be deleted.
    is_full: bool,
}

impl Room {
    /// Deletes until the ceiling holds and some of it is free, or nothing more may go.
    pub async fn make(&mut self, store: &RetentionStore, most: u64) -> Result<(), StoreError> {
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
