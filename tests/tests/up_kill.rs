//! `pdm up`, killed again and again: no event is missing and none is repeated.
//!
//! The source is a simulated run, so its windows are known: each must be stored exactly once, with
//! a gap-free sequence, judged once, and each change of risk notified once.
//!
//! The embedded broker acknowledges a message before it is written to disk. So one test kills the
//! process right after a PUBACK to a gateway outside it: the gateway counts such an event as
//! delivered, but it is lost, and must come back by the agent's receipts.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pdm_harness::{Child, MqttPackets, Proxy, Watcher, binary, free_port, until};
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
        .args(["up", "--listen", &format!("127.0.0.1:{port}"), "--config"])
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
    let up = |folder: &Path, port: u16| {
        let mut command = up(folder, port);
        command.arg("--exit");
        command
    };
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

/// Number of kills right after a PUBACK.
const PUBACK_KILLS: usize = 20;
/// Windows of the outside gateway: more than all these kills let through.
const OUTSIDE_SNAPSHOTS: i64 = 1200;
/// Windows of the gateway inside the process.
const OWN_SNAPSHOTS: i64 = 40;
/// Longest time in which no event is judged while some wait.
const STANDSTILL: Duration = Duration::from_mins(2);
/// Most PUBACKs between a start and the kill.
const MOST_PUBACKS: usize = 40;

/// Kills `chain` when `left` more PUBACKs have reached the gateway.
fn killer(chain: &Arc<Mutex<Option<Child>>>, left: &Arc<AtomicUsize>) -> Watcher {
    let (chain, left) = (Arc::clone(chain), Arc::clone(left));
    let mut packets = MqttPackets::default();
    Box::new(move |piece| {
        let taken = packets.kinds(piece).into_iter().filter(|kind| *kind == MqttPackets::PUBACK);
        for _ in taken {
            let before =
                left.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| n.checked_sub(1));
            if before == Ok(1) {
                // dropping the child kills it
                *chain.lock().expect("nobody panics with it") = None;
            }
        }
    })
}

async fn numbers(file: &Path, sql: &'static str) -> Vec<i64> {
    let url = format!("sqlite:{}?mode=ro", file.display());
    let Ok(mut database) = SqliteConnection::connect(&url).await else { return Vec::new() };
    let rows = sqlx::query(sql).fetch_all(&mut database).await;
    let _closed = database.close().await;
    rows.unwrap_or_default().iter().map(|row| row.get(0)).collect()
}

const STORED: &str = "select sequence from events where gateway_id = 'gw-out' order by sequence";

/// R-EDGE-10: a PUBACK of the embedded broker does not promise durability.
#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::too_many_lines, reason = "one course of events, told from start to end")]
async fn what_was_acknowledged_right_before_a_kill_comes_back_by_receipts() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let own = EDGE.replace("snapshots = 400", &format!("snapshots = {OWN_SNAPSHOTS}"));
    std::fs::write(folder.path().join("edge.toml"), own).expect("edge.toml");
    std::fs::write(folder.path().join("agent.toml"), AGENT).expect("agent.toml");
    let port = free_port();
    let (chain, left) = (Arc::new(Mutex::new(None)), Arc::new(AtomicUsize::new(0)));
    let network = {
        let (chain, left) = (Arc::clone(&chain), Arc::clone(&left));
        Proxy::watched(port, move || killer(&chain, &left))
    };
    let outside = EDGE
        .replace("gw-kill", "gw-out")
        .replace("P-1", "P-2")
        .replace("snapshots = 400", &format!("snapshots = {OUTSIDE_SNAPSHOTS}"))
        .replace("edge.db", "outside.db")
        .replace(
            "[\"127.0.0.1:1\"]",
            &format!(
                "[\"127.0.0.1:{}\"]\nreconnect_max_s = 0.3\nmax_in_flight = 16",
                network.port()
            ),
        );
    let config = folder.path().join("outside.toml");
    std::fs::write(&config, outside).expect("outside.toml");
    let mut gateway = Command::new(binary("pdm-edge"));
    gateway.args(["run", "--config"]).arg(&config).env("PDM_LOG", "warn");
    let mut gateway = Child::start(&mut gateway);

    let (agent, spool) = (folder.path().join("agent.db"), folder.path().join("outside.db"));
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut forgotten = 0;
    for _ in 0..PUBACK_KILLS {
        left.store(random.random_range(1..=MOST_PUBACKS), Ordering::Release);
        *chain.lock().expect("nobody panics with it") =
            Some(Child::start(&mut up(folder.path(), port)));
        until("a PUBACK to kill after", 60, || {
            chain.lock().expect("nobody panics with it").is_none().then_some(())
        });
        // the gateway records the events that it counts as delivered
        tokio::time::sleep(Duration::from_millis(150)).await;
        let stored: BTreeSet<i64> = numbers(&agent, STORED).await.into_iter().collect();
        let taken = numbers(&spool, "select sequence from delivery where state = 1").await;
        forgotten += taken.iter().filter(|sequence| !stored.contains(sequence)).count();
    }
    // otherwise the kills came too late to test anything
    assert!(forgotten > 0, "the broker never forgot what it had acknowledged");

    let mut chain = Child::start(&mut up(folder.path(), port));
    // a busy machine judges some events a second: what counts is that the judging goes on
    let mut end = tokio::time::Instant::now() + STANDSTILL;
    let mut last = Vec::new();
    let all = OUTSIDE_SNAPSHOTS + OWN_SNAPSHOTS;
    loop {
        let judged = numbers(&agent, "select count(*) from pdm_agent_memory").await;
        let spooled = numbers(&spool, "select count(*) from event").await;
        if judged == [all] && spooled == [0] {
            break;
        }
        if judged != last {
            (last, end) = (judged.clone(), tokio::time::Instant::now() + STANDSTILL);
        }
        if tokio::time::Instant::now() >= end {
            let own = numbers(&folder.path().join("edge.db"), "select count(*) from event").await;
            let stored = numbers(&agent, "select count(*) from events group by gateway_id").await;
            panic!("{judged:?} judged, {stored:?} stored, {spooled:?} and {own:?} in the spools");
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(gateway.terminate().success());
    assert!(chain.terminate().success());
    println!(
        "{PUBACK_KILLS} kills right after a PUBACK, {forgotten} acknowledged events forgotten"
    );

    let expected: Vec<i64> = (1..=OUTSIDE_SNAPSHOTS).collect();
    assert_eq!(numbers(&agent, STORED).await, expected, "every window once, without a gap");
    let times =
        numbers(&agent, "select measured_at_ms from events where gateway_id = 'gw-out'").await;
    assert_eq!(times.iter().collect::<BTreeSet<_>>().len(), times.len(), "no window twice");
    let own = numbers(&agent, "select sequence from events where gateway_id = 'gw-kill'").await;
    assert_eq!(i64::try_from(own.len()), Ok(OWN_SNAPSHOTS), "nor of the gateway in the process");
    let judged = figures(
        folder.path(),
        "select count(*) from pdm_agent_memory union all
         select count(distinct event_id) from pdm_agent_memory",
    );
    assert_eq!(judged.await, [all; 2], "each judged once");
}
