//! The columns that name a bearing, and those that name a gateway.

use pdm_shared::id::{BearingId, BearingKey, EquipmentId, GatewayKey, SiteId};

use crate::StoreError;
use crate::database::{Query, Row};
use crate::encoding::word_of;

impl Query<'_> {
    /// Adds site, machine and bearing as the next three parameters.
    pub(super) fn bind_key(self, key: &BearingKey) -> Self {
        self.bind(key.site.as_str()).bind(key.equipment.as_str()).bind(key.bearing.as_str())
    }

    /// Adds site and gateway as the next two parameters.
    pub(super) fn bind_gateway(self, gateway: &GatewayKey) -> Self {
        self.bind(gateway.site.as_str()).bind(gateway.gateway.as_str())
    }
}

impl Row {
    /// The bearing that the first three columns name.
    pub(super) fn key(&self) -> Result<BearingKey, StoreError> {
        Ok(BearingKey {
            site: word_of("a site", self.get(0)?)?,
            equipment: word_of("a machine", self.get(1)?)?,
            bearing: word_of("a bearing", self.get(2)?)?,
        })
    }

    /// The bearing that the first three columns name, to be shown: a name that an earlier version
    /// took and this one refuses is in the nearest form that it takes.
    pub(super) fn shown_key(&self) -> Result<BearingKey, StoreError> {
        Ok(BearingKey {
            site: SiteId::from_any(self.get(0)?),
            equipment: EquipmentId::from_any(self.get(1)?),
            bearing: BearingId::from_any(self.get(2)?),
        })
    }
}
