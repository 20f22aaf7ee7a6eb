//! Statistics that a few wild values cannot move: median, MAD, running median, Theil–Sen,
//! Mann–Kendall.
//!
//! Used by the spectra's local floors, and by whoever follows a level over time. Invariants: no
//! function panics on any input; values that are not finite are left out, so no result is NaN.

use std::cmp::Ordering;

/// Factor that makes the median absolute deviation of Gaussian values their standard deviation:
/// `1 / Φ⁻¹(3/4)`.
pub const MAD_TO_SIGMA: f64 = 1.482_602_218_505_602;

fn finite(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|v| v.is_finite()).collect()
}

fn median_in_place(values: &mut [f64]) -> Option<f64> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let (below, &mut middle, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
    if n % 2 == 1 {
        return Some(middle);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp)?;
    Some(f64::midpoint(lower, middle))
}

/// The median of the finite values; `None` if there is none.
///
/// ```
/// # use pdm_dsp::robust::median;
/// assert_eq!(median(&[1.0, f64::NAN, 1000.0, 3.0]), Some(3.0));
/// assert_eq!(median(&[]), None);
/// ```
pub fn median(values: &[f64]) -> Option<f64> {
    median_in_place(&mut finite(values))
}

/// The quantile `q` (0…1) of the finite values, linear between order statistics (type 7 of Hyndman
/// & Fan 1996, numpy's default); `None` if there is none or `q` is outside 0…1.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted = finite(values);
    if sorted.is_empty() || !(0.0..=1.0).contains(&q) {
        return None;
    }
    sorted.sort_unstable_by(f64::total_cmp);
    let at = q * (sorted.len() - 1) as f64;
    let low = at.floor() as usize;
    let high = (low + 1).min(sorted.len() - 1);
    Some(sorted[low] + (sorted[high] - sorted[low]) * (at - low as f64))
}

/// Median and median absolute deviation (unscaled; times [`MAD_TO_SIGMA`] it estimates a standard
/// deviation); `None` without finite values.
pub fn median_and_mad(values: &[f64]) -> Option<(f64, f64)> {
    let mut work = finite(values);
    let centre = median_in_place(&mut work)?;
    for v in &mut work {
        *v = (*v - centre).abs();
    }
    Some((centre, median_in_place(&mut work)?))
}

/// Median of the `width` values around each value, fewer at the ends.
///
/// **Input** finite values; an even `width` is made odd by one more. **Output** as many medians.
/// Cost `n (log width + width)` moves of neighbouring memory.
pub fn running_median(values: &[f64], width: usize) -> Vec<f64> {
    let half = width / 2;
    let n = values.len();
    let mut sorted: Vec<f64> = Vec::with_capacity(2 * half + 2);
    let place = |sorted: &[f64], v: f64| sorted.partition_point(|s| s.total_cmp(&v).is_lt());
    for &v in &values[..half.min(n)] {
        sorted.insert(place(&sorted, v), v);
    }
    (0..n)
        .map(|i| {
            if let Some(&entering) = values.get(i + half) {
                sorted.insert(place(&sorted, entering), entering);
            }
            if i > half {
                sorted.remove(place(&sorted, values[i - half - 1]));
            }
            let m = sorted.len();
            if m % 2 == 1 { sorted[m / 2] } else { f64::midpoint(sorted[m / 2 - 1], sorted[m / 2]) }
        })
        .collect()
}

/// The floor that a running median of about `width` values draws under a long series.
///
/// **Input** finite values. **Output** as many. Over more than 401 values the median is taken on
/// every so-many-th and interpolated.
pub fn running_floor(values: &[f64], width: usize) -> Vec<f64> {
    let stride = if width > 401 { width / 100 } else { 1 };
    let thin: Vec<f64> = values.iter().step_by(stride).copied().collect();
    let medians = running_median(&thin, (width / stride) | 1);
    let Some(last) = medians.len().checked_sub(1) else { return Vec::new() };
    (0..values.len())
        .map(|i| {
            let at = i as f64 / stride as f64;
            let low = (at as usize).min(last);
            let high = (low + 1).min(last);
            medians[low] + (medians[high] - medians[low]) * (at - low as f64).min(1.0)
        })
        .collect()
}

