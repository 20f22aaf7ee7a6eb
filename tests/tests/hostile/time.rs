//! Times that cannot be true, acknowledgements of another alarm, and more notifications than a
//! person can read.

use std::time::Duration;

use pdm_harness::{Mosquitto, Persistence};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::time::Timestamp;

use crate::open_plant::{
    Client, FromBegin, event, hook, receiver, settings, started, topic, until,
};

fn diagnosis(client: &Client, id: &str) -> Option<Diagnosis> {
    let heard = client.heard("/diagnosis");
    let text = heard.iter().find(|text| text.contains(id))?;
    Some(serde_json::from_str(text).expect("a diagnosis"))
}

/// After such an event everything was late, for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_dated_9999_locks_no_bearing() {
    let name = "an_event_dated_9999_locks_no_bearing";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let settings = settings(broker.port(), folder.path());
    let agent = started(settings, FromBegin::new()).await;
    let client = Client::connect(broker.port()).await;
    let mut ahead = event(1, 0.0);
    ahead.measured_at = Timestamp::parse("9999-12-31T23:59:59Z").expect("a time");
    client.send(&ahead).await;
    let id = ahead.event_id.to_string();
    let judged = until("the judgement of 9999", 30, || diagnosis(&client, &id)).await;
    let causes: Vec<&str> = judged.uncertainty.causes.iter().map(|t| t.en.as_str()).collect();
    assert!(causes.iter().any(|cause| cause.contains("check the gateway's clock")), "{causes:?}");
    let right = event(2, 1.0);
    client.send(&right).await;
    let id = right.event_id.to_string();
    let judged = until("the judgement after it", 30, || diagnosis(&client, &id)).await;
    let causes: Vec<&str> = judged.uncertainty.causes.iter().map(|t| t.en.as_str()).collect();
    assert!(!causes.iter().any(|cause| cause.contains("arrived late")), "{causes:?}");
    assert_eq!(judged.memory.used, 0, "a judgement of a wrong clock is not remembered");
    agent.stop().await.expect("no part failed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_acknowledgement_of_2001_silences_no_later_alarm() {
    let name = "an_acknowledgement_of_2001_silences_no_later_alarm";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let settings = settings(broker.port(), folder.path());
    let store = pdm_store::open(&settings.store).await.expect("opens");
    let client = Client::connect(broker.port()).await;
    let fault = event(1, 0.0);
    let key = fault.key();
    let old = r#"{"schema":"pdm.ack/1","by":"nobody","at":"2001-01-01T00:00:00Z"}"#;
    client.publish(topic(&fault, "ack"), true, old).await;
    let agent = started(settings, FromBegin::new()).await;
    let letter = until("the letter", 30, || client.heard("dead-letter").first().cloned()).await;
    assert!(letter.contains("a retained acknowledgement"), "{letter}");
    client.send(&fault).await;
    until("the alarm", 30, || client.heard("/notification").first().cloned()).await;
    client.publish(topic(&fault, "ack"), false, old).await;
    let forged = r#"{"schema":"pdm.ack/1","by":"kim\nAction: none","at":"2026-11-21T10:06:00Z"}"#;
    client.publish(topic(&fault, "ack"), false, forged).await;
    until("the second letter", 30, || client.heard("dead-letter").get(1).cloned()).await;
    assert!(
        !store
            .episodes()
            .episode(&key)
            .await
            .expect("read")
            .expect("stands")
            .episode
            .acknowledgement
            .is_acknowledged()
    );
    let good = r#"{"schema":"pdm.ack/1","by":"kim","at":"2026-11-21T10:06:00Z"}"#;
    client.publish(topic(&fault, "ack"), false, good).await;
    let begun = std::time::Instant::now();
    while !store
        .episodes()
        .episode(&key)
        .await
        .expect("read")
        .expect("stands")
        .episode
        .acknowledgement
        .is_acknowledged()
    {
        assert!(begun.elapsed() < Duration::from_mins(2), "the acknowledgement of this alarm");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    agent.stop().await.expect("no part failed");
}

/// A restart in the same hour begins no new count.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn above_the_ceiling_one_summary_tells_what_was_held_back() {
    let name = "above_the_ceiling_one_summary_tells_what_was_held_back";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let (url, posts) = receiver().await;
    let mut settings = settings(broker.port(), folder.path());
    settings.notify.webhook = vec![hook("ops", url)];
    settings.notify.per_recipient_per_hour = 3;
    let clock = FromBegin::new();
    let agent = started(settings.clone(), clock.clone()).await;
    let client = Client::connect(broker.port()).await;
    let machine = |number: u64| {
        let mut event = event(number, 0.0);
        event.equipment_id = format!("P-{number}").parse().expect("a name");
        event
    };
    for number in 1..=12 {
        client.send(&machine(number)).await;
    }
    until("the summary", 60, || (posts.lock().expect("whole").len() >= 4).then_some(())).await;
    let heard = || (client.heard("/notification").len() >= 4).then_some(());
    until("the summary of the topic", 60, heard).await;
    agent.stop().await.expect("no part failed");
    let agent = started(settings, clock).await;
    for number in 13..=15 {
        client.send(&machine(number)).await;
    }
    let progress = agent.progress();
    until("the last judgement", 60, || (progress.borrow().judged >= 3).then_some(())).await;
    until("an empty outbox", 30, || (progress.borrow().unsent == 0).then_some(())).await;
    agent.stop().await.expect("no part failed");
    let posts = posts.lock().expect("whole").iter().map(|(_, body)| body.clone()).collect();
    // the topic `notification` of the broker is a recipient too
    for told in [posts, client.heard("/notification")] {
        assert_eq!(told.len(), 4, "three notifications and one summary in this hour: {told:?}");
        let summaries: Vec<&String> =
            told.iter().filter(|body| body.contains("notifications held back")).collect();
        assert_eq!(summaries.len(), 1);
        assert!(summaries[0].contains("above 3 an hour"), "{}", summaries[0]);
        assert!(summaries[0].contains("ulsan-1/P-"), "it names bearings: {}", summaries[0]);
    }
}
