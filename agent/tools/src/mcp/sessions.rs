//! Limits the number of MCP sessions and streams: in all, and of one caller.
//!
//! A session lives until it ends, or for [`IDLE`] without a request. A session more than allowed is
//! refused with 429 before anything is kept of it; so is a stream. What a client says of itself is
//! short.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::RETRY_AFTER;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt as _;
use pdm_service::http::guard::Caller;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde_json::Value;

/// Sessions in all. Measured: 2,500 small sessions take 199 MiB, so these take 20 MiB.
const MOST_SESSIONS: usize = 256;
/// Sessions of one caller: a program needs one, a test bench some.
const MOST_OF_CALLER: usize = 32;
/// Open streams in all and of one caller: a stream holds a connection, of which the server has 256.
const MOST_STREAMS: usize = 64;
const MOST_STREAMS_OF_CALLER: usize = 16;
/// How long a session without a request lives.
pub(super) const IDLE: Duration = Duration::from_mins(5);
/// Bytes of `params.clientInfo`: a name, a version and a title.
const CLIENT_INFO_BYTES: usize = 2048;
/// Bytes of a whole `initialize`.
const INITIALIZE_BYTES: usize = 16 * 1024;
/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// Sessions and streams with their callers.
#[derive(Debug)]
pub(super) struct Sessions {
    pub(super) manager: Arc<LocalSessionManager>,
    /// The caller of each session.
    owners: Mutex<HashMap<String, u64>>,
    /// Open streams by caller.
    streams: Arc<Mutex<HashMap<u64, usize>>>,
    /// One session begins at a time, so that the count holds.
    begins: tokio::sync::Mutex<()>,
    most_body: usize,
}

impl Sessions {
    pub(super) fn new(manager: Arc<LocalSessionManager>, most_body: usize) -> Self {
        Self {
            manager,
            owners: Mutex::default(),
            streams: Arc::default(),
            begins: tokio::sync::Mutex::default(),
            most_body,
        }
    }

    /// Returns why a caller gets no further session, if none.
    async fn full(&self, caller: u64) -> Option<String> {
        let live = self.manager.sessions.read().await;
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        owners.retain(|id, _caller| live.contains_key(id.as_str()));
        let own = owners.values().filter(|owner| **owner == caller).count();
        metrics::gauge!("pdm_agent_mcp_sessions").set(live.len() as f64);
        if live.len() >= MOST_SESSIONS {
            return Some(format!("{MOST_SESSIONS} sessions are open, which is the most"));
        }
        (own >= MOST_OF_CALLER)
            .then(|| format!("this caller has {own} sessions open, the most is {MOST_OF_CALLER}"))
    }

    /// Begins a session with a body that has arrived whole.
    async fn begin(&self, caller: u64, request: Request, next: Next) -> Response {
        let (parts, body) = request.into_parts();
        let Ok(bytes) = to_bytes(body, self.most_body).await else {
            let text = format!("the request has more than {} bytes\n", self.most_body);
            return (StatusCode::PAYLOAD_TOO_LARGE, text).into_response();
        };
        let request = Request::from_parts(parts, Body::from(bytes.clone()));
        if !begins_session(&bytes) {
            return next.run(request).await;
        }
        if let Some(why) = wordy(&bytes) {
            return refused(StatusCode::PAYLOAD_TOO_LARGE, &why);
        }
        let _turn = self.begins.lock().await;
        if let Some(why) = self.full(caller).await {
            return refused(StatusCode::TOO_MANY_REQUESTS, &why);
        }
        let response = next.run(request).await;
        let id = response.headers().get(SESSION).and_then(|id| id.to_str().ok());
        if let Some(id) = id {
            let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
            owners.insert(id.to_owned(), caller);
        }
        response
    }

    /// A place for a stream, if there is one.
    fn stream(&self, caller: u64) -> Option<StreamPlace> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let all: usize = streams.values().sum();
        let own = streams.entry(caller).or_default();
        if all >= MOST_STREAMS || *own >= MOST_STREAMS_OF_CALLER {
            return None;
        }
        *own += 1;
        Some(StreamPlace { streams: Arc::clone(&self.streams), caller })
    }
}

