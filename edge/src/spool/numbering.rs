//! The count of sequence numbers: its identity, its first number, and the repair of a count that a
//! receipt of an earlier version had moved to an impossible number.
//!
//! The identity ([`Epoch`]) is made when a file begins to count and stays with the file. It stands
//! in every event, in the birth document and in the receipts. So a receipt for the numbers of a
//! lost file deletes nothing in its successor, and the agent does not take the successor's numbers
//! for those of before.

use pdm_shared::event::HIGHEST_SEQUENCE;
use pdm_shared::id::Epoch;
use sqlx::{SqliteConnection, SqlitePool};
use uuid::Uuid;

use super::log;

/// The count of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbering {
    /// Identity of the count.
    pub epoch: Epoch,
    /// First number of the count that the file can send.
    pub first: u64,
}

/// Reads the count of a file; makes one if the file has none, and repairs an impossible one.
pub(super) async fn settle(pool: &SqlitePool, now_ms: i64) -> Result<Numbering, sqlx::Error> {
    let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
    let is_healed = heal(&mut tx).await?;
    let row: (Option<Vec<u8>>, Option<i64>) =
        sqlx::query_as("SELECT epoch, epoch_first FROM gateway").fetch_one(&mut *tx).await?;
    let numbering = match of_row(row) {
        Some(numbering) if !is_healed => numbering,
        _ => {
            let first: i64 = sqlx::query_scalar(
                "SELECT min(next_sequence, ifnull((SELECT min(sequence) FROM event), next_sequence))
                 FROM gateway",
            )
            .fetch_one(&mut *tx)
            .await?;
            let numbering = Numbering { epoch: Epoch::at(now_ms), first: first.unsigned_abs() };
            write(&mut tx, numbering).await?;
            numbering
        }
    };
    tx.commit().await?;
    Ok(numbering)
}

/// The count that stands in the columns `epoch` and `epoch_first`.
pub(super) fn of_row((epoch, first): (Option<Vec<u8>>, Option<i64>)) -> Option<Numbering> {
    let epoch = Uuid::from_slice(&epoch?).ok()?;
    Some(Numbering { epoch: Epoch(epoch), first: first?.unsigned_abs() })
}

/// Writes the count of a file.
pub(super) async fn write(
    connection: &mut SqliteConnection,
    numbering: Numbering,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE gateway SET epoch = ?, epoch_first = ?")
        .bind(numbering.epoch.0.as_bytes().as_slice())
        .bind(numbering.first.cast_signed())
        .execute(connection)
        .await
        .map(|_done| ())
}

/// Repairs a next number that no gateway can have reached, and a coverage above the last number.
/// Earlier versions took both from a receipt. The numbers go on above the last event that was
/// committed, which the states of the bearings name. No row is deleted; what a false receipt
/// covered is sent again. True if the count was moved back, so that it needs a new identity.
async fn heal(tx: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    let (next, stored): (f64, f64) = sqlx::query_as(
        "SELECT CAST(next_sequence AS REAL), CAST(stored_through AS REAL) FROM gateway",
    )
    .fetch_one(&mut *tx)
    .await?;
    let is_impossible = next > HIGHEST_SEQUENCE as f64;
    if is_impossible {
        sqlx::query(
            "UPDATE gateway SET next_sequence = 1 + max(
                 ifnull((SELECT max(sequence) FROM bearing_state WHERE sequence <= ?1), 0),
                 ifnull((SELECT max(sequence) FROM event WHERE sequence <= ?1), 0))",
        )
        .bind(HIGHEST_SEQUENCE.cast_signed())
        .execute(&mut *tx)
        .await?;
        // the hours name numbers of the impossible count; the age of rows begins anew
        sqlx::query("DELETE FROM hours").execute(&mut *tx).await?;
    }
    let lowered = sqlx::query(
        "UPDATE gateway SET stored_through = next_sequence - 1
         WHERE stored_through > next_sequence - 1",
    )
    .execute(&mut *tx)
    .await?
    .rows_affected();
    if is_impossible {
        // the receipt that moved the count covered nothing truly
        sqlx::query("UPDATE gateway SET stored_through = 0").execute(&mut *tx).await?;
    }
    if is_impossible || lowered > 0 {
        let now: i64 =
            sqlx::query_scalar("SELECT next_sequence FROM gateway").fetch_one(&mut *tx).await?;
        log::count_healed(next, stored, now.unsigned_abs());
    }
    Ok(is_impossible)
}
