//! The dashboard over PostgreSQL: every query runs on the agent's own tables, as the role that is
//! made for it.

use pdm_harness::{Postgres, until};
use serde_json::Value;
use sqlx::{Column as _, Connection as _, PgConnection, Row as _, TypeInfo as _};

use crate::metrics::project;
use crate::watched::{PATIENCE, Watched};

/// The value of a variable as Grafana writes it with the format `sqlstring`.
fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

/// A query with the variables of the dashboard in it.
fn filled(sql: &str, now_ms: i64) -> String {
    let filled = sql
        .replace("${site:sqlstring}", &format!("{},{}", quoted("no'where"), quoted("ulsan-1")))
        .replace("${bearing:sqlstring}", &quoted("ulsan-1/P-101/DE"))
        .replace("$__from", &(now_ms - 86_400_000).to_string())
        .replace("$__to", &(now_ms + 60_000).to_string());
    assert!(!filled.contains('$'), "a variable that Grafana would not fill in: {filled}");
    filled
}

/// The queries of the dashboard: title, SQL, whether a time series is drawn.
fn queries() -> Vec<(String, String, bool)> {
    let text = std::fs::read_to_string(project("deploy/monitoring/grafana-postgres.json"));
    let board: Value = serde_json::from_str(&text.expect("a board")).expect("JSON");
    let mut queries = Vec::new();
    for variable in board["templating"]["list"].as_array().expect("variables") {
        if variable["type"] == "query" {
            let sql = variable["query"].as_str().expect("SQL").to_owned();
            queries.push((variable["name"].to_string(), sql, false));
        }
    }
    let mut places = std::collections::BTreeSet::new();
    for panel in board["panels"].as_array().expect("panels") {
        assert!(places.insert(panel["gridPos"].to_string()), "two panels in one place");
        for target in panel["targets"].as_array().expect("targets") {
            let sql = target["rawSql"].as_str().expect("SQL").to_owned();
            queries.push((panel["title"].to_string(), sql, target["format"] == "time_series"));
        }
    }
    queries
}

fn now_ms() -> i64 {
    pdm_service::clock::Clock::now(&pdm_service::clock::SystemClock).unix_ms()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_query_of_the_dashboard_answers_from_the_tables_of_the_agent() {
    let test = "every_query_of_the_dashboard_answers_from_the_tables_of_the_agent";
    let Some(server) = Postgres::start(test) else { return };
    let place = format!("postgres = {{ url = \"{}\" }}", server.url());
    let Some(mut plant) = Watched::new(test, &place, "") else { return };
    plant.start();
    plant.works();
    for _ in 0..6 {
        plant.fault("P-101");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    plant.hears("P-101");
    let mut owner = PgConnection::connect(&server.url()).await.expect("connects");
    let roles = std::fs::read_to_string(project("deploy/monitoring/reader.sql")).expect("roles");
    // twice: after an update of the program it is run again
    for _ in 0..2 {
        sqlx::raw_sql(sqlx::AssertSqlSafe(roles.clone())).execute(&mut owner).await.expect("role");
    }
    let url = server.url().replace("pdm@", "pdm_reader@");
    let mut reader = PgConnection::connect(&url).await.expect("the reader connects");
    let may_be_empty = ["Captured waveforms"];
    for (title, sql, is_series) in queries() {
        let sql = filled(&sql, now_ms());
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql.clone())).fetch_all(&mut reader).await;
        let rows = rows.unwrap_or_else(|error| panic!("{title}: {error}\n{sql}"));
        let is_empty = may_be_empty.iter().any(|one| title.contains(one));
        assert!(is_empty || !rows.is_empty(), "{title} has no row\n{sql}");
        let Some(first) = rows.first().filter(|_| is_series) else { continue };
        let columns = first.columns();
        assert_eq!(columns[0].name(), "time", "{title}");
        assert_eq!(columns[0].type_info().name(), "TIMESTAMPTZ", "{title}");
        let mut known = 0;
        for (at, column) in columns.iter().enumerate().skip(1) {
            assert_eq!(column.type_info().name(), "FLOAT8", "{title}: {}", column.name());
            known += usize::from(rows.iter().any(|row| row.get::<Option<f64>, _>(at).is_some()));
        }
        assert!(known > 0, "{title}: no figure in any row");
    }
    for forbidden in ["SELECT * FROM users", "SELECT * FROM outbox", "DELETE FROM events"] {
        assert!(sqlx::query(forbidden).execute(&mut reader).await.is_err(), "{forbidden}");
    }
}

/// A plant of a year's windows is drawn through the index: the plan reads no table whole.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_trend_of_a_bearing_is_read_by_its_index() {
    let test = "the_trend_of_a_bearing_is_read_by_its_index";
    let Some(server) = Postgres::start(test) else { return };
    let place = format!("postgres = {{ url = \"{}\" }}", server.url());
    let Some(plant) = Watched::new(test, &place, "") else { return };
    let (code, said) = plant.said("migrate");
    assert_eq!(code, Some(0), "{said}");
    let mut owner = PgConnection::connect(&server.url()).await.expect("connects");
    let fill = "INSERT INTO events (event_id, gateway_id, sequence, site, equipment_id, bearing_id,
                    measured_at_ms, received_at_ms, payload, shown)
                SELECT gen_random_uuid(), 'gw-01', n, 'ulsan-1', 'P-' || n % 50, 'DE',
                       (extract(epoch FROM now()) * 1000)::bigint - n * 1000, 0, '{}',
                       '{\"v\":2,\"running\":true,\"valid\":true,\"rms_g\":0.1}'
                FROM generate_series(1, 50000) AS n";
    sqlx::query(fill).execute(&mut owner).await.expect("filled");
    sqlx::query("ANALYZE events").execute(&mut owner).await.expect("analyzed");
    for (title, sql, _) in queries().into_iter().filter(|(_, _, is_series)| *is_series) {
        let sql = format!("EXPLAIN {}", filled(&sql, now_ms()));
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_all(&mut owner).await;
        let rows = rows.expect("planned");
        let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let plan = plan.join("\n");
        assert!(!plan.contains("Seq Scan on events_default"), "{title}\n{plan}");
    }
}

#[test]
fn a_name_with_a_quote_ends_no_query() {
    let sql = "SELECT 1 WHERE site IN (${site:sqlstring}) AND x = ${bearing:sqlstring}";
    let told = until("filled", PATIENCE, || Some(filled(sql, 0)));
    assert_eq!(told, "SELECT 1 WHERE site IN ('no''where','ulsan-1') AND x = 'ulsan-1/P-101/DE'");
}
