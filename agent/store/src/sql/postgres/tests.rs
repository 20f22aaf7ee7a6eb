//! PostgreSQL against a real server.

use pdm_harness::Postgres;
use sqlx::Row as _;

use super::*;
use crate::Store;
use crate::conformance::{at, event, incoming, judge_some};

/// Makes a database of its own for each call.
async fn database(server: &Postgres, name: &str) -> PostgresSettings {
    let pool = PgPool::connect(&server.url()).await.expect("connected");
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}")))
        .execute(&pool)
        .await
        .expect("created");
    pool.close().await;
    let url = server.url();
    let (address, _) = url.rsplit_once('/').expect("a database");
    PostgresSettings::at(format!("{address}/{name}"))
}

#[tokio::test]
async fn postgresql_does_what_every_store_must_do() {
    let Some(server) = Postgres::start("postgresql_does_what_every_store_must_do") else { return };
    let count = std::sync::atomic::AtomicU32::new(0);
    Box::pin(crate::conformance::suite(async || {
        let number = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let settings = database(&server, &format!("suite_{number}")).await;
        Store::open_postgres(&settings, "agent").await.expect("opens")
    }))
    .await;
}

#[tokio::test]
async fn postgresql_goes_on_with_rows_of_earlier_versions() {
    let name = "postgresql_goes_on_with_rows_of_earlier_versions";
    let Some(server) = Postgres::start(name) else { return };
    let count = std::sync::atomic::AtomicU32::new(0);
    crate::conformance::before::suite(async || {
        let number = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let settings = database(&server, &format!("before_{number}")).await;
        Store::open_postgres(&settings, "agent").await.expect("opens")
    })
    .await;
}

/// Guarantee 5: one writer a bearing at a time, whoever it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_replicas_judge_every_event_once_and_in_order() {
    let name = "two_replicas_judge_every_event_once_and_in_order";
    let Some(server) = Postgres::start(name) else { return };
    let settings = database(&server, "replicas").await;
    let replicas = [
        Store::open_postgres(&settings, "a").await.expect("opens"),
        Store::open_postgres(&settings, "b").await.expect("opens"),
    ];
    replicas[0].migrate().await.expect("migrated");
    let (bearings, events) = (7, 210);
    let all: Vec<Incoming> = (1..=events)
        .map(|sequence| {
            let mut event = event(sequence);
            event.bearing_id = format!("B{}", sequence % bearings).parse().expect("a name");
            incoming(&event)
        })
        .collect();
    // both store, each its own and what the other has stored already
    for (number, batch) in all.chunks(15).enumerate() {
        for replica in [number % 2, (number + 1) % 2] {
            replicas[replica].intake().store(batch, at(0.0), "dead").await.expect("stored");
        }
    }
    let judging = replicas.clone().map(|store| {
        tokio::spawn(async move {
            let mut judged = 0;
            while store.backlog().await.expect("counted").unjudged > 0 {
                judged += judge_some(&store, 9).await;
            }
            judged
        })
    });
    let [a, b] = judging;
    let (a, b) = (a.await.expect("judged"), b.await.expect("judged"));
    assert_eq!(a + b, events, "none twice");
    let rows = sqlx::query("SELECT bearing_id, event_id, late FROM pdm_agent_memory ORDER BY id")
        .fetch_all(replicas[0].server().pool())
        .await
        .expect("read");
    assert_eq!(rows.len() as u64, events);
    let mut last = std::collections::BTreeMap::new();
    for row in &rows {
        let (bearing, id): (String, uuid::Uuid) = (row.get(0), row.get(1));
        assert!(!row.get::<bool, _>(2), "{id} came in time");
        assert!(last.insert(bearing, id).is_none_or(|before| before < id), "{id} in its order");
    }
}

