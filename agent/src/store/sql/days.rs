//! How old a row is: by the days on which somebody looked, not by the times that stand in the rows.
//!
//! A clock that is set back 400 days writes rows that look 400 days old as soon as it is right again,
//! and one that is set ahead makes everything old. So each day's first look ([`note`]) writes down how
//! far every table has come, and what is kept for N days goes up to what the look N days of looking
//! earlier had found ([`reached`]). A wrong clock can add one day to that count for each day that it
//! names; days on which no agent ran do not count, so what is kept is kept for longer then.

use dialect::Connection;
use pdm_shared::time::Timestamp;
use sqlx::Row as _;

use super::super::dialect;
use crate::store::StoreError;

const DAY_MS: i64 = 86_400_000;

/// How far the tables had come at a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Reached {
    /// The clock's word then, or what it says now less the days, if that is earlier.
    pub(in super::super) before_ms: i64,
    /// Last event.
    pub(in super::super) arrival: i64,
    pub(super) judgement: i64,
    pub(super) outbox: i64,
    pub(super) acknowledgement: i64,
    /// Last row of the outbox a day later: whatever belongs to those judgements was written by then.
    pub(super) outbox_next_day: i64,
}

/// Writes down how far the tables have come, if it is this day's first look.
pub(super) async fn note(connection: &mut Connection, now: Timestamp) -> Result<(), StoreError> {
    let day = now.unix_ms().div_euclid(DAY_MS);
    let known = sqlx::query("SELECT 1 FROM days WHERE day = $1")
        .bind(day)
        .fetch_optional(&mut *connection)
        .await?;
    if known.is_some() {
        return Ok(());
    }
    let arrival: Option<i64> =
        sqlx::query(dialect::LAST_ARRIVAL).fetch_one(&mut *connection).await?.get(0);
    sqlx::query(
        "INSERT INTO days (day, at_ms, arrival, judgement, outbox, acknowledgement)
         VALUES ($1, $2, $3, (SELECT coalesce(max(id), 0) FROM pdm_agent_memory),
                 (SELECT coalesce(max(id), 0) FROM outbox),
                 (SELECT coalesce(max(id), 0) FROM acknowledgements))
         ON CONFLICT (day) DO NOTHING",
    )
    .bind(day)
    .bind(now.unix_ms())
    .bind(arrival.unwrap_or(0))
    .execute(connection)
    .await?;
    Ok(())
}

/// How far the tables had come `kept` days of looking ago; `None` if there were not that many, or
/// for 0 days, which keeps for ever.
pub(in super::super) async fn reached(
    connection: &mut Connection,
    kept: u32,
    now: Timestamp,
) -> Result<Option<Reached>, StoreError> {
    let Some(between) = kept.checked_sub(1) else { return Ok(None) };
    let rows = sqlx::query(
        "SELECT at_ms, arrival, judgement, outbox, acknowledgement FROM days
         ORDER BY id DESC LIMIT 2 OFFSET $1",
    )
    .bind(i64::from(between))
    .fetch_all(connection)
    .await?;
    let [next_day, row] = rows.as_slice() else { return Ok(None) };
    let before_ms = now.unix_ms().saturating_sub(i64::from(kept) * DAY_MS);
    Ok(Some(Reached {
        before_ms: before_ms.min(row.get(0)),
        arrival: row.get(1),
        judgement: row.get(2),
        outbox: row.get(3),
        acknowledgement: row.get(4),
        outbox_next_day: next_day.get(3),
    }))
}
