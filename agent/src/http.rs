//! The HTTP server, on loopback by default: `/livez`, `/readyz`, `/healthz` for everybody,
//! `/metrics` and `/mcp` behind the guard, `/knowledge` and `/series` for those with a token, pages
//! and API of [`pdm_web`] at the rest.

mod acts;
mod announced;
mod articles;
pub(crate) mod bound;
pub(crate) mod captures;
mod demanded;
mod documents;
mod duty;
pub(crate) mod health;
mod knowledge;
mod library;
mod orders;
mod plant;
mod rows;
mod series;
mod surroundings;
mod unacknowledged;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use pdm_expert::rules::LeadTime;
use pdm_knowledge::Knowledge;
use pdm_report::settings::ReportSettings;
use pdm_routes::RouteTable;
use pdm_service::clock::{Clock as _, SharedClock, SystemClock};
use pdm_service::http::recorder::recorder;
use pdm_service::http::server;
use pdm_shared::risk::RiskLevel;
use pdm_shared::topic::Prefix;
use pdm_store::{BearingOwners, Store, WorkCounts};
use pdm_tools::{Runtime, mcp};
use pdm_web::Site;
use pdm_web::configuration::ConfigurationFile;
use pdm_web::plant::ChannelRow;
use pdm_web::talk::Talk;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::captures::Captures;
use crate::photos::Photos;
use crate::progress::Progress;
use crate::removal::Ground;
use crate::vitals::Vitals;
use acts::Acts;
use bound::BoundServer;
use health::Health;
use orders::Orders;
use plant::StoredPlant;

/// How long the store may take to answer a question of health or metrics.
const ANSWER: Duration = Duration::from_secs(2);

/// The resources that the HTTP server exposes.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) store: Store,
    pub(crate) knowledge: Knowledge,
    pub(crate) tools: Arc<Runtime>,
    pub(crate) talk: Arc<dyn Talk>,
    pub(crate) clock: SharedClock,
    pub(crate) progress: watch::Receiver<Progress>,
    pub(crate) vitals: Vitals,
    /// Faults of an agent that still works.
    pub(crate) degraded: watch::Receiver<Vec<String>>,
    /// The topic of refused messages.
    pub(crate) dead_letters: String,
    /// The first levels of every topic.
    pub(crate) prefix: Prefix,
    /// The topics and owners that changes of the plant need.
    pub(crate) ground: Ground,
    /// The lanes of the configured ways to staff.
    pub(crate) lanes: Arc<[String]>,
    /// The lowest risk that is repeated while nobody acknowledges it, and after how many hours;
    /// `None` if none is.
    pub(crate) repeats: Option<(RiskLevel, f64)>,
    /// The names of the configured routes.
    pub(crate) routes: Vec<String>,
    /// Where documents are written, if they are.
    pub(crate) documents: Option<std::path::PathBuf>,
    /// Captured waveforms, where they are kept.
    pub(crate) captures: Option<Captures>,
    /// Which gateway measures which bearings, and the tokens of gateways.
    pub(crate) owners: BearingOwners,
    /// The file that pages may change.
    pub(crate) configuration: Option<Arc<dyn ConfigurationFile>>,
    /// The plant's clock, and who is on duty when.
    pub(crate) table: Arc<RouteTable>,
    /// Names and planning of work orders.
    pub(crate) reports: ReportSettings,
    /// Time that a replacement takes to arrange.
    pub(crate) lead_time: LeadTime,
}

/// Serves until `stop` is cancelled.
#[expect(clippy::too_many_lines, reason = "one step after the other of a service")]
pub(crate) async fn serve(server: BoundServer, served: Served, stop: CancellationToken) {
    recorder();
    announced::announce_all(&served.lanes, served.routes.clone());
    let Served { store, knowledge, tools, talk, clock, progress, vitals, degraded, .. } = served;
    let Served { dead_letters, prefix, ground, lanes, documents, repeats, .. } = served;
    let Served { reports, lead_time, table, captures, owners, configuration, .. } = served;
    let BoundServer { listener, terms, access, setup, links, provider, public_url, is_secure } =
        server;
    let (changed, changes) = watch::channel(0);
    let beside =
        |folder: &std::path::Path| Photos::beside(store.clone(), Arc::clone(&clock), folder);
    let photos = documents.as_deref().map(beside);
    let folder = documents.clone();
    let orders = Orders { settings: reports, lead_time, knowledge: knowledge.clone(), folder };
    let zone = table.zone;
    let plant = Arc::new(StoredPlant {
        store: store.clone(),
        clock: Arc::clone(&clock),
        dead_letters,
        prefix,
        ground,
        lanes: Arc::clone(&lanes),
        table,
        photos,
        captures: captures.clone(),
        orders,
        documents,
        repeats,
    });
    let acts = Acts { store: store.clone(), clock: Arc::clone(&clock) };
    let uploads = knowledge::Uploads::new(knowledge, Arc::clone(&clock));
    let pages = pdm_web::router(Site {
        plant,
        library: Some(Arc::new(library::Shelf(uploads.clone()))),
        talk: Some(talk),
        access: access.clone(),
        accounts: Arc::new(store.accounts()),
        links,
        provider,
        setup,
        public_url,
        is_secure,
        zone,
        configuration,
        clock,
        changes,
        stop: stop.clone(),
    });
    let (watched, follow) = (progress.clone(), follow(progress, changed));
    let series = store.clone();
    let metered = (store.clone(), lanes);
    let health =
        Health { vitals, store: Some(store), progress: Some(watched), degraded: Some(degraded) };
    let metrics = Router::new().route("/metrics", get(metrics_text)).with_state(metered);
    let router = Router::new()
        .merge(health::routes(health))
        .merge(access.guard_reads(metrics))
        .nest("/knowledge", knowledge::router(uploads, &access, acts.clone()))
        .nest("/series", series::router(series, &access, acts))
        .nest("/mcp", mcp::http::router(tools, access, stop.child_token()))
        .merge(captures::router(captures, &owners))
        .merge(pages);
    tokio::select! {
        () = server::serve_under(&terms, listener, router, stop) => {}
        // the server ends by its stop alone
        () = follow => {}
    }
}

