//! The rule that names a part: one weighted sum of a part's figures, compared with one threshold.
//!
//! The sum is a logistic regression whose weights cannot be negative, so every figure speaks for a
//! part: another cause takes its share of the figures away and is no veto of its own. The constants
//! stand in [`super::fitted`]; the program `fit` of the test crate makes them, and the benchmark
//! makes them anew for every rig that it leaves out. Invariant: a name never has less confidence
//! than [`NAMING_CONFIDENCE`].

use super::figures::{COUNT, Evidence, Figures};
use super::speed::SpeedFit;
use crate::part::{Part, PerPart};

pub use super::verdict::NAMING_CONFIDENCE;

/// Most confidence of any name: the fit has seen fewer than a thousand names.
const MOST_CONFIDENCE: f64 = 0.99;
/// Level of the cage's comb above unrelated ones from which it names the cage, dB, and least level
/// of its second-lowest tooth. Of the real channels of 60 shaft turns and more two rolling elements
/// without a part's name reach them (CWRU 187 and 288), with uneven teeth.
const CAGE_STANDS_DB: f64 = 7.0;
const CAGE_TOOTH_DB: f64 = 5.0;
/// How far the second-highest tooth may stand above the second-lowest, dB: a cage that strikes has
/// even teeth (3.5 dB and less in simulated damage); those of the two rolling elements differ by
/// 8.7 and 10.
const CAGE_UNEVEN_DB: f64 = 5.0;
/// Excess of inner race and rolling element below which the cage's comb is the cage's own, units:
/// belts and rolling elements that show such a comb have at least 2.2.
const CAGE_ALONE: f64 = 1.0;
/// The limit for the outer race, whose line is a tooth of the cage's comb: as many times the cage
/// as there are elements.
const CAGE_BESIDE_OUTER: f64 = 2.0;
/// How sure the cage's lines are where they stand and nothing is named by them.
pub const CAGE_SCORE: f64 = 0.75;
/// The rise of the cage's comb since the baseline that names a rolling element, dB: 2 dB above the
/// strongest record that is no ball and whose races are quiet on the rigs of the study that
/// proposed the figure (5.4 dB, CWRU 158). On the recordings at hand such records reach 3.8 dB, so
/// leave-one-rig-out gives 5.2 to 5.8 dB and names the same nine of 25 balls; the least of them has
/// 8.4 dB.
const NEW_COMB_DB: f64 = 7.4;
/// Excess of outer and inner race below which that comb is not theirs, units: an outer race that
/// stands at a multiple of the cage's order lifts its teeth (up to 13.4 dB in the recordings).
const QUIET_RACES: f64 = 1.5;
/// Confidence of a name by that comb: nine of nine are right, which says little, and the cage
/// itself, of which no recording is at hand, would show the same.
pub const COMB_CONFIDENCE: f64 = 0.8;
/// How much more a name needs where nothing in the record shows the speed, log odds. HIT-SM's sound
/// self-built rig with its speed stated 3 % high, whose 71.9 Hz comb then meets twice the ball's
/// spin, has 0.3 without it.
const OPEN_SPEED: f64 = 0.4;
/// Distance in orders within which a part's line is a sideband of the named one's: of 98 recordings
/// of one damaged part the rule would else name three a second one, all of them 1.00 order away.
const SIDEBAND_REACH: f64 = 0.06;

/// Weights, threshold and calibration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// Weight of each figure, in the order of [`super::figures::NAMES`]; none is negative.
    pub weights: [f64; COUNT],
    /// The constant added to the weighted sum.
    pub offset: f64,
    /// Sum from which a part is named.
    pub threshold: f64,
    /// Excess of a part, as far as it is its own, from which the bearing is damaged, whichever part
    /// it is: above what any sound record reaches that shows its stated speed, units.
    pub damaged_from: f64,
    /// Log odds that one unit of the sum above the threshold adds to a name.
    pub slope: f64,
}

impl Rule {
    /// Returns how far a part's figures lie above the threshold, log odds of the regression;
    /// negative: no name.
    pub fn strength(&self, figures: &Figures) -> f64 {
        let values = figures.values();
        let sum: f64 = self.weights.iter().zip(values).map(|(w, v)| w * v).sum();
        sum + self.offset - self.threshold
    }

    /// Returns how sure a part of this strength is, 0 to 0.99; 0.7 at the threshold.
    pub fn confidence(&self, strength: f64) -> f64 {
        let odds = (NAMING_CONFIDENCE / (1.0 - NAMING_CONFIDENCE)).ln() + self.slope * strength;
        (1.0 / (1.0 + (-odds).exp())).min(MOST_CONFIDENCE)
    }

    /// Strength of every part; less where nothing shows the speed.
    pub fn strengths(&self, evidence: &Evidence) -> PerPart<f64> {
        let more = if evidence.speed == SpeedFit::Open { OPEN_SPEED } else { 0.0 };
        PerPart::from_fn(|part| self.strength(&evidence.parts[part]) - more)
    }

    /// The part that is named, if one is, with its confidence.
    pub fn name(&self, evidence: &Evidence) -> Option<(Part, f64)> {
        let strengths = self.strengths(evidence);
        let [leading, ..] = strengths.ranked();
        let strength = strengths[leading];
        let is_named = strength >= 0.0 && !evidence.is_misfit();
        is_named.then(|| (leading, self.confidence(strength)))
    }

    /// The part that leads and the next, where damage is seen: with a name or without.
    ///
    /// Without a name the record has to show the stated speed: at a wrong one what else turns with
    /// the shaft stands beside the orders of parts (two sound recordings of HIT-SM, stated 3 %
    /// high).
    pub fn damaged(&self, evidence: &Evidence) -> Option<[Part; 2]> {
        let is_plain =
            evidence.speed == SpeedFit::Confirmed && most_excess(evidence) >= self.damaged_from;
        let [first, second, _] = self.strengths(evidence).ranked();
        (is_plain || self.name(evidence).is_some()).then_some([first, second])
    }

