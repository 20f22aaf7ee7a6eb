//! The API: the rows of [`crate::plant`] as JSON under `/api/v1`, described by `openapi.json`.

use std::sync::Arc;

use axum::extract::{Extension, Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use crate::Shared;
use crate::access::Viewer;
use crate::openapi;
use crate::plant::{Acknowledged, Acknowledgement, BearingRow};
use crate::problem::Problem;

/// Rows of a page where the caller names no number.
const USUAL: u32 = 100;
/// Most rows of a page: a day of a window every 90 s.
const MOST: u32 = 1000;

pub(crate) fn router() -> Router<Arc<Shared>> {
    Router::new()
        .route("/openapi.json", get(|| async { Json(openapi::document()) }))
        .route("/bearings", get(fleet))
        .route("/bearings/{site}/{equipment}/{bearing}", get(bearing))
        .route("/bearings/{site}/{equipment}/{bearing}/windows", get(windows))
        .route("/bearings/{site}/{equipment}/{bearing}/spectra", get(spectra))
        .route("/bearings/{site}/{equipment}/{bearing}/acknowledgements", post(acknowledge))
        .route("/events/{event_id}", get(event))
        .route("/events/{event_id}/diagnosis", get(diagnosis))
        .route("/events/{event_id}/trace", get(trace))
        .route("/notifications", get(notifications))
        .route("/gateways", get(gateways))
        .fallback(|| async { Problem::unknown("route") })
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
pub(crate) struct Asked {
    before: Option<String>,
    limit: Option<String>,
    equipment: Option<String>,
}

impl Asked {
    pub(crate) fn before(&self) -> Result<Option<Timestamp>, Problem> {
        let parse = |text: &String| {
            Timestamp::parse(text)
                .map_err(|_invalid| Problem::parameter("before", text, "a time (RFC 3339)"))
        };
        self.before.as_ref().map(parse).transpose()
    }

    pub(crate) fn limit(&self) -> Result<u32, Problem> {
        let Some(text) = &self.limit else { return Ok(USUAL) };
        let number = text.parse().ok().filter(|number| (1..=MOST).contains(number));
        number.ok_or_else(|| Problem::parameter("limit", text, &format!("1 to {MOST}")))
    }
}

type Answer<T> = Result<Json<T>, Problem>;
type Asking = State<Arc<Shared>>;

async fn fleet(State(shared): Asking, Query(asked): Query<Asked>) -> Answer<serde_json::Value> {
    let all = shared.site.plant.fleet().await?;
    let fits = |row: &BearingRow| {
        asked.equipment.as_deref().is_none_or(|name| row.key.equipment.as_str() == name)
    };
    let items: Vec<BearingRow> = all.into_iter().filter(fits).collect();
    Ok(Json(json!({ "items": items, "next": null })))
}

async fn bearing(State(shared): Asking, Path(names): Path<Names>) -> Answer<BearingRow> {
    let row = shared.site.plant.bearing(&key_of(&names)?).await?;
    row.map(Json).ok_or_else(|| Problem::unknown("bearing"))
}

async fn windows(
    State(shared): Asking,
    Path(names): Path<Names>,
    Query(asked): Query<Asked>,
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
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    let event = shared.site.plant.spectra(&key_of(&names)?, asked.before()?).await?;
    let event = event.ok_or_else(|| Problem::unknown("event with spectra of this bearing"))?;
    Ok(Json(event).into_response())
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
    Query(asked): Query<Asked>,
) -> Result<Response, Problem> {
    let (limit, before) = (asked.limit()?, asked.before()?);
    let items = shared.site.plant.notifications(None, before, limit).await?;
    let next = next_of(items.len(), limit, items.last().map(|told| told.created_at));
    Ok(Json(Listed { items, next }).into_response())
}

async fn gateways(State(shared): Asking) -> Result<Response, Problem> {
    let items = shared.site.plant.gateways().await?;
    Ok(Json(Listed { items, next: None }).into_response())
}

/// Where the next page begins, if this one is full.
fn next_of(rows: usize, limit: u32, last: Option<Timestamp>) -> Option<Timestamp> {
    if rows as u64 >= u64::from(limit) { last } else { None }
}

/// What a program sends to acknowledge an alarm.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AckBody {
    notification_id: Uuid,
    by: String,
    #[serde(default)]
    note: Option<String>,
}

async fn acknowledge(
    State(shared): Asking,
    Extension(viewer): Extension<Viewer>,
    Path(names): Path<Names>,
    body: Result<Json<AckBody>, axum::extract::rejection::JsonRejection>,
) -> Result<Response, Problem> {
    // a browser's session acts by the page's form, which carries the session's key
    if viewer.has_session() {
        return Err(Problem::new(StatusCode::FORBIDDEN, "a session acknowledges by the page"));
    }
    let Json(body) = body.map_err(|refused| Problem::new(refused.status(), refused.body_text()))?;
    let AckBody { notification_id, by, note } = body;
    let ack = Acknowledgement { key: key_of(&names)?, notification_id, by, note };
    take(&shared, ack).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Acknowledges, after the bounds of the contract.
pub(crate) async fn take(shared: &Shared, ack: Acknowledgement) -> Result<(), Problem> {
    use pdm_shared::bounds;
    let unfit = |field: &str, error: bounds::BoundError| {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, format!("{field} {error}"))
    };
    if ack.by.trim().is_empty() {
        let told = "by is empty, allowed is the name of a person";
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, told));
    }
    bounds::line(&ack.by, bounds::MAX_LINE).map_err(|error| unfit("by", error))?;
    bounds::lines(ack.note.as_deref().unwrap_or_default(), bounds::MAX_NOTE)
        .map_err(|error| unfit("note", error))?;
    match shared.site.plant.acknowledge(ack).await? {
        Acknowledged::Yes => Ok(()),
        Acknowledged::Stale => {
            Err(Problem::new(StatusCode::CONFLICT, "another alarm stands by now, or none"))
        }
    }
}
