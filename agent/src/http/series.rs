//! `POST /series`: values of measuring stations from other programs.
//!
//! The body is JSON: `{"values": [{"station_id": 101, "element": "SO2", "at": "2026-11-01
//! 00:00:00", "value": 0.006}]}`; a value of null is missing. All values are stored or none. 400
//! names the wrong value, 413 the body is too large, 503 the store is away. Every request needs the
//! token.

use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, Extension, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use pdm_decision::table::{SeriesValue, value};
use pdm_service::http::guard::{Access, Caller};
use pdm_store::Store;
use serde::Deserialize;
use serde_json::json;

use super::acts::Acts;

/// Most bytes of a request: some 10,000 values.
const MAX_BYTES: usize = 1024 * 1024;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Posted {
    values: Vec<PostedValue>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PostedValue {
    station_id: i64,
    element: String,
    at: String,
    value: Option<f64>,
}

/// The router, to be nested at `/series`.
pub(crate) fn router(store: Store, access: &Access, acts: Acts) -> Router {
    let router = Router::new().route("/", post(take)).with_state((store, acts));
    access.guard_uploads(router.layer(DefaultBodyLimit::max(MAX_BYTES)), "http.token")
}

async fn take(
    State((store, acts)): State<(Store, Acts)>,
    Extension(caller): Extension<Caller>,
    posted: Result<Json<Posted>, JsonRejection>,
) -> Response {
    let posted = match posted {
        Ok(Json(posted)) => posted,
        Err(error) => return refusal(error.status(), &error.body_text()),
    };
    let read = posted.values.iter().enumerate().map(|(place, one)| {
        value(one.station_id, &one.element, &one.at, one.value)
            .map_err(|reason| format!("values.{place}.{reason}"))
    });
    let values: Vec<SeriesValue> = match read.collect() {
        Ok(values) => values,
        Err(reason) => return refusal(StatusCode::BAD_REQUEST, &reason),
    };
    match store.series().put_series(&values).await {
        Ok(changed) => {
            acts.note(&caller, "series", format!("{} values", values.len())).await;
            let told = json!({ "read": values.len(), "changed": changed });
            (StatusCode::OK, Json(told)).into_response()
        }
        Err(error) => {
            tracing::warn!(%error, "Values of stations were not stored.");
            refusal(StatusCode::SERVICE_UNAVAILABLE, "the store is unavailable")
        }
    }
}

fn refusal(status: StatusCode, reason: &str) -> Response {
    (status, Json(json!({ "error": reason }))).into_response()
}
