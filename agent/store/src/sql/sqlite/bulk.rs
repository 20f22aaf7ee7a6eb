//! Many rows of one table in few statements. Each statement is a message to the connection's own
//! thread and back, which costs more than writing a row.

use std::collections::HashSet;

use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::time::Timestamp;
use pdm_shared::trace::TraceStep;
use sqlx::query_builder::Separated;
use sqlx::{QueryBuilder, Row as _, Sqlite, SqliteConnection};
use uuid::Uuid;

use crate::database::Numbers;
use crate::encoding::{MemoryRow, sequence_of, to_json};
use crate::shown;
use crate::{Judged, Outgoing, StoreError};

/// Rows of one statement: with the 19 columns of a judgement 1,216 parameters of the 32,766 that
/// SQLite allows, and a text of some 6 KB that the driver keeps prepared.
const ROWS: usize = 64;

/// Inserts rows; returns the column that `RETURNING` in `tail` names.
async fn insert<R>(
    connection: &mut SqliteConnection,
    head: &str,
    rows: &[R],
    values: impl Fn(&mut Separated<'_, Sqlite, &'static str>, &R),
    tail: &str,
) -> Result<Vec<Uuid>, StoreError> {
    let mut returned = Vec::new();
    for rows in rows.chunks(ROWS) {
        let mut statement = QueryBuilder::<Sqlite>::new(head);
        statement.push_values(rows, |mut row, of| values(&mut row, of)).push(tail);
        // only the statement of a full chunk comes again, a shorter one would fill the cache
        let statement = statement.build().persistent(rows.len() == ROWS);
        let done = statement.fetch_all(&mut *connection).await?;
        returned.extend(done.iter().map(|row| row.get::<Uuid, _>(0)));
    }
    Ok(returned)
}

/// Inserts events; tells of each whether it is new.
pub(crate) async fn insert_events(
    connection: &mut SqliteConnection,
    events: &[(&Event, &str)],
    now: Timestamp,
) -> Result<Vec<bool>, StoreError> {
    let rows = events
        .iter()
        .map(|(event, payload)| {
            Ok((*event, *payload, sequence_of(event.sequence)?, shown::column_of(event)))
        })
        .collect::<Result<Vec<_>, StoreError>>()?;
    let new = insert(
        connection,
        "INSERT INTO events (event_id, gateway_id, sequence, site, equipment_id, bearing_id,
                             measured_at_ms, received_at_ms, payload, shown) ",
        &rows,
        |row, (event, payload, sequence, shown)| {
            row.push_bind(event.event_id.0)
                .push_bind(event.gateway_id.as_str())
                .push_bind(*sequence)
                .push_bind(event.site.as_str())
                .push_bind(event.equipment_id.as_str())
                .push_bind(event.bearing_id.as_str())
                .push_bind(event.measured_at.unix_ms())
                .push_bind(now.unix_ms())
                .push_bind(*payload)
                .push_bind(shown.clone());
        },
        " ON CONFLICT (event_id) DO NOTHING RETURNING event_id",
    )
    .await?;
    let mut new: HashSet<Uuid> = new.into_iter().collect();
    // if two events of a batch have the same identity, the first is the new one
    Ok(events.iter().map(|(event, _)| new.remove(&event.event_id.0)).collect())
}

/// Marks events as judged, and as late or not.
pub(crate) async fn mark_judged(
    connection: &mut SqliteConnection,
    judged: &[(&BearingKey, &Judged)],
) -> Result<(), StoreError> {
    for late in [false, true] {
        let arrivals = judged.iter().filter(|(_, judged)| judged.late == late);
        let arrivals: Vec<i64> = arrivals.map(|(_, judged)| judged.arrival).collect();
        if arrivals.is_empty() {
            continue;
        }
        let arrivals: Numbers = arrivals.into_iter().collect();
        sqlx::query(
            "UPDATE events SET judged = 1, late = $1
             WHERE arrival IN (SELECT value FROM json_each($2))",
        )
        .bind(late)
        .bind(arrivals)
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// Inserts judgements; tells which are the first of their event.
pub(crate) async fn insert_judgements(
    connection: &mut SqliteConnection,
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

/// Inserts steps of runs; a step that is stored stays as it is.
pub(crate) async fn insert_steps(
    connection: &mut SqliteConnection,
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

/// Inserts rows of the outbox in their order; the same idempotency key again changes nothing.
pub(crate) async fn insert_outbox(
    connection: &mut SqliteConnection,
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
