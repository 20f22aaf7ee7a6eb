//! Requests over the broker to learn a bearing anew, by the real program: done once and on disk,
//! answered in the status, also over a kill; those that are not obeyed are answered with the
//! reason.

use std::process::{Command, Stdio};

use pdm_harness::{Child, Mosquitto, Persistence, free_port, program, until};
use pdm_shared::delivery::GatewayStatus;
use pdm_shared::event::Event;
use pdm_shared::relearn::{RelearnAnswer, RelearnStep};

/// A broker and the clients that speak to it.
struct Floor {
    broker: Mosquitto,
    publish: std::path::PathBuf,
    subscribe: std::path::PathBuf,
    folder: tempfile::TempDir,
}

impl Floor {
    fn start(test: &str) -> Option<Self> {
        let broker = Mosquitto::start(test, Persistence::Memory)?;
        let (publish, subscribe) =
            (program(test, "mosquitto_pub")?, program(test, "mosquitto_sub")?);
        let folder = tempfile::tempdir().expect("folder");
        let text = include_str!("../../../config/edge.toml")
            .replace("127.0.0.1:1883", &format!("127.0.0.1:{}", broker.port()))
            .replace("127.0.0.1:9101", &format!("127.0.0.1:{}", free_port()))
            .replace("../var/edge/spool.db", "spool.db")
            .replace("snapshots = 300", "snapshots = 100000");
        std::fs::write(folder.path().join("edge.toml"), text).expect("written");
        Some(Self { broker, publish, subscribe, folder })
    }

    fn run(&self) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pdm-edge"));
        command.args(["run", "--config"]).arg(self.folder.path().join("edge.toml"));
        Child::start(command.stdout(Stdio::null()).stderr(Stdio::null()))
    }

    fn send(&self, payload: &str, more: &[&str]) {
        let topic = "pdm/v1/ulsan-1/P-101/DE/relearn";
        let port = self.broker.port().to_string();
        let sent = Command::new(&self.publish)
            .args(["-p", &port, "-V", "mqttv5", "-q", "1", "-t", topic, "-m", payload])
            .args(more)
            .status();
        assert!(sent.expect("runs").success());
    }

    /// Returns the next message of a topic.
    fn next(&self, topic: &str) -> Option<Vec<u8>> {
        let port = self.broker.port().to_string();
        let output = Command::new(&self.subscribe)
            .args(["-p", &port, "-C", "1", "-W", "5", "-t", topic])
            .output()
            .expect("runs");
        output.status.success().then_some(output.stdout)
    }

    fn answer_to(&self, id: &str) -> Option<RelearnAnswer> {
        let status = self.next("pdm/v1/ulsan-1/gateway/gw-01/status")?;
        let status: GatewayStatus = serde_json::from_slice(&status).ok()?;
        status.check().expect("within its bounds");
        status.relearn_answers.into_iter().find(|answer| answer.request_id.to_string() == id)
    }

    fn until_step(&self, id: &str, step: RelearnStep) -> RelearnAnswer {
        until("the gateway's answer", 60, || {
            self.answer_to(id).filter(|answer| answer.step == step)
        })
    }

    /// How many windows the baseline of the next event has.
    fn learnt(&self) -> u64 {
        let event = until("an event", 60, || {
            let event = self.next("pdm/v1/ulsan-1/P-101/DE/event")?;
            serde_json::from_slice::<Event>(&event).ok()
        });
        event.anomaly.baseline.windows
    }
}

fn request(id: &str, asked_at: &str) -> String {
    format!(
        "{{\"schema\":\"pdm.relearn/1\",\"request_id\":\"{id}\",\"by\":\"kim\",\
         \"asked_at\":\"{asked_at}\"}}"
    )
}

fn now() -> String {
    pdm_service::clock::Clock::now(&pdm_service::clock::SystemClock).to_string()
}

/// R-EDGE-10, R-UI-1: what was learnt is forgotten once by a request, however often it is
/// delivered, and answered when that is on disk; a kill in between loses neither.
#[test]
fn a_request_over_the_broker_is_done_once_and_answered_also_over_a_kill() {
    let test = "a_request_over_the_broker_is_done_once_and_answered_also_over_a_kill";
    let Some(floor) = Floor::start(test) else { return };
    let mut edge = floor.run();
    until("a baseline that grows", 60, || (floor.learnt() >= 12).then_some(()));
    let first = "019390a3-5b2a-7c31-9f00-000000000001";
    floor.send(&request(first, &now()), &[]);
    floor.until_step(first, RelearnStep::Done);
    let after = floor.learnt();
    assert!(after < 12, "the baseline begins anew: {after}");
    until("the new baseline to grow", 60, || (floor.learnt() >= 12).then_some(()));
    floor.send(&request(first, &now()), &[]);
    assert!(floor.learnt() >= 12, "the same request empties nothing again");

    // killed as soon as the next one has left, and asked again after the start, as the agent does
    let second = "019390a3-5b2a-7c31-9f00-000000000002";
    floor.send(&request(second, &now()), &[]);
    edge.kill();
    let mut running = floor.run();
    floor.send(&request(second, &now()), &[]);
    floor.until_step(second, RelearnStep::Done);
    until("the new baseline to grow", 60, || (floor.learnt() >= 12).then_some(()));
    running.kill();
    let _again = floor.run();
    floor.send(&request(second, &now()), &[]);
    floor.until_step(second, RelearnStep::Done);
    assert!(floor.learnt() >= 12, "it was done before the last start");
}

/// R-EDGE-10: a request that is retained, old or ahead is answered with the reason and changes
/// nothing; what is none is no answer.
#[test]
fn a_request_that_is_not_obeyed_is_answered_with_the_reason() {
    let test = "a_request_that_is_not_obeyed_is_answered_with_the_reason";
    let Some(floor) = Floor::start(test) else { return };
    let _edge = floor.run();
    floor.learnt();
    for (number, asked_at, more, cause) in [
        (1, now(), &["-r"][..], "retained"),
        (2, "2026-01-01T00:00:00.000Z".to_owned(), &[][..], "old"),
        (3, "2099-01-01T00:00:00.000Z".to_owned(), &[][..], "ahead"),
    ] {
        let id = format!("019390a3-5b2a-7c31-9f00-00000000000{number}");
        floor.send(&request(&id, &asked_at), more);
        let answer = floor.until_step(&id, RelearnStep::Refused);
        assert_eq!(answer.refusal.map(|refusal| refusal.cause).as_deref(), Some(cause));
    }
    for wrong in ["{}", "[]", "{\"schema\":\"pdm.relearn/9\"}", "not JSON"] {
        floor.send(wrong, &[]);
    }
    let last = "019390a3-5b2a-7c31-9f00-000000000009";
    floor.send(&request(last, &now()), &[]);
    floor.until_step(last, RelearnStep::Done);
}
