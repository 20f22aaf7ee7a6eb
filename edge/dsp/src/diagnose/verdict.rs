//! From many looks to one verdict and its confidence.

use pdm_shared::fault::Fault;

use super::speed::FoundSpeed;
use super::spin::{self, Spin};
use super::views::{BLOCK_TURNS, Look, LookKind, Source};
use super::{ForeignCause, LEAST_TURNS, Request, Undetermined, cage};
use crate::part::{Part, PerPart};
use crate::separate::Separated;

/// Confidence from which a fault is named (chosen: a wrong name costs more than a second look).
pub const NAMING_CONFIDENCE: f64 = 0.7;
/// Confidence of a name that the lines of the spin gave (chosen: one recording shows by them and no
/// sound machine does; a rule of so few claims no more).
const SPIN_CONFIDENCE: f64 = 0.85;
/// Score from which a fault may be named (chosen on the recordings: the largest of the healthy
/// channels is 1.2 over whole records and 1.5 over one-second pieces).
const NAMING_SCORE: f64 = 1.4;
/// Score from which lines are worth mentioning (chosen on the same).
pub const MENTION_SCORE: f64 = 0.9;
/// Least lead over the next candidate (chosen on the same).
const NAMING_MARGIN: f64 = 0.4;
/// What the best three of a bank of bands exceed their mean by without any fault (chosen).
const BEST_OF_BANK_BIAS: f64 = 1.2;
/// Both races have lines of their own if the weaker reaches this in its best band … (chosen: the
/// damaged rolling element that strikes both races in the recordings has 5.5, its neighbours' cross
/// terms at most 4.5).
const SECOND_RACE_SCORE: f64 = 3.5;
/// … and this share of the stronger (chosen on the same: 1.2 against at most 0.56).
const SECOND_RACE_RATIO: f64 = 0.8;

/// Discrete multiples in a row from which a family is one of impacts that hardly slip (chosen:
/// families of drives and gears have seven lines in a row, a resonance holds more).
const LEAST_TEETH: usize = 12;
/// How near to a whole number an order is that number, as a ratio (chosen: the speed that a record
/// gives may be off by half a percent where its shaft lines are weak).
const WHOLE_NUMBER: f64 = 0.005;

/// All looks weighed together.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Evidence: standard deviations above unrelated orders.
    pub evidence: PerPart<f64>,
    /// The strongest single band, of the random part or the raw record.
    pub best_band: PerPart<f64>,
    /// Parts by falling evidence.
    pub order: [Part; 3],
    /// How far the cage's lines stand, in the random part as it is and pre-whitened alike.
    pub cage: f64,
    /// The lines of a rolling element's spin beside the cage's, if they tell more than `evidence`:
    /// no race is worth mentioning.
    pub spin: Option<Spin>,
}

impl Ranked {
    /// True if the leading part's evidence is strong enough for a name.
    pub fn may_be_named(&self) -> bool {
        self.evidence[self.order[0]] >= NAMING_SCORE
    }

    /// The part that leads.
    pub fn leading(&self) -> Part {
        if self.spin.is_some() { Part::Ball } else { self.order[0] }
    }

    /// The order of a part's lines, if it is not the looks' own.
    pub fn own_order(&self, part: Part) -> Option<f64> {
        self.spin.filter(|_| part == Part::Ball).map(|spin| spin.order)
    }
}

/// The verdict before its evidence is gathered.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The looks weighed together.
    pub ranked: Ranked,
    /// Probability that naming a part would be right, beside the others.
    pub scores: PerPart<f64>,
    /// The name, if any.
    pub dominant: Option<Fault>,
    /// See [`super::Findings::confidence`].
    pub confidence: f64,
    /// See [`super::Findings::undetermined`].
    pub undetermined: Option<Undetermined>,
}

/// Weighs all looks at the random part, and notes the strongest bands of the raw record beside it.
pub fn rank(looks: &[Look], raw: &[Look]) -> Ranked {
    let evidence = PerPart::from_fn(|part| combine(looks, part));
    let best_band = PerPart::from_fn(|part| {
        looks
            .iter()
            .chain(raw)
            .filter(|look| look.kind == LookKind::Bank)
            .map(|look| look.standings[part].z)
            .fold(f64::NEG_INFINITY, f64::max)
    });
    let order = evidence.ranked();
    let told: Vec<&Look> = looks.iter().filter(|look| look.cage.is_some()).collect();
    let cage = told.iter().filter_map(|look| look.cage).map(|cage| cage.z).reduce(f64::min);
    let spins: Vec<Option<Spin>> = told.iter().map(|look| look.spin).collect();
    let is_race = order[0] != Part::Ball && evidence[order[0]] >= MENTION_SCORE;
    let is_open = !is_race && evidence[order[0]] < NAMING_SCORE;
    let spin = spin::agreed(&spins).filter(|_| is_open);
    Ranked { evidence, best_band, order, cage: cage.unwrap_or(0.0), spin }
}

