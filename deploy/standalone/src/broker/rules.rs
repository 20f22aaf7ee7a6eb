//! Who may publish what, by the name of the client's certificate.
//!
//! The rules are those of `deploy/mosquitto/acl` for what is published: a gateway speaks under its own
//! name alone, staff acknowledges, shelves, reports work and asks for waveforms, the agent may everything. What is read is not restricted. A topic is
//! judged by its last levels, which the prefix of a plant comes before.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use rustls::pki_types::CertificateDer;

/// The name of an agent on another machine.
const AGENT: &str = "pdm-agent";
/// The name of staff, alone or before a dash and a person's name.
const STAFF: &str = "staff";

/// Most names of certificates that are remembered: eight times the connections that fit.
const NAMES: usize = 4096;

/// Which client ids are whose: a client that takes another's id throws it off the broker, and with a clean
/// start deletes its session.
///
/// A name is known from the first connection with its certificate on. Until then its id can be taken, and
/// is taken back by that connection.
#[derive(Debug, Default)]
pub(super) struct KnownNames {
    /// Clients inside of the process, which come by another way.
    inside: Vec<String>,
    seen: Mutex<BTreeSet<String>>,
}

impl KnownNames {
    pub(super) fn new(inside: Vec<String>) -> Self {
        Self { inside, seen: Mutex::default() }
    }

    /// Notes a certificate that was verified.
    pub(super) fn note(&self, name: &str) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < NAMES {
            seen.insert(name.to_owned());
        }
    }

    /// Whether the client with this name may connect with this id.
    pub(super) fn may_connect_as(&self, name: &str, client_id: &str) -> bool {
        if self.inside.iter().any(|one| one == client_id) {
            return false;
        }
        if client_id.starts_with(AGENT) {
            return name == AGENT || name == client_id;
        }
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        name == client_id || !seen.contains(client_id)
    }
}

/// Whether the client with this name may publish on this topic.
pub(super) fn may_publish(name: &str, topic: &str) -> bool {
    let levels: Vec<&str> = topic.rsplitn(6, '/').collect();
    // the last level first
    match levels[..] {
        _ if name == AGENT => true,
        ["ack" | "follow-up" | "shelve" | "capture", ..] => {
            name == STAFF || name.strip_prefix(STAFF).is_some_and(|n| n.starts_with('-'))
        }
        [gateway, "event", _, _, _, ..] | ["status", gateway, "gateway", _, ..] => {
            is_gateway(name) && gateway == name
        }
        ["state", _, _, _, ..] => is_gateway(name),
        _ => false,
    }
}

fn is_gateway(name: &str) -> bool {
    name != STAFF && !name.is_empty()
}

/// The common name of a certificate's subject; none if it has none or another than UTF-8.
pub(super) fn common_name(certificate: &CertificateDer<'_>) -> Option<String> {
    let (_, certificate, _) = element(certificate)?;
    let (_, mut body, _) = element(certificate)?;
    if body.first() == Some(&VERSION) {
        (_, _, body) = element(body)?;
    }
    // serial number, algorithm, issuer, validity
    for _ in 0..4 {
        (_, _, body) = element(body)?;
    }
    let (_, mut subject, _) = element(body)?;
    let mut name = None;
    while !subject.is_empty() {
        let (_, set, rest) = element(subject)?;
        let (_, attribute, _) = element(set)?;
        let (_, kind, value) = element(attribute)?;
        if kind == COMMON_NAME {
            let (_, text, _) = element(value)?;
            // the last one is the most specific, as for Mosquitto
            name = Some(std::str::from_utf8(text).ok()?.to_owned());
        }
        subject = rest;
    }
    name
}

/// The tag of the optional version at the head of a certificate.
const VERSION: u8 = 0xa0;
/// The object identifier 2.5.4.3.
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];

/// The first element of DER: its tag, its content, and what follows it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let (length, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
        if length.len() > 4 {
            return None;
        }
        (length.iter().fold(0, |sum, byte| (sum << 8) | usize::from(*byte)), rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_speaks_under_its_own_name_alone() {
        let may = |topic| may_publish("gw-02", topic);
        for own in [
            "pdm/v1/ulsan-1/P-101/DE/event/gw-02",
            "enterprise/site/area/line/ulsan-1/P-101/DE/event/gw-02",
            "pdm/v1/ulsan-1/P-101/DE/state",
            "pdm/v1/ulsan-1/gateway/gw-02/status",
        ] {
            assert!(may(own), "{own}");
        }
        for other in [
            "pdm/v1/ulsan-1/P-101/DE/event/gw-01",
            "pdm/v1/ulsan-1/P-101/DE/event",
            "pdm/v1/ulsan-1/gateway/gw-01/status",
            "pdm/v1/ulsan-1/gateway/gw-02/receipt",
            "pdm/v1/ulsan-1/P-101/DE/ack",
            "pdm/v1/ulsan-1/P-101/DE/diagnosis",
            "pdm/v1/dead-letter",
            "event/gw-02",
            "$SYS/x",
            "",
        ] {
            assert!(!may(other), "{other}");
        }
    }

    #[test]
    fn staff_acknowledges_shelves_reports_and_nothing_else() {
        for what in ["follow-up", "shelve", "capture"] {
            let topic = format!("pdm/v1/ulsan-1/P-101/DE/{what}");
            assert!(may_publish("staff-kim", &topic) && !may_publish("gw-02", &topic));
        }
        let ack = "pdm/v1/ulsan-1/P-101/DE/ack";
        assert!(may_publish("staff", ack) && may_publish("staff-kim", ack));
        assert!(!may_publish("staffgw", ack));
        assert!(!may_publish("staff", "pdm/v1/ulsan-1/P-101/DE/event/staff"));
        assert!(may_publish("pdm-agent", "pdm/v1/ulsan-1/P-101/DE/diagnosis"));
    }

    /// Issue 34, H2: one certificate held everybody off the broker by its client id.
    #[test]
    fn a_client_id_belongs_to_its_certificate() {
        let names = KnownNames::new(vec!["gw-own".to_owned()]);
        assert!(names.may_connect_as("gw-02", "gw-01"), "nobody knows gw-01 yet");
        names.note("gw-01");
        for another in ["gw-01", "gw-own", "pdm-agent", "pdm-agent-out", "pdm-agent-7"] {
            assert!(!names.may_connect_as("gw-02", another), "{another}");
        }
        for own in ["gw-02", "", "gw-02-check", "pdm-vibration", "mqttx_5"] {
            assert!(names.may_connect_as("gw-02", own), "{own}");
        }
        assert!(names.may_connect_as("gw-01", "gw-01"));
        assert!(names.may_connect_as("pdm-agent", "pdm-agent-out"));
        assert!(!names.may_connect_as("gw-own", "gw-own"), "the one inside is another");
    }

    #[test]
    fn broken_certificates_have_no_name() {
        for bytes in [&[][..], &[0x30], &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff], &[0x30, 0x80, 0x30]]
        {
            assert_eq!(common_name(&CertificateDer::from(bytes.to_vec())), None);
        }
    }
}
