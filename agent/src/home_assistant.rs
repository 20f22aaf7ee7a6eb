//! What Home Assistant is told of a bearing, so that its figures are entities without a line of
//! configuration: one retained message for each entity, by its MQTT discovery (the message of a
//! single component, which every version since 2023 reads:
//! <https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery>).
//!
//! The entities read the topics that are retained anyway: `diagnosis`, `state`, `episode`. Nothing
//! is published a second time. Measured figures are unavailable while their gateway is silent; what
//! was judged stands.

use pdm_shared::episode::EpisodeState;
use pdm_shared::fault::Fault;
use pdm_shared::id::{BearingKey, GatewayKey};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::{Language, Text};
use pdm_shared::topic::{BearingTopic, GatewayTopic, Prefix, Topic};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

/// The first level of the topics that Home Assistant reads, unless it is configured otherwise
/// there.
pub const DISCOVERY: &str = "homeassistant";

/// The states of an alarm.
const ALARMS: [EpisodeState; 8] = [
    EpisodeState::UnacknowledgedActive,
    EpisodeState::AcknowledgedActive,
    EpisodeState::UnacknowledgedNormal,
    EpisodeState::AcknowledgedNormal,
    EpisodeState::Shelved,
    EpisodeState::SuppressedByDesign,
    EpisodeState::OutOfService,
    EpisodeState::Closed,
];

/// A bearing as Home Assistant shows it: a device.
#[derive(Debug, Clone)]
pub struct Device<'a> {
    /// The bearing.
    pub key: &'a BearingKey,
    /// The gateway that measures it, where it is known.
    pub gateway: Option<&'a GatewayKey>,
    /// The machine's name for people, where one is configured.
    pub machine: Option<Text>,
    /// The bearing's designation, where one is configured.
    pub designation: Option<String>,
    /// The address of the bearing's page, where pages have an address.
    pub page: Option<String>,
}

/// A message of the discovery; without a payload it takes the entity out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveryMessage {
    /// The topic.
    pub topic: String,
    /// The JSON object, or nothing.
    pub payload: String,
}

/// Where entities stand and how they are named.
#[derive(Debug, Clone)]
pub struct Discovery {
    /// The first levels of the plant's topics.
    pub prefix: Prefix,
    /// The first level of the topics that Home Assistant reads.
    pub discovery: String,
    /// The language of the entities' names.
    pub language: Language,
}

/// An entity of a bearing.
struct Entity {
    /// The kind of entity, the second level of its topic.
    component: &'static str,
    /// Its name within the device, a part of its identity.
    id: &'static str,
    name: Text,
    topic: BearingTopic,
    template: String,
    /// The keys beside name, topic and template.
    more: Value,
}

/// A template for the figure at this path; what is not known is told as that.
fn figure(path: &str) -> String {
    // a null that is rendered as it is would be the text "None" in one program and "none" in
    // another
    format!("{{{{ value_json.{path} if value_json.{path} is number else 'None' }}}}")
}

/// A template for the word at this path, `none` where there is none.
fn word(path: &str) -> String {
    format!("{{{{ value_json.{path} if value_json.{path} is string else 'none' }}}}")
}

/// A choice of words; Home Assistant refuses any other.
fn one_of(words: &[&str]) -> Value {
    json!({ "device_class": "enum", "options": words })
}

fn measured(unit: &str, digits: u8) -> Value {
    json!({
        "unit_of_measurement": unit,
        "state_class": "measurement",
        "suggested_display_precision": digits,
    })
}

impl Entity {
    fn sensor(id: &'static str, name: Text, topic: BearingTopic, template: String) -> Self {
        Self { component: "sensor", id, name, topic, template, more: json!({}) }
    }

    fn with(self, more: Value) -> Self {
        Self { more, ..self }
    }

    fn binary(self, class: &str) -> Self {
        Self { component: "binary_sensor", more: json!({ "device_class": class }), ..self }
    }
}