/// A robust straight line through points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TheilSen {
    /// Median of the slopes of all pairs, unit of y per unit of x.
    pub slope: f64,
    /// Median of `y − slope · x`.
    pub intercept: f64,
    /// Lower bound of the slope at the confidence asked for.
    pub slope_low: f64,
    /// Upper bound.
    pub slope_high: f64,
}

/// Theil–Sen line with Sen's confidence interval of the slope.
///
/// **Input** points `(x, y)`, confidence 0…1 (0.95, say). Points with equal `x` make no slope.
/// **Output** `None` with fewer than two different finite `x`. Cost n² / 2 slopes: thin long series
/// first.
///
/// **Source** Sen 1968, doi:10.1080/01621459.1968.10480934, sections 3 and 5 (ties in y counted);
/// agrees with `scipy.stats.theilslopes`.
///
/// One wild value does not move the slope of 2 a step:
///
/// ```
/// # use pdm_dsp::robust::theil_sen;
/// let mut points: Vec<(f64, f64)> = (0..20).map(f64::from).map(|x| (x, 2.0 * x)).collect();
/// points[10].1 = 1000.0;
/// let line = theil_sen(&points, 0.95).expect("20 points");
/// assert!((line.slope - 2.0).abs() < 1e-9);
/// ```
pub fn theil_sen(points: &[(f64, f64)], confidence: f64) -> Option<TheilSen> {
    let points: Vec<(f64, f64)> =
        points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
    let mut slopes = Vec::with_capacity(points.len() * points.len().saturating_sub(1) / 2);
    for (i, (xa, ya)) in points.iter().enumerate() {
        for (xb, yb) in &points[i + 1..] {
            let slope = (yb - ya) / (xb - xa);
            if (xb - xa).abs() > 0.0 && slope.is_finite() {
                slopes.push(slope);
            }
        }
    }
    if slopes.is_empty() {
        return None;
    }
    slopes.sort_unstable_by(f64::total_cmp);
    let slope = sorted_median(&slopes);
    let x: Vec<f64> = points.iter().map(|p| p.0).collect();
    let y: Vec<f64> = points.iter().map(|p| p.1).collect();
    let intercept = median(&y)? - slope * median(&x)?;
    let z = normal_quantile(0.5 + confidence.clamp(0.0, 0.999_999) / 2.0);
    let sigma = kendall_variance(&y, &x).sqrt();
    let pairs = slopes.len() as f64;
    let last = slopes.len() - 1;
    let upper = (f64::midpoint(pairs, z * sigma).round() as usize).min(last);
    let lower = ((f64::midpoint(pairs, -z * sigma).round() - 1.0).max(0.0) as usize).min(last);
    Some(TheilSen { slope, intercept, slope_low: slopes[lower], slope_high: slopes[upper] })
}

fn sorted_median(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n % 2 == 1 { sorted[n / 2] } else { f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]) }
}

/// Variance of Kendall's S with ties of y and x taken out (Sen 1968, eq. 2.6).
fn kendall_variance(y: &[f64], x: &[f64]) -> f64 {
    let term = |t: f64| t * (t - 1.0) * (2.0 * t + 5.0);
    let ties = |values: &[f64]| {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted
            .chunk_by(|a, b| a.total_cmp(b) == Ordering::Equal)
            .map(|group| term(group.len() as f64))
            .sum::<f64>()
    };
    ((term(y.len() as f64) - ties(y) - ties(x)) / 18.0).max(0.0)
}

/// Result of the Mann–Kendall test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannKendall {
    /// Pairs that rise minus pairs that fall.
    pub s: f64,
    /// Standardised with continuity correction: above 0 rising.
    pub z: f64,
    /// Two-sided probability of `|z|` without a trend.
    pub p: f64,
}

