//! What has to leave: claimed for sending, settled. It is written by `bulk`, with its cause.

use dialect::{Connection, Pool, Row};
use pdm_shared::time::Timestamp;
use sqlx::Row as _;

use super::super::{bulk, dialect};
use crate::store::due::DueRow;
use crate::store::encoding::time_of;
use crate::store::{Claimed, Outcome, StoreError};

pub(super) async fn claim(
    pool: &Pool,
    replica: &str,
    lane: &str,
    (now, until): (Timestamp, Timestamp),
    limit: u32,
) -> Result<Vec<Claimed>, StoreError> {
    let mut transaction = dialect::begin(pool).await?;
    dialect::lock_lane(&mut transaction, lane).await?;
    let due = DueRow::at(now);
    let rows = sqlx::query(dialect::CLAIM)
        .bind(until.unix_ms())
        .bind(lane)
        .bind(due.now.unix_ms())
        .bind(i64::from(limit))
        .bind(replica)
        .bind(due.created.unix_ms())
        .bind(due.retry.unix_ms())
        .fetch_all(&mut *transaction)
        .await?;
    let mut claimed = Vec::with_capacity(rows.len());
    for row in &rows {
        match row.get::<Option<String>, _>("payload") {
            Some(payload) => claimed.push(claimed_of(row, payload)?),
            // somebody deleted it by hand: the lane must not stop for it
            None => give_up(&mut transaction, row.get("id"), "its judgement is gone", now).await?,
        }
    }
    transaction.commit().await?;
    // RETURNING promises no order
    claimed.sort_by_key(|row| row.id);
    Ok(claimed)
}

fn claimed_of(row: &Row, payload: String) -> Result<Claimed, StoreError> {
    Ok(Claimed {
        id: row.get("id"),
        key: row.get("idempotency_key"),
        topic: row.get("topic"),
        retain: row.get("retain"),
        group: row.get("group_key"),
        payload,
        attempts: u32::try_from(row.get::<i64, _>("attempts")).unwrap_or(u32::MAX),
        created_at: time_of(row.get("created_at_ms"))?,
    })
}

/// Claims of a predecessor of the same name are void: it is gone.
pub(super) async fn take_over(pool: &Pool, replica: &str) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE outbox SET claimed_until_ms = 0
         WHERE state = 'waiting' AND claimed_until_ms > 0 AND claimed_by = $1",
    )
    .bind(replica)
    .execute(pool)
    .await?;
    Ok(())
}

/// Claims of a lane that this replica does not know of are void.
pub(super) async fn let_go(pool: &Pool, replica: &str, lane: &str) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE outbox SET claimed_until_ms = 0
         WHERE lane = $2 AND state = 'waiting' AND claimed_until_ms > 0 AND claimed_by = $1",
    )
    .bind(replica)
    .bind(lane)
    .execute(pool)
    .await?;
    Ok(())
}

pub(super) async fn settle(
    pool: &Pool,
    outcomes: &[(i64, Outcome)],
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut transaction = dialect::begin(pool).await?;
    let delivered: Vec<i64> = outcomes
        .iter()
        .filter(|(_, outcome)| *outcome == Outcome::Delivered)
        .map(|(id, _)| *id)
        .collect();
    bulk::delivered(&mut transaction, &delivered, now).await?;
    for (id, outcome) in outcomes {
        match outcome {
            Outcome::Delivered => {}
            Outcome::Retry { at, error } => {
                sqlx::query(
                    "UPDATE outbox SET attempts = attempts + 1, due_at_ms = $1,
                                       claimed_until_ms = 0, last_error = $2
                     WHERE id = $3",
                )
                .bind(at.unix_ms())
                .bind(dialect::text(error))
                .bind(id)
                .execute(&mut *transaction)
                .await?;
            }
            Outcome::GivenUp { error } => {
                give_up(&mut transaction, *id, error, now).await?;
            }
        }
    }
    transaction.commit().await?;
    Ok(())
}

async fn give_up(
    connection: &mut Connection,
    id: i64,
    error: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE outbox SET state = 'given_up', attempts = attempts + 1, settled_at_ms = $1,
                           last_error = $2
         WHERE id = $3",
    )
    .bind(now.unix_ms())
    .bind(dialect::text(error))
    .bind(id)
    .execute(connection)
    .await?;
    Ok(())
}
