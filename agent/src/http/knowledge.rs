//! `POST /knowledge?name=FILE[&collection=NAME]`: adds a document to the knowledge base.
//!
//! The body is the file; the extension of the name gives its kind. The answer is the result, or a
//! status that says whether a repetition helps: 422 the file is not a document, 503 the store or
//! the embedding is away.

use std::path::Path;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use pdm_service::http::guard::Access;
use serde::Deserialize;
use serde_json::json;

use pdm_knowledge::{Collection, Knowledge, KnowledgeError, ingest};

/// The query of the address.
#[derive(Debug, Deserialize)]
struct Asked {
    name: String,
    #[serde(default)]
    collection: Option<String>,
}

/// The router, to be nested at `/knowledge`.
pub(crate) fn router(knowledge: Knowledge, access: Access) -> Router {
    let limit = usize::try_from(ingest::MAX_BYTES).unwrap_or(usize::MAX);
    let router = Router::new().route("/", post(take)).layer(DefaultBodyLimit::max(limit));
    access.guard_actions(router.with_state(knowledge))
}

async fn take(
    State(knowledge): State<Knowledge>,
    Query(asked): Query<Asked>,
    body: Bytes,
) -> Response {
    let collection = match asked.collection.as_deref().map(str::parse::<Collection>) {
        None => Collection::EquipmentManual,
        Some(Ok(collection)) => collection,
        Some(Err(told)) => return refusal(StatusCode::BAD_REQUEST, &told),
    };
    let taken = knowledge.ingest_bytes(Path::new(&asked.name), body.to_vec(), collection).await;
    match taken {
        Ok(done) => Json(json!({
            "document": done.document,
            "collection": done.collection,
            "chunks": done.chunks,
            "changed": done.is_changed,
        }))
        .into_response(),
        Err(error) => {
            tracing::warn!(name = asked.name, %error, "document not ingested");
            let status = if matches!(error, KnowledgeError::Document(_)) {
                StatusCode::UNPROCESSABLE_ENTITY
            } else if error.is_transient() {
                StatusCode::SERVICE_UNAVAILABLE
            } else {
                StatusCode::INTERNAL_SERVER_ERROR
            };
            refusal(status, &error.to_string())
        }
    }
}

fn refusal(status: StatusCode, told: &str) -> Response {
    (status, Json(json!({ "error": told }))).into_response()
}
