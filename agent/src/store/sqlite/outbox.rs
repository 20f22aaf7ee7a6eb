//! What has to leave: written with its cause, claimed for sending, settled.

use pdm_shared::clock::Timestamp;
use sqlx::{Row, SqliteConnection, SqlitePool};

use super::{time_of, uuid_of};
use crate::store::{Claimed, Outcome, Outgoing, StoreError};

/// Writes a row; the same idempotency key again changes nothing.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    row: &Outgoing,
    now: Timestamp,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO outbox (idempotency_key, lane, topic, retain, notification_id, group_key,
                             payload, created_at_ms, due_at_ms)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (idempotency_key) DO NOTHING",
    )
    .bind(row.key.as_bytes().as_slice())
    .bind(&row.lane)
    .bind(&row.topic)
    .bind(row.retain)
    .bind(row.notification_id.map(|id| id.as_bytes().to_vec()))
    .bind(&row.group)
    .bind(&row.payload)
    .bind(now.unix_ms())
    .bind(row.due_at.unix_ms())
    .execute(connection)
    .await?;
    Ok(())
}

pub(super) async fn claim(
    pool: &SqlitePool,
    lane: &str,
    now: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Vec<Claimed>, StoreError> {
    let rows = sqlx::query(
        "UPDATE outbox SET claimed_until_ms = ?1 WHERE id IN (
             SELECT id FROM outbox
             WHERE lane = ?2 AND state = 'waiting' AND due_at_ms <= ?3 AND claimed_until_ms <= ?3
             ORDER BY id LIMIT ?4)
         RETURNING id, idempotency_key, topic, retain, group_key, payload, attempts, created_at_ms",
    )
    .bind(until.unix_ms())
    .bind(lane)
    .bind(now.unix_ms())
    .bind(limit)
    .fetch_all(pool)
    .await?;
    let mut claimed = rows
        .iter()
        .map(|row| {
            Ok(Claimed {
                id: row.get("id"),
                key: uuid_of(row.get("idempotency_key"))?,
                topic: row.get("topic"),
                retain: row.get::<i64, _>("retain") != 0,
                group: row.get("group_key"),
                payload: row.get("payload"),
                attempts: u32::try_from(row.get::<i64, _>("attempts")).unwrap_or(u32::MAX),
                created_at: time_of(row.get("created_at_ms"))?,
            })
        })
        .collect::<Result<Vec<_>, StoreError>>()?;
    // RETURNING promises no order
    claimed.sort_by_key(|row| row.id);
    Ok(claimed)
}

pub(super) async fn settle(
    pool: &SqlitePool,
    outcomes: &[(i64, Outcome)],
    now: Timestamp,
) -> Result<(), StoreError> {
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    for (id, outcome) in outcomes {
        settle_one(&mut transaction, *id, outcome, now).await?;
    }
    transaction.commit().await?;
    Ok(())
}

async fn settle_one(
    connection: &mut SqliteConnection,
    id: i64,
    outcome: &Outcome,
    now: Timestamp,
) -> Result<(), StoreError> {
    match outcome {
        Outcome::Delivered => {
            // a publication leaves no trace; that a notification was delivered is kept
            sqlx::query("DELETE FROM outbox WHERE id = ? AND notification_id IS NULL")
                .bind(id)
                .execute(&mut *connection)
                .await?;
            sqlx::query(
                "UPDATE outbox SET state = 'delivered', attempts = attempts + 1,
                                   settled_at_ms = ?, last_error = NULL
                 WHERE id = ?",
            )
            .bind(now.unix_ms())
            .bind(id)
            .execute(connection)
            .await?;
        }
        Outcome::Retry { at, error } => {
            sqlx::query(
                "UPDATE outbox SET attempts = attempts + 1, due_at_ms = ?, claimed_until_ms = 0,
                                   last_error = ?
                 WHERE id = ?",
            )
            .bind(at.unix_ms())
            .bind(error)
            .bind(id)
            .execute(connection)
            .await?;
        }
        Outcome::GivenUp { error } => {
            sqlx::query(
                "UPDATE outbox SET state = 'given_up', attempts = attempts + 1, settled_at_ms = ?,
                                   last_error = ?
                 WHERE id = ?",
            )
            .bind(now.unix_ms())
            .bind(error)
            .bind(id)
            .execute(connection)
            .await?;
        }
    }
    Ok(())
}
