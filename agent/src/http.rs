//! The HTTP server, on loopback by default: `/healthz` for everybody, `/metrics` and `/mcp` behind
//! [`Access`], `/knowledge` and `/series` for those with the token, pages and API of [`pdm_web`] at the rest.

mod knowledge;
mod plant;
mod series;
mod surroundings;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use pdm_knowledge::Knowledge;
use pdm_service::clock::{Clock as _, SharedClock, SystemClock};
use pdm_service::http::guard::Access;
use pdm_service::http::recorder::recorder;
use pdm_service::http::server;
use pdm_shared::topic::Prefix;
use pdm_tools::{Runtime, mcp};
use pdm_web::Site;
use pdm_web::talk::Talk;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::progress::Progress;
use crate::store::{Store, WorkCounts};
use plant::StoredPlant;

/// How long the store may take to answer a question of health or metrics.
const ANSWER: Duration = Duration::from_secs(2);

/// The resources that the HTTP server exposes.
#[derive(Debug)]
pub(crate) struct Served {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) knowledge: Knowledge,
    pub(crate) tools: Arc<Runtime>,
    pub(crate) talk: Arc<dyn Talk>,
    pub(crate) access: Access,
    pub(crate) clock: SharedClock,
    pub(crate) progress: watch::Receiver<Progress>,
    /// The topic of refused messages.
    pub(crate) dead_letters: String,
    /// The first levels of every topic.
    pub(crate) prefix: Prefix,
}

/// Serves until `stop` is cancelled.
pub(crate) async fn serve(
    listener: tokio::net::TcpListener,
    served: Served,
    stop: CancellationToken,
) {
    recorder();
    let Served { store, knowledge, tools, talk, access, clock, progress, dead_letters, prefix } =
        served;
    let (changed, changes) = watch::channel(0);
    let plant = Arc::new(StoredPlant { store: Arc::clone(&store), clock, dead_letters, prefix });
    let pages = pdm_web::router(Site {
        plant,
        talk: Some(talk),
        access: access.clone(),
        changes,
        stop: stop.clone(),
    });
    let follow = follow(progress, changed);
    let series = Arc::clone(&store);
    let metrics = Router::new().route("/metrics", get(metrics_text));
    let router = Router::new()
        .route("/healthz", get(health))
        .merge(access.guard_reads(metrics))
        .with_state(store)
        .nest("/knowledge", knowledge::router(knowledge, &access))
        .nest("/series", series::router(series, &access))
        .nest("/mcp", mcp::http::router(tools, access, stop.child_token()))
        .merge(pages);
    tokio::select! {
        () = server::serve(listener, router, stop) => {}
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

async fn health(State(store): State<Arc<dyn Store>>) -> (StatusCode, &'static str) {
    match timeout(ANSWER, store.ping()).await {
        Ok(Ok(())) => (StatusCode::OK, "ok\n"),
        Ok(Err(error)) => {
            tracing::warn!(%error, "not healthy");
            (StatusCode::SERVICE_UNAVAILABLE, "the store is unavailable\n")
        }
        Err(_elapsed) => {
            tracing::warn!("not healthy: the store does not answer");
            (StatusCode::SERVICE_UNAVAILABLE, "the store does not answer\n")
        }
    }
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
    if let Some(precision) = counts.precision() {
        metrics::gauge!("pdm_agent_precision_ratio").set(precision);
    }
}

async fn metrics_text(State(store): State<Arc<dyn Store>>) -> (StatusCode, String) {
    if let Ok(Ok(backlog)) = timeout(ANSWER, store.backlog()).await {
        metrics::gauge!("pdm_agent_unjudged_events").set(backlog.unjudged as f64);
        metrics::gauge!("pdm_agent_outbox_waiting").set(backlog.unsent as f64);
        metrics::gauge!("pdm_agent_outbox_given_up").set(backlog.given_up as f64);
        metrics::gauge!("pdm_agent_dead_letters").set(backlog.dead_letters as f64);
    }
    if let Ok(counts) = store.work_counts(SystemClock.now()).await {
        work(&counts);
    }
    match recorder() {
        Some(handle) => (StatusCode::OK, handle.render()),
        None => (StatusCode::NOT_IMPLEMENTED, "another recorder has the metrics\n".to_owned()),
    }
}
