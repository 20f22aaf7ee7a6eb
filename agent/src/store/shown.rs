//! What a row of a bearing's windows shows of its event. It stands beside the event in a column of its own, which
//! an index holds too, so that a list of windows reads neither events nor spectra. The column is a JSON list
//! without names: the fewer pages the windows of a bearing fill, the fewer are read.
//!
//! Invariant: what is read from the column is what would be read from the event.

use pdm_shared::event::Event;

use super::StoreError;
use super::encoding::json_of;

/// Most bytes of the column: PostgreSQL refuses an entry of an index above a third of its page (2,704 bytes), names
/// included. A longer one is left out, and the event's text is read. Usual ones have 100 to 250.
const MAX_BYTES: usize = 1000;

/// The column: running, valid, feature, figures.
type Column = (bool, bool, String, [Option<f64>; 10]);

/// The figures of a row, by the names of [`pdm_web::plant::WindowRow`].
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shown {
    pub(super) running: bool,
    pub(super) valid: bool,
    pub(super) feature: String,
    pub(super) rms_g: Option<f64>,
    pub(super) velocity_rms_mm_s: Option<f64>,
    pub(super) kurtosis: Option<f64>,
    pub(super) envelope_rms_g: Option<f64>,
    pub(super) anomaly_score: Option<f64>,
    pub(super) baseline_level: Option<f64>,
    pub(super) baseline_limit: Option<f64>,
    pub(super) rul_hours: Option<f64>,
    pub(super) rul_low_hours: Option<f64>,
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
    let shown = Shown::from(event);
    let figures = [
        shown.rms_g,
        shown.velocity_rms_mm_s,
        shown.kurtosis,
        shown.envelope_rms_g,
        shown.anomaly_score,
        shown.baseline_level,
        shown.baseline_limit,
        shown.rul_hours,
        shown.rul_low_hours,
        shown.rul_high_hours,
    ];
    let column: Column = (shown.running, shown.valid, shown.feature, figures);
    let text = serde_json::to_string(&column).ok()?;
    (text.len() <= MAX_BYTES).then_some(text)
}

/// Reads the column.
pub(super) fn read(column: &str) -> Result<Shown, StoreError> {
    let (running, valid, feature, figures): Column = json_of("a window", column)?;
    let [rms_g, velocity_rms_mm_s, kurtosis, envelope_rms_g, score, level, limit, life, low, high] =
        figures;
    Ok(Shown {
        running,
        valid,
        feature,
        rms_g,
        velocity_rms_mm_s,
        kurtosis,
        envelope_rms_g,
        anomaly_score: score,
        baseline_level: level,
        baseline_limit: limit,
        rul_hours: life,
        rul_low_hours: low,
        rul_high_hours: high,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_tells_what_the_event_tells_or_is_left_out() {
        let text = include_str!("../../../config/examples/event.json");
        let mut event: Event = serde_json::from_str(text).expect("event");
        let column = column_of(&event).expect("short enough");
        assert_eq!(read(&column).expect("read"), Shown::from(&event));
        event.trend.feature = "x".repeat(MAX_BYTES);
        assert_eq!(column_of(&event), None);
    }
}
