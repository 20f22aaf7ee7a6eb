//! An alarm on its way along a route, through the whole agent: over a restart, with one key a
//! message. The messenger is a stand-in that writes down what it is asked.

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pdm_agent::service::{Agent, Handle};
use pdm_agent::settings::{AgentSettings, NotifySettings};
use pdm_harness::{Mosquitto, Persistence, header, whole_request};
use pdm_service::clock::{Clock, SharedClock, SystemClock};
use pdm_shared::event::{Change, ChangeKind};
use pdm_shared::time::Timestamp;
use rand::{RngExt as _, SeedableRng as _};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use support::{Client, event, healthy, settings, start, subscribed, until};

/// A clock that is set ahead of the system's.
#[derive(Debug, Default)]
struct Ahead(AtomicI64);

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus_seconds(self.0.load(Ordering::Relaxed) as f64)
    }
}

/// A stand-in of NHN Cloud's AlimTalk: what it took by its key, and how often a key came again. It
/// refuses a key that it knows, and loses every third answer.
#[derive(Debug, Default)]
struct Alimtalk {
    taken: Mutex<BTreeMap<String, String>>,
    again: AtomicI64,
}

async fn alimtalk() -> (String, Arc<Alimtalk>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let url = format!("http://{}/messages", listener.local_addr().expect("address"));
    let service = Arc::new(Alimtalk::default());
    let behind = Arc::clone(&service);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.expect("accept");
            let Some((head, body)) = request(&mut stream).await else { continue };
            let key = header(&head, "x-nc-api-idempotency-key").expect("a key");
            let body: serde_json::Value = serde_json::from_str(&body).expect("JSON");
            let title = &body["recipientList"][0]["templateParameter"]["title"];
            let (is_known, count) = {
                let mut taken = behind.taken.lock().expect("lock");
                let title = title.as_str().expect("text").to_owned();
                (taken.insert(key, title).is_some(), taken.len())
            };
            behind.again.fetch_add(i64::from(is_known), Ordering::Relaxed);
            if count % 3 == 0 && !is_known {
                continue;
            }
            let code = if is_known { -1005 } else { 0 };
            let header = serde_json::json!({ "isSuccessful": !is_known, "resultCode": code });
            let _killed =
                answer(&mut stream, "200 OK", &serde_json::json!({ "header": header })).await;
        }
    });
    (url, service)
}

/// Reads head and body of a request; `None` if its sender was killed.
async fn request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    loop {
        let mut part = [0; 4096];
        let read = stream.read(&mut part).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&part[..read]);
        if let Some(whole) = whole_request(&bytes) {
            return Some(whole);
        }
    }
}

async fn answer(
    stream: &mut TcpStream,
    status: &str,
    body: &serde_json::Value,
) -> std::io::Result<()> {
    let body = body.to_string();
    let length = body.len();
    let text =
        format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
    stream.write_all(text.as_bytes()).await
}

/// The requests to the stand-in: idempotency key, receiver, title.
type Asked = Arc<Mutex<Vec<(String, String, String)>>>;

/// A stand-in of a messenger, which fails at its first request.
async fn messenger() -> (String, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let url = format!("http://{}/send", listener.local_addr().expect("address"));
    let asked = Asked::default();
    let seen = Arc::clone(&asked);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.expect("accept");
            let Some((head, body)) = request(&mut stream).await else { continue };
            let key = header(&head, "idempotency-key").expect("a key");
            let body: serde_json::Value = serde_json::from_str(&body).expect("JSON");
            let text = |name: &str| body[name].as_str().expect("text").to_owned();
            let is_first = {
                let mut asked = seen.lock().expect("lock");
                asked.push((key, text("to"), text("title")));
                asked.len() == 1
            };
            let status = if is_first { "503 Busy" } else { "200 OK" };
            let _gone = answer(&mut stream, status, &serde_json::json!({ "ok": true })).await;
        }
    });
    (url, asked)
}

const HOOK: &str = r#"
source = "https://example.com/stand-in"
url = "https://example.com/"
to = true
success = { pointer = "/ok", value = true }
[json]
to = "{{ to }}"
title = "{{ title }}"
"#;

