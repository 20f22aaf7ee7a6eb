//! Brokers that the agent cannot work with: staff, health and `check` say which and what to do.
//! Issue 33, point 6.

use std::net::{Ipv4Addr, TcpStream};
use std::process::{Command, Stdio};

use pdm_harness::{Child, Mosquitto, Persistence, PythonPackage, binary, free_port, until};

use crate::metrics::edge_at;
use crate::watched::{PATIENCE, Watched};

/// A broker of MQTT 3.1.1 alone, of the Python registry. Mosquitto can be told to be one from 2.1
/// on (`accept_protocol_versions`), Debian's is older.
const AMQTT: PythonPackage<'_> =
    PythonPackage { requirement: "amqtt==0.12.1", probe: "import amqtt.broker" };

fn older_broker(test: &str) -> Option<(Child, u16, tempfile::TempDir)> {
    let python = AMQTT.interpreter(test, env!("CARGO_TARGET_TMPDIR"), "amqtt")?;
    let (folder, port) = (tempfile::tempdir().expect("folder"), free_port());
    let config = folder.path().join("broker.yaml");
    let text = format!(
        "listeners:\n  default:\n    type: tcp\n    bind: 127.0.0.1:{port}\nplugins:\n  \
         amqtt.plugins.authentication.AnonymousAuthPlugin:\n    allow_anonymous: true\n"
    );
    std::fs::write(&config, text).expect("written");
    let log = std::fs::File::create(folder.path().join("log")).expect("log");
    let mut command = Command::new(python.with_file_name("amqtt"));
    let broker = Child::start(command.arg("-c").arg(&config).stdout(Stdio::null()).stderr(log));
    until("the broker", PATIENCE, || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok());
    Some((broker, port, folder))
}

#[test]
fn a_broker_of_mqtt_3_1_1_alone_is_refused_by_name() {
    let test = "a_broker_of_mqtt_3_1_1_alone_is_refused_by_name";
    let Some((_broker, port, _folder)) = older_broker(test) else { return };
    let mut plant = Watched::on(port, "sqlite = \"agent.db\"", "");
    let (code, said) = plant.said("check");
    assert_eq!(code, Some(69), "{said}");
    assert!(
        said.contains("the broker speaks MQTT 3.1.1 alone, and the agent needs MQTT 5"),
        "{said}"
    );
    plant.start();
    plant.hears("the broker does not speak MQTT 5");
    until("health", PATIENCE, || {
        let (status, body) = plant.status("/healthz")?;
        (status == 200 && body.contains("the broker speaks MQTT 3.1.1 alone")).then_some(())
    });
    assert!(plant.log().contains("MQTT 3.1.1 alone"), "{}", plant.log());
    // said once, not at each attempt
    assert_eq!(plant.count("the broker does not speak MQTT 5"), 1);
}

/// A gateway's `check` and log named the end of a connection, and no version.
#[test]
fn a_gateway_at_a_broker_of_mqtt_3_1_1_alone_says_which_setting_helps() {
    let test = "a_gateway_at_a_broker_of_mqtt_3_1_1_alone_says_which_setting_helps";
    let Some((_broker, port, _folder)) = older_broker(test) else { return };
    let folder = tempfile::tempdir().expect("folder");
    let edge = edge_at(folder.path(), free_port(), port);
    until("the log", PATIENCE, || {
        let log = std::fs::read_to_string(folder.path().join("edge.log")).ok()?;
        log.contains("the broker speaks MQTT 3.1.1 alone: set protocol").then_some(())
    });
    drop(edge);
    let config = folder.path().join("edge.toml");
    let check = || {
        let mut command = Command::new(binary("pdm-edge"));
        let output = command.args(["check", "--config"]).arg(&config).output().expect("runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, said) = check();
    assert!(code == Some(69) && said.contains("protocol = \"3.1.1\" in [broker]"), "{said}");
    let text = std::fs::read_to_string(&config).expect("read");
    let text = text.replace("[broker]\n", "[broker]\nprotocol = \"3.1.1\"\n");
    std::fs::write(&config, text).expect("written");
    let (code, said) = check();
    assert!(code == Some(0) && said.contains("takes the connection"), "{said}");
}

/// Brokers with such limits take the agent's connection and refuse every gateway's.
#[test]
fn a_broker_without_retained_messages_or_qos_1_is_told_by_name() {
    let test = "a_broker_without_retained_messages_or_qos_1_is_told_by_name";
    for (limit, title, said) in [
        ("retain_available false", "takes no retained messages", "retain_available true"),
        ("max_qos 0", "does not take QoS 1", "max_qos 2"),
    ] {
        let lines = format!("allow_anonymous true\n{limit}\n");
        let broker = Mosquitto::start_with(test, Persistence::Memory, &lines);
        let Some(broker) = broker else { return };
        let mut plant = Watched::on(broker.port(), "sqlite = \"agent.db\"", "");
        let (code, told) = plant.said("check");
        assert!(code == Some(69) && told.contains(said), "{limit}: {told}");
        plant.start();
        plant.hears(title);
        until("health", PATIENCE, || {
            let (status, body) = plant.status("/healthz")?;
            (status == 200 && body.contains(said)).then_some(())
        });
    }
}
