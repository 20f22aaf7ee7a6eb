//! R-EDGE-1. Raw frames from an MQTT topic, through a real broker.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pdm_edge::settings::{BrokerAddress, TlsFiles, parse};
use pdm_edge::source::decoder::{StreamForm, StreamFormat};
use pdm_edge::source::frames::{Encoding, FrameFormat};
use pdm_edge::source::mqtt::{MessageForm, TopicSettings, open_topic};
use pdm_edge::source::speed_tag::SpeedTag;
use pdm_edge::source::{Block, Source, SourceError, SourceHost};
use pdm_harness::{Authority, Mosquitto, Persistence, program};
use pdm_service::clock::{Clock as _, SharedClock, SystemClock};
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
        silence_by_pauses: false,
        keeps_session: false,
    };
    let format = FrameFormat {
        channels: 2,
        sample_rate: SampleRate::new(1000.0).expect("valid"),
        encoding: Encoding::I16,
        block_samples: 100,
        calibrations: vec![],
    };
    let format = StreamFormat { frames: format, form: StreamForm::Raw, rate_tolerance: 0.05 };
    let host = SourceHost::alone(Arc::new(SystemClock), "topic");
    open_topic(&settings, &format, &MessageForm::Frames, &host).expect("valid")
}

/// The stream of an `edge.toml` with these additional lines.
fn configured(port: u16, scheme: &str, lines: &str) -> Result<Box<dyn Source>, SourceError> {
    let text = format!(
        "gateway_id = \"gw-01\"\nsite = \"s\"\n[spool]\npath = \"x.db\"\n[[source]]\nname = \"n\"\n\
         kind = \"stream\"\nrate_hz = 1000.0\n[source.stream]\nencoding = \"i16\"\nchannels = 2\n\
         block_s = 0.1\nfrom = \"{scheme}://127.0.0.1:{port}/plant/raw\"\n{lines}\n\
         [[source.channel]]\nequipment = \"P\"\nbearing = \"DE\"\nrpm = 1500.0\n\
         bearing_type = \"6205\"\nunit = \"g\"\n"
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
        let block = filled(&mut source);
        assert_eq!((block.index, block.follows_on), (index, index > 0));
        for frame in block.accel_m_s2.columns() {
            let (first, second) = (frame[0] / M_S2_PER_G, frame[1] / M_S2_PER_G);
            assert!((first + second).abs() < 1e-9);
            assert!(expected.is_none_or(|e| (first - e).abs() < 1e-9), "{first} {expected:?}");
            expected = Some(first + 1.0);
        }
    }
}

/// The next block with samples.
fn filled(source: &mut Box<dyn Source>) -> Block {
    loop {
        let block = source.next_block().expect("no failure").expect("endless");
        if block.accel_m_s2.ncols() > 0 {
            return block;
        }
    }
}

