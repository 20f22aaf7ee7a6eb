//! Derives the verdict and its confidence from the figures of one record.

use pdm_shared::fault::Fault;

use super::figures::{Evidence, Figures};
use super::fitted::{FITTED, fitted};
use super::rule::{CAGE_SCORE, COMB_CONFIDENCE, is_cage, new_comb_db};
use super::speed::SpeedFit;
use super::spin::{self, Spin};
use super::views::Look;
use super::{ForeignCause, LEAST_TURNS, Undetermined, cage};
use crate::part::{Part, PerPart};

/// Confidence from which a fault is named (chosen: a wrong name costs more than a second look).
pub const NAMING_CONFIDENCE: f64 = 0.7;
/// Confidence of a name that the lines of the spin gave (chosen: one recording shows by them and no
/// sound machine does; a rule of so few claims no more).
const SPIN_CONFIDENCE: f64 = 0.85;
/// Confidence from which lines are worth mentioning (chosen: less than a third of the odds that a
/// name needs).
pub const MENTION_CONFIDENCE: f64 = 0.4;
/// Most confidence of a candidate whose lines another cause explains as well (chosen).
const FOREIGN_CONFIDENCE: f64 = 0.3;
/// Most confidence of a candidate whose lines were looked for at a speed that does not fit
/// (chosen).
const MISFIT_CONFIDENCE: f64 = 0.3;

/// Strength from which lines at an order of no part are told as those of another bearing, log odds
/// above what a name needs, because the search runs over some hundred orders in place of three:
/// sound bearings reach 0.3, but for the 52.5 Hz of Paderborn's inverter, which no bearing of the
/// catalogue has.
const STRANGER_STRENGTH: f64 = 0.5;

/// Everything weighed together.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The figures of every part.
    pub evidence: Evidence,
    /// How sure each part is by the fitted rule.
    pub scores: PerPart<f64>,
    /// Parts by falling strength.
    pub order: [Part; 3],
    /// The part that leads and the next, where damage is seen.
    pub damaged: Option<[Part; 2]>,
    /// How far the cage's lines stand, in the random part as it is and pre-whitened alike.
    pub cage: f64,
    /// The lines of a rolling element's spin beside the cage's, if no part is worth mentioning.
    pub spin: Option<Spin>,
}

impl Ranked {
    /// Weighs the figures of a record with `turns` shaft turns and the looks at its cage.
    pub fn new(evidence: Evidence, looks: &[Look], turns: f64) -> Self {
        let rule = fitted(turns);
        let strengths = rule.strengths(&evidence);
        let scores = PerPart::from_fn(|part| rule.confidence(strengths[part]));
        let order = strengths.ranked();
        let damaged = rule.damaged(&evidence);
        let cage = looks.iter().map(|look| look.cage.z).reduce(f64::min).unwrap_or(0.0);
        let spins: Vec<Option<Spin>> = looks.iter().map(|look| look.spin).collect();
        let is_open = scores[order[0]] < MENTION_CONFIDENCE && !evidence.is_misfit();
        let spin = spin::agreed(&spins).filter(|_| is_open);
        Self { evidence, scores, order, damaged, cage, spin }
    }

    /// The part that leads.
    pub fn leading(&self) -> Part {
        if self.spin.is_some() { Part::Ball } else { self.order[0] }
    }

    /// The figures of the part that leads by them.
    pub fn figures(&self) -> &Figures {
        &self.evidence.parts[self.order[0]]
    }

    /// Whether the strongest part is named by its figures.
    pub fn is_named(&self) -> bool {
        self.scores[self.order[0]] >= NAMING_CONFIDENCE && !self.evidence.is_misfit()
    }

    /// The parts that may be damaged, where damage is seen and none is named: the leading one and
    /// the next.
    pub fn open_damage(&self) -> Option<(Fault, Fault)> {
        let [first, second] = self.damaged.filter(|_| !self.is_named())?;
        Some((first.fault(), second.fault()))
    }

    /// Whether the strongest part is worth mentioning, or the spin.
    pub fn is_worth_mentioning(&self) -> bool {
        self.spin.is_some() || self.scores[self.order[0]] >= MENTION_CONFIDENCE
    }

    /// The order of a part's lines at a shaft frequency, if they were looked for.
    pub fn order_at(&self, part: Part, shaft_hz: f64) -> Option<f64> {
        if let Some(spin) = self.spin.filter(|_| part == Part::Ball) {
            return Some(spin.order);
        }
        let figures = &self.evidence.parts[part];
        Some(figures.order * figures.shaft_hz / shaft_hz).filter(|order| *order > 0.0)
    }
}

