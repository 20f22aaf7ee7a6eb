//! Speed at scale: a plant of a thousand bearings with a million events. `tests/run speed` prints
//! the figures; nothing here fails by a time.
//!
//! The API is asked over one connection that stays open, one request after the other, while a
//! hundred live streams are attached and ten windows a second are stored and judged.

#![expect(clippy::print_stdout, reason = "the figures of the run are printed")]

mod browsing;
mod fill;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pdm_agent::service::{Agent, Handle, open_store};
use pdm_agent::settings::{AgentSettings, StorePlace};
use pdm_harness::{Postgres, free_port};
use pdm_service::clock::{Clock as _, SystemClock};
use pdm_service::postgres::PostgresSettings;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use pdm_store::{Incoming, Store};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::plant::{Plant, client};

/// Bearings of the plant; one in ten fails.
const BEARINGS: u64 = 1000;
/// Live streams that are attached.
const STREAMS: usize = 100;
/// Requests of each route.
const REQUESTS: usize = 200;

/// A running agent with a large store.
struct Large {
    agent: Handle,
    url: String,
    store: Store,
    _folder: tempfile::TempDir,
    _server: Option<Postgres>,
}

impl Large {
    async fn start(server: Option<Postgres>, copies: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut settings =
            AgentSettings::embedded("127.0.0.1", free_port(), folder.path().join("agent.db"));
        if let Some(server) = &server {
            let place = PostgresSettings::at(server.url());
            settings.store.place = StorePlace::Postgres(Box::new(place));
        }
        settings.notify.group_wait_s = 0.0;
        settings.notify.related_within_min = 0.0;
        settings.http.listen = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
        let store: Store = open_store(&settings.store).await.expect("opens");
        let now = SystemClock.now();
        let events: Vec<Incoming> =
            (1..=BEARINGS).map(|number| window(number, number, now)).collect();
        for batch in events.chunks(250) {
            let stored =
                store.intake().store(batch, now, "pdm/v1/dead-letter").await.expect("stored");
            assert_eq!(stored.refused, 0, "the fleet is taken");
        }
        let agent = Agent::start(settings.clone(), Arc::new(SystemClock)).await.expect("starts");
        let mut progress = agent.progress();
        let judged = progress.wait_for(|progress| progress.judged >= BEARINGS);
        tokio::time::timeout(Duration::from_mins(5), judged).await.expect("judged").expect("runs");
        agent.stop().await.expect("stops");
        if copies {
            let begin = Instant::now();
            fill::fill(&settings.store.place).await;
            println!("filled in {:.0} s", begin.elapsed().as_secs_f64());
        }
        let agent = Agent::start(settings, Arc::new(SystemClock)).await.expect("starts");
        let url = format!("http://{}", agent.address().expect("serves"));
        Self { agent, url, store, _folder: folder, _server: server }
    }

    /// Stores ten windows a second until it is told to stop.
    fn feed(&self, stop: CancellationToken) -> tokio::task::JoinHandle<()> {
        let store = self.store.clone();
        tokio::spawn(async move {
            let mut number = BEARINGS;
            while !stop.is_cancelled() {
                let now = SystemClock.now();
                let batch: Vec<Incoming> =
                    (1..=5).map(|of| window(number + of, number + of, now)).collect();
                number += 5;
                store.intake().store(&batch, now, "pdm/v1/dead-letter").await.expect("stored");
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        })
    }

    async fn stop(self) {
        self.agent.stop().await.expect("stops");
        self.store.close().await;
    }
}

/// A window of the bearing of a number, every tenth of which fails.
fn window(sequence: u64, number: u64, now: Timestamp) -> Incoming {
    let bearing = number % BEARINGS;
    let text = if bearing.is_multiple_of(10) {
        include_str!("../../../config/examples/event.json")
    } else {
        include_str!("../../../config/examples/event-healthy.json")
    };
    let mut event: Event = serde_json::from_str(text).expect("event");
    event.sequence = sequence;
    event.measured_at = now.plus_seconds(-(BEARINGS as f64) / 1000.0);
    event.event_id = EventId::at(event.measured_at.unix_ms());
    event.equipment_id = format!("P-{:03}", bearing / 4).parse().expect("a name");
    // a gateway brings at most 200 new bearings an hour
    event.gateway_id = format!("gw-{}", bearing / 100).parse().expect("a name");
    event.bearing_id = format!("B{}", bearing % 4).parse().expect("a name");
    event.spectra = None;
    let payload = serde_json::to_string(&event).expect("json");
    Incoming::Event { event: Box::new(event), payload, proven: false }
}

/// The measured run itself is too long for every day: here its addresses are asked once each, so
/// that a field or a route with a new name does not stop it unseen.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_addresses_that_the_speed_run_measures_answer() {
    let plant = Plant::open().await;
    for (route, addresses) in routes(&plant.url).await {
        let address = addresses.first().unwrap_or_else(|| panic!("{route} has no address"));
        let answer = client().get(format!("{}{address}", plant.url)).send().await;
        let status = answer.expect("answers").status();
        // 404: what the first event has none of, its spectra or follow-ups
        assert!(status.is_success() || status == 404, "{route}: {address}: {status}");
    }
    plant.stop().await;
}

/// R-AGENT-10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a million events: tests/run speed"]
async fn the_api_over_a_million_events_in_sqlite() {
    measure("SQLite", Large::start(None, true).await).await;
}

