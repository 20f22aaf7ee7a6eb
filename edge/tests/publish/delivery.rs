//! Brokers that crash, lose state, limit packets and come back.

use std::time::Duration;

use pdm_edge::settings::{BrokerAddress, BrokerSettings, DrainOrder, Protocol};
use pdm_harness::{Mosquitto, Persistence, free_port};
use pdm_shared::delivery::Presence;

use crate::agent::{Agent, Stored};
use crate::stage::{Stage, local};

/// Checks that the agent stored each committed event under its number, and no other event.
fn all_met(stage: &Stage, stored: &Stored) -> bool {
    stored.events.len() == stage.obligations.len()
        && stage
            .obligations
            .iter()
            .all(|(sequence, id)| stored.events.get(sequence).is_some_and(|(got, _)| got == id))
}

#[tokio::test(flavor = "multi_thread")]
async fn events_arrive_byte_equal_in_order_with_birth_and_goodbye() {
    let Some(broker) = Mosquitto::start("events_arrive_byte_equal", Persistence::Memory) else {
        return;
    };
    let folder = tempfile::tempdir().expect("folder");
    let mut stage = Stage::open(folder.path()).await;
    let agent = Agent::listen(broker.port(), true).await;
    let mut running = stage.publish(local(broker.port()));
    running.connected().await;
    stage.commit(300).await;
    agent.until("300 events", |stored| stored.events.len() == 300).await;
    stage.emptied(10).await;
    running.close().await;
    agent
        .until("goodbye", |stored| {
            stored.status.last().is_some_and(|status| status.status == Presence::Offline)
        })
        .await;
    agent.with(|stored| {
        assert!(all_met(&stage, stored));
        assert!(stored.arrivals.is_sorted(), "in order");
        assert_eq!(stored.status[0].status, Presence::Online, "birth first");
        assert_eq!(stored.states.last().expect("a state").sequence, 300);
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn mqtt_3_1_1_delivers_too() {
    let Some(broker) = Mosquitto::start("mqtt_3_1_1_delivers_too", Persistence::Memory) else {
        return;
    };
    let folder = tempfile::tempdir().expect("folder");
    let mut stage = Stage::open(folder.path()).await;
    let agent = Agent::listen(broker.port(), true).await;
    let settings = BrokerSettings { protocol: Protocol::V311, ..local(broker.port()) };
    let running = stage.publish(settings);
    stage.commit(700).await;
    agent.until("700 events", |stored| all_met(&stage, stored)).await;
    stage.emptied(10).await;
    running.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_down_at_start_gets_everything_later() {
    let Some(mut broker) = Mosquitto::start("a_broker_that_is_down_at_start", Persistence::Memory)
    else {
        return;
    };
    broker.kill();
    let folder = tempfile::tempdir().expect("folder");
    let mut stage = Stage::open(folder.path()).await;
    let running = stage.publish(local(broker.port()));
    stage.commit(100).await;
    broker.restart();
    let agent = Agent::listen(broker.port(), true).await;
    // events that the broker took before the agent subscribed are requested again by receipt
    agent.until("100 events", |stored| all_met(&stage, stored)).await;
    stage.emptied(10).await;
    running.close().await;
}

/// Trap 1 of rumqttc 0.25: `session_present=false` clears the packets in flight.
/// Guarantee 1: events are kept after the PUBACK of a broker that loses its state.
#[tokio::test(flavor = "multi_thread")]
async fn a_broker_killed_in_flight_that_forgets_everything_loses_nothing() {
    let name = "a_broker_killed_in_flight_that_forgets_everything";
    let Some(mut broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut stage = Stage::open(folder.path()).await;
    let agent = Agent::listen(broker.port(), true).await;
    let mut running = stage.publish(local(broker.port()));
    running.connected().await;
    for round in 1..=5 {
        stage.commit(1000).await;
        let enough = round * 200;
        running.progress.wait_for(|progress| progress.published >= enough).await.expect("runs");
        broker.kill();
        stage.commit(50).await;
        broker.restart();
    }
    agent.until("all events", |stored| all_met(&stage, stored)).await;
    stage.emptied(20).await;
    running.close().await;
}

/// `kill -9` of the edge: events without a PUBACK on disk are sent again, and no event is made up.
#[tokio::test(flavor = "multi_thread")]
async fn a_publisher_that_crashes_in_flight_repeats_and_loses_nothing() {
    let name = "a_publisher_that_crashes_in_flight";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut stage = Stage::open(folder.path()).await;
    let agent = Agent::listen(broker.port(), true).await;
    for _ in 0..5 {
        let mut running = stage.publish(local(broker.port()));
        stage.commit(400).await;
        running.progress.wait_for(|progress| progress.published >= 100).await.expect("runs");
        running.crash().await;
    }
    let running = stage.publish(local(broker.port()));
    agent.until("all events", |stored| all_met(&stage, stored)).await;
    stage.emptied(10).await;
    running.close().await;
}

/// Traps 2 and 3: packet ids wrap many times with few in flight, and no collision lasts.
#[tokio::test(flavor = "multi_thread")]
async fn packet_ids_that_wrap_lose_and_mix_up_nothing() {
    let name = "packet_ids_that_wrap";
    let Some(mut broker) = Mosquitto::start(name, Persistence::Disk) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut stage = Stage::open(folder.path()).await;
    let agent = Agent::listen(broker.port(), true).await;
    let mut running = stage.publish(BrokerSettings { max_in_flight: 7, ..local(broker.port()) });
    running.connected().await;
    stage.commit(500).await;
    running.progress.wait_for(|progress| progress.published >= 200).await.expect("runs");
    broker.kill();
    broker.restart();
    agent.until("500 events", |stored| all_met(&stage, stored)).await;
    stage.emptied(20).await;
    running.close().await;
}

/// Trap 4: a full request channel and a polling task must not wait for each other.
#[tokio::test(flavor = "multi_thread")]
async fn a_backlog_far_larger_than_any_channel_drains() {
    let Some(broker) = Mosquitto::start("a_backlog_far_larger", Persistence::Memory) else {
        return;
    };
    let folder = tempfile::tempdir().expect("folder");
    let mut stage = Stage::open(folder.path()).await;
    for _ in 0..20 {
        stage.commit(500).await;
    }
    let agent = Agent::listen(broker.port(), true).await;
    let running = stage.publish(local(broker.port()));
    agent.until("10,000 events", |stored| all_met(&stage, stored)).await;
    stage.emptied(20).await;
    running.close().await;
}

/// Trap 7: the receipt topic is subscribed again when the broker lost the session.
#[tokio::test(flavor = "multi_thread")]
async fn receipts_are_heard_again_after_the_broker_forgot_the_session() {
    let Some(mut broker) = Mosquitto::start("receipts_are_heard_again", Persistence::Memory) else {
        return;
    };
    let folder = tempfile::tempdir().expect("folder");
    let mut stage = Stage::open(folder.path()).await;
    let agent = Agent::listen(broker.port(), true).await;
    let running = stage.publish(local(broker.port()));
    stage.commit(10).await;
    stage.emptied(10).await;
    broker.kill();
    broker.restart();
    stage.commit(10).await;
    stage.emptied(10).await;
    agent.with(|stored| assert!(all_met(&stage, stored)));
    running.close().await;
}

/// Trap 8: to a broker that takes small packets only, the event is sent without its spectra.
#[tokio::test(flavor = "multi_thread")]
async fn an_event_too_large_for_the_broker_does_not_stop_the_others() {
    let lines = "allow_anonymous true\nmax_packet_size 1200\n";
    let name = "an_event_too_large_for_the_broker";
    let Some(broker) = Mosquitto::start_with(name, Persistence::Memory, lines) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut stage = Stage::open(folder.path()).await;
    let running = stage.publish(local(broker.port()));
    stage.commit(3).await;
    let mut tally = stage.spool.watch();
    let parked = tally.wait_for(|tally| tally.parked == 3 && tally.waiting == 0);
    let outcome = tokio::time::timeout(Duration::from_secs(10), parked).await;
    assert!(outcome.is_ok(), "{:?}", stage.spool.tally().await);
    running.close().await;
}

/// R-EDGE-10: a broker whose access rules refuse the states of bearings made all sending pause, up
/// to five minutes at a time.
#[tokio::test(flavor = "multi_thread")]
async fn events_go_on_where_the_broker_refuses_the_states_of_bearings() {
    let name = "events_go_on_where_the_broker_refuses_the_states";
    let folder = tempfile::tempdir().expect("folder");
    let rules = folder.path().join("acl");
    std::fs::write(
        &rules,
        "topic read pdm/v1/#\ntopic write pdm/v1/+/+/+/event\ntopic write \
         pdm/v1/+/gateway/+/status\n\
         topic write pdm/v1/+/gateway/+/receipt\n",
    )
    .expect("rules");
    for protocol in [Protocol::V5, Protocol::V311] {
        let lines = format!("allow_anonymous true\nacl_file {}\n", rules.display());
        let started = Mosquitto::start_with(name, Persistence::Memory, &lines);
        let Some(broker) = started else { return };
        let own = tempfile::tempdir().expect("folder");
        let mut stage = Stage::open(own.path()).await;
        let agent = Agent::listen(broker.port(), true).await;
        let running = stage.publish(BrokerSettings { protocol, ..local(broker.port()) });
        let begun = std::time::Instant::now();
        for _ in 0..10 {
            stage.commit(5).await;
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        stage.emptied(20).await;
        assert!(begun.elapsed() < Duration::from_secs(20), "{protocol:?}: {:?}", begun.elapsed());
        agent.with(|stored| {
            assert!(all_met(&stage, stored));
            assert!(stored.states.is_empty(), "none is allowed");
        });
        running.close().await;
    }
}

/// R-EDGE-10: an agent that follows a count which another client has named hears the gateway's own
/// again.
#[tokio::test(flavor = "multi_thread")]
async fn a_receipt_of_another_count_is_answered_by_the_gateways_status() {
    let name = "a_receipt_of_another_count_is_answered";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut stage = Stage::open(folder.path()).await;
    let agent = Agent::listen(broker.port(), false).await;
    let mut running = stage.publish(local(broker.port()));
    running.connected().await;
    stage.commit(3).await;
    agent.until("the events", |stored| stored.events.len() == 3).await;
    let said = agent.with(|stored| stored.status.len());
    let foreign = pdm_shared::delivery::Receipt {
        schema: pdm_shared::delivery::RECEIPT_SCHEMA.to_owned(),
        gateway_id: crate::stage::GATEWAY.parse().expect("name"),
        epoch: Some(pdm_shared::id::Epoch::at(0)),
        stored_through: 3,
        missing: Vec::new(),
        at: pdm_shared::time::Timestamp::from_unix_ms(0).expect("a time"),
    };
    agent.tell_receipt(&foreign).await;
    // the status is at most repeated each half minute
    agent.until_for(2400, "the status again", |stored| stored.status.len() > said).await;
    let own = stage.spool.numbering().epoch;
    agent.with(|stored| assert_eq!(stored.status.last().and_then(|one| one.epoch), Some(own)));
    assert_eq!(stage.spool.tally().await.expect("read").acknowledged, 3, "nothing was deleted");
    running.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_second_address_takes_over_when_the_first_is_away() {
    let Some(broker) = Mosquitto::start("the_second_address", Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut stage = Stage::open(folder.path()).await;
    let agent = Agent::listen(broker.port(), true).await;
    let mut settings = local(broker.port());
    let away = BrokerAddress { host: "127.0.0.1".to_owned(), port: free_port() };
    settings.addresses.insert(0, away);
    let running = stage.publish(settings);
    stage.commit(10).await;
    agent.until("10 events", |stored| all_met(&stage, stored)).await;
    running.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn live_first_sends_the_present_before_a_throttled_backlog() {
    let Some(broker) = Mosquitto::start("live_first", Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut stage = Stage::open(folder.path()).await;
    stage.commit(1000).await;
    let agent = Agent::listen(broker.port(), false).await;
    let settings = BrokerSettings {
        drain_order: DrainOrder::LiveFirst,
        drain_per_s: Some(50),
        late_after_s: 0.0,
        ..local(broker.port())
    };
    let mut running = stage.publish(settings);
    running.connected().await;
    stage.commit(5).await;
    agent.until("the present", |stored| stored.events.contains_key(&1005)).await;
    agent.with(|stored| {
        assert!(!stored.events.contains_key(&1000), "the past ends 20 s after its beginning");
    });
    agent.until("some of the past", |stored| stored.replayed.contains(&3)).await;
    running.crash().await;
}

/// Issue 33, point 9: an agent whose database is a restored backup asks for what the gateway
/// deleted by the receipts of the one before. The status says so, and no event goes without its
/// spectra because of it.
#[tokio::test(flavor = "multi_thread")]
async fn numbers_that_the_spool_has_no_more_are_named_in_the_status() {
    let test = "numbers_that_the_spool_has_no_more_are_named_in_the_status";
    let Some(broker) = Mosquitto::start(test, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut stage = Stage::open(folder.path()).await;
    let agent = Agent::listen(broker.port(), true).await;
    let running = stage.publish(local(broker.port()));
    stage.commit(10).await;
    stage.emptied(10).await;
    agent.stored.lock().expect("whole").events.retain(|number, _| !(3..=6).contains(number));
    agent
        .until("a status", |stored| {
            stored.status.last().is_some_and(|status| status.gone == [[3, 6]])
        })
        .await;
    assert_eq!(running.progress.borrow().too_large, None, "nothing is too large");
    running.close().await;
}
