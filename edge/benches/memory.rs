//! Memory of the real program while it measures 8 channels at 25.6 kHz, live, and drains a backlog
//! through a real broker. `cargo bench -p pdm-edge --bench memory [-- [EVENTS] [BUDGET_MB]]`; with a budget
//! the newest samples are kept for captures.
//!
//! The figures of the operating system are read twenty times a second
//! ([`Held`](pdm_harness::Held)).

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pdm_edge::spool::{Batch, Limits, Spool, SpoolSettings};
use pdm_harness::{Child, HeldOverTime, Mosquitto, Persistence, sampler};
use pdm_service::clock::SystemClock;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

const CHANNELS: usize = 8;
const RATE_HZ: usize = 25_600;
/// Events that wait when the program starts.
const BACKLOG: u64 = 200_000;
/// Shortest time of measuring before, during and after the draining of the backlog.
const SHORTEST: Duration = Duration::from_secs(20);
const FILLED: Duration = Duration::from_secs(75);
const LONGEST: Duration = Duration::from_mins(3);
const LOOK: Duration = Duration::from_millis(50);

fn event(n: u64) -> Event {
    let text = include_str!("../../config/examples/event.json");
    let example: Event = serde_json::from_str(text).expect("the example");
    Event { event_id: EventId::at(n.cast_signed()), sequence: n, ..example }
}

/// Fills the spool that the program opens next.
async fn fill(path: &Path, events: u64) {
    let settings = SpoolSettings {
        path: path.to_owned(),
        limits: Limits { max_age: Duration::from_hours(24), ..Limits::default() },
        await_receipt: true,
    };
    let gateway = "gw".parse().expect("name");
    let spool = Spool::open(settings, gateway, Arc::new(SystemClock)).await.expect("opens");
    let mut n = 0;
    while n < events {
        let batch = (n..(n + 200).min(events)).map(event).collect();
        spool.commit(&mut Batch { events: batch, ..Batch::default() }).await.expect("commits");
        n += 200;
    }
    spool.close().await;
}

fn configuration(spool: &Path, broker: u16, budget_mb: Option<u64>) -> String {
    let capture =
        budget_mb.map_or_else(String::new, |mb| format!("\n[capture]\nbudget_mb = {mb}.0\n"));
    format!(
        "gateway_id = \"gw\"\nsite = \"bench\"\n[broker]\naddresses = [\"127.0.0.1:{broker}\"]\n\
         [spool]\npath = \"{}\"{capture}\n{}",
        spool.display(),
        sampler(CHANNELS, RATE_HZ)
    )
}

async fn waiting(spool: &Path) -> Option<i64> {
    let options = SqliteConnectOptions::new()
        .filename(spool)
        .read_only(true)
        .busy_timeout(Duration::from_secs(2))
        .disable_statement_logging();
    let mut connection = options.connect().await.ok()?;
    let rows = sqlx::query_scalar("SELECT sum(rows) FROM tally WHERE state = 0")
        .fetch_one(&mut connection)
        .await
        .ok();
    connection.close().await.ok()?;
    rows
}

#[expect(clippy::print_stdout, reason = "the figures are what a benchmark is for")]
async fn measure(events: u64, budget_mb: Option<u64>) {
    let Some(broker) = Mosquitto::start("bench memory", Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let spool = folder.path().join("spool.db");
    fill(&spool, events).await;
    let config = folder.path().join("edge.toml");
    std::fs::write(&config, configuration(&spool, broker.port(), budget_mb)).expect("writes");
    let log = std::fs::File::create(folder.path().join("log")).expect("log");
    let mut edge = Child::start(
        Command::new(env!("CARGO_BIN_EXE_pdm-edge"))
            .args(["run", "--config"])
            .arg(&config)
            .env("PDM_LOG", "warn")
            .stdout(Stdio::null())
            .stderr(log),
    );
    let begun = Instant::now();
    let (mut draining, mut drained) = (HeldOverTime::default(), HeldOverTime::default());
    let mut is_drained = None;
    while begun.elapsed() < LONGEST {
        tokio::time::sleep(LOOK).await;
        assert!(edge.is_running(), "{:?}", std::fs::read_to_string(folder.path().join("log")));
        if is_drained.is_none() && waiting(&spool).await.is_some_and(|rows| rows < 100) {
            is_drained = Some(begun.elapsed());
        }
        let held = if is_drained.is_none() { &mut draining } else { &mut drained };
        held.look(edge.id());
        // a ring of a minute is full after it
        let shortest = if budget_mb.is_some() { FILLED } else { SHORTEST };
        if is_drained.is_some_and(|at| begun.elapsed() > at + shortest) {
            break;
        }
    }
    println!(
        "{CHANNELS} channels at {RATE_HZ} Hz, live; {events} events of backlog drained after {:.1} s",
        is_drained.unwrap_or_default().as_secs_f64()
    );
    if let Some(mb) = budget_mb {
        println!("with {mb} MB of newest samples");
    }
    println!("while it drains: {draining}\nafterwards: {drained}");
    edge.terminate();
    assert!(is_drained.is_some(), "the backlog did not drain in time");
}

fn main() {
    let mut asked = std::env::args().filter_map(|argument| argument.parse().ok());
    let (events, budget_mb) = (asked.next(), asked.next());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("runtime").block_on(measure(events.unwrap_or(BACKLOG), budget_mb));
}
