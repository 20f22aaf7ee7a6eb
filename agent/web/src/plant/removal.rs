//! Removing parts of the plant that are gone, giving those with another name the new one, and
//! admitting a gateway that was replaced or moved: the request, and its outcome. The agent does it
//! the same way for its command line.

use pdm_service::http::server::Peer;
use pdm_shared::id::{BearingId, BearingKey, EquipmentId, GatewayKey, NameError, SiteId};
use pdm_shared::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// A site, a machine of it, or a bearing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantPart {
    /// The site.
    pub site: SiteId,
    /// The machine; `None` for all of the site.
    pub equipment: Option<EquipmentId>,
    /// The bearing; `None` for all of the machine.
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
    /// Whether both name the same level: two sites, two machines or two bearings.
    pub const fn is_level_with(&self, other: &Self) -> bool {
        self.equipment.is_some() == other.equipment.is_some()
            && self.bearing.is_some() == other.bearing.is_some()
    }

    /// Returns the same bearing in the part that `self` was renamed to; `None` where they name
    /// different levels.
    pub fn renamed(&self, to: &Self, key: &BearingKey) -> Option<BearingKey> {
        self.is_level_with(to).then(|| BearingKey {
            site: to.site.clone(),
            equipment: to.equipment.clone().unwrap_or_else(|| key.equipment.clone()),
            bearing: to.bearing.clone().unwrap_or_else(|| key.bearing.clone()),
        })
    }
}

/// A change that a person asks for, of a part of the plant or of a gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlantChange {
    /// It is gone: take it out.
    Forget(PlantPart),
    /// It has another name.
    Rename {
        /// The former name.
        from: PlantPart,
        /// The name that it has now.
        to: PlantPart,
        /// Events, judgements and memory go on under the new name.
        with_history: bool,
        /// The new name may be known already: the history of both stands under it then, for good.
        may_join: bool,
    },
    /// The gateway is gone.
    ForgetGateway(GatewayKey),
    /// Another gateway of the site measures the bearings of one that is gone.
    ReplaceGateway {
        /// The one that is gone.
        old: GatewayKey,
        /// The one that measures its bearings now.
        new: GatewayKey,
    },
    /// The gateway was replaced or set back under its name: its next event decides how it proves
    /// itself.
    ReleaseGateway(GatewayKey),
    /// Another gateway measures the bearing now: that of its next event.
    ReleaseBearing(BearingKey),
}

/// A change of the plant, and who asks for it.
#[derive(Debug, Clone)]
pub struct ChangeRequest {
    /// The change.
    pub change: PlantChange,
    /// The login that asks, as the record of acts names it.
    pub who: String,
    /// The person.
    pub by: String,
    /// The way that it takes: `cli`, `api`, `page`.
    pub via: &'static str,
    /// The address that it comes from.
    pub peer: Option<Peer>,
    /// Why; it stands in the record of acts and in the work that is closed.
    pub reason: String,
    /// Say what would change, and change nothing.
    pub is_dry: bool,
}

/// What was taken out, renamed or released, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TakenOut {
    /// The bearings that are known no more under that name.
    pub bearings: Vec<BearingKey>,
    /// The gateways that are known no more.
    pub gateways: Vec<GatewayKey>,
    /// The bearings that belong to another gateway from now on, or to that of their next event.
    pub released: Vec<BearingKey>,
    /// The new names that were known before.
    pub joined: Vec<BearingKey>,
    /// Open episodes that were closed.
    pub episodes: u64,
    /// Open work that was dropped.
    pub work: u64,
    /// Events that waited for a judgement and will have none.
    pub waiting: u64,
    /// Retained topics that the broker is told to forget.
    pub topics: u64,
    /// `[[gateways]]` of the agent's configuration still names the gateway, which decides whatever
    /// is changed here.
    pub is_configured: bool,
}

impl TakenOut {
    /// Whether anything of that name was known.
    pub const fn is_something(&self) -> bool {
        !self.bearings.is_empty() || !self.gateways.is_empty()
    }
}

/// The outcome of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changed {
    /// It was made, or would be.
    Done(TakenOut),
    /// Nothing of that name is known.
    Unknown(String),
    /// The change cannot be made: why.
    Unfit(String),
    /// The new name is known already, and the history of both would stand under it: nothing was
    /// changed.
    Joins(Vec<BearingKey>),
}

/// Events of a gateway for one bearing that are refused for one cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RefusedRow {
    /// The gateway that they name.
    pub gateway: GatewayKey,
    /// The bearing that they name.
    pub bearing: BearingKey,
    /// `topic`, `epoch`, `owner`, `new_bearing`, `jump` or `event_id`.
    pub cause: String,
    /// Field, expectation and value of the last one.
    pub reason: String,
    /// How many.
    pub count: u64,
    /// When the first one came.
    pub first_at: Timestamp,
    /// When the last one came.
    pub last_at: Timestamp,
    /// What admits them.
    pub admitted_by: Admission,
}

/// What admits events that are refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Admission {
    /// Releasing the bearing: its next event decides which gateway it belongs to.
    ReleaseBearing(BearingKey),
    /// Releasing the gateway: its next event decides how it proves itself.
    ReleaseGateway(GatewayKey),
    /// `[[gateways]]` of the agent's configuration.
    Configuration,
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
