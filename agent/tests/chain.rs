//! Intake to notification over a real broker: stored once, judged once, told once.

mod support;

use std::sync::Arc;

use pdm_agent::service::Agent;
use pdm_harness::{Mosquitto, Persistence};
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_shared::delivery::{DeadLetter, Notification, NotificationReason, Receipt};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::risk::RiskLevel;
use pdm_store::Store;

use support::{Client, event, healthy, settings, subscribed, until};

/// R-AGENT-1, R-AGENT-9, R-AGENT-10: the whole way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_becomes_a_diagnosis_a_receipt_and_one_notification() {
    let name = "an_event_becomes_a_diagnosis_a_receipt_and_one_notification";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut client = Client::connect(broker.port(), "test", &["pdm/v1/#"]).await;
    let agent = Agent::start(settings(broker.port(), folder.path()), Arc::new(SystemClock))
        .await
        .expect("starts");
    let progress = subscribed(&agent).await;

    client.send(&[healthy(1), healthy(2), event(3), event(4)]).await;
    until("four judgements", 20, || {
        let now = *progress.borrow();
        (now.judged, now.unsent) == (4, 0)
    })
    .await;
    until("the receipt", 10, || {
        client.heard_on("/receipt").iter().any(|text| text.contains("\"stored_through\":4"))
    })
    .await;

    let diagnoses: Vec<Diagnosis> = client
        .heard_on("/diagnosis")
        .iter()
        .map(|text| serde_json::from_str(text).expect("diagnosis"))
        .collect();
    let risks: Vec<RiskLevel> = diagnoses.iter().map(|diagnosis| diagnosis.risk_level).collect();
    assert_eq!(
        risks,
        [RiskLevel::Normal, RiskLevel::Normal, RiskLevel::Warning, RiskLevel::Warning]
    );
    let told: Vec<Notification> = client
        .heard_on("/notification")
        .iter()
        .map(|text| serde_json::from_str(text).expect("notification"))
        .collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].reason, NotificationReason::Raised);
    assert!(told[0].title.ko.starts_with("[경고] P-101 DE"), "{}", told[0].title.ko);
    let end = agent.stop().await.expect("no part failed");
    assert_eq!((end.stored, end.judged, end.notified, end.dead_letters), (4, 4, 1, 0));
}

/// R-AGENT-1: duplicates and disorder.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn duplicates_and_disorder_are_stored_once_and_gaps_are_asked_for() {
    let name = "duplicates_and_disorder_are_stored_once_and_gaps_are_asked_for";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut client = Client::connect(broker.port(), "test", &["pdm/v1/+/gateway/+/receipt"]).await;
    let agent = Agent::start(settings(broker.port(), folder.path()), Arc::new(SystemClock))
        .await
        .expect("starts");
    let progress = subscribed(&agent).await;
    let (one, two, three, five) = (healthy(1), healthy(2), healthy(3), healthy(5));
    let sent: Vec<_> =
        [&two, &one, &two, &five, &one, &three, &three, &five].into_iter().cloned().collect();
    client.send(&sent).await;
    until("four stored", 20, || {
        let now = *progress.borrow();
        (now.stored, now.duplicates) == (4, 4)
    })
    .await;
    let last = || {
        let receipts = client.heard_on("/receipt");
        let receipt: Receipt = serde_json::from_str(receipts.last()?).ok()?;
        Some((receipt.stored_through, receipt.missing))
    };
    until("the gap in the receipt", 10, || last() == Some((3, vec![[4, 4]]))).await;
    client.send(&[healthy(4)]).await;
    let last = || {
        let receipts = client.heard_on("/receipt");
        let receipt: Receipt = serde_json::from_str(receipts.last()?).ok()?;
        Some((receipt.stored_through, receipt.missing))
    };
    until("the gap closed", 10, || last() == Some((5, vec![]))).await;
    let end = agent.stop().await.expect("no part failed");
    assert_eq!((end.stored, end.judged), (5, 5));
}

