//! A gateway and a listener on a real broker, for the agent's tests.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]
#![expect(
    clippy::wildcard_enum_match_arm,
    clippy::struct_field_names,
    reason = "a test client looks at few packets"
)]

use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pdm_agent::progress::Progress;
use pdm_agent::service::Handle;
use pdm_agent::settings::AgentSettings;
use pdm_harness::Child;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::Packet;
use rumqttc::v5::{AsyncClient, MqttOptions};
use tokio::sync::{mpsc, watch};

const FAULT: &str = include_str!("../../../config/examples/event.json");
const HEALTHY: &str = include_str!("../../../config/examples/event-healthy.json");

/// The agent's own program with this configuration, which a test can kill.
pub fn start(config: &std::path::Path) -> Child {
    Child::start(
        Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
            .args(["run", "--config"])
            .arg(config)
            .stderr(Stdio::null()),
    )
}

/// The contract's example with another identity.
pub fn event(sequence: u64) -> Event {
    numbered(FAULT, sequence)
}

/// A window without any sign of a fault.
pub fn healthy(sequence: u64) -> Event {
    numbered(HEALTHY, sequence)
}

fn numbered(example: &str, sequence: u64) -> Event {
    let mut event: Event = serde_json::from_str(example).expect("event");
    let begin = Timestamp::parse("2026-11-21T05:10:21.000Z").expect("a time");
    event.sequence = sequence;
    event.measured_at = begin.plus_seconds(sequence as f64 * 10.0);
    event.event_id = EventId::at(event.measured_at.unix_ms());
    event
}

pub fn topic(event: &Event) -> String {
    format!("pdm/v1/{}/{}/{}/event", event.site, event.equipment_id, event.bearing_id)
}

/// Settings for an agent at this broker with its store in `folder`.
pub fn settings(port: u16, folder: &std::path::Path) -> AgentSettings {
    let mut settings = AgentSettings::embedded("127.0.0.1", port, folder.join("agent.db"));
    settings.intake.receipt_after_s = 0.05;
    settings.notify.group_wait_s = 0.0;
    // each alarm of these plants is told by itself
    settings.notify.related_within_min = 0.0;
    // the events of these tests have times of their own, some of them hours after the present
    settings.intake.ahead_s = 1e9;
    settings.rules.ahead_s = 1e9;
    settings
}

/// The messages that a listener heard, in order: topic and text.
pub type Heard = Arc<Mutex<Vec<(String, String)>>>;

/// A client that publishes with confirmation and hears what it subscribed to.
pub struct Client {
    client: AsyncClient,
    acks: mpsc::Receiver<()>,
    pub heard: Heard,
    polling: tokio::task::JoinHandle<()>,
}

impl Drop for Client {
    fn drop(&mut self) {
        self.polling.abort();
    }
}

impl Client {
    pub async fn connect(port: u16, name: &str, filters: &[&str]) -> Self {
        let mut options = MqttOptions::new(name, "127.0.0.1", port);
        options.set_max_packet_size(Some(1 << 20));
        let (client, mut events) = AsyncClient::new(options, 20_000);
        for filter in filters {
            client.subscribe(*filter, QoS::AtLeastOnce).await.expect("subscribe");
        }
        let (acked, acks) = mpsc::channel(100_000);
        let (ready, mut is_ready) = mpsc::channel(1);
        let heard = Heard::default();
        let hearing = Arc::clone(&heard);
        let wanted = filters.len();
        let polling = tokio::spawn(async move {
            let mut subscribed = 0;
            loop {
                match events.poll().await {
                    Ok(rumqttc::v5::Event::Incoming(packet)) => match packet {
                        Packet::ConnAck(_) if wanted == 0 => {
                            let _sent = ready.try_send(());
                        }
                        Packet::SubAck(_) => {
                            subscribed += 1;
                            if subscribed == wanted {
                                {
                                    let _sent = ready.try_send(());
                                };
                            }
                        }
                        Packet::PubAck(_) => {
                            let _sent = acked.try_send(());
                        }
                        Packet::Publish(publish) => hearing.lock().expect("lock").push((
                            String::from_utf8_lossy(&publish.topic).into_owned(),
                            String::from_utf8_lossy(&publish.payload).into_owned(),
                        )),
                        _ => {}
                    },
                    Ok(rumqttc::v5::Event::Outgoing(_)) => {}
                    Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                }
            }
        });
        is_ready.recv().await.expect("connected");
        Self { client, acks, heard, polling }
    }

    /// Publishes and waits until the broker has it all.
    pub async fn publish(
        &mut self,
        messages: impl IntoIterator<Item = (String, impl Into<Vec<u8>>)>,
    ) {
        let mut count = 0;
        for (topic, payload) in messages {
            self.client
                .publish(topic, QoS::AtLeastOnce, false, payload.into())
                .await
                .expect("queue");
            count += 1;
        }
        for _ in 0..count {
            self.acks.recv().await.expect("puback");
        }
    }

    pub async fn send(&mut self, events: &[Event]) {
        let messages: Vec<_> = events
            .iter()
            .map(|event| (topic(event), serde_json::to_string(event).expect("json")))
            .collect();
        self.publish(messages).await;
    }

    /// Returns the messages on topics that end like this.
    pub fn heard_on(&self, end: &str) -> Vec<String> {
        let heard = self.heard.lock().expect("lock");
        heard
            .iter()
            .filter(|(topic, _)| topic.ends_with(end))
            .map(|(_, payload)| payload.clone())
            .collect()
    }
}

/// The agent's counters, once the broker keeps events for it.
pub async fn subscribed(agent: &Handle) -> watch::Receiver<Progress> {
    let mut progress = agent.progress();
    let wait = progress.wait_for(|progress| progress.subscribed);
    tokio::time::timeout(Duration::from_secs(80), wait)
        .await
        .expect("subscribed in time")
        .expect("the agent runs");
    progress
}

/// Waits until `done`, or fails after `seconds`, four times as long as on an idle machine.
pub async fn until(what: &str, seconds: u64, mut done: impl FnMut() -> bool) {
    let seconds = 4 * seconds;
    let deadline = tokio::time::Instant::now() + Duration::from_secs(seconds);
    while !done() {
        assert!(tokio::time::Instant::now() < deadline, "waited {seconds} s for {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
