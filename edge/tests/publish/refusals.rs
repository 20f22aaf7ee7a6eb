//! Brokers that refuse: the reason is logged, attempts are few, and no event is lost.

use std::time::Duration;

use pdm_edge::progress::TooLarge;
use pdm_edge::publish::{Down, probe};
use pdm_edge::settings::{BrokerSettings, Login};
use pdm_edge::spool::Batch;
use pdm_harness::{Mosquitto, Persistence, free_port};
use pdm_service::secret::SecretSource;
use pdm_shared::event::{Event, Spectra, SpectrumLines};
use pdm_shared::id::EventId;

use crate::stage::{Stage, local};

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_is_a_refusal_and_no_storm() {
    let Some(broker) =
        Mosquitto::start_with("a_wrong_password", Persistence::Memory, "allow_anonymous false\n")
    else {
        return;
    };
    let folder = tempfile::tempdir().expect("folder");
    let password = folder.path().join("password");
    std::fs::write(&password, "wrong\n").expect("writes");
    let login = Some(Login { user: "gw".to_owned(), password: SecretSource::File(password) });
    let settings = BrokerSettings {
        login,
        reconnect: (Duration::from_millis(20), Duration::from_secs(30)),
        ..local(broker.port())
    };

    let refused = probe(&settings, &settings.addresses[0], "gw-01").await;
    assert!(matches!(&refused, Err(Down::Refused(_))), "{refused:?}");

    let mut stage = Stage::open(folder.path()).await;
    let running = stage.publish(settings);
    stage.commit(3).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let attempts = broker.log().matches("not authorised").count();
    assert!(attempts <= 3, "{attempts} attempts\n{}", broker.log());
    assert_eq!(stage.spool.tally().await.expect("reads").waiting, 3, "nothing is lost");
    running.crash().await;
}

#[tokio::test]
async fn a_broker_that_is_not_there_is_lost_not_refused() {
    let settings = local(free_port());
    let down = probe(&settings, &settings.addresses[0], "gw-01").await;
    assert!(matches!(&down, Err(Down::Lost(text)) if text.contains("refused")), "{down:?}");
}

/// Events of which each third has spectra of another length, and one is larger without them.
fn some_large(count: usize) -> Batch {
    let text = include_str!("../../../config/examples/event.json");
    let example: Event = serde_json::from_str(text).expect("the example");
    let lines = |n: usize| SpectrumLines {
        df_hz: 1.0,
        unit: "g".to_owned(),
        amplitude: vec![0.123_456; n],
    };
    let mut batch = Batch::default();
    for n in 0..count {
        let event_id = EventId::at(1_700_000_000_000 + i64::try_from(n).expect("few"));
        let mut event = Event { event_id, ..example.clone() };
        if n % 3 == 0 {
            let (envelope, acceleration) = (lines(400 + n), lines(400));
            event.spectra = Some(Spectra { envelope, acceleration });
        }
        batch.events.push(event);
    }
    batch
}

/// R-EDGE-10: a broker whose limit nobody announced refuses a publication with reason 149, which
/// ends the connection. The gateway learns the limit, sends without spectra, and everything else
/// flows.
#[tokio::test(flavor = "multi_thread")]
async fn a_limit_that_the_broker_does_not_tell_is_learnt_and_stops_nothing() {
    let name = "a_limit_that_the_broker_does_not_tell_is_learnt_and_stops_nothing";
    let Some(broker) = Mosquitto::start_with(
        name,
        Persistence::Memory,
        "allow_anonymous true\nmessage_size_limit 6000\n",
    ) else {
        return;
    };
    let folder = tempfile::tempdir().expect("folder");
    let stage = Stage::open(folder.path()).await;
    stage.spool.commit(&mut some_large(60)).await.expect("commits");
    let running = stage.publish(local(broker.port()));
    let mut tally = stage.spool.watch();
    let sent = tally.wait_for(|tally| tally.waiting == 0);
    let outcome = tokio::time::timeout(Duration::from_mins(1), sent).await;
    assert!(outcome.is_ok(), "{:?}\n{}", stage.spool.tally().await, broker.log());
    drop(outcome);
    let told = running.progress.borrow().too_large.expect("it is told");
    let TooLarge { without_spectra, parked, limit_bytes } = told;
    assert!(without_spectra >= 20 && parked == 0, "{told:?}");
    let limit = limit_bytes.expect("the limit is known");
    assert!((6000..12_000).contains(&limit), "never below the broker's own: {limit}");
    running.close().await;
}

/// R-EDGE-10: a broker that takes nothing as large as an event keeps nothing back but that.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_without_spectra_too_is_parked_and_told() {
    let name = "what_is_too_large_without_spectra_too_is_parked_and_told";
    let Some(broker) = Mosquitto::start_with(
        name,
        Persistence::Memory,
        "allow_anonymous true\nmessage_size_limit 2000\n",
    ) else {
        return;
    };
    let folder = tempfile::tempdir().expect("folder");
    let mut stage = Stage::open(folder.path()).await;
    let mut running = stage.publish(local(broker.port()));
    running.connected().await;
    stage.commit(4).await;
    let parked = running.progress.wait_for(|now| now.too_large.is_some_and(|t| t.parked == 4));
    let outcome = tokio::time::timeout(Duration::from_mins(1), parked).await;
    assert!(outcome.is_ok(), "{:?}\n{}", stage.spool.tally().await, broker.log());
    drop(outcome);
    running.crash().await;
}

/// R-EDGE-10: one event in the middle of a backlog is larger than the broker takes, without its
/// spectra too. It alone is kept back.
#[tokio::test(flavor = "multi_thread")]
async fn one_event_in_a_backlog_that_is_too_large_keeps_nothing_else_back() {
    let name = "one_event_in_a_backlog_that_is_too_large_keeps_nothing_else_back";
    let mut batch = some_large(60);
    let size = |event: &Event| serde_json::to_vec(event).expect("json").len();
    for event in &mut batch.events {
        event.spectra = None;
    }
    let usual = batch.events.iter().map(size).max().expect("events");
    batch.events[30].anomaly.contributors = vec!["velocity_rms_mm_s".to_owned(); 32];
    let large = size(&batch.events[30]);
    assert!(large > usual + 400, "{large} {usual}");
    // a broker counts topic and properties too
    let limit = usual + 250;
    let lines = format!("allow_anonymous true\nmessage_size_limit {limit}\n");
    let Some(broker) = Mosquitto::start_with(name, Persistence::Memory, &lines) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let stage = Stage::open(folder.path()).await;
    stage.spool.commit(&mut batch).await.expect("commits");
    let mut running = stage.publish(local(broker.port()));
    let mut tally = stage.spool.watch();
    let sent = tally.wait_for(|tally| tally.acknowledged == 59);
    let outcome = tokio::time::timeout(Duration::from_mins(1), sent).await;
    assert!(outcome.is_ok(), "{:?}\n{}", stage.spool.tally().await, broker.log());
    drop(outcome);
    let told = running.progress.wait_for(|now| now.too_large.is_some_and(|one| one.parked == 1));
    let outcome = tokio::time::timeout(Duration::from_mins(1), told).await;
    assert!(outcome.is_ok(), "it is told");
    drop(outcome);
    running.crash().await;
}
