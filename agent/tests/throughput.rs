//! A burst goes the whole way: received, stored, judged, published, and nothing stalls.
//!
//! How fast is measured by `benches/durable`; here nothing depends on the machine's speed.

mod support;

use std::sync::Arc;

use pdm_agent::service::Agent;
use pdm_harness::{Mosquitto, Persistence};
use pdm_service::clock::SystemClock;
use pdm_shared::event::Event;

use support::{Client, healthy, settings, subscribed, until};

/// More than twice what may be in flight at once, so that every queue fills.
const EVENTS: u64 = 2500;
const BEARINGS: u64 = 40;
/// A guard against waiting for ever, not a measure: an idle machine needs two seconds.
const AT_MOST_S: u64 = 240;

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

/// R-AGENT-1: more events than any queue holds, without one lost, twice or stuck.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_goes_the_whole_way() {
    let name = "a_burst_goes_the_whole_way";
    let lines = "allow_anonymous true\nmax_inflight_messages 1024\n";
    let Some(broker) = Mosquitto::start_with(name, Persistence::Memory, lines) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let agent = Agent::start(settings(broker.port(), folder.path()), Arc::new(SystemClock))
        .await
        .expect("starts");
    let progress = subscribed(&agent).await;
    let mut client = Client::connect(broker.port(), "test", &["pdm/v1/+/+/+/diagnosis"]).await;
    client.send(&events()).await;
    until("all of them judged", AT_MOST_S, || progress.borrow().judged == EVENTS).await;
    until("all of them published", AT_MOST_S, || progress.borrow().unsent == 0).await;
    let heard = || client.heard_on("/diagnosis").len() as u64;
    until("all of them heard", AT_MOST_S, || heard() == EVENTS).await;
    let stopped = agent.stop().await.expect("no part failed");
    assert_eq!((stopped.stored, stopped.duplicates, stopped.dead_letters), (EVENTS, 0, 0));
}
