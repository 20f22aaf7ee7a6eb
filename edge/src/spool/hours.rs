//! The age of a row: the number of hours since then in which an event was committed.
//!
//! The time in a row is no measure of its age. The clock of a gateway without a battery starts in
//! 1970; when the clock is set, all rows written before look 56 years old. So the first commit of
//! each hour records the last sequence number before it. If rows are kept for `n` hours, the rows
//! up to the number recorded `n` such hours ago are too old. A wrong clock adds at most one hour
//! for each different hour that it shows; hours in which the gateway did not run do not count. A
//! salvaged file starts to count anew.

use std::time::Duration;

use sqlx::SqliteConnection;

const HOUR_MS: i64 = 3_600_000;

/// Records the hour of `now_ms` if this is its first commit. Returns then the highest number whose
/// row is older than `kept` (whole hours, rounded up), if enough hours are recorded.
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
