//! An agent as a program whose health is asked and whose messages to staff arrive at a web hook,
//! with a gateway that publishes windows.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pdm_harness::{
    Child, Mosquitto, Persistence, WallClock, binary, free_port, program, until, whole_request,
};
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use tempfile::TempDir;

/// Longest wait for what has to happen, s.
pub(crate) const PATIENCE: u64 = 60;
/// `[silence] store_after_s` of every agent here.
pub(crate) const STORE_AFTER_S: f64 = 2.0;

const FAULT: &str = include_str!("../../../config/examples/event.json");

/// A web hook's receiver that answers 200 and keeps what it got.
struct Receiver {
    port: u16,
    bodies: Arc<Mutex<Vec<String>>>,
}

impl Receiver {
    fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let bodies: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&bodies);
        // ends with the test's process
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || answer(stream, &kept));
            }
        });
        Self { port, bodies }
    }
}

/// Answers every request of a connection.
fn answer(mut stream: TcpStream, kept: &Mutex<Vec<String>>) {
    let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(length @ 1..) = stream.read(&mut piece) {
        bytes.extend_from_slice(&piece[..length]);
        if let Some((_head, body)) = whole_request(&bytes) {
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(body);
            bytes.clear();
            let done = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
            if done.is_err() {
                return;
            }
        }
    }
}

/// Status and body of a request to a program on this machine.
fn asked(port: u16, path: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    let head = format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}

/// The sum of a metric of a program on this machine, over its labels.
pub(crate) fn metric_at(port: u16, name: &str) -> Option<f64> {
    let (_, text) = asked(port, "/metrics")?;
    let lines = text
        .lines()
        .filter(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '{'])));
    Some(lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum())
}

/// Broker, receiver and agent.
pub(crate) struct Watched {
    pub(crate) folder: TempDir,
    _broker: Option<Mosquitto>,
    port: u16,
    receiver: Receiver,
    http: u16,
    agent: Option<Child>,
    published: u64,
}

impl Watched {
    /// Starts a broker and a receiver; the agent is configured and not started.
    pub(crate) fn new(test: &str, store: &str, more: &str) -> Option<Self> {
        program(test, "mosquitto_pub")?;
        let broker = Mosquitto::start(test, Persistence::Memory)?;
        let port = broker.port();
        Some(Self { _broker: Some(broker), ..Self::on(port, store, more) })
    }

    /// Starts the same on a broker that runs on this port.
    pub(crate) fn on(port: u16, store: &str, more: &str) -> Self {
        let (receiver, http) = (Receiver::start(), free_port());
        let folder = tempfile::tempdir().expect("folder");
        let hook = receiver.port;
        let text = format!(
            "[store]\n{store}\n[broker]\naddresses = [\"127.0.0.1:{port}\"]\n\
             [http]\nlisten = \"127.0.0.1:{http}\"\n[reports]\noff = true\n\
             [silence]\nstore_after_s = {STORE_AFTER_S:.1}\n\
             [notify]\ngroup_wait_s = 0.1\nrelated_within_min = 0.0\n\
             [[notify.webhook]]\nname = \"staff\"\nurl = \"http://127.0.0.1:{hook}/\"\n\
             language = \"en\"\nfrom = \"Watch\"\n{more}\n"
        );
        let knowledge = folder.path().join("knowledge.db");
        let text =
            format!("{text}[knowledge]\nstore = {{ sqlite = \"{}\" }}\n", knowledge.display());
        std::fs::write(folder.path().join("agent.toml"), text).expect("written");
        Self { folder, _broker: None, port, receiver, http, agent: None, published: 0 }
    }

    /// Starts the agent.
    pub(crate) fn start(&mut self) {
        let path = self.folder.path().join("agent.log");
        let log = std::fs::File::options().create(true).append(true).open(path).expect("log");
        let mut command = self.command("run");
        command.env("PDM_LOG", "info").stdout(Stdio::null()).stderr(log);
        self.agent = Some(Child::start(&mut command));
    }

    /// Starts the agent under a wall clock of its own.
    pub(crate) fn start_with_clock(&mut self, clock: &WallClock) {
        let log = std::fs::File::create(self.folder.path().join("agent.log")).expect("log");
        let mut command = self.command("run");
        clock.apply(&mut command);
        command.env("PDM_LOG", "info").stdout(Stdio::null()).stderr(log);
        self.agent = Some(Child::start(&mut command));
    }

    /// Starts the agent with a limit of open files that it cannot raise.
    pub(crate) fn start_with_few_files(&mut self, files: u32) {
        let log = std::fs::File::create(self.folder.path().join("agent.log")).expect("log");
        let agent = self.command("run");
        let mut limited = Command::new("sh");
        limited.args(["-c", &format!("ulimit -n {files} && exec \"$@\""), "sh"]);
        limited.arg(agent.get_program()).args(agent.get_args());
        limited.env("PDM_LOG", "info").stdout(Stdio::null()).stderr(log);
        self.agent = Some(Child::start(&mut limited));
    }

