//! A spectrum that is laid over the last one of a bearing: its baseline, one of another day, one of
//! another bearing.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::event::{BaselineState, Event, SpectrumLines};
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::text::Language;
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::places::Places;
use super::show;
use crate::api::{Names, key_of};
use crate::problem::Problem;
use crate::{Shared, times};

/// Spectra among which the baseline's is looked for. A gateway sends one with the baseline's
/// completion, and at least one an hour before it: these are days of learning.
const LOOKED_AT: u32 = 200;
/// Other bearings that are offered: as many as a list on a phone bears.
const OFFERED: usize = 200;

/// Which spectrum is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpectrumAsked {
    /// `baseline`: the first one that was measured without an anomaly on a complete baseline.
    #[serde(default)]
    of: Option<String>,
    /// The last one at or before this time of the plant's clock, as a browser's field writes it.
    #[serde(default)]
    at: Option<String>,
}

/// A spectrum with the values that are needed to read it.
#[derive(Debug, Serialize)]
struct Beside {
    event_id: EventId,
    measured_at: Timestamp,
    name: String,
    shaft_speed_rpm: Option<f64>,
    envelope: SpectrumLines,
    acceleration: SpectrumLines,
}

pub(super) async fn json(
    State(shared): State<Arc<Shared>>,
    Path(names): Path<Names>,
    Query(asked): Query<SpectrumAsked>,
) -> Result<Response, Problem> {
    let key = key_of(&names)?;
    let found = match (asked.of.as_deref(), asked.at.as_deref()) {
        (None, None) => last(&shared, &key, None).await?,
        (Some("baseline"), None) => baseline(&shared, &key).await?,
        (Some(other), None) => return Err(Problem::parameter("of", other, "baseline")),
        (None, Some(at)) => {
            let allowed = "a time such as 2026-11-30T07:00";
            let until = times::plant_zone().written(at);
            let until = until.ok_or_else(|| Problem::parameter("at", at, allowed))?;
            // the minute that was typed is within
            last(&shared, &key, Some(until.plus_seconds(59.999))).await?
        }
        (Some(_), Some(_)) => return Err(Problem::unfit("allowed is one of of and at")),
    };
    let beside = found.and_then(|event| beside(event, &key));
    let beside = beside.ok_or_else(|| Problem::unknown("spectrum"))?;
    Ok(Json(beside).into_response())
}

async fn last(
    shared: &Shared,
    key: &BearingKey,
    until: Option<Timestamp>,
) -> Result<Option<Event>, Problem> {
    Ok(shared.site.plant.spectra(key, until, 1).await?.pop())
}

/// The first spectrum of a bearing that was sound on a complete baseline.
async fn baseline(shared: &Shared, key: &BearingKey) -> Result<Option<Event>, Problem> {
    let first = shared.site.plant.first_spectra(key, LOOKED_AT).await?;
    Ok(first.into_iter().find(is_baseline))
}

fn is_baseline(event: &Event) -> bool {
    event.anomaly.baseline.state == BaselineState::Ready && !event.anomaly_detected
}

fn beside(event: Event, key: &BearingKey) -> Option<Beside> {
    let spectra = event.spectra?;
    Some(Beside {
        event_id: event.event_id,
        measured_at: event.measured_at,
        name: key.to_string(),
        shaft_speed_rpm: event.operating.shaft_speed_rpm,
        envelope: spectra.envelope,
        acceleration: spectra.acceleration,
    })
}

/// The bearings that can be laid over one: those of its machine first, then those of its site, then
/// those of other sites; with the names of their machines.
pub(super) async fn others(
    shared: &Shared,
    key: &BearingKey,
    language: Language,
) -> Result<Vec<Value>, Problem> {
    let (fleet, places) =
        (shared.site.plant.fleet().await?, Places::of_plant(shared, language).await?);
    let mut others: Vec<&BearingKey> = fleet.iter().map(|row| &row.key).collect();
    others.retain(|other| *other != key);
    others.sort_by_key(|other| {
        let is_near = (other.site != key.site, other.equipment != key.equipment);
        (is_near, (*other).clone())
    });
    let offered = others.into_iter().take(OFFERED).map(|other| {
        let machine = places.name(other).map(|name| format!(" {name}")).unwrap_or_default();
        let is_own = other.site == key.site;
        let site = if is_own { String::new() } else { format!(" ({})", other.site) };
        context! {
            name => format!("{} · {}{machine}{site}", other.equipment, other.bearing),
            address => show::address(other),
        }
    });
    Ok(offered.collect())
}
