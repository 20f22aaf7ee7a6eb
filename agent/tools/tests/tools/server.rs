//! R-TOOL-6: `sql` on a PostgreSQL server only reads.

use std::collections::BTreeMap;

use pdm_harness::Postgres;
use pdm_service::postgres::PostgresSettings;
use pdm_service::secret::SecretSource;
use pdm_tools::ExecutorResources;
use pdm_tools::exec::sql::{DatabasePlace, Databases};
use serde_json::{Value, json};
use sqlx::Connection;

use super::{call, runtime_of, tool};

/// A server with a table and a function that writes to it.
async fn server(test: &str) -> Option<Postgres> {
    let server = Postgres::start(test)?;
    let mut connection = sqlx::PgConnection::connect(&server.url()).await.expect("connects");
    sqlx::raw_sql(
        "CREATE TABLE work (id int PRIMARY KEY, title text, hours numeric, at timestamptz, tags \
         text[]);
         INSERT INTO work VALUES
           (1, '외륜 베어링 교체', 4.5, '2026-03-01T08:00:00Z', '{bearing,outer}'),
           (2, 'alignment', NULL, NULL, NULL);
         CREATE FUNCTION sneak() RETURNS int LANGUAGE sql VOLATILE AS
           'INSERT INTO work (id) VALUES (3) RETURNING id';",
    )
    .execute(&mut connection)
    .await
    .expect("filled");
    connection.close().await.expect("closed");
    Some(server)
}

async fn asked(
    settings: PostgresSettings,
    config: Value,
    arguments: Value,
) -> Result<Value, String> {
    let place = DatabasePlace::Postgres(Box::new(settings));
    let databases = Databases::new(BTreeMap::from([("cmms".to_owned(), place)]));
    let means = ExecutorResources { databases, ..ExecutorResources::default() };
    let text = tool("t", "collection", &format!("executor: sql\nconfig: {config}\n"));
    let (runtime, _tools) = runtime_of(&text, means);
    let answer = runtime.call(&call("t", arguments)).await;
    answer.map(|answer| answer.value).map_err(|error| error.to_string())
}

fn config(query: &str) -> Value {
    json!({ "database": "cmms", "query": query, "retries": 0 })
}

#[tokio::test]
async fn a_server_answers_with_typed_rows() {
    let Some(server) = server("a_server_answers_with_typed_rows").await else { return };
    let query = "SELECT id, title, hours, at::date AS day, tags FROM work \
                 WHERE title LIKE '%' || :query || '%' ORDER BY id;";
    let settings = PostgresSettings::at(server.url());
    let answer = asked(settings, config(query), json!({"query": "베어링"})).await.expect("rows");
    let row = json!({"id": 1, "title": "외륜 베어링 교체", "hours": 4.5, "day": "2026-03-01",
        "tags": ["bearing", "outer"]});
    assert_eq!(answer, json!({"row_count": 1, "truncated": false, "rows": [row]}));
}

/// Issue 33, point 5: the role's password is rotated and every session cut.
#[tokio::test]
async fn a_rotated_password_is_used_by_the_next_call() {
    let Some(mut server) = server("a_rotated_password_is_used_by_the_next_call").await else {
        return;
    };
    let admin = server.url();
    let run = async |statements: &'static str| {
        let mut connection = sqlx::PgConnection::connect(&admin).await.expect("connects");
        sqlx::raw_sql(statements).execute(&mut connection).await.expect(statements);
    };
    run("CREATE ROLE tools LOGIN PASSWORD 'one'; GRANT SELECT ON work TO tools").await;
    server.restart_with_passwords_for("tools");
    let file = tempfile::NamedTempFile::new().expect("file");
    let write = |text: &str| std::fs::write(file.path(), text).expect("written");
    write("one");
    let (_, after) = admin.split_once('@').expect("a user");
    let settings = PostgresSettings {
        password: Some(SecretSource::File(file.path().to_owned())),
        ..PostgresSettings::at(format!("postgres://tools@{after}"))
    };
    let place = DatabasePlace::Postgres(Box::new(settings));
    let databases = Databases::new(BTreeMap::from([("cmms".to_owned(), place)]));
    let means = ExecutorResources { databases, ..ExecutorResources::default() };
    let query = config("SELECT count(*) AS rows FROM work");
    let text = tool("t", "collection", &format!("executor: sql\nconfig: {query}\n"));
    let (runtime, _tools) = runtime_of(&text, means);
    let answers = async || runtime.call(&call("t", json!({}))).await.map(|answer| answer.value);
    answers().await.expect("with the first password");
    run("ALTER ROLE tools PASSWORD 'two';
         SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'tools'")
    .await;
    write("");
    answers().await.expect_err("an empty file is no new password");
    write("two");
    answers().await.expect("with the second password");
}

