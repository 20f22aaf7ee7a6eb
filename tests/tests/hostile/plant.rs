//! The shipped Mosquitto with its access rules and mutual TLS, a real agent behind it, and clients
//! with certificates of the shipped script.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pdm_harness::{Child, Mosquitto, binary, shipped_mosquitto, until};
use pdm_service::broker::TlsFiles;
use pdm_shared::event::Event;
use pdm_shared::id::{Epoch, EventId};
use pdm_shared::time::Timestamp;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{Packet, PubAckReason};
use rumqttc::v5::{AsyncClient, MqttOptions};
use rumqttc::{TlsConfiguration, Transport};
use sqlx::{Connection as _, Row as _, SqliteConnection};
use tempfile::TempDir;
use tokio::sync::mpsc;

/// Longest wait for what has to happen, s; on an idle machine it takes a second.
pub(crate) const PATIENCE: u64 = 60;

const FAULT: &str = include_str!("../../../config/examples/event.json");
const HEALTHY: &str = include_str!("../../../config/examples/event-healthy.json");

/// The access rules of gateways for whatever bearings a test invents.
fn block(gateway: &str, site: &str) -> String {
    format!(
        "\nuser {gateway}\ntopic write pdm/v1/{site}/+/+/event/{gateway}\n\
         topic write pdm/v1/{site}/+/+/state\n\
         topic write pdm/v1/{site}/gateway/{gateway}/status\n\
         topic read pdm/v1/{site}/gateway/{gateway}/receipt\n"
    )
}

/// The certificate of a client that reads everything, as a test does.
pub(crate) const WATCH: &str = "watch";

/// Broker and agent.
pub(crate) struct Plant {
    pub(crate) folder: TempDir,
    pub(crate) port: u16,
    broker: Option<Mosquitto>,
    agent: Option<Child>,
}

impl Plant {
    /// Starts the shipped broker with these gateways, as certificate name and site, and an agent.
    pub(crate) fn shipped(test: &str, gateways: &[(&str, &str)]) -> Option<Self> {
        Self::shipped_with(test, gateways, "", "")
    }

    /// Starts the same with more lines of `[store]`, and more sections of the agent's
    /// configuration.
    pub(crate) fn shipped_with(
        test: &str,
        gateways: &[(&str, &str)],
        store: &str,
        more: &str,
    ) -> Option<Self> {
        let folder = tempfile::tempdir().expect("folder");
        let names = gateways.iter().map(|(name, _)| *name);
        let clients: Vec<&str> =
            ["pdm-agent", "pdm-agent-out", "staff", WATCH].into_iter().chain(names).collect();
        let gateways: String =
            gateways.iter().map(|(gateway, site)| block(gateway, site)).collect();
        let rules = format!("{gateways}\nuser {WATCH}\ntopic read pdm/v1/#\n");
        let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy");
        let broker = shipped_mosquitto(test, &deploy, folder.path(), &clients, &rules)?;
        let port = broker.port();
        let agent = "addresses = [\"127.0.0.1:PORT\"]\n[broker.tls]\nca = \"ca.crt\"\n\
                     certificate = \"{client_id}.crt\"\nkey = \"{client_id}.key\"\n\
                     [intake]\ngateway_in_topic = \"required\"\nreceipt_after_s = 0.1\n"
            .replace("PORT", &port.to_string());
        let mut plant = Self { folder, port, broker: Some(broker), agent: None };
        plant.start_agent(store, &format!("{agent}{more}"));
        Some(plant)
    }

    /// Starts a broker that anybody may use, without TLS and access rules, and an agent with these
    /// lines after its `[broker]` addresses.
    pub(crate) fn open(test: &str, lines: &str) -> Option<Self> {
        let broker = Mosquitto::start(test, pdm_harness::Persistence::Memory)?;
        let (port, folder) = (broker.port(), tempfile::tempdir().expect("folder"));
        let mut plant = Self { folder, port, broker: Some(broker), agent: None };
        let lines = format!("addresses = [\"127.0.0.1:{port}\"]\n{lines}");
        plant.start_agent("", &lines);
        Some(plant)
    }

    fn start_agent(&mut self, store: &str, broker: &str) {
        let text = format!("[store]\nsqlite = \"agent.db\"\n{store}[broker]\n{broker}");
        let config = self.folder.path().join("agent.toml");
        std::fs::write(&config, text).expect("agent.toml");
        self.start_agent_again();
    }

    /// Stops the agent; the broker keeps its session.
    pub(crate) fn stop_agent(&mut self) {
        self.agent = None;
    }

