//! Health and metrics over HTTP: `/healthz`, `/readyz`, `/metrics` (Prometheus text); and
//! `POST /relearn/EQUIPMENT/BEARING`, after which a bearing is learnt anew.
//!
//! On loopback anybody may ask. Elsewhere every request needs `Authorization: Bearer <token>`,
//! compared in constant time. `/healthz` says that the process lives and no part failed; `/readyz`
//! that, in addition, the spool can be read. A broker that is away makes neither of them fail:
//! nothing is lost meanwhile, and a restart would not bring it back.

mod serve;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use pdm_shared::secret::{Secret, SecretError};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::pipeline::{Progress, Relearning};
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
    #[error("admin.listen is {listen}, not this machine alone; admin.token is needed then")]
    Open {
        /// Which.
        listen: SocketAddr,
    },
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
    token: Option<Secret>,
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
    let token = settings.token.as_ref().map(pdm_shared::secret::SecretSource::fetch).transpose()?;
    if token.is_none() && !listen.ip().is_loopback() {
        return Err(AdminError::Open { listen });
    }
    let listener =
        TcpListener::bind(listen).await.map_err(|source| AdminError::Listen { listen, source })?;
    recorder();
    tracing::info!(%listen, "health and metrics");
    Ok(Admin { listener, shared: Arc::new(Shared { spool, progress, token, relearning }) })
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
    Router::new()
        .route("/healthz", get(healthz))
        .route("/readyz", get(readyz))
        .route("/metrics", get(prometheus))
        .route("/relearn/{equipment}/{bearing}", post(relearn))
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guard))
        .with_state(shared)
}

/// The metrics of this process; the first call installs their recorder.
fn recorder() -> Option<&'static PrometheusHandle> {
    static RECORDER: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
    RECORDER
        .get_or_init(|| {
            let installed = PrometheusBuilder::new().install_recorder();
            installed
                .inspect_err(|error| tracing::warn!(%error, "another recorder has the metrics"))
                .ok()
        })
        .as_ref()
}

async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let Some(token) = &shared.token else { return next.run(request).await };
    let given = request
        .headers()
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "));
    if given.is_some_and(|given| is_same(given.as_bytes(), token.expose().as_bytes())) {
        next.run(request).await
    } else {
        (StatusCode::UNAUTHORIZED, "a bearer token is needed\n").into_response()
    }
}

/// Compares without telling by its time where the first difference is.
fn is_same(given: &[u8], expected: &[u8]) -> bool {
    let mut difference = given.len() ^ expected.len();
    for (index, byte) in given.iter().enumerate() {
        let other = expected.get(index % expected.len().max(1)).copied().unwrap_or(0);
        difference |= usize::from(std::hint::black_box(byte ^ other));
    }
    std::hint::black_box(difference) == 0
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
            let kind = (header::CONTENT_TYPE, "text/plain; version=0.0.4");
            ([kind], handle.render()).into_response()
        }
        None => (StatusCode::SERVICE_UNAVAILABLE, "no metrics in this process\n").into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_token_is_the_same() {
        assert!(is_same(b"secret", b"secret"));
        for wrong in [&b"secre"[..], b"secrets", b"", b"Secret", b"secretsecret"] {
            assert!(!is_same(wrong, b"secret"), "{wrong:?}");
        }
        assert!(!is_same(b"x", b""));
    }
}
