//! One bearing: its state, its alarm with the form to acknowledge it, its plots and the same figures
//! as a table and as CSV.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::{Extension, Path, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::episode::Suppression;
use pdm_shared::risk::RiskLevel;

use super::{Reader, equipment, fleet, show};
use crate::Shared;
use crate::access::Viewer;
use crate::api::{Names, key_of};
use crate::plant::WindowRow;
use crate::problem::Problem;

/// Windows in the table: as many as a person scrolls through.
const IN_TABLE: u32 = 60;
/// Windows in the CSV file.
const IN_FILE: u32 = 10_000;
/// Notifications beside the plots.
const TOLD: u32 = 20;

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Path(names): Path<Names>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("bearing.html", &reader, gather(&shared, &names, &reader).await)
}

async fn gather(shared: &Shared, names: &Names, reader: &Reader) -> Result<Value, Problem> {
    let (plant, key) = (&shared.site.plant, key_of(names)?);
    let row = plant.bearing(&key).await?.ok_or_else(|| Problem::unknown("bearing"))?;
    let mut windows = plant.windows(&key, None, IN_TABLE).await?;
    windows.reverse();
    let told = plant.notifications(Some(&key), None, TOLD).await?;
    let diagnosis = match row.event_id {
        Some(id) => plant.diagnosis(id).await?,
        None => None,
    };
    let advice = diagnosis.as_ref().map(|found| found.recommendation.in_language(reader.language));
    let told: Vec<Value> = told
        .iter()
        .map(|told| {
            context! {
                title => told.title.in_language(reader.language),
                at => show::value(told.created_at),
                risk_level => told.risk_level.as_str(),
                event_id => show::value(told.event_id),
            }
        })
        .collect();
    let around = plant.surroundings(key.equipment.as_str()).await?;
    let of_kind = |kind: &str| equipment::of_kind(around.as_ref(), kind);
    let (parts, documents) = (of_kind("Part"), of_kind("Document"));
    let equipment_page = around.is_some().then(|| equipment::address(key.equipment.as_str()));
    let address = show::address(&key);
    Ok(context! {
        bearing => fleet::shown(&row, reader),
        episode_page => row.episode.as_ref().map(|one| format!("/episodes/{}", one.episode_id)),
        windows => windows.iter().map(show::value).collect::<Vec<_>>(),
        shelf => shelf(row.episode.as_ref().map(|episode| &episode.suppression)),
        told, advice, parts, documents, equipment_page,
        api => format!("/api/v1{address}"),
        address,
    })
}

/// The suppression of the bearing's episode.
fn shelf(suppression: Option<&Suppression>) -> Value {
    let (until, by, reason) = match suppression {
        None | Some(Suppression::None) => (None, None, None),
        Some(Suppression::ByDesign { reason }) => (None, None, Some(reason)),
        Some(
            Suppression::Shelved { until, by, reason }
            | Suppression::OutOfService { until, by, reason, .. },
        ) => (Some(until), Some(by), Some(reason)),
    };
    context! { until => show::value(until), by, reason }
}

/// The windows as CSV, oldest first.
pub(super) async fn csv(
    State(shared): State<Arc<Shared>>,
    Path(names): Path<Names>,
) -> Result<Response, Problem> {
    let key = key_of(&names)?;
    let windows = shared.site.plant.windows(&key, None, IN_FILE).await?;
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"windows.csv\""),
    ];
    Ok((headers, written(&windows)).into_response())
}

fn written(windows: &[WindowRow]) -> String {
    let mut text = "measured_at,running,valid,rms_g,velocity_rms_mm_s,kurtosis,envelope_rms_g,\
                    anomaly_score,risk_level,fault_stage,rul_hours\n"
        .to_owned();
    let cell = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for window in windows {
        let _written = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{}",
            window.measured_at,
            window.running,
            window.valid,
            cell(window.rms_g),
            cell(window.velocity_rms_mm_s),
            cell(window.kurtosis),
            cell(window.envelope_rms_g),
            cell(window.anomaly_score),
            window.risk_level.map(RiskLevel::as_str).unwrap_or_default(),
            window.fault_stage.map(|stage| stage.to_string()).unwrap_or_default(),
            cell(window.rul_hours),
        );
    }
    text
}