    /// Starts an agent on the files of the one before.
    pub(crate) fn start_agent_again(&mut self) {
        let config = self.folder.path().join("agent.toml");
        let log = std::fs::File::create(self.folder.path().join("agent.log")).expect("log");
        let mut command = Command::new(binary("pdm-agent"));
        command.args(["run", "--config"]).arg(config).env("PDM_LOG", "info");
        self.agent = Some(Child::start(command.stdout(Stdio::null()).stderr(log)));
        let is_there = || {
            let is_there = self.log("agent.log").contains("connected for intake")
                && self.folder.path().join("agent.db").exists();
            is_there.then_some(())
        };
        until("the agent's subscription", PATIENCE, is_there);
        // the line is written at the CONNACK, the subscription follows it
        std::thread::sleep(Duration::from_millis(500));
    }

    pub(crate) fn log(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    pub(crate) fn agent_id(&self) -> u32 {
        self.agent.as_ref().map_or(0, Child::id)
    }

    /// The process of the broker.
    pub(crate) fn broker_id(&self) -> u32 {
        self.broker.as_ref().and_then(Mosquitto::process).map_or(0, Child::id)
    }

    /// The port of the broker, which lives as long as the plant.
    pub(crate) fn broker_port(&self) -> u16 {
        self.broker.as_ref().map_or(self.port, Mosquitto::port)
    }

    /// A client with a certificate.
    pub(crate) async fn client(&self, name: &str, filters: &[&str]) -> Peer {
        Peer::connect(self.options(name, &format!("test-{name}")), filters).await
    }

    /// The way to the broker with this certificate, as the client of this id.
    pub(crate) fn options(&self, name: &str, client_id: &str) -> MqttOptions {
        let file = |name: String| self.folder.path().join(name);
        let tls = TlsFiles {
            ca: file("ca.crt".to_owned()),
            certificate: Some(file(format!("{name}.crt"))),
            key: Some(file(format!("{name}.key"))),
            crl: None,
        };
        let config = Arc::new(tls.client_config().expect("certificates"));
        let mut options = MqttOptions::new(client_id, "127.0.0.1", self.port);
        options.set_transport(Transport::tls_with_config(TlsConfiguration::Rustls(config)));
        options
    }

    /// A client of an open broker.
    pub(crate) async fn anybody(&self, name: &str, filters: &[&str]) -> Peer {
        Peer::connect(MqttOptions::new(name, "127.0.0.1", self.broker_port()), filters).await
    }

    /// The first column of a query of the agent's store.
    pub(crate) async fn figures(&self, sql: &'static str) -> Vec<i64> {
        let url = format!("sqlite:{}?mode=ro", self.folder.path().join("agent.db").display());
        let mut database = SqliteConnection::connect(&url).await.expect("the store opens");
        let rows = sqlx::query(sql).fetch_all(&mut database).await.expect(sql);
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// Waits until the first figure of a query is `least` or more.
    pub(crate) async fn until_at_least(&self, what: &str, sql: &'static str, least: i64) {
        for _ in 0..PATIENCE * 20 {
            if self.figures(sql).await.first().is_some_and(|last| *last >= least) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{what}: not {least}; {}", self.log("agent.log"));
    }

    /// Waits until the first figure of a query is `wanted`.
    pub(crate) async fn until_figure(&self, what: &str, sql: &'static str, wanted: i64) {
        let mut last = None;
        for _ in 0..PATIENCE * 20 {
            last = self.figures(sql).await.first().copied();
            if last == Some(wanted) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{what}: {last:?}, expected {wanted}; {}", self.log("agent.log"));
    }
}

/// A connected client: publishes with confirmation, hears what it subscribed to.
pub(crate) struct Peer {
    client: AsyncClient,
    acks: mpsc::Receiver<bool>,
    heard: Arc<Mutex<Vec<(String, String)>>>,
    polling: tokio::task::JoinHandle<()>,
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.polling.abort();
    }
}

impl Peer {
    pub(crate) async fn connect(mut options: MqttOptions, filters: &[&str]) -> Self {
        options.set_max_packet_size(Some(1 << 20));
        let (client, mut events) = AsyncClient::new(options, 4096);
        for filter in filters {
            client.subscribe(*filter, QoS::AtLeastOnce).await.expect("room");
        }
        let (acked, acks) = mpsc::channel(4096);
        let (ready, mut is_ready) = mpsc::channel(1);
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hearing = Arc::clone(&heard);
        let mut wanted = filters.len();
        let polling = tokio::spawn(async move {
            loop {
                let Ok(happening) = events.poll().await else {
                    // Mosquitto 2.0.11 closes the connection of a publication that it refuses
                    let _full = acked.try_send(false);
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                };
                let rumqttc::v5::Event::Incoming(packet) = happening else { continue };
                if matches!(packet, Packet::SubAck(_)) {
                    wanted = wanted.saturating_sub(1);
                }
                if matches!(packet, Packet::SubAck(_) | Packet::ConnAck(_)) && wanted == 0 {
                    let _told_before = ready.try_send(());
                }
                if let Packet::PubAck(ack) = &packet {
                    let _full = acked.try_send(ack.reason == PubAckReason::Success);
                }
                if let Packet::Publish(publish) = packet {
                    let topic = String::from_utf8_lossy(&publish.topic).into_owned();
                    let text = String::from_utf8_lossy(&publish.payload).into_owned();
                    hearing.lock().unwrap_or_else(PoisonError::into_inner).push((topic, text));
                }
            }
        });
        let connected = tokio::time::timeout(Duration::from_secs(PATIENCE), is_ready.recv()).await;
        connected.expect("connected in time").expect("connected");
        Self { client, acks, heard, polling }
    }

    /// Publishes; true if the broker took it.
    pub(crate) async fn publish(
        &mut self,
        topic: &str,
        retain: bool,
        payload: impl Into<Vec<u8>>,
    ) -> bool {
        let payload = payload.into();
        self.client.publish(topic, QoS::AtLeastOnce, retain, payload).await.expect("room");
        let answer = tokio::time::timeout(Duration::from_secs(PATIENCE), self.acks.recv()).await;
        answer.expect("answered in time").expect("the task lives")
    }

    /// Publishes many messages, and waits for their confirmations afterwards.
    pub(crate) async fn pour(&mut self, messages: impl IntoIterator<Item = (String, String)>) {
        let mut open = 0;
        for (topic, payload) in messages {
            self.client.publish(topic, QoS::AtLeastOnce, false, payload).await.expect("room");
            open += 1;
            while open > 1000 {
                self.confirmed().await;
                open -= 1;
            }
        }
        for _ in 0..open {
            self.confirmed().await;
        }
    }

    async fn confirmed(&mut self) {
        let answer = tokio::time::timeout(Duration::from_secs(PATIENCE), self.acks.recv()).await;
        assert!(answer.expect("answered in time").expect("the task lives"), "taken");
    }

    /// Publishes an event under the topic with its gateway, or under the short one.
    pub(crate) async fn send(&mut self, event: &Event, gateway: Option<&str>) -> bool {
        let mut topic = format!("pdm/v1/{}/event", event.key());
        if let Some(gateway) = gateway {
            topic = format!("{topic}/{gateway}");
        }
        self.publish(&topic, false, serde_json::to_string(event).expect("json")).await
    }

    /// Whether a message that holds this text has come on a topic that ends so.
    pub(crate) fn has_heard(&self, end: &str, text: &str) -> bool {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.iter().any(|(topic, said)| topic.ends_with(end) && said.contains(text))
    }

    /// The last message on a topic that ends so.
    pub(crate) fn last_on(&self, end: &str) -> Option<String> {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.iter().rev().find(|(topic, _)| topic.ends_with(end)).map(|(_, text)| text.clone())
    }

    /// Waits for a receipt of a gateway that says so much.
    pub(crate) async fn until_receipt(&self, gateway: &str, stored_through: u64) {
        let end = format!("{gateway}/receipt");
        for _ in 0..PATIENCE * 20 {
            if self.receipt(&end) == Some(stored_through) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("receipt of {gateway}: {:?}, expected {stored_through}", self.last_on(&end));
    }

    /// Returns the number through which events are stored, by the last receipt on a topic that ends
    /// like this.
    pub(crate) fn receipt(&self, end: &str) -> Option<u64> {
        let receipt: serde_json::Value = serde_json::from_str(&self.last_on(end)?).ok()?;
        receipt["stored_through"].as_u64()
    }
}

/// A gateway as a test plays it.
#[derive(Clone, Copy)]
pub(crate) struct Gateway<'a> {
    pub(crate) site: &'a str,
    pub(crate) name: &'a str,
    pub(crate) bearing: &'a str,
    pub(crate) epoch: Option<Epoch>,
}

impl Gateway<'_> {
    /// An event of this gateway with a fault, or a healthy one.
    pub(crate) fn event(&self, sequence: u64, is_healthy: bool) -> Event {
        let text = if is_healthy { HEALTHY } else { FAULT };
        let mut event: Event = serde_json::from_str(text).expect("the contract's example");
        let begin = Timestamp::parse("2026-11-21T05:10:21.000Z").expect("a time");
        event.site = self.site.parse().expect("name");
        event.gateway_id = self.name.parse().expect("name");
        event.bearing_id = self.bearing.parse().expect("name");
        event.sequence = sequence;
        event.epoch = self.epoch;
        event.measured_at = begin.plus_seconds((sequence % 100_000) as f64 * 10.0);
        event.event_id = EventId::at(event.measured_at.unix_ms());
        event
    }

    /// Publishes the birth document of this gateway.
    pub(crate) async fn is_born(&self, peer: &mut Peer, last: u64) {
        let status = serde_json::json!({
            "schema": "pdm.gateway/1", "gateway_id": self.name, "status": "online",
            "at": "2026-11-21T05:10:21.000Z", "last_sequence": last,
            "epoch": self.epoch, "first_sequence": 1,
        });
        let topic = format!("pdm/v1/{}/gateway/{}/status", self.site, self.name);
        assert!(peer.publish(&topic, true, status.to_string()).await, "its own status");
    }
}
