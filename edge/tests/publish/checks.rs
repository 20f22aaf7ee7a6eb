//! `pdm-edge check` of live sources: every secret is looked at, and why nothing comes is told.
//! R-EDGE-1, R-EDGE-11.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use pdm_harness::{Mosquitto, Persistence, free_port};
use rumqttc::{Client, MqttOptions, QoS};

/// One source of raw frames, by the lines of `[source.stream]` and what follows them.
fn config(folder: &Path, from: &str, more: &str) {
    let text = format!(
        "gateway_id = \"gw-01\"\nsite = \"ulsan-1\"\n[broker]\naddresses = [\"127.0.0.1:{}\"]\n\
         [spool]\npath = \"spool.db\"\n[[source]]\nname = \"p101\"\nkind = \"stream\"\n\
         rate_hz = 1000.0\n[source.stream]\nfrom = \"{from}\"\n{more}\n\
         [[source.channel]]\nequipment = \"P\"\nbearing = \"DE\"\nrpm = 1500.0\n\
         bearing_type = \"6205\"\nunit = \"g\"\n",
        free_port()
    );
    std::fs::write(folder.join("edge.toml"), text).expect("written");
}

/// The lines of the table that begin with these words, and the exit code.
fn checked(folder: &Path, wait_s: &str, words: &str) -> (String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_pdm-edge"))
        .args(["check", "--wait", wait_s, "--config"])
        .arg(folder.join("edge.toml"))
        .output()
        .expect("runs");
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = table.lines().filter(|line| line.contains(words)).collect();
    assert!(!lines.is_empty(), "{words}: {table}{}", String::from_utf8_lossy(&output.stderr));
    (lines.join("\n"), output.status.code())
}

#[test]
fn every_secret_and_certificate_of_every_source_is_named_where_it_is_missing() {
    let folder = tempfile::tempdir().expect("folder");
    let port = free_port();
    let more = format!(
        "encoding = \"i16\"\nuser = \"gw\"\npassword = {{ file = \"stream.pw\" }}\n\
         [source.speed_tag]\nfrom = \"mqtts://127.0.0.1:{port}/plant/speed\"\nuser = \"gw\"\n\
         password = {{ file = \"tag.pw\" }}\ntls = {{ ca = \"gone.pem\" }}"
    );
    config(folder.path(), &format!("mqtt://127.0.0.1:{port}/plant/raw"), &more);
    let (lines, code) = checked(folder.path(), "1", "FAIL");
    assert_eq!(code, Some(78), "{lines}");
    for named in [
        "secret source p101: stream.password",
        "secret source p101: speed_tag.password",
        "certificates source p101: speed_tag.tls",
        "speed tag mqtt://127.0.0.1",
    ] {
        assert!(lines.contains(named), "{named}: {lines}");
    }
    let tag = lines.lines().find(|line| line.contains("speed tag mqtt")).expect("a line");
    assert_eq!(tag.matches("tag.pw").count(), 1, "{tag}");
    for (name, secret) in [("stream.pw", "a"), ("tag.pw", "b")] {
        std::fs::write(folder.path().join(name), secret).expect("written");
    }
    let (lines, _) = checked(folder.path(), "1", "FAIL");
    assert!(!lines.contains("secret ") && lines.contains("certificates"), "{lines}");
}

/// The three causes of a source from which nothing comes, and one that the running service holds.
#[test]
fn nobody_at_an_address_silence_of_a_connection_and_an_absent_sender_are_told_apart() {
    let folder = tempfile::tempdir().expect("folder");
    let told = |from: &str| {
        config(folder.path(), from, "encoding = \"i16\"");
        checked(folder.path(), "1", "source p101")
    };
    let (line, code) = told(&format!("tcp://127.0.0.1:{}", free_port()));
    assert!(line.contains("cannot connect") && line.contains("firewall"), "{line}");
    assert_eq!(code, Some(69));
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let (line, code) = told(&format!("tcp://{}", silent.local_addr().expect("an address")));
    assert!(line.contains("connected") && line.contains("--wait"), "{line}");
    assert_eq!(code, Some(69));
    let port = free_port();
    let (line, code) = told(&format!("tcp-listen://:{port}"));
    assert!(line.contains("listens at") && line.contains("start the sender"), "{line}");
    assert_eq!(code, Some(69));
    let held = TcpListener::bind(("127.0.0.1", port)).expect("free again");
    let (line, _) = told(&format!("tcp-listen://:{port}"));
    assert!(line.contains("in use") && line.contains("/healthz"), "{line}");
    drop(held);
    let (line, code) = told(&format!("mqtt://127.0.0.1:{}/plant/raw", free_port()));
    assert!(line.contains("firewall"), "{line}");
    assert_eq!(code, Some(69));
}