/// What was judged: risk, stage, element, life, alarm.
fn judged(language: Language) -> Vec<Entity> {
    let of = BearingTopic::Diagnosis;
    let risks = RiskLevel::ALL.map(RiskLevel::as_str);
    let elements: Vec<&str> =
        std::iter::once("none").chain(Fault::ALL.map(Fault::as_str)).collect();
    let advice = format!(
        "{{{{ {{'recommendation': value_json.recommendation.{}, 'judged_at': value_json.judged_at, \
         'event_id': value_json.event_id, 'uncertainty': value_json.uncertainty.level}} | tojson \
         }}}}",
        language.code()
    );
    let problem = "{{ 'ON' if value_json.risk_level in ['Warning', 'Critical'] else 'OFF' }}";
    let alarms = ALARMS.map(EpisodeState::as_str);
    let risk = Entity::sensor("risk", Text::new("위험도", "Risk"), of, word("risk_level"));
    let problem = Entity::sensor("problem", Text::new("문제", "Problem"), of, problem.to_owned());
    let stage = figure("fault_stage");
    let stage = Entity::sensor("stage", Text::new("손상 단계", "Damage stage"), of, stage);
    let element = Text::new("손상 요소", "Damaged element");
    let element = Entity::sensor("element", element, of, word("fault_type"));
    let life = Text::new("잔여 수명(하한)", "Remaining life (lower bound)");
    let life = Entity::sensor("life", life, of, figure("rul_assessment.hours"));
    let alarm = Text::new("경보", "Alarm");
    let alarm = Entity::sensor("alarm", alarm, BearingTopic::Episode, word("episode_state"));
    vec![
        risk.with(json!({
            "device_class": "enum",
            "options": risks,
            "json_attributes_template": advice,
        })),
        problem.binary("problem"),
        stage.with(json!({ "state_class": "measurement" })),
        element.with(one_of(&elements)),
        life.with(json!({
            "device_class": "duration",
            "unit_of_measurement": "h",
            "state_class": "measurement",
            "suggested_display_precision": 0,
        })),
        alarm.with(one_of(&alarms)),
    ]
}

/// What was measured: levels, zone, score, running, time.
fn figures() -> Vec<Entity> {
    let of = BearingTopic::State;
    let level = Text::new("가속도 RMS", "Acceleration RMS");
    let velocity = Text::new("속도 RMS", "Velocity RMS");
    let zone = Text::new("ISO 20816 구역", "ISO 20816 zone");
    let score = Text::new("이상 점수", "Anomaly score");
    let running = "{{ 'ON' if value_json.running else 'OFF' }}";
    let at = "{{ value_json.measured_at }}";
    let at =
        Entity::sensor("measured_at", Text::new("측정 시각", "Measured at"), of, at.to_owned());
    let running = Entity::sensor("running", Text::new("운전", "Running"), of, running.to_owned());
    let at_class = json!({ "device_class": "timestamp", "entity_category": "diagnostic" });
    vec![
        Entity::sensor("rms", level, of, figure("rms_g")).with(measured("g", 3)),
        Entity::sensor("velocity_rms", velocity, of, figure("velocity_rms_mm_s"))
            .with(measured("mm/s", 2)),
        Entity::sensor("zone", zone, of, word("iso_zone"))
            .with(one_of(&["none", "A", "B", "C", "D"])),
        Entity::sensor("score", score, of, figure("anomaly_score")).with(json!({
            "state_class": "measurement",
            "suggested_display_precision": 2,
        })),
        running.binary("running"),
        at.with(at_class),
    ]
}

impl Discovery {
    /// The messages of all entities of a bearing.
    pub fn messages(&self, device: &Device<'_>) -> Vec<DiscoveryMessage> {
        let told = self.entities().map(|entity| {
            let payload = self.payload(device, &entity).to_string();
            DiscoveryMessage { topic: self.topic(device.key, &entity), payload }
        });
        told.collect()
    }

    /// The messages that take all entities of a bearing out.
    pub fn removal(&self, key: &BearingKey) -> Vec<DiscoveryMessage> {
        let gone = self.entities().map(|entity| DiscoveryMessage {
            topic: self.topic(key, &entity),
            payload: String::new(),
        });
        gone.collect()
    }

    fn entities(&self) -> impl Iterator<Item = Entity> {
        judged(self.language).into_iter().chain(figures())
    }

    fn topic(&self, key: &BearingKey, entity: &Entity) -> String {
        let Entity { component, id, .. } = entity;
        format!("{}/{component}/{}/{id}/config", self.discovery, self.identity(key))
    }

