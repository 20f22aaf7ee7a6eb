//! The contracts on disk match the types: `config/schemas/*.json` and `asyncapi.yaml` are generated
//! here and compared. `PDM_UPDATE=1` writes them again.

use std::fmt::Write as _;
use std::path::PathBuf;

use pdm_shared::capture::{CaptureDemand, CaptureDocument};
use pdm_shared::delivery::{
    Acknowledgement, DeadLetter, GatewayStatus, Notification, Receipt, State,
};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::episode::{EpisodeDocument, Shelve};
use pdm_shared::event::Event;
use pdm_shared::follow_up::FollowUpReport;
use pdm_shared::id::BearingKey;
use pdm_shared::relearn::RelearnRequest;
use pdm_shared::topic::{BearingTopic, GatewayTopic, Prefix, Topic};
use schemars::{Schema, schema_for};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../config/schemas")
}

/// Compares `text` with the file, or writes the file with `PDM_UPDATE=1`.
fn compare(name: &str, text: &str) {
    let path = folder().join(name);
    if std::env::var_os("PDM_UPDATE").is_some() {
        std::fs::write(&path, text).expect("written");
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        there == text,
        "config/schemas/{name} is not what the types say; if the change is meant, run \
         PDM_UPDATE=1 cargo test -p pdm-shared --test schemas and look at the difference"
    );
}

/// The documents on the wire: file, value of the `schema` field, schema.
fn documents() -> [(&'static str, &'static str, Schema); 13] {
    [
        ("event", "pdm.event/1", schema_for!(Event)),
        ("state", "pdm.state/1", schema_for!(State)),
        ("gateway", "pdm.gateway/1", schema_for!(GatewayStatus)),
        ("receipt", "pdm.receipt/1", schema_for!(Receipt)),
        ("diagnosis", "pdm.diagnosis/1", schema_for!(Diagnosis)),
        ("notification", "pdm.notification/1", schema_for!(Notification)),
        ("ack", "pdm.ack/1", schema_for!(Acknowledgement)),
        ("follow_up", "pdm.follow_up/1", schema_for!(FollowUpReport)),
        ("episode", "pdm.episode/1", schema_for!(EpisodeDocument)),
        ("shelve", "pdm.shelve/1", schema_for!(Shelve)),
        ("capture_demand", "pdm.capture_demand/1", schema_for!(CaptureDemand)),
        ("relearn", "pdm.relearn/1", schema_for!(RelearnRequest)),
        ("dead_letter", "pdm.dead_letter/1", schema_for!(DeadLetter)),
    ]
}

#[test]
fn the_schemas_on_disk_are_those_of_the_types() {
    for (file, version, schema) in documents().into_iter().chain(files()) {
        let mut json = serde_json::to_value(schema).expect("json");
        // the version is fixed: the only allowed value of the field
        json["properties"]["schema"]["const"] = version.into();
        let text = serde_json::to_string_pretty(&json).expect("json") + "\n";
        compare(&format!("{file}.json"), &text);
    }
}

/// Documents that are never sent by MQTT: file, value of the `schema` field, schema.
fn files() -> [(&'static str, &'static str, Schema); 1] {
    [("capture", "pdm.capture/1", schema_for!(CaptureDocument))]
}

/// Schemas of documents that are never sent by MQTT; `agent/report/tests/reports` compares these
/// with their types.
const OF_THE_AGENT: [&str; 2] = ["report.json", "work_order.json"];

#[test]
fn no_schema_on_disk_is_without_its_type() {
    let all = documents().into_iter().chain(files());
    let known: Vec<String> = all.map(|(file, ..)| format!("{file}.json")).collect();
    for entry in std::fs::read_dir(folder()).expect("folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name != "asyncapi.yaml" && !OF_THE_AGENT.contains(&name.as_str()) {
            assert!(known.contains(&name), "{name}: no type has this schema");
        }
    }
}

