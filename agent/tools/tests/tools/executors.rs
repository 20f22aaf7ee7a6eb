//! R-TOOL-6: `sql` only reads; `pipeline` runs its tools in order.

use std::collections::BTreeMap;
use std::path::Path;

use async_trait::async_trait;
use pdm_tools::exec::builtin::{Builtin, Builtins};
use pdm_tools::exec::sql::{DatabasePlace, Databases};
use pdm_tools::exec::{Failure, Invocation};
use pdm_tools::{Catalogue, ExecutorResources, Registry, Runtime};
use serde_json::{Value, json};
use sqlx::Connection;

use super::{call, folder, runtime_of, said, tool};

async fn database(folder: &Path) -> Databases {
    let file = folder.join("assets.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&file).create_if_missing(true);
    let mut connection = sqlx::SqliteConnection::connect_with(&options).await.expect("open");
    sqlx::raw_sql(
        "CREATE TABLE t (name TEXT, n INTEGER, x REAL, b BLOB);
         INSERT INTO t VALUES ('외륜', 1, 0.5, x'00ff'), ('inner', 2, NULL, NULL);",
    )
    .execute(&mut connection)
    .await
    .expect("filled");
    connection.close().await.expect("closed");
    Databases::new(BTreeMap::from([("assets".to_owned(), DatabasePlace::Sqlite(file))]))
}

fn sql(query: &str, more: &str) -> String {
    let config = json!({ "database": "assets", "query": query });
    let more = if more.is_empty() { String::new() } else { format!(", {more}") };
    let config = format!("{}{more}}}", config.to_string().trim_end_matches('}'));
    tool("t", "collection", &format!("executor: sql\nconfig: {config}\n"))
}

async fn asked(query: &str, more: &str, arguments: Value) -> Result<Value, String> {
    let files = folder(&[]);
    let means = ExecutorResources {
        databases: database(files.path()).await,
        ..ExecutorResources::default()
    };
    let (runtime, _tools) = runtime_of(&sql(query, more), means);
    let answer = runtime.call(&call("t", arguments)).await;
    answer.map(|answer| answer.value).map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_statement_is_answered_with_typed_rows() {
    let answer =
        asked("SELECT name, n, x, b FROM t WHERE name = :query", "", json!({"query": "외륜"}));
    let expected = json!({"row_count": 1, "truncated": false,
        "rows": [{"name": "외륜", "n": 1, "x": 0.5, "b": "(binary, 2 bytes)"}]});
    assert_eq!(answer.await.expect("rows"), expected);
}

#[tokio::test]
async fn an_argument_is_bound_and_never_part_of_the_statement() {
    let query = "SELECT name FROM t WHERE name = :query";
    let answer = asked(query, "", json!({"query": "x' OR '1'='1"})).await.expect("rows");
    assert_eq!(answer["row_count"], 0);
}

#[tokio::test]
async fn rows_are_limited_and_the_result_says_so() {
    let query = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c";
    let answer = asked(query, "row_limit: 5", json!({})).await.expect("rows");
    assert_eq!((&answer["row_count"], &answer["truncated"]), (&json!(5), &json!(true)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_runs_too_long_is_interrupted() {
    let query =
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT max(i) FROM c";
    let error = asked(query, "timeout_s: 0.2, retries: 0", json!({})).await.expect_err("cut off");
    assert!(error.contains("longer than allowed") || error.contains("no answer within"), "{error}");
}

/// The connection refuses a write even if the check of statements let one pass: each safeguard is
/// tested alone.
#[tokio::test]
async fn a_connection_for_tools_cannot_write() {
    let files = folder(&[]);
    let databases = database(files.path()).await;
    let options = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(files.path().join("assets.db"))
        .read_only(true)
        .pragma("query_only", "ON");
    let mut connection = sqlx::SqliteConnection::connect_with(&options).await.expect("open");
    let refused = sqlx::raw_sql("INSERT INTO t (n) VALUES (3)").execute(&mut connection).await;
    assert!(refused.expect_err("read only").to_string().contains("readonly"));
    drop(databases);
    for query in [
        "INSERT INTO t (n) VALUES (3)",
        "WITH a AS (SELECT 1) DELETE FROM t",
        "SELECT 1; DROP TABLE t",
        "ATTACH 'x' AS y",
        "PRAGMA query_only=OFF",
    ] {
        let files = folder(&[("t.yaml", &sql(query, ""))]);
        let loaded = Registry::read(files.path());
        assert!(loaded.registry.names().is_empty(), "{query}");
        assert!(said(&loaded.problems)[0].contains("config.query"), "{query}");
    }
}

#[tokio::test]
async fn a_database_that_the_settings_do_not_name_is_refused() {
    let text = sql("SELECT 1", "").replace("assets", "secrets");
    let files = folder(&[]);
    let means = ExecutorResources {
        databases: database(files.path()).await,
        ..ExecutorResources::default()
    };
    let (runtime, _tools) = runtime_of(&text, means);
    let error = runtime.call(&call("t", json!({}))).await.expect_err("refused").to_string();
    assert_eq!(error, "t: no database secrets in the settings; there are: assets");
}

/// A function that answers with its arguments under its own name.
struct Echo;

#[async_trait]
impl Builtin for Echo {
    async fn call(&self, invocation: Invocation<'_>) -> Result<Value, Failure> {
        if invocation.text("query") == Some("fail") {
            return Err(Failure::Permanent("as asked".to_owned()));
        }
        Ok(json!({"by": invocation.tool, "got": invocation.arguments,
                "list": [{"title": "first"}]}))
    }
}

fn echoing(files: &[(&str, &str)]) -> (Runtime, tempfile::TempDir) {
    let folder = folder(files);
    let (catalogue, problems) = Catalogue::open(folder.path());
    assert_eq!(said(&problems), Vec::<String>::new());
    let builtins = Builtins::default().with("echo", Echo);
    (
        Runtime::new(catalogue, ExecutorResources { builtins, ..ExecutorResources::default() }),
        folder,
    )
}

fn echo(name: &str, layer: &str, extra: &str) -> String {
    tool(name, layer, &format!("config: {{function: echo}}\n{extra}"))
}

#[tokio::test]
async fn a_pipeline_hands_on_what_its_steps_produce() {
    let pipeline = tool(
        "research",
        "insight",
        "executor: pipeline\ndependencies: [manual, history]\nconfig:\n  steps:\n    - tool: \
         manual\n      input: {query: $cases.list.0.title}\n    - tool: history\n      input: \
         {query: $input.query}\n  output: {asked: $manual.got.query, first: \
         $cases.got.query}\n",
    );
    let (runtime, _folder) = echoing(&[
        ("history.yaml", &echo("history", "collection", "produces: [cases]\n")),
        ("manual.yaml", &echo("manual", "collection", "")),
        ("research.yaml", &pipeline),
    ]);
    let answer = runtime.call(&call("research", json!({"query": "q"}))).await.expect("answer");
    assert_eq!(answer.value, json!({"asked": "first", "first": "q"}));
    let error = runtime.call(&call("research", json!({"query": "fail"}))).await.expect_err("fails");
    assert_eq!(error.to_string(), "research: step history failed: history: as asked");
}

#[tokio::test]
async fn steps_of_later_layers_wait_and_take_the_arguments_they_know() {
    let pipeline = tool(
        "both",
        "ops",
        "executor: pipeline\ndependencies: [last, first]\nconfig: {steps: [{tool: last}, {tool: \
         first}]}\n",
    );
    let (runtime, _folder) = echoing(&[
        ("a.yaml", &echo("first", "collection", "")),
        ("b.yaml", &echo("last", "ops", "")),
        ("c.yaml", &pipeline),
    ]);
    let answer = runtime.call(&call("both", json!({"query": "q"}))).await.expect("answer");
    assert_eq!(answer.value["last"]["got"], json!({"query": "q"}));
}

#[test]
fn a_pipeline_without_a_plan_is_refused_with_its_field() {
    let told = |steps: &str| {
        let text = tool(
            "p",
            "ops",
            &format!("executor: pipeline\ndependencies: [a, b]\nconfig: {{steps: {steps}}}\n"),
        );
        let files = folder(&[
            ("a.yaml", &echo("a", "ops", "")),
            ("b.yaml", &echo("b", "ops", "")),
            ("p.yaml", &text),
        ]);
        said(&Registry::read(files.path()).problems).join("\n")
    };
    let wait = told("[{tool: a, input: {query: $b.got}}, {tool: b, input: {query: $a.got}}]");
    assert!(wait.contains("config.steps: these steps wait for each other: a, b"), "{wait}");
    let nothing = told("[{tool: a, input: {query: $c.got}}]");
    assert!(
        nothing.contains("config.steps.0.input: $c.got refers to nothing; there are: input, a"),
        "{nothing}"
    );
    let argument = told("[{tool: a, input: {query: $input.q}}]");
    assert!(argument.contains("q is none of the properties of input_schema"), "{argument}");
    let twice = told("[{tool: a}, {tool: a}]");
    assert!(twice.contains("a is there twice"), "{twice}");
}
