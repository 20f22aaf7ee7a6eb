//! Two hostile gateways, a hostile viewer and a hostile MCP client at once, each as fast as it can:
//! no honest event is lost or stored twice, each honest Critical reaches staff within seconds, and
//! memory and disk stay bounded.
//!
//! The test command runs the short form; `tests/run hostile --minutes 10` the long one, which
//! prints its figures.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pdm_harness::free_port;
use pdm_shared::event::Event;
use pdm_shared::id::Epoch;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use crate::plant::{Gateway, Peer, Plant, WATCH};
use crate::soak::{SHORT, attack, honest_event, resident_mib, setting, stored, work};

/// `[store] max_bytes` of the plant: above what ten minutes bring, so that each honest window can
/// be looked for. Kills at the ceiling are tests of their own.
const MOST_BYTES: u64 = 256 << 20;
/// `[notify] per_recipient_per_hour` of the plant: above what the honest gateway tells in ten
/// minutes. The ceiling of an hour, above which a summary names the bearings, is a test of its own.
const MESSAGES_PER_HOUR: u32 = 2000;
/// Most honest Criticals: a gateway may bring no more new bearings in an hour. What is above that
/// is refused and told as refused, which is a test of its own.
const MOST_CRITICALS: usize = 100;
/// The time between two honest Criticals, each the first of a bearing.
const BETWEEN: Duration = Duration::from_secs(5);
/// The longest wait of staff for 99 of 100 honest Criticals in the long form, s.
const TOLD_WITHIN_S: f64 = 5.0;
/// The limit in the short form, which has three of them, beside other tests on the same processor.
const TOLD_IN_SHORT_WITHIN_S: f64 = 60.0;
/// The memory that the agent may use, MiB.
const AGENT_MIB: u64 = 300;
/// The limit of the broker's container (`deploy/compose/compose.yaml`), MiB.
const BROKER_MIB: u64 = 512;

fn gateway(name: &'static str, bearing: &'static str, ms: i64) -> Gateway<'static> {
    Gateway { site: "ulsan-1", name, bearing, epoch: Some(Epoch::at(ms)) }
}

/// Attacks until the deadline; tells how many the broker took.
async fn gateway_attacks(mut peer: Peer, own: Gateway<'static>, seed: u64, until: Instant) -> u64 {
    let honest = [gateway("gw-01", "A", 1), gateway("gw-02", "B", 2)];
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut taken = 0;
    while Instant::now() < until {
        let (topic, retain, payload) = attack(&mut random, own, honest);
        taken += u64::from(peer.publish(&topic, retain, payload).await);
    }
    taken
}

/// A request that is begun, or answered; the connection is given back.
fn request(port: u16, head: &str, body: &[u8], reads: bool) -> Option<TcpStream> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body).ok()?;
    if reads {
        let mut answer = Vec::new();
        let _read = (&mut stream).take(1 << 16).read_to_end(&mut answer);
    }
    Some(stream)
}

/// A viewer that begins bodies, opens streams and asks for pages without end.
fn viewer_attacks(port: u16, until: Instant, count: &AtomicU64) {
    let slow = "POST /api/v1/chat/message HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: \
                application/json\r\n\
                Content-Length: 5000\r\n\r\n{";
    let live = "GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    let page = "GET /api/v1/bearings HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    let mut open = Vec::new();
    while Instant::now() < until {
        for head in [slow, live] {
            open.extend(request(port, head, b"", false));
        }
        let _answered = request(port, page, b"", true);
        count.fetch_add(3, Ordering::Relaxed);
        if open.len() > 600 {
            open.drain(..300);
        }
    }
}

