//! Alarms that belong to one cause: several bearings of one machine, and bearings of one gateway on which
//! the same frequency rises.
//!
//! What one bearing shakes is measured on its neighbours too, weaker. So the first of them that is told
//! stands for the others that follow within the window and are not worse; the likely source is the worst
//! of them, and of equally bad ones the first.

use pdm_shared::id::{BearingKey, GatewayId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;

/// Frequencies that differ by this share are the same: the slip of a bearing moves its lines by 1 to 2 %,
/// and two sensors see the same line at the same place.
const SAME: f64 = 0.01;

/// An alarm that was told.
#[derive(Debug, Clone, PartialEq)]
pub struct ToldLately {
    /// The bearing.
    pub key: BearingKey,
    /// The highest level told.
    pub level: RiskLevel,
    /// When.
    pub at: Timestamp,
    /// The gateway that measures it, where it is known.
    pub gateway: Option<GatewayId>,
    /// The frequency of its named defect, where one is named.
    pub frequency_hz: Option<f64>,
}

impl ToldLately {
    /// The alarm with which this one is told, if there is one: told within `window_s` before it, of the
    /// same machine or the same frequency, and at least as bad.
    pub fn source<'a>(&self, others: &'a [Self], window_s: f64) -> Option<&'a Self> {
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
        let is_machine = mine.equipment == others.equipment;
        let is_frequency = || {
            let same_gateway = self.gateway.is_some() && self.gateway == other.gateway;
            let same = |a: f64, b: f64| (a - b).abs() <= SAME * a.max(b);
            let lines = self.frequency_hz.zip(other.frequency_hz);
            same_gateway && lines.is_some_and(|(a, b)| same(a, b))
        };
        mine != others && mine.site == others.site && is_then && (is_machine || is_frequency())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(machine: &str, bearing: &str, level: RiskLevel, minute: f64, hz: f64) -> ToldLately {
        let begin = Timestamp::from_unix_ms(1_795_238_000_000).expect("in range");
        ToldLately {
            key: BearingKey::parse("s", machine, bearing).expect("names"),
            level,
            at: begin.plus_seconds(60.0 * minute),
            gateway: GatewayId::new("gw-1").ok(),
            frequency_hz: (hz > 0.0).then_some(hz),
        }
    }

    fn source(mine: &ToldLately, others: &[ToldLately]) -> Option<String> {
        mine.source(others, 3600.0).map(|one| one.key.to_string())
    }

    #[test]
    fn bearings_of_a_machine_are_told_with_the_worst_and_of_equals_the_first() {
        use RiskLevel::{Critical, Warning, Watch};
        let first = told("P-1", "DE", Warning, 0.0, 0.0);
        let second = told("P-1", "NDE", Warning, 10.0, 0.0);
        let others = [second, first];
        let mine = told("P-1", "X", Warning, 20.0, 0.0);
        assert_eq!(source(&mine, &others).as_deref(), Some("s/P-1/DE"));
        let watch = told("P-1", "X", Watch, 60.0, 0.0);
        assert_eq!(source(&watch, &others).as_deref(), Some("s/P-1/DE"));
        let worse = told("P-1", "X", Critical, 20.0, 0.0);
        assert_eq!(source(&worse, &others), None, "what is worse is told");
        assert_eq!(worse.milder(&others, 3600.0).count(), 2);
        let late = told("P-1", "X", Warning, 71.0, 0.0);
        assert_eq!(source(&late, &others), None, "after an hour");
    }

    #[test]
    fn neighbours_are_told_together_by_their_frequency_and_gateway() {
        use RiskLevel::Warning;
        let first = told("P-1", "DE", Warning, 0.0, 107.3);
        let same = told("P-2", "DE", Warning, 20.0, 107.9);
        assert_eq!(source(&same, std::slice::from_ref(&first)).as_deref(), Some("s/P-1/DE"));
        let other = told("P-2", "DE", Warning, 20.0, 162.2);
        assert_eq!(source(&other, std::slice::from_ref(&first)), None, "another frequency");
        let none = told("P-2", "DE", Warning, 20.0, 0.0);
        assert_eq!(source(&none, std::slice::from_ref(&first)), None, "no frequency");
        let far = ToldLately { gateway: GatewayId::new("gw-2").ok(), ..same };
        assert_eq!(source(&far, std::slice::from_ref(&first)), None, "another gateway");
    }
}