/// Guarantee 2: the server dies between batches; every event that was confirmed as stored is
/// stored.
#[tokio::test]
async fn a_server_that_was_killed_is_used_again() {
    let Some(mut server) = Postgres::start("a_server_that_was_killed_is_used_again") else {
        return;
    };
    let store = Store::open_postgres(&PostgresSettings::at(server.url()), "agent").await;
    let store = store.expect("opens");
    store.migrate().await.expect("migrated");
    let batch = |number: u64| [incoming(&event(number))];
    store.intake().store(&batch(1), at(0.0), "dead").await.expect("stored");
    assert_eq!(store.judging().unjudged(9).await.expect("read").len(), 1);
    server.kill();
    server.restart();
    // the session that held the turn is gone: the first call says so, the next one goes on
    let unjudged = match store.judging().unjudged(9).await {
        Err(StoreError::Unavailable(_)) => store.judging().unjudged(9).await,
        other => other,
    };
    assert_eq!(unjudged.expect("read").len(), 1);
    let stored = store.intake().store(&batch(2), at(0.0), "dead").await.expect("stored");
    assert_eq!(stored.events, 1);
    assert_eq!(store.backlog().await.expect("counted").unjudged, 2);
}

#[tokio::test]
async fn an_event_of_any_time_finds_its_place() {
    let Some(server) = Postgres::start("an_event_of_any_time_finds_its_place") else { return };
    let settings = PostgresSettings::at(server.url());
    let store = Store::open_postgres(&settings, "agent").await.expect("opens");
    store.migrate().await.expect("migrated");
    let now = at(0.0);
    let of = |sequence: u64, id: uuid::Uuid| {
        let mut event = event(sequence);
        event.event_id = pdm_shared::id::EventId(id);
        incoming(&event)
    };
    let years = 365.0 * 86_400.0;
    let old = pdm_shared::id::EventId::at(now.plus_seconds(-years).unix_ms()).0;
    let future = pdm_shared::id::EventId::at(now.plus_seconds(30.0 * 86_400.0).unix_ms()).0;
    let batch = [of(1, old), of(2, uuid::Uuid::max()), of(3, future), of(4, uuid::Uuid::nil())];
    assert_eq!(store.intake().store(&batch, now, "dead").await.expect("stored").events, 4);
    assert_eq!(rows_in(&store, "events_default").await, 3);
    // once its week has come, the one from the future moves into it
    let later = now.plus_seconds(31.0 * 86_400.0);
    let again = store.intake().store(&batch, later, "dead").await.expect("stored");
    assert_eq!((again.events, again.duplicates), (0, 4));
    assert_eq!(rows_in(&store, "events_default").await, 2);
}

async fn rows_in(store: &Store, table: &str) -> i64 {
    sqlx::query(sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}")))
        .fetch_one(store.server().pool())
        .await
        .expect("counted")
        .get(0)
}

/// The server takes no character zero in a text, JSON may hold one.
#[tokio::test]
async fn what_the_server_does_not_take_does_not_stop_the_flow() {
    let name = "what_the_server_does_not_take_does_not_stop_the_flow";
    let Some(server) = Postgres::start(name) else { return };
    let settings = PostgresSettings::at(server.url());
    let store = Store::open_postgres(&settings, "agent").await.expect("opens");
    store.migrate().await.expect("migrated");
    let letter = pdm_shared::delivery::DeadLetter::of(
        "t\0",
        b"a\0b",
        "not an event: \0".to_owned(),
        at(0.0),
    );
    let stored = store
        .intake()
        .store(&[Incoming::Refused(letter.into())], at(0.0), "dead")
        .await
        .expect("stored");
    assert_eq!(stored.letters, 1);
}

/// Issue 33, point 2: a logical replication copies rows and leaves the sequences where they were.
#[tokio::test]
async fn a_sequence_behind_its_table_is_named_and_set_forward_by_the_next_migration() {
    let name = "a_sequence_behind_its_table_is_named_and_set_forward_by_the_next_migration";
    let Some(server) = Postgres::start(name) else { return };
    let settings = database(&server, "behind").await;
    let store = Store::open_postgres(&settings, "agent").await.expect("opens");
    store.migrate().await.expect("migrated");
    let letter = |text: &[u8]| {
        let letter = pdm_shared::delivery::DeadLetter::of("t", text, "r".to_owned(), at(0.0));
        [Incoming::Refused(letter.into())]
    };
    for text in [b"a", b"b", b"c"] {
        store.intake().store(&letter(text), at(0.0), "dead").await.expect("stored");
    }
    store.raw("SELECT setval(pg_get_serial_sequence('outbox', 'id'), 1, false)").await;
    store.raw("SELECT setval('arrivals', 7)").await;
    let error = store.intake().store(&letter(b"d"), at(0.0), "dead").await.expect_err("taken");
    let trouble = StoreTrouble::from(&error);
    assert_eq!(trouble, StoreTrouble::Sequences, "{error:?}");
    assert!(trouble.action().en.contains("pdm-agent migrate"), "{}", trouble.action().en);
    store.migrate().await.expect("set forward");
    store.intake().store(&letter(b"d"), at(0.0), "dead").await.expect("stored");
    let last = "SELECT last_value FROM arrivals";
    let row = sqlx::query(last).fetch_one(store.server().pool()).await.expect("read");
    assert_eq!(row.get::<i64, _>(0), 7, "what is ahead is never set back");
}

