//! The time from window to window, and whether it has changed for good: said once, since rules that
//! count windows then need another time.
//!
//! A single long or short gap says nothing: machines stand, sources fall behind, clocks are set. So
//! a period is what several gaps in a row agree on. One that was known before is no news.

use pdm_shared::event::PeriodChange;
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::packed::Packed;

/// Gaps in a row that a period is believed after. Chosen: as many windows as the shortest run rule.
const GAPS: usize = 6;

/// How much such gaps may differ, ratio. No data chose it: half of what makes another period.
const ALIKE: f64 = 1.4;

/// The ratio from which a period is another one. No data chose it: run rules then need twice or
/// half the time.
const OTHER: f64 = 2.0;

/// Periods that are remembered: a plant that measures days, nights and weekends otherwise has
/// three.
const REMEMBERED: usize = 4;

/// The usual times between windows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Period {
    last: Option<Timestamp>,
    /// Latest gaps, s.
    gaps: Packed,
    /// Periods met so far, s; the present one stands last.
    known_s: Packed,
}

impl Period {
    /// Takes the next window; a change if this window completes the evidence for one.
    pub(super) fn take(&mut self, at: Timestamp) -> Option<PeriodChange> {
        let gap_s = self.last.replace(at).map(|last| at.seconds_since(last))?;
        if gap_s <= 0.0 {
            // the clock was set back
            self.gaps = Packed::default();
            return None;
        }
        self.gaps.push(gap_s, GAPS);
        let after_s = self.agreed_s()?;
        let before_s = self.known_s.0.last().map(|known| f64::from(*known));
        let near = |known: f64| is_within(after_s, known, OTHER);
        if before_s.is_some_and(near) {
            return None;
        }
        let known = self.known_s.0.iter().position(|known| near(f64::from(*known)));
        if let Some(known) = known {
            self.known_s.0.remove(known);
        }
        self.known_s.push(after_s, REMEMBERED);
        let before_s = before_s.filter(|_| known.is_none())?;
        let since = at.plus_seconds(-self.gaps.finite().iter().sum::<f64>());
        Some(PeriodChange { before_s, after_s, since })
    }

    pub(super) const fn last(&self) -> Option<Timestamp> {
        self.last
    }

    /// The gap that the latest ones agree on.
    fn agreed_s(&self) -> Option<f64> {
        let gaps = self.gaps.finite();
        let least = gaps.iter().copied().reduce(f64::min)?;
        let most = gaps.iter().copied().reduce(f64::max)?;
        (gaps.len() == GAPS && is_within(most, least, ALIKE))
            .then(|| pdm_dsp::robust::median(&gaps))?
    }
}

fn is_within(one: f64, other: f64, ratio: f64) -> bool {
    one < ratio * other && other < ratio * one
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the changes of period that are told for windows with these gaps, s.
    fn told(gaps: &[f64]) -> Vec<(f64, f64)> {
        let (mut period, mut at) = (Period::default(), Timestamp::EPOCH);
        let mut one = |gap: &f64| {
            at = at.plus_seconds(*gap);
            period.take(at).map(|change| (change.before_s, change.after_s))
        };
        gaps.iter().filter_map(&mut one).collect()
    }

    #[test]
    fn another_period_is_told_once_and_its_return_is_no_news() {
        let gaps = [[10.0; 30], [600.0; 30], [10.0; 30], [600.0; 30]].concat();
        assert_eq!(told(&gaps), [(10.0, 600.0)]);
    }

    #[test]
    fn gaps_that_stray_and_a_clock_that_jumps_are_no_period() {
        let stray: Vec<f64> = (0..60).map(|n| if n % 4 == 0 { 60.0 } else { 10.0 }).collect();
        assert!(told(&stray).is_empty());
        let mut jumps = vec![10.0; 60];
        (jumps[20], jumps[40]) = (3.0e7, -3.0e7);
        assert!(told(&jumps).is_empty());
    }

    #[test]
    fn the_change_is_dated_by_the_last_window_of_the_old_period() {
        let mut period = Period::default();
        let at = |n: i32| f64::from(if n < 20 { 10 * n } else { 190 + 600 * (n - 19) });
        let told = (0..40).find_map(|n| period.take(Timestamp::EPOCH.plus_seconds(at(n))));
        let since = told.map(|change| change.since.seconds_since(Timestamp::EPOCH));
        assert_eq!(since, Some(190.0));
    }
}
