//! Who is told what, when, and how it leaves: the policy decides, the wording says it, the outbox's
//! lanes carry it.

pub(crate) mod email;
pub(crate) mod lanes;
pub(crate) mod policy;
pub(crate) mod silence;
pub(crate) mod staff;
mod vectors;
pub(crate) mod webhook;
pub(crate) mod wording;

/// The outbox's lane for MQTT.
pub(crate) const MQTT_LANE: &str = "mqtt";
/// The outbox's lane for e-mail.
pub(crate) const EMAIL_LANE: &str = "email";

/// The outbox's lane of judgements that go into the knowledge base (`analysis_history`).
pub(crate) const VECTORS_LANE: &str = "vectors";

/// The outbox's lane of a web hook.
pub(crate) fn webhook_lane(name: &str) -> String {
    format!("webhook:{name}")
}