/// One topic of the contract.
struct Channel {
    name: &'static str,
    topic: Topic,
    document: &'static str,
    edge: Side,
    agent: Side,
    retain: bool,
    what: &'static str,
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Sends,
    Receives,
    Neither,
}

fn bearing(what: BearingTopic) -> Topic {
    Topic::Bearing {
        key: BearingKey::parse("{site}", "{equipment_id}", "{bearing_id}").expect("levels"),
        what,
    }
}

fn gateway(what: GatewayTopic) -> Topic {
    Topic::Gateway {
        site: "{site}".parse().expect("a level"),
        gateway: "{gateway_id}".parse().expect("a level"),
        what,
    }
}

fn channel(
    name: &'static str,
    topic: Topic,
    document: &'static str,
    (edge, agent): (Side, Side),
    retain: bool,
    what: &'static str,
) -> Channel {
    Channel { name, topic, document, edge, agent, retain, what }
}

fn channels() -> Vec<Channel> {
    from_gateways().into_iter().chain(from_agent_and_staff()).collect()
}

fn from_gateways() -> Vec<Channel> {
    use Side::{Neither, Receives, Sends};
    vec![
        channel(
            "event",
            bearing(BearingTopic::Event),
            "event",
            (Sends, Receives),
            false,
            "One event per window and measuring point.",
        ),
        channel(
            "gateway_event",
            Topic::GatewayEvent {
                key: BearingKey::parse("{site}", "{equipment_id}", "{bearing_id}").expect("levels"),
                gateway: "{gateway_id}".parse().expect("a level"),
            },
            "event",
            (Sends, Receives),
            false,
            "The same event under a topic that names its gateway, for access rules of the broker.",
        ),
        channel(
            "state",
            bearing(BearingTopic::State),
            "state",
            (Sends, Neither),
            true,
            "The last event in short.",
        ),
        channel(
            "status",
            gateway(GatewayTopic::Status),
            "gateway",
            (Sends, Receives),
            true,
            "Birth document; the last will says offline.",
        ),
        channel(
            "receipt",
            gateway(GatewayTopic::Receipt),
            "receipt",
            (Receives, Sends),
            true,
            "What is stored: what the edge may forget and must send again.",
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table: one entry a topic")]
fn from_agent_and_staff() -> Vec<Channel> {
    use Side::{Neither, Receives, Sends};
    vec![
        channel(
            "diagnosis",
            bearing(BearingTopic::Diagnosis),
            "diagnosis",
            (Neither, Sends),
            true,
            "The last diagnosis.",
        ),
        channel(
            "notification",
            bearing(BearingTopic::Notification),
            "notification",
            (Neither, Sends),
            false,
            "What staff is told. A silent gateway is told under the equipment 'gateway'.",
        ),
        channel(
            "ack",
            bearing(BearingTopic::Ack),
            "ack",
            (Neither, Receives),
            false,
            "Acknowledgement by staff.",
        ),
        channel(
            "follow_up",
            bearing(BearingTopic::FollowUp),
            "follow_up",
            (Neither, Receives),
            false,
            "Report by staff on the work that a judgement asked for, and on what was found.",
        ),
        channel(
            "episode",
            bearing(BearingTopic::Episode),
            "episode",
            (Neither, Sends),
            true,
            "The last episode of the bearing.",
        ),
        channel(
            "shelve",
            bearing(BearingTopic::Shelve),
            "shelve",
            (Neither, Receives),
            false,
            "Request by staff to be told nothing of the bearing for a time.",
        ),
        channel(
            "capture",
            bearing(BearingTopic::Capture),
            "capture_demand",
            (Receives, Sends),
            false,
            "Request to the gateway to capture the waveform of the bearing.",
        ),
        channel(
            "relearn",
            bearing(BearingTopic::Relearn),
            "relearn",
            (Receives, Sends),
            false,
            "Request to the gateway to learn the bearing anew, after it was replaced.",
        ),
        channel(
            "dead_letter",
            Topic::DeadLetter,
            "dead_letter",
            (Neither, Sends),
            false,
            "A refused message with the reason, the first time it comes.",
        ),
    ]
}

/// The AsyncAPI 3.0 document: https://www.asyncapi.com/docs/reference/specification/v3.0.0
fn asyncapi() -> String {
    let prefix = Prefix::default();
    let mut text = String::from(
        "# Generated from the types by shared/tests/schemas.rs (PDM_UPDATE=1); do not edit.\n\
         asyncapi: 3.0.0\n\
         info:\n  title: PdM bearing predictive maintenance\n  version: 1.0.0\n  description: \
         >-\n    Topics between edge gateways, agent and staff. QoS 1 everywhere. The first levels \
         (pdm/v1)\n    are configurable.\n\
         defaultContentType: application/json\n\
         channels:\n",
    );
    write_channels(&mut text, &prefix);
    write_operations(&mut text);
    write_components(&mut text);
    text
}

fn write_channels(text: &mut String, prefix: &Prefix) {
    for channel in channels() {
        let address = channel.topic.under(prefix);
        let _infallible = write!(
            text,
            "  {name}:\n    address: '{address}'\n    description: \"{what}\"\n    \
             messages:\n      {name}:\n        $ref: '#/components/messages/{document}'\n",
            name = channel.name,
            what = channel.what,
            document = channel.document,
        );
        let parameters: Vec<&str> = address
            .split('/')
            .filter_map(|level| level.strip_prefix('{')?.strip_suffix('}'))
            .collect();
        if !parameters.is_empty() {
            text.push_str("    parameters:\n");
        }
        for parameter in parameters {
            let _infallible = writeln!(
                text,
                "      {parameter}:\n        $ref: '#/components/parameters/{parameter}'"
            );
        }
        let _infallible = writeln!(
            text,
            "    bindings:\n      mqtt:\n        bindingVersion: 0.2.0\n    x-retain: {}",
            channel.retain
        );
    }
}

fn write_operations(text: &mut String) {
    text.push_str("operations:\n");
    for channel in channels() {
        for (who, side) in [("edge", channel.edge), ("agent", channel.agent)] {
            let action = match side {
                Side::Sends => "send",
                Side::Receives => "receive",
                Side::Neither => continue,
            };
            let _infallible = write!(
                text,
                "  {who}_{action}s_{name}:\n    action: {action}\n    channel:\n      $ref: \
                 '#/channels/{name}'\n    bindings:\n      mqtt:\n        qos: 1\n        retain: \
                 {retain}\n        bindingVersion: 0.2.0\n",
                name = channel.name,
                retain = channel.retain && side == Side::Sends,
            );
        }
    }
}

fn write_components(text: &mut String) {
    text.push_str("components:\n  parameters:\n");
    for (parameter, what) in [
        ("site", "A plant or factory."),
        ("equipment_id", "A machine."),
        ("bearing_id", "A bearing of the machine."),
        ("gateway_id", "An edge gateway."),
    ] {
        let _infallible = writeln!(text, "    {parameter}:\n      description: {what}");
    }
    text.push_str("  messages:\n");
    for (file, version, _) in documents() {
        let _infallible = write!(
            text,
            "    {file}:\n      name: {version}\n      contentType: application/json\n      \
             payload:\n        $ref: './{file}.json'\n"
        );
    }
}

#[test]
fn the_asyncapi_document_describes_the_topics_of_the_code() {
    compare("asyncapi.yaml", &asyncapi());
}

#[test]
fn every_reference_of_the_asyncapi_document_leads_somewhere() {
    let text = std::fs::read_to_string(folder().join("asyncapi.yaml")).expect("there");
    for line in text.lines() {
        let Some(target) = line.trim().strip_prefix("$ref: '") else { continue };
        let target = target.trim_end_matches('\'');
        if let Some(file) = target.strip_prefix("./") {
            assert!(folder().join(file).is_file(), "{target}");
        } else {
            let name = target.rsplit('/').next().expect("a name");
            assert!(text.lines().any(|line| line.trim() == format!("{name}:")), "{target}");
        }
    }
}
