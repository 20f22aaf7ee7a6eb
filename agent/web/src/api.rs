//! The API: the rows of [`crate::plant`] as JSON under `/api/v1`, described by `openapi.json`.
//!
//! This file and `captures` read; `acting` acts, and `changing` is for administrators.

pub(crate) mod acting;
mod captures;
pub(crate) mod changing;

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::Admin;
use crate::asking::{Path, Query};
use crate::plant::{BearingRow, EpisodeDetail, EpisodeFilter, ListPlace, SpectrumRow, WorkRow};
use crate::problem::Problem;
use crate::{Shared, cursor};

/// Rows of a page where the caller names no number.
const USUAL: u32 = 100;
/// Most rows of a page: a day of a window every 90 s.
const MOST: u32 = 1000;
/// Spectra of a waterfall.
const WATERFALL: u32 = 60;

pub(crate) fn router() -> Router<Arc<Shared>> {
    Router::new()
        .route("/bearings", get(fleet))
        .route("/bearings/{site}/{equipment}/{bearing}", get(bearing))
        .route("/bearings/{site}/{equipment}/{bearing}/windows", get(windows))
        .route("/bearings/{site}/{equipment}/{bearing}/spectra", get(spectra))
        .route("/bearings/{site}/{equipment}/{bearing}/waterfall", get(waterfall))
        .route("/bearings/{site}/{equipment}/{bearing}/acknowledgements", post(acting::acknowledge))
        .route(
            "/bearings/{site}/{equipment}/{bearing}/shelf",
            post(acting::shelve).delete(acting::unshelve),
        )
        .merge(captures::router())
        .route("/events/{event_id}", get(event))
        .route("/events/{event_id}/diagnosis", get(diagnosis))
        .route("/events/{event_id}/trace", get(trace))
        .route("/events/{event_id}/follow-ups", get(work_of).post(acting::follow_up))
        .route("/events/{event_id}/photos", get(photos))
        .route("/duty", get(duty))
        .route("/episodes", get(episodes))
        .route("/episodes/{episode_id}", get(episode))
        .route("/work", get(work))
        .route("/notifications", get(notifications))
        .route("/channels", get(channels))
        .route("/gateways", get(gateways))
        .route("/gateways/{site}/{gateway}/forget", post(changing::forget_gateway))
        .route("/gateways/{site}/{gateway}/replace", post(changing::replace_gateway))
        .route("/gateways/{site}/{gateway}/release", post(changing::release_gateway))
        .route("/bearings/{site}/{equipment}/{bearing}/release", post(changing::release_bearing))
        .route("/forget", post(changing::forget))
        .route("/rename", post(changing::rename))
        .route("/refused", get(refused))
        .route("/audit", get(audit))
        .fallback(|| async { Problem::unknown("route") })
        .method_not_allowed_fallback(|| async {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "the route has no such method")
        })
}

/// One page of a list.
#[derive(Debug, Serialize)]
struct Listed<T> {
    items: Vec<T>,
    /// `before` of the next page; `null` on the last.
    next: Option<Timestamp>,
}

/// The three names of a bearing in an address.
pub(crate) type Names = (String, String, String);

/// The bearing of an address.
pub(crate) fn key_of((site, equipment, bearing): &Names) -> Result<BearingKey, Problem> {
    BearingKey::parse(site, equipment, bearing)
        .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, error.to_string()))
}

/// The event of an address.
pub(crate) fn event_id_of(text: &str) -> Result<EventId, Problem> {
    let id = Uuid::parse_str(text);
    id.map(EventId).map_err(|_invalid| Problem::parameter("event_id", text, "a UUID"))
}

/// Where a list begins and how long it is.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListQuery {
    before: Option<String>,
    limit: Option<String>,
    equipment: Option<String>,
}

impl ListQuery {
    pub(crate) fn before(&self) -> Result<Option<Timestamp>, Problem> {
        let parse = |text: &String| {
            Timestamp::parse(text)
                .map_err(|_invalid| Problem::parameter("before", text, "a time (RFC 3339)"))
        };
        self.before.as_ref().map(parse).transpose()
    }

    pub(crate) fn limit(&self) -> Result<u32, Problem> {
        limit_of(self.limit.as_ref())
    }
}

type ApiAnswer<T> = Result<Json<T>, Problem>;
type Asking = State<Arc<Shared>>;

async fn fleet(
    State(shared): Asking,
    Query(asked): Query<ListQuery>,
) -> ApiAnswer<Listed<BearingRow>> {
    let plant = &shared.site.plant;
    let items = match &asked.equipment {
        Some(equipment) => plant.machine(equipment).await?,
        None => plant.fleet().await?,
    };
    Ok(Json(Listed { items, next: None }))
}

