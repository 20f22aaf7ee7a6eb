//! A backlog that the broker kept while the agent was away.

mod support;

use std::sync::Arc;

use pdm_agent::service::Agent;
use pdm_harness::{Mosquitto, Persistence};
use pdm_service::clock::SystemClock;

use support::{Client, healthy, settings, subscribed, until};

/// Many times what the agent says it takes at once, and what its queues hold.
const EVENTS: u64 = 8000;
const RECEIVE_MAXIMUM: u16 = 64;
const BATCH: usize = 32;

/// R-AGENT-1. Mosquitto sends a returning session more than its receive maximum: here sixteen times
/// as much. The agent stood still for ever when acknowledgements waited for the connection and the
/// connection for them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backlog_above_the_receive_maximum_is_taken_in_whole() {
    let name = "a_backlog_above_the_receive_maximum_is_taken_in_whole";
    let lines = "allow_anonymous true\nmax_inflight_messages 1024\nset_tcp_nodelay true\n";
    let Some(broker) = Mosquitto::start_with(name, Persistence::Memory, lines) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let start = async || {
        let mut settings = settings(broker.port(), folder.path());
        settings.broker.receive_maximum = RECEIVE_MAXIMUM;
        settings.intake.batch = BATCH;
        Agent::start(settings, Arc::new(SystemClock)).await.expect("starts")
    };
    let agent = start().await;
    subscribed(&agent).await;
    agent.stop().await.expect("stops");
    let events: Vec<_> = (1..=EVENTS).map(healthy).collect();
    Client::connect(broker.port(), "gateway", &[]).await.send(&events).await;
    let agent = start().await;
    let progress = agent.progress();
    until("every event to be stored", 120, || progress.borrow().stored == EVENTS).await;
    assert_eq!(progress.borrow().dead_letters, 0);
    agent.stop().await.expect("stops");
}
