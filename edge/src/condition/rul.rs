//! Remaining useful life: a Bayesian exponential degradation model, or the reason why it is silent.
//!
//! `S(t) = φ + θ·exp(β·t + ε − σ²/2)` (Gebraeel, Lawley, Li & Ryan 2005, "Residual-life
//! distributions from component degradation signals: a Bayesian approach", IIE Transactions 37(6),
//! 543–557, eq. 1): φ is the healthy level, failure is the first crossing of a threshold `D`. In
//! `L = ln(S − φ)` it is a straight line whose intercept and slope have a Gaussian posterior; the
//! time left then has the closed distribution of their eq. 9, truncated to what lies ahead.
//! The threshold itself is uncertain (machines stop where they stop), and so is whether the growth
//! stays as it is: both widen the interval.

use pdm_dsp::robust::normal_cdf;
use pdm_shared::event::Rul;

/// Coverage that the interval claims.
const CONFIDENCE: f64 = 0.8;
/// Name of the model on the wire.
const MODEL: &str = "bayesian_exponential";

/// Growth that a degradation shows between the moment it is noticed and failure, `ln`: from 0.15 to
/// 4 healthy levels above the healthy one. At a moment drawn at random from it, growth times time
/// since its onset is half of that, give or take: the prior of β is scale-free.
const PRIOR_GROWTH: f64 = 1.65;
/// Standard deviation of that prior: a uniform moment has 0.95, the spread of onsets adds to it.
const PRIOR_GROWTH_SIGMA: f64 = 1.2;
/// Relative standard deviation of the future growth around the past one. Chosen on 200 simulated
/// runs and the FEMTO runs, so that the intervals cover.
const DRIFT: f64 = 0.45;
/// A point three tenths of the course old weighs half: growth that changes is followed. Chosen on
/// 200 simulated runs.
const HALF_LIFE: f64 = 0.3;
/// Model error of `ln(S − φ)` at one point. Chosen: levels of real runs waver by a tenth.
const WAVER: f64 = 0.1;
/// The posterior slope must exceed 0 by this many standard deviations: 95 % one-sided.
const SIGNIFICANT: f64 = 1.645;
/// Beyond this ratio of its bounds an interval helps nobody to plan. Chosen.
const WIDEST: f64 = 30.0;
/// Beyond this multiple of the time that the growth has been seen for, it says nothing. Chosen.
const FARTHEST: f64 = 5.0;

/// What the model needs besides the course.
#[derive(Debug, Clone, Copy)]
pub(super) struct Degradation {
    /// The healthy level φ, in the feature's unit.
    pub(super) healthy: f64,
    /// How far a healthy window strays from it, in the feature's unit.
    pub(super) scatter: f64,
    /// The level at failure.
    pub(super) failure: f64,
    /// Standard deviation of `ln(failure − healthy)`.
    pub(super) failure_sigma: f64,
}

/// The posterior of the line `L = a + b·t`, `t` in hours from now.
#[derive(Debug, Clone, Copy)]
struct Line {
    a: f64,
    b: f64,
    var_a: f64,
    var_b: f64,
    cov: f64,
}

/// The remaining life by a course of (hours, value) since the damage began to show, seen at `now`.
pub(super) fn remaining(course: &[(f64, f64)], now: f64, model: Degradation) -> Rul {
    let Some(line) = posterior(course, now, model) else {
        return Rul::unknown("too few windows since the damage began to show");
    };
    if line.b <= SIGNIFICANT * line.var_b.sqrt() {
        return Rul::unknown("no significant growth since the damage began to show");
    }
    let seen_for = course.first().map_or(0.0, |first| now - first.0);
    let ahead = Ahead::of(line, model);
    let (Some(low), Some(middle), Some(high)) =
        (ahead.quantile(0.1), ahead.quantile(0.5), ahead.quantile(0.9))
    else {
        return Rul::unknown("the failure threshold may never be reached at the present growth");
    };
    if middle > FARTHEST * seen_for {
        return Rul::unknown("failure is too far ahead for how long the growth has been seen");
    }
    if high > WIDEST * low {
        return Rul::unknown("the interval is too wide to plan with");
    }
    Rul {
        hours: Some(middle),
        ci_low_hours: Some(low),
        ci_high_hours: Some(high),
        confidence: Some(CONFIDENCE),
        model: Some(MODEL.to_owned()),
        unknown: None,
    }
}

