//! The shipped broker configuration in a real broker: the access rules apply to real clients with
//! certificates of the shipped script.

#![expect(clippy::wildcard_enum_match_arm, reason = "a test waits for one kind of packets only")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use pdm_harness::{Mosquitto, binary, shipped_mosquitto};
use pdm_service::broker::TlsFiles;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{Packet, PubAckReason};
use rumqttc::v5::{AsyncClient, ConnectionError, Event, EventLoop, MqttOptions};
use rumqttc::{TlsConfiguration, Transport};
use tempfile::TempDir;

const WAIT: Duration = Duration::from_secs(10);

fn deploy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy")
}

/// The broker with its shipped configuration, except for the paths of its files and its port.
struct Shipped {
    broker: Mosquitto,
    folder: TempDir,
    port: u16,
}

impl Shipped {
    fn start(test: &str) -> Option<Self> {
        let folder = tempfile::tempdir().expect("folder");
        let clients = ["gw-01", "pdm-agent", "staff"];
        let broker = shipped_mosquitto(test, &deploy(), folder.path(), &clients, "")?;
        let port = broker.port();
        Some(Self { broker, folder, port })
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    async fn connect(&self, name: &str) -> Peer {
        let tls = TlsFiles {
            ca: self.file("ca.crt"),
            certificate: Some(self.file(&format!("{name}.crt"))),
            key: Some(self.file(&format!("{name}.key"))),
            crl: None,
        };
        let config = Arc::new(tls.client_config().expect("certificates"));
        let mut options = MqttOptions::new(name, "127.0.0.1", self.port);
        // retained messages of another client may be large
        options.set_max_packet_size(Some(1 << 20));
        options.set_transport(Transport::tls_with_config(TlsConfiguration::Rustls(config)));
        let (client, events) = AsyncClient::new(options, 64);
        let mut peer = Peer { client, events, heard: Vec::new() };
        peer.until(|packet| matches!(packet, Packet::ConnAck(_)).then_some(())).await;
        peer
    }
}

struct Peer {
    client: AsyncClient,
    events: EventLoop,
    heard: Vec<String>,
}

impl Peer {
    async fn until<T>(&mut self, wanted: impl Fn(&Packet) -> Option<T>) -> T {
        self.answer(wanted).await.expect("connected")
    }

    /// The wanted result, or the reason why the connection ended before.
    async fn answer<T>(
        &mut self,
        wanted: impl Fn(&Packet) -> Option<T>,
    ) -> Result<T, ConnectionError> {
        let found = async {
            loop {
                if let Event::Incoming(packet) = self.events.poll().await? {
                    if let Packet::Publish(message) = &packet {
                        self.heard.push(String::from_utf8_lossy(&message.topic).into_owned());
                    }
                    if let Some(found) = wanted(&packet) {
                        return Ok(found);
                    }
                }
            }
        };
        tokio::time::timeout(WAIT, found).await.expect("in time")
    }

    async fn subscribe(&mut self, filter: &str) {
        self.client.try_subscribe(filter, QoS::AtLeastOnce).expect("room");
        self.until(|packet| matches!(packet, Packet::SubAck(_)).then_some(())).await;
    }

    /// Whether the broker accepts a publication. A refusal is an answer or, in Mosquitto 2.0.11, a
    /// closed connection.
    async fn publish(&mut self, topic: &str) -> bool {
        self.sends(topic, false, b"x".to_vec()).await
    }

    async fn publish_retained(&mut self, topic: &str, payload: Vec<u8>) -> bool {
        self.sends(topic, true, payload).await
    }

    async fn sends(&mut self, topic: &str, retain: bool, payload: Vec<u8>) -> bool {
        self.client.try_publish(topic, QoS::AtLeastOnce, retain, payload).expect("room");
        let answer = self.answer(|packet| match packet {
            Packet::PubAck(ack) => Some(ack.reason),
            _ => None,
        });
        match answer.await {
            Ok(reason) => {
                // a broker of MQTT 5 says too that nobody reads what it takes
                let taken = [PubAckReason::Success, PubAckReason::NoMatchingSubscribers];
                assert!(taken.contains(&reason) || reason == PubAckReason::NotAuthorized);
                taken.contains(&reason)
            }
            Err(_closed) => false,
        }
    }

