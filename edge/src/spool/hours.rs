//! How old a row is: by the hours in which something was committed, not by the time that stands in it.
//!
//! A gateway without a battery begins in 1970; when its clock is set, what it measured until then looks
//! 56 years old. So the first commit of an hour writes down the last number before it, and the rows up
//! to the one that stood there as many hours ago as rows are kept are too old. A wrong clock can add
//! one hour to that count for each hour that it names; hours in which nothing ran do not count.
//! A salvaged file begins to count anew.

use std::time::Duration;

use sqlx::SqliteConnection;

const HOUR_MS: i64 = 3_600_000;

/// Begins the hour of `now_ms` if this is its first commit; then tells up to which number rows are
/// older than `kept` (whole hours, rounded up), if it is known.
pub(super) async fn begin(
    tx: &mut SqliteConnection,
    now_ms: i64,
    kept: Duration,
) -> Result<Option<i64>, sqlx::Error> {
    let begun = sqlx::query(
        "INSERT INTO hours (hour, through) SELECT ?, next_sequence - 1 FROM gateway WHERE TRUE
         ON CONFLICT (hour) DO NOTHING",
    )
    .bind(now_ms.div_euclid(HOUR_MS))
    .execute(&mut *tx)
    .await?
    .rows_affected();
    if begun == 0 {
        return Ok(None);
    }
    let kept = i64::try_from(kept.as_millis().div_ceil(HOUR_MS.unsigned_abs().into()));
    let Ok(kept) = kept else { return Ok(None) };
    let mark: Option<(i64, i64)> =
        sqlx::query_as("SELECT id, through FROM hours ORDER BY id DESC LIMIT 1 OFFSET ?")
            .bind(kept)
            .fetch_optional(&mut *tx)
            .await?;
    let Some((id, through)) = mark else { return Ok(None) };
    sqlx::query("DELETE FROM hours WHERE id < ?").bind(id).execute(tx).await?;
    Ok(Some(through))
}
