//! Reads a message by its topic into what is stored; a message of no known form is refused with the
//! reason.

use pdm_shared::bounds::{MAX_DOCUMENT_BYTES, MAX_EVENT_BYTES};
use pdm_shared::delivery::{ACK_SCHEMA, Acknowledgement, DeadLetter, GatewayStatus, STATUS_SCHEMA};
use pdm_shared::episode::{SHELVE_SCHEMA, Shelve};
use pdm_shared::event::Event;
use pdm_shared::follow_up::{FOLLOW_UP_SCHEMA, FollowUpReport, FollowUpState};
use pdm_shared::id::{BearingKey, GatewayId, SiteId};
use pdm_shared::packed::packed_form;
use pdm_shared::time::Timestamp;
use pdm_shared::topic::{BearingTopic, GatewayTopic, Prefix, Topic, is_gateway_level};
use pdm_store::{Incoming, RefusedMessage, UnreadEvent};

use crate::settings::TopicProof;

/// How a message came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Came<'a> {
    /// The topic that it was published under.
    pub(super) topic: &'a str,
    /// The broker had kept it.
    pub(super) retained: bool,
}

/// Reads one message.
pub(super) fn parse(
    prefix: &Prefix,
    proof: TopicProof,
    came: Came<'_>,
    payload: &[u8],
    now: Timestamp,
) -> Incoming {
    let Came { topic, retained } = came;
    read(prefix, proof, topic, payload, now)
        .and_then(|incoming| not_retained(incoming, retained))
        .unwrap_or_else(|reason| {
            Incoming::Refused(RefusedMessage {
                letter: DeadLetter::of(topic, payload, reason, now),
                event_of: unread_event(prefix, topic, payload),
            })
        })
}

/// Whose event a refused message was to be, if its topic is one of a bearing's events.
fn unread_event(prefix: &Prefix, topic: &str, payload: &[u8]) -> Option<UnreadEvent> {
    let (bearing, of_topic) = match Topic::parse(prefix, topic)? {
        Topic::Bearing { key, what: BearingTopic::Event } => (key, None),
        Topic::GatewayEvent { key, gateway } => (key, Some(gateway)),
        Topic::Bearing { .. } | Topic::Gateway { .. } | Topic::DeadLetter => return None,
    };
    let is_machine = !is_gateway_level(bearing.equipment.as_str());
    is_machine.then(|| UnreadEvent { bearing, of_topic, of_text: gateway_in(payload) })
}

/// The gateway that a text names which is not to be read as a whole: it may be cut, or of another
/// version.
fn gateway_in(payload: &[u8]) -> Option<GatewayId> {
    let text = String::from_utf8_lossy(payload);
    let (_, behind) = text.split_once("\"gateway_id\"")?;
    let value = behind.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    GatewayId::new(value.split_once('"')?.0).ok()
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
        Incoming::Event { event, payload, .. } => {
            let (bearing, reason) = (event.key(), format!("not stored: {what}: {reason}"));
            let letter = DeadLetter::of(&bearing.to_string(), payload.as_bytes(), reason, now);
            let of_topic = Some(event.gateway_id.clone());
            let event_of = Some(UnreadEvent { bearing, of_topic, of_text: None });
            Some(Incoming::Refused(RefusedMessage { letter, event_of }))
        }
        Incoming::Status { .. }
        | Incoming::Ack { .. }
        | Incoming::Shelve { .. }
        | Incoming::FollowUp { .. }
        | Incoming::Refused(_) => None,
    }
}

fn read(
    prefix: &Prefix,
    proof: TopicProof,
    topic: &str,
    payload: &[u8],
    now: Timestamp,
) -> Result<Incoming, String> {
    match Topic::parse(prefix, topic) {
        Some(Topic::Bearing { key, what: BearingTopic::Event }) => match proof {
            TopicProof::Accepted => event(&key, None, payload),
            TopicProof::Required => Err(format!(
                "topic names no gateway, expected {prefix}/{key}/event/{{gateway_id}} \
                 (intake.gateway_in_topic = \"required\")"
            )),
        },
        Some(Topic::GatewayEvent { key, gateway }) => event(&key, Some(&gateway), payload),
        Some(Topic::Bearing { key, what: BearingTopic::Ack }) => ack(prefix, key, payload),
        Some(Topic::Bearing { key, what: BearingTopic::Shelve }) => {
            shelve(prefix, key, payload, now)
        }
        Some(Topic::Bearing { key, what: BearingTopic::FollowUp }) => follow_up(key, payload),
        Some(Topic::Gateway { site, gateway, what: GatewayTopic::Status }) => {
            status(site, &gateway, payload)
        }
        Some(Topic::Bearing { .. } | Topic::Gateway { .. } | Topic::DeadLetter) | None => {
            Err("unknown topic: not one that the agent takes in".to_owned())
        }
    }
}

