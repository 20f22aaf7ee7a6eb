//! The hold: how long a bearing has to be away from a level before its return is told again.

use pdm_shared::risk::RiskLevel;
use serde::{Deserialize, Serialize};

/// Tellings of one level that are counted, and the time in which there are no more, s.
/// ISA-18.2-2016 clause 16.5 and EEMUA 191 count an alarm that comes often as a nuisance; two a day
/// is the most that this project tells of one level of one bearing.
pub(crate) const TELLINGS: usize = 2;
pub(crate) const TELLINGS_S: f64 = 86_400.0;

/// The rules of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EpisodeRules {
    /// The lowest level that staff is told of.
    pub from: RiskLevel,
    /// The shortest hold of a level above the lowest, s.
    pub hold_s: f64,
    /// The shortest hold of the lowest level, whose end is also the end of the episode, s.
    pub over_s: f64,
    /// The longest that a hold becomes by doubling, s.
    pub hold_most_s: f64,
    /// An episode that is over and that nobody acknowledged closes after this time, s.
    pub close_after_s: f64,
    /// A bearing that comes back after its episode closed opens the same one again within this
    /// time, s.
    pub reopen_within_s: f64,
}

impl Default for EpisodeRules {
    /// Chosen: half an hour is six windows of five minutes. A bearing whose level wanders around
    /// its threshold over hours is one episode where the hold of the lowest level is a shift and
    /// grows to a day (`pdm_agent::preview`, forty courses of a week). A week is the time in which
    /// a plant looks through what stands; a day is the time in which a level is told twice at most,
    /// and over which a closed episode has to remember that.
    fn default() -> Self {
        Self {
            from: RiskLevel::Watch,
            hold_s: 1800.0,
            over_s: 8.0 * 3600.0,
            hold_most_s: 86_400.0,
            close_after_s: 7.0 * 86_400.0,
            reopen_within_s: 86_400.0,
        }
    }
}

impl EpisodeRules {
    /// Returns the hold of a level after `returns` returns to it, s. Earlier returns do not delay
    /// the end of a bearing: the hold of Critical never doubles, that of Warning once.
    pub fn hold_of(&self, level: RiskLevel, returns: u32) -> f64 {
        let (shortest_s, doublings) = if level == self.from {
            (self.over_s.max(self.hold_s), returns)
        } else {
            match level {
                RiskLevel::Critical => (self.hold_s, 0),
                RiskLevel::Warning => (self.hold_s, returns.min(1)),
                RiskLevel::Watch | RiskLevel::Normal => (self.hold_s, returns),
            }
        };
        let doubled_s = shortest_s * f64::from(doublings.min(20)).exp2();
        doubled_s.min(self.hold_most_s.max(shortest_s))
    }
}
