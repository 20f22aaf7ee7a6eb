//! Alarms above the hour's ceiling of a way whose receiver takes nothing any more: they are held
//! back for a summary, and no try of their own says that the way fails. R-AGENT-10.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::http::StatusCode;
use axum::routing::post;

use crate::open_plant::{hook, until};
use crate::suppression::Field;

/// A receiver that takes one message and lets nobody in from then on; how often it was asked.
async fn closing_receiver() -> (String, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let answer = move || {
        let is_first = counted.fetch_add(1, Ordering::Relaxed) == 0;
        async move { if is_first { StatusCode::OK } else { StatusCode::FORBIDDEN } }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(
        async move { axum::serve(listener, Router::new().route("/", post(answer))).await },
    );
    (format!("http://{address}/"), asked)
}

/// The hour of the one way is used up, and its summary is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_critical_above_the_ceiling_of_a_way_that_refuses_is_told_by_another() {
    let test = "a_critical_above_the_ceiling_of_a_way_that_refuses_is_told_by_another";
    let Some(mut field) = Field::new(test).await else { return };
    let (url, asked) = closing_receiver().await;
    field.settings.notify.per_recipient_per_hour = 1;
    field.settings.notify.webhook.push(hook("closing", url));
    let text = "[[route]]\nname = \"all\"\n[[route.step]]\nto = [\"closing\"]\n";
    let mut table: BTreeMap<String, Vec<_>> = toml::from_str(text).expect("routes");
    field.settings.notify.route = table.remove("route").expect("routes");
    let agent = field.start().await;
    field.warning("gw-01", "P-1", "DE").await;
    until("the first message", 60, || (asked.load(Ordering::Relaxed) == 1).then_some(())).await;
    assert_eq!(field.count("[Warning] P-1 DE"), 0, "its route is the one way");
    field.critical("gw-01", "P-2", "DE").await;
    let told = field.until_told("[Critical] P-2 DE").await;
    assert!(told.contains("closing"), "it says whose way did not take it: {told}");
    let store = pdm_store::open(&field.settings.store).await.expect("opens");
    let now = crate::open_plant::begin().plus_seconds(60.0);
    let ways = store.outbox().channels(now).await.expect("read");
    let way = ways.iter().find(|one| one.lane == "webhook:closing").expect("the way");
    assert!(way.is_failing && way.waiting >= 1, "{way:?}");
    agent.stop().await.expect("no part failed");
}

/// Health said ok while a Critical was held back for a summary that nobody takes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_critical_above_the_ceiling_of_the_only_way_turns_the_health() {
    let test = "a_critical_above_the_ceiling_of_the_only_way_turns_the_health";
    let Some(mut field) = Field::new(test).await else { return };
    let (url, asked) = closing_receiver().await;
    field.settings.notify.per_recipient_per_hour = 1;
    field.settings.notify.webhook = vec![hook("closing", url)];
    let agent = field.start().await;
    field.warning("gw-01", "P-1", "DE").await;
    until("the first message", 60, || (asked.load(Ordering::Relaxed) == 1).then_some(())).await;
    field.critical("gw-01", "P-2", "DE").await;
    let progress = agent.progress();
    until("untold", 60, || (progress.borrow().untold >= 1).then_some(())).await;
    agent.stop().await.expect("no part failed");
}