/// Refuses an acknowledgement, a shelf or a follow-up that the broker kept: it comes again at every
/// connection, and would silence alarms, or close work, that came after it.
fn not_retained(incoming: Incoming, is_retained: bool) -> Result<Incoming, String> {
    let what = match &incoming {
        Incoming::Ack { .. } => "acknowledgement",
        Incoming::Shelve { .. } => "shelf",
        Incoming::FollowUp { .. } => "follow-up",
        Incoming::Event { .. } | Incoming::Status { .. } | Incoming::Refused(_) => {
            return Ok(incoming);
        }
    };
    if is_retained {
        return Err(format!("a retained {what}: publish it without the retain flag"));
    }
    Ok(incoming)
}

/// A payload of at most `most` bytes as text. The length is checked before anything of it is read.
fn text(payload: &[u8], most: usize) -> Result<&str, String> {
    if payload.len() > most {
        return Err(format!("the message has {} bytes, allowed are at most {most}", payload.len()));
    }
    std::str::from_utf8(payload).map_err(|error| match packed_form(payload) {
        Some(form) => format!(
            "the message is compressed ({}): it has to be JSON in UTF-8 as it is, so switch the \
             compression of its sender or of the bridge off",
            form.name
        ),
        None => format!("not UTF-8: {error}"),
    })
}

/// Reads an event; `gateway` is the one that the topic names, if it names one.
fn event(
    key: &BearingKey,
    gateway: Option<&GatewayId>,
    payload: &[u8],
) -> Result<Incoming, String> {
    let text = text(payload, MAX_EVENT_BYTES)?;
    let event: Event =
        serde_json::from_str(text).map_err(|error| format!("not an event: {error}"))?;
    event.check().map_err(|error| format!("not a valid event: {error}"))?;
    let named = event.key();
    if named != *key {
        return Err(format!("topic and event differ: the event names {named}"));
    }
    if let Some(gateway) = gateway.filter(|gateway| **gateway != event.gateway_id) {
        return Err(format!(
            "topic and event differ: gateway_id is {}, expected {gateway}",
            event.gateway_id
        ));
    }
    let equipment = key.equipment.as_str();
    if is_gateway_level(equipment) {
        // the alarms of gateways stand under these names
        return Err(format!("equipment_id is {equipment:?}, a name that no machine may have"));
    }
    let proven = gateway.is_some();
    let payload = stored_text(text, &event)?;
    Ok(Incoming::Event { event: Box::new(event), payload, proven })
}

/// The text of an event as the store keeps it: as received. One with spectra has no blanks between
/// its fields, because the store finds it by them, so a writer's own blanks are taken out.
fn stored_text(text: &str, event: &Event) -> Result<String, String> {
    if event.spectra.is_none() || text.contains("\"spectra\":{") {
        return Ok(text.to_owned());
    }
    let fields: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(text).map_err(|error| format!("not an event: {error}"))?;
    serde_json::to_string(&fields).map_err(|error| format!("not an event: {error}"))
}

/// The topic on which the episode of a bearing is retained.
pub(crate) fn episode_topic(prefix: &Prefix, key: &BearingKey) -> String {
    Topic::Bearing { key: key.clone(), what: BearingTopic::Episode }.under(prefix)
}

fn ack(prefix: &Prefix, key: BearingKey, payload: &[u8]) -> Result<Incoming, String> {
    let ack: Acknowledgement = serde_json::from_str(text(payload, MAX_DOCUMENT_BYTES)?)
        .map_err(|error| format!("not an acknowledgement: {error}"))?;
    if ack.schema != ACK_SCHEMA {
        return Err(format!("not an acknowledgement: schema is {:?}", ack.schema));
    }
    ack.check().map_err(|error| format!("not an acknowledgement: {error}"))?;
    let via = ack.via.or_else(|| Some("mqtt".to_owned()));
    let topic = episode_topic(prefix, &key);
    Ok(Incoming::Ack { key, ack: Acknowledgement { via, ..ack }, topic })
}