/// Tests whether a series rises or falls at all.
///
/// **Input** values in order of time. **Output** `None` with fewer than three finite values.
/// **Source** Mann 1945, doi:10.2307/1907187; Kendall 1975 for the ties.
pub fn mann_kendall(values: &[f64]) -> Option<MannKendall> {
    let values = finite(values);
    if values.len() < 3 {
        return None;
    }
    let s: f64 = values
        .iter()
        .enumerate()
        .flat_map(|(i, a)| values[i + 1..].iter().map(move |b| (a, b)))
        .map(|(a, b)| match a.total_cmp(b) {
            Ordering::Less => 1.0,
            Ordering::Equal => 0.0,
            Ordering::Greater => -1.0,
        })
        .sum();
    let sigma = kendall_variance(&values, &[]).sqrt();
    let z = if sigma > 0.0 && s.abs() > 0.0 { (s - s.signum()) / sigma } else { 0.0 };
    Some(MannKendall { s, z, p: 2.0 * (1.0 - normal_cdf(z.abs())) })
}

/// Standard normal distribution function, error below 1.5e-7.
///
/// **Source** Abramowitz & Stegun 1964, 7.1.26.
pub fn normal_cdf(z: f64) -> f64 {
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let poly = t
        * (0.254_829_592
            + t * (-0.284_496_736
                + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    let erf = 1.0 - poly * (-x * x).exp();
    if z >= 0.0 { f64::midpoint(1.0, erf) } else { f64::midpoint(1.0, -erf) }
}

/// Standard normal quantile by bisection of [`normal_cdf`], error below 1e-6 for 0.001…0.999;
/// probabilities outside 0…1 are clamped to ± 8 standard deviations.
pub fn normal_quantile(probability: f64) -> f64 {
    let (mut low, mut high) = (-8.0, 8.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if normal_cdf(middle) < probability { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn median_and_mad_of_known_values() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[f64::NAN]), None);
        assert_eq!(median_and_mad(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), Some((2.0, 1.0)));
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.25), Some(1.75));
    }

    #[test]
    fn the_line_of_exact_points_is_found_despite_an_outlier() {
        let mut points: Vec<(f64, f64)> =
            (0..20).map(|i| (f64::from(i), 3.0 + 0.5 * f64::from(i))).collect();
        points[7].1 = 1e6;
        let line = theil_sen(&points, 0.95).expect("slope");
        assert!((line.slope - 0.5).abs() < 1e-9 && (line.intercept - 3.0).abs() < 0.6);
        assert!(line.slope_low <= 0.5 && line.slope_high >= 0.5);
    }

    #[test]
    fn one_point_has_no_slope() {
        assert!(theil_sen(&[(1.0, 2.0), (1.0, 3.0)], 0.95).is_none());
        assert!(theil_sen(&[], 0.95).is_none());
        assert!(mann_kendall(&[1.0, 2.0]).is_none());
    }

    #[test]
    fn the_normal_quantile_inverts_its_function() {
        assert!((normal_quantile(0.975) - 1.959_964).abs() < 1e-5);
        assert!((normal_cdf(-1.0) - 0.158_655_3).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn the_running_median_is_the_median_of_each_neighbourhood(
            values in prop::collection::vec(-10.0_f64..10.0, 0..60), half in 0_usize..8
        ) {
            let got = running_median(&values, 2 * half + 1);
            prop_assert_eq!(got.len(), values.len());
            for (i, m) in got.iter().enumerate() {
                let part = &values[i.saturating_sub(half)..(i + half + 1).min(values.len())];
                prop_assert!((m - median(part).expect("not empty")).abs() < 1e-12);
            }
        }

        #[test]
        fn any_values_at_all_do_not_panic(
            values in prop::collection::vec(any::<f64>(), 0..40), q in any::<f64>()
        ) {
            let points: Vec<(f64, f64)> = values.chunks_exact(2).map(|c| (c[0], c[1])).collect();
            let _ = (median(&values), quantile(&values, q), median_and_mad(&values));
            let _ = (running_median(&values, 5), mann_kendall(&values));
            let _ = theil_sen(&points, q);
        }
    }
}
