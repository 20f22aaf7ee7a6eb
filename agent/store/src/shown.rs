//! The figures of an event that a row of a bearing's windows shows. They stand beside the event in
//! a column of their own, which an index holds too, so that a list of windows reads neither events
//! nor spectra.
//!
//! The column is a JSON object with a version (`v`) and each figure under its key; figures that
//! were not measured are left out. A reader skips figures that it does not know and takes those
//! that are missing as not measured, so rows of a later and of an earlier version are read. Rows of
//! before the version are a list by position, which is read the same way: a longer one is of a
//! later version, a shorter one of an earlier.
//!
//! Invariant: a figure that is read from the column is the event's.

use pdm_shared::event::Event;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::StoreError;
use super::encoding::json_of;

/// Most bytes of the column: PostgreSQL refuses an entry of an index above a third of its page
/// (2,704 bytes), names included. A longer one is left out, and the event's text is read. Usual
/// ones have 200 to 350.
const MAX_BYTES: usize = 1000;

/// The version that this program writes. A later version only adds figures.
const VERSION: u32 = 2;

/// The figures of a row, by the names of [`pdm_web::plant::WindowRow`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Shown {
    /// The version that wrote the row.
    v: u32,
    pub(super) running: bool,
    pub(super) valid: bool,
    #[serde(default)]
    pub(super) feature: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rms_g: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) velocity_rms_mm_s: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) low_band_rms_g: Option<f64>,
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
            v: VERSION,
            running: event.operating.running,
            valid: event.signal_quality.valid,
            feature: event.trend.feature.clone(),
            rms_g: levels.rms_g,
            velocity_rms_mm_s: levels.velocity_rms_mm_s,
            low_band_rms_g: levels.low_band_rms_g,
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

/// Returns the column of an event; `None` if it would be too long for the index.
pub(super) fn column_of(event: &Event) -> Option<String> {
    let text = serde_json::to_string(&Shown::from(event)).ok()?;
    (text.len() <= MAX_BYTES).then_some(text)
}

/// Reads the column, as this or another version wrote it.
///
/// # Errors
/// [`StoreError::Content`] if the column is neither form, as after damage of the file. The caller
/// reads the event itself then.
pub(super) fn read_column(column: &str) -> Result<Shown, StoreError> {
    if column.trim_start().starts_with('[') {
        return read_list(column);
    }
    json_of("a window", column)
}

/// Reads the list by position of versions before the object: running, valid, feature, figures.
fn read_list(column: &str) -> Result<Shown, StoreError> {
    let list: Vec<Value> = json_of("a window", column)?;
    let [running, valid, feature, figures, ..] = list.as_slice() else {
        return Err(damaged("a list of fewer than four entries"));
    };
    let (Some(running), Some(valid), Some(feature), Some(figures)) =
        (running.as_bool(), valid.as_bool(), feature.as_str(), figures.as_array())
    else {
        return Err(damaged("a list that does not begin with running, valid, feature, figures"));
    };
    let figure = |at: usize| figures.get(at).and_then(Value::as_f64);
    Ok(Shown {
        v: 1,
        running,
        valid,
        feature: feature.to_owned(),
        rms_g: figure(0),
        velocity_rms_mm_s: figure(1),
        low_band_rms_g: None,
        kurtosis: figure(2),
        envelope_rms_g: figure(3),
        anomaly_score: figure(4),
        baseline_level: figure(5),
        baseline_limit: figure(6),
        rul_hours: figure(7),
        rul_low_hours: figure(8),
        rul_high_hours: figure(9),
    })
}

fn damaged(reason: &str) -> StoreError {
    StoreError::Content { what: "a window", reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Event {
        let text = include_str!("../../../config/examples/event.json");
        serde_json::from_str(text).expect("event")
    }

    #[test]
    fn the_column_tells_what_the_event_tells_or_is_left_out() {
        let mut event = example();
        event.time_domain.low_band_rms_g = Some(0.35);
        let column = column_of(&event).expect("short enough");
        assert_eq!(read_column(&column).expect("read"), Shown::from(&event));
        event.trend.feature = "x".repeat(MAX_BYTES);
        assert_eq!(column_of(&event), None);
    }

    /// A row of the version before, with a list of ten figures, and rows of lists with one more and
    /// one fewer: what is known is read, what is missing is not measured.
    #[test]
    fn a_row_by_position_is_read_whatever_its_length() {
        let figures =
            ["0.1", "1.2", "3.0", "0.02", "0.5", "0.1", "0.2", "90.0", "60.0", "300.0", "1.5"];
        for count in [11, 10, 9, 0] {
            let list = format!("[true,true,\"rms_g\",[{}]]", figures[..count].join(","));
            let shown = read_column(&list).expect("read");
            assert_eq!((shown.running, shown.feature.as_str()), (true, "rms_g"));
            assert_eq!(shown.rms_g, (count > 0).then_some(0.1));
            assert_eq!(shown.rul_high_hours, (count > 9).then_some(300.0));
        }
    }

    #[test]
    fn a_row_of_a_later_version_is_read_without_what_it_adds() {
        let later = r#"{"v":9,"running":true,"valid":false,"rms_g":0.1,"phase_deg":12.0,
                        "kurtosis":null,"cage":{"snr_db":3.0}}"#;
        let shown = read_column(later).expect("read");
        assert_eq!((shown.valid, shown.rms_g, shown.kurtosis), (false, Some(0.1), None));
        for damaged in ["", "[true]", "{\"v\":2}", "[1,2,3,4]", "null"] {
            assert!(read_column(damaged).is_err(), "{damaged}");
        }
    }
}
