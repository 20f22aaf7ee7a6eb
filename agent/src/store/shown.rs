//! What a row of a bearing's windows shows of its event. It stands beside the event in a column of its own, which
//! an index holds too, so that a list of windows reads neither events nor spectra.
//!
//! Invariant: what is read from the column is what would be read from the event.

use pdm_shared::event::Event;
use serde::{Deserialize, Serialize};

/// Most bytes of the column: PostgreSQL refuses an entry of an index above a third of its page (2,704 bytes), names
/// included. A longer one is left out, and the event's text is read. Usual ones have 300.
const MAX_BYTES: usize = 1000;

/// The figures of a row, by the names of [`pdm_web::plant::WindowRow`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Shown {
    pub(super) running: bool,
    pub(super) valid: bool,
    pub(super) feature: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rms_g: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) velocity_rms_mm_s: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) kurtosis: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) envelope_rms_g: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) anomaly_score: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) baseline_level: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) baseline_limit: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rul_hours: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rul_low_hours: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rul_high_hours: Option<f64>,
}

impl From<&Event> for Shown {
    fn from(event: &Event) -> Self {
        let (levels, life) = (&event.time_domain, &event.rul);
        Self {
            running: event.operating.running,
            valid: event.signal_quality.valid,
            feature: event.trend.feature.clone(),
            rms_g: levels.rms_g,
            velocity_rms_mm_s: levels.velocity_rms_mm_s,
            kurtosis: levels.kurtosis,
            envelope_rms_g: levels.envelope_rms_g,
            anomaly_score: event.anomaly.score,
            baseline_level: event.trend.baseline_level,
            baseline_limit: event.trend.baseline_limit,
            rul_hours: life.hours,
            rul_low_hours: life.ci_low_hours,
            rul_high_hours: life.ci_high_hours,
        }
    }
}

/// The column of an event; none where it would be too long for the index.
pub(super) fn column_of(event: &Event) -> Option<String> {
    let text = serde_json::to_string(&Shown::from(event)).ok()?;
    (text.len() <= MAX_BYTES).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_tells_what_the_event_tells_or_is_left_out() {
        let text = include_str!("../../../config/examples/event.json");
        let mut event: Event = serde_json::from_str(text).expect("event");
        let column = column_of(&event).expect("short enough");
        assert_eq!(serde_json::from_str::<Shown>(&column).expect("read"), Shown::from(&event));
        event.trend.feature = "x".repeat(MAX_BYTES);
        assert_eq!(column_of(&event), None);
    }
}
