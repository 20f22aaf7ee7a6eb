//! The rule that names a part: one weighted sum of a part's figures, held against one threshold.
//!
//! The sum is a logistic regression whose weights cannot be negative, so every figure speaks for a
//! part: another cause takes its share of the figures away and is no veto of its own. The constants stand in [`super::fitted`]; the program `fit` of the test crate makes them, and the
//! benchmark makes them anew for every rig that it leaves out. Invariant: a name never has less
//! confidence than [`NAMING_CONFIDENCE`].

use super::figures::{COUNT, Evidence, Figures};
use crate::part::{Part, PerPart};

pub use super::verdict::NAMING_CONFIDENCE;

/// Most confidence of any name: the fit has seen fewer than a thousand names.
const MOST_CONFIDENCE: f64 = 0.99;
/// Standard deviations from which the cage's comb names the cage: on the 185 real channels of 60 shaft
/// turns and more the largest is 3.9, of a damaged rolling element (CWRU 288). Three of eleven
/// simulated cages of so many turns reach it.
const CAGE_STANDS: f64 = 5.0;
/// Excess of every part below which the cage's lines are the cage's own, units: belts and rolling
/// elements that show such a comb have at least 2.2.
const CAGE_ALONE: f64 = 1.0;
/// Confidence of a cage: no recording of a damaged cage is at hand, simulated ones alone.
pub const CAGE_CONFIDENCE: f64 = 0.75;

/// Weights, threshold and calibration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// Weight of each figure, in the order of [`super::figures::NAMES`]; none is negative.
    pub weights: [f64; COUNT],
    /// The constant added to the weighted sum.
    pub offset: f64,
    /// Sum from which a part is named.
    pub threshold: f64,
    /// Log odds that one unit of the sum above the threshold adds to a name.
    pub slope: f64,
}

impl Rule {
    /// How far a part's figures lie above the threshold, log odds of the regression; negative: no
    /// name.
    pub fn strength(&self, figures: &Figures) -> f64 {
        let values = figures.values();
        let sum: f64 = self.weights.iter().zip(values).map(|(w, v)| w * v).sum();
        sum + self.offset - self.threshold
    }

    /// How sure a part of this strength is, 0 to 0.99; 0.7 at the threshold.
    pub fn confidence(&self, strength: f64) -> f64 {
        let odds = (NAMING_CONFIDENCE / (1.0 - NAMING_CONFIDENCE)).ln() + self.slope * strength;
        (1.0 / (1.0 + (-odds).exp())).min(MOST_CONFIDENCE)
    }

    /// Strength of every part.
    pub fn strengths(&self, evidence: &Evidence) -> PerPart<f64> {
        PerPart::from_fn(|part| self.strength(&evidence.parts[part]))
    }

    /// The part that is named, if one is, with its confidence.
    pub fn name(&self, evidence: &Evidence) -> Option<(Part, f64)> {
        let strengths = self.strengths(evidence);
        let [leading, ..] = strengths.ranked();
        let strength = strengths[leading];
        (strength >= 0.0).then(|| (leading, self.confidence(strength)))
    }
}

/// Do the cage's lines stand, and no part's beside them?
pub fn is_cage(evidence: &Evidence) -> bool {
    evidence.cage >= CAGE_STANDS
        && evidence.parts.iter().all(|(_, figures)| figures.excess < CAGE_ALONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::fitted::FITTED;

    fn clear() -> Figures {
        Figures {
            excess: 5.0,
            excess_whole: 8.0,
            height_db: 23.0,
            lead: 3.0,
            own_db: 15.0,
            off_whole: 1.0,
            ..Figures::default()
        }
    }

    fn evidence(figures: Figures) -> Evidence {
        let parts = PerPart { outer_race: figures, ..PerPart::default() };
        Evidence { parts, cage: 0.0 }
    }

    #[test]
    fn a_plain_family_is_named_and_none_is_not() {
        let (part, confidence) = FITTED.name(&evidence(clear())).expect("a name");
        assert!(part == Part::OuterRace && confidence >= 0.9, "{part:?} {confidence}");
        assert_eq!(FITTED.name(&Evidence::default()), None);
    }

    /// Two thirds of the share leave a plain family its name; what is all another cause's has none.
    #[test]
    fn another_cause_takes_its_share_and_is_no_veto() {
        let most = Figures { own_db: 2.0, ..clear() };
        assert!(FITTED.strength(&most) < FITTED.strength(&clear()));
        assert!(FITTED.name(&evidence(most)).is_some());
        for figures in [Figures { own_db: -1.0, ..clear() }, Figures { off_whole: 0.0, ..clear() }]
        {
            assert_eq!(FITTED.name(&evidence(Figures { lead: 0.0, ..figures })), None);
        }
    }

    #[test]
    fn the_threshold_has_the_naming_confidence_and_more_strength_more() {
        assert!((FITTED.confidence(0.0) - NAMING_CONFIDENCE).abs() < 1e-9);
        assert!(FITTED.confidence(1.0) > FITTED.confidence(0.5));
        assert!(FITTED.confidence(1e9) <= MOST_CONFIDENCE);
        assert!(FITTED.weights.iter().all(|weight| *weight >= 0.0));
    }

    #[test]
    fn the_cage_is_named_where_no_part_stands() {
        let alone = Evidence { cage: CAGE_STANDS, ..Evidence::default() };
        assert!(is_cage(&alone));
        assert!(!is_cage(&Evidence { cage: CAGE_STANDS, ..evidence(clear()) }));
    }
}
