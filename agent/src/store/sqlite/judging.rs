//! What waits for a judgement, what is recalled for it, and writing it.

use pdm_expert::case::{BearingState, Memory, RECALLED, Remembered};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::fault::Fault;
use pdm_shared::id::EventId;
use sqlx::{Row, SqliteConnection, SqlitePool};

use super::{alarms, fault_of, json_of, outbox, runs, time_of, to_json, to_word, word_of};
use crate::progress::BearingKey;
use crate::store::{BearingJudged, Judged, Recall, StoreError, Unjudged};

pub(super) async fn unjudged(pool: &SqlitePool, limit: u32) -> Result<Vec<Unjudged>, StoreError> {
    let rows = sqlx::query(
        "SELECT arrival, payload, node, state, updated_at_ms
         FROM events LEFT JOIN checkpoints USING (event_id)
         WHERE judged = 0 ORDER BY arrival LIMIT ?",
    )
    .bind(limit)
    .fetch_all(pool)
    .await?;
    rows.iter()
        .map(|row| {
            Ok(Unjudged {
                arrival: row.get("arrival"),
                event: json_of("an event", row.get("payload"))?,
                checkpoint: runs::checkpoint_of(row)?,
            })
        })
        .collect()
}

pub(super) async fn recall(pool: &SqlitePool, key: &BearingKey) -> Result<Recall, StoreError> {
    let mut connection = pool.acquire().await?;
    let rows = sqlx::query(
        "SELECT measured_at_ms, risk_level, fault_stage, fault_type FROM pdm_agent_memory
         WHERE site = ? AND equipment_id = ? AND bearing_id = ?
         ORDER BY measured_at_ms DESC, id DESC LIMIT ?",
    )
    .bind(key.site.as_str())
    .bind(key.equipment.as_str())
    .bind(key.bearing.as_str())
    .bind(i64::try_from(RECALLED).unwrap_or(i64::MAX))
    .fetch_all(&mut *connection)
    .await?;
    let recent = rows
        .iter()
        .map(|row| {
            Ok(Remembered {
                measured_at: time_of(row.get(0))?,
                risk: word_of("a risk", row.get(1))?,
                stage: u8::try_from(row.get::<i64, _>(2)).unwrap_or(0),
                fault: row.get::<Option<&str>, _>(3).map(fault_of).transpose()?,
            })
        })
        .collect::<Result<_, StoreError>>()?;
    let state = sqlx::query(
        "SELECT state FROM bearings WHERE site = ? AND equipment_id = ? AND bearing_id = ?",
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

pub(super) async fn save(pool: &SqlitePool, judged: &[BearingJudged]) -> Result<(), StoreError> {
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    for bearing in judged {
        for judgement in &bearing.judgements {
            save_one(&mut transaction, &bearing.key, judgement).await?;
        }
        save_state(&mut transaction, bearing).await?;
    }
    transaction.commit().await?;
    Ok(())
}

async fn save_one(
    connection: &mut SqliteConnection,
    key: &BearingKey,
    judged: &Judged,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE events SET judged = 1, late = ? WHERE arrival = ?")
        .bind(judged.late)
        .bind(judged.arrival)
        .execute(&mut *connection)
        .await?;
    let event_id = judged.diagnosis.event_id;
    runs::drop_checkpoint(connection, event_id).await?;
    if !remember(connection, key, judged).await? {
        // judged before: whatever left because of it left then
        return Ok(());
    }
    runs::add_steps(connection, event_id, &judged.trace).await?;
    for row in &judged.outgoing {
        outbox::insert(connection, row, judged.diagnosis.judged_at).await?;
    }
    if let Some(announcement) = &judged.announcement {
        alarms::write(connection, key, announcement).await?;
    }
    Ok(())
}

/// True if the judgement is the event's first.
async fn remember(
    connection: &mut SqliteConnection,
    key: &BearingKey,
    judged: &Judged,
) -> Result<bool, StoreError> {
    let diagnosis = &judged.diagnosis;
    let done = sqlx::query(
        "INSERT INTO pdm_agent_memory
             (event_id, site, equipment_id, bearing_id, measured_at_ms, judged_at_ms, late,
              fault_type, fault_stage, risk_level, degradation_speed, rul_hours, rul_assessment,
              recommendation_ko, recommendation_en, uncertainty, tool_use, follow_up_actions,
              diagnosis)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (event_id) DO NOTHING",
    )
    .bind(diagnosis.event_id.0.as_bytes().as_slice())
    .bind(key.site.as_str())
    .bind(key.equipment.as_str())
    .bind(key.bearing.as_str())
    .bind(judged.measured_at.unix_ms())
    .bind(diagnosis.judged_at.unix_ms())
    .bind(judged.late)
    .bind(diagnosis.fault_type.map(Fault::as_str))
    .bind(i64::from(diagnosis.fault_stage))
    .bind(diagnosis.risk_level.as_str())
    .bind(to_word("a speed", &diagnosis.degradation.speed)?)
    .bind(diagnosis.rul_assessment.hours)
    .bind(to_json("a remaining life", &diagnosis.rul_assessment)?)
    .bind(&diagnosis.recommendation.ko)
    .bind(&diagnosis.recommendation.en)
    .bind(to_json("an uncertainty", &diagnosis.uncertainty)?)
    .bind(to_json("the tools", &diagnosis.tools)?)
    .bind(to_json("follow-up actions", &judged.follow_up)?)
    .bind(to_json("a diagnosis", diagnosis)?)
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

async fn save_state(
    connection: &mut SqliteConnection,
    bearing: &BearingJudged,
) -> Result<(), StoreError> {
    let Some(last) = bearing.judgements.last() else { return Ok(()) };
    sqlx::query(
        "INSERT INTO bearings (site, equipment_id, bearing_id, risk_level, fault_stage, fault_type,
                               updated_at_ms, state)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (site, equipment_id, bearing_id) DO UPDATE
         SET risk_level = excluded.risk_level, fault_stage = excluded.fault_stage,
             fault_type = excluded.fault_type, updated_at_ms = excluded.updated_at_ms,
             state = excluded.state",
    )
    .bind(bearing.key.site.as_str())
    .bind(bearing.key.equipment.as_str())
    .bind(bearing.key.bearing.as_str())
    .bind(last.diagnosis.risk_level.as_str())
    .bind(i64::from(last.diagnosis.fault_stage))
    .bind(last.diagnosis.fault_type.map(Fault::as_str))
    .bind(last.diagnosis.judged_at.unix_ms())
    .bind(to_json("a bearing's state", &bearing.state)?)
    .execute(connection)
    .await?;
    Ok(())
}

pub(super) async fn diagnosis(
    pool: &SqlitePool,
    event_id: EventId,
) -> Result<Option<Diagnosis>, StoreError> {
    sqlx::query("SELECT diagnosis FROM pdm_agent_memory WHERE event_id = ?")
        .bind(event_id.0.as_bytes().as_slice())
        .fetch_optional(pool)
        .await?
        .map(|row| json_of("a diagnosis", row.get(0)))
        .transpose()
}
