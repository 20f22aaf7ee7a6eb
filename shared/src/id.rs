//! Names of sites, machines, bearings, measuring points and gateways, and the identity of an event.
//!
//! A name is one level of an MQTT topic, so a text that cannot be one is refused. The check is at
//! construction and at deserialisation, so every existing name is safe in a topic, a path and a
//! log.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Longest name, bytes. No data chose it: three names and a prefix stay far below MQTT's limit of
/// 65,535 bytes for a topic, and the names of plants fit.
pub const MAX_NAME_BYTES: usize = 64;

/// A name that cannot be a topic level. The caller reports it with the key it came from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{got:?} is no {what}: 1 to {MAX_NAME_BYTES} bytes without '/', '+', '#', '$' at the start, \
     control characters or spaces at either end"
)]
pub struct NameError {
    /// The kind of name.
    pub what: &'static str,
    /// The text that was given.
    pub got: String,
}

fn checked(what: &'static str, name: String) -> Result<String, NameError> {
    let fits = !name.is_empty()
        && name.len() <= MAX_NAME_BYTES
        && !name.starts_with('$')
        && name.trim() == name
        && !name.chars().any(|c| matches!(c, '/' | '+' | '#') || c.is_control());
    if fits { Ok(name) } else { Err(NameError { what, got: name }) }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schemars(extend("minLength" = 1, "maxLength" = 64, "pattern" = "^[^/+#]+$"))]
        pub struct $name(String);

        impl $name {
            /// Makes a name from a text.
            ///
            /// # Errors
            /// [`NameError`] if it cannot be one level of a topic.
            pub fn new(name: impl Into<String>) -> Result<Self, NameError> {
                checked($what, name.into()).map(Self)
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(name: String) -> Result<Self, NameError> {
                Self::new(name)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = NameError;

            fn from_str(name: &str) -> Result<Self, NameError> {
                Self::new(name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(
    /// A plant or factory.
    SiteId, "site name"
);
name!(
    /// A machine.
    EquipmentId, "equipment name"
);
name!(
    /// A bearing of a machine.
    BearingId, "bearing name"
);
name!(
    /// Location and direction of a sensor on a bearing (ISO 13373-1), such as `DE-H`.
    MeasuringPoint, "measuring point"
);
name!(
    /// An edge gateway.
    GatewayId, "gateway name"
);

/// A bearing's full name, unique in a company.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct BearingKey {
    /// The plant or factory.
    pub site: SiteId,
    /// The machine of that site.
    pub equipment: EquipmentId,
    /// The bearing of that machine.
    pub bearing: BearingId,
}

impl BearingKey {
    /// Reads the three names.
    ///
    /// # Errors
    /// [`NameError`] of the first text that is not a name.
    pub fn parse(site: &str, equipment: &str, bearing: &str) -> Result<Self, NameError> {
        Ok(Self { site: site.parse()?, equipment: equipment.parse()?, bearing: bearing.parse()? })
    }

    /// The name within the site, `equipment/bearing`, as a gateway's status lists it.
    pub fn within_site(&self) -> String {
        format!("{}/{}", self.equipment, self.bearing)
    }
}

impl fmt::Display for BearingKey {
    /// `site/equipment/bearing`: the levels of the bearing's topics.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.site, self.equipment, self.bearing)
    }
}

/// The identity of an event and its de-duplication key: a UUIDv7, made once when the window closes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct EventId(pub Uuid);

impl EventId {
    /// A new identity whose time part is `unix_ms`.
    pub fn at(unix_ms: i64) -> Self {
        let ms = u64::try_from(unix_ms).unwrap_or(0);
        let time = uuid::Timestamp::from_unix(
            uuid::NoContext,
            ms / 1000,
            u32::try_from(ms % 1000).unwrap_or(0) * 1_000_000,
        );
        Self(Uuid::new_v7(time))
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for EventId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_would_break_a_topic_is_refused() {
        for bad in ["", "a/b", "+", "#", "$SYS", " a", "a\n", &"x".repeat(65)] {
            assert!(BearingId::new(bad).is_err(), "{bad:?}");
        }
        for good in ["DE", "P-101", "펌프 1호", "bearing_1.x"] {
            assert!(BearingId::new(good).is_ok(), "{good:?}");
        }
    }

    #[test]
    fn an_event_id_is_version_7_and_carries_its_time() {
        let id = EventId::at(1_795_238_000_123);
        assert_eq!(id.0.get_version_num(), 7);
        let (seconds, nanos) = id.0.get_timestamp().expect("v7 has a time").to_unix();
        assert_eq!((seconds, nanos / 1_000_000), (1_795_238_000, 123));
    }
}
