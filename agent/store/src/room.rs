//! Makes room in a store at its ceiling (`[store] max_bytes`): the gateway whose windows take the
//! most loses some until it takes no more than the next, so that no gateway deletes another's
//! history. Of a gateway the oldest spectra go first, then the oldest windows judged Normal, then
//! the oldest others, a little at a time, so that writers do not wait.

use std::collections::BTreeMap;
use std::time::Duration;

use pdm_shared::id::{EventId, GatewayKey};
use tokio::time::sleep;

use super::{GatewayPart, RetentionStore, RoomStage, StoreError};

/// Rows of one kind at a time: some milliseconds of SQLite's only writer.
const LIMIT: u32 = 1000;
/// Pause between two amounts, in which the intake and the judging write.
const PAUSE: Duration = Duration::from_millis(100);
/// Room is made until this share of the ceiling is free, so that it is not made for each batch.
const FREE_PERCENT: u64 = 5;

/// Makes room. What the spectra of a window are is looked at once.
#[derive(Debug, Default)]
pub struct Room {
    /// The last window of each gateway whose spectra were looked at.
    spectra_through: BTreeMap<GatewayKey, EventId>,
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
        let mut parts = if used > wanted { store.parts().await? } else { Vec::new() };
        while used > wanted {
            let Some(largest) = largest_of(&parts) else { break };
            let made = self.make_some(store, &parts[largest].gateway).await?;
            if made == 0 {
                parts.remove(largest);
                continue;
            }
            lessen(&mut parts[largest], made);
            used = match size.window_bytes {
                0 => store.size().await?.used_bytes,
                each => used.saturating_sub(each * made),
            };
            sleep(PAUSE).await;
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

    /// Deletes one amount of a gateway's first stage that has something; tells of how many windows.
    async fn make_some(
        &mut self,
        store: &RetentionStore,
        gateway: &GatewayKey,
    ) -> Result<u64, StoreError> {
        for stage in RoomStage::ALL {
            loop {
                let after = self.spectra_through.get(gateway).copied();
                let after = after.filter(|_| stage == RoomStage::Spectra);
                let made = store.make_room(stage, gateway, after, LIMIT).await?;
                if let Some(through) = made.through {
                    self.spectra_through.insert(gateway.clone(), through);
                }
                count_room(stage, gateway, made.windows);
                if made.windows > 0 {
                    return Ok(made.windows);
                }
                if made.looked_at == 0 {
                    break;
                }
            }
        }
        Ok(0)
    }
}

/// Returns the index of the gateway whose windows take the most bytes; `None` if `parts` is empty.
fn largest_of(parts: &[GatewayPart]) -> Option<usize> {
    (0..parts.len()).max_by_key(|at| parts[*at].bytes)
}

/// Subtracts the bytes of `windows` windows of its mean length from a part. A window that loses
/// only its spectra loses most of its bytes.
fn lessen(part: &mut GatewayPart, windows: u64) {
    let each = part.bytes.div_ceil(part.windows.max(1));
    part.bytes = part.bytes.saturating_sub(each.max(1) * windows);
}

fn count_room(stage: RoomStage, gateway: &GatewayKey, windows: u64) {
    let what = stage.as_str();
    metrics::counter!("pdm_agent_room_made_total", "what" => what).increment(windows);
    if windows > 0 {
        tracing::warn!(
            what,
            windows,
            %gateway,
            "store.max_bytes is reached, the oldest of the gateway that takes the most are deleted"
        );
    }
}

fn log_no_room(used_bytes: u64, max_bytes: u64) {
    tracing::error!(
        used_bytes,
        max_bytes,
        "the store is above store.max_bytes, and nothing that may be deleted is left: raise it"
    );
}
