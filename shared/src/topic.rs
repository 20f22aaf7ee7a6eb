//! MQTT topics: the only module that writes and parses them.

use std::fmt;

use crate::id::{BearingKey, GatewayId, NameError, SiteId};

/// The first levels of every topic, such as `pdm/v1` or a UNS path `enterprise/site/area/line`.
#[derive(
    Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
pub struct Prefix(String);

impl Prefix {
    /// Makes a prefix of one or more levels.
    ///
    /// # Errors
    /// [`NameError`] if a level is empty or holds a wildcard.
    pub fn new(prefix: impl Into<String>) -> Result<Self, NameError> {
        let prefix = prefix.into();
        let fits = prefix.len() <= 256
            && !prefix.starts_with('$')
            && prefix.split('/').all(|level| {
                !level.is_empty()
                    && !level.chars().any(|c| matches!(c, '+' | '#') || c.is_control())
            });
        if fits { Ok(Self(prefix)) } else { Err(NameError { what: "topic prefix", got: prefix }) }
    }

    /// The prefix as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Prefix {
    fn default() -> Self {
        Self("pdm/v1".to_owned())
    }
}

impl TryFrom<String> for Prefix {
    type Error = NameError;

    fn try_from(prefix: String) -> Result<Self, NameError> {
        Self::new(prefix)
    }
}

impl From<Prefix> for String {
    fn from(prefix: Prefix) -> Self {
        prefix.0
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The level in the place of a machine under which a gateway's own documents stand.
pub const GATEWAY_LEVEL: &str = "gateway";

/// The level in the place of a machine under which gateways stand whose events are refused.
pub const REFUSED_LEVEL: &str = "refused-events";

/// The level in the place of a machine under which gateways stand that cannot measure or keep their
/// events.
pub const TROUBLE_LEVEL: &str = "gateway-trouble";

/// The level in the place of a machine under which gateways stand that no longer measure a bearing
/// of theirs.
pub const UNMEASURED_LEVEL: &str = "not-measured";

/// The level in the place of a machine under which gateways stand that go on without some of their
/// bearings.
pub const NO_DATA_LEVEL: &str = "no-data";

/// Whether the name in the place of a machine stands for a gateway; no machine may have such a
/// name.
pub fn is_gateway_level(equipment: &str) -> bool {
    [GATEWAY_LEVEL, REFUSED_LEVEL, TROUBLE_LEVEL, UNMEASURED_LEVEL, NO_DATA_LEVEL]
        .contains(&equipment)
}

/// The kinds of topics of a bearing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BearingTopic {
    /// One event per window.
    Event,
    /// The last event in short, retained.
    State,
    /// The last diagnosis, retained.
    Diagnosis,
    /// Messages to staff.
    Notification,
    /// Acknowledgement by staff.
    Ack,
    /// Report by staff on the work that a judgement asked for.
    FollowUp,
    /// The last episode, retained.
    Episode,
    /// Request by staff to be told nothing for a time.
    Shelve,
    /// Request to the gateway to capture the waveform.
    Capture,
    /// Request to the gateway to learn the bearing anew.
    Relearn,
}

impl BearingTopic {
    const ALL: [Self; 10] = [
        Self::Event,
        Self::State,
        Self::Diagnosis,
        Self::Notification,
        Self::Ack,
        Self::FollowUp,
        Self::Episode,
        Self::Shelve,
        Self::Capture,
        Self::Relearn,
    ];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::State => "state",
            Self::Diagnosis => "diagnosis",
            Self::Notification => "notification",
            Self::Ack => "ack",
            Self::FollowUp => "follow-up",
            Self::Episode => "episode",
            Self::Shelve => "shelve",
            Self::Capture => "capture",
            Self::Relearn => "relearn",
        }
    }
}

/// The kinds of topics of a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GatewayTopic {
    /// Birth document and last will, retained.
    Status,
    /// The sequence numbers that the agent has stored, retained.
    Receipt,
}

impl GatewayTopic {
    const ALL: [Self; 2] = [Self::Status, Self::Receipt];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Receipt => "receipt",
        }
    }
}

/// A parsed topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Topic {
    /// `{prefix}/{site}/{equipment_id}/{bearing_id}/{what}`
    Bearing {
        /// The bearing.
        key: BearingKey,
        /// The kind of topic: event, state, diagnosis, …
        what: BearingTopic,
    },
    /// `{prefix}/{site}/{equipment_id}/{bearing_id}/event/{gateway_id}`: an event under a topic
    /// that names its gateway, so that the broker's access rules can hold the two together.
    GatewayEvent {
        /// The bearing.
        key: BearingKey,
        /// The gateway that sends.
        gateway: GatewayId,
    },
    /// `{prefix}/{site}/gateway/{gateway_id}/{what}`
    Gateway {
        /// The site of the gateway.
        site: SiteId,
        /// The gateway.
        gateway: GatewayId,
        /// The kind of topic: status or receipt.
        what: GatewayTopic,
    },
    /// `{prefix}/dead-letter`
    DeadLetter,
}