/// A sensor that sends more rarely than the usual wait is awaited where a person says so, and the
/// sources are awaited together.
#[test]
fn a_slow_sender_is_awaited_as_long_as_is_asked() {
    let folder = tempfile::tempdir().expect("folder");
    let port = free_port();
    config(folder.path(), &format!("tcp-listen://:{port}"), "encoding = \"i16\"");
    let sender = std::thread::spawn(move || {
        let until = Instant::now() + Duration::from_secs(30);
        let mut socket = loop {
            match TcpStream::connect(("127.0.0.1", port)) {
                Ok(socket) => break socket,
                Err(error) => assert!(Instant::now() < until, "{error}"),
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        std::thread::sleep(Duration::from_secs(7));
        // the check ends with the first block
        let _ended = socket.write_all(&[1; 4000]);
    });
    let (line, _) = checked(folder.path(), "25", "source p101");
    assert!(line.starts_with("ok") && line.contains("delivers"), "{line}");
    sender.join().expect("sent");
}

/// A pointer that does not fit: the reason is told, with the code of a source whose content is
/// wrong.
#[test]
fn messages_that_come_and_are_refused_are_told_with_the_reason() {
    let test = "messages_that_come_and_are_refused_are_told_with_the_reason";
    let Some(broker) = Mosquitto::start(test, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let port = broker.port();
    let (client, mut connection) = Client::new(MqttOptions::new("sensor", "127.0.0.1", port), 8);
    std::thread::spawn(move || while connection.iter().next().is_some_and(|e| e.is_ok()) {});
    std::thread::spawn(move || {
        let send = |topic: &str, text: &str| client.publish(topic, QoS::AtMostOnce, false, text);
        while send("plant/json", r#"{"data": [1.0, 2.0]}"#).is_ok()
            && send("plant/speed", r#"{"v": 1480}"#).is_ok()
        {
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let tag = |pointer: &str| {
        format!(
            "[source.stream.json]\nsamples = \"/data/q\"\n[source.speed_tag]\n\
             from = \"mqtt://127.0.0.1:{port}/plant/speed\"\npointer = \"{pointer}\""
        )
    };
    let from = format!("mqtt://127.0.0.1:{port}/plant/json");
    config(folder.path(), &from, &tag("/v"));
    let (lines, code) = checked(folder.path(), "3", "source p101");
    assert!(lines.contains("not used") && lines.contains("/data/q"), "{lines}");
    assert!(lines.contains("says 1480.0 rpm"), "{lines}");
    assert_eq!(code, Some(65), "{lines}");
    config(folder.path(), &from, &tag("/w"));
    let (lines, _) = checked(folder.path(), "3", "speed tag");
    assert!(lines.starts_with("FAIL") && lines.contains("/w"), "{lines}");
}

/// Nothing is published on the topic: the subscription stands.
#[test]
fn a_topic_without_messages_is_told_from_a_broker_that_is_away() {
    let test = "a_topic_without_messages_is_told_from_a_broker_that_is_away";
    let Some(broker) = Mosquitto::start(test, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let from = format!("mqtt://127.0.0.1:{}/plant/raw", broker.port());
    config(folder.path(), &from, "encoding = \"i16\"");
    let (line, code) = checked(folder.path(), "2", "source p101");
    assert!(line.contains("subscribed to plant/raw") && line.contains("spelt"), "{line}");
    assert_eq!(code, Some(69), "{line}");
}
