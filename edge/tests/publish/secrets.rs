//! Tests that no secret appears in logs of any level, errors, metrics, or messages to the broker.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output};

use pdm_harness::{Child, Mosquitto, Persistence, free_port, until};

const SECRETS: [&str; 2] = ["mqtt-hunter2", "admin-hunter3-of-sixteen"];

fn edge(config: &Path, command: &str) -> Command {
    let mut edge = Command::new(env!("CARGO_BIN_EXE_pdm-edge"));
    edge.args([command, "--config"]).arg(config).env("PDM_LOG", "trace");
    edge
}

fn shown(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}{}", text(&output.stdout), text(&output.stderr))
}

fn asked(address: &str, token: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("connects");
    let request = format!(
        "GET /metrics HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
         connection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("asks");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("reads");
    answer
}

fn config(folder: &Path, port: u16, address: &str) -> String {
    for (name, value) in ["mqtt", "admin"].iter().zip(SECRETS) {
        std::fs::write(folder.join(name), format!("{value}\n")).expect("written");
    }
    format!(
        "gateway_id = \"gw-01\"\nsite = \"ulsan-1\"\n\
         [broker]\naddresses = [\"127.0.0.1:{port}\"]\nuser = \"gw-01\"\n\
         password = {{ file = \"mqtt\" }}\n[spool]\npath = \"spool.db\"\n\
         [admin]\nlisten = \"{address}\"\ntoken = {{ file = {:?} }}\n\
         [[source]]\nname = \"sim\"\nkind = \"simulator\"\npace = \"max\"\nrate_hz = 6400.0\n\
         period_s = 60.0\n[source.simulator]\nfault = \"outer_race\"\nsnapshots = 5\n\
         snapshot_s = 0.6\n[[source.channel]]\nchannel = 0\nequipment = \"P-1\"\nbearing = \"DE\"\n\
         bearing_type = \"6205\"\nrpm = 1797.0\n",
        folder.join("admin").display().to_string()
    )
}

#[test]
fn no_secret_shows_in_logs_errors_or_metrics() {
    let name = "no_secret_shows_in_logs_errors_or_metrics";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let refusing = "allow_anonymous false\n";
    let Some(refusing) = Mosquitto::start_with(name, Persistence::Memory, refusing) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let address = format!("127.0.0.1:{}", free_port());
    let path = folder.path().join("edge.toml");
    let text = config(folder.path(), broker.port(), &address);
    std::fs::write(&path, &text).expect("written");
    let log = folder.path().join("log");
    let errors = std::fs::File::create(&log).expect("a log");
    let mut running = Child::start(edge(&path, "run").stderr(errors));
    until("the metrics", 20, || TcpStream::connect(&address).ok());
    until("its figures", 20, || asked(&address, SECRETS[1]).contains("pdm_edge_").then_some(()));
    let mut seen = vec![("metrics", asked(&address, SECRETS[1]))];
    seen.push(("a refused question", asked(&address, "wrong")));
    assert!(seen[0].1.contains("200 OK") && seen[1].1.contains("401"), "{seen:?}");
    running.terminate();
    seen.push(("log", std::fs::read_to_string(&log).expect("a log")));
    let refused = config(folder.path(), refusing.port(), &address);
    std::fs::write(&path, refused).expect("written");
    seen.push(("a refusal", shown(&edge(&path, "check").output().expect("runs"))));
    std::fs::write(&path, text.replace("[admin]", "[adminn]")).expect("written");
    seen.push(("a bad configuration", shown(&edge(&path, "run").output().expect("runs"))));
    std::fs::remove_file(folder.path().join("mqtt")).expect("removed");
    std::fs::write(&path, &text).expect("written");
    seen.push(("a missing secret", shown(&edge(&path, "check").output().expect("runs"))));
    for (place, text) in seen {
        assert!(!text.is_empty(), "{place} is empty");
        for secret in SECRETS {
            let line = text.lines().find(|line| line.contains(secret));
            assert!(line.is_none(), "{secret} shows in {place}: {line:?}");
        }
    }
}
