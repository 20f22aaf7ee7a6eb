//! Assigns each message to a share of an hour: that of the gateway whose bearing it tells of.
//!
//! One gateway can invent bearings, and so messages; no other gateway's alarm may wait for them.

use std::collections::BTreeMap;

use pdm_shared::delivery::{Notification, NotificationReason};
use pdm_shared::id::GatewayKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::topic::is_gateway_level;

/// The fraction 1/`RESERVE` of an hour's messages is kept for first Criticals. Chosen: a quarter.
const RESERVE: u32 = 4;
/// A gateway has at most the fraction 1/`MOST` of an hour's messages, where there are several
/// gateways. Chosen: a half, so that the trouble of one machine hall is told whole and that of a
/// second one still leaves.
const MOST: u32 = 2;
/// First Criticals of a gateway that has told less than the fraction 1/`ABOVE` leave above the
/// ceiling too. Chosen: a sixth, twenty of the default ceiling.
const ABOVE: u32 = 6;

/// The share to which a message belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Share {
    name: String,
    is_first_critical: bool,
}

impl Share {
    /// The share of a notification; `owner` is the gateway of its bearing.
    pub(super) fn of_message(told: &Notification, owner: Option<&GatewayKey>) -> Self {
        let level = told.equipment_id.as_str();
        let name = match owner {
            // an alarm of a gateway bears the gateway's name, and counts as its own
            _ if is_gateway_level(level) => format!("{}/{}", told.site, told.bearing_id),
            Some(gateway) => gateway.to_string(),
            // messages of tools and programs about machines that nobody measures
            None => "others".to_owned(),
        };
        let is_first_critical = told.risk_level == RiskLevel::Critical
            && told.reason == NotificationReason::Raised
            && told.event_id.is_some();
        Self { name, is_first_critical }
    }

    /// The share of what cannot be read.
    pub(super) fn of_nobody() -> Self {
        Self { name: "others".to_owned(), is_first_critical: false }
    }

    /// The name under which the share is counted.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// The messages that may still leave in an hour.
#[derive(Debug)]
pub(super) struct Room {
    per_hour: u32,
    messages: u32,
    shares: BTreeMap<String, u32>,
    gateways: u32,
}

impl Room {
    /// Creates the room after `messages` messages in all, and `shares` by share.
    pub(super) fn new(
        per_hour: u32,
        messages: u32,
        shares: BTreeMap<String, u32>,
        gateways: u32,
    ) -> Self {
        Self { per_hour, messages, shares, gateways }
    }

    /// Room for everything.
    pub(super) fn unbounded() -> Self {
        Self::new(u32::MAX, 0, BTreeMap::new(), 1)
    }

    /// Whether a message of this share may leave; it counts if so.
    pub(super) fn admits(&mut self, share: &Share) -> bool {
        let own = self.shares.get(&share.name).copied().unwrap_or(0);
        let most = if self.gateways > 1 { (self.per_hour / MOST).max(1) } else { self.per_hour };
        let reserve = if share.is_first_critical { 0 } else { self.per_hour / RESERVE };
        let is_within = own < most && self.messages < self.per_hour - reserve;
        let is_above = share.is_first_critical && own < self.per_hour / ABOVE;
        if is_within || is_above {
            self.messages = self.messages.saturating_add(1);
            *self.shares.entry(share.name.clone()).or_default() += 1;
        }
        is_within || is_above
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(name: &str, is_first_critical: bool) -> Share {
        Share { name: name.to_owned(), is_first_critical }
    }

    fn room(gateways: u32) -> Room {
        Room::new(120, 0, BTreeMap::new(), gateways)
    }

    /// Issue 34, H4: 170 invented Criticals used the hour up, and an honest one waited for the
    /// next.
    #[test]
    fn the_flood_of_one_gateway_holds_no_first_critical_of_another() {
        let mut room = room(3);
        let invented = (0..170).filter(|_| room.admits(&share("s/gw-04", true))).count();
        assert_eq!(invented, 60, "half of the hour");
        for _ in 0..20 {
            assert!(room.admits(&share("s/gw-03", true)));
        }
        assert!(room.admits(&share("s/gw-03", false)), "what is no Critical has room too");
    }

    #[test]
    fn first_criticals_leave_above_the_ceiling_however_many_gateways_flood() {
        let mut room = room(9);
        for flood in ["s/a", "s/b", "s/c"] {
            while room.admits(&share(flood, true)) {}
        }
        assert!(!room.admits(&share("s/d", false)));
        assert_eq!((0..170).filter(|_| room.admits(&share("s/d", true))).count(), 20);
    }

    #[test]
    fn the_only_gateway_has_the_hour_and_a_quarter_is_for_first_criticals() {
        let mut room = room(1);
        assert_eq!((0..200).filter(|_| room.admits(&share("s/a", false))).count(), 90);
        assert_eq!((0..200).filter(|_| room.admits(&share("s/a", true))).count(), 30);
        let mut small = Room::new(3, 0, BTreeMap::new(), 1);
        assert_eq!((0..9).filter(|_| small.admits(&share("s/a", false))).count(), 3);
    }
}
