//! Caps in bytes and age: which rows are deleted when the spool is full, and the count of losses.

use std::time::Duration;

use sqlx::{Sqlite, Transaction};

use super::{hours, log};

/// The events that are lost first when only events without a PUBACK are left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// The oldest events are deleted: the present matters most.
    #[default]
    Oldest,
    /// New events are refused: the beginning of an outage matters most.
    Newest,
}

/// Limits of a spool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of payload.
    pub max_bytes: u64,
    /// Age of a row, in whole hours (rounded up) in which something was committed.
    pub max_age: Duration,
    /// The events that are lost first.
    pub policy: Policy,
}

impl Default for Limits {
    /// 1 GiB and 30 days: 1 GiB holds about 400,000 events, which nine measuring points with a
    /// window a minute make in a month.
    fn default() -> Self {
        Self { max_bytes: 1 << 30, max_age: Duration::from_hours(30 * 24), policy: Policy::Oldest }
    }
}

/// Whether new events are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// There is room.
    Nothing,
    /// There is none, and the policy keeps what is there.
    New,
}

/// Most rows deleted by one statement, so that the rows of one statement fit the writer's page
/// cache.
const STEP: i64 = 256;

/// Deletes rows until `incoming` bytes fit; at the first commit of an hour also deletes the rows
/// that are too old.
pub(super) async fn make_room(
    tx: &mut Transaction<'_, Sqlite>,
    limits: &Limits,
    now_ms: i64,
    incoming: u64,
) -> Result<Refused, sqlx::Error> {
    if let Some(through) = hours::begin(tx, now_ms, limits.max_age).await? {
        let aged_unconfirmed = expire(tx, through, true).await?;
        let aged_waiting = expire(tx, through, false).await?;
        note(tx, aged_unconfirmed, aged_waiting, "age").await?;
    }

    let mut unconfirmed = 0;
    let mut dropped = 0;
    let mut refused = Refused::Nothing;
    loop {
        let (rows, bytes) = held(tx).await?;
        let excess = (bytes + incoming).saturating_sub(limits.max_bytes);
        if excess == 0 {
            break;
        }
        // as many rows of mean size as make up the excess, so that no more is lost than necessary
        let step = (excess * rows).div_ceil(bytes.max(1)).cast_signed().clamp(1, STEP);
        let gone = delete_oldest(tx, true, step).await?;
        if gone > 0 {
            unconfirmed += gone;
            continue;
        }
        if limits.policy == Policy::Newest {
            refused = Refused::New;
            break;
        }
        let gone = delete_oldest(tx, false, step).await?;
        if gone == 0 {
            // no row is left: the batch alone is larger than the cap, and is kept
            break;
        }
        dropped += gone;
    }
    note(tx, unconfirmed, dropped, "bytes").await?;
    Ok(refused)
}

/// Counts events that were refused.
pub(super) async fn count_dropped(
    tx: &mut Transaction<'_, Sqlite>,
    dropped: u64,
) -> Result<(), sqlx::Error> {
    note(tx, 0, dropped, "bytes").await
}

async fn note(
    tx: &mut Transaction<'_, Sqlite>,
    unconfirmed: u64,
    dropped: u64,
    cap: &'static str,
) -> Result<(), sqlx::Error> {
    if unconfirmed == 0 && dropped == 0 {
        return Ok(());
    }
    sqlx::query("UPDATE gateway SET unconfirmed = unconfirmed + ?, dropped = dropped + ?")
        .bind(unconfirmed.cast_signed())
        .bind(dropped.cast_signed())
        .execute(&mut **tx)
        .await?;
    log::cap_reached(cap, unconfirmed, dropped);
    Ok(())
}

/// Rows and bytes held.
async fn held(tx: &mut Transaction<'_, Sqlite>) -> Result<(u64, u64), sqlx::Error> {
    sqlx::query_as::<_, (i64, i64)>("SELECT sum(rows), sum(bytes) FROM tally")
        .fetch_one(&mut **tx)
        .await
        .map(|(rows, bytes)| (rows.unsigned_abs(), bytes.unsigned_abs()))
}

async fn delete_oldest(
    tx: &mut Transaction<'_, Sqlite>,
    acknowledged: bool,
    step: i64,
) -> Result<u64, sqlx::Error> {
    let statement = if acknowledged {
        "DELETE FROM delivery WHERE sequence IN
             (SELECT sequence FROM delivery WHERE state = 1 ORDER BY sequence LIMIT ?)"
    } else {
        "DELETE FROM delivery WHERE sequence IN
             (SELECT sequence FROM delivery WHERE state <> 1 ORDER BY sequence LIMIT ?)"
    };
    let done = sqlx::query(statement).bind(step).execute(&mut **tx).await?;
    Ok(done.rows_affected())
}

/// Deletes rows up to a number.
async fn expire(
    tx: &mut Transaction<'_, Sqlite>,
    through: i64,
    acknowledged: bool,
) -> Result<u64, sqlx::Error> {
    let statement = if acknowledged {
        "DELETE FROM delivery WHERE state = 1 AND sequence <= ?"
    } else {
        "DELETE FROM delivery WHERE state <> 1 AND sequence <= ?"
    };
    let done = sqlx::query(statement).bind(through).execute(&mut **tx).await?;
    Ok(done.rows_affected())
}
