//! Many rows of one table in one statement: arrays of columns, taken apart by the server.

use std::collections::HashSet;

use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::time::Timestamp;
use sqlx::Row as _;
use uuid::Uuid;

use super::dialect::{self, Connection};
use crate::store::encoding::{MemoryRow, sequence_of, to_json};
use crate::store::{Judged, Outgoing, StoreError, TraceStep};

/// One column of many rows.
fn column<'a, R, T>(rows: &'a [R], value: impl Fn(&'a R) -> T) -> Vec<T> {
    rows.iter().map(value).collect()
}

/// Tells of each event whether it is new. What is new waits for its judgement.
pub(super) async fn insert_events(
    connection: &mut Connection,
    events: &[(&Event, &str)],
    now: Timestamp,
) -> Result<Vec<bool>, StoreError> {
    let sequences = events
        .iter()
        .map(|(event, _)| sequence_of(event.sequence))
        .collect::<Result<Vec<i64>, StoreError>>()?;
    let rows = sqlx::query(
        "WITH new AS (
             INSERT INTO events (event_id, gateway_id, sequence, site, equipment_id, bearing_id,
                                 measured_at_ms, received_at_ms, payload)
             SELECT event_id, gateway_id, sequence, site, equipment_id, bearing_id,
                    measured_at_ms, $9, payload
             FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[],
                         $7::bigint[], $8::text[]) WITH ORDINALITY
                  AS batch (event_id, gateway_id, sequence, site, equipment_id, bearing_id,
                            measured_at_ms, payload, place)
             ORDER BY place
             ON CONFLICT (event_id) DO NOTHING
             RETURNING arrival, event_id, site, equipment_id, bearing_id),
         waiting AS (
             INSERT INTO events_unjudged (arrival, event_id, turn)
             SELECT arrival, event_id, hashtext(site || '/' || equipment_id || '/' || bearing_id)
             FROM new)
         SELECT event_id FROM new",
    )
    .bind(column(events, |(event, _)| event.event_id.0))
    .bind(column(events, |(event, _)| event.gateway_id.as_str()))
    .bind(sequences)
    .bind(column(events, |(event, _)| event.site.as_str()))
    .bind(column(events, |(event, _)| event.equipment_id.as_str()))
    .bind(column(events, |(event, _)| event.bearing_id.as_str()))
    .bind(column(events, |(event, _)| event.measured_at.unix_ms()))
    .bind(column(events, |(_, payload)| *payload))
    .bind(now.unix_ms())
    .fetch_all(connection)
    .await?;
    let mut new: HashSet<Uuid> = rows.iter().map(|row| row.get(0)).collect();
    // of two with one identity in a batch the first is the new one
    Ok(events.iter().map(|(event, _)| new.remove(&event.event_id.0)).collect())
}

/// Takes events out of what waits for a judgement.
pub(super) async fn mark_judged(
    connection: &mut Connection,
    judged: &[(&BearingKey, &Judged)],
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM events_unjudged WHERE arrival = ANY($1)")
        .bind(column(judged, |(_, judged)| judged.arrival))
        .execute(connection)
        .await?;
    Ok(())
}

/// Writes judgements; tells which are their event's first.
pub(super) async fn remember(
    connection: &mut Connection,
    rows: &[MemoryRow<'_>],
) -> Result<HashSet<EventId>, StoreError> {
    let first = sqlx::query(
        "INSERT INTO pdm_agent_memory
             (event_id, site, equipment_id, bearing_id, measured_at_ms, judged_at_ms, late,
              fault_type, fault_stage, risk_level, degradation_speed, rul_hours, rul_assessment,
              recommendation_ko, recommendation_en, uncertainty, tool_use, follow_up_actions,
              diagnosis)
         SELECT event_id, site, equipment_id, bearing_id, measured_at_ms, judged_at_ms, late,
                fault_type, fault_stage, risk_level, degradation_speed, rul_hours, rul_assessment,
                recommendation_ko, recommendation_en, uncertainty, tool_use, follow_up_actions,
                diagnosis
         FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[],
                     $7::boolean[], $8::text[], $9::bigint[], $10::text[], $11::text[],
                     $12::double precision[], $13::text[], $14::text[], $15::text[], $16::text[],
                     $17::text[], $18::text[], $19::text[]) WITH ORDINALITY
              AS batch (event_id, site, equipment_id, bearing_id, measured_at_ms, judged_at_ms,
                        late, fault_type, fault_stage, risk_level, degradation_speed, rul_hours,
                        rul_assessment, recommendation_ko, recommendation_en, uncertainty,
                        tool_use, follow_up_actions, diagnosis, place)
         ORDER BY place
         ON CONFLICT (event_id) DO NOTHING
         RETURNING event_id",
    )
    .bind(column(rows, |row| row.event_id.0))
    .bind(column(rows, |row| row.key.site.as_str()))
    .bind(column(rows, |row| row.key.equipment.as_str()))
    .bind(column(rows, |row| row.key.bearing.as_str()))
    .bind(column(rows, |row| row.measured_at_ms))
    .bind(column(rows, |row| row.judged_at_ms))
    .bind(column(rows, |row| row.late))
    .bind(column(rows, |row| row.fault_type))
    .bind(column(rows, |row| row.fault_stage))
    .bind(column(rows, |row| row.risk_level))
    .bind(column(rows, |row| row.degradation_speed.as_str()))
    .bind(column(rows, |row| row.rul_hours))
    .bind(column(rows, |row| row.rul_assessment.as_str()))
    .bind(column(rows, |row| dialect::text(row.recommendation_ko).into_owned()))
    .bind(column(rows, |row| dialect::text(row.recommendation_en).into_owned()))
    .bind(column(rows, |row| row.uncertainty.as_str()))
    .bind(column(rows, |row| row.tool_use.as_str()))
    .bind(column(rows, |row| row.follow_up_actions.as_str()))
    .bind(column(rows, |row| row.diagnosis.as_str()))
    .fetch_all(connection)
    .await?;
    Ok(first.iter().map(|row| EventId(row.get(0))).collect())
}

