//! Servers that hang: an alarm leaves by another channel within 5 s, and an answer without an end
//! is read up to a bound.
//!
//! Broker, mail server and PostgreSQL are real and are stopped with SIGSTOP, so their connections
//! stay open. Qdrant, MCP server and web hook are stand-ins that accept connections and never
//! answer. Each hangs for [`SHORT`]; `tests/run hostile --hang` lets each hang for ten minutes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pdm_agent::service::Handle;
use pdm_agent::settings::{AgentSettings, EmailSecurity, EmailSettings, Languages, StorePlace};
use pdm_harness::{Mosquitto, Persistence, Postgres, Smtp, free_port};
use pdm_knowledge::settings::{QdrantChoice, StoreChoice};
use pdm_service::postgres::PostgresSettings;
use pdm_shared::risk::RiskLevel;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::open_plant::{
    Client, FromBegin, Posts, event, hanging, hook, receiver, settings, started, until,
};

/// The longest delay of an alarm that leaves by a channel that works.
const LONGEST: Duration = Duration::from_secs(5);
/// How long a server hangs in the test command.
const SHORT: Duration = Duration::from_secs(8);

/// Returns how long a server hangs.
fn length() -> Duration {
    let minutes = std::env::var("PDM_HANG_MINUTES").ok().and_then(|text| text.parse().ok());
    minutes.map_or(SHORT, |minutes: u64| Duration::from_secs(60 * minutes))
}

/// An agent whose one web hook works.
struct Plant {
    agent: Handle,
    client: Client,
    posts: Posts,
    begun: Instant,
    sent: u64,
}

impl Plant {
    async fn start(mut settings: AgentSettings, broker: &Mosquitto) -> Self {
        let (url, posts) = receiver().await;
        settings.notify.webhook.push(hook("good", url));
        let agent = Box::pin(started(settings, FromBegin::new())).await;
        let client = Client::connect(broker.port()).await;
        Self { agent, client, posts, begun: Instant::now(), sent: 0 }
    }

    /// Sends a fault of another bearing; returns the bearing's name.
    async fn fault(&mut self) -> String {
        self.sent += 1;
        let mut fault = event(self.sent, self.begun.elapsed().as_secs_f64());
        let bearing = format!("B{}", self.sent);
        fault.bearing_id = bearing.parse().expect("a name");
        self.client.send(&fault).await;
        bearing
    }

    /// Returns when the web hook heard of something first.
    fn heard(&self, word: &str) -> Option<Instant> {
        let posts = self.posts.lock().expect("whole");
        posts.iter().find(|(_, body)| body.contains(word)).map(|(at, _)| *at)
    }

    /// Returns how often the web hook has heard of something.
    fn count(&self, word: &str) -> usize {
        let posts = self.posts.lock().expect("whole");
        posts.iter().filter(|(_, body)| body.contains(word)).count()
    }

    /// Sends a fault, and tells how long the web hook waited for its alarm.
    async fn delay(&mut self) -> Duration {
        let sent = Instant::now();
        let word = format!("\"{}\"", self.fault().await);
        until("the alarm", 120, || self.heard(&word)).await - sent
    }

    /// Sends faults for [`length`], and tells the longest delay of an alarm.
    #[expect(clippy::print_stdout, reason = "the figures of a test")]
    async fn longest_delay(&mut self, what: &str) -> Duration {
        let (begun, length) = (Instant::now(), length());
        let (mut longest, mut alarms) = (Duration::ZERO, 0);
        while alarms == 0 || begun.elapsed() < length {
            longest = longest.max(self.delay().await);
            alarms += 1;
            tokio::time::sleep((length / 10).min(Duration::from_secs(20))).await;
        }
        println!("{what}: {alarms} alarms in {:?}, the latest after {longest:?}", begun.elapsed());
        longest
    }

    async fn stop(self) {
        let _in_time = tokio::time::timeout(Duration::from_secs(20), self.agent.stop()).await;
    }
}

fn email(port: u16) -> EmailSettings {
    EmailSettings {
        host: "127.0.0.1".to_owned(),
        port: Some(port),
        security: EmailSecurity::None,
        user: None,
        password: None,
        from_address: "PdM <pdm@plant.example>".to_owned(),
        to: vec!["lead@plant.example".to_owned()],
        language: Languages::En,
        from: RiskLevel::Watch,
    }
}

/// Its look-ups, and those of the report, once came before the notification: 50 to 90 s.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_knowledge_store_that_hangs_delays_no_alarm() {
    let name = "a_knowledge_store_that_hangs_delays_no_alarm";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut settings = settings(broker.port(), folder.path());
    let url = format!("http://127.0.0.1:{}", hanging().await);
    settings.knowledge.store =
        StoreChoice::Qdrant(QdrantChoice { url, key: None, prefix: String::new() });
    settings.reports.folder = Some(folder.path().join("reports"));
    let mut plant = Plant::start(settings, &broker).await;
    let longest = plant.longest_delay(name).await;
    assert!(longest <= LONGEST, "{longest:?}");
    plant.stop().await;
}

