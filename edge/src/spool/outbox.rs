//! What the publisher asks of the spool: what to send next, and what the broker has taken.

use pdm_shared::id::EventId;
use pdm_shared::topic::{BearingTopic, Topic};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use super::{BearingState, Lane, Row, Spool, SpoolError};

/// Most pages given back to the file system after a deletion; bounds the time it takes.
const VACUUM: &str = "PRAGMA incremental_vacuum(64)";

impl Spool {
    /// The next waiting rows of a lane, oldest first, at most `limit`.
    ///
    /// # Errors
    /// [`SpoolError`] if the file cannot be read.
    pub async fn waiting(&self, lane: Lane, limit: usize) -> Result<Vec<Row>, SpoolError> {
        let files = self.files();
        let rows = sqlx::query(
            "SELECT sequence, event_id, event.spooled_ms, site, equipment, bearing, payload
             FROM delivery CROSS JOIN event USING (sequence)
             WHERE state = 0 AND sequence >= ? AND sequence < ? ORDER BY sequence LIMIT ?",
        )
        .bind(lane.first.min(i64::MAX as u64).cast_signed())
        .bind(lane.end.min(i64::MAX as u64).cast_signed())
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .fetch_all(&files.reader)
        .await
        .map_err(|source| files.failed(source))?;
        rows.iter().map(read_row).collect::<Result<_, _>>().map_err(|source| files.failed(source))
    }

    /// Marks rows as taken by the broker; those that a receipt covers already are deleted.
    ///
    /// # Errors
    /// [`SpoolError`]; the rows are then still waiting and are sent again, which changes nothing.
    pub async fn acknowledge(&self, sequences: &[u64]) -> Result<(), SpoolError> {
        if sequences.is_empty() {
            return Ok(());
        }
        let files = self.files();
        let failed = |source| files.failed(source);
        let list = json_list(sequences);
        let mut tx = files.writer.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
        let gone = if self.inner.settings.await_receipt {
            "DELETE FROM delivery WHERE sequence IN (SELECT value FROM json_each(?))
                 AND sequence <= (SELECT stored_through FROM gateway)"
        } else {
            "DELETE FROM delivery WHERE sequence IN (SELECT value FROM json_each(?))"
        };
        sqlx::query(gone).bind(&list).execute(&mut *tx).await.map_err(failed)?;
        sqlx::query(
            "UPDATE delivery SET state = 1 WHERE sequence IN (SELECT value FROM json_each(?))",
        )
        .bind(&list)
        .execute(&mut *tx)
        .await
        .map_err(failed)?;
        tx.commit().await.map_err(failed)?;
        self.refresh().await;
        Ok(())
    }

    /// Sets a row aside that no broker of this configuration can take.
    ///
    /// # Errors
    /// [`SpoolError`] if the file cannot be written.
    pub async fn park(&self, sequence: u64) -> Result<(), SpoolError> {
        let files = self.files();
        sqlx::query("UPDATE delivery SET state = 2 WHERE sequence = ?")
            .bind(sequence.cast_signed())
            .execute(&files.writer)
            .await
            .map_err(|source| files.failed(source))?;
        self.refresh().await;
        Ok(())
    }

    /// The short form of the last event of each bearing whose number is at least `first`.
    ///
    /// # Errors
    /// [`SpoolError`] if the file cannot be read.
    pub async fn states_from(&self, first: u64) -> Result<Vec<BearingState>, SpoolError> {
        let files = self.files();
        let rows = sqlx::query(
            "SELECT site, equipment, bearing, sequence, payload FROM bearing_state
             WHERE sequence >= ? ORDER BY sequence",
        )
        .bind(first.cast_signed())
        .fetch_all(&files.reader)
        .await
        .map_err(|source| files.failed(source))?;
        rows.iter().map(read_state).collect::<Result<_, _>>().map_err(|source| files.failed(source))
    }

    /// Gives some of the room that deleted rows left back to the file system.
    ///
    /// # Errors
    /// [`SpoolError`] if the file cannot be written.
    pub async fn give_room_back(&self) -> Result<(), SpoolError> {
        let files = self.files();
        sqlx::query(VACUUM)
            .execute(&files.writer)
            .await
            .map(|_done| ())
            .map_err(|source| files.failed(source))
    }
}

pub(super) fn json_list(sequences: &[u64]) -> String {
    let numbers: Vec<String> = sequences.iter().map(u64::to_string).collect();
    format!("[{}]", numbers.join(","))
}

fn name<T: std::str::FromStr>(row: &SqliteRow, column: &'static str) -> Result<T, sqlx::Error>
where
    T::Err: std::error::Error + Send + Sync + 'static,
{
    row.try_get::<&str, _>(column)?
        .parse()
        .map_err(|error: T::Err| sqlx::Error::Decode(Box::new(error)))
}

pub(super) fn read_row(row: &SqliteRow) -> Result<Row, sqlx::Error> {
    let id: &[u8] = row.try_get("event_id")?;
    let id = uuid::Uuid::from_slice(id).map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
    Ok(Row {
        sequence: row.try_get::<i64, _>("sequence")?.unsigned_abs(),
        event_id: EventId(id),
        spooled_ms: row.try_get("spooled_ms")?,
        site: name(row, "site")?,
        equipment: name(row, "equipment")?,
        bearing: name(row, "bearing")?,
        payload: row.try_get("payload")?,
    })
}

fn read_state(row: &SqliteRow) -> Result<BearingState, sqlx::Error> {
    Ok(BearingState {
        sequence: row.try_get::<i64, _>("sequence")?.unsigned_abs(),
        topic: Topic::Bearing {
            site: name(row, "site")?,
            equipment: name(row, "equipment")?,
            bearing: name(row, "bearing")?,
            what: BearingTopic::State,
        },
        payload: row.try_get("payload")?,
    })
}
