//! Health and metrics over HTTP: `/healthz`, `/readyz`, `/metrics` (Prometheus text); and
//! `POST /relearn/EQUIPMENT/BEARING`, after which a bearing is learnt anew.
//!
//! Who may ask is decided by [`Access`]: with a token every request needs it; on loopback without
//! one anybody may read, and only programs of this machine, no web page, may relearn. `/healthz` says that the process lives and no part failed; `/readyz`
//! that, in addition, the spool can be read. A broker that is away makes neither of them fail:
//! nothing is lost meanwhile, and a restart would not bring it back.

mod serve;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use pdm_service::http::guard::{Access, NeedsToken};
use pdm_service::http::recorder::{self, recorder};
use pdm_service::secret::SecretError;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::progress::Progress;
use crate::relearning::Relearning;
use crate::settings::AdminSettings;
use crate::spool::Spool;

/// Health and metrics cannot be served. The program does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdminError {
    /// The address cannot be listened on.
    #[error("cannot listen on {listen} for health and metrics: {source}")]
    Listen {
        /// Which.
        listen: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// Another machine could ask, and nothing keeps it out.
    #[error("admin.listen, admin.token: {0}")]
    Open(#[from] NeedsToken),
    /// The token cannot be had.
    #[error("admin.token: {0}")]
    Token(#[from] SecretError),
}

/// A listener that is bound and does not serve yet.
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
}

/// Binds the listener.
///
/// # Errors
/// [`AdminError`].
pub async fn bind(
    settings: &AdminSettings,
    spool: Spool,
    progress: watch::Receiver<Progress>,
    relearning: Relearning,
) -> Result<Admin, AdminError> {
    let listen = settings.listen;
    let token =
        settings.token.as_ref().map(pdm_service::secret::SecretSource::fetch).transpose()?;
    let access = Access::new(listen, token)?;
    let listener =
        TcpListener::bind(listen).await.map_err(|source| AdminError::Listen { listen, source })?;
    recorder();
    tracing::info!(%listen, "health and metrics");
    Ok(Admin { listener, shared: Arc::new(Shared { spool, progress, access, relearning }) })
}

impl Admin {
    /// Where it listens.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    /// Serves until stopped.
    pub async fn serve(self, stop: CancellationToken) {
        serve::serve(self.listener, routes(self.shared), stop).await;
    }
}

fn routes(shared: Arc<Shared>) -> Router {
    let reads = Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/metrics", get(prometheus));
    let actions = Router::new().route("/relearn/{equipment}/{bearing}", post(relearn));
    let access = &shared.access;
    let routes = access.guard_reads(reads).merge(access.guard_actions(actions));
    routes.with_state(shared)
}

async fn healthz(State(shared): State<Arc<Shared>>) -> Response {
    let failed = shared.progress.borrow().failed;
    if failed {
        (StatusCode::SERVICE_UNAVAILABLE, "a part has failed\n").into_response()
    } else {
        (StatusCode::OK, "ok\n").into_response()
    }
}

async fn readyz(State(shared): State<Arc<Shared>>) -> Response {
    let progress = *shared.progress.borrow();
    if progress.failed {
        return (StatusCode::SERVICE_UNAVAILABLE, "a part has failed\n").into_response();
    }
    match shared.spool.tally().await {
        Ok(tally) => {
            let connected = if progress.connected { "connected" } else { "away" };
            let text = format!("ok\nbroker {connected}\nwaiting {}\n", tally.waiting);
            (StatusCode::OK, text).into_response()
        }
        Err(error) => {
            tracing::warn!(%error, "not ready");
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
        tracing::info!(bearing = %name, "asked to learn anew");
        let text = format!("{name} is learnt anew from its next window on\n");
        return (StatusCode::ACCEPTED, text).into_response();
    }
    let known = shared.relearning.bearings().join(", ");
    (StatusCode::NOT_FOUND, format!("no bearing {name} here; there is {known}\n")).into_response()
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
