//! Runs: where one stands that is not finished, the steps of every one, and what is to be done.

use dialect::{Pool, Row};
use pdm_shared::id::EventId;
use sqlx::Row as _;

use super::super::{bulk, dialect};
use crate::store::encoding::{json_of, time_of, to_json};
use crate::store::{Checkpoint, FollowUp, StoreError, TraceStep};

/// The checkpoint in columns of a row that may have none.
pub(in crate::store) fn checkpoint_of(row: &Row) -> Result<Option<Checkpoint>, StoreError> {
    let Some(node) = row.get::<Option<String>, _>("node") else { return Ok(None) };
    let at = time_of(row.get("updated_at_ms"))?;
    Ok(Some(Checkpoint { node, state: row.get("state"), at }))
}

pub(super) async fn checkpoint(
    pool: &Pool,
    event_id: EventId,
    checkpoint: &Checkpoint,
    steps: &[TraceStep],
) -> Result<(), StoreError> {
    let mut transaction = dialect::begin(pool).await?;
    sqlx::query(
        "INSERT INTO checkpoints (event_id, node, state, updated_at_ms) VALUES ($1, $2, $3, $4)
         ON CONFLICT (event_id) DO UPDATE
         SET node = excluded.node, state = excluded.state, updated_at_ms = excluded.updated_at_ms",
    )
    .bind(event_id.0)
    .bind(&checkpoint.node)
    .bind(&checkpoint.state)
    .bind(checkpoint.at.unix_ms())
    .execute(&mut *transaction)
    .await?;
    let steps: Vec<(EventId, &TraceStep)> = steps.iter().map(|step| (event_id, step)).collect();
    bulk::add_steps(&mut transaction, &steps).await?;
    transaction.commit().await?;
    Ok(())
}

pub(super) async fn trace(pool: &Pool, event_id: EventId) -> Result<Vec<TraceStep>, StoreError> {
    let rows = sqlx::query(
        "SELECT number, node, at_ms, detail FROM trace_steps WHERE event_id = $1 ORDER BY number",
    )
    .bind(event_id.0)
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

pub(super) async fn follow_up(pool: &Pool, event_id: EventId) -> Result<Vec<FollowUp>, StoreError> {
    let row = sqlx::query("SELECT follow_up_actions FROM pdm_agent_memory WHERE event_id = $1")
        .bind(event_id.0)
        .fetch_optional(pool)
        .await?;
    row.map_or(Ok(Vec::new()), |row| json_of("follow-up actions", row.get(0)))
}

pub(super) async fn follow(
    pool: &Pool,
    event_id: EventId,
    actions: &[FollowUp],
) -> Result<bool, StoreError> {
    let done =
        sqlx::query("UPDATE pdm_agent_memory SET follow_up_actions = $1 WHERE event_id = $2")
            .bind(to_json("follow-up actions", &actions)?)
            .bind(event_id.0)
            .execute(pool)
            .await?;
    Ok(done.rows_affected() == 1)
}
