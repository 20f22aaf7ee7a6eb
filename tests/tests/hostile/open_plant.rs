//! A plant for these tests: events, a client at the broker, receivers of web hooks, a clock that
//! begins at a chosen time.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pdm_agent::service::{Agent, Handle};
use pdm_agent::settings::{AgentSettings, Languages, WebhookFormat, WebhookSettings};
use pdm_harness::{PATIENCE, whole_request};
use pdm_service::clock::Clock;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::Packet;
use rumqttc::v5::{AsyncClient, MqttOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Five past ten on the day of the contract's example, so that no test crosses an hour.
pub(crate) fn begin() -> Timestamp {
    Timestamp::parse("2026-11-21T10:05:00.000Z").expect("a time")
}

/// A clock that goes on from [`begin`].
#[derive(Debug)]
pub(crate) struct FromBegin(Instant);

impl FromBegin {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Instant::now()))
    }
}

impl Clock for FromBegin {
    fn now(&self) -> Timestamp {
        begin().plus_seconds(self.0.elapsed().as_secs_f64())
    }
}

/// The contract's example: a Warning, measured `after_s` after [`begin`].
pub(crate) fn event(sequence: u64, after_s: f64) -> Event {
    let text = include_str!("../../../config/examples/event.json");
    let mut event: Event = serde_json::from_str(text).expect("event");
    event.sequence = sequence;
    event.measured_at = begin().plus_seconds(after_s);
    event.event_id = EventId::at(begin().unix_ms() + i64::try_from(sequence).expect("small"));
    event
}

pub(crate) fn topic(event: &Event, what: &str) -> String {
    format!("pdm/v1/{}/{}/{}/{what}", event.site, event.equipment_id, event.bearing_id)
}

pub(crate) fn settings(port: u16, folder: &std::path::Path) -> AgentSettings {
    let mut settings = AgentSettings::embedded("127.0.0.1", port, folder.join("agent.db"));
    settings.notify.group_wait_s = 0.0;
    // each alarm of these plants is told by itself
    settings.notify.related_within_min = 0.0;
    settings
}

/// An agent whose subscriptions stand: before, the broker keeps nothing for it.
pub(crate) async fn started(settings: AgentSettings, clock: Arc<FromBegin>) -> Handle {
    let agent = Box::pin(Agent::start(settings, clock)).await.expect("starts");
    let progress = agent.progress();
    until("the subscription", 60, || progress.borrow().subscribed.then_some(())).await;
    agent
}

pub(crate) fn hook(name: &str, url: String) -> WebhookSettings {
    WebhookSettings {
        name: name.to_owned(),
        url: Some(url),
        url_secret: None,
        tls: None,
        format: WebhookFormat::Generic,
        language: Languages::En,
        from: RiskLevel::Watch,
        ..WebhookSettings::default()
    }
}

/// The messages that were heard, in order: topic and text.
type Heard = Arc<Mutex<Vec<(String, String)>>>;

/// A client that publishes and hears everything under `pdm/`.
pub(crate) struct Client {
    mqtt: AsyncClient,
    heard: Heard,
    polling: tokio::task::JoinHandle<()>,
}

impl Drop for Client {
    fn drop(&mut self) {
        self.polling.abort();
    }
}

impl Client {
    pub(crate) async fn connect(port: u16) -> Self {
        let mut options = MqttOptions::new("plant", "127.0.0.1", port);
        options.set_max_packet_size(Some(4 << 20));
        // a session that outlives its connection: a broker that hangs for minutes loses the
        // connection
        options.set_clean_start(false);
        options.set_session_expiry_interval(Some(24 * 3600));
        let (mqtt, mut events) = AsyncClient::new(options, 1000);
        mqtt.subscribe("pdm/#", QoS::AtLeastOnce).await.expect("queue");
        let heard = Heard::default();
        let hearing = Arc::clone(&heard);
        let (ready, mut is_ready) = tokio::sync::mpsc::channel(1);
        let polling = tokio::spawn(async move {
            loop {
                match events.poll().await {
                    Ok(rumqttc::v5::Event::Incoming(Packet::SubAck(_))) => {
                        let _full = ready.try_send(());
                    }
                    Ok(rumqttc::v5::Event::Incoming(Packet::Publish(publish))) => {
                        let topic = String::from_utf8_lossy(&publish.topic).into_owned();
                        let text = String::from_utf8_lossy(&publish.payload).into_owned();
                        hearing.lock().expect("whole").push((topic, text));
                    }
                    Ok(_) => {}
                    Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                }
            }
        });
        is_ready.recv().await.expect("subscribed");
        Self { mqtt, heard, polling }
    }

    pub(crate) async fn publish(&self, topic: String, retain: bool, payload: impl Into<Vec<u8>>) {
        let sent = self.mqtt.publish(topic, QoS::AtLeastOnce, retain, payload.into()).await;
        sent.expect("queue");
    }

    pub(crate) async fn send(&self, event: &Event) {
        let payload = serde_json::to_string(event).expect("json");
        self.publish(topic(event, "event"), false, payload).await;
    }

    /// Returns the messages heard so far under topics that end like this.
    pub(crate) fn heard(&self, end: &str) -> Vec<String> {
        let heard = self.heard.lock().expect("whole");
        let under = heard.iter().filter(|(topic, _)| topic.ends_with(end));
        under.map(|(_, text)| text.clone()).collect()
    }
}

/// Waits until the condition holds, [`PATIENCE`] times as long as on an idle machine.
pub(crate) async fn until<T>(what: &str, seconds: u64, condition: impl Fn() -> Option<T>) -> T {
    let limit = Duration::from_secs(seconds) * PATIENCE;
    let begun = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(begun.elapsed() < limit, "{what}: not within {limit:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Bodies of the requests that a receiver took, each with the time of its arrival.
pub(crate) type Posts = Arc<Mutex<Vec<(Instant, String)>>>;

/// A receiver of web hooks that takes everything.
pub(crate) async fn receiver() -> (String, Posts) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let url = format!("http://{}/hook", listener.local_addr().expect("address"));
    let posts = Posts::default();
    let seen = Arc::clone(&posts);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.expect("accept");
            let mut bytes = Vec::new();
            let mut part = [0; 4096];
            let body = loop {
                let read = stream.read(&mut part).await.expect("read");
                bytes.extend_from_slice(&part[..read]);
                if let Some((_, body)) = whole_request(&bytes) {
                    break body;
                }
            };
            seen.lock().expect("whole").push((Instant::now(), body));
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
            stream.write_all(answer).await.expect("answered");
        }
    });
    (url, posts)
}

/// A server that accepts connections and never answers; they stay open until the test ends.
pub(crate) async fn hanging() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let port = listener.local_addr().expect("address").port();
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            held.push(stream);
        }
    });
    port
}
