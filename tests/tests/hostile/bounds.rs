//! Strings and lists: what is too long is refused with field and limit, and the output goes on.

use pdm_harness::{Mosquitto, Persistence};

use crate::open_plant::{Client, FromBegin, event, settings, started, topic, until};

/// Events with a text of nearly a megabyte, each valid JSON of the contract's form: one of them
/// once made a diagnosis that no broker takes, and the agent's output ended for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_texts_are_refused_by_name_and_the_output_goes_on() {
    let name = "long_texts_are_refused_by_name_and_the_output_goes_on";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let settings = settings(broker.port(), folder.path());
    let agent = started(settings, FromBegin::new()).await;
    let client = Client::connect(broker.port()).await;
    for sequence in 1..=20 {
        let mut long = event(sequence, 0.0);
        long.trend.feature = "x".repeat(900_000);
        client.send(&long).await;
    }
    let mut long = event(21, 0.0);
    long.trend.feature = "x".repeat(100_000);
    client.send(&long).await;
    let honest = event(22, 1.0);
    client.send(&honest).await;
    let id = honest.event_id.to_string();
    until("the honest diagnosis", 60, || {
        client.heard("/diagnosis").iter().any(|text| text.contains(&id)).then_some(())
    })
    .await;
    let letters = until("the letters", 30, || {
        Some(client.heard("dead-letter")).filter(|letters| letters.len() >= 21)
    })
    .await;
    for letter in &letters {
        assert!(letter.len() < 16_000, "{} bytes", letter.len());
    }
    let of_field = letters.iter().filter(|letter| letter.contains("trend.feature is ")).count();
    let of_size = letters.iter().filter(|letter| letter.contains("at most 131072")).count();
    assert_eq!((of_field, of_size), (1, 20));
    agent.stop().await.expect("no part failed");
}

/// A line break in a text of the event once began a line of its own before the real action.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forged_action_reaches_nobody() {
    let name = "a_forged_action_reaches_nobody";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let settings = settings(broker.port(), folder.path());
    let agent = started(settings, FromBegin::new()).await;
    let client = Client::connect(broker.port()).await;
    let mut forged = event(1, 0.0);
    forged.trend.feature = "a)\nAction: SENSOR TEST, keep running\n(b".to_owned();
    client.send(&forged).await;
    forged = event(2, 0.0);
    forged.rul = pdm_shared::event::Rul::unknown("b\u{202e}gninnur peek");
    client.send(&forged).await;
    let mut honest = event(3, 1.0);
    honest.bearing_id = "NDE".parse().expect("a name");
    client.send(&honest).await;
    until("the honest notification", 30, || {
        client.heard("/notification").iter().any(|text| text.contains("NDE")).then_some(())
    })
    .await;
    for text in client.heard("/notification") {
        assert!(!text.contains("SENSOR TEST") && !text.contains('\u{202e}'), "{text}");
    }
    let letters = until("the letters", 30, || {
        Some(client.heard("dead-letter")).filter(|letters| letters.len() >= 2)
    })
    .await;
    assert!(letters.iter().any(|letter| letter.contains("rul.unknown holds the character U+202E")));
    agent.stop().await.expect("no part failed");
}

/// A broker with a smaller limit than a diagnosis needs: the diagnosis alone is given up, and what
/// waits behind it leaves. The connection once ended at each attempt, after a restart as well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_too_large_for_the_broker_is_given_up_alone() {
    let name = "a_row_too_large_for_the_broker_is_given_up_alone";
    let lines = "allow_anonymous true\nmax_packet_size 3600\n";
    let Some(broker) = Mosquitto::start_with(name, Persistence::Memory, lines) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let settings = settings(broker.port(), folder.path());
    let agent = started(settings, FromBegin::new()).await;
    let progress = agent.progress();
    let client = Client::connect(broker.port()).await;
    client.send(&event(1, 0.0)).await;
    until("the notification", 30, || client.heard("/notification").first().cloned()).await;
    until("an empty outbox", 30, || (progress.borrow().unsent == 0).then_some(())).await;
    assert_eq!(client.heard("/diagnosis"), Vec::<String>::new(), "too large for this broker");
    agent.stop().await.expect("no part failed");
}

/// The topic's bound, too: a name with a character that turns the reading direction is no name.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_turns_its_direction_is_refused() {
    let name = "a_name_that_turns_its_direction_is_refused";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let agent = started(settings(broker.port(), folder.path()), FromBegin::new()).await;
    let client = Client::connect(broker.port()).await;
    let event = event(1, 0.0);
    let turned = "D\u{202e}E";
    let payload = serde_json::to_string(&event).expect("json").replace("\"DE\"", "\"D\u{202e}E\"");
    let topic = topic(&event, "event").replace("/DE/", &format!("/{turned}/"));
    client.publish(topic, false, payload).await;
    let letter = until("the letter", 30, || client.heard("dead-letter").first().cloned()).await;
    assert!(!letter.contains("\"topic\":\"pdm/v1/ulsan-1/P-101/D\u{202e}E"), "{letter}");
    assert!(client.heard("/diagnosis").is_empty());
    agent.stop().await.expect("no part failed");
}
