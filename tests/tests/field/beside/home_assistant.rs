//! Home Assistant's MQTT discovery: the messages arrive retained at a real broker, have the form
//! that is documented (<https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery>), and
//! their templates turn what the programs really publish into values that the entity takes.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use minijinja::Environment;
use pdm_harness::until;
use pdm_shared::time::Timestamp;
use serde_json::Value;

use crate::metrics::edge_at;
use crate::watched::{PATIENCE, Watched};

/// The keys that every entity may have here, of those that the documentation lists.
const COMMON: [&str; 11] = [
    "name",
    "unique_id",
    "state_topic",
    "value_template",
    "device_class",
    "entity_category",
    "availability_topic",
    "availability_template",
    "json_attributes_topic",
    "json_attributes_template",
    "device",
];
/// Further ones of a sensor.
const SENSOR: [&str; 4] =
    ["unit_of_measurement", "state_class", "suggested_display_precision", "options"];
const DEVICE: [&str; 6] =
    ["identifiers", "name", "manufacturer", "model", "suggested_area", "configuration_url"];

/// What the broker retains: payloads by topic.
fn retained(port: u16) -> BTreeMap<String, String> {
    let out = Command::new("mosquitto_sub")
        .args(["-V", "5", "-h", "127.0.0.1", "-p", &port.to_string(), "-W", "1"])
        .args(["--retained-only", "-F", "%t\t%p", "-t", "homeassistant/#", "-t", "pdm/v1/#"])
        .output()
        .expect("runs");
    let text = String::from_utf8(out.stdout).expect("UTF-8");
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    lines.map(|(topic, payload)| (topic.to_owned(), payload.to_owned())).collect()
}

/// Holds one message against the documented form.
fn is_of_the_form(topic: &str, told: &Value) {
    let levels: Vec<&str> = topic.split('/').collect();
    let ["homeassistant", component, node, object, "config"] = levels[..] else {
        panic!("{topic}")
    };
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    assert!(node.chars().chain(object.chars()).all(is_allowed), "{topic}");
    let keys = told.as_object().expect("an object").keys();
    for key in keys {
        let of_sensor = component == "sensor" && SENSOR.contains(&key.as_str());
        assert!(COMMON.contains(&key.as_str()) || of_sensor || key == "origin", "{topic}: {key}");
    }
    for key in ["name", "unique_id", "state_topic", "value_template"] {
        assert!(told[key].as_str().is_some_and(|text| !text.is_empty()), "{topic}: {key}");
    }
    assert!(told["origin"]["name"].is_string(), "{topic}: an origin has a name");
    let device = told["device"].as_object().expect("a device");
    assert!(device.keys().all(|key| DEVICE.contains(&key.as_str())), "{topic}: {device:?}");
    assert!(told["device"]["identifiers"][0].is_string(), "{topic}");
    match (component, told["device_class"].as_str()) {
        ("binary_sensor", Some("problem" | "running")) => {}
        ("sensor", Some("enum")) => {
            assert!(told["options"].as_array().is_some_and(|all| !all.is_empty()), "{topic}");
            assert!(told.get("state_class").is_none(), "{topic}: a word has no statistics");
            assert!(told.get("unit_of_measurement").is_none(), "{topic}: a word has no unit");
        }
        ("sensor", Some("duration")) => assert_eq!(told["unit_of_measurement"], "h", "{topic}"),
        ("sensor", Some("timestamp")) => assert!(told.get("state_class").is_none(), "{topic}"),
        ("sensor", None) => assert_eq!(told["state_class"], "measurement", "{topic}"),
        other => panic!("{topic}: {other:?}"),
    }
}

/// The value of a template as Home Assistant gets it.
fn rendered(template: &str, payload: &str) -> String {
    let payload: Value = serde_json::from_str(payload).expect("JSON");
    let environment = Environment::new();
    let context = minijinja::context! { value_json => minijinja::Value::from(minijinja::value::Serde(&payload)) };
    environment.render_str(template, context).unwrap_or_else(|error| panic!("{template}: {error}"))
}

