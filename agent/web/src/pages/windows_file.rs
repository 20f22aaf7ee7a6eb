//! The windows of a bearing as a file, oldest first: CSV, or a workbook.

use std::sync::Arc;

use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use pdm_shared::fault::Fault;
use pdm_shared::feature::Feature;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;

use super::table_file::{FileKind, ListFile, or_empty};
use super::{Reader, refusal};
use crate::Shared;
use crate::access::Viewer;
use crate::api::{Names, key_of};
use crate::plant::WindowRow;

/// Windows in the file.
const IN_FILE: u32 = 10_000;

/// The columns: the first ones as they always were, later ones at the end. `rul_hours` is the
/// median, as `rul_median_h` says; it goes with the version after 0.1.
const HEAD: [&str; 22] = [
    "measured_at",
    "running",
    "valid",
    "rms_g",
    "velocity_rms_mm_s",
    "kurtosis",
    "envelope_rms_g",
    "anomaly_score",
    "risk_level",
    "fault_stage",
    "rul_hours",
    "low_band_rms_g",
    "fault_type",
    "feature",
    "baseline_level",
    "baseline_limit",
    "rul_low_h",
    "rul_median_h",
    "rul_high_h",
    "site",
    "equipment",
    "bearing",
];

/// Answers with the file of the kind that the address ends with.
pub(super) async fn listed(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Path(names): Path<Names>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    let done = async {
        let key = key_of(&names)?;
        let windows = shared.site.plant.windows(&key, None, IN_FILE).await?;
        // two bearings in one folder are two files
        let file = Some(format!("{}-{}-{}", key.site, key.equipment, key.bearing));
        let rows = windows.iter().map(|window| cells(&key, window));
        let list = ListFile { name: "windows", file, head: &HEAD, rows };
        list.answer(FileKind::of_address(&uri), &reader)
    };
    match done.await {
        Ok(file) => file,
        Err(problem) => refusal(&reader, &problem),
    }
}

fn cells(key: &BearingKey, window: &WindowRow) -> Vec<String> {
    let figure = |feature: Feature| or_empty(window.figure(&feature));
    vec![
        window.measured_at.to_string(),
        window.running.to_string(),
        window.valid.to_string(),
        figure(Feature::Rms),
        figure(Feature::Velocity),
        figure(Feature::Kurtosis),
        figure(Feature::EnvelopeRms),
        or_empty(window.anomaly_score),
        or_empty(window.risk_level.map(RiskLevel::as_str)),
        or_empty(window.fault_stage),
        or_empty(window.rul_hours),
        figure(Feature::LowBandRms),
        or_empty(window.fault_type.map(Fault::as_str)),
        plain_word(&window.feature).to_owned(),
        or_empty(window.baseline_level),
        or_empty(window.baseline_limit),
        or_empty(window.rul_low_hours),
        or_empty(window.rul_hours),
        or_empty(window.rul_high_hours),
        key.site.to_string(),
        key.equipment.to_string(),
        key.bearing.to_string(),
    ]
}

/// A word that is safe in a table; the name of a feature comes from a gateway.
fn plain_word(word: &str) -> &str {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte));
    if is_plain { word } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::bearing::tests::window;

    /// R-UI-1: readers of the file find their columns where they were; what raised an alarm is in
    /// it.
    #[test]
    fn the_file_keeps_its_columns() {
        let key = BearingKey::parse("north", "M-1", "DE").expect("a name");
        let windows = [window()];
        let rows = windows.iter().map(|window| cells(&key, window));
        let file = Some("north-M-1-DE".to_owned());
        let text = ListFile { name: "windows", file, head: &HEAD, rows }.csv();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "measured_at,running,valid,rms_g,velocity_rms_mm_s,kurtosis,envelope_rms_g,\
                 anomaly_score,risk_level,fault_stage,rul_hours,low_band_rms_g,fault_type,feature,\
                 baseline_level,baseline_limit,rul_low_h,rul_median_h,rul_high_h,site,equipment,\
                 bearing,measured_at_local,zone",
                "1970-01-01T00:00:00.000Z,true,true,0.1,,3.5,,0.5,,,90,0.35,,low_band_rms_g,,,0.5,\
                 90,300,north,M-1,DE,1970-01-01 00:00:00,UTC",
            ]
        );
    }
}
