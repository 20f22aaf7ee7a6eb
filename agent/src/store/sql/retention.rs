//! Forgetting judgements, notifications and refused messages in bounded amounts. Events go in the way
//! of each database (`turns` and gaps of sequences stand in other tables: nothing else needs them).

use dialect::{Connection, Pool};
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use sqlx::Row as _;

use super::super::{bulk, dialect};
use super::days::{self, Reached};
use crate::store::{Forget, Forgotten, StoreError};

pub(super) async fn forget(
    pool: &Pool,
    forget: &Forget,
    now: Timestamp,
) -> Result<Forgotten, StoreError> {
    let mut gone = Forgotten::default();
    let limit = i64::from(forget.limit);
    let mut transaction = dialect::begin(pool).await?;
    days::note(&mut transaction, now).await?;
    if let Some(reached) = days::reached(&mut transaction, forget.judgements_days, now).await? {
        gone.judgements = judgements(&mut transaction, &reached, limit).await?;
    }
    if let Some(reached) = days::reached(&mut transaction, forget.told_days, now).await? {
        gone.told = told(&mut transaction, &reached, limit).await?;
    }
    if let Some(reached) = days::reached(&mut transaction, forget.refused_days, now).await? {
        gone.refused = sqlx::query("DELETE FROM dead_letters WHERE last_at_ms < $1")
            .bind(reached.before_ms)
            .execute(&mut *transaction)
            .await?
            .rows_affected();
    }
    transaction.commit().await?;
    let most = u64::from(forget.limit);
    gone.has_more = gone.judgements >= most || gone.told >= most;
    Ok(gone)
}

/// What a waiting row of the outbox carries stays.
async fn judgements(
    connection: &mut Connection,
    reached: &Reached,
    limit: i64,
) -> Result<u64, StoreError> {
    let rows = sqlx::query(
        "DELETE FROM pdm_agent_memory WHERE id IN (
             SELECT id FROM pdm_agent_memory
             WHERE id <= $1 AND event_id NOT IN (
                 SELECT judgement_of FROM outbox
                 WHERE state = 'waiting' AND judgement_of IS NOT NULL AND id <= $2)
             ORDER BY id LIMIT $3)
         RETURNING event_id",
    )
    .bind(reached.judgement)
    .bind(reached.outbox_next_day)
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
    reached: &Reached,
    limit: i64,
) -> Result<u64, StoreError> {
    sqlx::query(
        "DELETE FROM outbox WHERE id IN (
             SELECT id FROM outbox WHERE state <> 'waiting' AND id <= $1 ORDER BY id LIMIT $2)",
    )
    .bind(reached.outbox)
    .bind(limit)
    .execute(&mut *connection)
    .await?;
    sqlx::query(
        "DELETE FROM acknowledgements WHERE id IN (
             SELECT id FROM acknowledgements WHERE id <= $1 ORDER BY id LIMIT $2)",
    )
    .bind(reached.acknowledgement)
    .bind(limit)
    .execute(&mut *connection)
    .await?;
    // whatever the clock said when it was written: as long as its rows of the outbox are kept
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
    .bind(reached.before_ms)
    .bind(limit)
    .execute(connection)
    .await?;
    Ok(gone.rows_affected())
}
