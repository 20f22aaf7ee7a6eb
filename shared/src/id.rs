//! Names of sites, machines, bearings, measuring points and gateways, and the identity of an event.
//!
//! A name is one level of an MQTT topic, so a text that cannot be one is refused. The check is at
//! construction and at deserialisation, so every existing name is safe in a topic, a path and a
//! log.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::bounds::{in_one_line, is_deceptive};

pub use crate::bounds::MAX_NAME_BYTES;

/// The pattern of a name in JSON Schema: one level of a topic on one line.
const NAME_PATTERN: &str = "^[^/+#\\u0000-\\u001f\\u007f-\\u00a0\\u00ad\\u02d7\\u034f\\u061c\\u06d4\
\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f\\u2000-\\u2015\\u2028-\\u202f\\u2043\\u205f-\\u206f\
\\u2212\\u2796\\u2800\\u2cba\\u3000\\u3164\\ufe00-\\ufe0f\\ufe58\\ufe63\\ufeff\\uff0d\\uffa0\\ufff0-\\ufffb]+$";

/// A name that cannot be a topic level. The caller reports it with the key it came from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{got:?} is no {what}: 1 to {MAX_NAME_BYTES} bytes without '/', '+', '#', '$' at the start, \
     control or direction characters, without characters that show nothing or as '-' and without \
     spaces at either end, and neither \".\" nor \"..\"",
    got = in_one_line(got, 2 * MAX_NAME_BYTES)
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
        // browsers fold these in a path, so that the pages of such a machine could not be opened
        && !matches!(name.as_str(), "." | "..")
        && !name.chars().any(|c| matches!(c, '/' | '+' | '#') || is_deceptive(c));
    if fits { Ok(name) } else { Err(NameError { what, got: name }) }
}

/// A name from any text: what [`checked`] refuses becomes `_`, what is too long is cut off.
fn forced(text: &str) -> String {
    let fits = |first: bool, c: char| {
        !(matches!(c, '/' | '+' | '#') || is_deceptive(c) || (first && c == '$'))
    };
    let mut name = String::new();
    for c in text.trim().chars() {
        let c = if fits(name.is_empty(), c) { c } else { '_' };
        if name.len() + c.len_utf8() > MAX_NAME_BYTES {
            break;
        }
        name.push(c);
    }
    // the cut may have left a space at the end
    match name.trim_end() {
        "" => "_".to_owned(),
        "." => "_.".to_owned(),
        ".." => "_..".to_owned(),
        name => name.to_owned(),
    }
}

/// Matches the texts that the pattern of a name cannot exclude: see [`checked`].
const NO_NAME: &str = "^\\.{1,2}$|^\\$|^\\s|\\s$";

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
            JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schemars(extend("minLength" = 1, "maxLength" = 64, "pattern" = NAME_PATTERN))]
        #[schemars(extend("not" = serde_json::json!({ "pattern": NO_NAME })))]
        pub struct $name(String);

        impl $name {
            /// Makes a name from a text.
            ///
            /// # Errors
            /// [`NameError`] if it cannot be one level of a topic.
            pub fn new(name: impl Into<String>) -> Result<Self, NameError> {
                checked($what, name.into()).map(Self)
            }

            /// Makes a name from any text, such as a file's name: characters that no name holds
            /// become `_`, and what is longer than [`MAX_NAME_BYTES`] is cut off.
            pub fn from_any(text: &str) -> Self {
                Self(forced(text))
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

/// A gateway's full name: two sites may use one gateway name.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct GatewayKey {
    /// The plant or factory.
    pub site: SiteId,
    /// The gateway of that site.
    pub gateway: GatewayId,
}

impl GatewayKey {
    /// The gateway of a site.
    pub const fn new(site: SiteId, gateway: GatewayId) -> Self {
        Self { site, gateway }
    }
}

impl fmt::Display for GatewayKey {
    /// `site/gateway`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.site, self.gateway)
    }
}

impl std::str::FromStr for GatewayKey {
    type Err = NameError;