#[tokio::test]
async fn an_argument_is_bound_at_a_server_too_and_rows_are_limited() {
    let Some(server) = server("an_argument_is_bound_at_a_server_too_and_rows_are_limited").await
    else {
        return;
    };
    let settings = PostgresSettings::at(server.url());
    let query = "SELECT id FROM work WHERE title = :query";
    let injected = json!({"query": "x' OR '1'='1"});
    let answer = asked(settings.clone(), config(query), injected).await.expect("rows");
    assert_eq!(answer["row_count"], 0);
    let mut many =
        config("WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c");
    many["row_limit"] = json!(5);
    let answer = asked(settings, many, json!({})).await.expect("rows");
    assert_eq!((&answer["row_count"], &answer["truncated"]), (&json!(5), &json!(true)));
}

/// The check of statements lets a function pass; the transaction refuses the function's write, even
/// for a role that may write.
#[tokio::test]
async fn a_function_that_writes_is_refused_by_the_transaction() {
    let Some(server) = server("a_function_that_writes_is_refused_by_the_transaction").await else {
        return;
    };
    for query in [
        "SELECT sneak()",
        "SELECT set_config('transaction_read_only', 'off', false), sneak()",
        "WITH off AS MATERIALIZED (SELECT set_config('transaction_read_only', 'off', true)) \
         SELECT sneak() FROM off",
    ] {
        let settings = PostgresSettings::at(server.url());
        let error = asked(settings, config(query), json!({})).await.expect_err(query);
        assert!(error.contains("read-only") || error.contains("read-write"), "{query}: {error}");
    }
    let mut connection = sqlx::PgConnection::connect(&server.url()).await.expect("connects");
    let rows: i64 = sqlx::query_scalar("SELECT count(*) FROM work")
        .fetch_one(&mut connection)
        .await
        .expect("counted");
    assert_eq!(rows, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_runs_too_long_is_ended_by_the_server() {
    let Some(server) = server("a_statement_that_runs_too_long_is_ended_by_the_server").await else {
        return;
    };
    let settings =
        PostgresSettings { statement_timeout_s: 0.2, ..PostgresSettings::at(server.url()) };
    let error = asked(settings, config("SELECT 1 AS one, pg_sleep(60)::text"), json!({})).await;
    assert!(error.clone().expect_err("ended").contains("longer than allowed"), "{error:?}");
}

#[tokio::test]
async fn a_server_that_is_away_or_without_its_password_is_told() {
    let away = PostgresSettings::at("postgres://reader@127.0.0.1:1/cmms");
    let error = asked(away.clone(), config("SELECT 1 AS one"), json!({})).await.expect_err("away");
    assert!(error.contains("cannot reach postgres://reader@127.0.0.1:1/cmms"), "{error}");
    let password = serde_json::from_value(json!({"file": "/nowhere/password"})).expect("a source");
    let settings = PostgresSettings { password: Some(password), ..away };
    let error = asked(settings, config("SELECT 1 AS one"), json!({})).await.expect_err("refused");
    assert!(error.contains("tools.databases.cmms.password"), "{error}");
}
