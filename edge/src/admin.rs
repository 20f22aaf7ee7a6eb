//! The admin listener: health and metrics over HTTP (`/livez`, `/healthz`, `/readyz`, `/metrics` as
//! Prometheus text), `POST /relearn/EQUIPMENT/BEARING`, after which a bearing is learnt anew, and
//! `POST /capture/EQUIPMENT/BEARING`, which captures its waveform.
//!
//! [`Access`] authorizes requests. With a token every request needs the token. On loopback without
//! a token every program may read, and programs of this machine may relearn and capture, but not
//! web pages.
//!
//! `/livez` answers 200 while the process works. `/healthz` answers 200 if no part of the process
//! has failed and events can be written to the spool, `/readyz` if the spool can be read too.
//! `/healthz` says `degraded` with the reason, and 200, while the agent's receipts cannot be
//! believed, something is wrong with a source or the broker does not take events whole, and 503
//! while the broker ends the connection again and again. An unreachable broker makes neither of
//! them fail: no event is lost meanwhile, and a restart of the gateway would not bring the broker
//! back.

mod announced;
mod log;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use pdm_service::http::guard::{Access, AccessError};
use pdm_service::http::recorder::{self, recorder};
use pdm_service::http::server;
use pdm_service::secret::{SecretError, SecretSource};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::capture::{Capturing, Demanded};
use crate::progress::{BrokerTrouble, Progress, SpoolTrouble};
use crate::relearning::Relearning;
use crate::remarks::Remarks;
use crate::settings::AdminSettings;
use crate::spool::Spool;

/// The time for which a batch may wait for the spool until the health fails: six of the committer's
/// longest pauses of 5 s, so that a short lack of room does not fail it.
const STANDSTILL: Duration = Duration::from_secs(30);

/// The time after which a spool that refuses writes fails the health: two of the committer's
/// longest pauses.
const REFUSED: Duration = Duration::from_secs(10);