/// A program that begins MCP sessions with long names, and sends staff texts with links.
fn program_attacks(port: u16, until: Instant, count: &AtomicU64) {
    let name = "n".repeat(200_000);
    let begin = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": name, "version": "1"}}});
    let tell = serde_json::json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "notify_maintenance_staff", "arguments": {
            "equipment_id": "P-101", "risk_level": "Watch", "message": "sign in at \
                http://evil.example"}}});
    while Instant::now() < until {
        for body in [&begin, &tell] {
            let body = body.to_string();
            let head = format!(
                "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
                 Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\
                 Connection: close\r\n\r\n",
                body.len()
            );
            let _answered = request(port, &head, body.as_bytes(), true);
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A window that is judged Critical.
pub(crate) fn critical(gateway: Gateway<'_>, sequence: u64, bearing: &str) -> Event {
    let mut event =
        Event { bearing_id: bearing.parse().expect("a name"), ..gateway.event(sequence, false) };
    event.event_id = pdm_shared::id::EventId::at(event.measured_at.unix_ms());
    event.rul.hours = Some(20.0);
    event.rul.ci_low_hours = Some(5.0);
    event.rul.ci_high_hours = Some(30.0);
    event.trend.acceleration_detected = true;
    event
}

/// Publishes first Criticals until the deadline, each of its own machine; after how many seconds
/// each was told.
async fn criticals(plant: &Plant, watch: &Peer, own: Gateway<'static>, until: Instant) -> Vec<f64> {
    let mut peer = plant.client(own.name, &[]).await;
    own.is_born(&mut peer, 0).await;
    let (mut sequence, mut told_s) = (0, Vec::new());
    while Instant::now() < until && told_s.len() < MOST_CRITICALS {
        let bearing = format!("H{}", told_s.len());
        for _ in 0..3 {
            sequence += 1;
            let mut event = critical(own, sequence, &bearing);
            event.equipment_id = format!("M-{}", told_s.len()).parse().expect("a name");
            assert!(peer.send(&event, Some(own.name)).await, "an honest Critical is taken");
        }
        let begun = Instant::now();
        let end = format!("/{bearing}/notification");
        while !watch.has_heard(&end, "Critical") && begun.elapsed() < Duration::from_mins(2) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        told_s.push(begun.elapsed().as_secs_f64());
        tokio::time::sleep(BETWEEN.saturating_sub(begun.elapsed())).await;
    }
    told_s
}

/// Prints which Criticals were told late, by their number.
#[expect(clippy::print_stdout, reason = "the figures of the long run are printed")]
fn print_late(told_s: &[f64]) {
    let late = told_s.iter().enumerate().filter(|(_, told)| **told > TOLD_WITHIN_S);
    println!("late, by number of the Critical: {:.1?}", late.collect::<Vec<_>>());
}

/// The longest answer of health until the deadline.
fn slowest_health(port: u16, until: Instant) -> Duration {
    let mut slowest = Duration::ZERO;
    while Instant::now() < until {
        let begun = Instant::now();
        let head = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
        let _answered = request(port, head, b"", true);
        slowest = slowest.max(begun.elapsed());
        std::thread::sleep(Duration::from_secs(1));
    }
    slowest
}

/// Bytes of the store's files.
fn store_bytes(plant: &Plant) -> u64 {
    let length = |end: &str| std::fs::metadata(plant.folder.path().join(format!("agent.db{end}")));
    ["", "-wal", "-shm"].iter().filter_map(|end| length(end).ok()).map(|about| about.len()).sum()
}

/// Honest gateways at work.
type Working = Vec<(tokio::task::JoinHandle<(BTreeMap<String, String>, u64)>, Gateway<'static>)>;

/// Starts two honest gateways.
async fn honest_work(plant: &Plant, until: Instant) -> Working {
    let mut working = Vec::new();
    for own in [gateway("gw-01", "A", 1), gateway("gw-02", "B", 2)] {
        let mut peer = plant.client(own.name, &[]).await;
        own.is_born(&mut peer, 0).await;
        let first = honest_event(own, 1);
        assert!(peer.send(&first, Some(own.name)).await);
        working.push((tokio::spawn(work(peer, own, first, until)), own));
    }
    working
}

/// Returns how many events honest gateways sent, how many of them are not stored, and how many are
/// stored twice.
async fn lost_and_twice(plant: &Plant, watch: &Peer, working: Working) -> (usize, usize, usize) {
    let mut honest = BTreeMap::new();
    for (task, own) in working {
        let (sent, n) = task.await.expect("worked");
        watch.until_receipt(own.name, n).await;
        honest.extend(sent);
    }
    let kept = stored(plant).await;
    let by_id: BTreeMap<_, _> = kept.iter().cloned().collect();
    let lost = honest.keys().filter(|id| !by_id.contains_key(*id)).count();
    (honest.len(), lost, kept.len() - by_id.len())
}

/// Starts the hostile gateways; each tells how many of its attacks the broker took.
async fn hostile_gateways(
    plant: &Plant,
    seed: u64,
    until: Instant,
) -> Vec<tokio::task::JoinHandle<u64>> {
    let mut hostile = Vec::new();
    for (own, seed) in [(gateway("gw-03", "C", 3), seed), (gateway("gw-04", "D", 4), seed + 1)] {
        let peer = plant.client(own.name, &[]).await;
        hostile.push(tokio::spawn(gateway_attacks(peer, own, seed, until)));
    }
    hostile
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hostile_gateways_a_viewer_and_a_program_delay_no_critical_and_use_bounded_memory() {
    let test =
        "two_hostile_gateways_a_viewer_and_a_program_delay_no_critical_and_use_bounded_memory";
    let names = ["gw-01", "gw-02", "gw-03", "gw-04", "gw-05"].map(|name| (name, "ulsan-1"));
    let port = free_port();
    let more = format!(
        "[http]\nlisten = \"127.0.0.1:{port}\"\n[reports]\noff = true\n\
         [notify]\nper_recipient_per_hour = {MESSAGES_PER_HOUR}\n"
    );
    let store = format!("max_bytes = {MOST_BYTES}\n");
    let Some(plant) = Plant::shipped_with(test, &names, &store, &more) else { return };
    let length = setting("PDM_HOSTILE_MINUTES").map_or(SHORT, Duration::from_mins);
    let seed = setting("PDM_HOSTILE_SEED").unwrap_or(20_261_127);
    let begun_mib = resident_mib(plant.agent_id(), "VmRSS");
    let heard = ["pdm/v1/ulsan-1/gateway/+/receipt", "pdm/v1/ulsan-1/+/+/notification"];
    let watch = plant.client(WATCH, &heard).await;
    let until = Instant::now() + length;
    let working = honest_work(&plant, until).await;
    let hostile = hostile_gateways(&plant, seed, until).await;
    let asked: Arc<AtomicU64> = Arc::default();
    let (viewer, program) = (Arc::clone(&asked), Arc::clone(&asked));
    let threads = [
        std::thread::spawn(move || viewer_attacks(port, until, &viewer)),
        std::thread::spawn(move || program_attacks(port, until, &program)),
    ];
    let health = std::thread::spawn(move || slowest_health(port, until));
    let mut told_s = criticals(&plant, &watch, gateway("gw-05", "E", 5), until).await;
    let mut attacks = 0;
    for task in hostile {
        attacks += task.await.expect("attacked");
    }
    let (all, lost, twice) = lost_and_twice(&plant, &watch, working).await;
    for thread in threads {
        thread.join().expect("ended");
    }
    let health = health.join().expect("ended");
    print_late(&told_s);
    told_s.sort_by(f64::total_cmp);
    let at = (told_s.len() * 99).div_ceil(100).saturating_sub(1);
    let (p99_s, agent_mib) = (told_s[at], resident_mib(plant.agent_id(), "VmHWM"));
    let (broker_mib, disk) = (resident_mib(plant.broker_id(), "VmHWM"), store_bytes(&plant));
    let rest_s = if length > SHORT { 60 } else { 5 };
    tokio::time::sleep(Duration::from_secs(rest_s)).await;
    let after_mib = resident_mib(plant.agent_id(), "VmRSS");
    println!(
        "seed {seed}, {length:?}: {attacks} attacks of gateways, {} requests, {all} honest events, \
         {lost} lost, {twice} twice; {} Criticals, told within {p99_s:.2} s (99 %), {:.2} s (all); \
         health within {health:?}; agent's peak {agent_mib} MiB (start {begun_mib}, {rest_s} s \
         after {after_mib}), broker's {broker_mib} MiB, store {} MiB",
        asked.load(Ordering::Relaxed),
        told_s.len(),
        told_s.last().copied().unwrap_or_default(),
        disk >> 20,
    );
    assert_eq!((lost, twice), (0, 0));
    let limit_s = if length > SHORT { TOLD_WITHIN_S } else { TOLD_IN_SHORT_WITHIN_S };
    assert!(p99_s <= limit_s, "{told_s:?}");
    assert!(health < Duration::from_secs(5), "{health:?}");
    assert!(agent_mib <= AGENT_MIB && broker_mib <= BROKER_MIB, "{agent_mib}, {broker_mib}");
    assert!(disk <= MOST_BYTES * 5 / 4, "{disk}");
    assert!(after_mib <= 2 * begun_mib, "memory returns: {begun_mib}, {after_mib}");
}