/// These runs are finished.
pub(super) async fn drop_checkpoints(
    connection: &mut Connection,
    events: &[EventId],
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM checkpoints WHERE event_id = ANY($1)")
        .bind(column(events, |id| id.0))
        .execute(connection)
        .await?;
    Ok(())
}

/// The steps of these runs are no longer kept.
pub(super) async fn drop_steps(
    connection: &mut Connection,
    events: &[EventId],
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM trace_steps WHERE event_id = ANY($1)")
        .bind(column(events, |id| id.0))
        .execute(connection)
        .await?;
    Ok(())
}

/// Adds steps of runs; one that is stored stays as it is.
pub(super) async fn add_steps(
    connection: &mut Connection,
    steps: &[(EventId, &TraceStep)],
) -> Result<(), StoreError> {
    if steps.is_empty() {
        return Ok(());
    }
    let details = steps
        .iter()
        .map(|(_, step)| to_json("a step", &step.detail))
        .collect::<Result<Vec<String>, StoreError>>()?;
    sqlx::query(
        "INSERT INTO trace_steps (event_id, number, node, at_ms, detail)
         SELECT event_id, number, node, at_ms, detail
         FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[], $5::text[])
              AS batch (event_id, number, node, at_ms, detail)
         ON CONFLICT (event_id, number) DO NOTHING",
    )
    .bind(column(steps, |(id, _)| id.0))
    .bind(column(steps, |(_, step)| i64::from(step.number)))
    .bind(column(steps, |(_, step)| step.node.as_str()))
    .bind(column(steps, |(_, step)| step.at.unix_ms()))
    .bind(details)
    .execute(connection)
    .await?;
    Ok(())
}

/// Writes rows of the outbox in their order; the same idempotency key again changes nothing.
pub(super) async fn insert_outbox(
    connection: &mut Connection,
    rows: &[(&Outgoing, Timestamp)],
) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "INSERT INTO outbox (idempotency_key, lane, topic, retain, notification_id, group_key,
                             payload, judgement_of, created_at_ms, due_at_ms)
         SELECT idempotency_key, lane, topic, retain, notification_id, group_key, payload,
                judgement_of, created_at_ms, due_at_ms
         FROM unnest($1::uuid[], $2::text[], $3::text[], $4::boolean[], $5::uuid[], $6::text[],
                     $7::text[], $8::uuid[], $9::bigint[], $10::bigint[]) WITH ORDINALITY
              AS batch (idempotency_key, lane, topic, retain, notification_id, group_key, payload,
                        judgement_of, created_at_ms, due_at_ms, place)
         ORDER BY place
         ON CONFLICT (idempotency_key) DO NOTHING",
    )
    .bind(column(rows, |(row, _)| row.key))
    .bind(column(rows, |(row, _)| row.lane.as_str()))
    .bind(column(rows, |(row, _)| row.topic.as_deref()))
    .bind(column(rows, |(row, _)| row.retain))
    .bind(column(rows, |(row, _)| row.notification_id))
    .bind(column(rows, |(row, _)| row.group.as_deref()))
    .bind(column(rows, |(row, _)| row.payload.text()))
    .bind(column(rows, |(row, _)| row.payload.judgement_of().map(|event| event.0)))
    .bind(column(rows, |(_, at)| at.unix_ms()))
    .bind(column(rows, |(row, _)| row.due_at.unix_ms()))
    .execute(connection)
    .await?;
    Ok(())
}

/// A publication that was delivered leaves no trace; that a notification was delivered is kept.
pub(super) async fn delivered(
    connection: &mut Connection,
    ids: &[i64],
    now: Timestamp,
) -> Result<(), StoreError> {
    if ids.is_empty() {
        return Ok(());
    }
    let gone = sqlx::query("DELETE FROM outbox WHERE id = ANY($1) AND notification_id IS NULL")
        .bind(ids)
        .execute(&mut *connection)
        .await?;
    if gone.rows_affected() < ids.len() as u64 {
        sqlx::query(
            "UPDATE outbox SET state = 'delivered', attempts = attempts + 1, settled_at_ms = $1,
                               last_error = NULL
             WHERE id = ANY($2)",
        )
        .bind(now.unix_ms())
        .bind(ids)
        .execute(connection)
        .await?;
    }
    Ok(())
}
