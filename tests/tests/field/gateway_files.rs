//! The configuration of a gateway that is read again: one that is refused, cut off, or with which
//! the gateway does not start takes nothing away, and staff hears of it. Issue 33, point 3.

use std::path::Path;
use std::process::{Command, Stdio};

use pdm_harness::{Child, Mosquitto, Persistence, binary, free_port, until};

use crate::watched::{PATIENCE, Watched};

const TROUBLE: &str = "[Connection] gateway gw-09 is in trouble";

/// The configuration of a gateway whose simulated bearing is measured each second.
pub(crate) fn configuration(folder: &Path, broker: u16, admin: u16) -> String {
    format!(
        "gateway_id = \"gw-09\"\nsite = \"ulsan-1\"\n[spool]\npath = \"{}\"\n\
         [broker]\naddresses = [\"127.0.0.1:{broker}\"]\n\
         [admin]\nlisten = \"127.0.0.1:{admin}\"\n\
         [[source]]\nname = \"pump\"\nkind = \"simulator\"\npace = 1.0\nrate_hz = 12800.0\n\
         period_s = 60.0\n[source.simulator]\nfault = \"outer_race\"\nsnapshots = 4000\n\
         snapshot_s = 1.0\nseed = 1\n[[source.channel]]\nchannel = 0\nequipment = \"P-901\"\n\
         bearing = \"DE\"\nmeasuring_point = \"DE-H\"\nbearing_type = \"6205\"\n\
         rpm = 1797.0\nmachine_group = \"medium_rigid\"\n",
        folder.join("spool.db").display()
    )
}

/// A gateway as a program.
pub(crate) struct Edge<'a> {
    folder: &'a Path,
    program: Child,
}

impl<'a> Edge<'a> {
    pub(crate) fn start(folder: &'a Path, text: &str) -> Self {
        std::fs::write(folder.join("edge.toml"), text).expect("written");
        let log = std::fs::File::create(folder.join("edge.log")).expect("log");
        let mut command = Command::new(binary("pdm-edge"));
        command.args(["run", "--config"]).arg(folder.join("edge.toml"));
        let program = Child::start(command.stdout(Stdio::null()).stderr(log));
        Self { folder, program }
    }

    /// Has it read this configuration again.
    fn renew(&self, text: &str) {
        std::fs::write(self.folder.join("edge.toml"), text).expect("written");
        let id = self.program.id().to_string();
        assert!(Command::new("kill").args(["-HUP", &id]).status().expect("kill").success());
    }

    /// Stops it in order.
    pub(crate) fn stop(mut self) {
        assert!(self.program.terminate().success(), "{}", self.log());
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("edge.log")).unwrap_or_default()
    }

    pub(crate) fn until_logged(&self, text: &str, times: usize) {
        until(text, PATIENCE, || {
            let log = std::fs::read_to_string(self.folder.join("edge.log")).ok()?;
            (log.matches(text).count() >= times).then_some(())
        });
    }
}

/// R-EDGE-11
#[test]
fn a_configuration_that_a_gateway_refuses_takes_nothing_away_and_staff_is_told() {
    let test = "a_configuration_that_a_gateway_refuses_takes_nothing_away_and_staff_is_told";
    let Some(mut plant) = Watched::new(test, "sqlite = \"agent.db\"", "") else { return };
    plant.start();
    plant.works();
    let folder = tempfile::tempdir().expect("folder");
    let sound = configuration(folder.path(), plant.broker_port(), free_port());
    let edge = Edge::start(folder.path(), &sound);
    edge.until_logged("measuring", 1);

    // a mistyped key
    edge.renew(&sound.replace("[admin]", "[admin]\ncolour = \"red\""));
    plant.hears(TROUBLE);
    plant.hears("the new configuration is refused, the one of before stays");
    edge.renew(&sound);
    edge.until_logged("measuring", 2);
    plant.hears("[Cleared] gateway gw-09 is out of trouble");

    // cut off before its sources: valid, and nothing would be measured
    let (cut_off, _rest) = sound.split_once("[[source]]").expect("a source");
    edge.renew(cut_off);
    plant.hears_times(TROUBLE, 2);
    plant.hears("it lacks every source");

    // valid, and the gateway does not start with it: its address is taken
    let holder = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = holder.local_addr().expect("bound");
    let (head, rest) = sound.split_once("listen = ").expect("an address");
    let (_free, rest) = rest.split_once('\n').expect("a line");
    edge.renew(&format!("{head}listen = \"{taken}\"\n{rest}"));
    edge.until_logged("the edge does not start with the new configuration", 1);
    edge.until_logged("measuring", 3);
    edge.renew(&sound);
    edge.until_logged("measuring", 4);
    plant.hears_times("[Cleared] gateway gw-09 is out of trouble", 2);
}

/// R-EDGE-10: the broker's rules let a gateway in and refuse its events. It measures and keeps
/// them, and no alarm can come of them.
#[test]
fn a_gateway_whose_events_the_broker_refuses_is_told_to_staff() {
    let test = "a_gateway_whose_events_the_broker_refuses_is_told_to_staff";
    let folder = tempfile::tempdir().expect("folder");
    let rules = folder.path().join("acl");
    let all = "topic read pdm/#\ntopic write pdm/v1/+/gateway/#\ntopic write pdm/v1/+/+/+/state\n\
               topic write pdm/v1/+/+/+/notification\ntopic write pdm/v1/+/+/+/diagnosis\n";
    std::fs::write(&rules, all).expect("written");
    let lines = format!("allow_anonymous true\nacl_file {}\n", rules.display());
    let Some(broker) = Mosquitto::start_with(test, Persistence::Memory, &lines) else { return };
    let mut plant = Watched::on(broker.port(), "sqlite = \"agent.db\"", "");
    plant.start();
    plant.works();
    let edge =
        Edge::start(folder.path(), &configuration(folder.path(), broker.port(), free_port()));
    edge.until_logged("measuring", 1);
    until("staff to be told", 2 * PATIENCE, || {
        let refused = plant.count("the broker refuses this gateway's events");
        // some brokers close the connection in place of an answer
        let thrown_out = plant.count("gw-09");
        (refused + thrown_out > 0).then_some(())
    });
}