#[test]
fn a_missing_broker_is_an_error_that_names_the_topic() {
    let test = "a_missing_broker_is_an_error_that_names_the_topic";
    let Some(mut broker) = Mosquitto::start(test, Persistence::Memory) else { return };
    let port = broker.port();
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
    let block = filled(&mut source);
    assert_eq!(block.accel_m_s2.dim(), (2, 100));

    let mut stranger = configured(broker.port(), "mqtts", &pair("other-ca.pem")).expect("opens");
    let error = stranger.next_block().expect_err("another authority").to_string();
    assert!(error.contains("plant/raw") && error.contains("certificate"), "{error}");
    // a file that a volume brings later is awaited: the reader opens the source again
    let mut missing = configured(broker.port(), "mqtts", &pair("gone.pem")).expect("opens");
    let error = missing.next_block().expect_err("no such file").to_string();
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
         bearing_type = \"6205\"\nunit = \"g\"\n"
    );
    let (settings, _log) = parse(Path::new("edge.toml"), &text).expect("valid");
    let tag = settings.sources[0].speed_tag.as_ref().expect("configured");
    let tag =
        SpeedTag::follow(tag, SourceHost::alone(Arc::new(SystemClock), "topic")).expect("valid");
    assert_eq!(tag.speed(), None, "nothing has come");
    let (client, mut connection) = Client::new(MqttOptions::new("plc", "127.0.0.1", port), 8);
    std::thread::spawn(move || while connection.iter().next().is_some_and(|e| e.is_ok()) {});
    let begun = Instant::now();
    let told = loop {
        client.publish("plant/speed", QoS::AtMostOnce, false, r#"{"v":24.5}"#).expect("sent");
        if let Some(speed) = tag.speed() {
            break speed.get();
        }
        assert!(begun.elapsed() < Duration::from_secs(80), "no value came");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!((told - 1470.0).abs() < 1e-9, "{told}");
    std::thread::sleep(Duration::from_millis(1300));
    assert_eq!(tag.speed(), None, "older than a second");
}

/// A topic whose messages are JSON is read by its pointers, and survives a restart of the broker; a
/// message of another form is told, and is no life of the sensor.
#[test]
fn bursts_in_json_become_blocks_and_another_form_is_refused() {
    let test = "bursts_in_json_become_blocks_and_another_form_is_refused";
    let Some(mut broker) = Mosquitto::start(test, Persistence::Memory) else { return };
    let text = format!(
        "gateway_id = \"gw-01\"\nsite = \"s\"\n[spool]\npath = \"x.db\"\n[[source]]\nname = \"n\"\n\
         kind = \"stream\"\nrate_hz = 1000.0\n[source.stream]\nchannels = 2\nsilence_s = 20.0\n\
         from = \"mqtt://127.0.0.1:{}/plant/json\"\n[source.stream.json]\nsamples = \"/x, /y\"\n\
         rate = \"/odr\"\n[[source.channel]]\nequipment = \"P\"\nbearing = \"DE\"\nrpm = 1500.0\n\
         bearing_type = \"6205\"\nunit = \"g\"\n",
        broker.port()
    );
    let (settings, _log) = parse(Path::new("edge.toml"), &text).expect("valid");
    let host = SourceHost::alone(Arc::new(SystemClock), "n");
    for restart in [false, true] {
        if restart {
            broker.kill();
            broker.restart();
        }
        let mut source = settings.sources[0].input.open_at(&host).expect("valid");
        let messages = [r#"{"other": 1}"#, r#"{"x": [1.0, 2.0], "y": [3, 4], "odr": 1001.0}"#];
        for message in messages {
            publish_until_dropped(broker.port(), "plant/json", message);
        }
        let block = filled(&mut source);
        let g = block.accel_m_s2 / M_S2_PER_G;
        assert!((g - ndarray::arr2(&[[1.0, 2.0], [3.0, 4.0]])).iter().all(|d| d.abs() < 1e-9));
        assert!(block.rate.own().is_some_and(|rate| (rate.get() - 1001.0).abs() < 1e-9));
    }
    // frames are configured, JSON comes: nothing is measured, and that is told
    let frames = text.replace("[source.stream.json]\nsamples = \"/x, /y\"\nrate = \"/odr\"\n", "");
    let frames = frames.replace("silence_s = 20.0", "silence_s = 0.5\nencoding = \"i16\"");
    let (settings, _log) = parse(Path::new("edge.toml"), &frames).expect("valid");
    let mut source = settings.sources[0].input.open_at(&host).expect("valid");
    publish_until_dropped(broker.port(), "plant/json", r#"{"other": 12}"#);
    let mut told = String::new();
    while !told.contains("nothing of mqtt://") {
        let block = source.next_block().expect("no failure").expect("endless");
        assert_eq!(block.accel_m_s2.ncols(), 0, "nothing is measured");
        told = host.remarks.lines().join("");
    }
    assert!(told.contains("JSON, but frames are configured"), "{told}");
    assert!(!told.contains("silent"), "messages come: {told}");
}

/// The configuration of a topic of JSON bursts of one channel at 1 kHz.
fn bursts(port: u16, lines: &str) -> pdm_edge::settings::EdgeSettings {
    let text = format!(
        "gateway_id = \"gw-01\"\nsite = \"s\"\n[spool]\npath = \"x.db\"\n[[source]]\nname = \"n\"\n\
         kind = \"stream\"\nrate_hz = 1000.0\n[source.stream]\nfrom = \
         \"mqtt://127.0.0.1:{port}/plant/b\"\n\
         {lines}\n[source.stream.json]\nsamples = \"/v\"\ntime = \"/ts\"\n\
         [[source.channel]]\nequipment = \"P\"\nbearing = \"DE\"\nrpm = 1500.0\n\
         bearing_type = \"6205\"\nunit = \"g\"\n"
    );
    parse(Path::new("edge.toml"), &text).expect("valid").0
}

/// A client that publishes bursts whose first sample is their number, of QoS 1.
fn burst_sender(port: u16) -> impl FnMut(u32) {
    let (client, mut connection) = Client::new(MqttOptions::new("sensor", "127.0.0.1", port), 8);
    let (tell, told) = std::sync::mpsc::sync_channel(64);
    std::thread::spawn(move || {
        while let Some(Ok(event)) = connection.iter().next() {
            if matches!(event, rumqttc::Event::Incoming(rumqttc::Packet::PubAck(_))) {
                let _test_has_ended = tell.send(());
            }
        }
    });
    move |number| {
        let ts = SystemClock.now().unix_ms() - 200;
        let message = format!(r#"{{"v": [{number}.25, -0.5, 1.5], "ts": {ts}}}"#);
        client.publish("plant/b", QoS::AtLeastOnce, false, message).expect("sent");
        told.recv_timeout(Duration::from_secs(80)).expect("the broker has it");
    }
}

fn number_of(block: &Block) -> u32 {
    (block.accel_m_s2[[0, 0]] / M_S2_PER_G - 0.25).round() as u32
}

/// A sensor that sends a burst each minute, with a limit that its pauses exceed: the connection
/// stays, the silence is told and withdrawn, and every burst is measured.
#[test]
fn pauses_longer_than_the_limit_are_told_and_lose_no_burst() {
    let test = "pauses_longer_than_the_limit_are_told_and_lose_no_burst";
    let Some(broker) = Mosquitto::start(test, Persistence::Memory) else { return };
    let settings = bursts(broker.port(), "silence_s = 0.1");
    let host = SourceHost::alone(Arc::new(SystemClock), "n");
    let mut source = settings.sources[0].input.open_at(&host).expect("valid");
    // the first block without samples comes once the subscription stands
    assert_eq!(source.next_block().expect("connects").expect("endless").accel_m_s2.ncols(), 0);
    let mut send = burst_sender(broker.port());
    for number in 1..=3 {
        let mut told = String::new();
        while !told.contains("the topic is silent since") {
            let block = source.next_block().expect("the connection stays").expect("endless");
            assert_eq!(block.accel_m_s2.ncols(), 0);
            told = host.remarks.lines().join("");
        }
        send(number);
        assert_eq!(number_of(&filled(&mut source)), number);
        assert_eq!(host.remarks.lines(), Vec::<String>::new());
    }
}

/// Bursts that come while the gateway is away are kept by the broker, where they state their time.
#[test]
fn bursts_of_qos_1_are_kept_while_the_gateway_is_away() {
    let test = "bursts_of_qos_1_are_kept_while_the_gateway_is_away";
    let Some(broker) = Mosquitto::start(test, Persistence::Memory) else { return };
    let settings = bursts(broker.port(), "");
    let host = SourceHost::alone(Arc::new(SystemClock), "n");
    let mut source = settings.sources[0].input.open_at(&host).expect("valid");
    assert_eq!(source.next_block().expect("connects").expect("endless").accel_m_s2.ncols(), 0);
    drop(source);
    let mut send = burst_sender(broker.port());
    (1..=4).for_each(&mut send);
    // a look beside the service takes nothing away
    let mut look =
        settings.sources[0].input.for_a_look(Duration::from_secs(5)).open_at(&host).expect("valid");
    assert_eq!(look.next_block().expect("connects").expect("endless").accel_m_s2.ncols(), 0);
    drop(look);
    let mut source = settings.sources[0].input.open_at(&host).expect("valid");
    let got: Vec<u32> = (0..4).map(|_| number_of(&filled(&mut source))).collect();
    assert_eq!(got, [1, 2, 3, 4]);
}

/// Publishes a message every 20 ms until the broker is gone.
fn publish_until_dropped(port: u16, topic: &'static str, message: &'static str) {
    std::thread::spawn(move || {
        let id = format!("{}", message.len());
        let (client, mut connection) = Client::new(MqttOptions::new(id, "127.0.0.1", port), 8);
        std::thread::spawn(move || while connection.iter().next().is_some_and(|e| e.is_ok()) {});
        while client.publish(topic, QoS::AtMostOnce, false, message).is_ok() {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
}

/// The sender of the documentation, over each way: frames that it loses are gaps, and no sample
/// changes its channel.
#[test]
fn the_reference_sender_is_understood_and_its_losses_are_gaps() {
    let test = "the_reference_sender_is_understood_and_its_losses_are_gaps";
    let Some(python) = program(test, "python3") else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/examples/pdm_frames.py");
    for (from, way) in
        [("tcp-listen://", None), ("udp://", Some("--udp")), ("tcp://", Some("--listen"))]
    {
        let port = pdm_harness::free_port();
        let text = format!(
            "gateway_id = \"gw-01\"\nsite = \"s\"\n[spool]\npath = \"x.db\"\n[[source]]\nname = \
             \"n\"\n\
             kind = \"stream\"\nrate_hz = 6400.0\n[source.stream]\nchannels = 3\nblock_s = 0.05\n\
             silence_s = 20.0\nformat = \"pdm.frames/1\"\nfrom = \"{from}127.0.0.1:{port}\"\n\
             [[source.channel]]\nequipment = \"P\"\nbearing = \"DE\"\nrpm = 1500.0\n\
             bearing_type = \"6205\"\n"
        );
        let (settings, _log) = parse(Path::new("edge.toml"), &text).expect("valid");
        let host = SourceHost::alone(Arc::new(SystemClock), "n");
        let mut sender = std::process::Command::new(&python)
            .arg(&script)
            .args(["--port", &port.to_string(), "--rate", "6400", "--channels", "3"])
            .args(["--lose", "0.2", "--seed", "5", "--seconds", "60"])
            .args(way)
            .spawn()
            .expect("starts");
        let (mut gaps, mut whole) = (0, 0);
        let mut source = settings.sources[0].input.open_at(&host).expect("valid");
        while whole < 20 || gaps < 2 {
            match source.next_block() {
                Ok(Some(block)) if block.accel_m_s2.ncols() == 0 => {}
                Ok(Some(block)) => {
                    gaps += usize::from(!block.follows_on && whole > 0);
                    whole += 1;
                    let rms_g = (block.accel_m_s2.iter().map(|a| a * a).sum::<f64>()
                        / block.accel_m_s2.len() as f64)
                        .sqrt()
                        / M_S2_PER_G;
                    assert!((0.05..0.15).contains(&rms_g), "{rms_g} g over {from}");
                }
                Ok(None) => panic!("a live source has no end"),
                // the sender of this way is not there yet
                Err(error) => {
                    assert!(from == "tcp://" && whole == 0, "{error}");
                    std::thread::sleep(Duration::from_millis(50));
                    source = settings.sources[0].input.open_at(&host).expect("valid");
                }
            }
        }
        sender.kill().expect("a child");
        sender.wait().expect("is gone");
    }
}
