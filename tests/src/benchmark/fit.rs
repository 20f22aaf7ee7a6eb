//! Fits the naming rule: weights, threshold and calibration from figures whose truth is known.
//!
//! The weights are a logistic regression with a small ridge and no negative weight. The threshold
//! stands above the strongest wrong candidate among the rigs of the fit, each judged by weights
//! that have not seen it. Invariant: the same samples give the same rule.

use std::collections::HashMap;

use pdm_dsp::diagnose::figures::{COUNT, NAMES};
use pdm_dsp::diagnose::rule::{NAMING_CONFIDENCE, Rule, most_excess};
use pdm_dsp::diagnose::speed::SpeedFit;
use pdm_dsp::{Evidence, Part};

/// Ridge on standardised weights: the script `peer2.py` of the reference uses the same.
const RIDGE: f64 = 0.02;
/// How far above the strongest wrong candidate the threshold stands, log odds.
const GAP: f64 = 0.3;
/// How far above the excess of every sound record damage begins, units (chosen: 0.6 dB; with half
/// of it the folds call no sound record damaged, too).
const DAMAGE_GAP: f64 = 0.3;
/// Sweeps of the coordinate descent; the weights no longer change in the fourth digit after 60.
const SWEEPS: usize = 80;

/// One record with its truth.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The evidence that the rule weighs.
    pub evidence: Evidence,
    /// The damaged part; `None`: sound.
    pub truth: Option<Part>,
    /// Where it is from: rigs are weighed with the root of their records and left out as a whole.
    pub rig: String,
}

/// The rule that fits the samples.
pub fn fit(samples: &[&Sample]) -> Rule {
    let shares = shares(samples);
    let mut rigs: Vec<&str> = samples.iter().map(|sample| sample.rig.as_str()).collect();
    rigs.sort_unstable();
    rigs.dedup();
    let mut judged = Vec::new();
    for rig in rigs {
        let others: Vec<usize> = (0..samples.len()).filter(|&i| samples[i].rig != rig).collect();
        let line = regression(samples, &shares, &others);
        let left_out = samples.iter().filter(|sample| sample.rig == rig);
        judged.extend(left_out.map(|sample| line.leading(sample)));
    }
    let wrong = judged.iter().filter(|(_, is_right)| !is_right).map(|(sum, _)| *sum);
    let threshold = wrong.fold(f64::NEG_INFINITY, f64::max) + GAP;
    let all: Vec<usize> = (0..samples.len()).collect();
    let Regression { weights, offset } = regression(samples, &shares, &all);
    let threshold = if threshold.is_finite() { threshold } else { 0.0 };
    let strengths: Vec<(f64, bool)> =
        judged.iter().map(|(sum, is_right)| (sum - threshold, *is_right)).collect();
    Rule {
        weights,
        offset,
        threshold,
        damaged_from: damaged_from(samples),
        slope: slope(&strengths),
    }
}

/// The excess from which a bearing is damaged: of sound records alone, no damaged one has a say; of
/// those that show the stated speed, since damage is told of no other.
fn damaged_from(samples: &[&Sample]) -> f64 {
    let is_asked =
        |sample: &&&Sample| sample.truth.is_none() && sample.evidence.speed == SpeedFit::Confirmed;
    let excess = |sample: &&Sample| most_excess(&sample.evidence);
    samples.iter().filter(is_asked).map(excess).fold(0.0, f64::max) + DAMAGE_GAP
}

/// A rule as `edge/dsp/src/diagnose/fitted.rs` holds it.
pub fn constants(rule: &Rule) -> String {
    let weights: Vec<String> = NAMES
        .iter()
        .zip(rule.weights)
        .map(|(name, weight)| format!("    {weight:.4}, // {name}\n"))
        .collect();
    let Rule { offset, threshold, damaged_from, slope, .. } = rule;
    let rest = format!(
        "    offset: {offset:.4},\n    threshold: {threshold:.4},\n    damaged_from: \
         {damaged_from:.2},\n    slope: {slope:.2},\n"
    );
    weights.concat() + &rest
}

/// Weight of each sample: a rig's faulty and its sound records each count with the root of their
/// number, so that no large rig decides alone.
fn shares(samples: &[&Sample]) -> Vec<f64> {
    let kind = |sample: &Sample| (sample.rig.clone(), sample.truth.is_some());
    let mut counts: HashMap<(String, bool), f64> = HashMap::new();
    for sample in samples {
        *counts.entry(kind(sample)).or_default() += 1.0;
    }
    samples.iter().map(|sample| 1.0 / counts[&kind(sample)].sqrt()).collect()
}

/// A weighted sum of figures.
struct Regression {
    weights: [f64; COUNT],
    offset: f64,
}

impl Regression {
    /// The largest sum of a record's parts, and whether that part is the damaged one.
    fn leading(&self, sample: &Sample) -> (f64, bool) {
        let sum = |part: Part| {
            let values = sample.evidence.parts[part].values();
            self.weights.iter().zip(values).map(|(w, v)| w * v).sum::<f64>() + self.offset
        };
        Part::ALL
            .into_iter()
            .map(|part| (sum(part), sample.truth == Some(part)))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap_or((f64::NEG_INFINITY, false))
    }
}

/// One candidate: standardised figures, +1 for the damaged part or −1, its share.
struct Row {
    values: [f64; COUNT],
    sign: f64,
    share: f64,
}

