//! The flow for Node-RED: the real program runs it beside the agent; a lamp shows the machine's
//! worst bearing, a message to staff becomes a line, and a button at the machine acknowledges.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use pdm_harness::{Child, free_port, not_run, program, until};

use crate::metrics::project;
use crate::watched::{PATIENCE, Watched};

/// The folder with Node-RED of the registry of npm.
fn place(test: &str) -> Option<PathBuf> {
    let place = std::env::var_os("PDM_NODE_RED").map(PathBuf::from);
    let place = place.filter(|place| place.join("node_modules/node-red/red.js").is_file());
    if place.is_none() {
        not_run(test, "PDM_NODE_RED names no folder with node-red: tests/run fetches it");
    }
    place
}

/// What stands on this topic, of what is retained or comes within two seconds.
fn next(port: u16, topic: &str) -> Option<String> {
    let out = Command::new("mosquitto_sub")
        .args(["-V", "5", "-h", "127.0.0.1", "-p", &port.to_string()])
        .args(["-W", "2", "-C", "1", "-t", topic])
        .output()
        .expect("runs");
    let text = String::from_utf8(out.stdout).ok()?;
    text.lines().next().map(str::to_owned)
}

#[test]
fn the_flow_of_node_red_lights_a_lamp_and_acknowledges_by_a_button() {
    let test = "the_flow_of_node_red_lights_a_lamp_and_acknowledges_by_a_button";
    let (Some(node), Some(place)) = (program(test, "node"), place(test)) else { return };
    let Some(mut plant) = Watched::new(test, "sqlite = \"agent.db\"", "") else { return };
    plant.start();
    plant.works();
    let port = plant.broker_port();
    let folder = plant.path().join("node-red");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::copy(project("deploy/node-red/flows.json"), folder.join("flows.json")).expect("flow");
    let log = std::fs::File::create(plant.path().join("node-red.log")).expect("log");
    let _red = Child::start(
        Command::new(node)
            .arg(place.join("node_modules/node-red/red.js"))
            .args(["--userDir"])
            .arg(&folder)
            .args(["--port", &free_port().to_string(), "flows.json"])
            .env("PDM_BROKER_HOST", "127.0.0.1")
            .env("PDM_BROKER_PORT", port.to_string())
            .env("PDM_LANGUAGE", "en")
            .stdout(log)
            .stderr(Stdio::null()),
    );
    until("Node-RED at the broker", PATIENCE, || {
        let log = std::fs::read_to_string(plant.path().join("node-red.log")).ok()?;
        log.contains("Connected to broker").then_some(())
    });
    let listener = Command::new("mosquitto_sub")
        .args(["-V", "5", "-h", "127.0.0.1", "-p", &port.to_string()])
        .args(["-W", "60", "-C", "1", "-t", "andon/+/+/line"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("runs");
    std::thread::sleep(std::time::Duration::from_millis(300));
    plant.fault("P-101");
    let lamp = until("the lamp", PATIENCE, || next(port, "andon/ulsan-1/P-101/lamp"));
    assert!(["blue", "orange", "red"].contains(&lamp.as_str()), "{lamp}");
    let line = listener.wait_with_output().expect("ended");
    let line = String::from_utf8_lossy(&line.stdout).trim().to_owned();
    assert!(line.starts_with("P-101 DE: "), "{line}");
    let sent = Command::new("mosquitto_pub")
        .args(["-V", "5", "-h", "127.0.0.1", "-p", &port.to_string(), "-q", "1"])
        .args(["-t", "andon/ulsan-1/P-101/DE/seen", "-m", "kim"])
        .status();
    assert!(sent.is_ok_and(|status| status.success()), "pressed");
    let acknowledged = until("the acknowledgement", PATIENCE, || {
        let (_code, said) = plant.said("episodes list --json");
        said.contains("acknowledged_active")
            .then_some(said)
            .filter(|said| !said.contains("unacknowledged_active"))
    });
    assert!(acknowledged.contains("kim"), "{acknowledged}");
    let log = std::fs::read_to_string(plant.path().join("node-red.log")).expect("log");
    assert!(!log.contains("[error]"), "{log}");
    // a bearing that is taken out leaves its machine with a lamp that is off
    let (code, said) = plant.said("forget ulsan-1/P-101/DE --by kim --reason gone");
    assert_eq!(code, Some(0), "{said}");
    until("the lamp is green", PATIENCE, || {
        (next(port, "andon/ulsan-1/P-101/lamp")? == "green").then_some(())
    });
}