/// The listener cannot be opened. The program does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdminError {
    /// The address is in use or not an address of this machine.
    #[error("cannot listen on {listen} for health and metrics: {source}")]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// Other machines can reach the address and no token is configured, or the token is short.
    #[error("admin.listen, admin.token: {0}")]
    Access(#[from] AccessError),
    /// The token cannot be read.
    #[error("admin.token: {0}")]
    Token(#[from] SecretError),
}

/// A listener that is bound and does not serve yet. So an address that is in use ends the program
/// before anything is measured.
#[derive(Debug)]
pub struct Admin {
    listener: TcpListener,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    spool: Spool,
    progress: watch::Receiver<Progress>,
    access: Access,
    relearning: Relearning,
    capturing: Option<Capturing>,
    remarks: Remarks,
}

/// Binds the listener.
///
/// # Errors
/// [`AdminError`].
pub async fn bind(
    settings: &AdminSettings,
    spool: Spool,
    progress: watch::Receiver<Progress>,
    (relearning, capturing, remarks): (Relearning, Option<Capturing>, Remarks),
) -> Result<Admin, AdminError> {
    let listen = settings.listen;
    let access = settings.access()?;
    let listener =
        TcpListener::bind(listen).await.map_err(|source| AdminError::Listen { listen, source })?;
    recorder();
    log::listening(listen);
    let shared = Shared { spool, progress, access, relearning, capturing, remarks };
    Ok(Admin { listener, shared: Arc::new(shared) })
}

/// Registers every metric at 0, before anything is counted; `sources` are the names of the sources.
pub(crate) fn begin_metrics(sources: Vec<String>) {
    if recorder().is_some() {
        announced::announce_all(sources);
    }
}

impl AdminSettings {
    /// Returns the access that callers of the address need.
    ///
    /// # Errors
    /// [`AdminError::Token`], [`AdminError::Access`].
    pub(crate) fn access(&self) -> Result<Access, AdminError> {
        let token = self.token.as_ref().map(SecretSource::fetch).transpose()?;
        Ok(Access::new(self.listen, token)?.renewing(self.token.clone()))
    }
}

impl Admin {
    /// Address of the listener, with the port that the system chose for port 0.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    /// Serves until stopped.
    pub async fn serve(self, stop: CancellationToken) {
        server::serve(self.listener, routes(self.shared), stop).await;
    }
}

fn routes(shared: Arc<Shared>) -> Router {
    let reads = Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/livez", get(async || (StatusCode::OK, "ok\n")))
        .route("/metrics", get(prometheus));
    let actions = Router::new()
        .route("/relearn/{equipment}/{bearing}", post(relearn))
        .route("/capture/{equipment}/{bearing}", post(capture));
    let access = &shared.access;
    let routes = access.guard_reads(reads).merge(access.guard_actions(actions));
    routes.with_state(shared)
}

async fn healthz(State(shared): State<Arc<Shared>>) -> Response {
    let progress = *shared.progress.borrow();
    if let Some(text) = standstill(&progress) {
        return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
    }
    if let Some(trouble @ BrokerTrouble::ThrownOut) = progress.broker_trouble {
        return (StatusCode::SERVICE_UNAVAILABLE, format!("{trouble}\n")).into_response();
    }
    // events are measured, kept and sent, so a restart would not help
    let mut troubles: Vec<String> =
        progress.receipt_trouble.iter().map(ToString::to_string).collect();
    let is_moved = |trouble: &&SpoolTrouble| **trouble == SpoolTrouble::Moved;
    troubles.extend(progress.spool_trouble.iter().filter(is_moved).map(ToString::to_string));
    troubles.extend(progress.broker_trouble.iter().map(ToString::to_string));
    troubles.extend(progress.too_large.iter().map(ToString::to_string));
    troubles.extend(shared.remarks.lines());
    if troubles.is_empty() {
        return (StatusCode::OK, "ok\n").into_response();
    }
    (StatusCode::OK, format!("degraded: {}\n", troubles.join("\ndegraded: "))).into_response()
}

/// Returns why no work is done, if none is.
fn standstill(progress: &Progress) -> Option<String> {
    if progress.failed {
        return Some("a part has failed\n".to_owned());
    }
    let waits = progress.not_committed_since?.elapsed();
    let waits_s = waits.as_secs();
    match progress.spool_trouble {
        Some(trouble) if waits >= REFUSED => Some(format!("{trouble} (for {waits_s} s)\n")),
        Some(_) | None if waits < STANDSTILL => None,
        Some(_) | None => Some(format!("no event could be written to the spool for {waits_s} s\n")),
    }
}

async fn readyz(State(shared): State<Arc<Shared>>) -> Response {
    let progress = *shared.progress.borrow();
    if let Some(text) = standstill(&progress) {
        return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
    }
    match shared.spool.tally().await {
        Ok(tally) => {
            let connected = if progress.connected { "connected" } else { "away" };
            let text = format!("ok\nbroker {connected}\nwaiting {}\n", tally.waiting);
            (StatusCode::OK, text).into_response()
        }
        Err(error) => {
            log::not_ready(&error);
            (StatusCode::SERVICE_UNAVAILABLE, "the spool cannot be read\n").into_response()
        }
    }
}

async fn relearn(
    State(shared): State<Arc<Shared>>,
    Path((equipment, bearing)): Path<(String, String)>,
) -> Response {
    let name = format!("{equipment}/{bearing}");
    if shared.relearning.ask(&name) {
        log::relearning_asked(&name);
        let text = format!("{name} is learnt anew from its next window on\n");
        return (StatusCode::ACCEPTED, text).into_response();
    }
    let known = shared.relearning.bearings().join(", ");
    (StatusCode::NOT_FOUND, format!("no bearing {name} here; there is {known}\n")).into_response()
}

async fn capture(
    State(shared): State<Arc<Shared>>,
    Path((equipment, bearing)): Path<(String, String)>,
) -> Response {
    let name = format!("{equipment}/{bearing}");
    let Some(capturing) = &shared.capturing else {
        let text = "nothing is captured: the configuration has no [capture]\n";
        return (StatusCode::CONFLICT, text).into_response();
    };
    let demanded = capturing.answer(&name).await;
    let Some(refusal) = demanded.refusal(&name) else {
        log::capture_asked(&name);
        let text = format!(
            "{name} is captured once its last samples have come; `capture list` shows it\n"
        );
        return (StatusCode::ACCEPTED, text).into_response();
    };
    log::capture_refused(&name, &refusal);
    let text = refusal + "\n";
    match demanded {
        Demanded::Unknown(_) => (StatusCode::NOT_FOUND, text).into_response(),
        Demanded::Used { wait, .. } => {
            let wait = [(header::RETRY_AFTER, wait.as_secs().max(1).to_string())];
            (StatusCode::TOO_MANY_REQUESTS, wait, text).into_response()
        }
        Demanded::NoDisk => (StatusCode::INSUFFICIENT_STORAGE, text).into_response(),
        Demanded::Taken | Demanded::Busy | Demanded::Late => {
            (StatusCode::SERVICE_UNAVAILABLE, text).into_response()
        }
    }
}

async fn prometheus(State(shared): State<Arc<Shared>>) -> Response {
    let progress = *shared.progress.borrow();
    metrics::gauge!("pdm_edge_measured_windows").set(progress.measured as f64);
    match recorder() {
        Some(handle) => {
            handle.run_upkeep();
            let kind = (header::CONTENT_TYPE, recorder::CONTENT_TYPE);
            ([kind], handle.render()).into_response()
        }
        None => (StatusCode::SERVICE_UNAVAILABLE, "no metrics in this process\n").into_response(),
    }
}
