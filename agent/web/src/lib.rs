//! The web view of the plant: pages in the browser, the same as JSON, and the few acts that people
//! can do there.
//!
//! [`router`] serves a [`Plant`], from which the pages read; the agent implements it on its store.
//! Every page is HTML of the server and works without script; scripts add plots, live updates and
//! cursors. A page shows the API's answers, so both read the same types ([`plant`]).
//!
//! Access: on loopback without a token and without users, programs and browsers of this machine;
//! else users with their roles, and whoever has the token ([`access`]). A signed link acknowledges
//! one alarm without a login ([`link`]). Texts of foreign origin are escaped by the templates, and
//! the content security policy allows no inline script or style.

mod access;
pub mod accounts;
mod acts;
mod api;
mod asking;
mod assets;
pub mod audit;
mod capture_files;
mod compressed;
pub mod configuration;
mod cursor;
mod headers;
mod language;
pub mod library;
pub mod link;
mod live;
mod login;
mod openapi;
mod pages;
pub mod password;
pub mod photo;
pub mod plant;
mod problem;
pub mod provided;
mod session;
pub mod talk;
mod times;
mod upload;
mod workbook;

use std::sync::Arc;

use axum::Router;
use axum::middleware;
use pdm_service::clock::SharedClock;
use pdm_service::http::guard::Access;
use pdm_shared::id::BearingKey;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use accounts::AccountStore;
use link::AckLinks;
use login::Attempts;
pub use login::Setup;
use plant::{EpisodeDetail, Plant};
use problem::Problem;
use talk::Talk;

/// The parts from which the pages are served.
#[derive(Debug)]
pub struct Site {
    /// The plant that the pages read.
    pub plant: Arc<dyn Plant>,
    /// The documents of the knowledge base, which a page changes; `None` in a program without one.
    pub library: Option<Arc<dyn library::Library>>,
    /// The part that answers the questions of the chat; `None` in a program without one.
    pub talk: Option<Arc<dyn Talk>>,
    /// Who may enter.
    pub access: Access,
    /// Users, their sessions, and who did what.
    pub accounts: Arc<dyn AccountStore>,
    /// Links by which alarms are acknowledged; `None` if no address for them is configured.
    pub links: Option<AckLinks>,
    /// The address under which browsers reach the pages, where one is configured.
    pub public_url: Option<String>,
    /// The plant's own provider of logins, where one is configured.
    pub provider: Option<Arc<pdm_oidc::Provider>>,
    /// The one-time token of the first user.
    pub setup: Arc<Setup>,
    /// The pages are reached over TLS alone: cookies are for it alone too.
    pub is_secure: bool,
    /// The zone of the plant's clock, by which pages tell times.
    pub zone: pdm_routes::Zone,
    /// The program's own file, where administrators may change it by a page.
    pub configuration: Option<Arc<dyn configuration::ConfigurationFile>>,
    /// The clock of sessions and acts.
    pub clock: SharedClock,
    /// Changes whenever something was judged or told; ends the live streams' waiting.
    pub changes: watch::Receiver<u64>,
    /// Ends the live streams, which the server would wait for otherwise.
    pub stop: CancellationToken,
}

/// The state that the handlers share.
#[derive(Debug)]
struct Shared {
    site: Site,
    attempts: Attempts,
    /// Places of live streams.
    streams: Arc<live::Streams>,
}

impl Shared {
    /// The episode of an address.
    async fn episode(&self, id: &str) -> Result<EpisodeDetail, Problem> {
        let id =
            Uuid::parse_str(id).map_err(|_other| Problem::parameter("episode_id", id, "a UUID"))?;
        let found = self.site.plant.episode(id).await?;
        found.ok_or_else(|| Problem::unknown("episode"))
    }
}

/// The path of a bearing's page.
pub fn bearing_path(key: &BearingKey) -> String {
    pages::show::address(key)
}

/// The routes of pages and API: `/`, `/bearings/…`, `/equipment/…`, `/analyses/…`, `/episodes`,
/// `/work`, `/notifications`, `/gateways`, `/users`, `/audit`, `/library`, `/settings`, `/removal`,
/// `/chat`, `/language`, `/api/chat/…`, `/api/v1/…`, `/documents/…`, `/reports/…`, `/live`,
/// `/assets/…`, `/login`, `/login/provider`, `/logout`, `/setup`, `/ack/…`, and what a browser asks
/// for by itself: `/favicon.ico`, `/manifest.webmanifest`, `/worker.js`, `/offline`.
pub fn router(site: Site) -> Router {
    let streams = Arc::default();
    let shared = Arc::new(Shared { site, attempts: Attempts::default(), streams });
    let guarded = pages::router()
        .nest("/api/v1", api::router().merge(openapi::router()))
        .merge(live::router())
        .merge(talk::router())
        .route_layer(middleware::from_fn_with_state(Arc::clone(&shared), access::enter))
        .route_layer(middleware::from_fn_with_state(Arc::clone(&shared), login::show_over));
    guarded
        .merge(login::router())
        .merge(provided::router())
        .merge(pages::open_router())
        .merge(assets::router())
        .fallback(pages::missing)
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), times::on_plant_clock))
        .layer(middleware::from_fn(headers::add))
        .layer(middleware::from_fn(compressed::gzip))
        .with_state(shared)
}