async fn bearing(State(shared): Asking, Path(names): Path<Names>) -> ApiAnswer<BearingRow> {
    let row = shared.site.plant.bearing(&key_of(&names)?).await?;
    row.map(Json).ok_or_else(|| Problem::unknown("bearing"))
}

async fn windows(
    State(shared): Asking,
    Path(names): Path<Names>,
    Query(asked): Query<ListQuery>,
) -> Result<Response, Problem> {
    let (limit, before) = (asked.limit()?, asked.before()?);
    let until = before.map(|before| before.plus_seconds(-0.001));
    let items = shared.site.plant.windows(&key_of(&names)?, until, limit).await?;
    let next = next_of(items.len(), limit, items.first().map(|window| window.measured_at));
    Ok(Json(Listed { items, next }).into_response())
}

async fn spectra(
    State(shared): Asking,
    Path(names): Path<Names>,
    Query(asked): Query<ListQuery>,
) -> Result<Response, Problem> {
    let mut events = shared.site.plant.spectra(&key_of(&names)?, asked.before()?, 1).await?;
    let event = events.pop();
    let event = event.ok_or_else(|| Problem::unknown("event with spectra of this bearing"))?;
    Ok(Json(event).into_response())
}

async fn waterfall(
    State(shared): State<Arc<Shared>>,
    Path(names): Path<Names>,
    Query(asked): Query<ListQuery>,
) -> Result<Response, Problem> {
    let before = asked.before()?.map(|before| before.plus_seconds(-0.001));
    let events = shared.site.plant.spectra(&key_of(&names)?, before, WATERFALL).await?;
    let of = |event: Event| {
        let Event { event_id, measured_at, spectra, .. } = event;
        spectra.map(|spectra| SpectrumRow { event_id, measured_at, envelope: spectra.envelope })
    };
    let items: Vec<SpectrumRow> = events.into_iter().filter_map(of).collect();
    let next = next_of(items.len(), WATERFALL, items.last().map(|row| row.measured_at));
    Ok(Json(Listed { items, next }).into_response())
}

async fn event(State(shared): Asking, Path(id): Path<String>) -> Result<Response, Problem> {
    let event = shared.site.plant.event(event_id_of(&id)?).await?;
    event.map(|event| Json(event).into_response()).ok_or_else(|| Problem::unknown("event"))
}

async fn diagnosis(State(shared): Asking, Path(id): Path<String>) -> Result<Response, Problem> {
    let found = shared.site.plant.diagnosis(event_id_of(&id)?).await?;
    found.map(|found| Json(found).into_response()).ok_or_else(|| Problem::unknown("diagnosis"))
}

async fn trace(State(shared): Asking, Path(id): Path<String>) -> Result<Response, Problem> {
    let items = shared.site.plant.trace(event_id_of(&id)?).await?;
    Ok(Json(Listed { items, next: None }).into_response())
}

async fn notifications(
    State(shared): Asking,
    Query(asked): Query<ListQuery>,
) -> Result<Response, Problem> {
    let (limit, before) = (asked.limit()?, asked.before()?);
    let items = shared.site.plant.notifications(None, before, limit).await?;
    let next = next_of(items.len(), limit, items.last().map(|told| told.created_at));
    Ok(Json(Listed { items, next }).into_response())
}

async fn channels(State(shared): Asking) -> Result<Response, Problem> {
    let items = shared.site.plant.channels().await?;
    Ok(Json(Listed { items, next: None }).into_response())
}

async fn gateways(State(shared): Asking) -> Result<Response, Problem> {
    let items = shared.site.plant.gateways().await?;
    Ok(Json(Listed { items, next: None }).into_response())
}

async fn refused(State(shared): Asking) -> Result<Response, Problem> {
    let items = shared.site.plant.refused().await?;
    Ok(Json(Listed { items, next: None }).into_response())
}

/// Returns where the next page begins, if this one is full.
fn next_of(rows: usize, limit: u32, last: Option<Timestamp>) -> Option<Timestamp> {
    if rows as u64 >= u64::from(limit) { last } else { None }
}

/// One page of a list whose next page begins by a cursor.
#[derive(Debug, Serialize)]
struct Paged<T> {
    items: Vec<T>,
    /// `cursor` of the next page; `null` on the last.
    next: Option<String>,
}

/// Which episodes are asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EpisodesAsked {
    state: Option<String>,
    cursor: Option<String>,
    limit: Option<String>,
}

impl EpisodesAsked {
    pub(crate) fn filter(&self) -> Result<EpisodeFilter, Problem> {
        episode_filter(self.word())
    }

    /// The word of the filter.
    pub(crate) fn word(&self) -> &str {
        self.state.as_deref().unwrap_or("open")
    }

    pub(crate) fn before(&self) -> Result<Option<ListPlace>, Problem> {
        self.cursor.as_deref().map(cursor::read_cursor).transpose()
    }
}

