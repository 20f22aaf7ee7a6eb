//! The names under which the alarms of gateways stand: in the place of a bearing's, under a machine
//! of a reserved name.
//!
//! The notification raises them, the removal of a gateway ends them, and the intake refuses
//! machines of these names.

use pdm_shared::id::{BearingId, BearingKey, EquipmentId, GatewayId, GatewayKey, SiteId};
use pdm_shared::topic::{
    GATEWAY_LEVEL, NO_DATA_LEVEL, REFUSED_LEVEL, TROUBLE_LEVEL, UNMEASURED_LEVEL,
};

/// The alarm of a gateway whose configuration names a bearing of its no more.
pub fn unmeasured_alarm(gateway: &GatewayKey) -> Option<BearingKey> {
    alarm_of(&gateway.site, UNMEASURED_LEVEL, &gateway.gateway)
}

/// The alarm of a gateway that goes on without some of its bearings.
pub fn no_data_alarm(gateway: &GatewayKey) -> Option<BearingKey> {
    alarm_of(&gateway.site, NO_DATA_LEVEL, &gateway.gateway)
}

/// The alarm of a gateway that cannot measure or keep its events.
pub fn trouble_alarm(gateway: &GatewayKey) -> Option<BearingKey> {
    alarm_of(&gateway.site, TROUBLE_LEVEL, &gateway.gateway)
}

/// The alarm of a gateway that is silent.
pub fn silence_alarm(site: &SiteId, gateway: &GatewayId) -> Option<BearingKey> {
    alarm_of(site, GATEWAY_LEVEL, gateway)
}

/// The alarm of a gateway whose events are refused.
pub fn refusals_alarm(gateway: &GatewayKey) -> Option<BearingKey> {
    alarm_of(&gateway.site, REFUSED_LEVEL, &gateway.gateway)
}

fn alarm_of(site: &SiteId, level: &str, gateway: &GatewayId) -> Option<BearingKey> {
    Some(BearingKey {
        site: site.clone(),
        equipment: EquipmentId::new(level).ok()?,
        bearing: BearingId::new(gateway.as_str()).ok()?,
    })
}
