//! Plans of statements, which tests of several modules look at: a look that reads a whole table
//! answers a test as fast as one by an index does.

use pdm_harness::Postgres;
use pdm_service::postgres::PostgresSettings;

use crate::Store;
use crate::database::{Dialect, Query, Statement};

mod versions;

/// The plan of a statement: the lines that the database tells of it.
pub(super) async fn plan(
    store: &Store,
    statement: impl Into<Statement>,
    bind: impl FnOnce(Query<'_>) -> Query<'_>,
) -> String {
    let statement = statement.into();
    let explained = |how: &str, text: &str| -> &'static str { format!("{how} {text}").leak() };
    let statement = Statement {
        sqlite: explained("EXPLAIN QUERY PLAN", statement.sqlite),
        postgres: explained("EXPLAIN", statement.postgres),
    };
    let mut snapshot = store.database().reader().begin_snapshot().await.expect("begun");
    let mut connection = snapshot.connection();
    let column = match connection.dialect() {
        Dialect::Sqlite => 3,
        Dialect::Postgres => {
            // of an empty table PostgreSQL reads every row, whatever its indexes
            connection.query("SET LOCAL enable_seqscan = off").execute().await.expect("set");
            0
        }
    };
    let rows = bind(connection.query(statement)).fetch_all().await.expect("a plan");
    let lines = rows.iter().map(|row| row.get::<String>(column).expect("text"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Both stores with their tables, empty.
pub(super) async fn stores(test: &str) -> (tempfile::TempDir, Option<Postgres>, Vec<Store>) {
    let folder = tempfile::tempdir().expect("folder");
    let file = Store::open_sqlite(&folder.path().join("agent.db")).await.expect("opens");
    let server = Postgres::start(test);
    let mut stores = vec![file];
    if let Some(server) = &server {
        let settings = PostgresSettings::at(server.url());
        stores.push(Store::open_postgres(&settings, "agent").await.expect("opens"));
    }
    for store in &stores {
        store.migrate().await.expect("migrated");
    }
    (folder, server, stores)
}

/// Fails unless the plan holds every part, and no reading of a whole table of the store.
pub(super) fn holds(plan: &str, parts: &[&str]) {
    for part in parts {
        assert!(plan.contains(part), "no {part} in\n{plan}");
    }
    // SQLite tells "SCAN json_each" of a list that is a parameter
    let whole = plan.lines().find(|line| {
        line.contains("Seq Scan") || (line.contains("SCAN ") && !line.contains("json_each"))
    });
    assert_eq!(whole, None, "{plan}");
}