/// The filter of a word.
pub(crate) fn episode_filter(word: &str) -> Result<EpisodeFilter, Problem> {
    match word {
        "open" => Ok(EpisodeFilter::Open),
        "closed" => Ok(EpisodeFilter::Closed),
        "shelved" => Ok(EpisodeFilter::Shelved),
        "all" => Ok(EpisodeFilter::All),
        other => Err(Problem::parameter("state", other, "open, closed, shelved, all")),
    }
}

/// Which work is asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkAsked {
    state: Option<String>,
    cursor: Option<String>,
    limit: Option<String>,
}

impl WorkAsked {
    pub(crate) fn is_open(&self) -> Result<bool, Problem> {
        match self.state.as_deref().unwrap_or("open") {
            "open" => Ok(true),
            "all" => Ok(false),
            other => Err(Problem::parameter("state", other, "open, all")),
        }
    }

    pub(crate) fn before(&self) -> Result<Option<ListPlace>, Problem> {
        self.cursor.as_deref().map(cursor::read_cursor).transpose()
    }
}

/// The place of an episode in its list.
pub(crate) fn place_of(one: &EpisodeDetail) -> ListPlace {
    let document = &one.document;
    ListPlace { at_ms: document.changed_at.unix_ms(), id: document.episode_id, number: 0 }
}

/// The place of an action in its list.
pub(crate) fn place_of_work(row: &WorkRow) -> ListPlace {
    ListPlace { at_ms: row.asked_at.unix_ms(), id: row.event_id.0, number: row.number }
}

/// Rows of a page, as a caller asks for them.
fn limit_of(asked: Option<&String>) -> Result<u32, Problem> {
    let Some(text) = asked else { return Ok(USUAL) };
    let number = text.parse().ok().filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| Problem::parameter("limit", text, &format!("1 to {MOST}")))
}

/// A page of rows, with the cursor of the next one if this one is full.
fn paged<T: Serialize>(items: Vec<T>, limit: u32, place: impl Fn(&T) -> ListPlace) -> Response {
    let is_full = items.len() as u64 >= u64::from(limit);
    let next = items.last().filter(|_| is_full).map(|last| cursor::write(place(last)));
    Json(Paged { items, next }).into_response()
}

async fn episodes(
    State(shared): Asking,
    Query(asked): Query<EpisodesAsked>,
) -> Result<Response, Problem> {
    let (filter, before) = (asked.filter()?, asked.before()?);
    let limit = limit_of(asked.limit.as_ref())?;
    let items = shared.site.plant.episodes(filter, before, limit).await?;
    Ok(paged(items, limit, place_of))
}

async fn episode(State(shared): Asking, Path(id): Path<String>) -> ApiAnswer<EpisodeDetail> {
    shared.episode(&id).await.map(Json)
}

async fn work(State(shared): Asking, Query(asked): Query<WorkAsked>) -> Result<Response, Problem> {
    let (is_open, before) = (asked.is_open()?, asked.before()?);
    let limit = limit_of(asked.limit.as_ref())?;
    let items = shared.site.plant.work(is_open, before, limit).await?;
    Ok(paged(items, limit, place_of_work))
}

async fn work_of(State(shared): Asking, Path(id): Path<String>) -> Result<Response, Problem> {
    let items = shared.site.plant.work_of(event_id_of(&id)?).await?;
    Ok(Json(Listed { items, next: None }).into_response())
}

async fn photos(State(shared): Asking, Path(id): Path<String>) -> Result<Response, Problem> {
    let items = shared.site.plant.photos(event_id_of(&id)?).await?;
    Ok(Json(Listed { items, next: None }).into_response())
}

async fn duty(State(shared): Asking) -> Result<Response, Problem> {
    let items = shared.site.plant.duty().await?;
    Ok(Json(Listed { items, next: None }).into_response())
}

/// The number of an act by which a page begins.
pub(crate) fn act_of(text: &str) -> Result<u64, Problem> {
    let number = text.parse::<u64>().ok().filter(|number| i64::try_from(*number).is_ok());
    number.ok_or_else(|| Problem::parameter("cursor", text, "the `next` of the page before"))
}

/// Which acts are asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ActsAsked {
    cursor: Option<String>,
    limit: Option<String>,
}

async fn audit(
    State(shared): Asking,
    _admin: Admin,
    Query(asked): Query<ActsAsked>,
) -> Result<Response, Problem> {
    let before = asked.cursor.as_deref().map(act_of).transpose()?;
    let limit = limit_of(asked.limit.as_ref())?;
    let items = shared.site.accounts.acts(before, limit).await?;
    let is_full = items.len() as u64 >= u64::from(limit);
    let next = items.last().filter(|_| is_full).map(|last| last.id.to_string());
    Ok(Json(Paged { items, next }).into_response())
}