fn routed(folder: &std::path::Path, url: &str) -> NotifySettings {
    std::fs::write(folder.join("stand-in.toml"), HOOK).expect("written");
    let text = format!(
        "[store]\nsqlite = \"a.db\"\n[notify]\nrepeat_after_h = 0.0\ngroup_wait_s = 0.0\n\
         [[notify.webhook]]\nname = \"chat\"\ntemplate = \"stand-in.toml\"\nurl = \"{url}\"\n\
         language = \"en\"\n\
         [[notify.recipient]]\nname = \"kim\"\nhooks = [{{ hook = \"chat\", to = \"010-kim\" }}]\n\
         [[notify.recipient]]\nname = \"choi\"\nhooks = [{{ hook = \"chat\", to = \"010-choi\" \
         }}]\n\
         [[notify.rota]]\nname = \"duty\"\nshift = [{{ who = [\"kim\"] }}]\n\
         [[notify.route]]\nname = \"pumps\"\nequipment = [\"P-*\"]\n\
         step = [{{ to = [\"duty\"] }}, {{ after_minutes = 30, to = [\"choi\"] }}]\n"
    );
    AgentSettings::parse(&folder.join("agent.toml"), &text).expect("valid").notify
}

/// An agent with the route, which is started anew and at other times.
struct Routed {
    broker: Mosquitto,
    _folder: tempfile::TempDir,
    settings: AgentSettings,
    clock: Arc<Ahead>,
    asked: Asked,
}

impl Routed {
    /// Starts the plant; `None` where the broker is missing.
    async fn new(test: &str) -> Option<Self> {
        let broker = Mosquitto::start(test, Persistence::Memory)?;
        let folder = tempfile::tempdir().expect("folder");
        let (url, asked) = messenger().await;
        let mut settings = settings(broker.port(), folder.path());
        settings.notify = routed(folder.path(), &url);
        Some(Self { broker, _folder: folder, settings, clock: Arc::default(), asked })
    }

    async fn start(&self) -> Handle {
        let clock = Arc::clone(&self.clock) as SharedClock;
        Agent::start(self.settings.clone(), clock).await.expect("starts")
    }

    fn set_ahead(&self, seconds: i64) {
        self.clock.0.store(seconds, Ordering::Relaxed);
    }

