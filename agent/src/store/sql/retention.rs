//! Forgetting judgements, notifications and refused messages in bounded amounts. Events go in the way
//! of each database (`turns` and gaps of sequences stand in other tables: nothing else needs them).

use pdm_shared::clock::Timestamp;
use pdm_shared::id::EventId;
use sqlx::Row as _;

use crate::store::{Forget, Forgotten, StoreError};

use super::super::{bulk, dialect};
use dialect::{Connection, Pool};

pub(super) async fn forget(pool: &Pool, forget: &Forget) -> Result<Forgotten, StoreError> {
    let mut gone = Forgotten::default();
    let limit = i64::from(forget.limit);
    let mut transaction = dialect::begin(pool).await?;
    if let Some(before) = forget.judgements_before {
        gone.judgements = judgements(&mut transaction, before, limit).await?;
    }
    if let Some(before) = forget.told_before {
        gone.told = told(&mut transaction, before, limit).await?;
    }
    if let Some(before) = forget.refused_before {
        gone.refused = sqlx::query("DELETE FROM dead_letters WHERE last_at_ms < $1")
            .bind(before.unix_ms())
            .execute(&mut *transaction)
            .await?
            .rows_affected();
    }
    transaction.commit().await?;
    let most = u64::from(forget.limit);
    gone.has_more = gone.judgements >= most || gone.told >= most;
    Ok(gone)
}

/// The oldest rows stand first: so only they are looked at. What a waiting row of the outbox carries
/// stays.
async fn judgements(
    connection: &mut Connection,
    before: Timestamp,
    limit: i64,
) -> Result<u64, StoreError> {
    let oldest_waiting: Option<i64> = sqlx::query(
        "SELECT min(created_at_ms) FROM outbox
         WHERE state = 'waiting' AND judgement_of IS NOT NULL",
    )
    .fetch_one(&mut *connection)
    .await?
    .get(0);
    let before = before.unix_ms();
    let rows = sqlx::query(
        "DELETE FROM pdm_agent_memory WHERE id IN (
             SELECT id FROM (
                 SELECT id, judged_at_ms FROM pdm_agent_memory ORDER BY id LIMIT $2) AS oldest
             WHERE judged_at_ms < $1)
         RETURNING event_id",
    )
    .bind(oldest_waiting.map_or(before, |oldest| oldest.min(before)))
    .bind(limit)
    .fetch_all(&mut *connection)
    .await?;
    let events: Vec<EventId> = rows.iter().map(|row| EventId(row.get(0))).collect();
    bulk::drop_steps(connection, &events).await?;
    Ok(events.len() as u64)
}

/// What stands as an alarm stays.
async fn told(
    connection: &mut Connection,
    before: Timestamp,
    limit: i64,
) -> Result<u64, StoreError> {
    sqlx::query(
        "DELETE FROM outbox WHERE id IN (
             SELECT id FROM outbox WHERE state <> 'waiting' AND settled_at_ms < $1
             ORDER BY id LIMIT $2)",
    )
    .bind(before.unix_ms())
    .bind(limit)
    .execute(&mut *connection)
    .await?;
    sqlx::query(
        "DELETE FROM acknowledgements WHERE id IN (
             SELECT id FROM acknowledgements WHERE received_at_ms < $1 ORDER BY id LIMIT $2)",
    )
    .bind(before.unix_ms())
    .bind(limit)
    .execute(&mut *connection)
    .await?;
    let gone = sqlx::query(
        "DELETE FROM notifications WHERE notification_id IN (
             SELECT told.notification_id FROM notifications told
             WHERE told.created_at_ms < $1
               AND NOT EXISTS (SELECT 1 FROM alarms
                               WHERE alarms.notification_id = told.notification_id)
               AND NOT EXISTS (SELECT 1 FROM outbox
                               WHERE outbox.notification_id = told.notification_id)
             LIMIT $2)",
    )
    .bind(before.unix_ms())
    .bind(limit)
    .execute(connection)
    .await?;
    Ok(gone.rows_affected())
}