/// The verdict on the looks of one record with `turns` shaft turns.
pub fn judge(ranked: &Ranked, cause: Option<ForeignCause>, turns: f64) -> Judged {
    let [leading, next, _] = ranked.order;
    let top = ranked.evidence[leading];
    let margin = top - ranked.evidence[next];
    let confidence = confidence(top, margin);
    let first = leading.fault();
    let mut judged = Judged {
        ranked: ranked.clone(),
        scores: PerPart::from_fn(|part| presence(ranked, part)),
        dominant: None,
        confidence,
        undetermined: None,
    };
    let second_race = second_race(ranked);
    if turns < LEAST_TURNS {
        judged.confidence = 0.0;
        judged.undetermined = Some(Undetermined::TooFewTurns { turns });
    } else if let Some(spin) = ranked.spin {
        return by_spin(judged, spin, cause);
    } else if top < MENTION_SCORE {
        judged.undetermined = cage_lines(ranked);
        return judged;
    } else if let Some(cause) = cause {
        judged.confidence = confidence.min(0.3);
        judged.undetermined = Some(Undetermined::Foreign { candidate: first, cause });
    } else if let Some(second) = second_race {
        judged.confidence = confidence.min(0.4);
        judged.undetermined = Some(Undetermined::Ambiguous { first, second });
    } else if top >= NAMING_SCORE && margin < NAMING_MARGIN {
        judged.undetermined = Some(Undetermined::Ambiguous { first, second: next.fault() });
    } else if top >= NAMING_SCORE && confidence >= NAMING_CONFIDENCE {
        judged.dominant = Some(first);
    } else {
        let weak = Undetermined::Weak { candidate: first, confidence };
        judged.undetermined = cage_lines(ranked).or(Some(weak));
    }
    judged
}

/// A rolling element by the lines of its spin, unless something else explains them.
fn by_spin(mut judged: Judged, spin: Spin, cause: Option<ForeignCause>) -> Judged {
    judged.ranked.evidence[Part::Ball] = spin.z;
    judged.confidence = SPIN_CONFIDENCE;
    if let Some(cause) = cause {
        judged.confidence = 0.3;
        judged.undetermined = Some(Undetermined::Foreign { candidate: Fault::Ball, cause });
    } else {
        judged.dominant = Some(Fault::Ball);
    }
    judged.scores[Part::Ball] = judged.confidence;
    judged
}

/// The cage's lines, where no part is named.
fn cage_lines(ranked: &Ranked) -> Option<Undetermined> {
    (ranked.cage >= cage::STANDS).then_some(Undetermined::CageLines)
}

/// The other race, if both show lines of their own in different bands: a rolling element that
/// strikes both, or two faults.
fn second_race(ranked: &Ranked) -> Option<Fault> {
    let leading = ranked.order[0];
    let other = match leading {
        Part::OuterRace => Part::InnerRace,
        Part::InnerRace => Part::OuterRace,
        Part::Ball => return None,
    };
    let rival = ranked.best_band[other];
    let both = rival >= SECOND_RACE_SCORE && rival >= SECOND_RACE_RATIO * ranked.best_band[leading];
    both.then_some(other.fault())
}

/// Probability that the part is at fault. The strongest is judged by its own lines alone; another
/// by how far it stays behind, because lines of the strongest fall on its orders too (3×BPFO and
/// 2×BPFI of a 6205 are 0.7 % apart).
fn presence(ranked: &Ranked, part: Part) -> f64 {
    let evidence = ranked.evidence[part];
    let leading = ranked.order[0];
    if part == leading {
        confidence(evidence, CALIBRATION.most_margin)
    } else {
        confidence(evidence, evidence - ranked.evidence[leading])
    }
}

/// How sure a name of this evidence and lead is: the share of names that were right.
fn confidence(top: f64, margin: f64) -> f64 {
    let c = &CALIBRATION;
    let odds = c.per_evidence * top.min(c.most_evidence)
        + c.per_margin * margin.min(c.most_margin)
        + c.offset;
    1.0 / (1.0 + (-odds).exp())
}

