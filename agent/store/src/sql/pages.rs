//! Reads for the pages: every bearing with its alarm, the last spectra, the messages to staff.

use std::sync::LazyLock;

use pdm_shared::delivery::Notification;
use pdm_shared::episode::AcknowledgementState;
use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::time::Timestamp;
use pdm_web::plant::{AlarmRow, BearingRow, Blind, EpisodeRow, WindowRow};
use uuid::Uuid;

use super::Database;
use super::episodes::AlarmColumns;
use crate::StoreError;
use crate::database::{Dialect, Row, Spelt};
use crate::encoding::{fault_of, json_of, readable, stage_of, time_of, word_of};
use crate::shown::{self, Shown};

/// Bearings with the judgement of their newest window and their alarm, of those that a condition
/// names.
macro_rules! bearings {
    ($condition:literal) => {
        concat!(
            "SELECT b.site, b.equipment_id, b.bearing_id, b.risk_level, b.fault_stage, b.fault_type,
                    b.updated_at_ms, b.last_event_id, b.last_measured_at_ms, b.last_rul_hours,
                    a.risk_level AS told_level, a.since_ms, a.acknowledgement,
                    a.suppression, a.state AS episode_state, a.episode_id, a.notification,
                    e.shown AS last_shown,
                    (SELECT n.measured_at_ms FROM events n
                     WHERE n.site = b.site AND n.equipment_id = b.equipment_id
                       AND n.bearing_id = b.bearing_id
                       AND n.measured_at_ms <= b.last_measured_at_ms
                     ORDER BY n.measured_at_ms DESC LIMIT 1 OFFSET 5) AS sixth_measured_at_ms
             FROM bearings b
             LEFT JOIN events e ON e.event_id = b.last_event_id
             LEFT JOIN episodes a ON a.site = b.site AND a.equipment_id = b.equipment_id
                               AND a.bearing_id = b.bearing_id AND a.closed_at_ms IS NULL ",
            $condition
        )
    };
}

const FLEET: &str = bearings!("");
/// Parameter: machine.
const MACHINE: &str = bearings!("WHERE b.equipment_id = $1");
/// Parameters: site, machine, bearing.
const ONE: &str = bearings!("WHERE b.site = $1 AND b.equipment_id = $2 AND b.bearing_id = $3");

/// Parameters: site, machine, bearing, until, limit. An event of the edge has no spaces between its
/// fields; the condition is that of the index `events_with_spectra`.
static WITH_SPECTRA: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let place = match dialect {
            Dialect::Sqlite => "instr",
            Dialect::Postgres => "strpos",
        };
        format!(
            "SELECT payload FROM events
             WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3 AND measured_at_ms <= $4
               AND {place}(payload, '\"spectra\":{{') > 0
             ORDER BY measured_at_ms DESC LIMIT $5"
        )
    })
});

/// Selects the same from the oldest on. Parameters: site, machine, bearing, limit.
static FIRST_WITH_SPECTRA: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let place = match dialect {
            Dialect::Sqlite => "instr",
            Dialect::Postgres => "strpos",
        };
        format!(
            "SELECT payload FROM events
             WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
               AND {place}(payload, '\"spectra\":{{') > 0
             ORDER BY measured_at_ms LIMIT $4"
        )
    })
});

/// Reads the data of the pages and the API; used by the HTTP server.
#[derive(Debug, Clone)]
pub struct PageStore {
    pub(crate) database: Database,
}

impl PageStore {
    /// Every bearing that was ever judged, worst first: risk, then stage, then name.
    pub async fn fleet(&self) -> Result<Vec<BearingRow>, StoreError> {
        let mut reader = self.database.read().await?;
        Ok(worst_first(&reader.query(FLEET).fetch_all().await?))
    }