fn regression(samples: &[&Sample], shares: &[f64], chosen: &[usize]) -> Regression {
    let mut rows: Vec<Row> = chosen
        .iter()
        .flat_map(|&i| {
            Part::ALL.map(|part| Row {
                values: samples[i].evidence.parts[part].values(),
                sign: if samples[i].truth == Some(part) { 1.0 } else { -1.0 },
                share: shares[i],
            })
        })
        .collect();
    let total: f64 = rows.iter().map(|row| row.share).sum();
    let mean: [f64; COUNT] = std::array::from_fn(|k| {
        rows.iter().map(|row| row.share * row.values[k]).sum::<f64>() / total
    });
    let spread: [f64; COUNT] = std::array::from_fn(|k| {
        let square = |row: &Row| row.share * (row.values[k] - mean[k]).powi(2);
        (rows.iter().map(square).sum::<f64>() / total).sqrt() + 1e-9
    });
    for row in &mut rows {
        row.share /= total;
        row.values = std::array::from_fn(|k| (row.values[k] - mean[k]) / spread[k]);
    }
    let (standard, offset) = descend(&rows);
    let weights: [f64; COUNT] = std::array::from_fn(|k| standard[k] / spread[k]);
    let shift: f64 = weights.iter().zip(mean).map(|(w, m)| w * m).sum();
    Regression { weights, offset: offset - shift }
}

/// Coordinate descent with Newton steps, each weight held at 0 or above.
fn descend(rows: &[Row]) -> ([f64; COUNT], f64) {
    let mut weights = [0.0; COUNT];
    let mut offset = 0.0;
    let mut sums = vec![0.0; rows.len()];
    for _ in 0..SWEEPS {
        #[expect(clippy::needless_range_loop, reason = "the index after the weights is the offset")]
        for k in 0..=COUNT {
            let value = |row: &Row| if k < COUNT { row.values[k] } else { 1.0 };
            let ridge = if k < COUNT { RIDGE } else { 0.0 };
            let current = if k < COUNT { weights[k] } else { offset };
            let (mut slope, mut bend) = (ridge * current, ridge + 1e-9);
            for (row, sum) in rows.iter().zip(&sums) {
                let miss = 1.0 / (1.0 + (row.sign * sum).exp());
                slope -= row.share * row.sign * value(row) * miss;
                bend += row.share * value(row).powi(2) * miss * (1.0 - miss);
            }
            let least = if k < COUNT { 0.0 } else { f64::NEG_INFINITY };
            // half of the curvature's bound keeps a step from overshooting where it is flat
            let next = (current - slope / bend.max(0.05)).max(least);
            for (row, sum) in rows.iter().zip(&mut sums) {
                *sum += (next - current) * value(row);
            }
            if k < COUNT {
                weights[k] = next;
            } else {
                offset = next;
            }
        }
    }
    (weights, offset)
}

/// The slope of the confidence over strength that makes the judged candidates most likely, from 0.5
/// to 3 in steps of 0.05; the confidence at strength 0 is fixed.
fn slope(strengths: &[(f64, bool)]) -> f64 {
    let odds = (NAMING_CONFIDENCE / (1.0 - NAMING_CONFIDENCE)).ln();
    let likelihood = |slope: f64| -> f64 {
        let log = |(strength, is_right): &(f64, bool)| {
            let sign = if *is_right { 1.0 } else { -1.0 };
            -(-sign * (odds + slope * strength)).exp().ln_1p()
        };
        strengths.iter().map(log).sum()
    };
    (10..=60)
        .map(|step| f64::from(step) / 20.0)
        .max_by(|a, b| likelihood(*a).total_cmp(&likelihood(*b)))
        .unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pdm_dsp::PerPart;
    use pdm_dsp::diagnose::figures::Figures;

    /// A record of a rig in which the outer race stands by so much.
    fn sample(rig: usize, excess: f64, truth: Option<Part>) -> Sample {
        let outer_race = Figures { excess, own_db: 10.0, off_whole: 1.0, ..Figures::default() };
        let parts = PerPart { outer_race, ..PerPart::default() };
        let evidence = Evidence { parts, ..Evidence::default() };
        Sample { evidence, truth, rig: rig.to_string() }
    }

    #[test]
    fn what_stands_is_named_and_what_the_sound_ones_show_is_not() {
        let samples: Vec<Sample> = (0..60_u32)
            .map(|i| {
                let wobble = f64::from(i % 7) / 10.0;
                let is_sound = i.is_multiple_of(2);
                let excess = if is_sound { wobble } else { 4.0 + wobble };
                sample(i as usize % 5, excess, (!is_sound).then_some(Part::OuterRace))
            })
            .collect();
        let rule = fit(&samples.iter().collect::<Vec<_>>());
        assert!(rule.weights.iter().all(|weight| *weight >= 0.0));
        for sample in &samples {
            let name = rule.name(&sample.evidence).map(|(part, _)| part);
            assert_eq!(name, sample.truth, "{sample:?} by {rule:?}");
        }
    }

    /// Issue 35, point 4: damage is told of records that show the stated speed, so others set no
    /// level for it.
    #[test]
    fn damage_begins_above_the_sound_records_that_show_the_stated_speed() {
        let at = |excess: f64, speed| {
            let mut sound = sample(0, excess, None);
            sound.evidence.speed = speed;
            sound
        };
        let samples =
            [at(0.9, SpeedFit::Other), at(0.8, SpeedFit::Open), at(0.5, SpeedFit::Confirmed)];
        let from = damaged_from(&samples.iter().collect::<Vec<_>>());
        assert!((from - 0.5 - DAMAGE_GAP).abs() < 1e-12, "{from}");
    }
}
