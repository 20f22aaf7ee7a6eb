//! `/livez`, `/readyz` and `/healthz`, for everybody.
//!
//! `/livez` answers while the process works: whoever restarts an agent asks this, because an agent
//! that waits for its database is no better after a restart, and would not tell staff that it is
//! blind. `/readyz` and `/healthz` answer 200 while rows are written and events are judged, else
//! 503 with the cause and what to do. `/healthz` says `degraded` with 200 where something is wrong
//! that the agent works on with: a gateway whose events are refused, that is in trouble, or whose
//! name two use; a way to staff that delivers nothing; a configuration that was read again and is
//! refused.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use pdm_service::http::server::{self, ServerTerms};
use pdm_service::http::tls::Tls;
use pdm_store::{Store, StoreTrouble};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::ANSWER;
use super::bound::ServerError;
use crate::progress::Progress;
use crate::settings::HttpSettings;
use crate::vitals::{Blindness, Vitals};

/// Connections while the agent waits for its store: some probes.
const CONNECTIONS: usize = 32;

/// The sources of the health report.
#[derive(Debug, Clone)]
pub(super) struct Health {
    pub(super) vitals: Vitals,
    /// None while the agent waits for it.
    pub(super) store: Option<Store>,
    /// None while the agent waits for its store.
    pub(super) progress: Option<watch::Receiver<Progress>>,
    /// Faults of an agent that still works.
    pub(super) degraded: Option<watch::Receiver<Vec<String>>>,
}

/// The routes of health.
pub(super) fn routes(health: Health) -> Router {
    Router::new()
        .route("/livez", get(async || (StatusCode::OK, "ok\n")))
        .route("/readyz", get(work))
        .route("/healthz", get(work))
        .with_state(health)
}

/// Binds the configured address and serves health alone until `stop`, for an agent without its
/// store.
///
/// # Errors
/// [`ServerError`] if the address cannot be bound or its certificate cannot be read.
pub(crate) async fn serve_alone(
    settings: &HttpSettings,
    vitals: Vitals,
    stop: CancellationToken,
) -> Result<impl Future<Output = ()> + use<>, ServerError> {
    let mut bound = None;
    if let Some(listen) = settings.listen {
        let tls = settings.tls.clone().map(Tls::open).transpose()?;
        let terms = ServerTerms { connections: CONNECTIONS, tls: tls.map(Arc::new) };
        let listener = TcpListener::bind(listen).await;
        bound = Some((terms, listener.map_err(|source| ServerError::Bind { listen, source })?));
    }
    Ok(async move {
        match bound {
            Some((terms, listener)) => {
                let health = Health { vitals, store: None, progress: None, degraded: None };
                server::serve_under(&terms, listener, routes(health), stop).await;
            }
            None => stop.cancelled().await,
        }
    })
}

async fn work(
    State(Health { vitals, store, progress, degraded }): State<Health>,
) -> (StatusCode, String) {
    if let Some(ailment) = vitals.ailment() {
        let told = ailment.blindness.to_string();
        return match ailment.blindness {
            Blindness::Untold { .. } => unwell("mute", &told),
            Blindness::Store(_) | Blindness::Unjudged { .. } | Blindness::Secret(_) => blind(&told),
        };
    }
    let Some(store) = store else { return blind("the store is being opened") };
    match timeout(ANSWER, store.ping()).await {
        Ok(Ok(())) => match progress.as_ref().and_then(|progress| progress.borrow().trouble()) {
            None => {
                let away = progress.and_then(|progress| progress.borrow().broker_away());
                let said = degraded.map_or_else(Vec::new, |said| said.borrow().clone());
                let said: Vec<String> = away.into_iter().chain(vitals.said()).chain(said).collect();
                (StatusCode::OK, told(&said))
            }
            Some(trouble) => {
                tracing::warn!(reason = trouble, "not healthy");
                (StatusCode::SERVICE_UNAVAILABLE, format!("{trouble}\n"))
            }
        },
        Ok(Err(error)) => {
            let trouble = StoreTrouble::from(&error);
            blind(&format!("{}: {}", trouble.what().en, trouble.action().en))
        }
        Err(_elapsed) => blind(&StoreTrouble::Away.what().en),
    }
}

/// Returns the faults of an agent that still works, a line each.
fn told(said: &[String]) -> String {
    if said.is_empty() {
        return "ok\n".to_owned();
    }
    format!("degraded: {}\n", said.join("\ndegraded: "))
}

fn blind(told: &str) -> (StatusCode, String) {
    unwell("blind", told)
}

fn unwell(word: &str, told: &str) -> (StatusCode, String) {
    tracing::warn!(reason = told, "not healthy");
    (StatusCode::SERVICE_UNAVAILABLE, format!("the agent is {word}: {told}\n"))
}