/// R-AGENT-10: one message tells the alarm and where its documents will be; they are written then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn staff_is_told_once_with_the_documents_that_are_written_then() {
    let name = "staff_is_told_once_with_the_documents_that_are_written_then";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut settings = settings(broker.port(), folder.path());
    let reports = folder.path().join("reports");
    settings.reports.folder = Some(reports.clone());
    let mut plant = Plant::start(settings, &broker).await;
    plant.fault().await;
    let count = || std::fs::read_dir(&reports).map_or(0, |files| files.flatten().count());
    until("the documents", 60, || (count() == 10).then_some(())).await;
    let posts: Vec<String> =
        plant.posts.lock().expect("whole").iter().map(|(_, body)| body.clone()).collect();
    assert_eq!(posts.len(), 1, "{posts:#?}");
    assert!(posts[0].contains("\"raised\"") && posts[0].contains("Work order: "), "{}", posts[0]);
    let files = std::fs::read_dir(&reports).expect("documents").flatten();
    let names: Vec<String> =
        files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    assert!(names.len() == 10, "{names:?}");
    for name in
        names.iter().filter(|name| Path::new(name).extension().is_some_and(|end| end == "pdf"))
    {
        assert!(posts[0].contains(name), "{name}: {}", posts[0]);
    }
    plant.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_web_hook_that_hangs_delays_no_other_channel() {
    let name = "a_web_hook_that_hangs_delays_no_other_channel";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut settings = settings(broker.port(), folder.path());
    let bad = format!("http://127.0.0.1:{}/hook", hanging().await);
    settings.notify.webhook.push(hook("bad", bad));
    let mut plant = Plant::start(settings, &broker).await;
    let longest = plant.longest_delay(name).await;
    assert!(longest <= LONGEST, "{longest:?}");
    plant.stop().await;
}

/// A real mail server, stopped with SIGSTOP.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mail_server_that_hangs_delays_no_other_channel_and_gets_its_mail_afterwards() {
    let name = "a_mail_server_that_hangs_delays_no_other_channel_and_gets_its_mail_afterwards";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let Some(mail) = Smtp::start(name) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut settings = settings(broker.port(), folder.path());
    settings.notify.email = Some(email(mail.port()));
    let mut plant = Plant::start(settings, &broker).await;
    mail.process().freeze();
    let longest = plant.longest_delay(name).await;
    assert_eq!(mail.mails().len(), 0);
    mail.process().thaw();
    // a pause between two tries is at most ten minutes, and grows from two seconds
    let patience = 120 + 2 * length().as_secs().min(900);
    until("the mails", patience, || (!mail.mails().is_empty()).then_some(())).await;
    assert!(longest <= LONGEST, "{longest:?}");
    plant.stop().await;
}

/// A tool that judgements call runs on a foreign MCP server, which hangs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_mcp_server_that_hangs_delays_no_alarm() {
    let name = "an_mcp_server_that_hangs_delays_no_alarm";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut settings = settings(broker.port(), folder.path());
    let tools = folder.path().join("tools");
    std::fs::create_dir(&tools).expect("folder");
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../config/tools");
    for file in std::fs::read_dir(shipped).expect("the shipped tools").flatten() {
        let text = std::fs::read_to_string(file.path()).expect("a tool");
        let text = match text.split_once("\nconfig:") {
            Some((head, _)) if text.contains("executor: search") => {
                let head = head.replace("executor: search", "executor: mcp");
                format!("{head}\nconfig:\n  server: slow\n  tool: search\n")
            }
            _ => text,
        };
        std::fs::write(tools.join(file.file_name()), text).expect("a tool");
    }
    let text = format!(
        "[store]\nsqlite = \"agent.db\"\n[broker]\n[tools]\nfolder = \"tools\"\n\
         [tools.servers.slow]\nurl = \"http://127.0.0.1:{}/mcp\"\n",
        hanging().await
    );
    let told = AgentSettings::parse(&folder.path().join("agent.toml"), &text).expect("settings");
    settings.tools = told.tools;
    settings.tools.folder = Some(tools);
    let mut plant = Plant::start(settings, &broker).await;
    let longest = plant.longest_delay(name).await;
    assert!(longest <= LONGEST, "{longest:?}");
    plant.stop().await;
}

