//! `POST /knowledge?name=FILE[&collection=NAME]`: adds a document to the knowledge base.
//!
//! The body is the file; the extension of the name gives its kind. The answer is the result, or a
//! status that says whether a repetition helps: 413 the file is too large, 422 the file is not a
//! document, 501 the program that reads PDFs is not installed, 503 the store or the embedding is
//! away. Every upload needs a token of a technician and leaves a line in the log and in the record
//! of acts: who, what, its bytes and their SHA-256.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Extension, Query, State};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use pdm_service::clock::SharedClock;
use pdm_service::http::guard::{Access, Caller};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::acts::Acts;
use pdm_knowledge::document::DocumentError;
use pdm_knowledge::ingest::{self, IngestOutcome};
use pdm_knowledge::{Added, Collection, Knowledge, KnowledgeError};

/// Documents that are taken in at once: each may hold 64 MiB, and the service's unit grants 1 GiB.
const AT_ONCE: usize = 2;
/// Kibibytes of bodies that may be on their way: three of the largest files.
const ON_THE_WAY_KIB: u32 = 3 * 64 * 1024;
/// Uploads of one caller that may be on their way, so that nobody takes all the room.
const OF_CALLER: usize = 2;

/// The query of the address.
#[derive(Debug, Deserialize)]
struct KnowledgeQuery {
    name: String,
    #[serde(default)]
    collection: Option<String>,
}

/// The uploads of everybody: by this route and by the page, under the same limits.
#[derive(Debug, Clone)]
pub(super) struct Uploads {
    knowledge: Knowledge,
    clock: SharedClock,
    turns: Arc<Semaphore>,
    room: Arc<Semaphore>,
    callers: Arc<Mutex<BTreeMap<String, usize>>>,
}

/// An upload of a caller on its way, counted until it is dropped.
struct OnTheWay {
    callers: Arc<Mutex<BTreeMap<String, usize>>>,
    caller: String,
}

impl Drop for OnTheWay {
    fn drop(&mut self) {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = callers.get_mut(&self.caller) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                callers.remove(&self.caller);
            }
        }
    }
}

/// Room for an upload.
pub(super) struct UploadRoom {
    _caller: OnTheWay,
    _room: OwnedSemaphorePermit,
}

/// Why there is no room.
pub(super) enum NoPlace {
    /// The caller has its share.
    Share,
    /// The agent stops.
    Stops,
}

impl Uploads {
    pub(super) fn new(knowledge: Knowledge, clock: SharedClock) -> Self {
        Self {
            knowledge,
            clock,
            turns: Arc::new(Semaphore::new(AT_ONCE)),
            room: Arc::new(Semaphore::new(ON_THE_WAY_KIB as usize)),
            callers: Arc::default(),
        }
    }

    /// The knowledge base that uploads go into.
    pub(super) const fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    /// Counts an upload of this caller, if it may have another one.
    fn counted(&self, caller: String) -> Option<OnTheWay> {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        let count = callers.entry(caller.clone()).or_default();
        if *count >= OF_CALLER {
            return None;
        }
        *count += 1;
        Some(OnTheWay { callers: Arc::clone(&self.callers), caller })
    }

    /// Room for an upload of a caller; waits until so many bytes may come. A body that comes slowly
    /// holds its own bytes and no turn.
    pub(super) async fn place(&self, caller: String, bytes: u64) -> Result<UploadRoom, NoPlace> {
        let counted = self.counted(caller).ok_or(NoPlace::Share)?;
        let kib = u32::try_from(bytes / 1024 + 1).unwrap_or(ON_THE_WAY_KIB).min(ON_THE_WAY_KIB);
        let room = Arc::clone(&self.room).acquire_many_owned(kib).await;
        Ok(UploadRoom { _caller: counted, _room: room.map_err(|_closed| NoPlace::Stops)? })
    }

