//! A subscriber to notifications by MQTT, with a session that outlives its connections.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use pdm_shared::delivery::Notification;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{ConnectProperties, Packet};
use rumqttc::v5::{AsyncClient, Event, EventLoop, MqttOptions};
use tokio::sync::watch;
use uuid::Uuid;

const TOPICS: &str = "pdm/v1/+/+/+/notification";
/// Longest wait for the first subscription.
const PATIENCE: Duration = Duration::from_secs(10);

/// The notifications that arrived.
#[derive(Debug, Clone, Default)]
pub struct Heard {
    /// The first form of each notification.
    pub taken: BTreeMap<Uuid, Vec<u8>>,
    /// Notifications that were repeated with other contents.
    pub changed: BTreeSet<Uuid>,
    /// Number of messages, repetitions included.
    pub messages: u64,
}

impl Heard {
    /// Notes one message; a message that is not a notification gets the nil identity.
    pub fn note(&mut self, payload: &[u8]) {
        let id = serde_json::from_slice::<Notification>(payload)
            .map_or(Uuid::nil(), |notification| notification.notification_id);
        self.messages += 1;
        if self.taken.entry(id).or_insert_with(|| payload.to_vec()) != payload {
            self.changed.insert(id);
        }
    }
}

/// A running subscriber.
#[derive(Debug)]
pub struct Listener {
    heard: Arc<Mutex<Heard>>,
}

impl Listener {
    /// Subscribes at the broker on this port and continues as a task of the runtime.
    ///
    /// # Errors
    /// The broker does not accept the subscription in time.
    pub async fn start(port: u16) -> anyhow::Result<Self> {
        let heard = Arc::<Mutex<Heard>>::default();
        let (subscribed, mut is_subscribed) = watch::channel(false);
        tokio::spawn(listen(port, Arc::clone(&heard), subscribed));
        tokio::time::timeout(PATIENCE, is_subscribed.wait_for(|there| *there))
            .await
            .context("the subscription to notifications")??;
        Ok(Self { heard })
    }

    /// The notifications so far.
    pub fn heard(&self) -> Heard {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn connect(port: u16) -> (AsyncClient, EventLoop) {
    let mut options = MqttOptions::new("staff", "127.0.0.1", port);
    let mut properties = ConnectProperties::new();
    properties.session_expiry_interval = Some(86_400);
    properties.max_packet_size = Some(1 << 20);
    options.set_connect_properties(properties).set_clean_start(false);
    AsyncClient::new(options, 16)
}

async fn listen(port: u16, heard: Arc<Mutex<Heard>>, subscribed: watch::Sender<bool>) {
    let (client, mut events) = connect(port);
    loop {
        match events.poll().await {
            Ok(Event::Incoming(Packet::ConnAck(_))) => {
                // the broker may have lost the session
                let _next_connection = client.try_subscribe(TOPICS, QoS::AtLeastOnce);
            }
            Ok(Event::Incoming(Packet::SubAck(_))) => {
                subscribed.send_replace(true);
            }
            Ok(Event::Incoming(Packet::Publish(message))) => {
                heard.lock().unwrap_or_else(PoisonError::into_inner).note(&message.payload);
            }
            Ok(_) => {}
            Err(_away) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}
