//! Decides who may publish what, by the name of the client's certificate.
//!
//! The rules are those of `deploy/mosquitto/acl` for what is published: a gateway speaks under its
//! own name alone, staff acknowledges, shelves, reports work and asks for waveforms, the agent may
//! everything. What is read is not restricted. A topic is judged by its last levels, which the
//! prefix of a plant comes before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use pdm_shared::bounds::{MAX_BEARINGS, MAX_DOCUMENT_BYTES};
use rustls::pki_types::CertificateDer;

/// The name of an agent on another machine.
const AGENT: &str = "pdm-agent";
/// The name of staff, alone or before a dash and a person's name.
const STAFF: &str = "staff";

/// Most names of certificates that are remembered: eight times the connections that fit.
const NAMES: usize = 4096;

/// Most connections of one certificate at once. Chosen: a gateway has one, and one for each source
/// on this broker; people of one certificate have some programs each.
pub(super) const CONNECTIONS_OF_ONE: usize = 16;
/// Most sessions that outlive their connections, by certificate and start of the broker: each may
/// hold a queue.
pub(super) const CLIENTS_OF_ONE: usize = 6;

/// Most topics on which the broker retains messages of one certificate. Chosen: as many bearings as
/// a gateway's status lists, and its statuses.
const RETAINED_OF_ONE: usize = MAX_BEARINGS + 16;
/// Most topics with retained messages of all certificates, some 200 bytes of memory each.
const RETAINED: usize = 16 * RETAINED_OF_ONE;
/// Largest state that is retained. Chosen: eight times that of a bearing with every field.
const MAX_STATE: usize = 16 * 1024;

/// Which client ids are whose: a client that takes another's id throws it off the broker, and with
/// a clean start deletes its session.
///
/// A name is known from the first connection with its certificate on. Until then its id can be
/// taken, and is taken back by that connection.
#[derive(Debug, Default)]
pub(super) struct KnownNames {
    /// Clients inside of the process, which come by another way.
    inside: Vec<String>,
    seen: Mutex<BTreeSet<String>>,
    /// The sessions of each certificate.
    sessions: Mutex<BTreeMap<String, BTreeSet<String>>>,
    /// The certificates by the topics on which they had messages retained first.
    retained: Mutex<BTreeMap<String, String>>,
    /// The open connections of each certificate.
    open: Arc<Mutex<BTreeMap<String, usize>>>,
}

/// The connection of a certificate; it ends where this is dropped.
#[derive(Debug)]
pub(super) struct OpenConnection {
    open: Arc<Mutex<BTreeMap<String, usize>>>,
    name: String,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.name) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                open.remove(&self.name);
            }
        }
    }
}

impl KnownNames {
    pub(super) fn new(inside: Vec<String>) -> Self {
        Self { inside, ..Self::default() }
    }

    /// Notes a certificate that was verified.
    pub(super) fn note(&self, name: &str) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < NAMES {
            seen.insert(name.to_owned());
        }
    }

    /// A connection of this name, if it has not its most already.
    pub(super) fn connects(&self, name: &str) -> Option<OpenConnection> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(name.to_owned()).or_default();
        if *count >= CONNECTIONS_OF_ONE {
            return None;
        }
        *count += 1;
        Some(OpenConnection { open: Arc::clone(&self.open), name: name.to_owned() })
    }

    /// Whether the broker may keep a session of this name under this id.
    pub(super) fn may_keep(&self, name: &str, client_id: &str) -> bool {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= NAMES && !sessions.contains_key(name) {
            return false;
        }
        let own = sessions.entry(name.to_owned()).or_default();
        // without an id the broker makes one, which nobody comes back with
        if client_id.is_empty() || (own.len() >= CLIENTS_OF_ONE && !own.contains(client_id)) {
            return false;
        }
        own.insert(client_id.to_owned());
        true
    }

    /// Whether the broker may retain a message of this name of so many bytes on a topic. A topic is
    /// its who had a message retained on it first, so that nobody writes over the state of
    /// another's bearing.
    pub(super) fn may_retain(&self, name: &str, topic: &str, bytes: usize) -> bool {
        if name == AGENT {
            return true;
        }
        let most = match topic.rsplit('/').next() {
            Some("state") => MAX_STATE,
            Some("status" | "capture") => MAX_DOCUMENT_BYTES + MAX_STATE,
            // events and acknowledgements are of their moment
            Some(_) | None => return false,
        };
        if bytes > most {
            return false;
        }
        let mut retained = self.retained.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(owner) = retained.get(topic) {
            return owner == name;
        }
        let own = retained.values().filter(|owner| *owner == name).count();
        let fits = own < RETAINED_OF_ONE && retained.len() < RETAINED;
        if fits {
            retained.insert(topic.to_owned(), name.to_owned());
        }
        fits
    }

    /// Whether a client of this process has this id, which then nobody else may have.
    pub(super) fn is_inside(&self, client_id: &str) -> bool {
        self.inside.iter().any(|one| one == client_id)
    }

    /// Whether the client with this name may connect with this id.
    pub(super) fn may_connect_as(&self, name: &str, client_id: &str) -> bool {
        if self.is_inside(client_id) {
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
        [gateway, "event", bearing, _, _, ..] => {
            is_gateway(name) && gateway == name && !is_of_topics(bearing)
        }
        ["status", gateway, "gateway", _, ..] => is_gateway(name) && gateway == name,
        ["state", bearing, _, _, ..] => is_gateway(name) && !is_of_topics(bearing),
        _ => false,
    }
}