/// R-AGENT-10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a million events: tests/run speed"]
async fn the_api_over_a_million_events_in_postgres() {
    let Some(server) = Postgres::start("the_api_over_a_million_events_in_postgres") else { return };
    measure("PostgreSQL", Large::start(Some(server), true).await).await;
}

async fn measure(store: &str, plant: Large) {
    let heard = Arc::new(AtomicU64::new(0));
    let streams = attach(&plant.url, &heard).await;
    let stop = CancellationToken::new();
    let feeding = plant.feed(stop.clone());
    println!("{store}: p50 and p95 of {REQUESTS} requests, {STREAMS} streams attached");
    let mut worst: f64 = 0.0;
    for (number, (route, addresses)) in (2..).zip(routes(&plant.url).await) {
        let (p50, p95, bytes) = ask(&plant.url, &addresses, number).await;
        worst = worst.max(p95);
        println!("{p50:>8.1} ms {p95:>8.1} ms {bytes:>9} B  {route}");
    }
    println!(
        "{worst:>20.1} ms  the slowest p95; the streams heard {}",
        heard.load(Ordering::Relaxed)
    );
    stop.cancel();
    feeding.await.expect("fed");
    streams.iter().for_each(tokio::task::JoinHandle::abort);
    plant.stop().await;
}

/// Attaches the streams, which count what they hear.
async fn attach(url: &str, heard: &Arc<AtomicU64>) -> Vec<tokio::task::JoinHandle<()>> {
    let mut streams = Vec::new();
    for _ in 0..STREAMS {
        // a connection of its own, as a browser has
        let client = reqwest::Client::new();
        let mut answer = client.get(format!("{url}/live")).send().await.expect("answers");
        assert!(answer.status().is_success(), "{}", answer.status());
        let heard = Arc::clone(heard);
        streams.push(tokio::spawn(async move {
            while let Ok(Some(chunk)) = answer.chunk().await {
                let changes = String::from_utf8_lossy(&chunk).matches("event: changed").count();
                heard.fetch_add(changes as u64, Ordering::Relaxed);
            }
        }));
    }
    streams
}

/// The routes that read, with addresses of different rows.
async fn routes(url: &str) -> Vec<(&'static str, Vec<String>)> {
    let json = async |path: &str| -> Value {
        let answer = client().get(format!("{url}{path}")).send().await.expect("answers");
        answer.json().await.expect("json")
    };
    let fleet = json("/api/v1/bearings").await;
    let rows = fleet["items"].as_array().expect("rows");
    let text = |row: &Value, name: &str| row[name].as_str().expect("text").to_owned();
    let bearing = |row: &Value| {
        let names = ["site", "equipment", "bearing"].map(|name| text(row, name));
        format!("/api/v1/bearings/{}", names.join("/"))
    };
    let of = |tail: &str| rows.iter().map(|row| format!("{}{tail}", bearing(row))).collect();
    let event = |tail: &str| {
        rows.iter().map(|row| format!("/api/v1/events/{}{tail}", text(row, "event_id"))).collect()
    };
    let episodes = json("/api/v1/episodes?state=all&limit=1000").await;
    let episodes = episodes["items"].as_array().expect("rows").clone();
    let episode = episodes
        .iter()
        .map(|row| format!("/api/v1/episodes/{}", text(row, "episode_id")))
        .collect();
    let alike = |path: &str| vec![path.to_owned()];
    vec![
        ("bearings", alike("/api/v1/bearings")),
        (
            "bearings of a machine",
            rows.iter()
                .map(|row| format!("/api/v1/bearings?equipment={}", text(row, "equipment")))
                .collect(),
        ),
        ("one bearing", of("")),
        ("100 windows", of("/windows")),
        ("1,000 windows", of("/windows?limit=1000")),
        ("last spectra", of("/spectra")),
        ("an event", event("")),
        ("its diagnosis", event("/diagnosis")),
        ("its trace", event("/trace")),
        ("its follow-ups", event("/follow-ups")),
        ("open episodes", alike("/api/v1/episodes")),
        ("all episodes", alike("/api/v1/episodes?state=all")),
        ("an episode", episode),
        ("open work", alike("/api/v1/work")),
        ("all work", alike("/api/v1/work?state=all")),
        ("notifications", alike("/api/v1/notifications")),
        ("gateways", alike("/api/v1/gateways")),
        ("audit", alike("/api/v1/audit")),
    ]
}

/// Median and 95th percentile of the requests, ms, and the length of the last answer. The requests
/// come from `127.0.0.number`: a caller that asks without a pause is refused after some hundred
/// requests.
async fn ask(url: &str, addresses: &[String], number: u8) -> (f64, f64, usize) {
    let own = IpAddr::from([127, 0, 0, number]);
    let client = reqwest::Client::builder().local_address(own).build().expect("a client");
    let mut times = Vec::with_capacity(REQUESTS);
    let mut length = 0;
    for number in 0..REQUESTS {
        let address = format!("{url}{}", addresses[number * 37 % addresses.len()]);
        let begin = Instant::now();
        let answer = client.get(&address).send().await.expect("answers");
        let status = answer.status();
        length = answer.bytes().await.expect("read").len();
        times.push(1000.0 * begin.elapsed().as_secs_f64());
        assert!(status.is_success() || status == 404, "{address}: {status}");
    }
    times.sort_by(f64::total_cmp);
    (times[REQUESTS / 2], times[REQUESTS * 95 / 100], length)
}