/// R-AGENT-1: what is refused goes to the dead letters and never stops the flow.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_messages_are_dead_letters_and_the_same_again_only_counts() {
    let name = "bad_messages_are_dead_letters_and_the_same_again_only_counts";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut client = Client::connect(broker.port(), "test", &["pdm/v1/dead-letter"]).await;
    let agent = Agent::start(settings(broker.port(), folder.path()), Arc::new(SystemClock))
        .await
        .expect("starts");
    let progress = subscribed(&agent).await;
    let bad = |payload: &str| ("pdm/v1/ulsan-1/P-101/DE/event".to_owned(), payload.to_owned());
    let stray = (
        "pdm/v1/ulsan-1/P-102/DE/event".to_owned(),
        serde_json::to_string(&event(9)).expect("json"),
    );
    client.publish([bad("{"), bad("{"), bad("{"), stray]).await;
    client.send(&[healthy(1)]).await;
    until("one judged, four refused", 20, || {
        let now = *progress.borrow();
        (now.judged, now.dead_letters, now.unsent) == (1, 4, 0)
    })
    .await;
    until("two letters", 10, || client.heard_on("dead-letter").len() == 2).await;
    let mut letters: Vec<DeadLetter> = client
        .heard_on("dead-letter")
        .iter()
        .map(|text| serde_json::from_str(text).expect("letter"))
        .collect();
    // senders are served in turn
    letters.sort_by(|one, other| one.reason.cmp(&other.reason));
    assert!(letters[0].reason.starts_with("not an event"), "{}", letters[0].reason);
    assert!(letters[1].reason.starts_with("topic and event differ"), "{}", letters[1].reason);
    agent.stop().await.expect("no part failed");
}

/// R-AGENT-1: what was published while the agent was away waits in its session.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_came_while_the_agent_was_away_is_judged_when_it_is_back() {
    let name = "what_came_while_the_agent_was_away_is_judged_when_it_is_back";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut client = Client::connect(broker.port(), "test", &["pdm/v1/+/+/+/notification"]).await;
    let start = || Agent::start(settings(broker.port(), folder.path()), Arc::new(SystemClock));
    let agent = start().await.expect("starts");
    let progress = subscribed(&agent).await;
    client.send(&[event(1)]).await;
    until("the first", 20, || progress.borrow().judged == 1).await;
    agent.stop().await.expect("no part failed");
    let later: Vec<_> = (2..=300).map(event).collect();
    client.send(&later).await;
    let agent = start().await.expect("starts again");
    let progress = subscribed(&agent).await;
    until("the backlog", 30, || {
        let now = *progress.borrow();
        (now.judged, now.unsent) == (299, 0)
    })
    .await;
    agent.stop().await.expect("no part failed");
    assert_eq!(client.heard_on("/notification").len(), 1, "told before, not again");
}

/// R-AGENT-9: a technician reports by MQTT what was found; it is kept, counted, and refused where
/// nobody asked for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follow_up_by_mqtt_is_kept_and_counted() {
    let name = "a_follow_up_by_mqtt_is_kept_and_counted";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut client = Client::connect(broker.port(), "test", &["pdm/v1/dead-letter"]).await;
    let agent = Agent::start(settings(broker.port(), folder.path()), Arc::new(SystemClock))
        .await
        .expect("starts");
    let progress = subscribed(&agent).await;
    let one = event(1);
    client.send(std::slice::from_ref(&one)).await;
    until("the judgement", 20, || progress.borrow().judged == 1).await;
    let report = serde_json::json!({
        "schema": "pdm.follow_up/1", "state": "done", "by": "kim",
        "at": "2026-11-25T06:40:00Z", "repaired": true,
        "found": { "verdict": "other_cause", "element": null, "cause": "coupling" },
    });
    let to =
        |bearing: &str| (format!("pdm/v1/ulsan-1/P-101/{bearing}/follow-up"), report.to_string());
    client.publish([to("DE"), to("NDE")]).await;
    until("the refused one", 20, || client.heard_on("/dead-letter").len() == 1).await;
    agent.stop().await.expect("no part failed");
    let store = Store::open_sqlite(&folder.path().join("agent.db")).await.expect("opens");
    let counts = store.follow_ups().work_counts(SystemClock.now()).await.expect("counted");
    assert_eq!((counts.open, counts.done, counts.other_cause), (0, 2, 1));
    let diagnosis = store.history().diagnosis(one.event_id).await.expect("read").expect("there");
    assert_eq!(diagnosis.found.and_then(|found| found.cause).as_deref(), Some("coupling"));
    store.close().await;
}