    /// Reads a document and keeps it with who brings it by which way, in its turn; `None` if the
    /// agent stops. The upload stands in the log.
    pub(super) async fn ingest(
        &self,
        (by, via, from): (&str, &str, &str),
        name: &str,
        bytes: &[u8],
        collection: Collection,
    ) -> Option<Result<IngestOutcome, KnowledgeError>> {
        // closed only when the program ends
        let _turn = self.turns.acquire().await.ok()?;
        let added = Added { by: by.to_owned(), via: via.to_owned(), at: self.clock.now() };
        let (path, content) = (Path::new(name), bytes.to_vec());
        let taken = self.knowledge.ingest_bytes(path, content, collection, &added).await;
        log((by, from), name, bytes, &taken);
        Some(taken)
    }
}

/// Bytes that a body may take: as many as it says, at most as a file of this name may have.
fn bytes_of(headers: &HeaderMap, name: &str) -> u64 {
    let most = ingest::max_bytes(Path::new(name)).unwrap_or(0);
    let told = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    told.unwrap_or(most).min(most)
}

/// The router, to be nested at `/knowledge`.
pub(crate) fn router(uploads: Uploads, access: &Access, acts: Acts) -> Router {
    let route = Router::new().route("/", post(take)).with_state((uploads, acts));
    access.guard_uploads(route, "http.token")
}

async fn take(
    State((uploads, acts)): State<(Uploads, Acts)>,
    Extension(caller): Extension<Caller>,
    Query(asked): Query<KnowledgeQuery>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let collection = match asked.collection.as_deref().map(str::parse::<Collection>) {
        None => Collection::EquipmentManual,
        Some(Ok(collection)) => collection,
        Some(Err(told)) => return refusal(StatusCode::BAD_REQUEST, &told),
    };
    let by = caller.identity.as_ref().map(|identity| identity.name.clone());
    let peer = caller.peer.map(|peer| peer.0.ip().to_string());
    let who = by.clone().or(peer).unwrap_or_else(|| "local".to_owned());
    let _place = match uploads.place(who, bytes_of(&headers, &asked.name)).await {
        Ok(place) => place,
        Err(NoPlace::Share) => {
            let told =
                format!("{OF_CALLER} uploads of this caller are on their way, which is the most");
            return refusal(StatusCode::TOO_MANY_REQUESTS, &told);
        }
        Err(NoPlace::Stops) => {
            return refusal(StatusCode::SERVICE_UNAVAILABLE, "the agent stops");
        }
    };
    let bytes = match whole(&asked.name, body).await {
        Ok(bytes) => bytes,
        Err(refusal) => return refusal,
    };
    let from = caller.peer.map_or_else(String::new, |peer| peer.to_string());
    let by = by.unwrap_or_else(|| "local".to_owned());
    let by = (by.as_str(), "api", from.as_str());
    let Some(taken) = uploads.ingest(by, &asked.name, &bytes, collection).await else {
        return refusal(StatusCode::SERVICE_UNAVAILABLE, "the agent stops");
    };
    match taken {
        Ok(done) => {
            acts.note(&caller, "upload", format!("{:?} {:?}", asked.name, done.document)).await;
            Json(json!({
                "document": done.document,
                "collection": done.collection,
                "chunks": done.chunks,
                "changed": done.is_changed,
            }))
            .into_response()
        }
        Err(error) => {
            let status = if is_without_reader(&error) {
                StatusCode::NOT_IMPLEMENTED
            } else if matches!(error, KnowledgeError::Document(_)) {
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

/// Whether the program that reads such a file is not installed.
fn is_without_reader(error: &KnowledgeError) -> bool {
    matches!(error, KnowledgeError::Document(DocumentError::NoPdfReader { .. }))
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
fn log(
    (by, peer): (&str, &str),
    name: &str,
    bytes: &[u8],
    taken: &Result<IngestOutcome, KnowledgeError>,
) {
    let mut sha256 = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _infallible = write!(sha256, "{byte:02x}");
    }
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
