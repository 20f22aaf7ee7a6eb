//! The counts of a spool's rows, kept in the file beside the rows, so that no count needs a scan.

use sqlx::{Row as _, SqliteConnection};

/// The counts of a spool's rows, for progress, status and metrics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Highest sequence number given out; 0 if none.
    pub last_sequence: u64,
    /// Rows without a PUBACK.
    pub waiting: u64,
    /// Rows with a PUBACK and without a receipt.
    pub acknowledged: u64,
    /// Rows that the broker cannot take.
    pub parked: u64,
    /// Bytes of all payloads.
    pub bytes: u64,
    /// Rows lost before any PUBACK, since the spool was made.
    pub dropped: u64,
    /// Rows deleted by a cap with a PUBACK but without a receipt, since the spool was made.
    pub unconfirmed: u64,
    /// Sequence number up to which the last receipt says that events are stored.
    pub stored_through: u64,
}

/// The state of a row's delivery, as the number in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Waiting = 0,
    Acknowledged = 1,
    Parked = 2,
}

/// Reads the tally.
pub(super) async fn read_tally(connection: &mut SqliteConnection) -> Result<Tally, sqlx::Error> {
    let row = sqlx::query(
        "SELECT g.next_sequence - 1, g.dropped, g.unconfirmed, g.stored_through,
                sum(t.bytes), sum(t.rows) FILTER (WHERE t.state = 0),
                sum(t.rows) FILTER (WHERE t.state = 1), sum(t.rows) FILTER (WHERE t.state = 2)
         FROM gateway AS g, tally AS t",
    )
    .fetch_one(connection)
    .await?;
    let at = |index: usize| row.try_get::<i64, _>(index).map(i64::unsigned_abs);
    Ok(Tally {
        last_sequence: at(0)?,
        dropped: at(1)?,
        unconfirmed: at(2)?,
        stored_through: at(3)?,
        bytes: at(4)?,
        waiting: at(5)?,
        acknowledged: at(6)?,
        parked: at(7)?,
    })
}

/// Moves the rows in this list of numbers from the state `from` to `to`; returns how many.
pub(super) async fn move_rows(
    connection: &mut SqliteConnection,
    list: &str,
    from: Standing,
    to: Standing,
) -> Result<u64, sqlx::Error> {
    let moved = sqlx::query(
        "UPDATE delivery SET state = ?
         WHERE state = ? AND sequence IN (SELECT value FROM json_each(?))",
    )
    .bind(to as i64)
    .bind(from as i64)
    .bind(list)
    .execute(&mut *connection)
    .await?
    .rows_affected();
    if moved > 0 {
        count_moved(connection, moved, from, to).await?;
    }
    Ok(moved)
}

/// Moves every row in the state `from` to `to`.
pub(super) async fn move_all(
    connection: &mut SqliteConnection,
    from: Standing,
    to: Standing,
) -> Result<(), sqlx::Error> {
    let moved = sqlx::query("UPDATE delivery SET state = ? WHERE state = ?")
        .bind(to as i64)
        .bind(from as i64)
        .execute(&mut *connection)
        .await?
        .rows_affected();
    count_moved(connection, moved, from, to).await
}

async fn count_moved(
    connection: &mut SqliteConnection,
    moved: u64,
    from: Standing,
    to: Standing,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE tally SET rows = rows + CASE state WHEN ?1 THEN ?3 ELSE -?3 END
         WHERE state IN (?1, ?2)",
    )
    .bind(to as i64)
    .bind(from as i64)
    .bind(moved.cast_signed())
    .execute(connection)
    .await?;
    Ok(())
}

/// A list of numbers as JSON, the form in which the statements take it.
pub(super) fn json_list(sequences: &[u64]) -> String {
    let numbers: Vec<String> = sequences.iter().map(u64::to_string).collect();
    format!("[{}]", numbers.join(","))
}
