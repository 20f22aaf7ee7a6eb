//! `pdm up`, killed again and again in the middle of a run: nothing missing, nothing twice.
//!
//! The source is a simulated run, so its windows are known: every one must be stored exactly once,
//! with a gap-free sequence, judged once, and each change of risk told once.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use pdm_harness::{Child, binary, free_port};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sqlx::{Connection, Row, SqliteConnection};

const SNAPSHOTS: i64 = 400;
const KILLS: usize = 8;

const EDGE: &str = r#"
gateway_id = "gw-kill"
site = "test"
[broker]
addresses = ["127.0.0.1:1"]
[spool]
path = "edge.db"
[[source]]
name = "sim"
kind = "simulator"
pace = "max"
rate_hz = 6400.0
period_s = 10800.0
started_at = "2026-01-01T00:00:00Z"
[source.simulator]
fault = "outer_race"
snapshots = 400
snapshot_s = 0.6
seed = 3
[[source.channel]]
channel = 0
equipment = "P-1"
bearing = "DE"
bearing_type = "6205"
rpm = 1797.0
"#;

const AGENT: &str = r#"
[store]
sqlite = "agent.db"
"#;

fn up(folder: &Path, port: u16) -> Command {
    let mut command = Command::new(binary("pdm"));
    command
        .args(["up", "--exit", "--listen", &format!("127.0.0.1:{port}"), "--config"])
        .arg(folder)
        .env("PDM_LOG", "warn")
        .stdout(Stdio::null());
    command
}

async fn figures(folder: &Path, sql: &'static str) -> Vec<i64> {
    let url = format!("sqlite:{}", folder.join("agent.db").display());
    let mut database = SqliteConnection::connect(&url).await.expect("the agent's store opens");
    let rows = sqlx::query(sql).fetch_all(&mut database).await.expect(sql);
    rows.iter().map(|row| row.get(0)).collect()
}

/// R-EDGE-10, R-AGENT-1, R-AGENT-10
#[tokio::test]
async fn a_killed_chain_misses_nothing_and_repeats_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("edge.toml"), EDGE).expect("edge.toml");
    std::fs::write(folder.path().join("agent.toml"), AGENT).expect("agent.toml");
    let port = free_port();
    let mut random = ChaCha8Rng::seed_from_u64(7);
    for _ in 0..KILLS {
        let mut chain = Child::start(&mut up(folder.path(), port));
        std::thread::sleep(Duration::from_millis(random.random_range(300..1500)));
        chain.kill();
    }
    let mut chain = Child::start(&mut up(folder.path(), port));
    assert!(chain.wait().success(), "the last run ends by itself");

    let sequences = figures(folder.path(), "select sequence from events order by sequence").await;
    let expected: Vec<i64> = (1..=SNAPSHOTS).collect();
    assert_eq!(sequences, expected, "every window once, without a gap");
    let times = figures(folder.path(), "select measured_at_ms from events").await;
    let distinct = times.iter().collect::<BTreeSet<_>>().len();
    assert_eq!(distinct, times.len(), "no window twice");
    let judged =
        figures(folder.path(), "select count(distinct event_id) from pdm_agent_memory").await;
    let judgements = figures(folder.path(), "select count(*) from pdm_agent_memory").await;
    assert_eq!((judged[0], judgements[0]), (SNAPSHOTS, SNAPSHOTS));
    let told = figures(folder.path(), "select count(*) from notifications").await[0];
    assert!((2..=9).contains(&told), "{told} notifications for one failing bearing");
}
