//! Measures how wide an interval of the remaining life has to be, by runs that had no say in it.
//!
//! Split conformal prediction (Lei, G'Sell, Rinaldo, Tibshirani & Wasserman 2018,
//! "Distribution-free predictive inference for regression", JASA 113, section 2.2) with bearings in
//! place of samples, because windows of one run resemble each other: every bearing has the same
//! weight, and each is judged by the width that the others ask for.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::RunOutcome;

/// The share of the truth that intervals are to hold.
const CLAIMED: f64 = 0.8;

/// One bearing judged by the width that the others ask for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fold<'a> {
    pub(super) bearing: &'a str,
    /// Windows with a remaining life.
    pub(super) told: usize,
    /// Factor on the half width in the logarithm, by all other bearings.
    pub(super) factor: f64,
    /// Share of the windows whose interval so widened holds the truth.
    pub(super) covered: f64,
}

/// The fold of each bearing that was told a life.
pub(super) fn folds(outcomes: &[RunOutcome]) -> Vec<Fold<'_>> {
    let bearings = by_bearing(outcomes);
    if bearings.len() < 2 {
        return Vec::new();
    }
    let judged = bearings.iter().map(|(bearing, strays)| {
        let others = bearings.iter().filter(|(other, _)| *other != bearing);
        let factor = factor(&others.map(|(_, strays)| strays.as_slice()).collect::<Vec<_>>());
        let held = strays.iter().filter(|stray| **stray <= factor).count();
        let covered = held as f64 / strays.len() as f64;
        Fold { bearing, told: strays.len(), factor, covered }
    });
    judged.collect()
}

/// The factor that all bearings together ask for.
pub(super) fn factor_of_all(outcomes: &[RunOutcome]) -> Option<f64> {
    let bearings = by_bearing(outcomes);
    let strays: Vec<&[f64]> = bearings.values().map(Vec::as_slice).collect();
    (!strays.is_empty()).then(|| factor(&strays))
}

/// Markdown: every fold, and what all bearings ask for.
pub(super) fn write(text: &mut String, outcomes: &[RunOutcome]) -> std::fmt::Result {
    let folds = folds(outcomes);
    let Some(all) = factor_of_all(outcomes).filter(|_| !folds.is_empty()) else { return Ok(()) };
    writeln!(text, "Intervals judged on bearings that had no say in their width:\n")?;
    writeln!(text, "| bearing left out | windows told | factor by the others | held |")?;
    writeln!(text, "|---|--:|--:|--:|")?;
    for fold in &folds {
        let Fold { bearing, told, factor, covered } = fold;
        writeln!(text, "| {bearing} | {told} | {factor:.2} | {:.0} % |", 100.0 * covered)?;
    }
    let mean = folds.iter().map(|fold| fold.covered).sum::<f64>() / folds.len() as f64;
    writeln!(
        text,
        "\n{:.0} % held on the mean of {} bearings left out; all together ask for a factor of \
         {all:.2} on top of the program's own width\n",
        100.0 * mean,
        folds.len()
    )
}

/// Returns how far the truth strays from the middle of its interval, by bearing.
fn by_bearing(outcomes: &[RunOutcome]) -> BTreeMap<&str, Vec<f64>> {
    let mut bearings: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for outcome in outcomes.iter().filter(|outcome| !outcome.strays.is_empty()) {
        bearings.entry(&outcome.bearing).or_default().extend(&outcome.strays);
    }
    bearings
}

/// The factor within which the claimed share of all strays lies, each bearing weighing the same.
pub(crate) fn factor(bearings: &[&[f64]]) -> f64 {
    let mut weighed: Vec<(f64, f64)> = Vec::new();
    for strays in bearings {
        let weight = 1.0 / (strays.len() * bearings.len()) as f64;
        weighed.extend(strays.iter().map(|stray| (*stray, weight)));
    }
    weighed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut sum = 0.0;
    for (stray, weight) in &weighed {
        sum += weight;
        if sum >= CLAIMED - 1e-9 {
            return *stray;
        }
    }
    weighed.last().map_or(1.0, |(stray, _)| *stray)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bearing_weighs_the_same_however_long_its_run() {
        let (long, short) = ([0.5; 1000], [2.0; 10]);
        assert!((factor(&[&long, &short]) - 2.0).abs() < 1e-12);
        let even: Vec<f64> = (1..=10).map(|n| f64::from(n) / 10.0).collect();
        assert!((factor(&[&even]) - 0.8).abs() < 1e-12);
    }
}