    fn asked(&self) -> Vec<(String, String, String)> {
        self.asked.lock().expect("lock").clone()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_alarm_goes_on_along_its_route_over_a_restart() {
    let name = "an_alarm_goes_on_along_its_route_over_a_restart";
    let Some(routed) = Routed::new(name).await else { return };
    let agent = routed.start().await;
    subscribed(&agent).await;
    let mut client = Client::connect(routed.broker.port(), "test", &[]).await;
    client.send(&[event(1)]).await;
    let count = || routed.asked().len();
    until("the first step, twice", 30, || count() == 2).await;
    agent.stop().await.expect("no part failed");
    routed.set_ahead(31 * 60);
    let agent = routed.start().await;
    until("the second step", 30, || count() == 3).await;
    agent.stop().await.expect("no part failed");
    let asked = routed.asked();
    let to: Vec<&str> = asked.iter().map(|(_, to, _)| to.as_str()).collect();
    assert_eq!(to, ["010-kim", "010-kim", "010-choi"]);
    assert_eq!(asked[0].0, asked[1].0, "one key over the tries");
    assert_ne!(asked[1].0, asked[2].0);
    assert!(
        asked[2].2.starts_with("[Unacknowledged for 31 min] [Warning] P-101"),
        "{}",
        asked[2].2
    );
}

const BEARINGS: u64 = 60;
const SEED: u64 = 20_261_123;

/// Waits until the agent's session exists: its first event is stored.
async fn listens(client: &mut Client, folder: &Path) {
    let store = format!("sqlite://{}", folder.join("agent.db").display());
    // the same event each time: another one of the same number would be of a second gateway
    let first = healthy(1);
    for _ in 0..600 {
        client.send(std::slice::from_ref(&first)).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        let Ok(pool) = sqlx::SqlitePool::connect(&store).await else { continue };
        let counted: Result<i64, _> =
            sqlx::query_scalar("SELECT count(*) FROM events").fetch_one(&pool).await;
        if counted.is_ok_and(|events| events > 0) {
            return;
        }
    }
    panic!("the agent stores nothing");
}

/// R-AGENT-10: each alarm under one key, over kills and lost answers. `PDM_KILLS` is the number of
/// kills.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_agent_tells_each_alarm_under_one_key() {
    let name = "a_killed_agent_tells_each_alarm_under_one_key";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let kills = std::env::var("PDM_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(6);
    let folder = tempfile::tempdir().expect("folder");
    let (url, service) = alimtalk().await;
    let config = folder.path().join("agent.toml");
    let text = format!(
        "[store]\nsqlite = \"agent.db\"\n[broker]\naddresses = [\"127.0.0.1:{}\"]\n[reports]\noff \
         = true\n\
         [notify]\ngroup_wait_s = 0.0\nrelated_within_min = 0.0\nrepeat_after_h = 0.0\n\
         [[notify.webhook]]\nname = \"talk\"\npreset = \"nhn-alimtalk\"\nurl = \"{url}\"\n\
         values = {{ app_key = \"a\", sender_key = \"s\", template_code = \"t\" }}\n\
         secrets = {{ secret_key = {{ file = \"key\" }} }}\nto = \"01012345678\"\nlanguage = \
         \"en\"\n",
        broker.port()
    );
    std::fs::write(folder.path().join("key"), "s3cret").expect("a key");
    std::fs::write(&config, text).expect("configuration");
    let mut agent = start(&config);
    let mut client = Client::connect(broker.port(), "test", &[]).await;
    listens(&mut client, folder.path()).await;
    let fault = |number: u64| {
        let mut event = event(number + 1);
        event.bearing_id = format!("B{number}").parse().expect("a name");
        event
    };
    let mut random = rand::rngs::StdRng::seed_from_u64(SEED);
    let per_kill = BEARINGS.div_ceil(kills);
    let mut sent = 0;
    for _ in 0..kills {
        for _ in 0..per_kill.min(BEARINGS - sent) {
            sent += 1;
            client.send(&[fault(sent)]).await;
        }
        tokio::time::sleep(Duration::from_millis(random.random_range(100..900))).await;
        agent.kill();
        agent = start(&config);
    }
    let count = || service.taken.lock().expect("lock").len() as u64;
    until("every alarm", 120, || count() >= BEARINGS).await;
    let taken = service.taken.lock().expect("lock").clone();
    let mut titles: Vec<&String> = taken.values().collect();
    titles.sort_unstable();
    titles.dedup();
    let again = service.again.load(Ordering::Relaxed);
    println!(
        "{kills} kills, seed {SEED}: {} keys, {} alarms, {again} keys again",
        taken.len(),
        titles.len()
    );
    let odd: Vec<_> = titles.iter().filter(|title| !title.contains("outer race fault")).collect();
    assert_eq!(
        (taken.len() as u64, titles.len() as u64),
        (BEARINGS, BEARINGS),
        "seed {SEED}, beside the alarms: {odd:?}"
    );
    agent.kill();
}

/// Two machines run at a load that was never run before: staff reads of both in one message, at the
/// time of the day's changes, also where the agent was started anew in between; the broker's topic
/// hears at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operating_changes_of_two_machines_arrive_as_one_message_of_the_day() {
    let name = "operating_changes_of_two_machines_arrive_as_one_message_of_the_day";
    let Some(routed) = Routed::new(name).await else { return };
    let agent = routed.start().await;
    let progress = subscribed(&agent).await;
    let heard = "pdm/v1/+/+/+/notification";
    let mut client = Client::connect(routed.broker.port(), "test", &[heard]).await;
    let changed = |sequence: u64| {
        let mut event = healthy(sequence);
        event.equipment_id = format!("P-{sequence}").parse().expect("a name");
        event.change = Some(Change {
            kind: ChangeKind::Operating,
            level_ratio: 1.4,
            bearings: Vec::new(),
            since: event.measured_at,
        });
        event
    };
    client.send(&[changed(1), changed(2)]).await;
    until("both are told", 30, || client.heard_on("/notification").len() == 2).await;
    until("both rows wait", 30, || progress.borrow().unsent == 2).await;
    agent.stop().await.expect("no part failed");
    assert_eq!(routed.asked().len(), 0, "no channel hears before the time");

    routed.set_ahead(25 * 3600);
    let agent = routed.start().await;
    let changes = || {
        let asked = routed.asked();
        asked.into_iter().filter(|one| one.2.contains("[Operating change]")).collect::<Vec<_>>()
    };
    // the stand-in fails at its first request
    until("the message of the day, twice", 30, || changes().len() == 2).await;
    agent.stop().await.expect("no part failed");
    let told = changes();
    assert_eq!(told[0], told[1], "one key, one content");
    assert!(told[0].2.ends_with("and 1 more"), "{}", told[0].2);
}
