//! What people see of the plant: pages in the browser, the same as JSON, and the few things that
//! they can do there.
//!
//! [`router`] serves a [`Plant`], which is what the pages read; the agent implements it on its store.
//! Every page is HTML of the server and works without script; scripts add plots, live updates and
//! cursors. A page shows what the API answers, so both read the same types ([`plant`]).
//!
//! Access: on loopback without a token, programs and browsers of this machine; with a token, whoever
//! sends it or has logged in with it ([`access`]). Texts of foreign origin are escaped by the
//! templates, and the content security policy allows no inline script or style.

mod access;
mod api;
mod assets;
mod headers;
mod language;
mod live;
mod openapi;
mod pages;
pub mod plant;
mod problem;
mod session;
pub mod talk;

use std::sync::Arc;

use axum::Router;
use axum::middleware;
use pdm_service::http::guard::Access;
use pdm_shared::id::BearingKey;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use plant::Plant;
use session::Sessions;
use talk::Talk;

/// What the pages are served from.
#[derive(Debug)]
pub struct Site {
    /// What is read.
    pub plant: Arc<dyn Plant>,
    /// What answers the questions of the chat; none in a program without one.
    pub talk: Option<Arc<dyn Talk>>,
    /// Who may enter.
    pub access: Access,
    /// Changes whenever something was judged or told; ends the live streams' waiting.
    pub changes: watch::Receiver<u64>,
    /// Ends the live streams, which the server would wait for otherwise.
    pub stop: CancellationToken,
}

/// What the handlers share.
#[derive(Debug)]
struct Shared {
    site: Site,
    sessions: Sessions,
}

/// The path of a bearing's page.
pub fn bearing_path(key: &BearingKey) -> String {
    pages::show::address(key)
}

/// The routes of pages and API: `/`, `/bearings/…`, `/analyses/…`, `/notifications`, `/gateways`,
/// `/chat`, `/api/chat/…`, `/api/v1/…`, `/live`, `/assets/…`, `/login`.
pub fn router(site: Site) -> Router {
    let shared = Arc::new(Shared { site, sessions: Sessions::default() });
    let guarded = pages::router()
        .nest("/api/v1", api::router())
        .merge(live::router())
        .merge(talk::router())
        .route_layer(middleware::from_fn_with_state(Arc::clone(&shared), access::enter));
    guarded
        .merge(access::router())
        .merge(assets::router())
        .layer(middleware::from_fn(headers::add))
        .with_state(shared)
}
