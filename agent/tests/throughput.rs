//! How many events a second go the whole way: received, stored, judged, published.

mod support;

use std::sync::Arc;

use pdm_agent::service::Agent;
use pdm_harness::{Mosquitto, Persistence};
use pdm_shared::clock::SystemClock;
use pdm_shared::event::Event;
use support::{Client, healthy, settings, subscribed, until};

const EVENTS: u64 = 4000;
const BEARINGS: u64 = 40;
/// Far below what an idle machine shows, so that a busy one does not fail: it guards against a
/// commit for each event, not against a slow day.
const AT_LEAST_PER_S: f64 = 50.0;

fn events() -> Vec<Event> {
    (1..=EVENTS)
        .map(|sequence| {
            let mut event = healthy(sequence);
            let name = format!("B{}", sequence % BEARINGS);
            event.bearing_id = name.parse().expect("a name");
            event
        })
        .collect()
}

/// R-AGENT-1: batches, not single commits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement for an idle machine: cargo test -p pdm-agent --test throughput -- --ignored"]
async fn events_go_the_whole_way_in_batches() {
    let name = "events_go_the_whole_way_in_batches";
    let lines = "allow_anonymous true\nmax_inflight_messages 1024\n";
    let Some(broker) = Mosquitto::start_with(name, Persistence::Memory, lines) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let agent = Agent::start(settings(broker.port(), folder.path()), Arc::new(SystemClock))
        .await
        .expect("starts");
    let progress = subscribed(&agent).await;
    let mut client = Client::connect(broker.port(), "test", &[]).await;
    let events = events();
    let begun = std::time::Instant::now();
    client.send(&events).await;
    until("all of them judged", 60, || progress.borrow().judged == EVENTS).await;
    let judged_per_s = EVENTS as f64 / begun.elapsed().as_secs_f64();
    until("all of them published", 60, || progress.borrow().unsent == 0).await;
    let whole_per_s = EVENTS as f64 / begun.elapsed().as_secs_f64();
    println!("{judged_per_s:.0} events/s judged, {whole_per_s:.0} events/s the whole way");
    agent.stop().await.expect("no part failed");
    assert!(whole_per_s >= AT_LEAST_PER_S, "{whole_per_s:.0} events/s");
}
