//! The effect of the agent's receipt: rows that it covers are deleted, rows that it misses are sent
//! again.

use std::collections::BTreeSet;

use pdm_shared::delivery::{RECEIPT_SCHEMA, Receipt};
use sqlx::SqliteConnection;

use super::tally::{Standing, json_list};
use super::{Spool, SpoolError, log, tally};

/// Most missing numbers taken from one receipt, so that its transaction stays short. The next
/// receipt lists the rest.
const MISSING_AT_ONCE: usize = 10_000;

/// The effect of a receipt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Covered {
    /// Rows deleted, since the agent has stored their events.
    pub deleted: u64,
    /// Rows to be sent again.
    pub called_back: u64,
    /// Lowest number to be sent again.
    pub first_called_back: Option<u64>,
    /// Missing numbers whose rows were deleted before.
    pub gone: u64,
    /// The number that the receipt before covered, if this one covers less.
    pub fell_from: Option<u64>,
}

/// The outcome of a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiptOutcome {
    /// The receipt was applied.
    Applied(Covered),
    /// The receipt belongs to another gateway or schema; nothing was changed.
    Foreign,
    /// The receipt belongs to another count of sequence numbers of this gateway's name; nothing was
    /// changed. The agent follows that count, or has not seen this one's status.
    AnotherCount,
    /// The receipt cannot be true; nothing was changed.
    Implausible(Implausible),
}

/// The reason why a receipt cannot be true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Implausible {
    /// More is stored than this gateway has ever given out.
    #[error(
        "stored_through is {stored}, but this gateway has given out numbers up to {last} only: an \
         older copy of its spool was put back, or another gateway uses its name"
    )]
    AboveLast {
        /// The number in the receipt.
        stored: u64,
        /// Highest number given out.
        last: u64,
    },
    /// The gaps do not rise, overlap, or lie below `stored_through`.
    #[error("the gap {first} to {to} in missing does not lie above {after}")]
    Gaps {
        /// First number of the gap.
        first: u64,
        /// Last number of the gap.
        to: u64,
        /// The number above which it must lie.
        after: u64,
    },
}

impl Implausible {
    const fn outcome(self) -> &'static str {
        match self {
            Self::AboveLast { .. } => "above_last",
            Self::Gaps { .. } => "gaps",
        }
    }
}

impl Spool {
    /// Makes the last acknowledged row wait again; returns its number, if there is one. An agent
    /// that never saw the end of the sequence sees it then, and asks for the numbers before it.
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

    /// Applies a receipt. A receipt of another gateway, schema or count of sequence numbers changes
    /// nothing, nor does one that cannot be true.
    ///
    /// # Errors
    /// [`SpoolError`] if the file cannot be written; the next receipt does the same work.
    pub async fn apply(&self, receipt: &Receipt) -> Result<ReceiptOutcome, SpoolError> {
        if receipt.gateway_id != self.inner.gateway || receipt.schema != RECEIPT_SCHEMA {
            log::receipt_refused(&receipt.schema, receipt.gateway_id.as_str());
            return Ok(ReceiptOutcome::Foreign);
        }
        let files = self.files();
        if receipt.epoch.is_some_and(|epoch| epoch != files.numbering.epoch) {
            log::receipt_of_another_count();
            return Ok(ReceiptOutcome::AnotherCount);
        }
        let failed = |source| files.failed(source);
        let mut tx = self.begin(&files).await?;
        let (last, before): (i64, i64) =
            sqlx::query_as("SELECT next_sequence - 1, stored_through FROM gateway")
                .fetch_one(&mut *tx)
                .await
                .map_err(failed)?;
        if let Err(why) = plausible(receipt, last.unsigned_abs()) {
            log::receipt_implausible(why.outcome(), &why);
            return Ok(ReceiptOutcome::Implausible(why));
        }
        let missing = missing_numbers(receipt, last.unsigned_abs());
        let list = json_list(&missing);
        let stored = receipt.stored_through.cast_signed();
        let (deleted, here) = cover(&mut tx, stored, &list).await.map_err(failed)?;
        self.finish(&files, tx).await?;
        let fell_from = (stored < before).then_some(before.unsigned_abs());
        if let Some(before) = fell_from {
            log::receipt_fell(before, receipt.stored_through);
        }
        let back: Vec<u64> =
            here.iter().filter(|row| row.1 == 1).map(|row| row.0.unsigned_abs()).collect();
        let covered = Covered {
            deleted,
            called_back: back.len() as u64,
            first_called_back: back.first().copied(),
            gone: (missing.len() - here.len()) as u64,
            fell_from,
        };
        log::receipt_applied(&covered, receipt.stored_through);
        Ok(ReceiptOutcome::Applied(covered))
    }
}

