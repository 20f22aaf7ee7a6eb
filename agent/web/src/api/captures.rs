//! Captured waveforms over the API: lists, documents, files, and where a demand for one stands;
//! beside it the other request to a gateway, to learn a bearing anew.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use pdm_shared::capture::CaptureDocument;
use uuid::Uuid;

use super::{ApiAnswer, Asking, ListQuery, Listed, Names, acting, key_of, next_of};
use crate::asking::{Path, Query};
use crate::plant::{CaptureDemandRow, RelearnRow};
use crate::problem::Problem;
use crate::{Shared, capture_files};

pub(super) fn router() -> Router<Arc<Shared>> {
    Router::new()
        .route(
            "/bearings/{site}/{equipment}/{bearing}/captures",
            get(captures).post(acting::demand_capture),
        )
        .route("/bearings/{site}/{equipment}/{bearing}/captures/demand", get(demand))
        .route(
            "/bearings/{site}/{equipment}/{bearing}/relearn",
            get(relearning).post(acting::request_relearning),
        )
        .route("/captures/{id}", get(capture))
        .route("/captures/{id}/capture.wav", get(wav))
        .route("/captures/{id}/capture.npy", get(npy))
        .route("/captures/{id}/capture.npy.json", get(npy_document))
}

fn id_of(text: &str) -> Result<Uuid, Problem> {
    Uuid::parse_str(text).map_err(|_other| Problem::parameter("capture_id", text, "a UUID"))
}

async fn captures(
    State(shared): Asking,
    Path(names): Path<Names>,
    Query(asked): Query<ListQuery>,
) -> Result<Response, Problem> {
    let (limit, before) = (asked.limit()?, asked.before()?);
    let items = shared.site.plant.captures(&key_of(&names)?, before, limit).await?;
    let next = next_of(items.len(), limit, items.last().map(|row| row.started_at));
    Ok(axum::Json(Listed { items, next }).into_response())
}

async fn demand(State(shared): Asking, Path(names): Path<Names>) -> ApiAnswer<CaptureDemandRow> {
    let row = shared.site.plant.capture_demand(&key_of(&names)?).await?;
    row.map(axum::Json).ok_or_else(|| Problem::unknown("demand for a waveform of this bearing"))
}

async fn relearning(State(shared): Asking, Path(names): Path<Names>) -> ApiAnswer<RelearnRow> {
    let row = shared.site.plant.relearning(&key_of(&names)?).await?;
    row.map(axum::Json).ok_or_else(|| Problem::unknown("request to learn this bearing anew"))
}

async fn capture(State(shared): Asking, Path(id): Path<String>) -> ApiAnswer<CaptureDocument> {
    let found = shared.site.plant.capture(id_of(&id)?).await?;
    found.map(|found| axum::Json(found.document)).ok_or_else(|| Problem::unknown("capture"))
}

async fn wav(State(shared): Asking, Path(id): Path<String>) -> Result<Response, Problem> {
    capture_files::wav(&shared, id_of(&id)?).await
}

async fn npy(State(shared): Asking, Path(id): Path<String>) -> Result<Response, Problem> {
    capture_files::npy(&shared, id_of(&id)?).await
}

async fn npy_document(State(shared): Asking, Path(id): Path<String>) -> Result<Response, Problem> {
    capture_files::npy_document(&shared, id_of(&id)?).await
}
