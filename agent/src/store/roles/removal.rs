//! Taking out of the store what is gone from the plant, and giving what has another name its new one.

use async_trait::async_trait;
use pdm_shared::id::{BearingId, BearingKey, EquipmentId, GatewayKey, NameError, SiteId};
use pdm_shared::time::Timestamp;
use pdm_shared::topic::Prefix;

use crate::store::StoreError;

/// A site, a machine of it, or a bearing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantPart {
    /// The site.
    pub site: SiteId,
    /// The machine; none for all of the site.
    pub equipment: Option<EquipmentId>,
    /// The bearing; none for all of the machine.
    pub bearing: Option<BearingId>,
}

impl std::str::FromStr for PlantPart {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let mut parts = text.splitn(3, '/');
        Ok(Self {
            site: SiteId::new(parts.next().unwrap_or_default())?,
            equipment: parts.next().map(EquipmentId::new).transpose()?,
            bearing: parts.next().map(BearingId::new).transpose()?,
        })
    }
}

impl std::fmt::Display for PlantPart {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}", self.site)?;
        self.equipment.iter().try_for_each(|name| write!(out, "/{name}"))?;
        self.bearing.iter().try_for_each(|name| write!(out, "/{name}"))
    }
}

impl PlantPart {
    /// The same bearing in the part that `self` was renamed to; none where they name different levels.
    pub(crate) fn renamed(&self, to: &Self, key: &BearingKey) -> Option<BearingKey> {
        if self.equipment.is_some() != to.equipment.is_some()
            || self.bearing.is_some() != to.bearing.is_some()
        {
            return None;
        }
        Some(BearingKey {
            site: to.site.clone(),
            equipment: to.equipment.clone().unwrap_or_else(|| key.equipment.clone()),
            bearing: to.bearing.clone().unwrap_or_else(|| key.bearing.clone()),
        })
    }
}

/// How something is taken out.
#[derive(Debug, Clone)]
pub struct Removal {
    /// The first levels of the topics that are cleared.
    pub prefix: Prefix,
    /// Who asks.
    pub by: String,
    /// The way that it takes: `cli`, `api`, `page`.
    pub via: String,
    /// Why, as it stands in the work that is closed.
    pub reason: String,
    /// When.
    pub now: Timestamp,
    /// Say what would be taken out, and leave it.
    pub is_dry: bool,
}

/// What was taken out or renamed, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TakenOut {
    /// The bearings.
    pub bearings: Vec<BearingKey>,
    /// The gateways.
    pub gateways: Vec<GatewayKey>,
    /// Open episodes that were closed.
    pub episodes: u64,
    /// Open work that was dropped.
    pub work: u64,
    /// Events that waited for a judgement and will have none.
    pub waiting: u64,
    /// Retained topics that the broker is told to forget.
    pub topics: u64,
}

impl TakenOut {
    /// Whether anything of that name was known.
    pub fn is_something(&self) -> bool {
        !self.bearings.is_empty() || !self.gateways.is_empty()
    }
}

/// Taking out and renaming; used by the command line and the HTTP server.
#[async_trait]
pub trait RemovalStore: Send + Sync + std::fmt::Debug {
    /// Takes bearings out: episodes and work are closed, the state and the owner are forgotten, retained
    /// topics are cleared. Events, judgements and notifications stay for as long as they are kept.
    async fn take_out(&self, part: &PlantPart, how: &Removal) -> Result<TakenOut, StoreError>;

    /// Gives bearings another name: they are taken out under the former one; with their history, events,
    /// judgements and the bearing's memory go on under the new one.
    async fn rename(
        &self,
        from: &PlantPart,
        to: &PlantPart,
        with_history: bool,
        how: &Removal,
    ) -> Result<TakenOut, StoreError>;

    /// Takes a gateway out: its alarms end, its bearings belong to the gateway of their next event, its
    /// sequence and its retained topics are forgotten.
    async fn forget_gateway(
        &self,
        gateway: &GatewayKey,
        how: &Removal,
    ) -> Result<TakenOut, StoreError>;

    /// Takes a gateway out whose bearings another one of its site measures from now on.
    async fn replace_gateway(
        &self,
        old: &GatewayKey,
        new: &GatewayKey,
        how: &Removal,
    ) -> Result<TakenOut, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_plant_is_a_site_a_machine_or_a_bearing() {
        let part = |text: &str| text.parse::<PlantPart>().expect("a part");
        for text in ["ulsan-1", "ulsan-1/P-101", "ulsan-1/P-101/DE"] {
            assert_eq!(part(text).to_string(), text);
        }
        assert!(
            "ulsan-1/P+1".parse::<PlantPart>().is_err() && "a/b/c/d".parse::<PlantPart>().is_err()
        );
        let key = BearingKey::parse("ulsan-1", "P-101", "DE").expect("names");
        let renamed = part("ulsan-1/P-101").renamed(&part("ulsan-1/P-201"), &key);
        assert_eq!(renamed.map(|key| key.to_string()).as_deref(), Some("ulsan-1/P-201/DE"));
        assert_eq!(part("ulsan-1/P-101").renamed(&part("ulsan-1/P-201/DE"), &key), None);
    }
}
