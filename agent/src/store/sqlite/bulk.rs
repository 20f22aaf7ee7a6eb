//! Many rows of one table in few statements. Every statement is a message to the connection's own
//! thread and back, which costs more than the row itself.

use std::collections::HashSet;

use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::time::Timestamp;
use sqlx::query_builder::Separated;
use sqlx::{QueryBuilder, Row as _, Sqlite};
use uuid::Uuid;

use super::dialect::Connection;
use crate::store::encoding::{MemoryRow, sequence_of, to_json};
use crate::store::{Judged, Outgoing, StoreError, TraceStep};

/// Rows of one statement. Chosen: 20 columns of it stay far below SQLite's 32,766 parameters, and
/// the statement is small enough to be kept prepared.
const ROWS: usize = 64;

/// Inserts rows; tells what `RETURNING` in `tail` gives.
async fn insert<R>(
    connection: &mut Connection,
    head: &str,
    rows: &[R],
    values: impl Fn(&mut Separated<'_, Sqlite, &'static str>, &R),
    tail: &str,
) -> Result<Vec<Uuid>, StoreError> {
    let mut returned = Vec::new();
    for rows in rows.chunks(ROWS) {
        let mut statement = QueryBuilder::<Sqlite>::new(head);
        statement.push_values(rows, |mut row, of| values(&mut row, of)).push(tail);
        // only the full statement comes again and again
        let statement = statement.build().persistent(rows.len() == ROWS);
        let done = statement.fetch_all(&mut *connection).await?;
        returned.extend(done.iter().map(|row| row.get::<Uuid, _>(0)));
    }
    Ok(returned)
}

/// Numbers as `json_each` reads them.
fn numbers(of: impl IntoIterator<Item = i64>) -> String {
    let texts: Vec<String> = of.into_iter().map(|number| number.to_string()).collect();
    format!("[{}]", texts.join(","))
}

/// Identities as `unhex` reads what `json_each` gives.
fn identities(of: &[EventId]) -> String {
    let texts: Vec<String> = of.iter().map(|id| format!("\"{}\"", id.0.simple())).collect();
    format!("[{}]", texts.join(","))
}

/// Tells of each event whether it is new.
pub(super) async fn insert_events(
    connection: &mut Connection,
    events: &[(&Event, &str)],
    now: Timestamp,
) -> Result<Vec<bool>, StoreError> {
    let rows = events
        .iter()
        .map(|(event, payload)| Ok((*event, *payload, sequence_of(event.sequence)?)))
        .collect::<Result<Vec<_>, StoreError>>()?;
    let new = insert(
        connection,
        "INSERT INTO events (event_id, gateway_id, sequence, site, equipment_id, bearing_id,
                             measured_at_ms, received_at_ms, payload) ",
        &rows,
        |row, (event, payload, sequence)| {
            row.push_bind(event.event_id.0)
                .push_bind(event.gateway_id.as_str())
                .push_bind(*sequence)
                .push_bind(event.site.as_str())
                .push_bind(event.equipment_id.as_str())
                .push_bind(event.bearing_id.as_str())
                .push_bind(event.measured_at.unix_ms())
                .push_bind(now.unix_ms())
                .push_bind(*payload);
        },
        " ON CONFLICT (event_id) DO NOTHING RETURNING event_id",
    )
    .await?;
    let mut new: HashSet<Uuid> = new.into_iter().collect();
    // of two with one identity in a batch the first is the new one
    Ok(events.iter().map(|(event, _)| new.remove(&event.event_id.0)).collect())
}

