//! Alarms that belong to one cause: several bearings of one machine that one gateway measures.
//!
//! The vibration of one bearing is measured on its neighbours too, weaker. So the first of them
//! that is told stands for the others that follow within the window and are not worse; the likely
//! source is the worst of them, and of equally bad ones the first.
//!
//! Two bounds, so that nobody's alarm is hidden by a claim or by chance: a gateway speaks for the
//! bearings that it measures itself alone, since it could invent a neighbour; and equal frequencies
//! on two machines say nothing, since equal pumps have equal ones. A Critical is told by itself
//! always.

use pdm_shared::id::{BearingKey, GatewayId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;

/// An alarm that was told.
#[derive(Debug, Clone, PartialEq)]
pub struct ToldLately {
    /// The bearing.
    pub key: BearingKey,
    /// The highest level told.
    pub level: RiskLevel,
    /// The time of the message.
    pub at: Timestamp,
    /// The gateway that measures it, where it is known.
    pub gateway: Option<GatewayId>,
}

impl ToldLately {
    /// The alarm with which this one is told, if there is one: told within `window_s` before it, of
    /// the same machine and gateway, and at least as bad. None of a Critical.
    pub fn source<'a>(&self, others: &'a [Self], window_s: f64) -> Option<&'a Self> {
        if self.level == RiskLevel::Critical {
            return None;
        }
        let near = others.iter().filter(|other| self.is_near(other, window_s));
        let at_least = near.filter(|other| other.level >= self.level);
        at_least.reduce(|a, b| if (b.level, a.at) > (a.level, b.at) { b } else { a })
    }

    /// The alarms of the same cause that were told within `window_s` before it and are less bad.
    pub fn milder<'a>(
        &'a self,
        others: &'a [Self],
        window_s: f64,
    ) -> impl Iterator<Item = &'a Self> {
        let near = others.iter().filter(move |other| self.is_near(other, window_s));
        near.filter(|other| other.level < self.level)
    }

    fn is_near(&self, other: &Self, window_s: f64) -> bool {
        let (mine, others) = (&self.key, &other.key);
        let is_then = (0.0..=window_s).contains(&self.at.seconds_since(other.at));
        let is_machine = mine.site == others.site && mine.equipment == others.equipment;
        let is_gateway = self.gateway.is_some() && self.gateway == other.gateway;
        mine != others && is_then && is_machine && is_gateway
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(machine: &str, bearing: &str, level: RiskLevel, minute: f64) -> ToldLately {
        let begin = Timestamp::from_unix_ms(1_795_238_000_000).expect("in range");
        ToldLately {
            key: BearingKey::parse("s", machine, bearing).expect("names"),
            level,
            at: begin.plus_seconds(60.0 * minute),
            gateway: GatewayId::new("gw-1").ok(),
        }
    }

    fn source(mine: &ToldLately, others: &[ToldLately]) -> Option<String> {
        mine.source(others, 3600.0).map(|one| one.key.to_string())
    }

    #[test]
    fn bearings_of_a_machine_are_told_with_the_worst_and_of_equals_the_first() {
        use RiskLevel::{Critical, Warning, Watch};
        let first = told("P-1", "DE", Warning, 0.0);
        let second = told("P-1", "NDE", Warning, 10.0);
        let others = [second, first];
        let mine = told("P-1", "X", Warning, 20.0);
        assert_eq!(source(&mine, &others).as_deref(), Some("s/P-1/DE"));
        let watch = told("P-1", "X", Watch, 60.0);
        assert_eq!(source(&watch, &others).as_deref(), Some("s/P-1/DE"));
        let worse = told("P-1", "X", Critical, 20.0);
        assert_eq!(source(&worse, &others), None, "what is worse is told");
        assert_eq!(worse.milder(&others, 3600.0).count(), 2);
        let late = told("P-1", "X", Warning, 71.0);
        assert_eq!(source(&late, &others), None, "after an hour");
    }

    /// Issue 33: two equal pumps on one gateway are usual.
    #[test]
    fn equal_machines_of_one_gateway_are_no_one_cause() {
        let first = told("P-1", "DE", RiskLevel::Warning, 0.0);
        let second = told("P-2", "DE", RiskLevel::Warning, 20.0);
        assert_eq!(source(&second, std::slice::from_ref(&first)), None);
    }

    /// Issue 34, H3: a gateway could invent a neighbour of a bearing that another one measures.
    #[test]
    fn another_gateways_bearing_is_no_neighbour() {
        let first = told("P-1", "DE", RiskLevel::Critical, 0.0);
        let mine = told("P-1", "NDE", RiskLevel::Warning, 1.0);
        for gateway in [GatewayId::new("gw-2").ok(), None] {
            let mine = ToldLately { gateway, ..mine.clone() };
            assert_eq!(source(&mine, std::slice::from_ref(&first)), None);
        }
        assert_eq!(source(&mine, std::slice::from_ref(&first)).as_deref(), Some("s/P-1/DE"));
    }

    /// Issue 34, H3.
    #[test]
    fn a_critical_is_told_by_itself() {
        let first = told("P-1", "DE", RiskLevel::Critical, 0.0);
        let mine = told("P-1", "NDE", RiskLevel::Critical, 1.0);
        assert_eq!(source(&mine, std::slice::from_ref(&first)), None);
    }
}