/// Whether a level is the last one of another topic of a bearing: what stands behind it is no event
/// of a bearing.
fn is_of_topics(level: &str) -> bool {
    let others = [
        "ack",
        "follow-up",
        "shelve",
        "capture",
        "relearn",
        "diagnosis",
        "episode",
        "notification",
    ];
    others.contains(&level)
}

fn is_gateway(name: &str) -> bool {
    name != STAFF && !name.is_empty()
}

/// Returns the common name of a certificate's subject; `None` if it has none, or one that is not
/// UTF-8.
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
            "pdm/v1/ulsan-1/P-101/DE/ack/event/gw-02",
            "pdm/v1/ulsan-1/P-101/DE/diagnosis/state",
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

    /// R-DEPLOY: one certificate took all places of the broker, and its memory by sessions that
    /// nobody reads.
    #[test]
    fn a_certificate_has_a_share_of_connections_and_sessions() {
        let names = KnownNames::new(Vec::new());
        let mut open: Vec<_> = (0..CONNECTIONS_OF_ONE).map(|_| names.connects("gw-02")).collect();
        assert!(open.iter().all(Option::is_some) && names.connects("gw-02").is_none());
        assert!(names.connects("gw-03").is_some(), "another's are its own");
        open.pop();
        assert!(names.connects("gw-02").is_some(), "one has ended");
        let kept = (0..100).filter(|n| names.may_keep("gw-02", &format!("s{n}"))).count();
        assert_eq!(kept, CLIENTS_OF_ONE);
        assert!(names.may_keep("gw-02", "s0"), "the same session again");
        assert!(names.may_keep("gw-03", "s0") && !names.may_keep("gw-03", ""));
    }

    /// R-DEPLOY: a gateway wrote over the retained state of another's bearing, and 270 MiB of
    /// invented names.
    #[test]
    fn what_is_retained_is_the_first_ones_and_has_a_ceiling() {
        let names = KnownNames::new(Vec::new());
        let state = "pdm/v1/ulsan-1/P-101/DE/state";
        assert!(names.may_retain("gw-01", state, 900) && names.may_retain("gw-01", state, 0));
        assert!(!names.may_retain("gw-02", state, 900) && !names.may_retain("gw-02", state, 0));
        assert!(!names.may_retain("gw-02", "pdm/v1/ulsan-1/X-1/DE/event/gw-02", 900));
        assert!(!names.may_retain("gw-02", "pdm/v1/ulsan-1/X-1/DE/state", 200_000), "too large");
        assert!(names.may_retain("gw-02", "pdm/v1/ulsan-1/gateway/gw-02/status", 140_000));
        let kept = (0..5_000)
            .filter(|n| names.may_retain("gw-02", &format!("pdm/v1/ulsan-1/X-{n}/DE/state"), 900));
        assert_eq!(kept.count(), RETAINED_OF_ONE - 1);
        assert!(names.may_retain("gw-01", "pdm/v1/ulsan-1/P-102/DE/state", 900), "its own share");
        assert!(names.may_retain("pdm-agent", state, 900));
    }

    #[test]
    fn broken_certificates_have_no_name() {
        for bytes in [&[][..], &[0x30], &[0x30, 0x84, 0xff, 0xff, 0xff, 0xff], &[0x30, 0x80, 0x30]]
        {
            assert_eq!(common_name(&CertificateDer::from(bytes.to_vec())), None);
        }
    }
}
