//! R-EDGE-1. Raw frames from an MQTT topic, through a real broker.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pdm_edge::settings::{BrokerAddress, TlsFiles, parse};
use pdm_edge::source::frames::{Encoding, FrameFormat};
use pdm_edge::source::mqtt::{TopicSettings, open_topic};
use pdm_edge::source::speed_tag::SpeedTag;
use pdm_edge::source::{Source, SourceError};
use pdm_harness::{Authority, Mosquitto, Persistence};
use pdm_service::clock::{SharedClock, SystemClock};
use pdm_shared::units::{M_S2_PER_G, SampleRate};
use rumqttc::{Client, MqttOptions, QoS, TlsConfiguration, Transport};

fn source(port: u16, silence: Duration) -> Box<dyn Source> {
    let settings = TopicSettings {
        address: BrokerAddress { host: "127.0.0.1".to_owned(), port },
        client_id: "frames".to_owned(),
        topic: "plant/raw".to_owned(),
        login: None,
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

/// The stream of an `edge.toml` with these additional lines.
fn configured(port: u16, scheme: &str, lines: &str) -> Result<Box<dyn Source>, SourceError> {
    let text = format!(
        "gateway_id = \"gw-01\"\nsite = \"s\"\n[spool]\npath = \"x.db\"\n[[source]]\nname = \"n\"\n\
         kind = \"stream\"\nrate_hz = 1000.0\n[source.stream]\nencoding = \"i16\"\nchannels = 2\n\
         block_s = 0.1\nfrom = \"{scheme}://127.0.0.1:{port}/plant/raw\"\n{lines}\n\
         [[source.channel]]\nequipment = \"P\"\nbearing = \"DE\"\nrpm = 1500.0\n\
         bearing_type = \"6205\"\n"
    );
    let (settings, _log) = parse(Path::new("edge.toml"), &text).expect("valid");
    let clock: SharedClock = Arc::new(SystemClock);
    settings.sources[0].input.open(&clock)
}

/// Publishes `[n, -n]` frames of 30 a message until the other end is dropped.
fn sender(port: u16) {
    send_with(MqttOptions::new("node", "127.0.0.1", port));
}

fn send_with(options: MqttOptions) {
    std::thread::spawn(move || {
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

/// R-EDGE-10: TLS for raw frames, by the keys of the configuration.
#[test]
fn frames_come_over_mutual_tls_and_a_broker_of_another_authority_is_refused() {
    let test = "frames_come_over_mutual_tls_and_a_broker_of_another_authority_is_refused";
    let Some(authority) = Authority::found(test) else { return };
    authority.issue("broker");
    authority.issue("node");
    let place = |name: &str| authority.path(name).display().to_string();
    let lines = format!(
        "allow_anonymous true\nrequire_certificate true\ncafile {}\ncertfile {}\nkeyfile {}\n",
        place("ca.pem"),
        place("broker.pem"),
        place("broker.key"),
    );
    let Some(broker) = Mosquitto::start_with(test, Persistence::Memory, &lines) else { return };
    let pair = |ca: &str| {
        let (certificate, key) = (place("node.pem"), place("node.key"));
        format!(
            "tls = {{ ca = \"{}\", certificate = \"{certificate}\", key = \"{key}\" }}",
            place(ca)
        )
    };
    let files = TlsFiles {
        ca: authority.path("ca.pem"),
        certificate: Some(authority.path("node.pem")),
        key: Some(authority.path("node.key")),
        crl: None,
    };
    let mut options = MqttOptions::new("node", "127.0.0.1", broker.port());
    let config = Arc::new(files.client_config().expect("certificates"));
    options.set_transport(Transport::tls_with_config(TlsConfiguration::Rustls(config)));
    send_with(options);

    let mut source = configured(broker.port(), "mqtts", &pair("ca.pem")).expect("opens");
    let block = source.next_block().expect("frames").expect("endless");
    assert_eq!(block.accel_m_s2.dim(), (2, 100));

    let mut stranger = configured(broker.port(), "mqtts", &pair("other-ca.pem")).expect("opens");
    let error = stranger.next_block().expect_err("another authority").to_string();
    assert!(error.contains("plant/raw") && error.contains("certificate"), "{error}");
    let missing = configured(broker.port(), "mqtts", &pair("gone.pem"));
    let error = missing.err().expect("no such file").to_string();
    assert!(error.contains("gone.pem"), "{error}");
}

/// R-EDGE-1: the shaft speed from a tag, through a real broker, by the keys of `edge.toml`.
#[test]
fn the_speed_of_a_tag_is_used_while_it_is_fresh() {
    let test = "the_speed_of_a_tag_is_used_while_it_is_fresh";
    let Some(broker) = Mosquitto::start(test, Persistence::Memory) else { return };
    let port = broker.port();
    let text = format!(
        "gateway_id = \"gw-01\"\nsite = \"s\"\n[spool]\npath = \"x.db\"\n[[source]]\nname = \"n\"\n\
         kind = \"stream\"\nrate_hz = 1000.0\n[source.stream]\nfrom = \"stdin\"\n\
         encoding = \"i16\"\n[source.speed_tag]\nfrom = \"mqtt://127.0.0.1:{port}/plant/speed\"\n\
         pointer = \"/v\"\nunit = \"hz\"\nmax_age_s = 1.0\n\
         [[source.channel]]\nequipment = \"P\"\nbearing = \"DE\"\nrpm = 1500.0\n\
         bearing_type = \"6205\"\n"
    );
    let (settings, _log) = parse(Path::new("edge.toml"), &text).expect("valid");
    let tag = settings.sources[0].speed_tag.as_ref().expect("configured");
    let tag = SpeedTag::follow(tag).expect("valid");
    assert_eq!(tag.speed(), None, "nothing has come");
    let (client, mut connection) = Client::new(MqttOptions::new("plc", "127.0.0.1", port), 8);
    std::thread::spawn(move || while connection.iter().next().is_some_and(|e| e.is_ok()) {});
    let begun = Instant::now();
    let told = loop {
        client.publish("plant/speed", QoS::AtMostOnce, false, r#"{"v":24.5}"#).expect("sent");
        if let Some(speed) = tag.speed() {
            break speed.get();
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "no value came");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!((told - 1470.0).abs() < 1e-9, "{told}");
    std::thread::sleep(Duration::from_millis(1300));
    assert_eq!(tag.speed(), None, "older than a second");
}
