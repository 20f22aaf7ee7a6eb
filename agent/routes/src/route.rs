//! A route: which alarms it takes, and the steps by which people hear of them.

use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use serde::Deserialize;

use crate::hours::{Hours, Zone};

/// A route. The first one of a table that takes an alarm decides.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// Its name.
    pub name: String,
    /// Sites; `*` stands for any characters. Without them every site.
    #[serde(default)]
    pub sites: Vec<String>,
    /// Machines, as the sites.
    #[serde(default)]
    pub equipment: Vec<String>,
    /// The lowest level.
    #[serde(default)]
    pub from: Option<RiskLevel>,
    /// The highest level.
    #[serde(default)]
    pub to: Option<RiskLevel>,
    /// Hours of the week; without them always.
    #[serde(default)]
    pub hours: Vec<Hours>,
    /// The clock of the hours; without it that of the table.
    #[serde(default)]
    pub zone: Option<Zone>,
    /// The steps, in the order of their time.
    pub step: Vec<RouteStep>,
}

/// A step of a route.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteStep {
    /// Minutes after the first message, as long as nobody acknowledges.
    #[serde(default)]
    pub after_minutes: u32,
    /// People, groups, rotas and channels by name.
    pub to: Vec<String>,
}

impl Route {
    /// Whether the route takes an alarm of this level at this time.
    pub fn takes(&self, key: &BearingKey, level: RiskLevel, zone: Zone, at: Timestamp) -> bool {
        let fits = |patterns: &[String], name: &str| {
            patterns.is_empty() || patterns.iter().any(|pattern| is_like(pattern, name))
        };
        let zone = self.zone.unwrap_or(zone);
        let is_time = || self.hours.is_empty() || self.hours.iter().any(|one| one.hold(zone, at));
        self.from.is_none_or(|from| level >= from)
            && self.to.is_none_or(|to| level <= to)
            && fits(&self.sites, key.site.as_str())
            && fits(&self.equipment, key.equipment.as_str())
            && is_time()
    }

    /// Whether the route takes every alarm at every time.
    pub fn is_for_all(&self) -> bool {
        let is_any = |patterns: &[String]| {
            patterns.is_empty() || patterns.iter().any(|pattern| pattern == "*")
        };
        let is_from = self.from.is_none_or(|from| from == RiskLevel::Normal);
        let is_to = self.to.is_none_or(|to| to == RiskLevel::Critical);
        is_any(&self.sites) && is_any(&self.equipment) && self.hours.is_empty() && is_from && is_to
    }
}

/// Whether a name is like a pattern, in which `*` stands for any characters.
fn is_like(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, name) in [("P-*", "P-101"), ("*", "x"), ("*-1", "a-1"), ("a*b*c", "aXbYbc")] {
            assert!(is_like(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("P-*", "Q-101"), ("P", "P-1"), ("a*b", "ac"), ("ab*b", "ab")] {
            assert!(!is_like(pattern, name), "{pattern} {name}");
        }
    }
}
