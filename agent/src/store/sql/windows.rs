//! The windows of a bearing as pages and API show them.
//!
//! Of a stored event only the figures of a row are read; the rest of its text, spectra above all, is passed
//! over.

use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::time::Timestamp;
use pdm_web::plant::WindowRow;
use serde::Deserialize;

use super::SqlStore;
use crate::store::StoreError;
use crate::store::database::Row;
use crate::store::encoding::{fault_of, json_of, stage_of, word_of};

/// Parameters: site, machine, bearing, until, limit.
pub(super) const WINDOWS: &str = "SELECT e.payload, m.risk_level, m.fault_stage, m.fault_type
     FROM events e LEFT JOIN pdm_agent_memory m ON m.event_id = e.event_id
     WHERE e.site = $1 AND e.equipment_id = $2 AND e.bearing_id = $3 AND e.measured_at_ms <= $4
     ORDER BY e.measured_at_ms DESC, e.arrival DESC LIMIT $5";

/// What a row shows of an [`pdm_shared::event::Event`], by the same names.
#[derive(Debug, Deserialize)]
struct Shown {
    event_id: EventId,
    measured_at: Timestamp,
    operating: Operating,
    signal_quality: SignalQuality,
    time_domain: TimeDomain,
    anomaly: Anomaly,
    trend: Trend,
    rul: Rul,
}

#[derive(Debug, Deserialize)]
struct Operating {
    running: bool,
}

#[derive(Debug, Deserialize)]
struct SignalQuality {
    valid: bool,
}

#[derive(Debug, Deserialize)]
struct TimeDomain {
    rms_g: Option<f64>,
    velocity_rms_mm_s: Option<f64>,
    kurtosis: Option<f64>,
    envelope_rms_g: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Anomaly {
    score: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Trend {
    feature: String,
    baseline_level: Option<f64>,
    baseline_limit: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Rul {
    hours: Option<f64>,
    ci_low_hours: Option<f64>,
    ci_high_hours: Option<f64>,
}

impl SqlStore {
    /// The last windows of a bearing measured at or before `until`, oldest first.
    pub(super) async fn windows_of(
        &self,
        key: &BearingKey,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<WindowRow>, StoreError> {
        let mut reader = self.read().await?;
        let query = reader.query(WINDOWS).bind_key(key);
        let rows = query.bind(until.unix_ms()).bind(i64::from(limit)).fetch_all().await?;
        rows.iter().rev().map(window_of).collect()
    }
}

fn window_of(row: &Row) -> Result<WindowRow, StoreError> {
    let shown: Shown = json_of("an event", row.get(0)?)?;
    let risk = row.get::<Option<&str>>(1)?.map(|risk| word_of("a risk", risk)).transpose()?;
    Ok(WindowRow {
        event_id: shown.event_id,
        measured_at: shown.measured_at,
        running: shown.operating.running,
        valid: shown.signal_quality.valid,
        rms_g: shown.time_domain.rms_g,
        velocity_rms_mm_s: shown.time_domain.velocity_rms_mm_s,
        kurtosis: shown.time_domain.kurtosis,
        envelope_rms_g: shown.time_domain.envelope_rms_g,
        anomaly_score: shown.anomaly.score,
        baseline_level: shown.trend.baseline_level,
        baseline_limit: shown.trend.baseline_limit,
        feature: shown.trend.feature,
        risk_level: risk,
        fault_stage: row.get::<Option<i64>>(2)?.map(stage_of),
        fault_type: row.get::<Option<&str>>(3)?.map(fault_of).transpose()?,
        rul_hours: shown.rul.hours,
        rul_low_hours: shown.rul.ci_low_hours,
        rul_high_hours: shown.rul.ci_high_hours,
    })
}