/// A session keeps the `default_transaction_read_only` of its login: after a maintenance the agent
/// stayed blind until somebody restarted it.
#[tokio::test]
async fn sessions_of_a_time_of_read_only_are_closed_when_it_ends() {
    let name = "sessions_of_a_time_of_read_only_are_closed_when_it_ends";
    let Some(server) = Postgres::start(name) else { return };
    let settings = database(&server, "maintained").await;
    let store = Store::open_postgres(&settings, "agent").await.expect("opens");
    store.migrate().await.expect("migrated");
    store.beat(at(0.0)).await.expect("written");
    let admin = PgPool::connect(&server.url()).await.expect("connected");
    let sql = async |text: &'static str| {
        sqlx::raw_sql(text).execute(&admin).await.expect(text);
    };
    sql("ALTER DATABASE maintained SET default_transaction_read_only = on").await;
    sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'maintained'")
        .await;
    let mut trouble = None;
    for second in 1..=20 {
        // the first calls find their sessions cut
        if let Err(error) = store.beat(at(f64::from(second))).await {
            trouble = Some(StoreTrouble::from(&error));
        }
        if trouble == Some(StoreTrouble::ReadOnly) {
            break;
        }
    }
    assert_eq!(trouble, Some(StoreTrouble::ReadOnly));
    sql("ALTER DATABASE maintained RESET default_transaction_read_only").await;
    let mut last = None;
    for second in 21..=23 {
        last = Some(store.beat(at(f64::from(second))).await);
    }
    assert!(matches!(last, Some(Ok(_))), "{last:?}");
}

/// R-AGENT-10: pgbouncer was set to transaction mode while the agent ran. A session got the row of
/// another statement, and the driver's panic ended the agent.
#[tokio::test]
async fn the_row_of_another_statement_is_an_error_that_names_the_pooler() {
    let name = "the_row_of_another_statement_is_an_error_that_names_the_pooler";
    let Some(server) = Postgres::start(name) else { return };
    let settings = database(&server, "pooled").await;
    let store = Store::open_postgres(&settings, "agent").await.expect("opens");
    let opened = super::Postgres::open(&settings, "other").await.expect("opens");
    let mut session = opened.pool().acquire().await.expect("a session");
    let asks = "SELECT 1::bigint, 2::bigint, 3::bigint, 4::bigint";
    let mut connection = crate::database::Connection::Postgres(&mut session);
    let row = connection.query(asks).fetch_one().await.expect("answered");
    assert_eq!(row.get::<i64>(3).expect("read"), 4);
    let kept = "SELECT name FROM pg_prepared_statements WHERE statement LIKE '%4::bigint%'";
    let row = sqlx::raw_sql(kept).fetch_one(&mut *session).await.expect("kept");
    let statement: String = sqlx::Row::get(&row, 0);
    let other = format!("DEALLOCATE {statement}; PREPARE {statement} AS SELECT 1::bigint");
    sqlx::raw_sql(sqlx::AssertSqlSafe(other)).execute(&mut *session).await.expect("another");
    let mut connection = crate::database::Connection::Postgres(&mut session);
    let row = connection.query(asks).fetch_one().await.expect("answered");
    let error = row.get::<i64>(3).expect_err("no such value");
    assert_eq!(StoreTrouble::from(&error), StoreTrouble::Pooler, "{error}");
    drop(session);
    store.migrate().await.expect("migrated");
    store.beat(at(0.0)).await.expect("asked: each connection has a session of its own");
    assert!(!crate::suspicion::is_raised());
}
