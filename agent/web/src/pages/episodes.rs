//! The list of episodes: what stands, what is put off, what is over.

use std::sync::Arc;

use axum::extract::{Extension, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use minijinja::context;
use minijinja::value::Value;
use pdm_shared::risk::RiskLevel;

use super::{Reader, show};
use crate::Shared;
use crate::access::Viewer;
use crate::api::{EpisodesAsked, place_of};
use crate::cursor;
use crate::plant::EpisodeDetail;
use crate::problem::Problem;

/// Episodes of a page.
const ROWS: u32 = 100;

pub(super) async fn page(
    State(shared): State<Arc<Shared>>,
    Extension(viewer): Extension<Viewer>,
    Query(asked): Query<EpisodesAsked>,
    headers: HeaderMap,
) -> Response {
    let reader = Reader::of(&viewer, &headers);
    super::answer("episodes.html", &reader, gather(&shared, &asked, &reader).await)
}

async fn gather(shared: &Shared, asked: &EpisodesAsked, reader: &Reader) -> Result<Value, Problem> {
    let (filter, before) = (asked.filter()?, asked.before()?);
    let list = shared.site.plant.episodes(filter, before, ROWS).await?;
    let is_full = list.len() >= ROWS as usize;
    let older = list.last().filter(|_| is_full).map(|last| cursor::write(place_of(last)));
    let rows: Vec<Value> = list.iter().map(|one| shown(one, reader)).collect();
    Ok(context! { rows, older, state => asked.word() })
}

/// An episode as templates show it.
pub(super) fn shown(one: &EpisodeDetail, reader: &Reader) -> Value {
    let (key, document) = (one.key(), &one.document);
    let level = document.told.unwrap_or(document.condition.level());
    let label = |level: RiskLevel| level.label().in_language(reader.language).to_owned();
    context! {
        page => format!("/episodes/{}", document.episode_id),
        address => show::address(&key),
        name => key.to_string(),
        level => level.as_str(),
        label => label(level),
        standing => label(document.condition.level()),
        title => one.alarm.as_ref().map(|alarm| alarm.title.in_language(reader.language)),
        ..show::value(one)
    }
}