/// The place of an open stream, free when it is dropped.
struct StreamPlace {
    streams: Arc<Mutex<HashMap<u64, usize>>>,
    caller: u64,
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = streams.get_mut(&self.caller) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                streams.remove(&self.caller);
            }
        }
    }
}

/// Holds requests to the numbers of sessions and streams.
pub(super) async fn bounded(
    State(sessions): State<Arc<Sessions>>,
    request: Request,
    next: Next,
) -> Response {
    let caller = caller_of(&request);
    let has_session = request.headers().contains_key(SESSION);
    if request.method() == Method::POST && !has_session {
        return sessions.begin(caller, request, next).await;
    }
    if request.method() == Method::GET {
        let Some(place) = sessions.stream(caller) else {
            let why = format!(
                "too many streams are open, the most is {MOST_STREAMS} in all and \
                 {MOST_STREAMS_OF_CALLER} of one caller"
            );
            return refused(StatusCode::TOO_MANY_REQUESTS, &why);
        };
        let (parts, body) = next.run(request).await.into_parts();
        let held = body.into_data_stream().map(move |chunk| {
            let _until_the_end = &place;
            chunk
        });
        return Response::from_parts(parts, Body::from_stream(held));
    }
    next.run(request).await
}

/// Returns who calls, as the guard has found: the user or token by its name, whatever the header's
/// spelling; on loopback without tokens every program is one caller.
fn caller_of(request: &Request) -> u64 {
    let mut hasher = DefaultHasher::new();
    let caller = request.extensions().get::<Caller>();
    caller.and_then(|caller| caller.identity.as_ref()).map(|one| &one.name).hash(&mut hasher);
    hasher.finish()
}

fn refused(status: StatusCode, why: &str) -> Response {
    metrics::counter!("pdm_agent_mcp_refused_total").increment(1);
    tracing::warn!(why, "an MCP request is refused");
    (status, [(RETRY_AFTER, "60")], format!("{why}\n")).into_response()
}

/// Whether a request begins a session; a client of a later version of the protocol has none.
fn begins_session(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Value>(bytes).is_ok_and(|request| request["method"] == "initialize")
}

/// Returns why an `initialize` says too much, if it does.
fn wordy(bytes: &[u8]) -> Option<String> {
    let request: Value = serde_json::from_slice(bytes).ok()?;
    let info = request["params"]["clientInfo"].to_string().len();
    if info > CLIENT_INFO_BYTES {
        return Some(format!("clientInfo has {info} bytes, the most is {CLIENT_INFO_BYTES}"));
    }
    let whole = bytes.len();
    (whole > INITIALIZE_BYTES)
        .then(|| format!("initialize has {whole} bytes, the most is {INITIALIZE_BYTES}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_says_of_itself_is_short() {
        let initialize = |name: &str| {
            serde_json::json!({
                "jsonrpc": "2.0", "id": 1, "method": "initialize",
                "params": { "protocolVersion": "2025-06-18", "capabilities": {},
                            "clientInfo": { "name": name, "version": "1" } },
            })
            .to_string()
        };
        assert_eq!(wordy(initialize("pdm").as_bytes()), None);
        assert!(wordy(initialize(&"x".repeat(20_000)).as_bytes()).is_some());
        assert!(begins_session(initialize("pdm").as_bytes()));
        assert!(!begins_session(br#"{"method":"tools/call"}"#) && !begins_session(b"["));
    }

    #[test]
    fn a_stream_gives_its_place_back() {
        let sessions = Sessions::new(Arc::default(), 1024);
        let places: Vec<StreamPlace> = std::iter::from_fn(|| sessions.stream(1)).collect();
        assert_eq!(places.len(), MOST_STREAMS_OF_CALLER);
        assert!(sessions.stream(2).is_some(), "another caller has places");
        drop(places);
        assert!(sessions.stream(1).is_some());
    }
}