/// Nothing comes in while the broker hangs, so the alarm of that time is that its gateway is
/// silent. Publications wait, and are published once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_hangs_delays_no_other_channel_and_gets_its_notification_afterwards() {
    let name = "a_broker_that_hangs_delays_no_other_channel_and_gets_its_notification_afterwards";
    let Some(broker) = Mosquitto::start(name, Persistence::Disk) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut settings = settings(broker.port(), folder.path());
    let silent_after = Duration::from_secs(3);
    settings.silence.silent_after_s = silent_after.as_secs_f64();
    let mut plant = Plant::start(settings, &broker).await;
    plant.delay().await;
    let process = broker.process().expect("runs");
    process.freeze();
    let frozen = Instant::now();
    let silent = until("the silent gateway", 120, || plant.heard("\"silent\"")).await;
    let delay = silent.saturating_duration_since(frozen);
    println!("{name}: told {delay:?} after the broker hung");
    tokio::time::sleep(length().saturating_sub(frozen.elapsed())).await;
    process.thaw();
    let there = || plant.client.heard("/notification").iter().any(|text| text.contains("silent"));
    until("its notification", 120, || there().then_some(())).await;
    assert!(delay <= silent_after + LONGEST, "{delay:?}");
    assert_eq!(plant.count("\"silent\""), 1, "told once");
    // the flow goes on
    let delay = plant.delay().await;
    assert!(delay <= Duration::from_secs(30), "{delay:?}");
    plant.stop().await;
}

/// Asks for the agent's health; returns the status and how long that took.
async fn health(address: std::net::SocketAddr) -> (String, Duration) {
    let begun = Instant::now();
    let mut stream = TcpStream::connect(address).await.expect("listens");
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("answered");
    (answer.split(' ').nth(1).unwrap_or_default().to_owned(), begun.elapsed())
}

/// Without its store the agent cannot judge, because it does not know what it has judged. So health
/// fails, staff is told past the store that the agent is blind, and what came in meanwhile is
/// judged and told once afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_hangs_is_told_past_it_and_loses_nothing() {
    let name = "a_store_that_hangs_is_told_past_it_and_loses_nothing";
    let Some(broker) = Mosquitto::start(name, Persistence::Disk) else { return };
    let Some(server) = Postgres::start(name) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let mut settings = settings(broker.port(), folder.path());
    settings.store.place = StorePlace::Postgres(Box::new(PostgresSettings::at(server.url())));
    let after = Duration::from_secs(1);
    settings.silence.store_after_s = after.as_secs_f64();
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], free_port()));
    settings.http.listen = Some(address);
    let mut plant = Plant::start(settings, &broker).await;
    plant.delay().await;
    assert_eq!(health(address).await.0, "200");
    server.freeze();
    let frozen = Instant::now();
    let during = format!("\"{}\"", plant.fault().await);
    let told = until("the blind agent", 60, || plant.heard("its store does not answer")).await;
    let delay = told.saturating_duration_since(frozen);
    println!("{name}: told {delay:?} after the store hung");
    let (status, took) = health(address).await;
    assert_eq!(status, "503");
    assert!(took < Duration::from_secs(4), "{took:?}");
    tokio::time::sleep(length().saturating_sub(frozen.elapsed())).await;
    assert!(plant.heard(&during).is_none(), "nothing is judged without the store");
    server.thaw();
    until("the end of it", 60, || plant.heard("its store answers")).await;
    until("the alarm of that time", 120, || plant.heard(&during)).await;
    assert!(delay <= after + LONGEST, "{delay:?}");
    let delay = plant.delay().await;
    assert!(delay <= Duration::from_secs(30), "{delay:?}");
    let told =
        [&during, "its store does not answer", "its store answers"].map(|word| plant.count(word));
    assert_eq!(told, [1, 1, 1], "each told once");
    assert_eq!(health(address).await.0, "200");
    plant.stop().await;
}

/// An error page without an end once took 7 GiB of memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endless_error_page_is_read_up_to_a_bound() {
    let name = "an_endless_error_page_is_read_up_to_a_bound";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let url = format!("http://{}/hook", listener.local_addr().expect("address"));
    let (written, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (bytes, ends) = (Arc::clone(&written), Arc::clone(&ended));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _head = stream.read(&mut [0; 4096]).await;
            let _sent = stream.write_all(b"HTTP/1.1 500 Oops\r\n\r\n").await;
            let page = [b'x'; 8192];
            while bytes.load(Ordering::SeqCst) < 1 << 30 && stream.write_all(&page).await.is_ok() {
                bytes.fetch_add(page.len(), Ordering::SeqCst);
            }
            ends.fetch_add(1, Ordering::SeqCst);
        }
    });
    let mut settings = settings(broker.port(), folder.path());
    settings.notify.webhook.push(hook("endless", url));
    let agent = started(settings, FromBegin::new()).await;
    let client = Client::connect(broker.port()).await;
    client.send(&event(1, 0.0)).await;
    until("the end of the answer", 60, || (ended.load(Ordering::SeqCst) > 0).then_some(())).await;
    let written = written.load(Ordering::SeqCst);
    // what the agent read and what the kernel's buffers took
    assert!(written < 32 << 20, "{written} bytes");
    agent.stop().await.expect("no part failed");
}
