//! Watches which device sends: two that take turns in one source are two bearings measured as one.
//!
//! A topic filter may catch the topics of several sensors, and a gateway may publish all of its
//! sensors on one topic. Most messages name their device. Invariant: two devices whose messages
//! take turns are told by name; one that is replaced by another is not.

use std::collections::VecDeque;

use serde_json::Value;

use crate::source::SourceHost;

/// Where sensors and gateways state who they are.
const NAMES: [&str; 14] = [
    "device",
    "device_id",
    "deviceId",
    "deviceName",
    "sensor",
    "sensor_id",
    "sensorId",
    "dev_eui",
    "devEUI",
    "devEui",
    "mac",
    "serial",
    "node_id",
    "nodeId",
];
/// Devices that are remembered.
const REMEMBERED: usize = 8;
/// Messages of one device in a row after which it is alone again.
const ALONE: u32 = 100;

/// The devices of a source.
#[derive(Debug)]
pub(super) struct Devices {
    host: SourceHost,
    latest: Option<String>,
    earlier: VecDeque<String>,
    in_a_row: u32,
    is_told: bool,
}

impl Devices {
    pub(super) const fn new(host: SourceHost) -> Self {
        Self { host, latest: None, earlier: VecDeque::new(), in_a_row: 0, is_told: false }
    }

    /// Takes the topic of a message and what the message states of its device.
    pub(super) fn sent(&mut self, topic: &str, message: &Value) {
        let stated = NAMES.iter().find_map(|name| match message.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        });
        let device = stated.map_or_else(|| topic.to_owned(), |own| format!("{topic} ({own})"));
        if self.latest.as_ref() == Some(&device) {
            self.in_a_row = self.in_a_row.saturating_add(1);
            if self.in_a_row >= ALONE && std::mem::take(&mut self.is_told) {
                self.host.remarks.withdraw(&self.host.name, "devices");
            }
            return;
        }
        self.in_a_row = 0;
        let takes_turns = self.earlier.contains(&device);
        let Some(before) = self.latest.replace(device.clone()) else { return };
        if takes_turns && !std::mem::replace(&mut self.is_told, true) {
            let source = &self.host.name;
            let text = format!(
                "messages of {before} and {device} take turns and are measured as one bearing; a \
                 topic filter, or a source for each, parts them"
            );
            tracing::error!(source, "{text}");
            self.host.remarks.set(source, "devices", text);
        }
        self.earlier.retain(|known| *known != before);
        self.earlier.push_back(before);
        if self.earlier.len() > REMEMBERED {
            self.earlier.pop_front();
        }
    }
}
