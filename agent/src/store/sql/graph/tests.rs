//! How each database looks the graph up: by an index, in both stores. A look that reads a whole table answers
//! a test as fast as one that does not; `tests/run plant` would show the difference at a million
//! relationships, and these claims show it at none.

use pdm_harness::Postgres;
use pdm_service::postgres::PostgresSettings;

use super::*;
use crate::store::LifecycleStore as _;
use crate::store::database::{Query, Statement};

/// The plan of a statement: the lines that the database tells of it.
async fn plan(
    store: &SqlStore,
    statement: impl Into<Statement>,
    bind: impl FnOnce(Query<'_>) -> Query<'_>,
) -> String {
    let statement = statement.into();
    let explained = |how: &str, text: &str| -> &'static str { format!("{how} {text}").leak() };
    let statement = Statement {
        sqlite: explained("EXPLAIN QUERY PLAN", statement.sqlite),
        postgres: explained("EXPLAIN", statement.postgres),
    };
    let mut snapshot = store.reader().begin_snapshot().await.expect("begun");
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
async fn stores(test: &str) -> (tempfile::TempDir, Option<Postgres>, Vec<SqlStore>) {
    let folder = tempfile::tempdir().expect("folder");
    let file = SqlStore::open_sqlite(&folder.path().join("agent.db")).await.expect("opens");
    let server = Postgres::start(test);
    let mut stores = vec![file];
    if let Some(server) = &server {
        let settings = PostgresSettings::at(server.url());
        stores.push(SqlStore::open_postgres(&settings, "agent").await.expect("opens"));
    }
    for store in &stores {
        store.migrate().await.expect("migrated");
    }
    (folder, server, stores)
}

/// Fails unless the plan holds every part, and no reading of a whole table of the store.
fn holds(plan: &str, parts: &[&str]) {
    for part in parts {
        assert!(plan.contains(part), "no {part} in\n{plan}");
    }
    // SQLite tells "SCAN json_each" of a list that is a parameter
    let whole = plan.lines().find(|line| {
        line.contains("Seq Scan") || (line.contains("SCAN ") && !line.contains("json_each"))
    });
    assert_eq!(whole, None, "{plan}");
}

/// R-GRAPH-1: relationships of one type by node and type at once, their other ends by identity.
#[tokio::test]
async fn relationships_of_a_node_are_found_by_node_and_type_in_both_stores() {
    let name = "relationships_of_a_node_are_found_by_node_and_type_in_both_stores";
    let (_folder, _server, stores) = stores(name).await;
    for store in &stores {
        for (number, end, index) in [
            (1, "from_node", "graph_edges_out"),
            (3, "to_node", "graph_edges_in"),
            (5, "from_node", "graph_edges_out"),
            (7, "to_node", "graph_edges_in"),
        ] {
            let plan = plan(store, &EDGES[number], |query| {
                let nodes = query.bind([1, 2].into_iter().collect::<Numbers>());
                nodes.bind("TAGGED".to_owned()).bind(String::new()).bind(9_i64)
            });
            let plan = plan.await;
            if store.is_file() {
                holds(&plan, &[&format!("{index} ({end}=? AND kind=?)")]);
            } else {
                holds(&plan, &[index, &format!("(({end} = ANY "), "AND (kind = "]);
            }
            let far =
                if store.is_file() { "n USING INTEGER PRIMARY KEY" } else { "graph_nodes_pkey" };
            assert_eq!(plan.contains(far), number > 4, "{plan}");
        }
    }
}

/// R-GRAPH-1: nodes by identity, and the days of a bearing by bearing and time.
#[tokio::test]
async fn nodes_and_days_are_found_by_an_index_in_both_stores() {
    let (_folder, _server, stores) =
        stores("nodes_and_days_are_found_by_an_index_in_both_stores").await;
    for store in &stores {
        let by_ids =
            plan(store, &BY_IDS, |query| query.bind([1, 2].into_iter().collect::<Numbers>()));
        let key = if store.is_file() { "INTEGER PRIMARY KEY" } else { "graph_nodes_pkey" };
        holds(&by_ids.await, &[key]);
        let days = plan(store, &DAYS, |query| {
            let query = query.bind("s".to_owned()).bind("m".to_owned()).bind("b".to_owned());
            query.bind([0, 86_400_000].into_iter().collect::<Numbers>())
        });
        let bounds = if store.is_file() {
            "bearing_id=? AND measured_at_ms>? AND measured_at_ms<?"
        } else {
            "AND (measured_at_ms >= d.begin) AND (measured_at_ms < (d.begin + 86400000))"
        };
        let days = days.await;
        assert!(days.contains(bounds), "{days}");
        assert!(!days.contains("Seq Scan on events") && !days.contains("SCAN e\n"), "{days}");
    }
}
