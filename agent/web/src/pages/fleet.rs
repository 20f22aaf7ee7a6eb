//! The fleet: every bearing, worst first, a page at a time: with a thousand rows a browser on a weak machine
//! would be busy for seconds at every live update.

use std::sync::Arc;

use axum::extract::{Extension, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::risk::RiskLevel;
use serde::Deserialize;

use super::{Reader, refusal, show};
use crate::Shared;
use crate::access::{Viewer, encoded};
use crate::plant::BearingRow;

/// Bearings of a page.
const ROWS: usize = 100;

/// Which bearings are asked for.
#[derive(Debug, Default, Deserialize)]
pub(super) struct FleetAsked {
    /// Words that the row holds.
    #[serde(default)]
    q: String,
    /// The page, from 1.
    #[serde(default)]
    page: Option<usize>,
}

/// Whether a row holds what is asked for, as it is shown.
fn fits(row: &BearingRow, asked: &str, reader: &Reader) -> bool {
    let key = &row.key;
    let label = row.risk_level.label();
    let label = label.in_language(reader.language);
    let shown = format!("{} · {} {} {label}", key.equipment, key.bearing, key.site).to_lowercase();
    asked.to_lowercase().split_whitespace().all(|word| shown.contains(word))
}

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Query(asked): Query<FleetAsked>,
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
    let found: Vec<&BearingRow> = fleet.iter().filter(|row| fits(row, &asked.q, &reader)).collect();
    let pages = found.len().div_ceil(ROWS).max(1);
    let number = asked.page.unwrap_or(1).clamp(1, pages);
    let of_page = found.iter().skip((number - 1) * ROWS).take(ROWS);
    let rows: Vec<Value> = of_page.map(|row| shown(row, &reader)).collect();
    let query = encoded(&asked.q);
    let address = |page: usize| format!("/?q={query}&page={page}");
    let talk = shared.site.talk.as_ref().filter(|talk| talk.judges());
    let trouble = talk.and_then(|talk| talk.trouble());
    let of = context! {
        trouble => trouble.map(|word| format!("chat_trouble_{word}")),
        counts, rows, number, pages,
        is_empty => fleet.is_empty(),
        found => found.len(),
        q => &asked.q,
        before => (number > 1).then(|| address(number - 1)),
        after => (number < pages).then(|| address(number + 1)),
    };
    super::page("fleet.html", &reader, StatusCode::OK, of)
}

/// A bearing as templates show it.
pub(super) fn shown(row: &BearingRow, reader: &Reader) -> Value {
    let label = row.risk_level.label();
    context! {
        address => show::address(&row.key),
        label => label.in_language(reader.language),
        alarm_title => row.alarm.is_some().then(|| {
            row.standing_title().in_language(reader.language).to_owned()
        }),
        ..show::value(row)
    }
}