fn shelve(
    prefix: &Prefix,
    key: BearingKey,
    payload: &[u8],
    now: Timestamp,
) -> Result<Incoming, String> {
    let shelve: Shelve = serde_json::from_str(text(payload, MAX_DOCUMENT_BYTES)?)
        .map_err(|error| format!("not a shelf: {error}"))?;
    if shelve.schema != SHELVE_SCHEMA {
        return Err(format!("not a shelf: schema is {:?}", shelve.schema));
    }
    shelve.check(now).map_err(|error| format!("not a shelf: {error}"))?;
    let topic = episode_topic(prefix, &key);
    Ok(Incoming::Shelve { key, shelve, topic })
}

fn follow_up(key: BearingKey, payload: &[u8]) -> Result<Incoming, String> {
    let report: FollowUpReport = serde_json::from_str(text(payload, MAX_DOCUMENT_BYTES)?)
        .map_err(|error| format!("not a follow-up: {error}"))?;
    if report.schema != FOLLOW_UP_SCHEMA {
        return Err(format!("not a follow-up: schema is {:?}", report.schema));
    }
    report.check().map_err(|error| format!("not a follow-up: {error}"))?;
    if report.state == FollowUpState::Superseded {
        return Err("not a follow-up: state is superseded, expected open, done or dropped".into());
    }
    Ok(Incoming::FollowUp { key, report })
}