    /// A second part that would be named beside the leading one by what it has of its own; `ftf`:
    /// the cage's order.
    ///
    /// A part whose line is one or two turns of the shaft or of the cage beside the leading one's
    /// is none: modulation makes such lines.
    pub fn second(&self, evidence: &Evidence, leading: Part, ftf: f64) -> Option<(Part, f64)> {
        let is_sideband = |part: Part| {
            let apart = (evidence.parts[part].order - evidence.parts[leading].order).abs();
            [1.0, 2.0, ftf, 2.0 * ftf, 1.0 - ftf]
                .iter()
                .any(|spacing| (apart - spacing).abs() <= SIDEBAND_REACH)
        };
        Part::ALL
            .into_iter()
            .filter(|part| *part != leading && !is_sideband(*part))
            .map(|part| (part, self.strength(&evidence.beside(part, leading))))
            .filter(|(_, strength)| *strength >= 0.0)
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(part, strength)| (part, self.confidence(strength)))
    }
}

/// The largest excess of a part in the mean of all bands, as far as it is the part's own, units.
///
/// A family that stands in all bands is a machine's own; sound machines whose lines are high stand
/// in a band or two. Height and whole band, which the name weighs, too, do not tell them apart.
pub fn most_excess(evidence: &Evidence) -> f64 {
    evidence.parts.iter().map(|(_, figures)| figures.values()[0]).fold(0.0, f64::max)
}

/// Whether the cage's comb stands, and no part's lines beside it.
pub fn is_cage(evidence: &Evidence) -> bool {
    let is_quiet = |(part, figures): (Part, &Figures)| {
        figures.excess < if part == Part::OuterRace { CAGE_BESIDE_OUTER } else { CAGE_ALONE }
    };
    evidence.cage.excess_db >= CAGE_STANDS_DB
        && evidence.cage.least_tooth_db >= CAGE_TOOTH_DB
        && evidence.cage.most_tooth_db - evidence.cage.least_tooth_db <= CAGE_UNEVEN_DB
        && evidence.parts.iter().all(is_quiet)
}

/// Returns by how much the cage's comb is new since the baseline, dB, where that names a rolling
/// element: the comb stands, and the races are quiet. `None` without a past.
pub fn new_comb_db(evidence: &Evidence) -> Option<f64> {
    grown_comb_db(evidence).filter(|db| *db >= NEW_COMB_DB)
}

/// Returns by how much the cage's comb has grown since the baseline, dB, where it may be a rolling
/// element's: the races are quiet and the stated speed fits. `None` without a past.
pub fn grown_comb_db(evidence: &Evidence) -> Option<f64> {
    let is_quiet = |part: Part| evidence.parts[part].values()[0] < QUIET_RACES;
    let are_quiet = is_quiet(Part::OuterRace) && is_quiet(Part::InnerRace);
    evidence.new_slow_db.filter(|_| are_quiet && !evidence.is_misfit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::cage_comb::CageComb;
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
        Evidence { parts, ..Evidence::default() }
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

    /// R-EDGE-4: a rolling element by the cage's comb, and only by what is new of it.
    #[test]
    fn a_new_comb_of_the_cage_is_a_rolling_elements_where_the_races_are_quiet() {
        let grown = |new_slow_db| Evidence {
            slow_db: Some(NEW_COMB_DB + 4.0),
            new_slow_db,
            ..Evidence::default()
        };
        assert_eq!(new_comb_db(&grown(Some(NEW_COMB_DB))), Some(NEW_COMB_DB));
        assert_eq!(new_comb_db(&grown(Some(NEW_COMB_DB - 0.1))), None);
        assert_eq!(new_comb_db(&grown(None)), None, "without a past");
        let race = Evidence { new_slow_db: Some(NEW_COMB_DB), ..evidence(clear()) };
        assert_eq!(new_comb_db(&race), None, "the outer race's lines stand");
        let misfit = Evidence { speed: SpeedFit::MayMisfit(20.0), ..grown(Some(NEW_COMB_DB)) };
        assert_eq!(new_comb_db(&misfit), None, "at a speed that may not fit");
    }

    #[test]
    fn the_cages_comb_stands_where_no_part_does() {
        let cage = CageComb {
            excess_db: CAGE_STANDS_DB,
            least_tooth_db: CAGE_TOOTH_DB,
            most_tooth_db: CAGE_TOOTH_DB + CAGE_UNEVEN_DB,
        };
        assert!(is_cage(&Evidence { cage, ..Evidence::default() }));
        assert!(!is_cage(&Evidence { cage, ..evidence(clear()) }));
        let uneven = CageComb { most_tooth_db: 15.0, ..cage };
        assert!(!is_cage(&Evidence { cage: uneven, ..Evidence::default() }));
    }

    #[test]
    fn a_second_part_is_told_by_its_own_lines_and_not_by_sidebands() {
        let at = |order: f64, excess: f64| Figures { excess, order, ..clear() };
        let both = |inner: f64| {
            let parts = PerPart {
                outer_race: at(3.58, 5.0),
                inner_race: Figures { lead: -0.5, ..at(inner, 4.5) },
                ball: Figures::default(),
            };
            FITTED.second(&Evidence { parts, ..Evidence::default() }, Part::OuterRace, 0.398)
        };
        assert_eq!(both(5.41).map(|(part, _)| part), Some(Part::InnerRace));
        assert_eq!(both(4.58), None, "a turn of the shaft away");
        assert_eq!(FITTED.second(&evidence(clear()), Part::OuterRace, 0.398), None);
    }
}