/// Counts the agent's judgements and notifications for the live streams.
async fn follow(mut progress: watch::Receiver<Progress>, changed: watch::Sender<u64>) {
    while progress.changed().await.is_ok() {
        let Progress { judged, notified, .. } = *progress.borrow_and_update();
        changed.send_if_modified(|count| std::mem::replace(count, judged + notified) != *count);
    }
    std::future::pending::<()>().await;
}

/// The work that judgements asked for, and the share of inspected judgements that were right.
fn work(counts: &WorkCounts) {
    for (state, count) in [
        ("open", counts.open),
        ("overdue", counts.overdue),
        ("done", counts.done),
        ("dropped", counts.dropped),
        ("superseded", counts.superseded),
    ] {
        metrics::gauge!("pdm_agent_follow_ups", "state" => state).set(f64::from(count));
    }
    for (verdict, count) in
        [("right", counts.right), ("wrong", counts.wrong), ("other_cause", counts.other_cause)]
    {
        metrics::gauge!("pdm_agent_inspected_judgements", "verdict" => verdict)
            .set(f64::from(count));
    }
    // no inspected judgement is no share: neither 0 nor 1 would be true
    let precision = counts.precision().unwrap_or(f64::NAN);
    metrics::gauge!("pdm_agent_precision_ratio").set(precision);
}

/// Waiting messages, messages given up within a week, and since when a channel fails (0: it does
/// not).
async fn channel_gauges(store: &Store, lanes: &[String]) {
    let Ok(Ok(rows)) = timeout(ANSWER, store.outbox().channels(SystemClock.now())).await else {
        return;
    };
    let sound = lanes.iter().filter(|lane| !rows.iter().any(|row| row.lane == **lane));
    let sound: Vec<ChannelRow> = sound.cloned().map(ChannelRow::sound).collect();
    for row in rows.iter().chain(&sound) {
        let lane = || row.lane.clone();
        let since = row.failing_since.or(row.given_up_at.filter(|_| row.is_failing));
        let since_s = since.map_or(0.0, |at| at.unix_ms() as f64 / 1000.0);
        metrics::gauge!("pdm_agent_channel_waiting", "channel" => lane()).set(row.waiting as f64);
        metrics::gauge!("pdm_agent_channel_given_up", "channel" => lane()).set(row.given_up as f64);
        metrics::gauge!("pdm_agent_channel_failing_since_seconds", "channel" => lane())
            .set(since_s);
    }
}

/// The sources of the metrics: the store, and the lanes of the configured ways to staff.
type Metered = (Store, Arc<[String]>);

async fn metrics_text(State((store, lanes)): State<Metered>) -> (StatusCode, String) {
    if let Ok(Ok(backlog)) = timeout(ANSWER, store.backlog()).await {
        metrics::gauge!("pdm_agent_unjudged_events").set(backlog.unjudged as f64);
        metrics::gauge!("pdm_agent_outbox_waiting").set(backlog.unsent as f64);
        metrics::gauge!("pdm_agent_outbox_given_up").set(backlog.given_up as f64);
        metrics::gauge!("pdm_agent_dead_letters").set(backlog.dead_letters as f64);
    }
    channel_gauges(&store, &lanes).await;
    if let Ok(counts) = store.follow_ups().work_counts(SystemClock.now()).await {
        work(&counts);
    }
    match recorder() {
        Some(handle) => (StatusCode::OK, handle.render()),
        None => (StatusCode::NOT_IMPLEMENTED, "another recorder has the metrics\n".to_owned()),
    }
}
