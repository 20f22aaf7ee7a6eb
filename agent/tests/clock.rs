//! A clock that was set ahead, and right again after a restart: what was written meanwhile leaves.

use pdm_harness::Postgres;
use pdm_service::postgres::PostgresSettings;
use pdm_shared::delivery::DeadLetter;
use pdm_shared::time::Timestamp;
use pdm_store::{Incoming, SendOutcome, Store};

const DAY_S: f64 = 86_400.0;

/// It waited for the day, or the hour, that the wrong clock had named.
async fn leaves_when_the_clock_is_right_again(store: &Store) {
    store.migrate().await.expect("migrated");
    let now = Timestamp::from_unix_ms(1_800_000_000_000).expect("in range");
    let put = async |payload: &[u8], at| {
        let letter = DeadLetter::of("topic", payload, "reason".to_owned(), at);
        store
            .intake()
            .store(&[Incoming::Refused(letter.into())], at, "dead")
            .await
            .expect("stored");
    };
    put(b"x", now.plus_seconds(40.0 * DAY_S)).await;
    put(b"y", now.plus_seconds(3600.0)).await;
    let until = now.plus_seconds(300.0);
    let claim =
        async |at| store.outbox().claim("dead_letters", at, until, 9).await.expect("claimed");
    let rows = claim(now).await;
    assert_eq!(rows.len(), 2, "what was due in 40 days and in an hour leaves");

    // a pause is a pause, but none lasts an hour
    let retry = |at| SendOutcome::Retry { at, error: "away".to_owned() };
    let outcomes = [
        (rows[0].id, retry(now.plus_seconds(600.0))),
        (rows[1].id, retry(now.plus_seconds(3600.0))),
    ];
    store.outbox().settle(&outcomes, now).await.expect("settled");
    let again: Vec<i64> = claim(now).await.iter().map(|row| row.id).collect();
    assert_eq!(again, [rows[1].id]);

    // a claim that was committed and not heard of
    assert_eq!(claim(now).await.len(), 0, "claimed until later");
    store.outbox().let_go("dead_letters").await.expect("let go");
    assert_eq!(claim(now).await.len(), 1);
    assert_eq!(claim(now.plus_seconds(600.0)).await.len(), 2, "the pause and the claim are over");
    store.close().await;
}

#[tokio::test]
async fn sqlite_sends_what_a_wrong_clock_had_put_off() {
    let folder = tempfile::tempdir().expect("folder");
    let store = Store::open_sqlite(&folder.path().join("agent.db")).await.expect("opens");
    leaves_when_the_clock_is_right_again(&store).await;
}

#[tokio::test]
async fn postgres_sends_what_a_wrong_clock_had_put_off() {
    let Some(server) = Postgres::start("postgres_sends_what_a_wrong_clock_had_put_off") else {
        return;
    };
    let settings = PostgresSettings::at(server.url());
    let store = Store::open_postgres(&settings, "test").await.expect("opens");
    leaves_when_the_clock_is_right_again(&store).await;
}
