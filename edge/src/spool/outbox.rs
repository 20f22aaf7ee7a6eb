//! The operations of the publisher: acknowledging and parking rows, reading the states of bearings.

use pdm_shared::id::BearingKey;
use pdm_shared::topic::{BearingTopic, Topic};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::tally::{Standing, json_list};
use super::{BearingState, Spool, SpoolError, tally};

/// Gives at most 64 free pages (256 KiB) back to the file system, which bounds the time of the
/// call.
const VACUUM: &str = "PRAGMA incremental_vacuum(64)";

impl Spool {
    /// Marks rows as acknowledged by the broker. Rows that the last receipt covers are deleted.
    ///
    /// # Errors
    /// [`SpoolError`]; the rows then still wait and are sent again. The agent drops events that it
    /// has stored already.
    pub async fn acknowledge(&self, sequences: &[u64]) -> Result<(), SpoolError> {
        if sequences.is_empty() {
            return Ok(());
        }
        let files = self.files();
        let failed = |source| files.failed(source);
        let list = json_list(sequences);
        let mut tx = self.begin(&files).await?;
        let covered = self.deleted_at_puback(&mut tx).await.map_err(failed)?;
        if sequences.iter().any(|&sequence| sequence <= covered) {
            sqlx::query(
                "DELETE FROM delivery WHERE sequence IN (SELECT value FROM json_each(?))
                     AND sequence <= ?",
            )
            .bind(&list)
            .bind(covered.min(i64::MAX as u64).cast_signed())
            .execute(&mut *tx)
            .await
            .map_err(failed)?;
        }
        tally::move_rows(&mut tx, &list, Standing::Waiting, Standing::Acknowledged)
            .await
            .map_err(failed)?;
        self.finish(&files, tx).await
    }

    /// The number up to which a PUBACK deletes a row: all numbers if receipts are not awaited, else
    /// those that the last receipt covers.
    async fn deleted_at_puback(&self, tx: &mut SqliteConnection) -> Result<u64, sqlx::Error> {
        if !self.inner.settings.await_receipt {
            return Ok(u64::MAX);
        }
        let through: i64 =
            sqlx::query_scalar("SELECT stored_through FROM gateway").fetch_one(tx).await?;
        Ok(through.unsigned_abs())
    }

    /// Parks a row that the broker cannot take: the row is not sent again before the next start.
    ///
    /// # Errors
    /// [`SpoolError`] if the file cannot be written.
    pub async fn park(&self, sequence: u64) -> Result<(), SpoolError> {
        let files = self.files();
        let failed = |source| files.failed(source);
        let list = json_list(&[sequence]);
        let mut tx = self.begin(&files).await?;
        for from in [Standing::Waiting, Standing::Acknowledged] {
            tally::move_rows(&mut tx, &list, from, Standing::Parked).await.map_err(failed)?;
        }
        self.finish(&files, tx).await
    }

    /// The short form of each bearing's last event, for events with a number of `first` or above.
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

    /// Gives free pages of deleted rows back to the file system.
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

fn name<T: std::str::FromStr>(row: &SqliteRow, column: &'static str) -> Result<T, sqlx::Error>
where
    T::Err: std::error::Error + Send + Sync + 'static,
{
    row.try_get::<&str, _>(column)?
        .parse()
        .map_err(|error: T::Err| sqlx::Error::Decode(Box::new(error)))
}

fn read_state(row: &SqliteRow) -> Result<BearingState, sqlx::Error> {
    Ok(BearingState {
        sequence: row.try_get::<i64, _>("sequence")?.unsigned_abs(),
        topic: Topic::Bearing {
            key: BearingKey {
                site: name(row, "site")?,
                equipment: name(row, "equipment")?,
                bearing: name(row, "bearing")?,
            },
            what: BearingTopic::State,
        },
        payload: row.try_get("payload")?,
    })
}