    /// The bearing's identity: letters, digits, `_` and `-` alone, as the discovery demands, and
    /// another for each bearing, whatever its names are written in.
    fn identity(&self, key: &BearingKey) -> String {
        let name = key.to_string();
        let plain: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
            .take(64)
            .collect();
        let digest = Sha256::digest(format!("{}/{name}", self.prefix));
        let number =
            digest.iter().take(4).fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
        format!("pdm_{plain}_{number:08x}")
    }

    fn payload(&self, device: &Device<'_>, entity: &Entity) -> Value {
        let topic = |what| Topic::Bearing { key: device.key.clone(), what }.under(&self.prefix);
        let state = topic(entity.topic);
        let mut told = Map::new();
        told.insert("name".into(), entity.name.in_language(self.language).into());
        let unique = format!("{}_{}", self.identity(device.key), entity.id);
        told.insert("unique_id".into(), unique.into());
        told.insert("state_topic".into(), state.clone().into());
        told.insert("value_template".into(), entity.template.clone().into());
        if let Value::Object(more) = &entity.more {
            told.extend(more.clone());
        }
        if told.contains_key("json_attributes_template") {
            told.insert("json_attributes_topic".into(), state.into());
        }
        if let Some(gateway) = device.gateway.filter(|_| entity.topic == BearingTopic::State) {
            let status = Topic::Gateway {
                site: gateway.site.clone(),
                gateway: gateway.gateway.clone(),
                what: GatewayTopic::Status,
            };
            told.insert("availability_topic".into(), status.under(&self.prefix).into());
            told.insert("availability_template".into(), "{{ value_json.status }}".into());
        }
        told.insert("device".into(), self.device(device));
        told.insert(
            "origin".into(),
            json!({ "name": "PdM", "sw_version": env!("CARGO_PKG_VERSION") }),
        );
        Value::Object(told)
    }

    fn device(&self, device: &Device<'_>) -> Value {
        let BearingKey { site, equipment, bearing } = device.key;
        let name = match &device.machine {
            Some(machine) => {
                format!("{} {equipment} {bearing}", machine.in_language(self.language))
            }
            None => format!("{equipment} {bearing}"),
        };
        let mut told = Map::new();
        told.insert("identifiers".into(), json!([self.identity(device.key)]));
        told.insert("name".into(), name.into());
        told.insert("manufacturer".into(), "PdM".into());
        told.insert("suggested_area".into(), site.as_str().into());
        if let Some(designation) = &device.designation {
            told.insert("model".into(), designation.clone().into());
        }
        if let Some(page) = &device.page {
            told.insert("configuration_url".into(), page.clone().into());
        }
        Value::Object(told)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn discovery() -> Discovery {
        Discovery {
            prefix: Prefix::default(),
            discovery: DISCOVERY.to_owned(),
            language: Language::Ko,
        }
    }

    fn device(key: &BearingKey) -> Device<'_> {
        Device { key, gateway: None, machine: None, designation: None, page: None }
    }

    /// Names in Hangul have no letter that the discovery allows: the identity still tells them
    /// apart.
    #[test]
    fn bearings_of_any_name_have_topics_of_their_own_of_the_letters_that_are_allowed() {
        let names = [("P-101", "DE"), ("P-101", "D E"), ("펌프", "구동측"), ("팬", "구동측")];
        let mut topics = BTreeSet::new();
        for (equipment, bearing) in names {
            let key = BearingKey::parse("울산", equipment, bearing).expect("a name");
            for message in discovery().messages(&device(&key)) {
                let levels: Vec<&str> = message.topic.split('/').collect();
                let [_, _, node, id, "config"] = levels[..] else { panic!("{}", message.topic) };
                let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
                assert!(node.chars().chain(id.chars()).all(is_allowed), "{}", message.topic);
                assert!(topics.insert(message.topic.clone()), "{}", message.topic);
            }
        }
    }

    #[test]
    fn what_is_taken_out_is_all_that_was_told() {
        let key = BearingKey::parse("ulsan-1", "P-101", "DE").expect("a name");
        let topics = |messages: Vec<DiscoveryMessage>| -> Vec<String> {
            messages.into_iter().map(|message| message.topic).collect()
        };
        let gone = discovery().removal(&key);
        assert!(gone.iter().all(|message| message.payload.is_empty()));
        assert_eq!(topics(gone), topics(discovery().messages(&device(&key))));
    }
}
