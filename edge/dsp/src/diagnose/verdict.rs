//! From many looks to one verdict and its confidence.

use pdm_shared::fault::Fault;

use super::score::PARTS;
use super::views::{Kind, Look, Source};
use super::{LEAST_TURNS, Undetermined};

/// Confidence from which a fault is named.
pub const NAMING_CONFIDENCE: f64 = 0.6;
/// Score at which lines are as likely there as not (chosen on the recordings: the largest of the
/// healthy ones is 1.2).
const NAMING_SCORE: f64 = 1.4;
/// Least lead over the next candidate (chosen on the same).
const NAMING_MARGIN: f64 = 0.4;
/// Slope of the logistic function, per unit of score (chosen on the same).
const STEEPNESS: f64 = 2.5;
/// What the best three of a bank of bands exceed their mean by without any fault (chosen).
const BEST_OF_BANK_BIAS: f64 = 1.2;

/// The verdict before its evidence is gathered.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Evidence by part, in the order of [`PARTS`].
    pub evidence: [f64; 3],
    /// Probability by part that its lines are there.
    pub scores: [f64; 3],
    /// The leading part.
    pub leading: usize,
    /// The name, if any.
    pub dominant: Option<Fault>,
    /// See [`super::Findings::confidence`].
    pub confidence: f64,
    /// See [`super::Findings::undetermined`].
    pub undetermined: Option<Undetermined>,
}

/// The verdict on all looks of one record with `turns` shaft turns.
pub fn judge(looks: &[Look], turns: f64) -> Judged {
    let evidence = std::array::from_fn(|part| combine(looks, part));
    let mut ranked = [0, 1, 2];
    ranked.sort_by(|&a: &usize, &b: &usize| evidence[b].total_cmp(&evidence[a]));
    let [leading, next, _] = ranked;
    let (top, margin) = (evidence[leading], evidence[leading] - evidence[next]);
    let logistic = |score: f64| 1.0 / (1.0 + (-STEEPNESS * (score - NAMING_SCORE)).exp());
    let scores = evidence.map(logistic);
    let mut confidence = logistic(top + 0.25) * margin.clamp(0.0, 1.0);
    let named = top >= NAMING_SCORE && margin >= NAMING_MARGIN;
    let mut judged =
        Judged { evidence, scores, leading, dominant: None, confidence, undetermined: None };
    if turns < LEAST_TURNS {
        judged.confidence = 0.0;
        judged.undetermined = Some(Undetermined::TooFewTurns { turns });
    } else if named {
        confidence = confidence.max(NAMING_CONFIDENCE);
        judged.dominant = Some(PARTS[leading]);
        judged.confidence = confidence;
    } else if top >= NAMING_SCORE {
        judged.undetermined =
            Some(Undetermined::Ambiguous { first: PARTS[leading], second: PARTS[next] });
    } else if top >= 0.9 {
        judged.undetermined = Some(Undetermined::Weak { candidate: PARTS[leading], confidence });
    }
    judged
}

fn combine(looks: &[Look], part: usize) -> f64 {
    let pick = |source: Source, kind: Kind| -> Vec<f64> {
        let mut found: Vec<f64> = looks
            .iter()
            .filter(|look| look.source == source && look.kind == kind)
            .map(|look| look.standings[part].z)
            .collect();
        found.sort_by(|a, b| b.total_cmp(a));
        found
    };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let raw = pick(Source::Raw, Kind::Bank);
    let best = mean(&raw[..raw.len().min(3)]) - BEST_OF_BANK_BIAS;
    mean(&[
        mean(&pick(Source::White, Kind::FullWhole)),
        mean(&pick(Source::White, Kind::FullAveraged)),
        best,
        mean(&raw),
        mean(&pick(Source::White, Kind::Bank)),
    ])
}
