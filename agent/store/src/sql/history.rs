//! Looking back: events, judgements, the windows of a bearing, the steps of a run.

use std::sync::LazyLock;

use pdm_expert::case::{PastEvent, Remembered};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EquipmentId, EventId, SiteId};
use pdm_shared::time::Timestamp;
use pdm_shared::trace::TraceStep;
use uuid::Uuid;

use super::Database;
use crate::database::{Dialect, Row, Spelt};
use crate::encoding::{count_of, fault_of, json_of, readable, stage_of, time_of, word_of};
use crate::{Delivery, StoreError};

/// Parameters: site, machine, bearing, until, limit. Spectra are nine tenths of a payload: SQLite
/// leaves them out of the answer. PostgreSQL sends the payload whole, because its JSON functions
/// refuse texts that are valid JSON (the escape \u0000).
static HISTORY: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let payload = match dialect {
            Dialect::Sqlite => "json_remove(e.payload, '$.spectra')",
            Dialect::Postgres => "e.payload",
        };
        format!(
            "SELECT {payload}, m.risk_level, m.fault_stage, m.fault_type
             FROM events e LEFT JOIN pdm_agent_memory m ON m.event_id = e.event_id
             WHERE e.site = $1 AND e.equipment_id = $2 AND e.bearing_id = $3
               AND e.measured_at_ms <= $4
             ORDER BY e.measured_at_ms DESC, e.arrival DESC LIMIT $5"
        )
    })
});

/// Parameters: site, machine, after, limit.
static ARRIVALS: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let payload = match dialect {
            Dialect::Sqlite => "json_remove(payload, '$.spectra')",
            Dialect::Postgres => "payload",
        };
        format!(
            "SELECT arrival, {payload} FROM events
             WHERE site = $1 AND equipment_id = $2 AND arrival > $3 ORDER BY arrival LIMIT $4"
        )
    })
});

/// Looking back at events and judgements; used by documents, pages and the command line.
#[derive(Debug, Clone)]
pub struct HistoryStore {
    pub(crate) database: Database,
}

impl HistoryStore {
    /// A stored event.
    pub async fn event(&self, event_id: EventId) -> Result<Option<Event>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query("SELECT payload FROM events WHERE event_id = $1");
        let row = query.bind(event_id.0).fetch_optional().await?;
        row.map(|row| json_of("an event", row.get(0)?)).transpose()
    }

    /// The stored judgement of an event.
    pub async fn diagnosis(&self, event_id: EventId) -> Result<Option<Diagnosis>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query("SELECT diagnosis FROM pdm_agent_memory WHERE event_id = $1");
        let row = query.bind(event_id.0).fetch_optional().await?;
        row.map(|row| json_of("a diagnosis", row.get(0)?)).transpose()
    }

    /// The last `limit` windows of a bearing that were measured at or before `until`, oldest first,
    /// without their spectra.
    pub async fn history(
        &self,
        key: &BearingKey,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<PastEvent>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(&HISTORY).bind_key(key);
        let rows = query.bind(until.unix_ms()).bind(i64::from(limit)).fetch_all().await?;
        Ok(rows.iter().rev().map(past_event_of).filter_map(readable).collect())
    }

    /// The bearings of which events are kept.
    pub async fn measured(&self) -> Result<Vec<BearingKey>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT DISTINCT site, equipment_id, bearing_id FROM events
             ORDER BY site, equipment_id, bearing_id",
        );
        query.fetch_all().await?.iter().map(Row::key).collect()
    }

    /// The next events of a machine in the order of their arrival, with their places in it, without
    /// their spectra; at most `limit` behind the place `after`.
    pub async fn arrivals(
        &self,
        site: &SiteId,
        equipment: &EquipmentId,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, Event)>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(&ARRIVALS).bind(site.as_str()).bind(equipment.as_str());
        let rows = query.bind(after).bind(i64::from(limit)).fetch_all().await?;
        let event_of = |row: &Row| {
            Ok((row.get(0)?, Event { spectra: None, ..json_of("an event", row.get(1)?)? }))
        };
        Ok(rows.iter().map(event_of).filter_map(readable).collect())
    }

    /// The steps of an event's run, in their order.
    pub async fn trace(&self, event_id: EventId) -> Result<Vec<TraceStep>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT number, node, at_ms, detail FROM trace_steps WHERE event_id = $1
             ORDER BY number",
        );
        let rows = query.bind(event_id.0).fetch_all().await?;
        Ok(rows.iter().map(step_of).filter_map(readable).collect())
    }

    /// Returns the state of a notification on each lane.
    pub async fn deliveries(&self, notification_id: Uuid) -> Result<Vec<Delivery>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT lane, state, attempts, due_at_ms, settled_at_ms, last_error FROM outbox
             WHERE notification_id = $1 ORDER BY id",
        );
        query.bind(notification_id).fetch_all().await?.iter().map(delivery_of).collect()
    }
}

fn delivery_of(row: &Row) -> Result<Delivery, StoreError> {
    Ok(Delivery {
        lane: row.get(0)?,
        state: row.get(1)?,
        attempts: count_of(row.get(2)?),
        due_at: time_of(row.get(3)?)?,
        settled_at: row.get::<Option<i64>>(4)?.map(time_of).transpose()?,
        error: row.get(5)?,
    })
}

fn past_event_of(row: &Row) -> Result<PastEvent, StoreError> {
    let event = Event { spectra: None, ..json_of("an event", row.get(0)?)? };
    let judged = match row.get::<Option<&str>>(1)? {
        None => None,
        Some(risk) => Some(Remembered::verdict(
            event.measured_at,
            word_of("a risk", risk)?,
            stage_of(row.get(2)?),
            row.get::<Option<&str>>(3)?.map(fault_of).transpose()?,
        )),
    };
    Ok(PastEvent { event, judged })
}

fn step_of(row: &Row) -> Result<TraceStep, StoreError> {
    Ok(TraceStep {
        number: count_of(row.get("number")?),
        node: row.get("node")?,
        at: time_of(row.get("at_ms")?)?,
        detail: json_of("a step", row.get("detail")?)?,
    })
}
