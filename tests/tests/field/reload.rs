//! `pdm up` reads its configuration again on SIGHUP, as the services do: the embedded broker stays,
//! what is wrong changes nothing. Issue 33, point 3.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Command, Stdio};

use pdm_harness::{Child, binary, free_port, until};

/// Longest wait for what has to happen, s.
const PATIENCE: u64 = 60;

const EDGE: &str = r#"
gateway_id = "gw-01"
site = "ulsan-1"
[spool]
path = "edge.db"
[[source]]
name = "sim"
kind = "simulator"
pace = 1.0
rate_hz = 6400.0
period_s = 600.0
[source.simulator]
fault = "outer_race"
snapshots = 4000
snapshot_s = 0.6
seed = 3
[[source.channel]]
channel = 0
equipment = "P-1"
bearing = "DE"
bearing_type = "6205"
rpm = 1797.0
"#;

fn is_served(port: u16) -> Option<()> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    let head = b"GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n";
    stream.write_all(head).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.starts_with("HTTP/1.1 200").then_some(())
}

fn hang_up(chain: &Child) {
    let id = chain.id().to_string();
    let sent = Command::new("kill").args(["-HUP", &id]).status().expect("kill");
    assert!(sent.success());
}

#[test]
fn pdm_up_reads_its_files_again_on_sighup_and_refuses_wrong_ones_whole() {
    let folder = tempfile::tempdir().expect("folder");
    let (broker, first, second) = (free_port(), free_port(), free_port());
    let agent = |port: u16, more: &str| {
        let text = format!(
            "[store]\nsqlite = \"agent.db\"\n[http]\nlisten = \"127.0.0.1:{port}\"\n{more}"
        );
        std::fs::write(folder.path().join("agent.toml"), text).expect("written");
    };
    std::fs::write(folder.path().join("edge.toml"), EDGE).expect("written");
    agent(first, "");
    let path = folder.path().join("log");
    let log = std::fs::File::create(&path).expect("log");
    let mut command = Command::new(binary("pdm"));
    command.args(["up", "--listen", &format!("127.0.0.1:{broker}"), "--config"]);
    command.arg(folder.path()).env("PDM_LOG", "info");
    let mut chain = Child::start(command.stdout(Stdio::null()).stderr(log));
    until("the first address", PATIENCE, || is_served(first));
    let client = TcpStream::connect((Ipv4Addr::LOCALHOST, broker)).expect("the broker's");

    agent(second, "colour = \"red\"\n");
    hang_up(&chain);
    let said = |text: &str| std::fs::read_to_string(&path).unwrap_or_default().contains(text);
    until("the refusal", PATIENCE, || said("the new configuration is refused").then_some(()));
    assert!(is_served(first).is_some(), "the one of before goes on");

    agent(second, "");
    hang_up(&chain);
    until("the second address", PATIENCE, || is_served(second));
    assert!(is_served(first).is_none(), "the first one is closed");
    assert!(
        client.peer_addr().is_ok() && TcpStream::connect((Ipv4Addr::LOCALHOST, broker)).is_ok()
    );
    assert!(chain.terminate().success());
}
