//! A small agent: stores events and writes receipts, also over a restart of the broker.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pdm_service::clock::{Clock as _, SystemClock};
use pdm_shared::delivery::{GatewayStatus, RECEIPT_SCHEMA, Receipt, State};
use pdm_shared::event::Event as PdmEvent;
use pdm_shared::id::EventId;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{ConnectProperties, Packet};
use rumqttc::v5::{AsyncClient, Event, MqttOptions};
use tokio::task::JoinHandle;

use crate::stage::GATEWAY;

/// The events that arrived.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    pub(crate) subscribed: bool,
    /// Identity and bytes of each event, by sequence number.
    pub(crate) events: BTreeMap<u64, (EventId, Vec<u8>)>,
    pub(crate) arrivals: Vec<u64>,
    pub(crate) replayed: BTreeSet<u64>,
    pub(crate) states: Vec<State>,
    pub(crate) status: Vec<GatewayStatus>,
}

impl Stored {
    fn receipt(&self) -> Receipt {
        let mut stored_through = 0;
        let mut missing = Vec::new();
        let mut expected = 1;
        for &sequence in self.events.keys() {
            if sequence > expected {
                missing.push([expected, sequence - 1]);
            } else if missing.is_empty() {
                stored_through = sequence;
            }
            expected = sequence + 1;
        }
        Receipt {
            schema: RECEIPT_SCHEMA.to_owned(),
            gateway_id: GATEWAY.parse().expect("name"),
            epoch: None,
            stored_through,
            missing,
            at: SystemClock.now(),
        }
    }
}

pub(crate) struct Agent {
    pub(crate) stored: Arc<Mutex<Stored>>,
    port: u16,
    task: JoinHandle<()>,
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Agent {
    /// Listens on a broker; the subscription exists when this returns. With `receipts`, writes a
    /// receipt every 50 ms.
    pub(crate) async fn listen(port: u16, receipts: bool) -> Self {
        let stored = Arc::new(Mutex::new(Stored::default()));
        let task = tokio::spawn(run(port, receipts, Arc::clone(&stored)));
        let agent = Self { stored, port, task };
        agent.until("a subscription", |stored| stored.subscribed).await;
        agent
    }

    pub(crate) fn with<T>(&self, look: impl FnOnce(&Stored) -> T) -> T {
        look(&self.stored.lock().expect("not poisoned"))
    }

    /// Waits until a condition on the arrived events holds.
    pub(crate) async fn until(&self, what: &str, holds: impl Fn(&Stored) -> bool) {
        self.until_for(1500, what, holds).await;
    }

    /// Waits like [`Self::until`], with `looks` looks, 50 a second.
    pub(crate) async fn until_for(&self, looks: u32, what: &str, holds: impl Fn(&Stored) -> bool) {
        for _ in 0..looks {
            if self.with(&holds) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let events = self.with(|stored| stored.events.len());
        panic!("not within {} s: {what}; {events} events", looks / 50);
    }

    /// Publishes this receipt once.
    pub(crate) async fn tell_receipt(&self, receipt: &Receipt) {
        let options = MqttOptions::new("another", "127.0.0.1", self.port);
        let (client, mut event_loop) = AsyncClient::new(options, 10);
        let topic = format!("pdm/v1/ulsan-1/gateway/{GATEWAY}/receipt");
        let document = serde_json::to_vec(receipt).expect("json");
        client.publish(topic, QoS::AtLeastOnce, true, document).await.expect("room");
        while !matches!(event_loop.poll().await, Ok(Event::Incoming(Packet::PubAck(_)))) {}
    }
}

async fn run(port: u16, receipts: bool, stored: Arc<Mutex<Stored>>) {
    let mut options = MqttOptions::new("agent", "127.0.0.1", port);
    let mut properties = ConnectProperties::new();
    properties.session_expiry_interval = Some(3600);
    properties.max_packet_size = Some(1 << 22);
    options.set_connect_properties(properties).set_clean_start(false);
    let (client, mut event_loop) = AsyncClient::new(options, 1000);
    let mut every = tokio::time::interval(Duration::from_millis(50));
    loop {
        tokio::select! {
            event = event_loop.poll() => match event {
                Ok(Event::Incoming(Packet::ConnAck(_))) => {
                    client.try_subscribe("pdm/v1/#", QoS::AtLeastOnce).expect("room");
                }
                Ok(Event::Incoming(Packet::SubAck(_))) => {
                    stored.lock().expect("lock").subscribed = true;
                }
                Ok(Event::Incoming(Packet::Publish(message))) => {
                    take(&mut stored.lock().expect("lock"), &message.topic, &message.payload);
                }
                Ok(_) => {}
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
            _ = every.tick(), if receipts => {
                let receipt = stored.lock().expect("lock").receipt();
                if receipt.stored_through > 0 || !receipt.missing.is_empty() {
                    let document = serde_json::to_vec(&receipt).expect("json");
                    let topic = format!("pdm/v1/ulsan-1/gateway/{GATEWAY}/receipt");
                    // the channel is full while the broker is away; the next receipt has the same
                    // content
                    let _later = client.try_publish(topic, QoS::AtLeastOnce, true, document);
                }
            }
        }
    }
}

fn take(stored: &mut Stored, topic: &[u8], payload: &[u8]) {
    if topic.ends_with(b"/event") {
        let event: PdmEvent = serde_json::from_slice(payload).expect("an event");
        stored.arrivals.push(event.sequence);
        if event.replayed {
            stored.replayed.insert(event.sequence);
        }
        stored.events.entry(event.sequence).or_insert((event.event_id, payload.to_vec()));
    } else if topic.ends_with(b"/state") {
        stored.states.push(serde_json::from_slice(payload).expect("a state"));
    } else if topic.ends_with(b"/status") {
        stored.status.push(serde_json::from_slice(payload).expect("a status"));
    }
}
