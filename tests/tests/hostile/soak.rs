//! A hostile gateway with a valid certificate sends attacks in random order while two honest
//! gateways work: nothing honest is lost, stored twice or altered, and staff hears nothing false
//! about it.
//!
//! The test command runs the short form; `tests/run hostile --minutes 10` the long one. The seed is
//! printed and can be set again (`PDM_HOSTILE_SEED`).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pdm_shared::bounds;
use pdm_shared::event::Event;
use pdm_shared::id::{Epoch, EventId};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use sqlx::{Connection as _, Row as _, SqliteConnection};

use crate::plant::{Gateway, Peer, Plant, WATCH};

/// Length of the short form.
pub(crate) const SHORT: Duration = Duration::from_secs(20);
/// The time between two events of an honest gateway.
const PAUSE: Duration = Duration::from_millis(100);

pub(crate) fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// An honest gateway's event, unlike every other one.
pub(crate) fn honest_event(gateway: Gateway<'_>, n: u64) -> Event {
    let begin = gateway.event(0, true).measured_at;
    let measured_at = begin.plus_seconds(n as f64);
    Event { measured_at, event_id: EventId::at(measured_at.unix_ms()), ..gateway.event(n, true) }
}

/// Sends after the `first` event until the deadline; returns the text of each by its identity, and
/// the last number.
pub(crate) async fn work(
    mut peer: Peer,
    gateway: Gateway<'static>,
    first: Event,
    until: Instant,
) -> (BTreeMap<String, String>, u64) {
    let text = serde_json::to_string(&first).expect("json");
    let mut sent = BTreeMap::from([(first.event_id.to_string(), text)]);
    let mut n = 1;
    while Instant::now() < until {
        n += 1;
        let event = honest_event(gateway, n);
        assert!(peer.send(&event, Some(gateway.name)).await, "an honest event is taken");
        sent.insert(event.event_id.to_string(), serde_json::to_string(&event).expect("json"));
        tokio::time::sleep(PAUSE).await;
    }
    (sent, n)
}

const SEQUENCES: [u64; 6] = [0, 1, 7, 1 << 20, (1 << 53) - 1, u64::MAX];
const TIMES: [&str; 5] = [
    "9999-12-31T23:59:59.999Z",
    "1970-01-01T00:00:00.000Z",
    "2001-01-01T00:00:00.000Z",
    "-262143-01-01T00:00:00Z",
    "soon",
];
const TEXTS: [&str; 7] = [
    "\u{202e}txt",
    "a\nAction: SENSOR TEST, no action needed, keep running",
    "",
    "#",
    "a\0b",
    "<script>alert(1)</script>",
    "'; DROP TABLE events; --",
];
/// Texts of an event, as paths: closed sets, lines, words, names, lists.
const FIELDS: [&str; 11] = [
    "/trend/feature",
    "/trend/slope_unit",
    "/trend/trend_direction",
    "/rul/model",
    "/rul/unknown",
    "/signal_quality/flags/0",
    "/anomaly/contributors/0/feature",
    "/operating/state",
    "/bearing_id",
    "/schema",
    "/event_id",
];
/// Longest text. The shipped broker takes packets of 256 KiB, other brokers 1 MiB; the rest of an
/// event has some kilobytes.
const LONGEST: usize = 1_040_000;

/// A length around one of the contract's bounds, or up to what the broker takes.
fn length(random: &mut ChaCha8Rng) -> usize {
    const BOUNDS: [usize; 6] = [
        bounds::MAX_WORD,
        bounds::MAX_LINE,
        bounds::MAX_NOTE,
        bounds::MAX_REASON_BYTES,
        bounds::MAX_EVENT_BYTES,
        bounds::MAX_DOCUMENT_BYTES,
    ];
    match random.random_range(0..4) {
        0 => random.random_range(1..LONGEST),
        1 => LONGEST,
        _ => BOUNDS[random.random_range(0..BOUNDS.len())] + random.random_range(0..3) - 1,
    }
}

/// A long text, one of several lines, or one that turns its direction.
fn text(random: &mut ChaCha8Rng) -> String {
    if random.random_range(0..2) == 0 {
        return TEXTS[random.random_range(0..TEXTS.len())].to_owned();
    }
    let letters = ["x", "가", "\u{202e}", "\n", "\"", "["];
    let letter = letters[random.random_range(0..letters.len())];
    // a text is escaped in JSON: at most two bytes for each of its own
    letter.repeat((length(random) / letter.len() / 2).max(1))
}

/// Puts a value where a path says; the parts that are not there are made.
fn put(value: &mut Value, path: &str, text: Value) {
    let mut at = value;
    for part in path.split('/').skip(1) {
        at = if part == "0" {
            if !at.is_array() {
                *at = Value::Array(Vec::new());
            }
            let Value::Array(list) = at else { return };
            if list.is_empty() {
                list.push(Value::Null);
            }
            &mut list[0]
        } else {
            if !at.is_object() {
                *at = Value::Object(serde_json::Map::new());
            }
            &mut at[part]
        };
    }
    *at = text;
}