fn status(site: SiteId, gateway: &GatewayId, payload: &[u8]) -> Result<Incoming, String> {
    let status: GatewayStatus = serde_json::from_str(text(payload, MAX_DOCUMENT_BYTES)?)
        .map_err(|error| format!("not a gateway status: {error}"))?;
    if status.schema != STATUS_SCHEMA {
        return Err(format!("not a gateway status: schema is {:?}", status.schema));
    }
    if status.gateway_id != *gateway {
        return Err(format!("topic and status differ: it names {}", status.gateway_id));
    }
    status.check().map_err(|error| format!("not a gateway status: {error}"))?;
    Ok(Incoming::Status { site, status })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const EVENT: &str = include_str!("../../../config/examples/event.json");

    fn read(topic: &str, payload: &[u8]) -> Incoming {
        under(TopicProof::Accepted, topic, payload)
    }

    fn under(proof: TopicProof, topic: &str, payload: &[u8]) -> Incoming {
        let now = Timestamp::from_unix_ms(0).expect("epoch");
        let came = Came { topic, retained: false };
        parse(&Prefix::default(), proof, came, payload, now)
    }

    fn reason(incoming: Incoming) -> String {
        match incoming {
            Incoming::Refused(refused) => refused.letter.reason,
            Incoming::Event { .. }
            | Incoming::Status { .. }
            | Incoming::Ack { .. }
            | Incoming::Shelve { .. }
            | Incoming::FollowUp { .. } => panic!("taken: {incoming:?}"),
        }
    }

    #[test]
    fn the_contracts_event_is_taken() {
        let incoming = read("pdm/v1/ulsan-1/P-101/DE/event", EVENT.as_bytes());
        assert!(matches!(incoming, Incoming::Event { .. }), "{incoming:?}");
    }

    /// Pages find events with spectra by their text, whatever program wrote it.
    #[test]
    fn an_event_with_spectra_is_stored_without_the_blanks_of_its_writer() {
        let mut value: serde_json::Value = serde_json::from_str(EVENT).expect("json");
        let lines = serde_json::json!({ "df_hz": 1.0, "unit": "g", "amplitude": [0.5, 0.25] });
        value["spectra"] = serde_json::json!({ "acceleration": lines, "envelope": lines });
        value["of_a_later_version"] = serde_json::json!({ "kept": [1.5, "a: {b}"] });
        for text in [value.to_string(), serde_json::to_string_pretty(&value).expect("json")] {
            let incoming = read("pdm/v1/ulsan-1/P-101/DE/event", text.as_bytes());
            let Incoming::Event { payload, .. } = incoming else { panic!("{incoming:?}") };
            assert!(payload.contains("\"spectra\":{"), "{payload}");
            let kept: serde_json::Value = serde_json::from_str(&payload).expect("json");
            assert_eq!(kept, value);
        }
        let blanks = serde_json::to_string_pretty(
            &serde_json::from_str::<serde_json::Value>(EVENT).expect("json"),
        );
        let blanks = blanks.expect("json");
        let incoming = read("pdm/v1/ulsan-1/P-101/DE/event", blanks.as_bytes());
        let Incoming::Event { payload, .. } = incoming else { panic!("{incoming:?}") };
        assert_eq!(payload, blanks, "as received where nothing is looked for");
    }

    /// R-AGENT-1.
    #[test]
    fn an_event_under_another_bearings_topic_is_refused() {
        let reason = reason(read("pdm/v1/ulsan-1/P-101/NDE/event", EVENT.as_bytes()));
        assert_eq!(reason, "topic and event differ: the event names ulsan-1/P-101/DE");
    }

    #[test]
    fn a_topic_that_names_another_gateway_is_refused() {
        let own = "pdm/v1/ulsan-1/P-101/DE/event/gw-01";
        assert!(matches!(read(own, EVENT.as_bytes()), Incoming::Event { proven: true, .. }));
        let reason = reason(read("pdm/v1/ulsan-1/P-101/DE/event/gw-02", EVENT.as_bytes()));
        assert_eq!(reason, "topic and event differ: gateway_id is gw-01, expected gw-02");
    }

    #[test]
    fn a_topic_without_a_gateway_is_refused_where_one_is_required() {
        let plain = "pdm/v1/ulsan-1/P-101/DE/event";
        let text = reason(under(TopicProof::Required, plain, EVENT.as_bytes()));
        assert!(text.contains("pdm/v1/ulsan-1/P-101/DE/event/{gateway_id}"), "{text}");
        let named = under(TopicProof::Required, &format!("{plain}/gw-01"), EVENT.as_bytes());
        assert!(matches!(named, Incoming::Event { .. }));
    }

    #[test]
    fn an_event_in_the_place_of_a_gateways_alarm_is_refused() {
        let event = EVENT.replace("\"P-101\"", "\"gateway\"");
        let reason = reason(read("pdm/v1/ulsan-1/gateway/DE/event", event.as_bytes()));
        assert!(reason.starts_with("equipment_id is"), "{reason}");
    }

    #[test]
    fn what_is_no_event_is_refused_with_the_reason() {
        let topic = "pdm/v1/ulsan-1/P-101/DE/event";
        assert!(reason(read(topic, b"{")).starts_with("not an event: "));
        assert!(reason(read(topic, &[0xff, 0xfe])).starts_with("not UTF-8: "));
        let gzip = reason(read(topic, &[0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 3]));
        assert!(gzip.starts_with("the message is compressed (gzip)"), "{gzip}");
        let deep = format!("{{\"x\":{}", "[".repeat(100_000));
        assert!(reason(read(topic, deep.as_bytes())).starts_with("not an event: "));
        let sure = EVENT.replace("\"confidence\": 0.95", "\"confidence\": 9.5");
        assert!(
            reason(read(topic, sure.as_bytes())).contains("frequency_domain.confidence is 9.5")
        );
    }

    #[test]
    fn a_retained_acknowledgement_is_refused_and_a_retained_status_is_taken() {
        let kept = |topic: &str, payload: &str| {
            let now = Timestamp::from_unix_ms(0).expect("epoch");
            parse(
                &Prefix::default(),
                TopicProof::Accepted,
                Came { topic, retained: true },
                payload.as_bytes(),
                now,
            )
        };
        let ack = r#"{"schema":"pdm.ack/1","by":"kim","at":"2001-01-01T00:00:00Z"}"#;
        let said = reason(kept("pdm/v1/ulsan-1/P-101/DE/ack", ack));
        assert!(said.starts_with("a retained acknowledgement"), "{said}");
        let status = r#"{"schema":"pdm.gateway/1","gateway_id":"g","status":"online",
            "at":"2026-11-21T05:10:21Z"}"#;
        assert!(matches!(kept("pdm/v1/s/gateway/g/status", status), Incoming::Status { .. }));
    }

    /// R-AGENT-9.
    #[test]
    fn a_follow_up_is_taken_and_one_that_only_the_agent_may_write_is_refused() {
        const REPORT: &str = include_str!("../../../config/examples/follow_up.json");
        let topic = "pdm/v1/ulsan-1/P-101/DE/follow-up";
        assert!(matches!(read(topic, REPORT.as_bytes()), Incoming::FollowUp { .. }));
        let superseded = REPORT.replace("\"done\"", "\"superseded\"");
        assert!(reason(read(topic, superseded.as_bytes())).contains("expected open, done"));
        let now = Timestamp::from_unix_ms(0).expect("epoch");
        let came = Came { topic, retained: true };
        let kept = parse(&Prefix::default(), TopicProof::Accepted, came, REPORT.as_bytes(), now);
        assert!(reason(kept).starts_with("a retained follow-up"));
    }

    /// R-AGENT-10: the gateway of what cannot be read, for the alarm.
    #[test]
    fn an_event_that_cannot_be_read_is_its_bearings_and_its_gateways() {
        let later = EVENT.replace("pdm.event/1", "pdm.event/2");
        let cut = EVENT.get(..EVENT.len() / 2).expect("text").to_owned();
        let other_site = EVENT.replace("\"ulsan-1\"", "\"ulsan-9\"");
        for text in [later, cut, other_site] {
            let topic = "pdm/v1/ulsan-1/P-101/DE/event";
            let Incoming::Refused(refused) = read(topic, text.as_bytes()) else { panic!("{text}") };
            let event = refused.event_of.expect("an event's topic");
            assert_eq!(event.bearing.to_string(), "ulsan-1/P-101/DE");
            assert_eq!(event.of_text.expect("named").as_str(), "gw-01");
            assert_eq!(event.of_topic, None);
        }
        let Incoming::Refused(refused) = read("pdm/v1/ulsan-1/P-101/DE/event/gw-07", b"{") else {
            panic!("taken")
        };
        let event = refused.event_of.expect("an event's topic");
        assert_eq!((event.of_topic.expect("named").as_str(), event.of_text), ("gw-07", None));
        for topic in ["pdm/v1/ulsan-1/P-101/DE/ack", "pdm/v1/ulsan-1/gateway/DE/event"] {
            let Incoming::Refused(refused) = read(topic, b"{") else { panic!("{topic}") };
            assert_eq!(refused.event_of, None, "{topic}");
        }
    }

    /// The limit is far below the brokers', so that what is made of an event always fits.
    #[test]
    fn an_event_or_document_beyond_its_bound_is_refused_with_field_and_limit() {
        let topic = "pdm/v1/ulsan-1/P-101/DE/event";
        let large = format!("{EVENT}{}", " ".repeat(MAX_EVENT_BYTES));
        let said = reason(read(topic, large.as_bytes()));
        assert!(said.contains("allowed are at most 131072"), "{said}");
        let fault =
            EVENT.replace("\"feature\": \"envelope_rms_g\"", "\"feature\": \"a\\nAction: none\"");
        let said = reason(read(topic, fault.as_bytes()));
        assert!(said.contains("trend.feature is") && !said.contains('\n'), "{said}");
        let ack = r#"{"schema":"pdm.ack/1","by":"a\nb","at":"2026-11-21T05:10:21Z"}"#;
        let said = reason(read("pdm/v1/ulsan-1/P-101/DE/ack", ack.as_bytes()));
        assert!(said.contains("by holds the character U+000A"), "{said}");
        let status = r#"{"schema":"pdm.gateway/1","gateway_id":"g","status":"online",
            "at":"2026-11-21T05:10:21Z","version":"\u202e1.0"}"#;
        let said = reason(read("pdm/v1/s/gateway/g/status", status.as_bytes()));
        assert!(said.contains("version holds the character U+202E"), "{said}");
    }

    proptest! {
        #[test]
        fn no_message_makes_it_panic(topic in "\\PC{0,60}",
            payload in prop::collection::vec(any::<u8>(), 0..300)) {
            let _incoming = read(&topic, &payload);
            let _incoming = read("pdm/v1/s/e/b/event", &payload);
        }

        #[test]
        fn a_damaged_event_is_taken_or_refused_never_a_panic(at in 0_usize..3000,
            byte in any::<u8>()) {
            let mut payload = EVENT.as_bytes().to_vec();
            let at = at % payload.len();
            payload[at] = byte;
            let _incoming = read("pdm/v1/ulsan-1/P-101/DE/event", &payload);
        }
    }
}
