//! The files of a plant change: a configuration that is refused or cut off, a store that was there
//! and is gone. What would make an alarm tell nobody is said in health and to staff. Issue 33,
//! points 2 and 3.

use std::process::{Command, Stdio};

use pdm_harness::{Child, Mosquitto, Persistence, program, until};

use crate::other_program::OtherProgram;
use crate::watched::{PATIENCE, Watched};

const STORE: &str = "sqlite = \"agent.db\"";
const REFUSED: &str = "the new configuration is refused";
const LOST: &str = "the store has lost its latest rows";

fn configuration(plant: &Watched) -> String {
    std::fs::read_to_string(plant.path().join("agent.toml")).expect("there")
}

fn write(plant: &Watched, text: &str) {
    std::fs::write(plant.path().join("agent.toml"), text).expect("written");
}

/// Has the agent read this configuration again.
fn renew(plant: &mut Watched, text: &str) {
    write(plant, text);
    let id = plant.agent().id().to_string();
    let sent = Command::new("kill").args(["-HUP", &id]).status().expect("kill");
    assert!(sent.success());
}

/// Waits until health answers this status with this text.
fn health_says(plant: &Watched, status: u16, text: &str) {
    until(text, PATIENCE, || {
        let (answered, body) = plant.status("/healthz")?;
        (answered == status && body.contains(text)).then_some(())
    });
}

fn metric_is(plant: &Watched, line: &str) {
    until(line, PATIENCE, || plant.status("/metrics")?.1.contains(line).then_some(()));
}

/// The configuration without the web hook, and without the broker's topic unless `mqtt`.
fn without_hook(text: &str, mqtt: bool) -> String {
    let (before, after) = text.split_once("[[notify.webhook]]").expect("a hook");
    let (_hook, knowledge) = after.split_once("[knowledge]").expect("a knowledge base");
    format!("{before}mqtt = {mqtt}\n[knowledge]{knowledge}")
}

/// R-AGENT-10
#[test]
fn a_configuration_that_is_refused_stands_in_health_and_metrics_and_is_told_once() {
    let test = "a_configuration_that_is_refused_stands_in_health_and_metrics_and_is_told_once";
    let Some(mut plant) = Watched::new(test, STORE, "") else { return };
    plant.start();
    plant.works();
    metric_is(&plant, "pdm_agent_configuration_refused 0");
    let sound = configuration(&plant);
    let wrong = sound.replace("[reports]", "[reports]\ncolour = \"red\"");
    for _ in 0..2 {
        renew(&mut plant, &wrong);
        health_says(&plant, 200, &format!("degraded: {REFUSED}"));
    }
    let (_, body) = plant.status("/healthz").expect("answers");
    assert!(body.contains("agent.toml:8:") && body.contains("colour"), "{body}");
    metric_is(&plant, "pdm_agent_configuration_refused 1");
    metric_is(&plant, "pdm_agent_configurations_refused_total 2");
    plant.hears("[Agent] the new configuration is refused");
    renew(&mut plant, &sound);
    health_says(&plant, 200, "ok");
    metric_is(&plant, "pdm_agent_configuration_refused 0");
    assert_eq!(plant.count("[Agent] the new configuration is refused"), 1, "told once");
}

/// R-AGENT-10: a file that is cut off while it is written can be valid.
#[test]
fn a_configuration_that_was_cut_off_takes_no_way_to_staff_and_no_broker_away() {
    let test = "a_configuration_that_was_cut_off_takes_no_way_to_staff_and_no_broker_away";
    let Some(mut plant) = Watched::new(test, STORE, "") else { return };
    plant.start();
    plant.works();
    let sound = configuration(&plant);
    let cut = |at: &str| sound.split_once(at).expect("a section").0.to_owned();
    renew(&mut plant, &cut("[notify]"));
    health_says(&plant, 200, "it lacks every address of staff");
    let (before, after) = sound.split_once("[broker]").expect("a broker");
    let (_broker, after) = after.split_once("[http]").expect("an address");
    renew(&mut plant, &format!("{before}[http]{after}"));
    health_says(&plant, 200, "it lacks the broker");
    let (before, after) = sound.split_once("[http]").expect("an address");
    let (_http, after) = after.split_once("[reports]").expect("reports");
    renew(&mut plant, &format!("{before}[reports]{after}"));
    health_says(&plant, 200, "it lacks the address of pages and health");
    renew(&mut plant, &without_hook(&sound, false));
    health_says(&plant, 200, "it lacks every way to staff");
    plant.fault("P-401");
    plant.hears("P-401");
}

/// R-AGENT-10
#[test]
fn an_agent_that_can_tell_nobody_is_not_healthy() {
    let test = "an_agent_that_can_tell_nobody_is_not_healthy";
    let Some(mut plant) = Watched::new(test, STORE, "") else { return };
    write(&plant, &without_hook(&configuration(&plant), false));
    plant.start();
    health_says(&plant, 503, "nobody can be told of an alarm");
}

