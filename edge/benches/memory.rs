//! Memory of the real program while it measures 8 channels at 25.6 kHz, live, and drains a backlog
//! through a real broker. `cargo bench -p pdm-edge --bench memory [-- [EVENTS] [BUDGET_MB]]`; with
//! a budget the newest samples are kept for captures. `-- both [EVENTS] [BUDGET_MB]` (`tests/run
//! capture`) runs without and with a budget in turn and prints both memories and the ratio of the
//! two deliveries. `--short`, for the test command, is one round that ends a second after the
//! backlog.
//!
//! The figures of the operating system are read twenty times a second
//! ([`Held`](pdm_harness::Held)). `PDM_EDGE` names another build of the program.

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
/// Budget that keeps 60 s of the 8 channels, 10⁶ bytes.
const MINUTE_MB: u64 = 35;
/// Rounds of a comparison, of which the median counts: other programs disturb single ones. Which
/// comes first changes from round to round.
const ROUNDS: usize = 7;

/// How much is measured.
#[derive(Clone, Copy)]
struct Size {
    rounds: usize,
    is_short: bool,
}

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

/// What one run of the program showed.
#[derive(Default)]
struct Measured {
    /// From the program's start until nothing waited, s.
    drained_s: f64,
    /// Events a second to the broker, from the first that left the spool to the last.
    events_a_second: f64,
    draining: HeldOverTime,
    drained: HeldOverTime,
}

fn program() -> std::path::PathBuf {
    std::env::var_os("PDM_EDGE")
        .map_or_else(|| env!("CARGO_BIN_EXE_pdm-edge").into(), std::path::PathBuf::from)
}

/// Starts the program over `events` that wait, and looks until they are gone and `afterwards` has
/// passed; `None` where there is no broker.
async fn measure(events: u64, budget_mb: Option<u64>, afterwards: Duration) -> Option<Measured> {
    let broker = Mosquitto::start("bench memory", Persistence::Memory)?;
    let folder = tempfile::tempdir().expect("folder");
    let spool = folder.path().join("spool.db");
    fill(&spool, events).await;
    let config = folder.path().join("edge.toml");
    std::fs::write(&config, configuration(&spool, broker.port(), budget_mb)).expect("writes");
    let log = std::fs::File::create(folder.path().join("log")).expect("log");
    let mut edge = Child::start(
        Command::new(program())
            .args(["run", "--config"])
            .arg(&config)
            .env("PDM_LOG", "warn")
            .stdout(Stdio::null())
            .stderr(log),
    );
    let begun = Instant::now();
    let mut measured = Measured::default();
    let (mut first, mut is_drained) = (None, None);
    while begun.elapsed() < LONGEST {
        tokio::time::sleep(LOOK).await;
        assert!(edge.is_running(), "{:?}", std::fs::read_to_string(folder.path().join("log")));
        if is_drained.is_none()
            && let Some(rows) = waiting(&spool).await
        {
            let now = begun.elapsed();
            let rows = u64::try_from(rows).unwrap_or_default();
            if rows < events {
                let (at, left) = *first.get_or_insert((now, rows));
                if rows < 100 {
                    is_drained = Some(now);
                    measured.events_a_second =
                        left.saturating_sub(rows) as f64 / now.saturating_sub(at).as_secs_f64();
                }
            }
        }
        let held =
            if is_drained.is_none() { &mut measured.draining } else { &mut measured.drained };
        held.look(edge.id());
        if is_drained.is_some_and(|at| begun.elapsed() > at + afterwards) {
            break;
        }
    }
    edge.terminate();
    measured.drained_s = is_drained.expect("the backlog drains in time").as_secs_f64();
    Some(measured)
}

impl Size {
    /// How long a run goes on after its backlog: until a ring of a minute is full.
    const fn afterwards(self, budget_mb: Option<u64>) -> Duration {
        match budget_mb {
            _ if self.is_short => Duration::from_secs(1),
            Some(_) => FILLED,
            None => SHORTEST,
        }
    }
}

#[expect(clippy::print_stdout, reason = "the figures are what a benchmark is for")]
fn print(events: u64, budget_mb: Option<u64>, measured: &Measured) {
    println!(
        "{CHANNELS} channels at {RATE_HZ} Hz, live; {events} events of backlog drained after {:.1} \
         s",
        measured.drained_s
    );
    match budget_mb {
        Some(mb) => println!("with {mb} MB of newest samples"),
        None => println!("without newest samples"),
    }
    println!("while it drains: {}\nafterwards: {}", measured.draining, measured.drained);
}

/// Both memories, and how much of the delivery is left with a ring.
#[expect(clippy::print_stdout, reason = "the figures are what a benchmark is for")]
async fn compare(events: u64, budget_mb: u64, size: Size) {
    let rounds = size.rounds;
    let mut ratios = Vec::with_capacity(rounds);
    let mut best = [0.0_f64; 2];
    for round in 0..rounds {
        let mut a_second = [0.0; 2];
        for turn in 0..2 {
            let with = (turn + round) % 2;
            let budget = (with == 1).then_some(budget_mb);
            let after = if round == 0 { size.afterwards(budget) } else { Duration::ZERO };
            let Some(measured) = measure(events, budget, after).await else { return };
            if round == 0 {
                print(events, budget, &measured);
            }
            a_second[with] = measured.events_a_second;
            best[with] = best[with].max(measured.events_a_second);
        }
        let [without, with] = a_second;
        println!(
            "spool to broker: {without:.0} events a second without, {with:.0} with: ratio {:.3}",
            with / without
        );
        ratios.push(with / without);
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "delivery with / without newest samples: median of {rounds} {:.3}, of the best rounds \
         {:.3}",
        ratios[rounds / 2],
        best[1] / best[0]
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let mut asked = arguments.iter().filter_map(|argument| argument.parse().ok());
    let is_short = arguments.iter().any(|argument| argument == "--short");
    let size = Size { rounds: if is_short { 1 } else { ROUNDS }, is_short };
    let (events, budget_mb) = (asked.next().unwrap_or(BACKLOG), asked.next());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("runtime").block_on(async {
        if arguments.iter().any(|argument| argument == "both") {
            compare(events, budget_mb.unwrap_or(MINUTE_MB), size).await;
        } else if let Some(measured) = measure(events, budget_mb, size.afterwards(budget_mb)).await
        {
            print(events, budget_mb, &measured);
        }
    });
}
