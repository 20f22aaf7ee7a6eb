//! Two agents on one SQLite file: the second one ends with a word for it, before it has touched the
//! store, and takes over as soon as the first one is gone.

use std::process::{Command, Stdio};

use pdm_harness::{Child, binary, free_port, until};

use crate::watched::{PATIENCE, Watched};

#[test]
fn a_second_agent_on_one_file_is_refused_by_name_and_takes_over_when_the_first_is_gone() {
    let test =
        "a_second_agent_on_one_file_is_refused_by_name_and_takes_over_when_the_first_is_gone";
    let Some(mut plant) = Watched::new(test, "sqlite = \"agent.db\"", "") else { return };
    plant.start();
    plant.works();
    let text = std::fs::read_to_string(plant.path().join("agent.toml")).expect("there");
    let port = format!("listen = \"127.0.0.1:{}\"", free_port());
    let other = |line: &str| match line {
        "[broker]" => "[broker]\nclient_id = \"other\"".to_owned(),
        line if line.starts_with("listen = ") => port.clone(),
        line => line.to_owned(),
    };
    let text: Vec<String> = text.lines().map(other).collect();
    let config = plant.path().join("other.toml");
    std::fs::write(&config, text.join("\n")).expect("written");
    let command = || {
        let mut command = Command::new(binary("pdm-agent"));
        command.args(["run", "--config"]).arg(&config);
        command
    };
    let second = command().output().expect("runs");
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(69), "{said}");
    assert!(said.contains("another agent (process "), "{said}");
    assert!(said.contains("agent.db: two on one file would each judge and tell"), "{said}");
    // the first one goes on, and commands beside it work
    plant.fault("P-101");
    plant.hears("P-101");
    let (code, listed) = plant.said("episodes list");
    assert!(code == Some(0) && listed.contains("P-101"), "{listed}");
    assert_eq!(plant.count("[Warning] P-101 "), 1, "told once");
    // killed, so that nobody has taken the lock away
    plant.stop();
    let log = plant.path().join("other.log");
    let file = std::fs::File::create(&log).expect("log");
    let _second = Child::start(command().env("PDM_LOG", "info").stdout(Stdio::null()).stderr(file));
    until("the second one runs", PATIENCE, || {
        std::fs::read_to_string(&log).ok()?.contains("connected for intake").then_some(())
    });
    // its own session begins with its subscription
    std::thread::sleep(std::time::Duration::from_millis(500));
    plant.fault("P-102");
    plant.hears("P-102");
}