/// An event that lies about its gateway, bearing, number, time or texts.
fn lie(random: &mut ChaCha8Rng, own: Gateway<'_>, victim: Gateway<'_>) -> Value {
    let mut event = match random.random_range(0..4) {
        0 => victim.event(random.random_range(1..100), random.random_range(0..2) == 0),
        1 => Gateway { epoch: own.epoch, ..victim }.event(random.random_range(1..100), false),
        2 => Gateway { bearing: victim.bearing, ..own }.event(random.random_range(1..100), true),
        _ => own.event(random.random_range(1..100_000), false),
    };
    event.event_id = EventId::at(random.random_range(1..i64::from(i32::MAX)));
    if random.random_range(0..3) == 0 {
        event.sequence = SEQUENCES[random.random_range(0..SEQUENCES.len())];
    }
    if random.random_range(0..4) == 0 {
        event.bearing_id =
            format!("new-{}", random.random_range(0..1_000_000)).parse().expect("name");
    }
    let mut value = serde_json::to_value(&event).expect("json");
    match random.random_range(0..8) {
        0..=2 => {
            let field = FIELDS[random.random_range(0..FIELDS.len())];
            put(&mut value, field, text(random).into());
        }
        3 => put(
            &mut value,
            "/measured_at",
            TIMES[random.random_range(0..TIMES.len())].to_owned().into(),
        ),
        4 => {
            let many = vec![0.5; random.random_range(1..100_000)];
            put(&mut value, "/spectra/envelope/amplitude", many.into());
        }
        5 => {
            let many = vec![serde_json::json!({"feature": "rms_g", "z": 9.0}); 4000];
            put(&mut value, "/anomaly/contributors", many.into());
        }
        _ => {}
    }
    value
}

/// A status that lies about what the gateway has sent and which bearings it has.
fn status(random: &mut ChaCha8Rng, own: Gateway<'_>) -> String {
    let name = text(random);
    let bearings = vec![name; random.random_range(0..3)];
    serde_json::json!({
        "schema": "pdm.gateway/1", "gateway_id": own.name, "status": "online",
        "at": "2026-11-21T05:10:21.000Z", "epoch": Epoch::at(random.random_range(1..99)),
        "last_sequence": SEQUENCES[random.random_range(0..SEQUENCES.len())],
        "first_sequence": SEQUENCES[random.random_range(0..SEQUENCES.len())],
        "bearings": bearings, "version": text(random),
    })
    .to_string()
}

/// Nested without end, cut off, not UTF-8, or numbers that no double holds.
fn garbage(random: &mut ChaCha8Rng, value: &Value) -> Vec<u8> {
    let whole = value.to_string();
    match random.random_range(0..5) {
        0 => b"[".repeat(length(random)),
        1 => whole.as_bytes()[..random.random_range(1..200)].to_vec(),
        2 => [whole.as_bytes(), &[0xff, 0xc0, 0x80]].concat(),
        3 => whole.replacen("\"samples\":", "\"samples\":1e999,\"s\":", 1).into_bytes(),
        _ => Vec::new(),
    }
}