/// Coefficients of the logistic function from evidence and lead to the chance of being right.
///
/// Fitted by maximum likelihood on 1,995 verdicts: CWRU (drive and fan end, 12 and 48 kHz, and the
/// other channel of each as a machine with a sound bearing), MFPT, HIT-SM, UESTC and IMS, as whole
/// records and in pieces of 3, 1.5 and 1 s, and 350 simulated records (outer, inner, ball, cage,
/// sound with looseness, mains impulses and modulated tones). Fit: 1.49, 2.02, −3.86; the stored
/// ones are a little more careful, for machines that were not among them. Predicted / observed by
/// bins of the fit: 0.16 / 0.13, 0.38 / 0.38, 0.61 / 0.50, 0.76 / 0.75, 0.84 / 0.86, 0.95 / 0.97,
/// 0.995 / 0.998. The fit was made on evidence of whole records; of their random part the benchmark
/// prints how it holds.
struct Calibration {
    per_evidence: f64,
    most_evidence: f64,
    per_margin: f64,
    most_margin: f64,
    offset: f64,
}

const CALIBRATION: Calibration = Calibration {
    per_evidence: 1.4,
    most_evidence: 4.0,
    per_margin: 1.9,
    most_margin: 2.0,
    offset: -4.0,
};

fn combine(looks: &[Look], part: Part) -> f64 {
    let pick = |source: Source, kind: LookKind| picked(looks, source, kind, part);
    let random = pick(Source::Random, LookKind::Bank);
    let pooled = [pick(Source::Random, LookKind::Pooled), pick(Source::White, LookKind::Pooled)];
    mean(&[
        mean(&pick(Source::White, LookKind::FullWhole)),
        mean(&pick(Source::White, LookKind::FullAveraged)),
        best_of_bank(&random),
        mean(&random),
        mean(&pick(Source::White, LookKind::Bank)),
        mean(&pooled.concat()),
    ])
}

/// The family that a record with its discrete lines would name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiscreteFamily {
    part: Fault,
    order: f64,
}

impl DiscreteFamily {
    /// The strongest family of the raw looks, if it is strong enough for a name.
    pub fn of(raw: &[Look]) -> Option<Self> {
        let evidence = PerPart::from_fn(|part| {
            let bank = picked(raw, Source::Raw, LookKind::Bank, part);
            f64::midpoint(best_of_bank(&bank), mean(&bank))
        });
        let [part, ..] = evidence.ranked();
        let best =
            raw.iter().map(|look| look.standings[part]).max_by(|a, b| a.z.total_cmp(&b.z))?;
        (evidence[part] >= NAMING_SCORE).then_some(Self { part: part.fault(), order: best.order })
    }

    /// True if its discrete lines are those of impacts that hardly slip, see
    /// [`Separated::discrete_multiples`], and of no whole number a turn, as vanes and teeth are.
    pub fn is_of_impacts(
        &self,
        separated: &Separated,
        speed: FoundSpeed,
        request: &Request,
    ) -> bool {
        let (df_hz, shaft_hz) = (separated.random.df_hz(), speed.speed.shaft_hz());
        let doubt = if speed.estimated { WHOLE_NUMBER } else { request.speed_tolerance };
        if (self.order - self.order.round()).abs() <= doubt.max(WHOLE_NUMBER) * self.order {
            return false;
        }
        // the look that gave the order may be coarser than the record's own lines
        let steps = (1.5 * shaft_hz / BLOCK_TURNS / df_hz).ceil().max(1.0) as i32;
        (-steps..=steps)
            .map(|step| self.order * shaft_hz + f64::from(step) * df_hz)
            .any(|hz| separated.discrete_multiples(hz) >= LEAST_TEETH)
    }

    /// Why it is not named.
    pub const fn undetermined(&self) -> Undetermined {
        Undetermined::Foreign { candidate: self.part, cause: ForeignCause::DiscreteLines }
    }
}

/// The findings of all looks of a kind about a part, largest first.
fn picked(looks: &[Look], source: Source, kind: LookKind, part: Part) -> Vec<f64> {
    let mut found: Vec<f64> = looks
        .iter()
        .filter(|look| look.source == source && look.kind == kind)
        .map(|look| look.standings[part].z)
        .collect();
    found.sort_by(|a, b| b.total_cmp(a));
    found
}

fn best_of_bank(falling: &[f64]) -> f64 {
    mean(&falling[..falling.len().min(3)]) - BEST_OF_BANK_BIAS
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests;
