//! A clock that was set far ahead, and right again after a restart: what was written meanwhile leaves.

use pdm_agent::settings::PostgresSettings;
use pdm_agent::store::postgres::PostgresStore;
use pdm_agent::store::sqlite::SqliteStore;
use pdm_agent::store::{Incoming, Store};
use pdm_harness::Postgres;
use pdm_shared::clock::Timestamp;
use pdm_shared::delivery::DeadLetter;

const DAY_S: f64 = 86_400.0;

/// It waited for the day that the wrong clock had named.
async fn leaves_when_the_clock_is_right_again(store: &dyn Store) {
    store.migrate().await.expect("migrated");
    let now = Timestamp::from_unix_ms(1_800_000_000_000).expect("in range");
    let wrong = now.plus_seconds(40.0 * DAY_S);
    let letter = DeadLetter::of("topic", b"x", "reason".to_owned(), wrong);
    store.store(&[Incoming::Refused(letter)], wrong, "dead").await.expect("stored");
    let until = now.plus_seconds(300.0);
    let claimed = store.claim("mqtt", now, until, 9).await.expect("claimed");
    assert_eq!(claimed.len(), 1, "what was due in 40 days leaves");

    // a pause is a pause
    let later = now.plus_seconds(600.0);
    let letter = DeadLetter::of("topic", b"y", "reason".to_owned(), later);
    store.store(&[Incoming::Refused(letter)], later, "dead").await.expect("stored");
    assert_eq!(store.claim("mqtt", now, until, 9).await.expect("claimed").len(), 0);
    assert_eq!(
        store.claim("mqtt", later, until.plus_seconds(900.0), 9).await.expect("read").len(),
        2
    );

    // a claim that was committed and not heard of
    let held = store.claim("mqtt", later, until, 9).await.expect("read");
    assert_eq!(held.len(), 0, "claimed until later");
    store.let_go("mqtt").await.expect("let go");
    assert_eq!(store.claim("mqtt", later, until, 9).await.expect("claimed").len(), 2);
    store.close().await;
}

#[tokio::test]
async fn sqlite_sends_what_a_wrong_clock_had_put_off() {
    let folder = tempfile::tempdir().expect("folder");
    let store = SqliteStore::open(&folder.path().join("agent.db")).await.expect("opens");
    leaves_when_the_clock_is_right_again(&store).await;
}

#[tokio::test]
async fn postgres_sends_what_a_wrong_clock_had_put_off() {
    let Some(server) = Postgres::start("postgres_sends_what_a_wrong_clock_had_put_off") else {
        return;
    };
    let settings = PostgresSettings::at(server.url());
    let store = PostgresStore::open(&settings, "test").await.expect("opens");
    leaves_when_the_clock_is_right_again(&store).await;
}