impl Topic {
    /// The topic as text.
    pub fn under(&self, prefix: &Prefix) -> String {
        match self {
            Self::Bearing { key, what } => format!("{prefix}/{key}/{}", what.as_str()),
            Self::GatewayEvent { key, gateway } => format!("{prefix}/{key}/event/{gateway}"),
            Self::Gateway { site, gateway, what } => {
                format!("{prefix}/{site}/gateway/{gateway}/{}", what.as_str())
            }
            Self::DeadLetter => format!("{prefix}/dead-letter"),
        }
    }

    /// Parses a topic; `None` if it does not have one of the forms above.
    pub fn parse(prefix: &Prefix, topic: &str) -> Option<Self> {
        let rest = topic.strip_prefix(prefix.as_str())?.strip_prefix('/')?;
        let levels: Vec<&str> = rest.split('/').collect();
        match levels[..] {
            ["dead-letter"] => Some(Self::DeadLetter),
            [site, "gateway", gateway, what]
                if GatewayTopic::ALL.iter().any(|topic| topic.as_str() == what) =>
            {
                Some(Self::Gateway {
                    site: site.parse().ok()?,
                    gateway: gateway.parse().ok()?,
                    what: GatewayTopic::ALL.into_iter().find(|topic| topic.as_str() == what)?,
                })
            }
            [site, equipment, bearing, what] => Some(Self::Bearing {
                key: BearingKey::parse(site, equipment, bearing).ok()?,
                what: BearingTopic::ALL.into_iter().find(|topic| topic.as_str() == what)?,
            }),
            [site, equipment, bearing, "event", gateway] => Some(Self::GatewayEvent {
                key: BearingKey::parse(site, equipment, bearing).ok()?,
                gateway: gateway.parse().ok()?,
            }),
            _ => None,
        }
    }

    /// The filter for one kind of bearing topic of every site, machine and bearing.
    pub fn bearing_filter(prefix: &Prefix, what: BearingTopic) -> String {
        format!("{prefix}/+/+/+/{}", what.as_str())
    }

    /// The filter for one kind of bearing topic of every machine and bearing of a site.
    pub fn bearing_filter_of(prefix: &Prefix, site: &SiteId, what: BearingTopic) -> String {
        format!("{prefix}/{site}/+/+/{}", what.as_str())
    }

    /// The filter for events of every bearing whose topic names the gateway.
    pub fn gateway_event_filter(prefix: &Prefix) -> String {
        format!("{prefix}/+/+/+/event/+")
    }

    /// The filter for one kind of gateway topic of every site and gateway.
    pub fn gateway_filter(prefix: &Prefix, what: GatewayTopic) -> String {
        format!("{prefix}/+/gateway/+/{}", what.as_str())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn topics_are_those_of_the_contract() {
        let prefix = Prefix::default();
        let topic = Topic::Bearing {
            key: BearingKey::parse("ulsan-1", "P-101", "DE").expect("names"),
            what: BearingTopic::Event,
        };
        assert_eq!(topic.under(&prefix), "pdm/v1/ulsan-1/P-101/DE/event");
        assert_eq!(Topic::DeadLetter.under(&prefix), "pdm/v1/dead-letter");
    }

    #[test]
    fn an_events_topic_may_name_its_gateway() {
        let prefix = Prefix::default();
        let topic = Topic::GatewayEvent {
            key: BearingKey::parse("ulsan-1", "P-101", "DE").expect("names"),
            gateway: "gw-01".parse().expect("name"),
        };
        let text = "pdm/v1/ulsan-1/P-101/DE/event/gw-01";
        assert_eq!(topic.under(&prefix), text);
        assert_eq!(Topic::parse(&prefix, text), Some(topic));
        assert_eq!(Topic::parse(&prefix, "pdm/v1/ulsan-1/P-101/DE/state/gw-01"), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            site in "[a-z가-힣0-9_.-]([a-z가-힣0-9 _.-]{0,10}[a-z가-힣0-9_.-])?",
            gateway in "[a-zA-Z0-9-]{1,12}",
            what in prop::sample::select(GatewayTopic::ALL.to_vec()),
        ) {
            // no name of a site
            prop_assume!(site != "." && site != "..");
            let prefix = Prefix::new("enterprise/site/area").expect("prefix");
            let topic = Topic::Gateway {
                site: site.parse().expect("name"), gateway: gateway.parse().expect("name"), what,
            };
            prop_assert_eq!(Topic::parse(&prefix, &topic.under(&prefix)), Some(topic));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "\\PC*") {
            let _unused = Topic::parse(&Prefix::default(), &text);
        }
    }
}
