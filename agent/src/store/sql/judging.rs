//! What is recalled for a judgement, and writing judgements with what leaves because of them.

use std::collections::HashSet;

use dialect::{Connection, Pool};
use pdm_expert::case::{BearingState, Memory, RECALLED, Remembered};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::fault::Fault;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::time::Timestamp;
use sqlx::Row as _;

use super::super::{bulk, dialect};
use super::alarms;
use crate::store::encoding::{MemoryRow, fault_of, json_of, time_of, to_json, word_of};
use crate::store::{BearingJudged, Judged, Outgoing, Recall, StoreError, TraceStep};

pub(super) async fn recall(pool: &Pool, key: &BearingKey) -> Result<Recall, StoreError> {
    let mut connection = pool.acquire().await?;
    let rows = sqlx::query(
        "SELECT measured_at_ms, risk_level, fault_stage, fault_type FROM pdm_agent_memory
         WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
         ORDER BY measured_at_ms DESC, id DESC LIMIT $4",
    )
    .bind(key.site.as_str())
    .bind(key.equipment.as_str())
    .bind(key.bearing.as_str())
    .bind(i64::try_from(RECALLED).unwrap_or(i64::MAX))
    .fetch_all(&mut *connection)
    .await?;
    let recent = rows.iter().map(remembered_of).collect::<Result<Vec<Remembered>, StoreError>>()?;
    let state = sqlx::query(
        "SELECT state FROM bearings WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3",
    )
    .bind(key.site.as_str())
    .bind(key.equipment.as_str())
    .bind(key.bearing.as_str())
    .fetch_optional(&mut *connection)
    .await?;
    let state = match state {
        Some(row) => json_of::<BearingState>("a bearing's state", row.get(0))?,
        None => BearingState::default(),
    };
    let alarm = alarms::read(&mut connection, key).await?;
    Ok(Recall { memory: Memory { recent, state }, alarm })
}

fn remembered_of(row: &dialect::Row) -> Result<Remembered, StoreError> {
    Ok(Remembered {
        measured_at: time_of(row.get(0))?,
        risk: word_of("a risk", row.get(1))?,
        stage: u8::try_from(row.get::<i64, _>(2)).unwrap_or(0),
        fault: row.get::<Option<&str>, _>(3).map(fault_of).transpose()?,
    })
}

/// Writes judgements. What was judged before is left as it stands: whatever left because of it left
/// then.
pub(in crate::store) async fn save(
    connection: &mut Connection,
    judged: &[BearingJudged],
) -> Result<(), StoreError> {
    let all: Vec<(&BearingKey, &Judged)> = judged
        .iter()
        .flat_map(|bearing| bearing.judgements.iter().map(|judged| (&bearing.key, judged)))
        .collect();
    bulk::mark_judged(connection, &all).await?;
    let events: Vec<EventId> = all.iter().map(|(_, judged)| judged.diagnosis.event_id).collect();
    bulk::drop_checkpoints(connection, &events).await?;
    let rows = all
        .iter()
        .map(|(key, judged)| MemoryRow::of(key, judged))
        .collect::<Result<Vec<_>, StoreError>>()?;
    let first: HashSet<EventId> = bulk::remember(connection, &rows).await?;
    let is_first = |judged: &Judged| first.contains(&judged.diagnosis.event_id);
    let mut outgoing: Vec<(&Outgoing, Timestamp)> = Vec::with_capacity(all.len());
    let mut steps: Vec<(EventId, &TraceStep)> = Vec::with_capacity(all.len());
    for (key, judged) in all.iter().filter(|(_, judged)| is_first(judged)) {
        let at = judged.diagnosis.judged_at;
        outgoing.extend(judged.outgoing.iter().map(|row| (row, at)));
        steps.extend(judged.trace.iter().map(|step| (judged.diagnosis.event_id, step)));
        if let Some(announcement) = &judged.announcement {
            alarms::write(connection, key, announcement).await?;
            let at = announcement.notification.created_at;
            outgoing.extend(announcement.outgoing.iter().map(|row| (row, at)));
        }
    }
    bulk::insert_outbox(connection, &outgoing).await?;
    bulk::add_steps(connection, &steps).await?;
    for bearing in judged {
        if let Some(last) = bearing.judgements.last().filter(|last| is_first(last)) {
            stand(connection, bearing, &last.diagnosis).await?;
        }
    }
    Ok(())
}

/// Where a bearing stands after its last judgement.
async fn stand(
    connection: &mut Connection,
    bearing: &BearingJudged,
    last: &Diagnosis,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO bearings (site, equipment_id, bearing_id, risk_level, fault_stage, fault_type,
                               updated_at_ms, state)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (site, equipment_id, bearing_id) DO UPDATE
         SET risk_level = excluded.risk_level, fault_stage = excluded.fault_stage,
             fault_type = excluded.fault_type, updated_at_ms = excluded.updated_at_ms,
             state = excluded.state",
    )
    .bind(bearing.key.site.as_str())
    .bind(bearing.key.equipment.as_str())
    .bind(bearing.key.bearing.as_str())
    .bind(last.risk_level.as_str())
    .bind(i64::from(last.fault_stage))
    .bind(last.fault_type.map(Fault::as_str))
    .bind(last.judged_at.unix_ms())
    .bind(to_json("a bearing's state", &bearing.state)?)
    .execute(connection)
    .await?;
    Ok(())
}

pub(super) async fn diagnosis(
    pool: &Pool,
    event_id: EventId,
) -> Result<Option<Diagnosis>, StoreError> {
    sqlx::query("SELECT diagnosis FROM pdm_agent_memory WHERE event_id = $1")
        .bind(event_id.0)
        .fetch_optional(pool)
        .await?
        .map(|row| json_of("a diagnosis", row.get(0)))
        .transpose()
}
