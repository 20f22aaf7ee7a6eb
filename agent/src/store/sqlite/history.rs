//! What was measured on a bearing, for those who look back.

use pdm_expert::case::Remembered;
use pdm_shared::clock::Timestamp;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqlitePool};

use super::{fault_of, json_of, word_of};
use crate::progress::BearingKey;
use crate::store::{PastEvent, StoreError};

pub(super) async fn event(
    pool: &SqlitePool,
    event_id: EventId,
) -> Result<Option<Event>, StoreError> {
    sqlx::query("SELECT payload FROM events WHERE event_id = ?")
        .bind(event_id.0.as_bytes().as_slice())
        .fetch_optional(pool)
        .await?
        .map(|row| json_of("an event", row.get(0)))
        .transpose()
}

pub(super) async fn history(
    pool: &SqlitePool,
    key: &BearingKey,
    until: Timestamp,
    limit: u32,
) -> Result<Vec<PastEvent>, StoreError> {
    let rows = sqlx::query(
        "SELECT json_remove(e.payload, '$.spectra'), m.risk_level, m.fault_stage, m.fault_type
         FROM events e LEFT JOIN pdm_agent_memory m ON m.event_id = e.event_id
         WHERE e.site = ? AND e.equipment_id = ? AND e.bearing_id = ? AND e.measured_at_ms <= ?
         ORDER BY e.measured_at_ms DESC, e.arrival DESC LIMIT ?",
    )
    .bind(key.site.as_str())
    .bind(key.equipment.as_str())
    .bind(key.bearing.as_str())
    .bind(until.unix_ms())
    .bind(limit)
    .fetch_all(pool)
    .await?;
    rows.iter().rev().map(past).collect()
}

fn past(row: &SqliteRow) -> Result<PastEvent, StoreError> {
    let event: Event = json_of("an event", row.get(0))?;
    let judged = match row.get::<Option<&str>, _>(1) {
        None => None,
        Some(risk) => Some(Remembered {
            measured_at: event.measured_at,
            risk: word_of("a risk", risk)?,
            stage: u8::try_from(row.get::<i64, _>(2)).unwrap_or(0),
            fault: row.get::<Option<&str>, _>(3).map(fault_of).transpose()?,
        }),
    };
    Ok(PastEvent { event, judged })
}
