//! The broker inside `pdm up`: who may connect, and what connections that say nothing cost.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use pdm_harness::{Authority, Child, until};
use pdm_service::broker::TlsFiles;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::Packet;
use rumqttc::v5::{AsyncClient, Event, MqttOptions};
use rumqttc::{TlsConfiguration, Transport};

use crate::programs::{Plant, get, half_connections, length, with_few_files};

const SOURCE: &str = "[[source]]\nname = \"sim\"\nkind = \"simulator\"\npace = 1.0\n\
    rate_hz = 6400.0\nperiod_s = 60.0\n[source.simulator]\nfault = \"outer_race\"\nsnapshots = \
    100\n\
    snapshot_s = 0.6\n[[source.channel]]\nchannel = 0\nequipment = \"P-1\"\nbearing = \"DE\"\n\
    bearing_type = \"6205\"\nrpm = 1797.0\n";

/// Whether a client of this name is taken, within ten seconds.
async fn is_taken(port: u16, name: &str, tls: Option<TlsFiles>) -> bool {
    let mut options = MqttOptions::new(name, "127.0.0.1", port);
    if let Some(tls) = tls {
        let Ok(config) = tls.client_config() else { return false };
        options.set_transport(Transport::Tls(TlsConfiguration::Rustls(Arc::new(config))));
    }
    let (_client, mut events) = AsyncClient::new(options, 4);
    let taken = tokio::time::timeout(Duration::from_secs(10), async {
        loop {
            match events.poll().await {
                Ok(Event::Incoming(Packet::ConnAck(_))) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    });
    taken.await.unwrap_or(false)
}

/// Half requests to both HTTP servers and half connections to the broker, 1,100 each, with the
/// 1,024 files of a usual shell: health answers, a gateway connects, the log stays short.
#[tokio::test(flavor = "multi_thread")]
async fn half_connections_leave_health_and_the_broker_answering() {
    let plant = Plant::new("", SOURCE);
    let mut up = plant.command("pdm", "up");
    up.args(["--listen", &format!("127.0.0.1:{}", plant.broker)]);
    let mut running = plant.start(with_few_files(&up), plant.edge);
    let mut half = half_connections(plant.agent, 1100, b"GET /healthz HT");
    half.extend(half_connections(plant.edge, 1100, b"GET /healthz HT"));
    half.extend(half_connections(plant.broker, 1100, b"\x10"));
    for port in [plant.agent, plant.edge] {
        let health = get(port, "/healthz").expect("health answers");
        assert!(health.starts_with("HTTP/1.1 200"), "{health}");
    }
    for gateway in ["gw-02", "gw-03", "gw-04"] {
        assert!(is_taken(plant.broker, gateway, None).await, "{}", plant.log());
    }
    assert!(length(&plant.path("log")) < 100_000, "{} bytes", length(&plant.path("log")));
    drop(half);
    assert_eq!(running.terminate().code(), Some(0));
}

/// R-DEPLOY: a program of this machine took the agent's client id again and again, and nothing came
/// in.
#[tokio::test(flavor = "multi_thread")]
async fn on_loopback_nobody_takes_a_client_id_of_the_process() {
    let plant = Plant::new("", SOURCE);
    let mut up = plant.command("pdm", "up");
    up.args(["--listen", &format!("127.0.0.1:{}", plant.broker)]);
    let mut running = plant.start(up, plant.edge);
    until("the intake", 30, || plant.log().contains("connected for intake").then_some(()));
    for _ in 0..5 {
        for own in ["pdm-agent", "pdm-agent-out", "gw-01"] {
            assert!(!is_taken(plant.broker, own, None).await, "{own}");
        }
    }
    assert!(is_taken(plant.broker, "gw-02", None).await, "another's is its own");
    let log = plant.log();
    assert_eq!(log.matches("connected for intake").count(), 1, "{log}");
    assert!(log.contains("connected as it may not"), "told: {log}");
    let health = get(plant.agent, "/healthz").expect("health answers");
    assert!(health.starts_with("HTTP/1.1 200"), "{health}");
    assert_eq!(running.terminate().code(), Some(0));
}

/// Edge and agent share one process and one set of metrics.
#[test]
fn both_metrics_answer_in_one_process() {
    let plant = Plant::new("", SOURCE);
    let mut up = plant.command("pdm", "up");
    up.args(["--listen", &format!("127.0.0.1:{}", plant.broker)]);
    let mut running = plant.start(up, plant.edge);
    for port in [plant.edge, plant.agent] {
        let metrics = get(port, "/metrics").expect("an answer");
        assert!(metrics.starts_with("HTTP/1.1 200"), "{metrics}");
        assert!(metrics.contains("pdm_edge_"), "{metrics}");
    }
    assert_eq!(running.terminate().code(), Some(0));
}

/// A broker that anybody in the network may use is not started by accident.
#[test]
fn nobody_listens_beyond_loopback_without_certificates() {
    let plant = Plant::new("", SOURCE);
    for (command, config) in [("up", true), ("demo", false)] {
        let mut started = plant.command("pdm", command);
        if !config {
            started = std::process::Command::new(pdm_harness::binary("pdm"));
            started.args(["demo", "--exit"]).current_dir(plant.folder.path());
        }
        let listen = format!("0.0.0.0:{}", plant.broker);
        started.args(["--listen", &listen]).stdout(Stdio::null());
        let log = std::fs::File::create(plant.path("log")).expect("a log");
        let mut child = Child::start(started.stderr(log));
        let status = until("the refusal", 30, || child.ended());
        assert_eq!(status.code(), Some(78), "{command}: {}", plant.log());
        assert!(plant.log().contains("--tls-certificate"), "{}", plant.log());
    }
}

/// With certificates other machines connect, each with its own, until it is revoked.
#[tokio::test(flavor = "multi_thread")]
async fn beyond_loopback_a_client_needs_a_certificate_that_is_not_revoked() {
    let name = "beyond_loopback_a_client_needs_a_certificate_that_is_not_revoked";
    let Some(authority) = Authority::found(name) else { return };
    for certificate in ["server", "gw-02", "gw-03"] {
        authority.issue(certificate);
    }
    authority.revoke("gw-03");
    let plant = Plant::new("", SOURCE);
    let mut up = plant.command("pdm", "up");
    up.args(["--listen", &format!("0.0.0.0:{}", plant.broker)]);
    for (option, file) in [
        ("--tls-certificate", "server.pem"),
        ("--tls-key", "server.key"),
        ("--tls-ca", "ca.pem"),
        ("--tls-crl", "ca.crl"),
    ] {
        up.arg(option).arg(authority.path(file));
    }
    let mut running = plant.start(up, plant.edge);
    let files = |client: Option<&str>| TlsFiles {
        ca: authority.path("ca.pem"),
        certificate: client.map(|name| authority.path(&format!("{name}.pem"))),
        key: client.map(|name| authority.path(&format!("{name}.key"))),
        crl: None,
    };
    assert!(is_taken(plant.broker, "gw-02", Some(files(Some("gw-02")))).await, "{}", plant.log());
    for refused in [None, Some(files(None)), Some(files(Some("gw-03")))] {
        assert!(!is_taken(plant.broker, "gw-09", refused.clone()).await, "{refused:?}");
    }
    // L4 of issue 34: another account of the machine connects past the gate, without a certificate
    let ports = listening_ports(running.id());
    assert!(ports.len() > 2, "the gate, the pages and the port behind the gate: {ports:?}");
    for port in ports.into_iter().filter(|port| *port != plant.broker) {
        assert!(!is_taken(port, "gw-09", None).await, "port {port}");
    }
    assert!(plant.log().contains("past the gate"), "{}", plant.log());
    assert_eq!(running.terminate().code(), Some(0));
}

/// The TCP ports on which this process listens (IPv4).
fn listening_ports(process: u32) -> Vec<u16> {
    let files = std::fs::read_dir(format!("/proc/{process}/fd")).expect("open files");
    let sockets: Vec<String> = files
        .filter_map(|file| std::fs::read_link(file.ok()?.path()).ok())
        .filter_map(|link| {
            Some(link.to_str()?.strip_prefix("socket:[")?.trim_end_matches(']').to_owned())
        })
        .collect();
    let table = std::fs::read_to_string("/proc/net/tcp").expect("sockets");
    let rows = table.lines().skip(1).map(|row| row.split_whitespace().collect::<Vec<_>>());
    // state 0A is LISTEN, the tenth column the socket's number
    rows.filter(|row| row.get(3) == Some(&"0A"))
        .filter(|row| row.get(9).is_some_and(|inode| sockets.iter().any(|one| one == inode)))
        .filter_map(|row| u16::from_str_radix(row.get(1)?.rsplit(':').next()?, 16).ok())
        .collect()
}

/// Publishes as this client; true if the broker acknowledges it, false if the connection ends.
async fn is_published(port: u16, name: &str, files: &TlsFiles, topic: &str) -> bool {
    let mut options = MqttOptions::new(name, "127.0.0.1", port);
    let config = Arc::new(files.client_config().expect("certificates"));
    options.set_transport(Transport::Tls(TlsConfiguration::Rustls(config)));
    let (client, mut events) = AsyncClient::new(options, 4);
    client.publish(topic, QoS::AtLeastOnce, false, "x").await.expect("room");
    let published = tokio::time::timeout(Duration::from_secs(10), async {
        loop {
            match events.poll().await {
                Ok(Event::Incoming(Packet::PubAck(_))) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    });
    published.await.expect("answered in time")
}

/// The gate holds what is published to the name of the client's certificate, as the shipped rules
/// of Mosquitto do.
#[tokio::test(flavor = "multi_thread")]
async fn behind_the_gate_a_gateway_publishes_under_its_own_name_alone() {
    let name = "behind_the_gate_a_gateway_publishes_under_its_own_name_alone";
    let Some(authority) = Authority::found(name) else { return };
    for certificate in ["server", "gw-02", "staff"] {
        authority.issue(certificate);
    }
    let plant = Plant::new("", SOURCE);
    let mut up = plant.command("pdm", "up");
    up.args(["--listen", &format!("0.0.0.0:{}", plant.broker)]);
    with_certificates(&mut up, &authority);
    let mut running = plant.start(up, plant.edge);
    for (client, topic, is_taken) in [
        ("gw-02", "pdm/v1/ulsan-1/P-101/DE/event/gw-02", true),
        ("gw-02", "pdm/v1/ulsan-1/gateway/gw-02/status", true),
        ("gw-02", "pdm/v1/ulsan-1/P-101/DE/event/gw-01", false),
        ("gw-02", "pdm/v1/ulsan-1/P-101/DE/event", false),
        ("gw-02", "pdm/v1/ulsan-1/gateway/gw-01/status", false),
        ("gw-02", "pdm/v1/ulsan-1/gateway/gw-01/receipt", false),
        ("gw-02", "pdm/v1/ulsan-1/P-101/DE/ack", false),
        ("staff", "pdm/v1/ulsan-1/P-101/DE/ack", true),
        ("staff", "pdm/v1/ulsan-1/P-101/DE/event/staff", false),
    ] {
        let files = TlsFiles {
            ca: authority.path("ca.pem"),
            certificate: Some(authority.path(&format!("{client}.pem"))),
            key: Some(authority.path(&format!("{client}.key"))),
            crl: None,
        };
        let taken = is_published(plant.broker, client, &files, topic).await;
        assert_eq!(taken, is_taken, "{client} on {topic}; {}", plant.log());
    }
    assert!(plant.log().contains("may not, its connection is closed"), "{}", plant.log());
    // H2 of issue 34: a client id belongs to its certificate
    let files = TlsFiles {
        ca: authority.path("ca.pem"),
        certificate: Some(authority.path("gw-02.pem")),
        key: Some(authority.path("gw-02.key")),
        crl: None,
    };
    for (id, is_its_own) in [
        ("pdm-agent", false),
        ("pdm-agent-out", false),
        ("gw-01", false),
        ("staff", false),
        ("gw-02", true),
        ("gw-02-check", true),
    ] {
        let taken = is_taken(plant.broker, id, Some(files.clone())).await;
        assert_eq!(taken, is_its_own, "gw-02 as {id}; {}", plant.log());
    }
    assert_eq!(running.terminate().code(), Some(0));
}

/// The options of `pdm up` that let other machines connect with these certificates.
fn with_certificates(up: &mut std::process::Command, authority: &Authority) {
    let files =
        [("--tls-certificate", "server.pem"), ("--tls-key", "server.key"), ("--tls-ca", "ca.pem")];
    for (option, file) in files {
        up.arg(option).arg(authority.path(file));
    }
}

/// A plant begins on one machine and adds certificates when its second gateway comes. The sessions
/// in the broker's folder are those of the start before, of another user: edge and agent were
/// refused by their own broker.
#[test]
fn the_same_folder_serves_without_certificates_and_with_them() {
    let name = "the_same_folder_serves_without_certificates_and_with_them";
    let Some(authority) = Authority::found(name) else { return };
    authority.issue("server");
    let plant = Plant::new("", SOURCE);
    for has_certificates in [false, true, false, true] {
        let mut up = plant.command("pdm", "up");
        up.args(["--listen", &format!("127.0.0.1:{}", plant.broker)]);
        if has_certificates {
            with_certificates(&mut up, &authority);
        }
        let mut running = plant.start(up, plant.edge);
        until("an event of this start", 60, || {
            let metrics = get(plant.agent, "/metrics")?;
            let stored =
                metrics.lines().find(|line| line.starts_with("pdm_agent_events_stored_total"));
            stored.filter(|line| !line.ends_with(" 0")).map(|_| ())
        });
        assert!(!plant.log().contains("NotAuthorized"), "{has_certificates}: {}", plant.log());
        assert_eq!(running.terminate().code(), Some(0));
    }
}

/// One certificate took all 512 places of the broker, and 400 sessions of another filled its
/// memory.
#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_takes_its_share_of_connections_and_sessions_and_no_more() {
    let name = "a_certificate_takes_its_share_of_connections_and_sessions_and_no_more";
    let Some(authority) = Authority::found(name) else { return };
    for certificate in ["server", "gw-02", "gw-03"] {
        authority.issue(certificate);
    }
    let plant = Plant::new("", SOURCE);
    let mut up = plant.command("pdm", "up");
    up.args(["--listen", &format!("127.0.0.1:{}", plant.broker)]);
    with_certificates(&mut up, &authority);
    let mut running = plant.start(up, plant.edge);
    let files = |client: &str| TlsFiles {
        ca: authority.path("ca.pem"),
        certificate: Some(authority.path(&format!("{client}.pem"))),
        key: Some(authority.path(&format!("{client}.key"))),
        crl: None,
    };
    let connecting = |id: String, keeps_s: u32| {
        let mut options = MqttOptions::new(id, "127.0.0.1", plant.broker);
        let config = Arc::new(files("gw-02").client_config().expect("certificates"));
        options.set_transport(Transport::Tls(TlsConfiguration::Rustls(config)));
        options.set_clean_start(false).set_session_expiry_interval(Some(keeps_s));
        AsyncClient::new(options, 4)
    };
    let mut held = Vec::new();
    let mut taken = 0;
    for number in 0..40 {
        let (client, mut events) = connecting(format!("x{number}"), 0);
        if let Ok(Event::Incoming(Packet::ConnAck(_))) = events.poll().await {
            taken += 1;
            held.push((client, events));
        }
    }
    assert_eq!(taken, 16, "{}", plant.log());
    assert!(is_taken(plant.broker, "gw-03", Some(files("gw-03"))).await, "{}", plant.log());
    drop(held);
    until("the connections are gone", 20, || {
        std::thread::sleep(Duration::from_millis(500));
        Some(())
    });
    let mut kept = 0;
    for number in 0..20 {
        let (client, mut events) = connecting(format!("s{number}"), 3600);
        if let Ok(Event::Incoming(Packet::ConnAck(_))) = events.poll().await {
            kept += 1;
            let _left = client.disconnect().await;
            while events.poll().await.is_ok() {}
        }
    }
    assert_eq!(kept, 6, "{}", plant.log());
    assert!(plant.log().contains("may not, its connection is closed"), "{}", plant.log());
    assert_eq!(running.terminate().code(), Some(0));
}