    /// The bearings of the machines of this name, in the same order.
    pub async fn machine(&self, equipment: &str) -> Result<Vec<BearingRow>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(MACHINE);
        Ok(worst_first(&query.bind(equipment.to_owned()).fetch_all().await?))
    }

    /// One bearing.
    pub async fn standing(&self, key: &BearingKey) -> Result<Option<BearingRow>, StoreError> {
        let mut reader = self.database.read().await?;
        let row = reader.query(ONE).bind_key(key).fetch_optional().await?;
        row.as_ref().map(bearing_of).transpose()
    }

    /// The last `limit` windows of a bearing measured at or before `until`, oldest first.
    pub async fn windows(
        &self,
        key: &BearingKey,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<WindowRow>, StoreError> {
        self.windows_of(key, until, limit).await
    }

    /// The bearing's last events with spectra that were measured at or before `until`, newest
    /// first.
    pub async fn last_spectra(
        &self,
        key: &BearingKey,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(&WITH_SPECTRA).bind_key(key);
        let rows = query.bind(until.unix_ms()).bind(i64::from(limit)).fetch_all().await?;
        let events = rows.iter().map(|row| json_of("an event", row.get(0)?));
        Ok(events.filter_map(readable).collect())
    }

    /// The bearing's first `limit` events with spectra that are kept, oldest first.
    pub async fn first_spectra(
        &self,
        key: &BearingKey,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(&FIRST_WITH_SPECTRA).bind_key(key);
        let rows = query.bind(i64::from(limit)).fetch_all().await?;
        let events = rows.iter().map(|row| json_of("an event", row.get(0)?));
        Ok(events.filter_map(readable).collect())
    }

    /// The last `limit` notifications made before `before`, newest first; of one bearing, or of
    /// all.
    pub async fn notifications(
        &self,
        of: Option<&BearingKey>,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<Notification>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = if let Some(key) = of {
            let query = reader.query(
                "SELECT notification FROM notifications
                 WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3 AND created_at_ms < $4
                 ORDER BY created_at_ms DESC LIMIT $5",
            );
            query.bind_key(key)
        } else {
            reader.query(
                "SELECT notification FROM notifications WHERE created_at_ms < $1
                 ORDER BY created_at_ms DESC LIMIT $2",
            )
        };
        let rows = query.bind(before.unix_ms()).bind(i64::from(limit)).fetch_all().await?;
        let told = rows.iter().map(|row| json_of("a notification", row.get(0)?));
        Ok(told.filter_map(readable).collect())
    }
}

fn worst_first(rows: &[Row]) -> Vec<BearingRow> {
    let mut fleet: Vec<BearingRow> = rows.iter().map(bearing_of).filter_map(readable).collect();
    fleet.sort_by(|a, b| {
        let worse = (b.risk_level, b.fault_stage).cmp(&(a.risk_level, a.fault_stage));
        worse.then_with(|| a.key.cmp(&b.key))
    });
    fleet
}

fn bearing_of(row: &Row) -> Result<BearingRow, StoreError> {
    let time = |column: &str| row.get::<Option<i64>>(column)?.map(time_of).transpose();
    // a window of an earlier version does not say
    let column = row.get::<Option<&str>>("last_shown")?;
    let shown = column.map(shown::read_column).and_then(readable);
    let sixth = time("sixth_measured_at_ms")?;
    let measured_at = time("last_measured_at_ms")?;
    Ok(BearingRow {
        key: row.key()?,
        risk_level: word_of("a risk", row.get("risk_level")?)?,
        fault_stage: stage_of(row.get("fault_stage")?),
        fault_type: row.get::<Option<&str>>("fault_type")?.map(fault_of).transpose()?,
        judged_at: time_of(row.get("updated_at_ms")?)?,
        event_id: row.get::<Option<Uuid>>("last_event_id")?.map(EventId),
        measured_at,
        beat_s: measured_at.zip(sixth).map(|(last, sixth)| last.seconds_since(sixth) / 5.0),
        rul_hours: row.get("last_rul_hours")?,
        rul_low_hours: shown.as_ref().and_then(|shown| shown.rul_low_hours),
        rul_median_hours: shown.as_ref().and_then(|shown| shown.rul_hours),
        rul_high_hours: shown.as_ref().and_then(|shown| shown.rul_high_hours),
        blind: shown.as_ref().and_then(blind_of),
        // the bearing is shown even if what stands of its alarm cannot be read
        alarm: readable(alarm_of(row)).flatten(),
        episode: readable(episode_of(row)).flatten(),
    })
}

/// Returns why a window is no evidence about the bearing.
const fn blind_of(shown: &Shown) -> Option<Blind> {
    match (shown.valid, shown.running) {
        (_, false) => Some(Blind::Standing),
        (false, true) => Some(Blind::Sensor),
        (true, true) => None,
    }
}

fn alarm_of(row: &Row) -> Result<Option<AlarmRow>, StoreError> {
    let Some(AlarmColumns { risk, notification }) = AlarmColumns::of(row, "told_level")? else {
        return Ok(None);
    };
    let since = row.get::<Option<i64>>("since_ms")?.filter(|since| *since > 0);
    let (at, by) = match json_of("an acknowledgement", row.get("acknowledgement")?)? {
        AcknowledgementState::Acknowledged { at, by, .. } => (Some(at), Some(by)),
        AcknowledgementState::Unacknowledged => (None, None),
    };
    Ok(Some(AlarmRow {
        notification_id: notification.notification_id,
        risk_level: risk,
        // alarms of an earlier version do not say when they began
        since: since.map(time_of).transpose()?.unwrap_or(notification.created_at),
        title: notification.title,
        acknowledged_at: at,
        acknowledged_by: by,
    }))
}

fn episode_of(row: &Row) -> Result<Option<EpisodeRow>, StoreError> {
    let Some(id) = row.get::<Option<Uuid>>("episode_id")? else { return Ok(None) };
    Ok(Some(EpisodeRow {
        episode_id: id,
        state: json_of("a state", &format!("\"{}\"", row.get::<&str>("episode_state")?))?,
        suppression: json_of("a suppression", row.get("suppression")?)?,
    }))
}

#[cfg(test)]
mod tests;
