//! Checkpoints of runs: of events that are being judged, and of judged ones whose documents are
//! left.

use std::sync::LazyLock;

use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use pdm_shared::trace::TraceStep;

use super::{bulk, messages};
use crate::database::{Connection, Dialect, Identities, Row, Session, Spelt};
use crate::encoding::time_of;
use crate::{Checkpoint, Finished, Outgoing, StoreError};

/// Parameters: own runs, idle since, limit. A file has one agent, so every run in it is its own.
static UNWRITTEN: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let unjudged = dialect.unjudged_events();
        let own = dialect.in_identities("$1");
        let free = match dialect {
            Dialect::Sqlite => format!("(event_id {own} OR updated_at_ms <= $2 OR TRUE)"),
            Dialect::Postgres => format!("(event_id {own} OR updated_at_ms <= $2)"),
        };
        format!(
            "SELECT event_id, node, state, updated_at_ms FROM checkpoints
             WHERE {free} AND NOT EXISTS (
                 SELECT 1 FROM {unjudged} AS waiting
                 WHERE waiting.event_id = checkpoints.event_id)
             ORDER BY updated_at_ms, event_id LIMIT $3"
        )
    })
});

/// Writes the checkpoint of a run over its last one.
pub(super) async fn write(
    connection: &mut Connection<'_>,
    event_id: EventId,
    checkpoint: &Checkpoint,
) -> Result<(), StoreError> {
    connection
        .query(
            "INSERT INTO checkpoints (event_id, node, state, updated_at_ms)
             VALUES ($1, $2, $3, $4)
             ON CONFLICT (event_id) DO UPDATE
             SET node = excluded.node, state = excluded.state,
                 updated_at_ms = excluded.updated_at_ms",
        )
        .bind(event_id.0)
        .bind(checkpoint.node.as_str())
        .bind(checkpoint.state.as_str())
        .bind(checkpoint.at.unix_ms())
        .execute()
        .await?;
    Ok(())
}

/// The run of an event, if it has begun.
pub(super) async fn read_checkpoint(
    connection: &mut Connection<'_>,
    event_id: EventId,
) -> Result<Option<Checkpoint>, StoreError> {
    let query =
        connection.query("SELECT node, state, updated_at_ms FROM checkpoints WHERE event_id = $1");
    let Some(row) = query.bind(event_id.0).fetch_optional().await? else { return Ok(None) };
    let at = time_of(row.get("updated_at_ms")?)?;
    Ok(Some(Checkpoint { node: row.get("node")?, state: row.get("state")?, at }))
}

/// Runs of judged events.
pub(super) async fn unwritten(
    reader: &mut Session,
    own: &[EventId],
    idle_since: Timestamp,
    limit: u32,
) -> Result<Vec<(EventId, Checkpoint)>, StoreError> {
    let own: Identities = own.iter().collect();
    let query = reader.query(&UNWRITTEN).bind(own).bind(idle_since.unix_ms());
    let rows = query.bind(i64::from(limit)).fetch_all().await?;
    let checkpoint = |row: &Row| {
        let (node, state) = (row.get("node")?, row.get("state")?);
        let at = time_of(row.get("updated_at_ms")?)?;
        Ok((EventId(row.get("event_id")?), Checkpoint { node, state, at }))
    };
    rows.iter().map(checkpoint).collect()
}

/// Ends a run; true if staff is told now of documents that could not be written.
pub(super) async fn finish(
    connection: &mut Connection<'_>,
    finished: &Finished,
) -> Result<bool, StoreError> {
    let event_id = finished.event_id;
    let steps: Vec<(EventId, &TraceStep)> =
        finished.steps.iter().map(|step| (event_id, step)).collect();
    bulk::insert_steps(connection, &steps).await?;
    let query = connection.query("DELETE FROM checkpoints WHERE event_id = $1");
    query.bind(event_id.0).execute().await?;
    let Some((notification, outgoing)) = &finished.missing else { return Ok(false) };
    let is_new = messages::insert(connection, notification).await?;
    if is_new {
        let at = notification.created_at;
        let rows: Vec<(&Outgoing, Timestamp)> = outgoing.iter().map(|row| (row, at)).collect();
        bulk::insert_outbox(connection, &rows).await?;
    }
    Ok(is_new)
}
