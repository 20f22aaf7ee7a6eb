//! When a level that was told is told again, and when an alarm is over.

use pdm_expert::case::BearingState;
use pdm_shared::risk::RiskLevel;

use super::Policy;

impl Policy {
    /// The bearing is back at this level with this window, after more than the hold.
    pub(super) fn returns_after_hold(&self, risk: RiskLevel, state: &BearingState) -> bool {
        let Some(stand) = state.standing.begun(risk) else { return false };
        // the end of a bearing is not kept waiting for what it did before; a Watch is told again once
        // the alarm before it would have been over
        let doublings = match risk {
            RiskLevel::Critical => 0,
            RiskLevel::Warning => stand.count.saturating_sub(2).min(1),
            RiskLevel::Watch | RiskLevel::Normal => stand.count.saturating_sub(1),
        };
        stand.away_s.is_some_and(|away_s| away_s >= self.hold_s(doublings))
    }

    /// The bearing has been below the lowest level told for longer than the hold.
    pub(super) fn is_over(&self, state: &BearingState) -> bool {
        let standing = &state.standing;
        let count = standing.levels.get(&self.settings.from).map_or(1, |stand| stand.count);
        // the last stand counts, too: what comes and goes is over later than it is told again
        let hold_s = self.hold_s(count);
        standing.below_s(self.settings.from).is_none_or(|below_s| below_s >= hold_s)
    }

    /// The hold after so many doublings, s.
    fn hold_s(&self, doublings: u32) -> f64 {
        let doubled_h = self.settings.hold_h * f64::from(doublings.min(20)).exp2();
        3600.0 * doubled_h.min(self.settings.hold_most_h.max(self.settings.hold_h))
    }
}
