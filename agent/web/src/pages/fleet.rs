//! The fleet: every bearing, worst first.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::risk::RiskLevel;

use super::{Reader, refusal, show};
use crate::Shared;
use crate::access::Viewer;
use crate::plant::BearingRow;

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    let fleet = match shared.site.plant.fleet().await {
        Ok(fleet) => fleet,
        Err(error) => return refusal(&reader, &error.into()),
    };
    let count = |level: RiskLevel| fleet.iter().filter(|row| row.risk_level == level).count();
    let levels = [RiskLevel::Critical, RiskLevel::Warning, RiskLevel::Watch, RiskLevel::Normal];
    let counts: Vec<Value> = levels
        .into_iter()
        .map(|level| {
            let label = level.label();
            context! {
                level => level.as_str(),
                label => label.in_language(reader.language),
                count => count(level),
            }
        })
        .collect();
    let rows: Vec<Value> = fleet.iter().map(|row| shown(row, &reader)).collect();
    super::page("fleet.html", &reader, StatusCode::OK, context! { counts, rows })
}

/// A bearing as templates show it.
pub(super) fn shown(row: &BearingRow, reader: &Reader) -> Value {
    let label = row.risk_level.label();
    context! {
        address => show::address(&row.key),
        label => label.in_language(reader.language),
        alarm_title => row.alarm.as_ref().map(|alarm| alarm.title.in_language(reader.language)),
        ..show::value(row)
    }
}
