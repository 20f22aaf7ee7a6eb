//! The list of episodes: what stands, the urgent first; what is put off; what is over.

use std::cmp::Reverse;
use std::sync::Arc;

use axum::extract::{Extension, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::episode::{AcknowledgementState, Suppression};
use pdm_shared::risk::RiskLevel;
use serde::Deserialize;

use super::{Reader, fleet, matching, show, suppressed};
use crate::Shared;
use crate::access::Viewer;
use crate::api::place_of;
use crate::cursor;
use crate::plant::{EpisodeDetail, EpisodeFilter};
use crate::problem::Problem;

/// Episodes of a page.
const ROWS: u32 = 100;
/// Episodes that stand and are put in order; a plant with more is told that there are more.
const MOST: u32 = 5000;

/// Which episodes are asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EpisodePageAsked {
    #[serde(default)]
    state: Option<String>,
    #[serde(default)]
    cursor: Option<String>,
    #[serde(default)]
    q: String,
    #[serde(default)]
    page: Option<usize>,
}

impl EpisodePageAsked {
    fn filter(&self) -> Result<EpisodeFilter, Problem> {
        crate::api::episode_filter(self.word())
    }

    /// The word of the filter.
    fn word(&self) -> &str {
        self.state.as_deref().unwrap_or("open")
    }
}

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Query(asked): Query<EpisodePageAsked>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("episodes.html", &reader, gather(&shared, &asked, &reader).await)
}

async fn gather(
    shared: &Shared,
    asked: &EpisodePageAsked,
    reader: &Reader,
) -> Result<Value, Problem> {
    let filter = asked.filter()?;
    // what stands is put in order as a whole; the past comes by its time
    let stands = matches!(filter, EpisodeFilter::Open | EpisodeFilter::Shelved);
    let before = asked.cursor.as_deref().map(cursor::read).transpose()?;
    let limit = if stands { MOST } else { ROWS };
    let plant = &shared.site.plant;
    let mut list = plant.episodes(filter, before.filter(|_| !stands), limit).await?;
    let is_full = list.len() >= limit as usize;
    let older =
        list.last().filter(|_| is_full && !stands).map(|last| cursor::write(place_of(last)));
    let names = plant.machine_names().await?;
    if stands {
        list.sort_by_cached_key(urgency);
    }
    list.retain(|one| {
        let name = names.get(one.document.equipment_id.as_str()).map(String::as_str);
        let level = level(one).label();
        let fault = one.document.fault_type.map(pdm_shared::fault::Fault::name);
        let fault = fault.map(|text| format!("{} {}", text.ko, text.en)).unwrap_or_default();
        let name = name.unwrap_or_default();
        let text = format!("{} {name} {} {} {fault}", one.key(), level.ko, level.en);
        matching::fits(&text, &asked.q)
    });
    let rows_of_page = ROWS as usize;
    let pages = list.len().div_ceil(rows_of_page).max(1);
    let number = asked.page.unwrap_or(1).clamp(1, pages);
    let of_page = list.iter().skip((number - 1) * rows_of_page).take(rows_of_page);
    let rows: Vec<Value> = of_page
        .map(|one| {
            let machine_name = names.get(one.document.equipment_id.as_str());
            context! { machine_name, ..shown(one, reader) }
        })
        .collect();
    let own = fleet::address("/episodes", &[("state", asked.word()), ("q", &asked.q)]);
    let at = |page: usize| fleet::with(&own, &format!("page={page}"));
    Ok(context! {
        rows, older, number, pages,
        state => asked.word(),
        q => &asked.q,
        found => list.len(),
        has_more => stands && is_full,
        before => (number > 1).then(|| at(number - 1)),
        after => (number < pages).then(|| at(number + 1)),
    })
}

/// The level that staff was told, or that stands where it was told nothing.
fn level(one: &EpisodeDetail) -> RiskLevel {
    one.document.told.unwrap_or(one.document.condition.level())
}

/// Worst first; of one level those that nobody has acknowledged, those that staff is told of, the last changed.
fn urgency(one: &EpisodeDetail) -> (Reverse<RiskLevel>, bool, bool, Reverse<i64>) {
    let document = &one.document;
    let is_known = document.acknowledgement != AcknowledgementState::Unacknowledged;
    let is_suppressed = document.suppression != Suppression::None;
    let changed = Reverse(document.changed_at.unix_ms());
    (Reverse(level(one)), is_known, is_suppressed, changed)
}

/// An episode as templates show it.
pub(super) fn shown(one: &EpisodeDetail, reader: &Reader) -> Value {
    let (key, document) = (one.key(), &one.document);
    let label = |level: RiskLevel| level.label().in_language(reader.language).to_owned();
    context! {
        page => format!("/episodes/{}", document.episode_id),
        address => show::address(&key),
        name => key.to_string(),
        level => level(one).as_str(),
        label => label(level(one)),
        standing => label(document.condition.level()),
        mark => suppressed::mark(&document.suppression, reader.language),
        title => one.alarm.as_ref().map(|alarm| alarm.title.in_language(reader.language)),
        ..show::value(one)
    }
}