/// R-AGENT-10: the broker's topic is the only way to staff, and the broker's rules refuse it.
#[test]
fn a_topic_that_the_broker_refuses_is_no_way_to_staff() {
    let test = "a_topic_that_the_broker_refuses_is_no_way_to_staff";
    if program(test, "mosquitto_pub").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("folder");
    let rules = folder.path().join("acl");
    let may_write = ["event", "diagnosis", "episode", "receipt"];
    let lines = may_write.map(|what| format!("topic write pdm/v1/+/+/+/{what}\n"));
    let text = format!("topic read pdm/#\n{}", lines.concat());
    std::fs::write(&rules, &text).expect("written");
    let lines = format!("allow_anonymous true\nacl_file {}\n", rules.display());
    let Some(mut broker) = Mosquitto::start_with(test, Persistence::Memory, &lines) else { return };
    let mut plant = Watched::on(broker.port(), STORE, "");
    write(&plant, &without_hook(&configuration(&plant), true));
    plant.start();
    plant.works();
    plant.fault("P-402");
    health_says(&plant, 503, "1 alarms have reached nobody");
    let _receiver = Subscriber::start(broker.port());
    std::fs::write(&rules, "topic readwrite pdm/#\n").expect("written");
    broker.stop();
    broker.restart();
    health_says(&plant, 200, "");
}

/// A receiver of the notifications on the topic, which connects anew when the broker is back.
struct Subscriber(Child);

impl Subscriber {
    fn start(port: u16) -> Self {
        let mut command = Command::new("mosquitto_sub");
        command.args(["-V", "5", "-q", "1", "-t", "pdm/v1/+/+/+/notification", "-p"]);
        command.arg(port.to_string()).stdout(Stdio::piped());
        Self(Child::start(&mut command))
    }
}

/// R-AGENT-10: the broker's topic is the only way to staff, and its receiver is away. The broker
/// keeps nothing for a client without a session, and the alarm counted as told.
#[test]
fn a_topic_that_nobody_subscribes_to_tells_nobody_until_somebody_does() {
    let test = "a_topic_that_nobody_subscribes_to_tells_nobody_until_somebody_does";
    let Some(mut plant) = Watched::new(test, STORE, "") else { return };
    write(&plant, &without_hook(&configuration(&plant), true));
    plant.start();
    plant.works();
    plant.fault("P-405");
    health_says(&plant, 503, "1 alarms have reached nobody");
    assert!(plant.log().contains("nobody subscribes to it"), "{}", plant.log());
    let (code, why) = plant.said("why ulsan-1/P-405/DE");
    assert!(code == Some(0) && why.contains("no way has delivered it yet"), "{why}");
    let mut receiver = Subscriber::start(plant.broker_port());
    health_says(&plant, 200, "");
    let (_, why) = plant.said("why ulsan-1/P-405/DE");
    assert!(why.contains("on the broker's topic alone"), "{why}");
    receiver.0.kill();
}

/// R-AGENT-10: a clean-up of the outbox, or one table that is restored, takes an alarm away that
/// nobody has heard of.
#[test]
fn an_alarm_whose_rows_somebody_deletes_is_told_again() {
    let test = "an_alarm_whose_rows_somebody_deletes_is_told_again";
    let Some(mut plant) = Watched::new(test, STORE, "") else { return };
    plant.start();
    plant.works();
    let Some(mut keeper) = OtherProgram::open(test, &plant.path().join("agent.db")) else { return };
    plant.fault("P-406");
    plant.hears("P-406");
    keeper.runs("DELETE FROM outbox");
    plant.hears_times("P-406", 2);
    metric_is(&plant, "pdm_agent_notify_rows_lost_total 1");
    assert!(plant.log().contains("somebody has deleted them"), "{}", plant.log());
}

/// R-AGENT-10: SQLite takes a file without its log, or an empty one, as it is.
#[test]
fn a_store_whose_rows_are_gone_at_a_start_is_told_once_with_what_to_do() {
    let test = "a_store_whose_rows_are_gone_at_a_start_is_told_once_with_what_to_do";
    let Some(mut plant) = Watched::new(test, STORE, "") else { return };
    let marked = |plant: &Watched| {
        let marker = plant.path().join("agent.db.last");
        until("the marker", PATIENCE, || marker.exists().then_some(()));
    };
    plant.start();
    plant.works();
    plant.fault("P-403");
    plant.hears("P-403");
    marked(&plant);
    plant.agent().kill();
    plant.stop();
    std::fs::remove_file(plant.path().join("agent.db-wal")).expect("the log");
    let _shared = std::fs::remove_file(plant.path().join("agent.db-shm"));
    plant.start();
    plant.hears(LOST);
    health_says(&plant, 200, "degraded: the store");
    metric_is(&plant, "pdm_agent_store_rows_missing 1");
    plant.hears("restore the latest backup");
    assert!(plant.log().contains("lacks what the agent wrote last"), "{}", plant.log());
    plant.agent().terminate();
    plant.stop();

    plant.start();
    health_says(&plant, 200, "ok");
    assert_eq!(plant.count(LOST), 1, "told once");
    plant.agent().terminate();
    plant.stop();
    std::fs::write(plant.path().join("agent.db"), "").expect("emptied");
    plant.start();
    plant.hears_times(LOST, 2);
    health_says(&plant, 200, "agent.db is empty");
}
