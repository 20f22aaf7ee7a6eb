//! The trend: Theil–Sen slope of the leading feature with its confidence, and whether it speeds up.
//!
//! The stretch of time looked at comes from the data: since the damage began to show, or else the
//! last quarter of what is remembered. The same code so reads half an hour of windows every ten
//! seconds and months of windows every ten minutes.

use pdm_dsp::robust::{TheilSen, median, theil_sen};
use pdm_shared::event::{Trend, TrendDirection};

use super::feature::unit;

/// Medians that a course is thinned to: 60 make 1,770 slopes, and an interval that is told well.
pub(super) const BINS: usize = 60;
/// Fewest points of which a trend is told, and of each half of which an acceleration is: Sen's
/// interval is an asymptotic one, good from about ten points on (Sen 1968).
const FEWEST: usize = 12;
/// Confidence of the slope's interval.
const CONFIDENCE: f64 = 0.95;
/// The later half must be steeper by this factor. Chosen: less changes no plan.
const STEEPER: f64 = 1.5;

/// A trend of a feature that cannot be told yet.
pub(super) fn unknown(feature: &str) -> Trend {
    Trend {
        feature: feature.to_owned(),
        slope: None,
        slope_unit: format!("{}/h", unit(feature)),
        slope_ci: None,
        trend_direction: TrendDirection::Unknown,
        acceleration_detected: false,
        span_h: None,
        baseline_level: None,
        baseline_limit: None,
    }
}

/// The trend of a feature over a course of (hours, value). `matters` is the least change over the
/// course that counts, in the feature's unit.
pub(super) fn trend(feature: &str, course: &[(f64, f64)], matters: f64) -> Trend {
    let (Some(line), Some(first), Some(last)) = (slope(course), course.first(), course.last())
    else {
        return unknown(feature);
    };
    let span = last.0 - first.0;
    let direction = match line {
        _ if (line.slope * span).abs() < matters => TrendDirection::Stable,
        _ if line.slope_low > 0.0 => TrendDirection::Rising,
        _ if line.slope_high < 0.0 => TrendDirection::Falling,
        _ => TrendDirection::Stable,
    };
    Trend {
        slope: Some(line.slope),
        slope_ci: Some([line.slope_low, line.slope_high]),
        trend_direction: direction,
        acceleration_detected: accelerates(course, matters),
        span_h: Some(span),
        ..unknown(feature)
    }
}

/// The later half rises faster than the earlier one, and their intervals do not touch.
fn accelerates(course: &[(f64, f64)], matters: f64) -> bool {
    let (earlier, later) = course.split_at(course.len() / 2);
    let (Some(before), Some(after)) = (slope(earlier), slope(later)) else { return false };
    let span = later.last().zip(later.first()).map_or(0.0, |(last, first)| last.0 - first.0);
    after.slope_low > before.slope_high.max(0.0)
        && after.slope > STEEPER * before.slope
        && after.slope * span > matters
}

/// Theil–Sen with an interval that is wider where neighbouring residuals resemble each other: the
/// effective number of points is n·(1−ρ)/(1+ρ) (Bayley & Hammersley 1946, ρ of lag 1).
pub(super) fn slope(course: &[(f64, f64)]) -> Option<TheilSen> {
    if course.len() < FEWEST {
        return None;
    }
    let line = theil_sen(course, CONFIDENCE)?;
    let residuals: Vec<f64> =
        course.iter().map(|(x, y)| y - line.intercept - line.slope * x).collect();
    let rho = lag_one(&residuals);
    let wider = ((1.0 + rho) / (1.0 - rho)).sqrt();
    Some(TheilSen {
        slope_low: line.slope - wider * (line.slope - line.slope_low),
        slope_high: line.slope + wider * (line.slope_high - line.slope),
        ..line
    })
}

/// Autocorrelation of lag 1 within 0…0.8, of residuals clipped at four median magnitudes.
fn lag_one(residuals: &[f64]) -> f64 {
    let magnitudes: Vec<f64> = residuals.iter().map(|r| r.abs()).collect();
    let limit = 4.0 * median(&magnitudes).unwrap_or(0.0);
    let clipped: Vec<f64> = residuals.iter().map(|r| r.clamp(-limit, limit)).collect();
    let power: f64 = clipped.iter().map(|r| r * r).sum();
    let product: f64 = clipped.windows(2).map(|pair| pair[0] * pair[1]).sum();
    if power > 0.0 { (product / power).clamp(0.0, 0.8) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn noise(n: usize) -> f64 {
        ((n * 7919) % 101) as f64 / 101.0 - 0.5
    }

    fn course(of: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        (0..60).map(|n| (n as f64, of(n as f64) + 0.1 * noise(n))).collect()
    }

    /// R-EDGE-7.
    #[test]
    fn a_straight_rise_is_rising_and_does_not_accelerate() {
        let trend = trend("rms_g", &course(|t| 1.0 + 0.05 * t), 0.1);
        assert_eq!(trend.trend_direction, TrendDirection::Rising);
        assert!((trend.slope.expect("slope") - 0.05).abs() < 0.002);
        assert!(!trend.acceleration_detected);
        assert_eq!((trend.slope_unit.as_str(), trend.span_h), ("g/h", Some(59.0)));
    }

    #[test]
    fn an_exponential_rise_accelerates() {
        assert!(
            trend("rms_g", &course(|t| 1.0 + 0.02 * (t / 10.0).exp()), 0.1).acceleration_detected
        );
    }

    #[test]
    fn noise_alone_is_stable() {
        let trend = trend("rms_g", &course(|_| 1.0), 0.01);
        assert_eq!(trend.trend_direction, TrendDirection::Stable);
        assert!(!trend.acceleration_detected);
    }

    proptest! {
        #[test]
        fn any_course_gives_figures_or_nothing(
            points in prop::collection::vec((0.0_f64..1e5, -1e9_f64..1e9), 0..80)
        ) {
            let trend = trend("rms_g", &points, 0.1);
            prop_assert!(trend.slope.is_none_or(f64::is_finite));
            prop_assert!(trend.slope_ci.is_none_or(|ci| ci[0] <= ci[1]));
        }
    }
}
