//! `kill -9` of the agent's own process, again and again: nothing lost, nothing twice.

mod support;

use std::time::Duration;

use pdm_harness::{Mosquitto, Persistence};
use pdm_shared::delivery::Notification;
use rand::{RngExt as _, SeedableRng};
use sqlx::Row;

use support::{Client, event, healthy, start, until};

const EVENTS: u64 = 1500;
const KILLS: usize = 8;
const SEED: u64 = 20_261_121;

async fn counts(pool: &sqlx::SqlitePool) -> Option<(i64, i64, i64, i64)> {
    let row = sqlx::query(
        "SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM pdm_agent_memory),
                (SELECT count(*) FROM notifications WHERE reason <> 'message'),
                (SELECT count(*) FROM outbox WHERE state = 'waiting')",
    )
    .fetch_one(pool)
    .await
    .ok()?;
    Some((row.get(0), row.get(1), row.get(2), row.get(3)))
}

/// R-AGENT-1, guarantee 2: killed between receiving, storing, acknowledging, judging and sending.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::too_many_lines, reason = "one course of events, told from start to end")]
async fn a_killed_agent_loses_nothing_and_does_nothing_twice() {
    let name = "a_killed_agent_loses_nothing_and_does_nothing_twice";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let config = folder.path().join("agent.toml");
    let port = broker.port();
    let text = format!(
        "[store]\nsqlite = \"agent.db\"\n[broker]\naddresses = \
         [\"127.0.0.1:{port}\"]\n[notify]\ngroup_wait_s = 0.0\n"
    );
    std::fs::write(&config, text).expect("configuration");
    let mut client = Client::connect(port, "test", &["pdm/v1/+/+/+/notification"]).await;
    let mut agent = start(&config);
    let url = format!("sqlite://{}", folder.path().join("agent.db").display());
    let pool = loop {
        match sqlx::SqlitePool::connect(&url).await {
            Ok(pool) => break pool,
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    // the session exists once the first event is stored
    let first = healthy(1);
    while counts(&pool).await.is_none_or(|counts| counts.0 == 0) {
        client.send(std::slice::from_ref(&first)).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mut random = rand::rngs::StdRng::seed_from_u64(SEED);
    let sending = tokio::spawn(async move {
        for sequence in 2..=EVENTS {
            client.send(&[event(sequence)]).await;
        }
        client
    });
    for _ in 0..KILLS {
        tokio::time::sleep(Duration::from_millis(random.random_range(50..600))).await;
        agent.kill();
        agent = start(&config);
    }
    let mut client = sending.await.expect("sent");
    let wanted = EVENTS.cast_signed();
    let deadline = tokio::time::Instant::now() + Duration::from_mins(6);
    loop {
        let now = counts(&pool).await;
        if now.is_some_and(|(events, judged, _, waiting)| {
            (events, judged, waiting) == (wanted, wanted, 0)
        }) {
            break;
        }
        assert!(tokio::time::Instant::now() < deadline, "seed {SEED}: {now:?}, wanted {wanted}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let told = counts(&pool).await.expect("counts").2;
    assert_eq!(told, 1, "one alarm for one rise of one bearing");
    until("the notification", 10, || !client.heard_on("/notification").is_empty()).await;
    let mut ids: Vec<_> = client
        .heard_on("/notification")
        .iter()
        .map(|text| serde_json::from_str::<Notification>(text).expect("json"))
        .map(|told| told.notification_id)
        .collect();
    ids.dedup();
    assert_eq!(ids.len(), 1, "a repeated delivery carries the same key");
    // the last start may not have got as far as its signal handlers: one event more shows that it
    // has
    client.send(&[event(EVENTS + 1)]).await;
    while counts(&pool).await.is_none_or(|counts| counts.0 == wanted) {
        assert!(tokio::time::Instant::now() < deadline, "the last start stores nothing");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(agent.terminate().success());
}
