//! `POST /knowledge?name=FILE[&collection=NAME]`: adds a document to the knowledge base.
//!
//! The body is the file; the extension of the name gives its kind. The answer is the result, or a
//! status that says whether a repetition helps: 413 the file is too large, 422 the file is not a
//! document, 503 the store or the embedding is away. Every upload needs a token of a technician
//! and leaves a line in the log and in the record of acts: who, what, its bytes and their SHA-256.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Extension, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use pdm_service::http::guard::{Access, Caller};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

use super::acts::Acts;
use pdm_knowledge::ingest::{self, IngestOutcome};
use pdm_knowledge::{Collection, Knowledge, KnowledgeError};

/// Uploads that are read at once: each may hold 64 MiB, and the service's unit grants 1 GiB.
const AT_ONCE: usize = 2;

/// The query of the address.
#[derive(Debug, Deserialize)]
struct Asked {
    name: String,
    #[serde(default)]
    collection: Option<String>,
}

/// What the route works with.
#[derive(Debug, Clone)]
struct Uploads {
    knowledge: Knowledge,
    turns: Arc<Semaphore>,
    acts: Acts,
}

/// The router, to be nested at `/knowledge`.
pub(crate) fn router(knowledge: Knowledge, access: &Access, acts: Acts) -> Router {
    let uploads = Uploads { knowledge, turns: Arc::new(Semaphore::new(AT_ONCE)), acts };
    access.guard_uploads(Router::new().route("/", post(take)).with_state(uploads), "http.token")
}

async fn take(
    State(uploads): State<Uploads>,
    Extension(caller): Extension<Caller>,
    Query(asked): Query<Asked>,
    body: Body,
) -> Response {
    let collection = match asked.collection.as_deref().map(str::parse::<Collection>) {
        None => Collection::EquipmentManual,
        Some(Ok(collection)) => collection,
        Some(Err(told)) => return refusal(StatusCode::BAD_REQUEST, &told),
    };
    // closed only when the program ends
    let Ok(_turn) = uploads.turns.acquire().await else {
        return refusal(StatusCode::SERVICE_UNAVAILABLE, "the agent stops");
    };
    let bytes = match whole(&asked.name, body).await {
        Ok(bytes) => bytes,
        Err(refusal) => return refusal,
    };
    let name = Path::new(&asked.name);
    let taken = uploads.knowledge.ingest_bytes(name, bytes.to_vec(), collection).await;
    audit(&caller, &asked.name, &bytes, &taken);
    match taken {
        Ok(done) => {
            uploads
                .acts
                .note(&caller, "upload", format!("{:?} {:?}", asked.name, done.document))
                .await;
            Json(json!({
                "document": done.document,
                "collection": done.collection,
                "chunks": done.chunks,
                "changed": done.is_changed,
            }))
            .into_response()
        }
        Err(error) => {
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

/// The body, or the refusal of one that is larger than a file of this name may be.
async fn whole(name: &str, body: Body) -> Result<Bytes, Response> {
    let limit = ingest::max_bytes(Path::new(name))
        .map_err(|error| refusal(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()))?;
    to_bytes(body, usize::try_from(limit).unwrap_or(usize::MAX)).await.map_err(|error| {
        // `to_bytes` tells a body that is too long and one that breaks off by the same type
        if std::error::Error::source(&error)
            .is_some_and(|cause| cause.to_string().contains("limit"))
        {
            let told = format!("{name}: larger than {limit} bytes, the most that is read");
            refusal(StatusCode::PAYLOAD_TOO_LARGE, &told)
        } else {
            refusal(StatusCode::BAD_REQUEST, &format!("{name}: the body is not complete: {error}"))
        }
    })
}

/// The line in the log about one upload. Names come from outside: they are quoted, so that one
/// cannot look like another line.
fn audit(
    caller: &Caller,
    name: &str,
    bytes: &Bytes,
    taken: &Result<IngestOutcome, KnowledgeError>,
) {
    let peer = caller.peer.map_or_else(String::new, |peer| peer.to_string());
    let mut sha256 = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _infallible = write!(sha256, "{byte:02x}");
    }
    let by = caller.identity.as_ref().map_or("local", |identity| identity.name.as_str());
    let bytes = bytes.len();
    match taken {
        Ok(done) => {
            let (document, title, is_changed) = (&done.document, &done.title, done.is_changed);
            tracing::info!(
                by,
                peer,
                ?name,
                ?document,
                ?title,
                bytes,
                sha256,
                is_changed,
                "a document was uploaded"
            );
        }
        Err(error) => {
            let error = error.to_string();
            metrics::counter!("pdm_agent_documents_refused_total").increment(1);
            tracing::warn!(by, peer, ?name, bytes, sha256, ?error, "an upload was refused");
        }
    }
}

fn refusal(status: StatusCode, told: &str) -> Response {
    (status, Json(json!({ "error": told }))).into_response()
}