/// One attack; returns topic, retain and payload.
pub(crate) fn attack(
    random: &mut ChaCha8Rng,
    own: Gateway<'_>,
    honest: [Gateway<'_>; 2],
) -> (String, bool, Vec<u8>) {
    let victim = honest[random.random_range(0..2)];
    let value = lie(random, own, victim);
    let key = own.event(1, true).key();
    let topic = format!("pdm/v1/{key}/event/{}", own.name);
    let site = own.site;
    match random.random_range(0..16) {
        0 | 1 => (topic, false, garbage(random, &value)),
        2 => {
            let status = status(random, own);
            (format!("pdm/v1/{site}/gateway/{}/status", own.name), true, status.into_bytes())
        }
        3 => (format!("pdm/v1/{site}/P-9/DE/state"), true, b"x".repeat(length(random))),
        // what the access rules refuse: another's topics, the agent's, staff's
        4 => {
            let (name, bearing) = (victim.name, victim.bearing);
            let topics = [
                format!("pdm/v1/{site}/P-101/{bearing}/event/{name}"),
                format!("pdm/v1/{site}/P-101/{bearing}/event"),
                format!("pdm/v1/{site}/gateway/{name}/status"),
                format!("pdm/v1/{site}/gateway/{name}/receipt"),
                format!("pdm/v1/{site}/P-101/{bearing}/ack"),
                format!("pdm/v1/{site}/P-101/{bearing}/diagnosis"),
                format!("pdm/v1/{site}/P-101/{bearing}/notification"),
                "pdm/v1/dead-letter".to_owned(),
            ];
            let at = random.random_range(0..topics.len());
            (topics[at].clone(), random.random_range(0..2) == 0, value.to_string().into_bytes())
        }
        _ => {
            let named = format!(
                "pdm/v1/{site}/{}/{}/event/{}",
                value["equipment_id"].as_str().unwrap_or("P-101"),
                value["bearing_id"].as_str().unwrap_or("DE"),
                own.name
            );
            // a topic of MQTT holds at most 65,535 bytes, and none of its wildcards
            let fits = named.len() < 60_000 && !named.contains(['#', '+', '\0', '\n', '\u{202e}']);
            (if fits { named } else { topic }, false, value.to_string().into_bytes())
        }
    }
}

/// The text of every stored event of the honest gateways, in the order of arrival.
pub(crate) async fn stored(plant: &Plant) -> Vec<(String, String)> {
    let url = format!("sqlite:{}?mode=ro", plant.folder.path().join("agent.db").display());
    let mut database = SqliteConnection::connect(&url).await.expect("the store opens");
    let sql = "SELECT payload FROM events WHERE gateway_id IN ('gw-01', 'gw-02')";
    let rows = sqlx::query(sql).fetch_all(&mut database).await.expect(sql);
    let payload = |row: &sqlx::sqlite::SqliteRow| -> String { row.get(0) };
    rows.iter()
        .map(payload)
        .map(|text| {
            let event: Event = serde_json::from_str(&text).expect("an event");
            (event.event_id.to_string(), text)
        })
        .collect()
}

/// Returns the resident memory of a process, MiB: the peak (`VmHWM`) or the present one (`VmRSS`).
pub(crate) fn resident_mib(id: u32, which: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(which)?.strip_prefix(':'));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_gateway_costs_the_honest_ones_nothing() {
    let test = "a_hostile_gateway_costs_the_honest_ones_nothing";
    let names = [("gw-01", "ulsan-1"), ("gw-02", "ulsan-1"), ("gw-03", "ulsan-1")];
    let Some(plant) = Plant::shipped(test, &names) else { return };
    let length = setting("PDM_HOSTILE_MINUTES").map_or(SHORT, |n| Duration::from_secs(n * 60));
    let seed = setting("PDM_HOSTILE_SEED").unwrap_or(20_261_123);
    let gateway = |name: &'static str, bearing: &'static str, ms: i64| Gateway {
        site: "ulsan-1",
        name,
        bearing,
        epoch: Some(Epoch::at(ms)),
    };
    let honest = [gateway("gw-01", "A", 1), gateway("gw-02", "B", 2)];
    let own = gateway("gw-03", "C", 3);
    let watch = plant.client(WATCH, &["pdm/v1/ulsan-1/gateway/+/receipt"]).await;
    let until = Instant::now() + length;
    let mut working = Vec::new();
    for gateway in honest {
        let mut peer = plant.client(gateway.name, &[]).await;
        gateway.is_born(&mut peer, 0).await;
        // the bearing belongs to its gateway before the attacks begin, as in a plant that runs
        let first = honest_event(gateway, 1);
        assert!(peer.send(&first, Some(gateway.name)).await);
        watch.until_receipt(gateway.name, 1).await;
        working.push(tokio::spawn(work(peer, gateway, first, until)));
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut hostile = plant.client("gw-03", &[]).await;
    let mut attacks = 0_u64;
    while Instant::now() < until {
        let (topic, retain, payload) = attack(&mut random, own, honest);
        attacks += u64::from(hostile.publish(&topic, retain, payload).await);
    }
    let mut lost = 0;
    let mut all = BTreeMap::new();
    for (task, gateway) in working.into_iter().zip(honest) {
        let (sent, n) = task.await.expect("worked");
        watch.until_receipt(gateway.name, n).await;
        all.extend(sent);
    }
    let kept = stored(&plant).await;
    let by_id: BTreeMap<_, _> = kept.iter().cloned().collect();
    for (id, text) in &all {
        match by_id.get(id) {
            None => lost += 1,
            Some(there) => assert_eq!(there, text, "altered"),
        }
    }
    let memory = resident_mib(plant.agent_id(), "VmHWM");
    println!(
        "seed {seed}: {attacks} attacks in {length:?}, {} honest events, {lost} lost, agent's peak \
         {memory} MiB",
        all.len()
    );
    assert_eq!(lost, 0);
    assert_eq!(by_id.len(), kept.len(), "none twice");
    assert_eq!(kept.len(), all.len(), "nothing forged in their names");
    let false_news = "SELECT count(*) FROM notifications WHERE bearing_id IN ('A', 'B')";
    assert_eq!(plant.figures(false_news).await, [0]);
    assert!(attacks > 20, "{attacks} attacks only");
}
