//! Many rows of one table in one statement: one array a column, which the server turns into rows.

use std::collections::HashSet;

use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::time::Timestamp;
use pdm_shared::trace::TraceStep;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::database::{Dialect, value_of};
use crate::encoding::{MemoryRow, sequence_of, to_json};
use crate::shown;
use crate::{Judged, Outgoing, StoreError};

/// One column of many rows.
fn column<'a, R, T>(rows: &'a [R], value: impl Fn(&'a R) -> T) -> Vec<T> {
    rows.iter().map(value).collect()
}

/// Fails where rows were taken and are not there: a trigger that returns nothing, a rule or row
/// security swallows them without an error. `counted` is a statement that counts the rows of a
/// table with these keys.
async fn are_kept(
    connection: &mut PgConnection,
    table: &'static str,
    counted: &'static str,
    keys: HashSet<Uuid>,
) -> Result<(), StoreError> {
    if keys.is_empty() {
        return Ok(());
    }
    let wanted = keys.len() as u64;
    let keys: Vec<Uuid> = keys.into_iter().collect();
    let there: i64 = sqlx::query_scalar(counted).bind(keys).fetch_one(connection).await?;
    if there.unsigned_abs() < wanted { Err(StoreError::Swallowed { table }) } else { Ok(()) }
}

/// Inserts events; tells of each whether it is new. A new event is put on the list of those that
/// wait for a judgement, with the key of its bearing's advisory lock.
pub(crate) async fn insert_events(
    connection: &mut PgConnection,
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
                                 measured_at_ms, received_at_ms, payload, shown)
             SELECT event_id, gateway_id, sequence, site, equipment_id, bearing_id,
                    measured_at_ms, $10, payload, shown
             FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[],
                         $7::bigint[], $8::text[], $9::text[]) WITH ORDINALITY
                  AS batch (event_id, gateway_id, sequence, site, equipment_id, bearing_id,
                            measured_at_ms, payload, shown, place)
             ORDER BY place
             ON CONFLICT (event_id) DO NOTHING
             RETURNING arrival, event_id, gateway_id, site, equipment_id, bearing_id),
         waiting AS (
             INSERT INTO events_unjudged (arrival, event_id, turn, gateway)
             SELECT arrival, event_id, hashtext(site || '/' || equipment_id || '/' || bearing_id),
                    hashtext(site || '/' || gateway_id)
             FROM new
             RETURNING 1)
         SELECT event_id, (SELECT count(*) FROM waiting) FROM new",
    )
    .bind(column(events, |(event, _)| event.event_id.0))
    .bind(column(events, |(event, _)| event.gateway_id.as_str()))
    .bind(sequences)
    .bind(column(events, |(event, _)| event.site.as_str()))
    .bind(column(events, |(event, _)| event.equipment_id.as_str()))
    .bind(column(events, |(event, _)| event.bearing_id.as_str()))
    .bind(column(events, |(event, _)| event.measured_at.unix_ms()))
    .bind(column(events, |(_, payload)| *payload))
    .bind(column(events, |(event, _)| shown::column_of(event)))
    .bind(now.unix_ms())
    .fetch_all(&mut *connection)
    .await?;
    let waiting = match rows.first() {
        Some(row) => value_of::<i64>(row, 1)?.unsigned_abs(),
        None => 0,
    };
    if waiting < rows.len() as u64 {
        return Err(StoreError::Swallowed { table: "events_unjudged" });
    }
    let new: Result<HashSet<Uuid>, StoreError> = rows.iter().map(|row| value_of(row, 0)).collect();
    let mut new = new?;
    let known = events.iter().map(|(event, _)| event.event_id.0).filter(|id| !new.contains(id));
    let counted = "SELECT count(DISTINCT event_id) FROM events WHERE event_id = ANY($1)";
    are_kept(connection, "events", counted, known.collect()).await?;
    // if two events of a batch have the same identity, the first is the new one
    Ok(events.iter().map(|(event, _)| new.remove(&event.event_id.0)).collect())
}

/// Takes events off the list of those that wait for a judgement.
pub(crate) async fn mark_judged(
    connection: &mut PgConnection,
    judged: &[(&BearingKey, &Judged)],
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM events_unjudged WHERE arrival = ANY($1)")
        .bind(column(judged, |(_, judged)| judged.arrival))
        .execute(connection)
        .await?;
    Ok(())
}

/// Inserts judgements; tells which are the first of their event.
pub(crate) async fn insert_judgements(
    connection: &mut PgConnection,
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
    .bind(column(rows, |row| Dialect::Postgres.text(row.recommendation_ko)))
    .bind(column(rows, |row| Dialect::Postgres.text(row.recommendation_en)))
    .bind(column(rows, |row| row.uncertainty.as_str()))
    .bind(column(rows, |row| row.tool_use.as_str()))
    .bind(column(rows, |row| row.follow_up_actions.as_str()))
    .bind(column(rows, |row| row.diagnosis.as_str()))
    .fetch_all(&mut *connection)
    .await?;
    let first = first.iter().map(|row| Ok(EventId(value_of(row, 0)?)));
    let first = first.collect::<Result<HashSet<EventId>, StoreError>>()?;
    let known = rows.iter().map(|row| row.event_id).filter(|id| !first.contains(id));
    let counted = "SELECT count(*) FROM pdm_agent_memory WHERE event_id = ANY($1)";
    are_kept(connection, "pdm_agent_memory", counted, known.map(|id| id.0).collect()).await?;
    Ok(first)
}

/// Inserts steps of runs; a step that is stored stays as it is.
pub(crate) async fn insert_steps(
    connection: &mut PgConnection,
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

/// Inserts rows of the outbox in their order; the same idempotency key again changes nothing.
pub(crate) async fn insert_outbox(
    connection: &mut PgConnection,
    rows: &[(&Outgoing, Timestamp)],
) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    let inserted = sqlx::query(
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
    .execute(&mut *connection)
    .await?;
    if inserted.rows_affected() == rows.len() as u64 {
        return Ok(());
    }
    let keys = rows.iter().map(|(row, _)| row.key).collect();
    let counted = "SELECT count(*) FROM outbox WHERE idempotency_key = ANY($1)";
    are_kept(connection, "outbox", counted, keys).await
}
