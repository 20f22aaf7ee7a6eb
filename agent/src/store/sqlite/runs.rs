//! Runs: where one stands that is not finished, the steps of every one, and what is to be done.

use pdm_shared::id::EventId;
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row, Sqlite, SqliteConnection, SqlitePool};

use super::{json_of, time_of, to_json};
use crate::store::{Checkpoint, FollowUp, StoreError, TraceStep};

/// The checkpoint in columns of a row that may have none.
pub(super) fn checkpoint_of(row: &SqliteRow) -> Result<Option<Checkpoint>, StoreError> {
    let Some(node) = row.get::<Option<String>, _>("node") else { return Ok(None) };
    let at = time_of(row.get("updated_at_ms"))?;
    Ok(Some(Checkpoint { node, state: row.get("state"), at }))
}

pub(super) async fn checkpoint(
    pool: &SqlitePool,
    event_id: EventId,
    checkpoint: &Checkpoint,
    steps: &[TraceStep],
) -> Result<(), StoreError> {
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    sqlx::query(
        "INSERT INTO checkpoints (event_id, node, state, updated_at_ms) VALUES (?, ?, ?, ?)
         ON CONFLICT (event_id) DO UPDATE
         SET node = excluded.node, state = excluded.state, updated_at_ms = excluded.updated_at_ms",
    )
    .bind(event_id.0.as_bytes().as_slice())
    .bind(&checkpoint.node)
    .bind(&checkpoint.state)
    .bind(checkpoint.at.unix_ms())
    .execute(&mut *transaction)
    .await?;
    add_steps(&mut transaction, event_id, steps).await?;
    transaction.commit().await?;
    Ok(())
}

pub(super) async fn add_steps(
    connection: &mut SqliteConnection,
    event_id: EventId,
    steps: &[TraceStep],
) -> Result<(), StoreError> {
    if steps.is_empty() {
        return Ok(());
    }
    let details = steps.iter().map(|step| to_json("a step", &step.detail));
    let details = details.collect::<Result<Vec<_>, _>>()?;
    let mut query: QueryBuilder<Sqlite> =
        QueryBuilder::new("INSERT INTO trace_steps (event_id, number, node, at_ms, detail) ");
    query.push_values(steps.iter().zip(&details), |mut row, (step, detail)| {
        row.push_bind(event_id.0.as_bytes().as_slice())
            .push_bind(i64::from(step.number))
            .push_bind(&step.node)
            .push_bind(step.at.unix_ms())
            .push_bind(detail);
    });
    query.push(" ON CONFLICT (event_id, number) DO NOTHING");
    query.build().execute(connection).await?;
    Ok(())
}

pub(super) async fn drop_checkpoint(
    connection: &mut SqliteConnection,
    event_id: EventId,
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM checkpoints WHERE event_id = ?")
        .bind(event_id.0.as_bytes().as_slice())
        .execute(connection)
        .await?;
    Ok(())
}

pub(super) async fn trace(
    pool: &SqlitePool,
    event_id: EventId,
) -> Result<Vec<TraceStep>, StoreError> {
    let rows = sqlx::query(
        "SELECT number, node, at_ms, detail FROM trace_steps WHERE event_id = ? ORDER BY number",
    )
    .bind(event_id.0.as_bytes().as_slice())
    .fetch_all(pool)
    .await?;
    rows.iter()
        .map(|row| {
            Ok(TraceStep {
                number: u32::try_from(row.get::<i64, _>("number")).unwrap_or(u32::MAX),
                node: row.get("node"),
                at: time_of(row.get("at_ms"))?,
                detail: json_of("a step", row.get("detail"))?,
            })
        })
        .collect()
}

pub(super) async fn follow_up(
    pool: &SqlitePool,
    event_id: EventId,
) -> Result<Vec<FollowUp>, StoreError> {
    let row = sqlx::query("SELECT follow_up_actions FROM pdm_agent_memory WHERE event_id = ?")
        .bind(event_id.0.as_bytes().as_slice())
        .fetch_optional(pool)
        .await?;
    row.map_or(Ok(Vec::new()), |row| json_of("follow-up actions", row.get(0)))
}

pub(super) async fn follow(
    pool: &SqlitePool,
    event_id: EventId,
    actions: &[FollowUp],
) -> Result<bool, StoreError> {
    let done = sqlx::query("UPDATE pdm_agent_memory SET follow_up_actions = ? WHERE event_id = ?")
        .bind(to_json("follow-up actions", &actions)?)
        .bind(event_id.0.as_bytes().as_slice())
        .execute(pool)
        .await?;
    Ok(done.rows_affected() == 1)
}