/// Whether the entity takes a value; `None` where it is one that says that nothing is known.
fn takes(told: &Value, value: &str) -> Option<bool> {
    match told["device_class"].as_str() {
        Some("problem" | "running") => Some(matches!(value, "ON" | "OFF")),
        Some("enum") => {
            let is_option = told["options"].as_array()?.iter().any(|one| one == value);
            (value != "none").then_some(is_option)
        }
        Some("timestamp") => Some(Timestamp::parse(value).is_ok()),
        _ => (value != "None").then(|| value.parse::<f64>().is_ok()),
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one course from the plant to the entities and back")]
fn home_assistant_finds_every_figure_and_its_templates_read_what_is_published() {
    let test = "home_assistant_finds_every_figure_and_its_templates_read_what_is_published";
    let more = "[[reports.asset]]\nequipment = \"P-101\"\ndesignation = \"6205\"\n\
                equipment_name = { ko = \"냉각수 펌프\", en = \"Cooling pump\" }\n";
    let Some(mut plant) = Watched::new(test, "sqlite = \"agent.db\"", more) else { return };
    let configuration = plant.path().join("agent.toml");
    let text = std::fs::read_to_string(&configuration).expect("a configuration");
    let text = text.replace("[notify]\n", "[notify]\npage_url = \"http://plant.example/\"\n");
    std::fs::write(&configuration, text).expect("written");
    plant.start();
    plant.works();
    let _edge = edge_at(plant.path(), pdm_harness::free_port(), plant.broker_port());
    plant.fault("P-102");
    let port = plant.broker_port();
    until("states and judgements of both", PATIENCE, || {
        let topics = retained(port);
        let has = |topic: &str| topics.contains_key(&format!("pdm/v1/ulsan-1/{topic}"));
        let all =
            ["P-101/DE/state", "P-101/DE/diagnosis", "P-102/DE/diagnosis", "P-102/DE/episode"];
        all.into_iter().all(has).then_some(())
    });
    let (code, printed) = plant.said("export home-assistant --language en");
    assert_eq!(code, Some(0), "{printed}");
    let (code, said) = plant.said("export home-assistant --language en --publish");
    assert_eq!(code, Some(0), "{said}");
    let topics = until("the messages", PATIENCE, || {
        let topics = retained(port);
        let told = topics.keys().filter(|topic| topic.starts_with("homeassistant/")).count();
        (told == printed.lines().count()).then_some(topics)
    });
    for line in printed.lines() {
        let (topic, payload) = line.split_once('\t').expect("topic and message");
        assert_eq!(topics.get(topic).map(String::as_str), Some(payload), "printed as it is sent");
    }
    let mut read = BTreeSet::new();
    let mut identities = BTreeSet::new();
    for (topic, payload) in topics.iter().filter(|(topic, _)| topic.starts_with("homeassistant/")) {
        let told: Value = serde_json::from_str(payload).expect("JSON");
        is_of_the_form(topic, &told);
        assert!(identities.insert(told["unique_id"].to_string()), "{topic}");
        let text = |key: &str| told[key].as_str().unwrap_or_default().to_owned();
        if let Some(status) = topics.get(&text("availability_topic")) {
            assert_eq!(rendered(&text("availability_template"), status), "online");
        }
        let Some(published) = topics.get(&text("state_topic")) else { continue };
        let value = rendered(&text("value_template"), published);
        let Some(is_taken) = takes(&told, &value) else { continue };
        assert!(is_taken, "{topic}: {value}");
        read.insert(text("name"));
        if told.get("json_attributes_template").is_some() {
            let attributes = rendered(&text("json_attributes_template"), published);
            let attributes: Value = serde_json::from_str(&attributes).expect("JSON");
            assert!(attributes["recommendation"].is_string(), "{attributes}");
        }
    }
    let names = ["Risk", "Problem", "Damage stage", "Damaged element", "Alarm", "Acceleration RMS"];
    let names = names.into_iter().chain(["Velocity RMS", "ISO 20816 zone", "Running"]);
    for name in names.chain(["Measured at", "Remaining life (lower bound)"]) {
        assert!(read.contains(name), "{name} was read of no message: {read:?}");
    }
    assert!(printed.contains("Cooling pump P-101 DE"), "the machine's name of the configuration");
    assert!(printed.contains("http://plant.example/bearings/ulsan-1/P-101/DE"), "{printed}");
    let (code, said) = plant.said("export home-assistant ulsan-1/P-102/DE --remove --publish");
    assert_eq!(code, Some(0), "{said}");
    until("one bearing alone", PATIENCE, || {
        let topics = retained(port);
        let told = topics.keys().filter(|topic| topic.starts_with("homeassistant/"));
        let told: Vec<&String> = told.collect();
        (told.len() * 2 == printed.lines().count()).then_some(())
    });
    let (code, said) = plant.said("export home-assistant ulsan-1/P-999");
    assert_eq!(code, Some(66), "{said}");
    assert!(said.contains("no bearing is known under ulsan-1/P-999"), "{said}");
}
