//! Many rows of one table: prepared once, row by row. SQLite lives in this process, so a statement
//! costs no round trip.

use std::collections::HashSet;

use pdm_shared::clock::Timestamp;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;

use super::dialect::Connection;
use crate::progress::BearingKey;
use crate::store::encoding::{MemoryRow, sequence_of, to_json};
use crate::store::{Judged, Outgoing, StoreError, TraceStep};

/// Tells of each event whether it is new.
pub(super) async fn insert_events(
    connection: &mut Connection,
    events: &[(&Event, &str)],
    now: Timestamp,
) -> Result<Vec<bool>, StoreError> {
    let mut new = Vec::with_capacity(events.len());
    for (event, payload) in events {
        let done = sqlx::query(
            "INSERT INTO events (event_id, gateway_id, sequence, site, equipment_id, bearing_id,
                                 measured_at_ms, received_at_ms, payload)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (event_id) DO NOTHING",
        )
        .bind(event.event_id.0)
        .bind(event.gateway_id.as_str())
        .bind(sequence_of(event.sequence)?)
        .bind(event.site.as_str())
        .bind(event.equipment_id.as_str())
        .bind(event.bearing_id.as_str())
        .bind(event.measured_at.unix_ms())
        .bind(now.unix_ms())
        .bind(*payload)
        .execute(&mut *connection)
        .await?;
        new.push(done.rows_affected() == 1);
    }
    Ok(new)
}

/// Takes events out of what waits for a judgement.
pub(super) async fn mark_judged(
    connection: &mut Connection,
    judged: &[(&BearingKey, &Judged)],
) -> Result<(), StoreError> {
    for (_, judged) in judged {
        sqlx::query("UPDATE events SET judged = 1, late = $1 WHERE arrival = $2")
            .bind(judged.late)
            .bind(judged.arrival)
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
    let mut first = HashSet::with_capacity(rows.len());
    for row in rows {
        let done = sqlx::query(
            "INSERT INTO pdm_agent_memory
                 (event_id, site, equipment_id, bearing_id, measured_at_ms, judged_at_ms, late,
                  fault_type, fault_stage, risk_level, degradation_speed, rul_hours,
                  rul_assessment, recommendation_ko, recommendation_en, uncertainty, tool_use,
                  follow_up_actions, diagnosis)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
                     $18, $19)
             ON CONFLICT (event_id) DO NOTHING",
        )
        .bind(row.event_id.0)
        .bind(row.key.site.as_str())
        .bind(row.key.equipment.as_str())
        .bind(row.key.bearing.as_str())
        .bind(row.measured_at_ms)
        .bind(row.judged_at_ms)
        .bind(row.late)
        .bind(row.fault_type)
        .bind(row.fault_stage)
        .bind(row.risk_level)
        .bind(&row.degradation_speed)
        .bind(row.rul_hours)
        .bind(&row.rul_assessment)
        .bind(row.recommendation_ko)
        .bind(row.recommendation_en)
        .bind(&row.uncertainty)
        .bind(&row.tool_use)
        .bind(&row.follow_up_actions)
        .bind(&row.diagnosis)
        .execute(&mut *connection)
        .await?;
        if done.rows_affected() == 1 {
            first.insert(row.event_id);
        }
    }
    Ok(first)
}

/// These runs are finished.
pub(super) async fn drop_checkpoints(
    connection: &mut Connection,
    events: &[EventId],
) -> Result<(), StoreError> {
    for event_id in events {
        sqlx::query("DELETE FROM checkpoints WHERE event_id = $1")
            .bind(event_id.0)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// The steps of these runs are no longer kept.
pub(super) async fn drop_steps(
    connection: &mut Connection,
    events: &[EventId],
) -> Result<(), StoreError> {
    for event_id in events {
        sqlx::query("DELETE FROM trace_steps WHERE event_id = $1")
            .bind(event_id.0)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// Adds steps of runs; one that is stored stays as it is.
pub(super) async fn add_steps(
    connection: &mut Connection,
    steps: &[(EventId, &TraceStep)],
) -> Result<(), StoreError> {
    for (event_id, step) in steps {
        sqlx::query(
            "INSERT INTO trace_steps (event_id, number, node, at_ms, detail)
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (event_id, number) DO NOTHING",
        )
        .bind(event_id.0)
        .bind(i64::from(step.number))
        .bind(&step.node)
        .bind(step.at.unix_ms())
        .bind(to_json("a step", &step.detail)?)
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// Writes rows of the outbox in their order; the same idempotency key again changes nothing.
pub(super) async fn insert_outbox(
    connection: &mut Connection,
    rows: &[(&Outgoing, Timestamp)],
) -> Result<(), StoreError> {
    for (row, at) in rows {
        sqlx::query(
            "INSERT INTO outbox (idempotency_key, lane, topic, retain, notification_id, group_key,
                                 payload, created_at_ms, due_at_ms)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (idempotency_key) DO NOTHING",
        )
        .bind(row.key)
        .bind(&row.lane)
        .bind(&row.topic)
        .bind(row.retain)
        .bind(row.notification_id)
        .bind(&row.group)
        .bind(&row.payload)
        .bind(at.unix_ms())
        .bind(row.due_at.unix_ms())
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// A publication that was delivered leaves no trace; that a notification was delivered is kept.
pub(super) async fn delivered(
    connection: &mut Connection,
    ids: &[i64],
    now: Timestamp,
) -> Result<(), StoreError> {
    for id in ids {
        let gone = sqlx::query("DELETE FROM outbox WHERE id = $1 AND notification_id IS NULL")
            .bind(id)
            .execute(&mut *connection)
            .await?;
        if gone.rows_affected() == 0 {
            sqlx::query(
                "UPDATE outbox SET state = 'delivered', attempts = attempts + 1,
                                   settled_at_ms = $1, last_error = NULL
                 WHERE id = $2",
            )
            .bind(now.unix_ms())
            .bind(id)
            .execute(&mut *connection)
            .await?;
        }
    }
    Ok(())
}
