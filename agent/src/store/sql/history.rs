//! What was measured on a bearing, for those who look back.

use dialect::{Pool, Row};
use pdm_expert::case::Remembered;
use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::time::Timestamp;
use sqlx::Row as _;

use super::super::dialect;
use crate::store::encoding::{fault_of, json_of, word_of};
use crate::store::{PastEvent, StoreError};

pub(super) async fn event(pool: &Pool, event_id: EventId) -> Result<Option<Event>, StoreError> {
    sqlx::query("SELECT payload FROM events WHERE event_id = $1")
        .bind(event_id.0)
        .fetch_optional(pool)
        .await?
        .map(|row| json_of("an event", row.get(0)))
        .transpose()
}

pub(super) async fn history(
    pool: &Pool,
    key: &BearingKey,
    until: Timestamp,
    limit: u32,
) -> Result<Vec<PastEvent>, StoreError> {
    let rows = sqlx::query(dialect::HISTORY)
        .bind(key.site.as_str())
        .bind(key.equipment.as_str())
        .bind(key.bearing.as_str())
        .bind(until.unix_ms())
        .bind(i64::from(limit))
        .fetch_all(pool)
        .await?;
    rows.iter().rev().map(past).collect()
}

fn past(row: &Row) -> Result<PastEvent, StoreError> {
    let event = Event { spectra: None, ..json_of("an event", row.get(0))? };
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
