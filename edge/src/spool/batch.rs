//! Committing: events, their numbers, bearing states and the pipeline's memory in one transaction.

use std::collections::BTreeMap;

use pdm_shared::event::Event;
use pdm_shared::id::Epoch;
use sqlx::{Sqlite, Transaction};
use uuid::Uuid;

use super::caps::Refused;
use super::{Spool, SpoolError, caps, states};

/// Events and memory that are committed together. A commit borrows the batch, so that a failed
/// commit can be repeated with it.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Events in the order of their measurement; `sequence` is set by the commit.
    pub events: Vec<Event>,
    /// The pipeline's memory after these events, by key; an empty value deletes the key.
    pub memory: BTreeMap<String, Vec<u8>>,
    /// Bearings that points have begun to learn anew in this memory, as `equipment/bearing`, each
    /// with the request that asked for it.
    pub relearnt: Vec<(String, Uuid)>,
}

/// The result of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed {
    /// The number of the first event that was written.
    pub first: u64,
    /// Number of events written.
    pub taken: u64,
    /// Number of events refused because the spool is full and its policy is `newest`.
    pub refused: u64,
}

impl Spool {
    /// Commits a batch. Deletes rows first if the caps require it, and sets the sequence numbers of
    /// the events in `batch` too.
    ///
    /// # Errors
    /// [`SpoolError`]; the batch can then be committed again, whether or not it reached the disk.
    pub async fn commit(&self, batch: &mut Batch) -> Result<Committed, SpoolError> {
        let files = self.files();
        let failed = |source| files.failed(source);
        let now_ms = self.now_ms();
        let mut tx = self.begin(&files).await?;
        let first: i64 = sqlx::query_scalar("SELECT next_sequence FROM gateway")
            .fetch_one(&mut *tx)
            .await
            .map_err(failed)?;
        let first = first.unsigned_abs();
        if let Some(first) = committed_before(&mut tx, batch, first).await.map_err(failed)? {
            return Ok(Committed { first, taken: batch.events.len() as u64, refused: 0 });
        }
        // the mark must be durable before a number below it is: it is the only record of the
        // numbers if the database is lost
        self.inner.ledger.lock().await.reserve(first + batch.events.len() as u64)?;
        let payloads = numbered(&mut batch.events, first, files.numbering.epoch)?;
        let bytes = payloads.iter().map(|payload| payload.len() as u64).sum();
        let limits = &self.inner.settings.limits;
        let refused = caps::make_room(&mut tx, limits, now_ms, bytes).await.map_err(failed)?;
        let taken = match refused {
            Refused::Nothing => {
                insert(&mut tx, &batch.events, &payloads, now_ms).await.map_err(failed)?;
                batch.events.len() as u64
            }
            Refused::New => {
                caps::count_dropped(&mut tx, batch.events.len() as u64).await.map_err(failed)?;
                0
            }
        };
        for (key, value) in &batch.memory {
            let change = if value.is_empty() {
                sqlx::query("DELETE FROM memory WHERE key = ?").bind(key)
            } else {
                sqlx::query("INSERT OR REPLACE INTO memory (key, value) VALUES (?, ?)")
                    .bind(key)
                    .bind(value)
            };
            change.execute(&mut *tx).await.map_err(failed)?;
        }
        self.finish(&files, tx).await?;
        Ok(Committed { first, taken, refused: batch.events.len() as u64 - taken })
    }

    /// The pipeline's memory at the last commit, by key.
    ///
    /// # Errors
    /// [`SpoolError`] if the file cannot be read.
    pub async fn memory(&self) -> Result<BTreeMap<String, Vec<u8>>, SpoolError> {
        let files = self.files();
        let rows: Vec<(String, Vec<u8>)> = sqlx::query_as("SELECT key, value FROM memory")
            .fetch_all(&files.reader)
            .await
            .map_err(|source| files.failed(source))?;
        Ok(rows.into_iter().collect())
    }

    /// Deletes these keys from the pipeline's memory; returns how many of them existed.
    ///
    /// # Errors
    /// [`SpoolError`] if the file cannot be written.
    pub async fn forget(&self, keys: &[String]) -> Result<u64, SpoolError> {
        let files = self.files();
        let failed = |source| files.failed(source);
        let mut tx = files.writer.begin().await.map_err(failed)?;
        let mut forgotten = 0;
        for key in keys {
            let done = sqlx::query("DELETE FROM memory WHERE key = ?").bind(key);
            forgotten += done.execute(&mut *tx).await.map_err(failed)?.rows_affected();
        }
        tx.commit().await.map_err(failed)?;
        Ok(forgotten)
    }
}

/// The first number of a batch that is on disk already; `None` if it is not.
///
/// If the disk fails at the very end of a commit, the caller learns of an error although the rows
/// were written. The identity of the last row shows this; the events get the numbers that they have
/// on disk.
async fn committed_before(
    tx: &mut Transaction<'_, Sqlite>,
    batch: &mut Batch,
    next: u64,
) -> Result<Option<u64>, sqlx::Error> {
    let (Some(last), Some(first)) =
        (batch.events.last(), next.checked_sub(batch.events.len() as u64))
    else {
        return Ok(None);
    };
    let found: Option<i64> =
        sqlx::query_scalar("SELECT sequence FROM event WHERE sequence = ? - 1 AND event_id = ?")
            .bind(next.cast_signed())
            .bind(last.event_id.0.as_bytes().as_slice())
            .fetch_optional(&mut **tx)
            .await?;
    if found.is_none() {
        return Ok(None);
    }
    for (event, sequence) in batch.events.iter_mut().zip(first..) {
        event.sequence = sequence;
    }
    Ok(Some(first))
}

/// Numbers the events from `first` on and encodes them as JSON.
fn numbered(events: &mut [Event], first: u64, epoch: Epoch) -> Result<Vec<Vec<u8>>, SpoolError> {
    let mut payloads = Vec::with_capacity(events.len());
    for (event, sequence) in events.iter_mut().zip(first..) {
        event.sequence = sequence;
        event.epoch = Some(epoch);
        payloads.push(serde_json::to_vec(event).map_err(SpoolError::Json)?);
    }
    Ok(payloads)
}

async fn insert(
    tx: &mut Transaction<'_, Sqlite>,
    events: &[Event],
    payloads: &[Vec<u8>],
    now_ms: i64,
) -> Result<(), sqlx::Error> {
    for (event, payload) in events.iter().zip(payloads) {
        sqlx::query(
            "INSERT INTO event (sequence, event_id, spooled_ms, site, equipment, bearing, payload)
             VALUES (?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(event.sequence.cast_signed())
        .bind(event.event_id.0.as_bytes().as_slice())
        .bind(now_ms)
        .bind(event.site.as_str())
        .bind(event.equipment_id.as_str())
        .bind(event.bearing_id.as_str())
        .bind(payload)
        .execute(&mut **tx)
        .await?;
    }
    sqlx::query("UPDATE gateway SET next_sequence = next_sequence + ?")
        .bind((events.len() as u64).cast_signed())
        .execute(&mut **tx)
        .await?;
    states::remember(tx, events).await
}