    /// Reads `site/gateway`.
    fn from_str(text: &str) -> Result<Self, NameError> {
        let Some((site, gateway)) = text.split_once('/') else {
            return Err(NameError { what: "site/gateway", got: text.to_owned() });
        };
        Ok(Self { site: site.parse()?, gateway: gateway.parse()? })
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

/// The identity of one count of sequence numbers: a UUIDv7, made when a gateway's spool begins to
/// count. A spool that is lost and made anew has another one, so its numbers are never taken for
/// those of before. Only the gateway, the broker and the agent know it: its 74 random bits cannot
/// be guessed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Epoch(pub Uuid);

impl Epoch {
    /// A new identity whose time part is `unix_ms`.
    pub fn at(unix_ms: i64) -> Self {
        Self(EventId::at(unix_ms).0)
    }
}

impl fmt::Display for Epoch {
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
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_becomes_a_name(text in any::<String>(), spaces in "[ /+#$\t\n\u{2028}]{0,80}") {
            for text in [text.clone(), format!("{spaces}{text}{spaces}"), spaces] {
                prop_assert!(EquipmentId::new(EquipmentId::from_any(&text).as_str()).is_ok());
            }
        }

        #[test]
        fn a_name_stays_what_it_is(text in "\\PC{1,20}") {
            if let Ok(name) = EquipmentId::new(text) {
                prop_assert_eq!(EquipmentId::from_any(name.as_str()), name);
            }
        }
    }

    #[test]
    fn a_name_that_would_break_a_topic_is_refused() {
        for bad in
            ["", "a/b", "+", "#", "$SYS", " a", "a\n", ".", "..", "\u{2066}P", &"x".repeat(65)]
        {
            assert!(BearingId::new(bad).is_err(), "{bad:?}");
        }
        for good in ["DE", "P-101", "펌프 1호", "bearing_1.x", "..."] {
            assert!(BearingId::new(good).is_ok(), "{good:?}");
        }
    }

    /// R-EDGE-10: eleven names that look as `P-101` were told as alarms of a machine that there is
    /// not.
    #[test]
    fn a_name_that_shows_as_another_one_is_refused_and_names_of_every_script_are_taken() {
        for hidden in [
            0x3164, 0x2800, 0xfe0f, 0x034f, 0xffa0, 0x1160, 0x17b4, 0x180b, 0x1_d173, 0x1_bca0,
            0x00a0, 0x3000, 0x200b, 0xe_0061, 0xe_0101,
        ] {
            let hidden = char::from_u32(hidden).expect("a character");
            for name in [format!("P-101{hidden}"), format!("P{hidden}-101")] {
                assert!(EquipmentId::new(name.clone()).is_err(), "{name:?}");
                let near = EquipmentId::from_any(&name);
                assert!(near.as_str().is_ascii(), "{near}");
            }
        }
        for dash in ['\u{2010}', '\u{2011}', '\u{2013}', '\u{2212}', '\u{ff0d}', '\u{2d7}'] {
            assert!(EquipmentId::new(format!("P{dash}101")).is_err(), "{dash:?}");
        }
        for good in
            ["급수펌프 1호", "ポンプー3", "给水泵-2", "Насос-4", "pompe_à_eau", "ΔP-7", "กังหัน"]
        {
            assert!(EquipmentId::new(good).is_ok(), "{good}");
        }
    }

    /// What the schema refuses and what the program refuses are the same characters.
    #[test]
    fn the_pattern_of_a_name_has_every_character_that_is_refused() {
        let listed = NAME_PATTERN.trim_start_matches("^[^/+#").trim_end_matches("]+$");
        let code = |text: &str| u32::from_str_radix(&text[2..6], 16).expect("four digits");
        let (mut rest, mut named) = (listed, std::collections::BTreeSet::new());
        while !rest.is_empty() {
            let first = code(rest);
            rest = &rest[6..];
            let mut last = first;
            if let Some(range) = rest.strip_prefix('-') {
                (last, rest) = (code(range), &range[6..]);
            }
            named.extend(first..=last);
        }
        let refused = (0..=0xffff_u32).filter(|code| {
            char::from_u32(*code).is_some_and(|c| is_deceptive(c) && !matches!(c, '/' | '+' | '#'))
        });
        assert_eq!(named, refused.collect());
    }

    #[test]
    fn an_event_id_is_version_7_and_carries_its_time() {
        let id = EventId::at(1_795_238_000_123);
        assert_eq!(id.0.get_version_num(), 7);
        let (seconds, nanos) = id.0.get_timestamp().expect("v7 has a time").to_unix();
        assert_eq!((seconds, nanos / 1_000_000), (1_795_238_000, 123));
    }
}
