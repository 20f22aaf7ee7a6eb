//! The machine: the piece of a plant that is played by itself.

use std::fmt;

use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EquipmentId, SiteId};
use serde::{Deserialize, Serialize};

/// A machine of a site.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct MachineKey {
    /// The plant.
    pub(crate) site: SiteId,
    /// The machine.
    pub(crate) equipment: EquipmentId,
}

impl MachineKey {
    pub(crate) fn of(event: &Event) -> Self {
        Self { site: event.site.clone(), equipment: event.equipment_id.clone() }
    }
}

impl From<&BearingKey> for MachineKey {
    fn from(key: &BearingKey) -> Self {
        Self { site: key.site.clone(), equipment: key.equipment.clone() }
    }
}

impl fmt::Display for MachineKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.site, self.equipment)
    }
}
