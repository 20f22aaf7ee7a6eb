//! `kill -9` of the real program in the middle of a run: no event is missing or stored twice.
//! R-EDGE-10.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use pdm_edge::spool::{Batch, Lane, Limits, Row, Spool, SpoolSettings};
use pdm_harness::{Mosquitto, Persistence};
use pdm_service::clock::SystemClock;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;

use crate::agent::Agent;
use crate::stage::GATEWAY;

const SNAPSHOTS: u64 = 300;

fn configuration(folder: &Path, port: u16) -> std::path::PathBuf {
    let channel = |n: u8| {
        format!(
            "[[source.channel]]\nequipment = \"P-101\"\nbearing = \"DE\"\n\
             measuring_point = \"DE-{n}\"\nbearing_type = \"6205\"\nrpm = 1797.0\n"
        )
    };
    let text = format!(
        "gateway_id = \"{GATEWAY}\"\nsite = \"ulsan-1\"\nshutdown_grace_s = 20.0\n\
         [broker]\naddresses = [\"127.0.0.1:{port}\"]\nreconnect_min_s = 0.02\n\
         reconnect_max_s = 0.2\n[spool]\npath = \"spool.db\"\n\
         [[source]]\nname = \"rig\"\nkind = \"simulator\"\npace = \"max\"\nperiod_s = 60.0\n\
         rate_hz = 6400.0\n[source.simulator]\nsnapshots = {SNAPSHOTS}\nsnapshot_s = 0.6\n{}{}",
        channel(0),
        channel(1)
    );
    let path = folder.join("edge.toml");
    std::fs::write(&path, text).expect("writes");
    path
}

fn edge(configuration: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdm-edge"));
    command.arg("run").arg("--config").arg(configuration).env("PDM_LOG", "warn");
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edge_killed_again_and_again_misses_nothing_and_repeats_nothing() {
    let name = "an_edge_killed_again_and_again";
    let Some(mut broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let configuration = configuration(folder.path(), broker.port());
    let agent = Agent::listen(broker.port(), true).await;
    for kill in 0..8_u64 {
        let mut child = edge(&configuration).spawn().expect("starts");
        // delays from before the spool is open to the middle of the run
        tokio::time::sleep(Duration::from_millis(30 + kill * 110 % 500)).await;
        child.kill().expect("kill -9");
        child.wait().expect("is gone");
        if kill == 4 {
            broker.kill();
            broker.restart();
        }
    }
    let mut child = edge(&configuration).arg("--until-done").spawn().expect("starts");
    agent.until("every window", |stored| stored.events.len() as u64 == 2 * SNAPSHOTS).await;
    let code = tokio::task::spawn_blocking(move || child.wait()).await.expect("waits");
    assert!(code.expect("ends").success());
    agent.with(|stored| {
        let sequences: Vec<u64> = stored.events.keys().copied().collect();
        assert_eq!(sequences, (1..=2 * SNAPSHOTS).collect::<Vec<_>>(), "no gap");
        let ids: BTreeSet<_> = stored.events.values().map(|(id, _)| *id).collect();
        assert_eq!(ids.len() as u64, 2 * SNAPSHOTS, "no event twice");
        let windows: BTreeSet<_> = stored
            .events
            .values()
            .map(|(_, bytes)| serde_json::from_slice::<Event>(bytes).expect("an event"))
            .map(|event| (event.measured_at, event.measuring_point))
            .collect();
        assert_eq!(windows.len() as u64, 2 * SNAPSHOTS, "no window twice");
    });
}

const CHILD: &str = "PDM_SPOOL_CHILD";

async fn open(folder: &Path) -> Spool {
    let settings = SpoolSettings {
        path: folder.join("spool.db"),
        limits: Limits::default(),
        await_receipt: true,
    };
    let gateway = GATEWAY.parse().expect("name");
    Spool::open(settings, gateway, Arc::new(SystemClock)).await.expect("opens")
}

/// The child process of the next test: commits for ever and prints what is committed.
#[tokio::test]
async fn writes_until_killed() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let spool = open(Path::new(&folder)).await;
    let example: Event = serde_json::from_str(include_str!("../../../config/examples/event.json"))
        .expect("the example");
    loop {
        let events =
            (0..3).map(|_| Event { event_id: EventId::at(0), ..example.clone() }).collect();
        let mut batch = Batch { events, ..Batch::default() };
        spool.commit(&mut batch).await.expect("commits");
        for event in &batch.events {
            println!("committed {} {}", event.sequence, event.event_id);
        }
    }
}

#[tokio::test]
async fn what_was_committed_before_a_kill_is_there_after_it() {
    let folder = tempfile::tempdir().expect("folder");
    let mut obligations = Vec::new();
    for round in 0..10_usize {
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "kills::writes_until_killed", "--nocapture"])
            .env(CHILD, folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let mut committed = 0;
        while let Some(Ok(line)) = lines.next() {
            if let Some(told) = line.strip_prefix("committed ") {
                obligations.push(told.to_owned());
                committed += 1;
                if committed == 5 + round * 7 {
                    child.kill().expect("kill -9");
                }
            }
        }
        child.wait().expect("is gone");
    }
    let spool = open(folder.path()).await;
    let rows = spool.waiting(Lane { first: 0, end: u64::MAX }, usize::MAX).await.expect("reads");
    let sequences: Vec<u64> = rows.iter().map(|row| row.sequence).collect();
    assert_eq!(sequences, (1..=rows.len() as u64).collect::<Vec<_>>(), "gap-free");
    let told = |row: &Row| {
        let event: Event = serde_json::from_slice(&row.payload).expect("an event");
        format!("{} {}", row.sequence, event.event_id)
    };
    let there: BTreeSet<String> = rows.iter().map(told).collect();
    let lost: Vec<_> = obligations.iter().filter(|told| !there.contains(*told)).collect();
    assert!(lost.is_empty(), "committed and lost: {lost:?}");
    assert!(obligations.len() > 300, "{} commits were told", obligations.len());
}