/// Takes events out of what waits for a judgement.
pub(super) async fn mark_judged(
    connection: &mut Connection,
    judged: &[(&BearingKey, &Judged)],
) -> Result<(), StoreError> {
    for late in [false, true] {
        let arrivals = judged.iter().filter(|(_, judged)| judged.late == late);
        let arrivals: Vec<i64> = arrivals.map(|(_, judged)| judged.arrival).collect();
        if arrivals.is_empty() {
            continue;
        }
        sqlx::query(
            "UPDATE events SET judged = 1, late = $1
             WHERE arrival IN (SELECT value FROM json_each($2))",
        )
        .bind(late)
        .bind(numbers(arrivals))
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// Writes judgements; tells which are their event's first.
pub(super) async fn remember(
    connection: &mut Connection,
    rows: &[MemoryRow<'_>],
) -> Result<HashSet<EventId>, StoreError> {
    let first = insert(
        connection,
        "INSERT INTO pdm_agent_memory
             (event_id, site, equipment_id, bearing_id, measured_at_ms, judged_at_ms, late,
              fault_type, fault_stage, risk_level, degradation_speed, rul_hours, rul_assessment,
              recommendation_ko, recommendation_en, uncertainty, tool_use, follow_up_actions,
              diagnosis) ",
        rows,
        |row, of| {
            row.push_bind(of.event_id.0)
                .push_bind(of.key.site.as_str())
                .push_bind(of.key.equipment.as_str())
                .push_bind(of.key.bearing.as_str())
                .push_bind(of.measured_at_ms)
                .push_bind(of.judged_at_ms)
                .push_bind(of.late)
                .push_bind(of.fault_type)
                .push_bind(of.fault_stage)
                .push_bind(of.risk_level)
                .push_bind(of.degradation_speed.as_str())
                .push_bind(of.rul_hours)
                .push_bind(of.rul_assessment.as_str())
                .push_bind(of.recommendation_ko)
                .push_bind(of.recommendation_en)
                .push_bind(of.uncertainty.as_str())
                .push_bind(of.tool_use.as_str())
                .push_bind(of.follow_up_actions.as_str())
                .push_bind(of.diagnosis.as_str());
        },
        " ON CONFLICT (event_id) DO NOTHING RETURNING event_id",
    )
    .await?;
    Ok(first.into_iter().map(EventId).collect())
}

/// These runs are finished.
pub(super) async fn drop_checkpoints(
    connection: &mut Connection,
    events: &[EventId],
) -> Result<(), StoreError> {
    sqlx::query(
        "DELETE FROM checkpoints WHERE event_id IN (SELECT unhex(value) FROM json_each($1))",
    )
    .bind(identities(events))
    .execute(connection)
    .await?;
    Ok(())
}

/// The steps of these runs are no longer kept.
pub(super) async fn drop_steps(
    connection: &mut Connection,
    events: &[EventId],
) -> Result<(), StoreError> {
    sqlx::query(
        "DELETE FROM trace_steps WHERE event_id IN (SELECT unhex(value) FROM json_each($1))",
    )
    .bind(identities(events))
    .execute(connection)
    .await?;
    Ok(())
}

/// Adds steps of runs; one that is stored stays as it is.
pub(super) async fn add_steps(
    connection: &mut Connection,
    steps: &[(EventId, &TraceStep)],
) -> Result<(), StoreError> {
    let rows = steps
        .iter()
        .map(|(event_id, step)| Ok((*event_id, *step, to_json("a step", &step.detail)?)))
        .collect::<Result<Vec<_>, StoreError>>()?;
    insert(
        connection,
        "INSERT INTO trace_steps (event_id, number, node, at_ms, detail) ",
        &rows,
        |row, (event_id, step, detail)| {
            row.push_bind(event_id.0)
                .push_bind(i64::from(step.number))
                .push_bind(step.node.as_str())
                .push_bind(step.at.unix_ms())
                .push_bind(detail.as_str());
        },
        " ON CONFLICT (event_id, number) DO NOTHING",
    )
    .await?;
    Ok(())
}

/// Writes rows of the outbox in their order; the same idempotency key again changes nothing.
pub(super) async fn insert_outbox(
    connection: &mut Connection,
    rows: &[(&Outgoing, Timestamp)],
) -> Result<(), StoreError> {
    insert(
        connection,
        "INSERT INTO outbox (idempotency_key, lane, topic, retain, notification_id, group_key,
                             payload, judgement_of, created_at_ms, due_at_ms) ",
        rows,
        |row, (of, at)| {
            row.push_bind(of.key)
                .push_bind(of.lane.as_str())
                .push_bind(of.topic.as_deref())
                .push_bind(of.retain)
                .push_bind(of.notification_id)
                .push_bind(of.group.as_deref())
                .push_bind(of.payload.text())
                .push_bind(of.payload.judgement_of().map(|event| event.0))
                .push_bind(at.unix_ms())
                .push_bind(of.due_at.unix_ms());
        },
        " ON CONFLICT (idempotency_key) DO NOTHING",
    )
    .await?;
    Ok(())
}

/// A publication that was delivered leaves no trace; that a notification was delivered is kept.
pub(super) async fn delivered(
    connection: &mut Connection,
    ids: &[i64],
    now: Timestamp,
) -> Result<(), StoreError> {
    let all = numbers(ids.iter().copied());
    let gone = sqlx::query(
        "DELETE FROM outbox
         WHERE id IN (SELECT value FROM json_each($1)) AND notification_id IS NULL",
    )
    .bind(&all)
    .execute(&mut *connection)
    .await?;
    if gone.rows_affected() < ids.len() as u64 {
        sqlx::query(
            "UPDATE outbox SET state = 'delivered', attempts = attempts + 1, settled_at_ms = $1,
                               last_error = NULL
             WHERE id IN (SELECT value FROM json_each($2))",
        )
        .bind(now.unix_ms())
        .bind(&all)
        .execute(connection)
        .await?;
    }
    Ok(())
}
