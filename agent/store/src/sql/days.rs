//! Counts the age of a row in days on which the store was looked through, not by the times in the
//! rows.
//!
//! A clock that is set back 400 days writes rows that look 400 days old as soon as it is right
//! again, and a clock that is set ahead makes everything look old. So each day's first look
//! ([`note`]) writes down how far every table has come, and what is kept for N days is deleted up
//! to what the look N days of looking earlier had found ([`reached`]). A wrong clock can add one
//! day to that count for each day that it names. Days on which no agent ran do not count, so rows
//! are kept for longer then.

use std::sync::LazyLock;

use pdm_shared::time::Timestamp;

use crate::StoreError;
use crate::database::{Connection, Dialect, Spelt};

const DAY_MS: i64 = 86_400_000;

/// How far the tables had come at a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reached {
    /// The time that the clock told then, or the present time less the days, if that is earlier.
    pub(crate) before_ms: i64,
    /// The last event.
    pub(crate) arrival: i64,
    pub(super) judgement: i64,
    pub(super) outbox: i64,
    pub(super) acknowledgement: i64,
    /// The last row of the outbox a day later: the rows of those judgements were written by then.
    pub(super) outbox_next_day: i64,
}

/// Parameters: day, now. PostgreSQL is asked for the sequence: the greatest arrival of the table
/// would be a look into every partition.
static NOTE: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let last_arrival = match dialect {
            Dialect::Sqlite => "SELECT coalesce(max(arrival), 0) FROM events",
            Dialect::Postgres => "SELECT last_value FROM arrivals",
        };
        format!(
            "INSERT INTO days (day, at_ms, arrival, judgement, outbox, acknowledgement)
             VALUES ($1, $2, ({last_arrival}),
                     (SELECT coalesce(max(id), 0) FROM pdm_agent_memory),
                     (SELECT coalesce(max(id), 0) FROM outbox),
                     (SELECT coalesce(max(id), 0) FROM acknowledgements))
             ON CONFLICT (day) DO NOTHING"
        )
    })
});

/// Writes down how far the tables have come, if this is the first look of the day.
pub(super) async fn note(
    connection: &mut Connection<'_>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let day = now.unix_ms().div_euclid(DAY_MS);
    let known = connection.query("SELECT 1 FROM days WHERE day = $1").bind(day);
    if known.fetch_optional().await?.is_none() {
        connection.query(&NOTE).bind(day).bind(now.unix_ms()).execute().await?;
    }
    Ok(())
}

/// Returns how far the tables had come `kept` days of looking ago. `None` if the store was not
/// looked through on that many days, or for 0 days, which keeps for ever.
pub(super) async fn reached(
    connection: &mut Connection<'_>,
    kept: u32,
    now: Timestamp,
) -> Result<Option<Reached>, StoreError> {
    let Some(between) = kept.checked_sub(1) else { return Ok(None) };
    let rows = connection
        .query(
            "SELECT at_ms, arrival, judgement, outbox, acknowledgement FROM days
             ORDER BY id DESC LIMIT 2 OFFSET $1",
        )
        .bind(i64::from(between))
        .fetch_all()
        .await?;
    let [next_day, row] = rows.as_slice() else { return Ok(None) };
    let before_ms = now.unix_ms().saturating_sub(i64::from(kept) * DAY_MS);
    Ok(Some(Reached {
        before_ms: before_ms.min(row.get(0)?),
        arrival: row.get(1)?,
        judgement: row.get(2)?,
        outbox: row.get(3)?,
        acknowledgement: row.get(4)?,
        outbox_next_day: next_day.get(3)?,
    }))
}
