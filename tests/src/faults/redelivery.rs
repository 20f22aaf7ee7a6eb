//! Publishes committed events again, some several times, in random order, before or after the
//! edge's own delivery.

use std::time::Duration;

use pdm_shared::event::Event;
use pdm_shared::topic::{BearingTopic, Prefix, Topic};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::Packet;
use rumqttc::v5::{AsyncClient, Event as Happening, MqttOptions};

/// Longest duration of the publication; an absent broker is not waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Publishes `payloads` in random order, some up to three times; returns the number that the broker
/// accepted.
pub async fn publish(port: u16, payloads: Vec<Vec<u8>>, seed: u64) -> usize {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut all: Vec<(String, Vec<u8>)> = Vec::new();
    for payload in payloads {
        let Ok(event) = serde_json::from_slice::<Event>(&payload) else { continue };
        for _ in 0..random.random_range(1..=3) {
            all.push((topic(&event), payload.clone()));
        }
    }
    all.shuffle(&mut random);
    let mut options = MqttOptions::new(format!("again-{seed}"), "127.0.0.1", port);
    options.set_clean_start(true);
    let (client, mut events) = AsyncClient::new(options, all.len() + 2);
    let wanted = all.len();
    for (topic, payload) in all {
        if client.try_publish(topic, QoS::AtLeastOnce, false, payload).is_err() {
            break;
        }
    }
    let mut taken = 0;
    let publishing = async {
        while taken < wanted {
            match events.poll().await {
                Ok(Happening::Incoming(Packet::PubAck(_))) => taken += 1,
                Ok(_) => {}
                Err(_) => return,
            }
        }
    };
    // events that were not accepted in time are repetitions, so they are not missed
    let _in_time = tokio::time::timeout(PATIENCE, publishing).await;
    taken
}

fn topic(event: &Event) -> String {
    Topic::Bearing { key: event.key(), what: BearingTopic::Event }.under(&Prefix::default())
}
