//! Reads a message by its topic into what is stored; a message of no known form is refused with the
//! reason.

use pdm_shared::delivery::{ACK_SCHEMA, Acknowledgement, DeadLetter, GatewayStatus, STATUS_SCHEMA};
use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, GatewayId, SiteId};
use pdm_shared::time::Timestamp;
use pdm_shared::topic::{BearingTopic, GatewayTopic, Prefix, Topic};

use crate::store::Incoming;

/// Reads one message.
pub(super) fn parse(prefix: &Prefix, topic: &str, payload: &[u8], now: Timestamp) -> Incoming {
    read(prefix, topic, payload)
        .unwrap_or_else(|reason| Incoming::Refused(DeadLetter::of(topic, payload, reason, now)))
}

/// The refusal of an event that the store does not take. A status, an acknowledgement or a refused
/// message has no dead letter of its own.
pub(super) fn refused(
    message: &Incoming,
    what: &str,
    reason: &str,
    now: Timestamp,
) -> Option<Incoming> {
    match message {
        Incoming::Event { event, payload } => Some(Incoming::Refused(DeadLetter::of(
            &event.key().to_string(),
            payload.as_bytes(),
            format!("not stored: {what}: {reason}"),
            now,
        ))),
        Incoming::Status { .. } | Incoming::Ack { .. } | Incoming::Refused(_) => None,
    }
}

fn read(prefix: &Prefix, topic: &str, payload: &[u8]) -> Result<Incoming, String> {
    match Topic::parse(prefix, topic) {
        Some(Topic::Bearing { key, what: BearingTopic::Event }) => event(&key, payload),
        Some(Topic::Bearing { key, what: BearingTopic::Ack }) => ack(key, payload),
        Some(Topic::Gateway { site, gateway, what: GatewayTopic::Status }) => {
            status(site, &gateway, payload)
        }
        Some(Topic::Bearing { .. } | Topic::Gateway { .. } | Topic::DeadLetter) | None => {
            Err("unknown topic: not one that the agent takes in".to_owned())
        }
    }
}

fn text(payload: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(payload).map_err(|error| format!("not UTF-8: {error}"))
}

fn event(key: &BearingKey, payload: &[u8]) -> Result<Incoming, String> {
    let text = text(payload)?;
    let event: Event =
        serde_json::from_str(text).map_err(|error| format!("not an event: {error}"))?;
    event.check().map_err(|error| format!("not a valid event: {error}"))?;
    let named = event.key();
    if named != *key {
        return Err(format!("topic and event differ: the event names {named}"));
    }
    Ok(Incoming::Event { event: Box::new(event), payload: text.to_owned() })
}

fn ack(key: BearingKey, payload: &[u8]) -> Result<Incoming, String> {
    let ack: Acknowledgement = serde_json::from_str(text(payload)?)
        .map_err(|error| format!("not an acknowledgement: {error}"))?;
    if ack.schema != ACK_SCHEMA {
        return Err(format!("not an acknowledgement: schema is {:?}", ack.schema));
    }
    Ok(Incoming::Ack { key, ack })
}

fn status(site: SiteId, gateway: &GatewayId, payload: &[u8]) -> Result<Incoming, String> {
    let status: GatewayStatus = serde_json::from_str(text(payload)?)
        .map_err(|error| format!("not a gateway status: {error}"))?;
    if status.schema != STATUS_SCHEMA {
        return Err(format!("not a gateway status: schema is {:?}", status.schema));
    }
    if status.gateway_id != *gateway {
        return Err(format!("topic and status differ: it names {}", status.gateway_id));
    }
    Ok(Incoming::Status { site, status })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EVENT: &str = include_str!("../../../config/examples/event.json");

    fn read(topic: &str, payload: &[u8]) -> Incoming {
        parse(&Prefix::default(), topic, payload, Timestamp::from_unix_ms(0).expect("epoch"))
    }

    fn reason(incoming: Incoming) -> String {
        match incoming {
            Incoming::Refused(letter) => letter.reason,
            Incoming::Event { .. } | Incoming::Status { .. } | Incoming::Ack { .. } => {
                panic!("taken: {incoming:?}")
            }
        }
    }

    #[test]
    fn the_contracts_event_is_taken() {
        let incoming = read("pdm/v1/ulsan-1/P-101/DE/event", EVENT.as_bytes());
        assert!(matches!(incoming, Incoming::Event { .. }), "{incoming:?}");
    }

    /// R-AGENT-1.
    #[test]
    fn an_event_under_another_bearings_topic_is_refused() {
        let reason = reason(read("pdm/v1/ulsan-1/P-101/NDE/event", EVENT.as_bytes()));
        assert_eq!(reason, "topic and event differ: the event names ulsan-1/P-101/DE");
    }

    #[test]
    fn what_is_no_event_is_refused_with_the_reason() {
        let topic = "pdm/v1/ulsan-1/P-101/DE/event";
        assert!(reason(read(topic, b"{")).starts_with("not an event: "));
        assert!(reason(read(topic, &[0xff, 0xfe])).starts_with("not UTF-8: "));
        let deep = format!("{{\"x\":{}", "[".repeat(200_000));
        assert!(reason(read(topic, deep.as_bytes())).starts_with("not an event: "));
        let sure = EVENT.replace("\"confidence\": 0.95", "\"confidence\": 9.5");
        assert!(
            reason(read(topic, sure.as_bytes())).contains("frequency_domain.confidence is 9.5")
        );
    }

    proptest! {
        #[test]
        fn no_message_makes_it_panic(topic in "\\PC{0,60}", payload in prop::collection::vec(any::<u8>(), 0..300)) {
            let _incoming = read(&topic, &payload);
            let _incoming = read("pdm/v1/s/e/b/event", &payload);
        }

        #[test]
        fn a_damaged_event_is_taken_or_refused_never_a_panic(at in 0_usize..3000, byte in any::<u8>()) {
            let mut payload = EVENT.as_bytes().to_vec();
            let at = at % payload.len();
            payload[at] = byte;
            let _incoming = read("pdm/v1/ulsan-1/P-101/DE/event", &payload);
        }
    }
}
