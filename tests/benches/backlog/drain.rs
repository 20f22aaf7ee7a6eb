//! Runs the two programs and measures them from outside.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pdm_harness::{Child, HeldOverTime, Mosquitto, Persistence, binary, sampler};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, SqliteConnection};

use crate::{outage, say};

const SITE: &str = "bench";
const GATEWAY: &str = "gw";
const CHANNELS: usize = 8;
const RATE_HZ: usize = 25_600;
/// Interval of reading the memory; the spool is read at every tenth time.
const LOOK: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_hours(2);

/// Fills a spool, runs both programs until a receipt covers all of it, and prints the figures.
///
/// # Panics
/// If an event is missing or stored twice, or the run takes longer than [`LONGEST`].
pub(crate) async fn measure(events: u64) {
    let Some(broker) = Mosquitto::start("bench backlog", Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let begun = Instant::now();
    let spool = folder.path().join("spool.db");
    outage::fill(&spool, (SITE, GATEWAY), events).await;
    say(&format!("{events} events in the spool after {:.0} s", begun.elapsed().as_secs_f64()));
    let mut agent = start("pdm-agent", folder.path(), &agent_configuration(broker.port()));
    let mut edge = start("pdm-edge", folder.path(), &edge_configuration(broker.port()));

    let mut spool = opened(&spool).await;
    let begun = Instant::now();
    let (mut by_edge, mut by_agent) = (HeldOverTime::default(), HeldOverTime::default());
    for look in 1.. {
        tokio::time::sleep(LOOK).await;
        let both_run = by_edge.look(edge.id()) && by_agent.look(agent.id());
        assert!(both_run && edge.is_running() && agent.is_running(), "{}", logs(folder.path()));
        let through = "SELECT stored_through FROM gateway";
        if look % 10 == 0 && one(&mut spool, through).await.unsigned_abs() >= events {
            break;
        }
        assert!(begun.elapsed() < LONGEST, "not all stored after {LONGEST:?}");
    }
    let took_s = begun.elapsed().as_secs_f64();
    edge.terminate();
    agent.terminate();
    let mut store = opened(&folder.path().join("agent.db")).await;
    let judged = one(&mut store, "SELECT count(*) FROM pdm_agent_memory").await;
    say(&format!(
        "all stored after {took_s:.0} s ({:.0}/s), {judged} judged by then, {CHANNELS} channels at \
         {RATE_HZ} Hz measured meanwhile",
        events as f64 / took_s
    ));
    tell("pdm-edge", &by_edge);
    tell("pdm-agent", &by_agent);
    let (rows, numbers, identities) = stored(&mut store, events).await;
    say(&format!("{rows} rows, {numbers} numbers, {identities} identities: each event once"));
    assert_eq!((rows, numbers, identities), (events, events, events));
}

/// Prints maximum and median, and the medians of the first, second and last third, which must not
/// grow.
fn tell(name: &str, held: &HeldOverTime) {
    let thirds = [0, 1, 2].map(|part| held.median_rss_of(part, 3) as f64 / 1e6);
    let [first, second, last] = thirds;
    say(&format!("{name}: {held}; by thirds {first:.1}, {second:.1}, {last:.1} MB"));
}

fn start(program: &str, folder: &Path, configuration: &str) -> Child {
    let config = folder.join(format!("{program}.toml"));
    std::fs::write(&config, configuration).expect("writes");
    let log = std::fs::File::create(folder.join(format!("{program}.log"))).expect("a log");
    Child::start(
        Command::new(binary(program))
            .args(["run", "--config"])
            .arg(&config)
            .env("PDM_LOG", "warn")
            .stdout(Stdio::null())
            .stderr(log),
    )
}

fn logs(folder: &Path) -> String {
    ["pdm-edge", "pdm-agent"]
        .map(|program| {
            let log = std::fs::read_to_string(folder.join(format!("{program}.log")));
            format!("{program}: {}", log.unwrap_or_default())
        })
        .join("\n")
}

fn agent_configuration(broker: u16) -> String {
    format!(
        "[store]\nsqlite = \"agent.db\"\n[broker]\naddresses = [\"127.0.0.1:{broker}\"]\n\
         [http]\n[knowledge]\nstore = {{ sqlite = \"knowledge.db\" }}\n"
    )
}

fn edge_configuration(broker: u16) -> String {
    format!(
        "gateway_id = \"{GATEWAY}\"\nsite = \"{SITE}\"\n[broker]\naddresses = \
         [\"127.0.0.1:{broker}\"]\n\
         [spool]\npath = \"spool.db\"\nmax_bytes = {}\n{}",
        outage::MAX_BYTES,
        sampler(CHANNELS, RATE_HZ)
    )
}

/// Opens a database file of another program for reading.
async fn opened(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(Duration::from_secs(10))
        .pragma("query_only", "1")
        .disable_statement_logging();
    options.connect().await.expect("opens")
}

async fn one(store: &mut SqliteConnection, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql).fetch_one(store).await.expect("read")
}

/// Numbers of rows, of different sequence numbers and of different identities, up to a sequence
/// number.
async fn stored(store: &mut SqliteConnection, events: u64) -> (u64, u64, u64) {
    let counted: (i64, i64, i64) = sqlx::query_as(
        "SELECT count(*), count(DISTINCT sequence), count(DISTINCT event_id) FROM events
         WHERE gateway_id = $1 AND sequence <= $2",
    )
    .bind(GATEWAY)
    .bind(events.cast_signed())
    .fetch_one(store)
    .await
    .expect("read");
    (counted.0.unsigned_abs(), counted.1.unsigned_abs(), counted.2.unsigned_abs())
}
