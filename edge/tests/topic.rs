//! R-EDGE-1. Raw frames from an MQTT topic, through a real broker.

use std::sync::Arc;
use std::time::Duration;

use pdm_edge::source::Source;
use pdm_edge::source::frames::{Encoding, FrameFormat};
use pdm_edge::source::mqtt::{TopicSettings, open_topic};
use pdm_harness::{Mosquitto, Persistence};
use pdm_shared::clock::SystemClock;
use pdm_shared::units::{M_S2_PER_G, SampleRate};
use rumqttc::{Client, MqttOptions, QoS};

fn source(port: u16, silence: Duration) -> Box<dyn Source> {
    let settings = TopicSettings {
        host: "127.0.0.1".to_owned(),
        port,
        client_id: "frames".to_owned(),
        topic: "plant/raw".to_owned(),
        credentials: None,
        tls: None,
        silence,
    };
    let format = FrameFormat {
        channels: 2,
        sample_rate: SampleRate::new(1000.0).expect("valid"),
        encoding: Encoding::I16,
        block_samples: 100,
        calibrations: vec![],
    };
    open_topic(&settings, &format, Arc::new(SystemClock)).expect("valid")
}

/// Publishes `[n, -n]` frames of 30 a message until the other end is dropped.
fn sender(port: u16) {
    std::thread::spawn(move || {
        let options = MqttOptions::new("node", "127.0.0.1", port);
        let (client, mut connection) = Client::new(options, 8);
        let mut n = 0i16;
        std::thread::spawn(move || while connection.iter().next().is_some_and(|e| e.is_ok()) {});
        loop {
            let frames = (n..n + 30).flat_map(|i| [i, -i]).flat_map(i16::to_le_bytes);
            n = (n + 30) % 30_000;
            if client
                .publish("plant/raw", QoS::AtMostOnce, false, frames.collect::<Vec<u8>>())
                .is_err()
            {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    });
}

#[test]
fn frames_of_a_topic_become_blocks_without_a_gap() {
    let test = "frames_of_a_topic_become_blocks_without_a_gap";
    let Some(broker) = Mosquitto::start(test, Persistence::Memory) else { return };
    let mut source = source(broker.port(), Duration::from_secs(20));
    sender(broker.port());
    let mut expected: Option<f64> = None;
    for index in 0..5 {
        let block = source.next_block().expect("frames").expect("endless");
        assert_eq!((block.index, block.follows_on), (index, index > 0));
        for frame in block.accel_m_s2.columns() {
            let (first, second) = (frame[0] / M_S2_PER_G, frame[1] / M_S2_PER_G);
            assert!((first + second).abs() < 1e-9);
            assert!(expected.is_none_or(|e| (first - e).abs() < 1e-9), "{first} {expected:?}");
            expected = Some(first + 1.0);
        }
    }
}

#[test]
fn a_silent_topic_and_a_missing_broker_are_errors_that_name_the_topic() {
    let test = "a_silent_topic_and_a_missing_broker_are_errors_that_name_the_topic";
    let Some(mut broker) = Mosquitto::start(test, Persistence::Memory) else { return };
    let port = broker.port();
    let error = source(port, Duration::from_millis(300)).next_block().expect_err("silent");
    assert!(error.to_string().contains("/plant/raw: the topic is silent"), "{error}");
    broker.kill();
    let error = source(port, Duration::from_secs(20)).next_block().expect_err("nobody");
    assert!(error.to_string().contains(&format!("mqtt://127.0.0.1:{port}/plant/raw")), "{error}");
}
