//! Reads the windows of a bearing as pages and API show them: the values of each event, and the
//! verdict of its judgement, both out of indexes.

use std::collections::HashMap;
use std::sync::LazyLock;

use pdm_shared::event::Event;
use pdm_shared::fault::Fault;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_web::plant::WindowRow;

use crate::database::{Connection, Identities, Row, Spelt};
use crate::encoding::{fault_of, json_of, readable, stage_of, time_of, word_of};
use crate::shown::{self, Shown};
use crate::{PageStore, StoreError};

/// Parameters: site, machine, bearing, until, limit.
pub(super) const WINDOWS: &str = "SELECT event_id, measured_at_ms, shown FROM events
     WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3 AND measured_at_ms <= $4
     ORDER BY measured_at_ms DESC, arrival DESC LIMIT $5";

/// Parameters: site, machine, bearing, from, until.
pub(super) const VERDICTS: &str = "SELECT event_id, risk_level, fault_stage, fault_type
     FROM pdm_agent_memory
     WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
       AND measured_at_ms >= $4 AND measured_at_ms <= $5";

/// Parameters: site, machine, bearing, from, until. Windows that came late: their judgement says
/// how the bearing stood when they came, which it does not say of their own time. One of a clock
/// that was ahead is judged as it is.
pub(super) const LATE: &str = "SELECT event_id FROM pdm_agent_memory
     WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3
       AND measured_at_ms >= $4 AND measured_at_ms <= $5 AND late AND measured_at_ms <= \
    judged_at_ms";

/// Parameter: events.
static TEXTS: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        format!(
            "SELECT event_id, payload FROM events WHERE event_id {}",
            dialect.in_identities("$1")
        )
    })
});

/// A window before its verdict is known.
struct Window {
    event_id: EventId,
    measured_at: Timestamp,
    shown: Option<Shown>,
}

impl PageStore {
    /// The last windows of a bearing measured at or before `until`, oldest first.
    pub(super) async fn windows_of(
        &self,
        key: &BearingKey,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<WindowRow>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(WINDOWS).bind_key(key);
        let rows = query.bind(until.unix_ms()).bind(i64::from(limit)).fetch_all().await?;
        let windows: Vec<Window> = rows.iter().rev().map(window_of).filter_map(readable).collect();
        let (Some(first), Some(last)) = (windows.first(), windows.last()) else {
            return Ok(Vec::new());
        };
        let query = reader.query(VERDICTS).bind_key(key);
        let query = query.bind(first.measured_at.unix_ms()).bind(last.measured_at.unix_ms());
        let verdicts = query.fetch_all().await?;
        let verdicts = verdicts.iter().map(|row| Ok((EventId(row.get(0)?), verdict_of(row)?)));
        let mut verdicts: HashMap<EventId, Verdict> = verdicts.filter_map(readable).collect();
        let query = reader.query(LATE).bind_key(key);
        let query = query.bind(first.measured_at.unix_ms()).bind(last.measured_at.unix_ms());
        for row in &query.fetch_all().await? {
            verdicts.remove(&EventId(row.get(0)?));
        }
        let mut texts = of_texts(&mut reader.connection(), &windows).await?;
        let rows = windows.into_iter().filter_map(|window| {
            let shown = window.shown.or_else(|| texts.remove(&window.event_id))?;
            let verdict = verdicts.remove(&window.event_id);
            Some(row_of(window.event_id, window.measured_at, shown, verdict))
        });
        Ok(rows.collect())
    }
}

/// Reads the shown values of windows whose events have no column of them: an earlier version stored
/// them.
async fn of_texts(
    connection: &mut Connection<'_>,
    windows: &[Window],
) -> Result<HashMap<EventId, Shown>, StoreError> {
    let before = windows.iter().filter(|window| window.shown.is_none());
    let before: Vec<EventId> = before.map(|window| window.event_id).collect();
    if before.is_empty() {
        return Ok(HashMap::new());
    }
    let events: Identities = before.iter().collect();
    let rows = connection.query(&TEXTS).bind(events).fetch_all().await?;
    let shown = rows.iter().map(|row| {
        let event: Event = json_of("an event", row.get(1)?)?;
        Ok((EventId(row.get(0)?), Shown::from(&event)))
    });
    Ok(shown.filter_map(readable).collect())
}

/// A window whose column cannot be read is shown by the text of its event.
fn window_of(row: &Row) -> Result<Window, StoreError> {
    let column = row.get::<Option<&str>>(2)?;
    Ok(Window {
        event_id: EventId(row.get(0)?),
        measured_at: time_of(row.get(1)?)?,
        shown: column.map(shown::read_column).and_then(readable),
    })
}

/// The verdict beside a window.
struct Verdict {
    risk_level: RiskLevel,
    fault_stage: u8,
    fault_type: Option<Fault>,
}

fn verdict_of(row: &Row) -> Result<Verdict, StoreError> {
    Ok(Verdict {
        risk_level: word_of("a risk", row.get(1)?)?,
        fault_stage: stage_of(row.get(2)?),
        fault_type: row.get::<Option<&str>>(3)?.map(fault_of).transpose()?,
    })
}

fn row_of(
    event_id: EventId,
    measured_at: Timestamp,
    shown: Shown,
    verdict: Option<Verdict>,
) -> WindowRow {
    WindowRow {
        event_id,
        measured_at,
        running: shown.running,
        valid: shown.valid,
        rms_g: shown.rms_g,
        velocity_rms_mm_s: shown.velocity_rms_mm_s,
        low_band_rms_g: shown.low_band_rms_g,
        kurtosis: shown.kurtosis,
        envelope_rms_g: shown.envelope_rms_g,
        anomaly_score: shown.anomaly_score,
        baseline_level: shown.baseline_level,
        baseline_limit: shown.baseline_limit,
        feature: shown.feature,
        risk_level: verdict.as_ref().map(|verdict| verdict.risk_level),
        fault_stage: verdict.as_ref().map(|verdict| verdict.fault_stage),
        fault_type: verdict.and_then(|verdict| verdict.fault_type),
        rul_hours: shown.rul_hours,
        rul_low_hours: shown.rul_low_hours,
        rul_high_hours: shown.rul_high_hours,
    }
}