    /// Connections that say nothing.
    pub(crate) fn hold_connections(&self, count: usize) -> Vec<TcpStream> {
        (0..count)
            .filter_map(|_| TcpStream::connect((Ipv4Addr::LOCALHOST, self.http)).ok())
            .collect()
    }

    /// Starts the agent with a log that nobody reads: its pipe is full after 64 KiB.
    pub(crate) fn start_unread(&mut self) {
        let mut command = self.command("run");
        command.env("PDM_LOG", "trace").stdout(Stdio::null()).stderr(Stdio::piped());
        self.agent = Some(Child::start(&mut command));
    }

    /// A command of the agent on this configuration.
    pub(crate) fn command(&self, name: &str) -> Command {
        let mut command = Command::new(binary("pdm-agent"));
        command.args(name.split(' ')).arg("--config").arg(self.folder.path().join("agent.toml"));
        command
    }

    /// Returns the output of a command of the agent, and its exit code.
    pub(crate) fn said(&self, name: &str) -> (Option<i32>, String) {
        let Output { status, stdout, stderr } = self.command(name).output().expect("runs");
        (status.code(), String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned())
    }

    /// Waits until the agent is healthy and the broker knows its subscription.
    pub(crate) fn works(&self) {
        until("health", PATIENCE, || (self.status("/readyz")?.0 == 200).then_some(()));
        until("the subscription", PATIENCE, || {
            self.log().contains("connected for intake").then_some(())
        });
        // the line is written at the CONNACK, the subscription follows it
        std::thread::sleep(Duration::from_millis(500));
    }

    /// Status and body of a request.
    pub(crate) fn status(&self, path: &str) -> Option<(u16, String)> {
        asked(self.http, path)
    }

    /// The port of the broker.
    pub(crate) const fn broker_port(&self) -> u16 {
        self.port
    }

    /// Publishes a window with a fault of this machine.
    pub(crate) fn fault(&mut self, machine: &str) {
        self.published += 1;
        let mut event: Event = serde_json::from_str(FAULT).expect("the example");
        let now = pdm_service::clock::Clock::now(&pdm_service::clock::SystemClock);
        event.measured_at = Timestamp::from_unix_ms(now.unix_ms()).expect("in range");
        event.event_id = EventId::at(now.unix_ms());
        event.sequence = self.published;
        event.equipment_id = machine.parse().expect("a name");
        let topic = format!("pdm/v1/{}/{machine}/{}/event", event.site, event.bearing_id);
        self.publish(&topic, &serde_json::to_vec(&event).expect("JSON"));
    }

    /// Publishes the status of a gateway.
    pub(crate) fn says_status(&self, gateway: &str, status: &str) {
        let at = pdm_service::clock::Clock::now(&pdm_service::clock::SystemClock);
        let document = serde_json::json!({
            "schema": "pdm.gateway/1", "gateway_id": gateway, "site": "ulsan-1",
            "status": status, "at": at.to_string(),
        });
        let topic = format!("pdm/v1/ulsan-1/gateway/{gateway}/status");
        self.publish(&topic, document.to_string().as_bytes());
    }

    fn publish(&self, topic: &str, payload: &[u8]) {
        let file = self.folder.path().join("event.json");
        std::fs::write(&file, payload).expect("written");
        let port = self.port.to_string();
        let sent = Command::new("mosquitto_pub")
            .args(["-V", "5", "-h", "127.0.0.1", "-p", &port, "-q", "1", "-t", topic, "-f"])
            .arg(file)
            .status();
        assert!(sent.is_ok_and(|status| status.success()), "published");
    }

    /// The sum of a metric of the agent.
    pub(crate) fn metric(&self, name: &str) -> Option<f64> {
        metric_at(self.http, name)
    }

    /// Returns how many messages to staff hold this text.
    pub(crate) fn count(&self, text: &str) -> usize {
        let bodies = self.receiver.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        bodies.iter().filter(|body| body.contains(text)).count()
    }

    /// Waits until a message to staff holds this text.
    pub(crate) fn hears(&self, text: &str) {
        until(text, PATIENCE, || (self.count(text) > 0).then_some(()));
    }

    /// Waits until staff has been told this `times` times.
    pub(crate) fn hears_times(&self, text: &str, times: usize) {
        until(text, PATIENCE, || (self.count(text) >= times).then_some(()));
    }

    /// Waits until health fails with this text; the process lives.
    pub(crate) fn is_blind(&self, text: &str) {
        until(text, PATIENCE, || {
            let (status, body) = self.status("/readyz")?;
            (status == 503 && body.contains(text)).then_some(())
        });
        assert_eq!(self.status("/livez").map(|answer| answer.0), Some(200), "it lives");
    }

    /// The agent's log.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("agent.log")).unwrap_or_default()
    }

    /// The running agent.
    pub(crate) fn agent(&mut self) -> &mut Child {
        self.agent.as_mut().expect("started")
    }

    /// The process of the running agent.
    pub(crate) fn pid(&self) -> u32 {
        self.agent.as_ref().expect("started").id()
    }

    /// Stops the agent.
    pub(crate) fn stop(&mut self) {
        self.agent = None;
    }

    /// The agent's folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}