    /// All messages up to one on `last`, which is allowed.
    async fn heard_before(&mut self, last: &str) -> Vec<String> {
        let last = last.to_owned();
        self.until(|packet| match packet {
            Packet::Publish(message) if message.topic == last.as_bytes() => Some(()),
            _ => None,
        })
        .await;
        std::mem::take(&mut self.heard)
    }
}

const OWN: [&str; 3] = [
    "pdm/v1/ulsan-1/P-101/DE/event/gw-01",
    "pdm/v1/ulsan-1/P-101/DE/state",
    "pdm/v1/ulsan-1/gateway/gw-01/status",
];
const NOT_OWN: [&str; 11] = [
    "pdm/v1/ulsan-1/P-102/DE/event/gw-01",
    "pdm/v1/ulsan-1/P-101/NDE/event/gw-01",
    "pdm/v1/ulsan-1/P-101/NDE/state",
    "pdm/v1/ulsan-1/P-101/DE/event",
    "pdm/v1/ulsan-1/P-101/DE/event/gw-02",
    "pdm/v1/ulsan-1/gateway/gw-02/status",
    "pdm/v1/busan-1/P-101/DE/event/gw-01",
    "pdm/v1/ulsan-1/gateway/gw-01/receipt",
    "pdm/v1/ulsan-1/P-101/DE/diagnosis",
    "pdm/v1/ulsan-1/P-101/DE/notification",
    "pdm/v1/ulsan-1/P-101/DE/ack",
];

/// R-RUN-2
#[tokio::test]
async fn a_gateway_writes_its_own_topics_only_and_hears_its_own_receipts_only() {
    let test = "a_gateway_writes_its_own_topics_only_and_hears_its_own_receipts_only";
    let Some(broker) = Shipped::start(test) else { return };
    let mut agent = broker.connect("pdm-agent").await;
    agent.subscribe("pdm/v1/#").await;
    for topic in NOT_OWN {
        assert!(!broker.connect("gw-01").await.publish(topic).await, "{topic}");
    }
    let mut gateway = broker.connect("gw-01").await;
    for topic in OWN {
        assert!(gateway.publish(topic).await, "{topic}");
    }
    assert_eq!(agent.heard_before(OWN[2]).await, OWN);

    gateway.subscribe("pdm/v1/#").await;
    let receipt = "pdm/v1/ulsan-1/gateway/gw-01/receipt";
    for topic in ["pdm/v1/ulsan-1/gateway/gw-02/receipt", "pdm/v1/ulsan-1/P-1/DE/event", receipt] {
        assert!(agent.publish(topic).await, "{topic}");
    }
    assert_eq!(gateway.heard_before(receipt).await, [receipt]);

    assert!(!broker.connect("staff").await.publish(OWN[0]).await);
    assert!(broker.connect("staff").await.publish("pdm/v1/ulsan-1/P-101/DE/ack").await);
}

/// R-RUN-2: retained states of 250 kB on invented machines took all memory of the broker in seven
/// seconds, and it did not start again from its file.
#[tokio::test]
async fn one_certificate_cannot_fill_the_broker_with_retained_messages() {
    let test = "one_certificate_cannot_fill_the_broker_with_retained_messages";
    let Some(mut broker) = Shipped::start(test) else { return };
    let large = vec![b'x'; 250_000];
    let mut taken = 0;
    for number in 0..40 {
        for topic in [
            format!("pdm/v1/ulsan-1/R{number}/DE/state"),
            format!("pdm/v1/ulsan-1/P-101/B{number}/state"),
            format!("pdm/v1/ulsan-1/R{number}/DE/event/gw-01"),
        ] {
            let mut gateway = broker.connect("gw-01").await;
            taken += u32::from(gateway.publish_retained(&topic, large.clone()).await);
        }
    }
    assert_eq!(taken, 0, "an invented name is refused, whatever its level");
    // what it may write is kept once, however often it is written
    for _ in 0..40 {
        let mut gateway = broker.connect("gw-01").await;
        for topic in OWN {
            assert!(gateway.publish_retained(topic, large.clone()).await, "{topic}");
        }
    }
    broker.broker.stop();
    let kept = std::fs::metadata(broker.file("mosquitto.db")).expect("saved").len();
    assert!(kept < 10 * 250_000, "{kept} bytes are kept");
    broker.broker.restart();
    let mut agent = broker.connect("pdm-agent").await;
    agent.subscribe("pdm/v1/#").await;
    assert!(broker.connect("gw-01").await.publish(OWN[0]).await, "it goes on");
}

/// R-RUN-2
#[test]
fn the_edge_reaches_the_broker_with_its_certificate_and_not_without() {
    let test = "the_edge_reaches_the_broker_with_its_certificate_and_not_without";
    let Some(broker) = Shipped::start(test) else { return };
    let check = |pair: &str| {
        let text = format!(
            "gateway_id = \"gw-01\"\nsite = \"ulsan-1\"\n[broker]\n\
             addresses = [\"127.0.0.1:{}\"]\n[broker.tls]\nca = \"ca.crt\"\n{pair}\
             [spool]\npath = \"spool.db\"\n[[source]]\nname = \"sim\"\nkind = \"simulator\"\n\
             pace = \"max\"\nrate_hz = 6400.0\nperiod_s = 60.0\n[source.simulator]\n\
             fault = \"outer_race\"\nsnapshots = 3\nsnapshot_s = 0.5\nseed = 1\n\
             [[source.channel]]\nequipment = \"P-101\"\nbearing = \"DE\"\n\
             bearing_type = \"6205\"\nrpm = 1797.0\n",
            broker.port
        );
        let config = broker.file("edge.toml");
        std::fs::write(&config, text).expect("writes");
        Command::new(binary("pdm-edge")).args(["check", "--config"]).arg(config).output()
    };
    let with = check("certificate = \"gw-01.crt\"\nkey = \"gw-01.key\"\n").expect("runs");
    assert_eq!(with.status.code(), Some(0), "{}", String::from_utf8_lossy(&with.stdout));
    let without = check("").expect("runs");
    assert_eq!(without.status.code(), Some(69), "{}", String::from_utf8_lossy(&without.stdout));
}
