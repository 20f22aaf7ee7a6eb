//! The interface for scripts: exit codes and their messages, health and metrics. R-EDGE-11.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use pdm_harness::{Child, Mosquitto, Persistence, free_port, until};

const EXAMPLE: &str = include_str!("../../../config/edge.toml");

fn configuration(folder: &Path, broker: u16, admin: u16) -> PathBuf {
    let text = EXAMPLE
        .replace("127.0.0.1:1883", &format!("127.0.0.1:{broker}"))
        .replace("127.0.0.1:9101", &format!("127.0.0.1:{admin}"))
        .replace("../var/edge/spool.db", "spool.db");
    let path = folder.join("edge.toml");
    std::fs::write(&path, text).expect("writes");
    path
}

fn edge(arguments: &[&str], configuration: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pdm-edge"))
        .args(arguments)
        .arg("--config")
        .arg(configuration)
        .output()
        .expect("runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn check_says_ok_for_the_example_and_a_broker_that_answers() {
    let Some(broker) = Mosquitto::start("check_says_ok", Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let output = edge(&["check"], &configuration(folder.path(), broker.port(), free_port()));
    let table = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{table}{}", text(&output.stderr));
    assert!(table.lines().all(|line| line.starts_with("ok")), "{table}");
    assert!(!folder.path().join("spool.db").exists(), "check leaves nothing behind");
}

#[test]
fn check_tells_an_unreachable_broker_by_69_and_a_bad_configuration_by_78() {
    let folder = tempfile::tempdir().expect("folder");
    let path = configuration(folder.path(), free_port(), free_port());
    let output = edge(&["check"], &path);
    assert_eq!(output.status.code(), Some(69), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("FAIL  broker"), "{}", text(&output.stdout));

    let good = std::fs::read_to_string(&path).expect("reads");
    std::fs::write(&path, good.replace("rpm = 1797.0", "rpm = -5.0")).expect("writes");
    for command in ["check", "run"] {
        let output = edge(&[command], &path);
        assert_eq!(output.status.code(), Some(78));
        let told = text(&output.stderr);
        assert!(told.contains("channel[0].rpm (line ") && told.contains("-5"), "{told}");
    }
}

/// One GET: status line and body.
fn get(port: u16, path: &str) -> Option<String> {
    let mut socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    write!(socket, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer).ok()?;
    Some(answer)
}

#[test]
fn a_running_edge_serves_health_and_metrics_and_stops_cleanly() {
    let folder = tempfile::tempdir().expect("folder");
    let admin = free_port();
    let path = configuration(folder.path(), free_port(), admin);
    let mut child = Child::start(
        Command::new(env!("CARGO_BIN_EXE_pdm-edge"))
            .args(["run", "--config"])
            .arg(&path)
            .env("PDM_LOG", "error")
            .stdout(Stdio::null()),
    );
    let healthy = until("the edge to answer", 20, || get(admin, "/healthz"));
    assert!(healthy.starts_with("HTTP/1.1 200"), "{healthy}");
    let metrics = until("the first events", 20, || {
        get(admin, "/metrics").filter(|text| text.contains("pdm_edge_spool_waiting_events"))
    });
    assert!(metrics.contains("pdm_edge_measured_windows"), "{metrics}");
    let ready = get(admin, "/readyz").expect("answers");
    assert!(ready.contains("broker away"), "{ready}");
    assert_eq!(child.terminate().code(), Some(0), "a stop asked for is no failure");
}

/// One POST with this host and, if given, this origin: status line and body.
fn post(port: u16, path: &str, host: &str, origin: Option<&str>) -> Option<String> {
    let origin = origin.map_or_else(String::new, |origin| format!("Origin: {origin}\r\n"));
    let mut socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    write!(
        socket,
        "POST {path} HTTP/1.1\r\nHost: {host}\r\n{origin}Content-Length: 0\r\n\
         Connection: close\r\n\r\n"
    )
    .ok()?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer).ok()?;
    Some(answer)
}

/// R-EDGE-6, R-EDGE-11: on loopback without a token a page in a browser of this machine must not
/// empty a bearing's memory, whether it calls directly or by a host name of its own.
#[test]
fn a_foreign_origin_or_host_cannot_relearn_and_health_stays_open() {
    let folder = tempfile::tempdir().expect("folder");
    let admin = free_port();
    let path = configuration(folder.path(), free_port(), admin);
    let mut child = Child::start(
        Command::new(env!("CARGO_BIN_EXE_pdm-edge"))
            .args(["run", "--config"])
            .arg(&path)
            .env("PDM_LOG", "error")
            .stdout(Stdio::null()),
    );
    // a host name of another machine may read health
    let healthy = until("the edge to answer", 20, || get(admin, "/healthz"));
    assert!(healthy.starts_with("HTTP/1.1 200"), "{healthy}");
    let relearn = |host: &str, origin: Option<&str>| {
        let answer = post(admin, "/relearn/P-101/DE", host, origin).expect("answers");
        answer.split(' ').nth(1).map(str::to_owned).expect("a status")
    };
    let own = format!("127.0.0.1:{admin}");
    assert_eq!(relearn(&own, Some("https://example.com")), "403", "another origin");
    assert_eq!(relearn("example.com", None), "403", "another host");
    assert_eq!(relearn(&own, Some("null")), "403", "an origin that is hidden");
    assert_eq!(relearn(&own, None), "202", "a program of this machine");
    assert_eq!(child.terminate().code(), Some(0));
}

/// R-EDGE-6: after maintenance a bearing is learnt anew, in a service that runs and in one that
/// does not.
#[test]
fn relearn_reaches_a_running_service_and_the_memory_of_a_stopped_one() {
    let folder = tempfile::tempdir().expect("folder");
    let admin = free_port();
    let path = configuration(folder.path(), free_port(), admin);
    let relearn =
        |bearing: &str, more: &[&str]| edge(&[&["relearn", bearing], more].concat(), &path);
    assert_eq!(relearn("P-101/NDE", &[]).status.code(), Some(64), "no such bearing");
    assert_eq!(relearn("P-101/DE", &[]).status.code(), Some(69), "nobody answers");
    let mut child = Child::start(
        Command::new(env!("CARGO_BIN_EXE_pdm-edge"))
            .args(["run", "--config"])
            .arg(&path)
            .env("PDM_LOG", "error")
            .stdout(Stdio::null()),
    );
    until("the first events", 20, || {
        get(admin, "/metrics").filter(|text| text.contains("pdm_edge_spool_waiting_events"))
    });
    let output = relearn("P-101/DE", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("P-101/DE is learnt anew"), "{}", text(&output.stdout));
    assert_eq!(child.terminate().code(), Some(0));
    let stopped = || text(&relearn("P-101/DE", &["--stopped"]).stdout);
    assert!(stopped().contains("forgotten"), "what a stopped service remembers is taken out");
    assert!(stopped().contains("nothing was remembered"), "and only once");
}

#[test]
fn replay_prints_one_event_a_line_and_refuses_a_period_of_zero() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("noise.csv");
    let lines: Vec<String> = (0..6000).map(|n| format!("{}", (n * 7919 % 1000) - 500)).collect();
    std::fs::write(&file, lines.join("\n")).expect("writes");
    let replay = |period: &str| {
        Command::new(env!("CARGO_BIN_EXE_pdm-edge"))
            .arg("replay")
            .args([&file, &file, &file])
            .args(["--period", period, "--rate", "6000", "--rpm", "1800", "--bearing", "6205"])
            .args(["--scale", "0.001", "--jsonl"])
            .output()
            .expect("runs")
    };
    let output = replay("60");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let events: Vec<pdm_shared::event::Event> = text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).expect("an event"))
        .collect();
    assert_eq!(events.iter().map(|event| event.sequence).collect::<Vec<_>>(), [1, 2, 3]);
    let apart = events[2].measured_at.seconds_since(events[1].measured_at);
    assert!((apart - 60.0).abs() < 1e-6, "{apart}");
    assert_eq!(replay("0").status.code(), Some(64));
}