impl Spool {
    /// The numbers that a receipt asks for and the spool no longer has, `[first, last]` inclusive.
    ///
    /// # Errors
    /// [`SpoolError`] if the file cannot be read.
    pub async fn gone(&self, receipt: &Receipt) -> Result<Vec<[u64; 2]>, SpoolError> {
        let files = self.files();
        let failed = |source| files.failed(source);
        let mut tx = self.begin(&files).await?;
        let last: i64 = sqlx::query_scalar("SELECT next_sequence - 1 FROM gateway")
            .fetch_one(&mut *tx)
            .await
            .map_err(failed)?;
        let missing = missing_numbers(receipt, last.unsigned_abs());
        let here: Vec<i64> = sqlx::query_scalar(
            "SELECT sequence FROM delivery WHERE sequence IN (SELECT value FROM json_each(?))",
        )
        .bind(json_list(&missing))
        .fetch_all(&mut *tx)
        .await
        .map_err(failed)?;
        let here: BTreeSet<u64> = here.into_iter().map(i64::unsigned_abs).collect();
        let mut gone: Vec<[u64; 2]> = Vec::new();
        for number in missing.into_iter().filter(|number| !here.contains(number)) {
            match gone.last_mut() {
                Some([_, to]) if *to + 1 == number => *to = number,
                _ => gone.push([number, number]),
            }
        }
        Ok(gone)
    }
}

/// Checks a receipt against the highest number given out.
///
/// # Errors
/// [`Implausible`].
fn plausible(receipt: &Receipt, last: u64) -> Result<(), Implausible> {
    let stored = receipt.stored_through;
    if stored > last {
        return Err(Implausible::AboveLast { stored, last });
    }
    let mut end = stored;
    for &[first, to] in &receipt.missing {
        if first <= end || to < first {
            return Err(Implausible::Gaps { first, to, after: end });
        }
        end = to;
    }
    Ok(())
}

/// A row's sequence number and the state of its delivery.
type NumberAndState = (i64, i64);

/// Takes over `stored`, deletes the rows that it covers and makes the rows of `list` wait again.
/// Returns the number of deleted rows, and the rows of `list` as they stood before.
async fn cover(
    tx: &mut SqliteConnection,
    stored: i64,
    list: &str,
) -> Result<(u64, Vec<NumberAndState>), sqlx::Error> {
    // The value is taken over even if it is lower than before, which can only keep more rows: an
    // agent that lost events asks for them again, and until they are stored again, a PUBACK must
    // not delete their rows.
    sqlx::query("UPDATE gateway SET stored_through = ?").bind(stored).execute(&mut *tx).await?;
    let deleted = sqlx::query(
        "DELETE FROM delivery WHERE state = 1 AND sequence <= ?
             AND sequence NOT IN (SELECT value FROM json_each(?))",
    )
    .bind(stored)
    .bind(list)
    .execute(&mut *tx)
    .await?
    .rows_affected();
    let here = sqlx::query_as(
        "SELECT sequence, state FROM delivery WHERE sequence IN (SELECT value FROM json_each(?))
         ORDER BY sequence",
    )
    .bind(list)
    .fetch_all(&mut *tx)
    .await?;
    tally::move_rows(tx, list, Standing::Acknowledged, Standing::Waiting).await?;
    Ok((deleted, here))
}

/// The numbers that a receipt lists as missing, without those that were never given out.
fn missing_numbers(receipt: &Receipt, last: u64) -> Vec<u64> {
    receipt
        .missing
        .iter()
        .flat_map(|&[first, to]| first.max(1)..=to.min(last))
        .take(MISSING_AT_ONCE)
        .collect()
}
