//! What the agent's receipt does to the spool: it lets rows go and calls others back.

use pdm_shared::delivery::{RECEIPT_SCHEMA, Receipt};

use super::tally::{Standing, json_list};
use super::{Spool, SpoolError, tally};
use crate::event_log;

/// Most missing numbers taken from one receipt; the next receipt lists what is left.
const MISSING_AT_ONCE: usize = 10_000;

/// What a receipt did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Covered {
    /// Rows deleted: stored for good.
    pub deleted: u64,
    /// Rows to be sent again.
    pub called_back: u64,
    /// Lowest number to be sent again.
    pub first_called_back: Option<u64>,
    /// Numbers asked for that are no longer here.
    pub gone: u64,
}

impl Spool {
    /// Calls the last acknowledged row back, to be sent again: an agent that never saw the end of
    /// the sequence then sees it, and asks for what lies before. Its number, if there is one.
    ///
    /// # Errors
    /// [`SpoolError`] if the file cannot be written.
    pub async fn call_back_last(&self) -> Result<Option<u64>, SpoolError> {
        let files = self.files();
        let failed = |source| files.failed(source);
        let mut tx = self.begin(&files).await?;
        let last: Option<i64> =
            sqlx::query_scalar("SELECT max(sequence) FROM delivery WHERE state = 1")
                .fetch_one(&mut *tx)
                .await
                .map_err(failed)?;
        let Some(last) = last.map(i64::unsigned_abs) else { return Ok(None) };
        let list = json_list(&[last]);
        tally::move_rows(&mut tx, &list, Standing::Acknowledged, Standing::Waiting)
            .await
            .map_err(failed)?;
        self.finish(&files, tx).await?;
        Ok(Some(last))
    }

    /// Applies a receipt. A receipt of another gateway or schema changes nothing.
    ///
    /// # Errors
    /// [`SpoolError`] if the file cannot be written; the next receipt does the same work.
    pub async fn apply(&self, receipt: &Receipt) -> Result<Covered, SpoolError> {
        if receipt.gateway_id != self.inner.gateway || receipt.schema != RECEIPT_SCHEMA {
            event_log::receipt_refused(&receipt.schema, receipt.gateway_id.as_str());
            return Ok(Covered::default());
        }
        let files = self.files();
        let failed = |source| files.failed(source);
        let stored = receipt.stored_through.min(i64::MAX as u64 - 1).cast_signed();
        let mut tx = self.begin(&files).await?;
        let last: i64 = sqlx::query_scalar("SELECT next_sequence - 1 FROM gateway")
            .fetch_one(&mut *tx)
            .await
            .map_err(failed)?;
        let missing = missing_numbers(receipt, last.unsigned_abs());
        let list = json_list(&missing);
        if stored > last {
            // the agent knows higher numbers than this file: the spool was lost and made anew
            event_log::sequence_raised(last.unsigned_abs(), stored.unsigned_abs());
            sqlx::query("UPDATE gateway SET next_sequence = ? + 1")
                .bind(stored)
                .execute(&mut *tx)
                .await
                .map_err(failed)?;
        }
        // as it says, also if it is less than before: an agent that lost some of what it had asks for
        // it again, and until it has it again, no PUBACK is the end of a row
        sqlx::query("UPDATE gateway SET stored_through = ?")
            .bind(stored)
            .execute(&mut *tx)
            .await
            .map_err(failed)?;
        let deleted = sqlx::query(
            "DELETE FROM delivery WHERE state = 1 AND sequence <= ?
                 AND sequence NOT IN (SELECT value FROM json_each(?))",
        )
        .bind(stored)
        .bind(&list)
        .execute(&mut *tx)
        .await
        .map_err(failed)?
        .rows_affected();
        let here: Vec<(i64, i64)> = sqlx::query_as(
            "SELECT sequence, state FROM delivery WHERE sequence IN (SELECT value FROM json_each(?))
             ORDER BY sequence",
        )
        .bind(&list)
        .fetch_all(&mut *tx)
        .await
        .map_err(failed)?;
        tally::move_rows(&mut tx, &list, Standing::Acknowledged, Standing::Waiting)
            .await
            .map_err(failed)?;
        self.finish(&files, tx).await?;
        let back: Vec<u64> =
            here.iter().filter(|row| row.1 == 1).map(|row| row.0.unsigned_abs()).collect();
        let covered = Covered {
            deleted,
            called_back: back.len() as u64,
            first_called_back: back.first().copied(),
            gone: (missing.len() - here.len()) as u64,
        };
        event_log::receipt_applied(&covered, receipt.stored_through);
        Ok(covered)
    }
}

/// The numbers a receipt lists as missing, as far as they were ever given out.
fn missing_numbers(receipt: &Receipt, last: u64) -> Vec<u64> {
    receipt
        .missing
        .iter()
        .flat_map(|&[first, to]| first.max(1)..=to.min(last))
        .take(MISSING_AT_ONCE)
        .collect()
}
