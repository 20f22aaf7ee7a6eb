//! Statistics of the waveform.
//!
//! Stands after whoever has checked that the samples are numbers. Invariants: the mean is removed
//! first; every figure is finite; scale changes only the three levels, never the shape figures.

/// Statistics of an acceleration waveform without its mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeDomain {
    /// Root mean square, m/s².
    pub rms: f64,
    /// Largest magnitude, m/s².
    pub peak: f64,
    /// Largest minus smallest value, m/s².
    pub peak_to_peak: f64,
    /// `peak / rms`; `None` where the signal does not move, as the ratios below.
    pub crest_factor: Option<f64>,
    /// Fourth standardised moment, raw: 3 for Gaussian noise.
    pub kurtosis: Option<f64>,
    /// Third standardised moment.
    pub skewness: Option<f64>,
    /// `rms / mean |x|`.
    pub shape_factor: Option<f64>,
    /// `peak / mean |x|`.
    pub impulse_factor: Option<f64>,
    /// `peak / (mean √|x|)²`.
    pub clearance_factor: Option<f64>,
}

/// Statistics of a waveform.
///
/// **Input** `n ≥ 2` finite samples, m/s². **Output** levels in m/s², ratios without unit;
/// `None` if there are fewer than two samples or one is not finite.
///
/// **Example** a sine has crest factor √2 and kurtosis 1.5.
/// ```
/// let sine: Vec<f64> =
///     (0..1000).map(|i| (std::f64::consts::TAU * 10.0 * i as f64 / 1000.0).sin()).collect();
/// let t = pdm_dsp::time_domain(&sine).unwrap();
/// assert!((t.crest_factor.unwrap() - 2f64.sqrt()).abs() < 1e-3);
/// assert!((t.kurtosis.unwrap() - 1.5).abs() < 1e-9);
/// ```
///
/// **Source** ISO 13373-1:2002, annex; the factors as in Lei et al. 2008,
/// doi:10.1016/j.eswa.2007.08.072, table 1.
pub fn time_domain(accel_m_s2: &[f64]) -> Option<TimeDomain> {
    let n = accel_m_s2.len();
    if n < 2 || accel_m_s2.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let count = n as f64;
    let mean = accel_m_s2.iter().sum::<f64>() / count;
    let mut sums = Sums::default();
    for &x in accel_m_s2 {
        sums.add(x - mean);
    }
    Some(sums.finish(count))
}

/// Running sums over the samples without their mean; shared with the fast path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sums {
    pub(crate) second: f64,
    pub(crate) third: f64,
    pub(crate) fourth: f64,
    pub(crate) magnitude: f64,
    pub(crate) root: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            second: 0.0,
            third: 0.0,
            fourth: 0.0,
            magnitude: 0.0,
            root: 0.0,
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
        }
    }
}

impl Sums {
    fn add(&mut self, x: f64) {
        let square = x * x;
        self.second += square;
        self.third += square * x;
        self.fourth += square * square;
        self.magnitude += x.abs();
        self.root += x.abs().sqrt();
        self.low = self.low.min(x);
        self.high = self.high.max(x);
    }

    pub(crate) fn finish(self, count: f64) -> TimeDomain {
        let variance = self.second / count;
        let rms = variance.sqrt();
        let peak = self.high.max(-self.low).max(0.0);
        let magnitude = self.magnitude / count;
        let root = (self.root / count).powi(2);
        let ratio = |a: f64, b: f64| (b > 0.0 && (a / b).is_finite()).then(|| a / b);
        TimeDomain {
            rms,
            peak,
            peak_to_peak: self.high - self.low,
            crest_factor: ratio(peak, rms),
            kurtosis: ratio(self.fourth / count, variance * variance),
            skewness: ratio(self.third / count, variance * rms),
            shape_factor: ratio(rms, magnitude),
            impulse_factor: ratio(peak, magnitude),
            clearance_factor: ratio(peak, root),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_square_wave_has_every_factor_one() {
        let square: Vec<f64> = (0..100).map(|i| if i % 2 == 0 { 3.0 } else { -3.0 }).collect();
        let t = time_domain(&square).expect("valid");
        assert!((t.rms - 3.0).abs() < 1e-12 && (t.peak_to_peak - 6.0).abs() < 1e-12);
        for factor in
            [t.crest_factor, t.kurtosis, t.shape_factor, t.impulse_factor, t.clearance_factor]
        {
            assert!((factor.expect("moves") - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_flat_line_has_levels_and_no_ratios() {
        let t = time_domain(&[2.5; 64]).expect("valid");
        assert!(t.rms.abs() < 1e-12 && t.crest_factor.is_none() && t.kurtosis.is_none());
    }

    #[test]
    fn nan_and_a_single_sample_have_no_statistics() {
        assert!(time_domain(&[1.0, f64::NAN]).is_none());
        assert!(time_domain(&[1.0]).is_none());
    }

    proptest! {
        /// Twice the signal: twice the levels, the same shape. An offset changes nothing.
        #[test]
        fn scale_moves_levels_only(samples in prop::collection::vec(-50.0_f64..50.0, 16..200)) {
            let one = time_domain(&samples).expect("finite");
            prop_assume!(one.rms > 1e-6);
            let moved: Vec<f64> = samples.iter().map(|x| 2.0 * x + 7.0).collect();
            let two = time_domain(&moved).expect("finite");
            prop_assert!((two.rms - 2.0 * one.rms).abs() < 1e-9 * (1.0 + one.rms));
            prop_assert!((two.peak - 2.0 * one.peak).abs() < 1e-9 * (1.0 + one.peak));
            let (a, b) = (one.kurtosis.expect("moves"), two.kurtosis.expect("moves"));
            prop_assert!((a - b).abs() < 1e-7 * a);
        }
    }
}