/// The verdict before its evidence is gathered.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Everything weighed together.
    pub ranked: Ranked,
    /// Probability that naming a part would be right, beside the others.
    pub scores: PerPart<f64>,
    /// The name, if any.
    pub dominant: Option<Fault>,
    /// See [`super::Findings::confidence`].
    pub confidence: f64,
    /// See [`super::Findings::second`].
    pub second: Option<(Fault, f64)>,
    /// See [`super::Findings::new_comb_db`].
    pub new_comb_db: Option<f64>,
    /// How sure the cage's own lines are.
    pub cage_score: f64,
    /// See [`super::Findings::damaged`].
    pub damaged: Option<(Fault, Fault)>,
    /// See [`super::Findings::stranger`].
    pub stranger: Option<f64>,
    /// See [`super::Findings::undetermined`].
    pub undetermined: Option<Undetermined>,
}

/// The verdict on a record with `turns` shaft turns of a bearing whose cage has the order `ftf`;
/// `cause` is what else explains the leading lines where the figures alone give no name, or the
/// mains where it holds those of a named part.
pub fn judge(ranked: &Ranked, cause: Option<ForeignCause>, (turns, ftf): (f64, f64)) -> Judged {
    let leading = ranked.order[0];
    let confidence = ranked.scores[leading];
    let candidate = leading.fault();
    let mut judged = Judged {
        ranked: ranked.clone(),
        scores: ranked.scores,
        dominant: None,
        confidence,
        second: None,
        new_comb_db: None,
        damaged: None,
        cage_score: if is_cage(&ranked.evidence) { CAGE_SCORE } else { 0.0 },
        stranger: None,
        undetermined: None,
    };
    if turns < LEAST_TURNS {
        judged.confidence = 0.0;
        judged.undetermined = Some(Undetermined::TooFewTurns { turns });
    } else if let SpeedFit::Misfit(shown_hz) | SpeedFit::MayMisfit(shown_hz) = ranked.evidence.speed
    {
        let is_plain = matches!(ranked.evidence.speed, SpeedFit::Misfit(_));
        judged.confidence = confidence.min(MISFIT_CONFIDENCE);
        judged.undetermined = (is_plain || ranked.is_worth_mentioning())
            .then_some(Undetermined::SpeedMisfit { shown_rpm: 60.0 * shown_hz });
        return judged;
    } else if let Some(cause) = cause.filter(|_| ranked.is_named()) {
        judged.confidence = confidence.min(FOREIGN_CONFIDENCE);
        judged.scores[leading] = judged.confidence;
        judged.undetermined = Some(Undetermined::Foreign { candidate, cause });
    } else if ranked.is_named() {
        judged.dominant = Some(candidate);
        let second = FITTED.second(&ranked.evidence, leading, ftf);
        judged.second = second.map(|(part, confidence)| (part.fault(), confidence));
    } else if let Some(db) = new_comb_db(&ranked.evidence) {
        return by_new_comb(judged, db);
    } else if ranked.spin.is_some() {
        return by_spin(judged, cause);
    } else if !ranked.is_worth_mentioning() && ranked.damaged.is_none() {
        judged.undetermined = cage_lines(ranked);
    } else if let Some(cause) = cause {
        judged.confidence = confidence.min(FOREIGN_CONFIDENCE);
        judged.undetermined = Some(Undetermined::Foreign { candidate, cause });
    } else {
        let weak = Undetermined::Weak { candidate, confidence };
        judged.undetermined = cage_lines(ranked).or(Some(weak));
    }
    if judged.dominant.is_none() && turns >= LEAST_TURNS {
        judged.stranger = stranger(ranked);
        judged.damaged = ranked.open_damage().filter(|_| cause.is_none());
    }
    judged
}

/// A rolling element by the lines of its spin, unless something else explains them.
fn by_spin(mut judged: Judged, cause: Option<ForeignCause>) -> Judged {
    judged.confidence = SPIN_CONFIDENCE;
    if let Some(cause) = cause {
        judged.confidence = FOREIGN_CONFIDENCE;
        judged.undetermined = Some(Undetermined::Foreign { candidate: Fault::Ball, cause });
    } else {
        judged.dominant = Some(Fault::Ball);
    }
    judged.scores[Part::Ball] = judged.confidence;
    judged
}

/// A rolling element by the comb that it makes as it passes the load zone with the cage: no record
/// is at hand in which the cage itself makes one, so the cage is never named.
fn by_new_comb(mut judged: Judged, db: f64) -> Judged {
    judged.dominant = Some(Fault::Ball);
    judged.confidence = COMB_CONFIDENCE;
    judged.new_comb_db = Some(db);
    judged.scores[Part::Ball] = judged.confidence;
    judged
}

/// The order of lines that no part of this bearing has, where they stand.
fn stranger(ranked: &Ranked) -> Option<f64> {
    let figures = &ranked.evidence.stranger.figures;
    (FITTED.strength(figures) >= STRANGER_STRENGTH).then_some(figures.order)
}

/// The cage's lines, where no part is named.
fn cage_lines(ranked: &Ranked) -> Option<Undetermined> {
    let stands = ranked.cage >= cage::STANDS || is_cage(&ranked.evidence);
    stands.then_some(Undetermined::CageLines)
}

#[cfg(test)]
mod tests;