/// Weighted regression of `ln(S − φ)` with a Gaussian prior on the slope.
fn posterior(course: &[(f64, f64)], now: f64, model: Degradation) -> Option<Line> {
    let first = course.first()?.0;
    let span = now - first;
    if course.len() < 10 || span <= 0.0 || model.scatter <= 0.0 {
        return None;
    }
    let point = |&(hours, value): &(f64, f64)| {
        let above = (value - model.healthy).max(0.5 * model.scatter);
        let t = hours - now;
        let variance = (model.scatter / above).powi(2) + WAVER * WAVER;
        (t, above.ln(), (t / (HALF_LIFE * span)).exp2() / variance)
    };
    let points: Vec<(f64, f64, f64)> = course.iter().map(point).collect();
    let sum = |of: &dyn Fn(&(f64, f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
    let (w, wt, wtt) = (sum(&|p| p.2), sum(&|p| p.2 * p.0), sum(&|p| p.2 * p.0 * p.0));
    let (wy, wty) = (sum(&|p| p.2 * p.1), sum(&|p| p.2 * p.0 * p.1));
    let prior = (span / PRIOR_GROWTH_SIGMA).powi(2);
    let solve = |scale: f64| {
        // normal equations of the scaled weights and the prior of the slope
        let (w, wt, wtt, wy, wty) = (w / scale, wt / scale, wtt / scale, wy / scale, wty / scale);
        let (btt, bty) = (wtt + prior, wty + prior * PRIOR_GROWTH / span);
        let det = w * btt - wt * wt;
        (det > 0.0).then(|| Line {
            a: (btt * wy - wt * bty) / det,
            b: (w * bty - wt * wy) / det,
            var_a: btt / det,
            var_b: w / det,
            cov: -wt / det,
        })
    };
    let line = solve(1.0)?;
    // residuals larger than stated, and those that resemble their neighbours, weaken the evidence
    let residual = |p: &(f64, f64, f64)| p.1 - line.a - line.b * p.0;
    let misfit = sum(&|p| p.2 * residual(p).powi(2)) / points.len() as f64;
    let product: f64 = points.windows(2).map(|p| residual(&p[0]) * residual(&p[1])).sum();
    let power: f64 = points.iter().map(|p| residual(p).powi(2)).sum();
    let rho = if power > 0.0 { (product / power).clamp(0.0, 0.8) } else { 0.0 };
    solve(misfit.max(1.0) * (1.0 + rho) / (1.0 - rho)).filter(|line| line.b.is_finite())
}

/// Distribution of the time ahead.
struct Ahead {
    line: Line,
    /// What is left to grow, `ln`.
    left: f64,
    var_left: f64,
    var_b: f64,
}

impl Ahead {
    fn of(line: Line, model: Degradation) -> Self {
        let end = (model.failure - model.healthy).max(model.scatter).ln();
        let var_left = line.var_a + model.failure_sigma.powi(2) + WAVER * WAVER;
        let var_b = line.var_b + (DRIFT * line.b).powi(2);
        Self { line, left: end - line.a, var_left, var_b }
    }

    /// Probability that the threshold is crossed within `hours`, not yet truncated.
    fn crossed(&self, hours: f64) -> f64 {
        let variance = self.var_left + self.var_b * hours * hours + 2.0 * self.line.cov * hours;
        normal_cdf((self.line.b * hours - self.left) / variance.max(1e-12).sqrt())
    }

    /// The time within which failure comes with this probability, given that it has not come yet.
    fn quantile(&self, probability: f64) -> Option<f64> {
        let already = self.crossed(0.0).min(1.0 - 1e-6);
        let wanted = already + probability * (1.0 - already);
        let scale = 1.0 / self.line.b;
        let (mut low, mut high) = (0.0, 100.0 * scale);
        if self.crossed(high) < wanted {
            return None;
        }
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if self.crossed(middle) < wanted { low = middle } else { high = middle }
        }
        Some(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MODEL: Degradation =
        Degradation { healthy: 1.0, scatter: 0.03, failure: 5.0, failure_sigma: 0.2 };

    fn rise(rate: f64, hours: usize) -> Vec<(f64, f64)> {
        (0..hours).map(|t| (t as f64, 1.0 + 0.1 * (rate * t as f64).exp())).collect()
    }

    /// R-EDGE-8.
    #[test]
    fn an_exponential_run_is_told_its_end() {
        let rul = remaining(&rise(0.05, 50), 49.0, MODEL);
        // 0.1·exp(0.05·t) = 4 at t = 73.8 h
        let left = 73.8 - 49.0;
        let (low, high) = (rul.ci_low_hours.expect("low"), rul.ci_high_hours.expect("high"));
        assert!(low < left && left < high, "{rul:?}");
        assert!((rul.hours.expect("hours") / left - 1.0).abs() < 0.2, "{rul:?}");
    }

    #[test]
    fn a_level_that_stays_has_no_end() {
        let flat: Vec<(f64, f64)> = (0..50).map(|t| (f64::from(t), 1.3)).collect();
        assert!(remaining(&flat, 49.0, MODEL).unknown.is_some());
    }

    proptest! {
        #[test]
        fn a_figure_lies_within_its_bounds_and_is_finite(
            values in prop::collection::vec(0.0_f64..100.0, 0..70), healthy in 0.01_f64..10.0
        ) {
            let course: Vec<(f64, f64)> =
                values.iter().enumerate().map(|(t, v)| (t as f64, *v)).collect();
            let model = Degradation { healthy, scatter: 0.03 * healthy, failure: 5.0 * healthy,
                failure_sigma: 0.6 };
            let rul = remaining(&course, values.len() as f64, model);
            match (rul.ci_low_hours, rul.hours, rul.ci_high_hours) {
                (Some(low), Some(middle), Some(high)) => {
                    prop_assert!(0.0 <= low && low <= middle && middle <= high && high.is_finite());
                }
                _ => prop_assert!(rul.unknown.is_some()),
            }
        }
    }
}
