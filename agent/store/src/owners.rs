//! `[[gateways]]`: which gateway measures which bearings.
//!
//! A bearing that no entry names belongs to the gateway of its first event; the store remembers it.

use std::path::Path;

use pdm_service::config::ConfigError;
use pdm_service::secret::SecretSource;
use pdm_shared::id::{BearingId, BearingKey, EquipmentId, GatewayId, GatewayKey, SiteId};
use serde::Deserialize;

/// One entry of `[[gateways]]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GatewaySettings {
    /// Site of the gateway and of its bearings.
    pub site: SiteId,
    /// The gateway.
    pub gateway: GatewayId,
    /// Its bearings, as `equipment/bearing`; either may be `*`. None: those of its first events.
    #[serde(default)]
    pub bearings: Vec<BearingPattern>,
    /// The token with which it sends captured waveforms; without one it may send none.
    #[serde(default)]
    pub token: Option<SecretSource>,
    /// Whether the topic of its events has to name it.
    #[serde(default)]
    pub topic: TopicRule,
}

/// Whether the topic of an event has to name its gateway.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TopicRule {
    /// Both forms of the topic are taken.
    #[default]
    Accepted,
    /// An event whose topic names no gateway is refused.
    Required,
}

/// Bearings of a site: `equipment/bearing`, where either may be `*` for every one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct BearingPattern {
    equipment: Option<EquipmentId>,
    bearing: Option<BearingId>,
}

/// A text that names no bearings.
#[derive(Debug, thiserror::Error)]
#[error("{got:?} names no bearings, allowed is \"equipment/bearing\", where either may be \"*\"")]
pub struct PatternError {
    got: String,
}

impl TryFrom<String> for BearingPattern {
    type Error = PatternError;

    fn try_from(text: String) -> Result<Self, PatternError> {
        let read = || {
            let (equipment, bearing) = text.split_once('/')?;
            let equipment = (equipment != "*").then(|| EquipmentId::new(equipment));
            let bearing = (bearing != "*").then(|| BearingId::new(bearing));
            Some(Self {
                equipment: equipment.transpose().ok()?,
                bearing: bearing.transpose().ok()?,
            })
        };
        read().ok_or_else(|| PatternError { got: text.clone() })
    }
}

impl BearingPattern {
    fn names(&self, key: &BearingKey) -> bool {
        self.equipment.as_ref().is_none_or(|equipment| *equipment == key.equipment)
            && self.bearing.as_ref().is_none_or(|bearing| *bearing == key.bearing)
    }

    /// Returns how closely the pattern names a bearing: `P-101/DE` before `P-101/*` before `*/DE`.
    const fn rank(&self) -> u8 {
        2 * self.equipment.is_some() as u8 + self.bearing.is_some() as u8
    }
}

/// The configured gateways.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BearingOwners(Vec<GatewaySettings>);

impl BearingOwners {
    /// Checks that no two gateways of a site name the same bearings in the same words.
    ///
    /// # Errors
    /// [`ConfigError`] with the entry of the second one.
    pub fn of_settings(path: &Path, entries: Vec<GatewaySettings>) -> Result<Self, ConfigError> {
        for (at, entry) in entries.iter().enumerate() {
            for pattern in &entry.bearings {
                let other = entries[..at].iter().find(|other| {
                    other.site == entry.site
                        && other.gateway != entry.gateway
                        && other.bearings.contains(pattern)
                });
                if let Some(other) = other {
                    let allowed = format!(
                        "bearings that gateway {} of this site does not name too",
                        other.gateway
                    );
                    let key = format!("gateways[{at}].bearings");
                    return Err(ConfigError::value(path, key, format!("{pattern:?}"), allowed));
                }
            }
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let rooted = entries.into_iter().map(|entry| GatewaySettings {
            token: entry.token.map(|token| token.rooted(folder)),
            ..entry
        });
        Ok(Self(rooted.collect()))
    }

    /// The gateways that may send captured waveforms, with their tokens.
    pub fn tokens(&self) -> impl Iterator<Item = (GatewayKey, &SecretSource)> {
        let named =
            |entry: &GatewaySettings| GatewayKey::new(entry.site.clone(), entry.gateway.clone());
        self.0.iter().filter_map(move |entry| Some((named(entry), entry.token.as_ref()?)))
    }

    /// Every gateway that the configuration names, in its order.
    pub fn gateways(&self) -> impl Iterator<Item = GatewayKey> {
        self.0.iter().map(|entry| GatewayKey::new(entry.site.clone(), entry.gateway.clone()))
    }

    /// Whether the topic of this gateway's events has to name it.
    pub fn requires_topic(&self, gateway: &GatewayKey) -> bool {
        let is_it = |entry: &&GatewaySettings| {
            entry.site == gateway.site && entry.gateway == gateway.gateway
        };
        self.0.iter().filter(is_it).any(|entry| entry.topic == TopicRule::Required)
    }

    /// Whether the configuration names a gateway.
    pub fn names(&self, gateway: &GatewayKey) -> bool {
        self.0.iter().any(|entry| entry.site == gateway.site && entry.gateway == gateway.gateway)
    }

    /// The gateway that the configuration names for a bearing: that of the closest pattern.
    pub fn of(&self, key: &BearingKey) -> Option<GatewayKey> {
        let of_site = self.0.iter().filter(|entry| entry.site == key.site);
        let matches = of_site.flat_map(|entry| {
            let named = entry.bearings.iter().filter(|pattern| pattern.names(key));
            named.map(move |pattern| (pattern.rank(), entry))
        });
        let (_, entry) = matches.max_by_key(|(rank, _)| *rank)?;
        Some(GatewayKey::new(entry.site.clone(), entry.gateway.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(gateway: &str, bearings: &[&str]) -> GatewaySettings {
        GatewaySettings {
            site: "s".parse().expect("name"),
            gateway: gateway.parse().expect("name"),
            bearings: bearings
                .iter()
                .map(|text| BearingPattern::try_from((*text).to_owned()).expect("pattern"))
                .collect(),
            token: None,
            topic: TopicRule::Accepted,
        }
    }

    #[test]
    fn the_closest_entry_names_the_gateway_of_a_bearing() {
        let entries = vec![entry("gw-01", &["P-1/*", "*/NDE"]), entry("gw-02", &["P-1/DE"])];
        let owners = BearingOwners::of_settings(Path::new("agent.toml"), entries).expect("valid");
        let of = |site: &str, equipment: &str, bearing: &str| {
            let key = BearingKey::parse(site, equipment, bearing).expect("names");
            owners.of(&key).map(|gateway| gateway.gateway.to_string())
        };
        assert_eq!(of("s", "P-1", "DE").as_deref(), Some("gw-02"));
        assert_eq!(of("s", "P-1", "NDE").as_deref(), Some("gw-01"));
        assert_eq!(of("s", "P-2", "NDE").as_deref(), Some("gw-01"));
        assert_eq!(of("s", "P-2", "DE"), None);
        assert_eq!(of("t", "P-1", "DE"), None);
    }

    #[test]
    fn two_gateways_that_name_the_same_bearings_are_refused() {
        let entries = vec![entry("gw-01", &["P-1/*"]), entry("gw-02", &["P-1/*"])];
        let error = BearingOwners::of_settings(Path::new("agent.toml"), entries).expect_err("both");
        let text = error.to_string();
        assert!(text.contains("gateways[1].bearings") && text.contains("gw-01"), "{text}");
        assert!(BearingPattern::try_from("P-1".to_owned()).is_err());
    }
}
