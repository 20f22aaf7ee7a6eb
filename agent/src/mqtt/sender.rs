//! Finds the sender of a message by its topic, before anything of it is read: the shares of the
//! intake are counted by it.
//!
//! A topic that names its gateway is held to the certificate's name by the broker's access rules.
//! Under a topic that names none the message's own claim counts, apart from the proven ones of that
//! name: a forger delays the claims of a name, never the gateway that proves its own.

use pdm_shared::id::{GatewayId, GatewayKey};
use pdm_shared::topic::{BearingTopic, GatewayTopic, Prefix, Topic};

/// The sender of a message.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sender {
    /// The gateway that the topic names.
    Gateway(GatewayKey),
    /// The gateway that the message names, under a topic that names none.
    Claimed(GatewayKey),
    /// Gateways of which no event was stored, together: whoever may name gateways can name any
    /// number of them.
    Strangers,
    /// People, and programs in their place.
    Staff,
    /// Neither topic nor message names a sender.
    Nobody,
}

impl Sender {
    /// The gateway, proven or claimed.
    pub(crate) const fn gateway(&self) -> Option<&GatewayKey> {
        match self {
            Self::Gateway(gateway) | Self::Claimed(gateway) => Some(gateway),
            Self::Strangers | Self::Staff | Self::Nobody => None,
        }
    }
}

impl std::fmt::Display for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Gateway(gateway) => gateway.fmt(f),
            Self::Claimed(gateway) => write!(f, "{gateway} (claimed)"),
            Self::Strangers => f.write_str("gateways of which no event is stored"),
            Self::Staff => f.write_str("staff"),
            Self::Nobody => f.write_str("nobody"),
        }
    }
}

/// How a message is treated where there are too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// An event: its gateway keeps it until a receipt covers it and sends it again.
    Repeated,
    /// A gateway's status: the broker retains the latest one, so of a flood of them only some are
    /// read.
    Latest,
    /// A message that nobody sends again, or that says how to read the events behind it: it is
    /// never put off.
    Once,
}

/// The bytes in which the name of the gateway is looked for: an edge writes it among the first
/// fields.
const HEAD_BYTES: usize = 2048;

/// Returns the sender of a message, and whether it may be put off.
pub(crate) fn sender_and_urgency(
    prefix: &Prefix,
    topic: &str,
    payload: &[u8],
) -> (Sender, Urgency) {
    match Topic::parse(prefix, topic) {
        Some(Topic::GatewayEvent { key, gateway }) => {
            (Sender::Gateway(GatewayKey::new(key.site, gateway)), Urgency::Repeated)
        }
        Some(Topic::Bearing { key, what: BearingTopic::Event }) => {
            let claimed = claimed(payload).map(|gateway| GatewayKey::new(key.site, gateway));
            (claimed.map_or(Sender::Nobody, Sender::Claimed), Urgency::Repeated)
        }
        Some(Topic::Gateway { site, gateway, what: GatewayTopic::Status }) => {
            (Sender::Gateway(GatewayKey::new(site, gateway)), Urgency::Latest)
        }
        Some(Topic::Bearing { .. } | Topic::Gateway { .. } | Topic::DeadLetter) => {
            (Sender::Staff, Urgency::Once)
        }
        // an event under names that no bearing may have
        None => (Sender::Nobody, Urgency::Repeated),
    }
}

/// The gateway that a message says it is of. No JSON is parsed: that would cost what putting off
/// saves.
fn claimed(payload: &[u8]) -> Option<GatewayId> {
    const FIELD: &[u8] = b"\"gateway_id\"";
    let head = payload.get(..HEAD_BYTES).unwrap_or(payload);
    let at = head.windows(FIELD.len()).position(|part| part == FIELD)?;
    let rest = head.get(at + FIELD.len()..)?;
    let mut parts = rest.split(|&byte| byte == b'"');
    let is_value = parts.next()?.iter().all(|byte| matches!(byte, b':' | b' ' | b'\t' | b'\n'));
    let name = std::str::from_utf8(parts.next()?).ok()?;
    is_value.then(|| name.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENT: &str = include_str!("../../../config/examples/event.json");

    fn sender_and_urgency(topic: &str, payload: &str) -> (String, Urgency) {
        let (sender, urgency) =
            super::sender_and_urgency(&Prefix::default(), topic, payload.as_bytes());
        (sender.to_string(), urgency)
    }

    #[test]
    fn the_topic_names_the_sender_and_otherwise_the_message_does() {
        use Urgency::{Latest, Once, Repeated};
        let said = |text: &str, urgency| (text.to_owned(), urgency);
        let long = "pdm/v1/ulsan-1/P-101/DE/event/gw-02";
        assert_eq!(
            sender_and_urgency(long, EVENT),
            said("ulsan-1/gw-02", Repeated),
            "the topic, not the claim"
        );
        let short = "pdm/v1/ulsan-1/P-101/DE/event";
        assert_eq!(sender_and_urgency(short, EVENT), said("ulsan-1/gw-01 (claimed)", Repeated));
        for other in ["{", "{\"gateway_id\":7}", "{\"gateway_id\":\"a b/\"}", "\"gateway_id\""] {
            assert_eq!(sender_and_urgency(short, other), said("nobody", Repeated), "{other}");
        }
        assert_eq!(sender_and_urgency("pdm/v1/s/gateway/g/status", ""), said("s/g", Latest));
        assert_eq!(sender_and_urgency("pdm/v1/s/e/b/ack", ""), said("staff", Once));
        assert_eq!(sender_and_urgency("elsewhere", ""), said("nobody", Repeated));
    }
}
