//! Fourier transforms of the thorough path, in `f64`, planned once for each run of equal lengths.
//!
//! Wraps `realfft`/`rustfft`. A look at a record takes dozens of lengths, one after the other, and
//! a plan is as large as what it transforms: so the last plan of either direction is kept and no
//! other. Invariants: forward transforms are not scaled; lengths are whatever the caller gives,
//! [`fast_length_at_most`] and [`fast_length_at_least`] find good ones.

use std::sync::Arc;

use realfft::{RealFftPlanner, RealToComplex};
pub use rustfft::num_complex::Complex64;
use rustfft::{Fft, FftPlanner};

/// The last plan of either direction, with its scratch memory.
#[derive(Default)]
pub struct Transforms {
    forward: Option<Planned<dyn RealToComplex<f64>>>,
    inverse: Option<Planned<dyn Fft<f64>>>,
}

struct Planned<P: ?Sized> {
    plan: Arc<P>,
    scratch: Vec<Complex64>,
}

impl<P: ?Sized> Planned<P> {
    fn new(plan: Arc<P>, scratch: usize) -> Self {
        Self { plan, scratch: vec![Complex64::new(0.0, 0.0); scratch] }
    }
}

impl std::fmt::Debug for Transforms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let forward = self.forward.as_ref().map(|planned| planned.plan.len());
        let inverse = self.inverse.as_ref().map(|planned| planned.plan.len());
        f.debug_struct("Transforms").field("forward", &forward).field("inverse", &inverse).finish()
    }
}

impl Transforms {
    /// Creates the transforms without a plan.
    pub fn new() -> Self {
        Self::default()
    }

    /// One-sided transform `X[k] = Σ x[i] e^(−2πjik/n)` of real samples.
    ///
    /// **Input** `n` samples, destroyed. **Output** `n / 2 + 1` lines, unscaled.
    pub fn forward(&mut self, samples: &mut [f64]) -> Vec<Complex64> {
        let n = samples.len();
        if n == 0 {
            return Vec::new();
        }
        // the old plan goes before the new one is made
        let kept = self.forward.take().filter(|planned| planned.plan.len() == n);
        let Planned { plan, scratch } = self.forward.insert(kept.unwrap_or_else(|| {
            let plan = RealFftPlanner::new().plan_fft_forward(n);
            let scratch = plan.get_scratch_len();
            Planned::new(plan, scratch)
        }));
        let mut lines = plan.make_output_vec();
        plan.process_with_scratch(samples, &mut lines, scratch)
            .expect("input, output and scratch have the lengths that the plan asks for");
        lines
    }

    /// Inverse complex transform in place, `x[i] = Σ X[k] e^(+2πjik/n)`, unscaled.
    pub fn inverse(&mut self, lines: &mut [Complex64]) {
        let n = lines.len();
        if n == 0 {
            return;
        }
        let kept = self.inverse.take().filter(|planned| planned.plan.len() == n);
        let Planned { plan, scratch } = self.inverse.insert(kept.unwrap_or_else(|| {
            let plan = FftPlanner::new().plan_fft_inverse(n);
            let scratch = plan.get_inplace_scratch_len();
            Planned::new(plan, scratch)
        }));
        plan.process_with_scratch(lines, scratch);
    }

    /// Samples at a lower rate: what lies above its half is cut off.
    ///
    /// **Input** samples at `rate_hz`. **Output** samples at the rate that is nearest to `to_hz`
    /// and fits the record's length; the samples as they are where that is no lower.
    pub fn at_lower_rate(&mut self, samples: &[f64], rate_hz: f64, to_hz: f64) -> Vec<f64> {
        let n = fast_length_at_most(samples.len());
        let m = (n as f64 * to_hz / rate_hz).round().max(0.0) as usize;
        if m >= n || m < 2 {
            return samples.to_vec();
        }
        let lines = self.forward(&mut samples[..n].to_vec());
        let mut whole = vec![Complex64::new(0.0, 0.0); m];
        for k in 0..m.div_ceil(2) {
            whole[k] = lines[k];
            if k > 0 {
                whole[m - k] = lines[k].conj();
            }
        }
        self.inverse(&mut whole);
        whole.iter().map(|value| value.re / n as f64).collect()
    }
}

fn is_fast(mut n: usize) -> bool {
    for factor in [2, 3, 5] {
        while n.is_multiple_of(factor) {
            n /= factor;
        }
    }
    n == 1
}

/// The largest length `≤ n` whose prime factors are 2, 3 and 5; 0 for 0.
pub fn fast_length_at_most(n: usize) -> usize {
    (1..=n).rev().find(|&m| is_fast(m)).unwrap_or(0)
}

/// The smallest length `≥ n` whose prime factors are 2, 3 and 5.
pub fn fast_length_at_least(n: usize) -> usize {
    let start = n.max(1);
    (start..=start.next_power_of_two()).find(|&m| is_fast(m)).unwrap_or(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    /// The definition of the transform, n².
    fn naive(samples: &[f64], k: usize) -> Complex64 {
        let n = samples.len() as f64;
        samples
            .iter()
            .enumerate()
            .map(|(i, x)| Complex64::from_polar(*x, -TAU * (i * k) as f64 / n))
            .sum()
    }

    #[test]
    fn the_forward_transform_is_the_naive_sum() {
        for n in [1_usize, 2, 15, 48, 97] {
            let samples: Vec<f64> = (0..n).map(|i| ((i * i + 3) % 17) as f64 - 8.0).collect();
            let lines = Transforms::new().forward(&mut samples.clone());
            assert_eq!(lines.len(), n / 2 + 1);
            for (k, line) in lines.iter().enumerate() {
                assert!((line - naive(&samples, k)).norm() < 1e-9 * n as f64, "{n} {k}");
            }
        }
    }

    #[test]
    fn a_plan_that_was_replaced_is_made_again() {
        let mut transforms = Transforms::new();
        for n in [48_usize, 15, 48, 48, 97] {
            let samples: Vec<f64> = (0..n).map(|i| ((i * i + 3) % 17) as f64 - 8.0).collect();
            let mut lines = transforms.forward(&mut samples.clone());
            assert_eq!(lines, Transforms::new().forward(&mut samples.clone()), "{n}");
            let mut alone = lines.clone();
            transforms.inverse(&mut lines);
            Transforms::new().inverse(&mut alone);
            assert_eq!(lines, alone, "{n}");
        }
    }

    #[test]
    fn a_slow_tone_is_the_same_at_a_lower_rate_and_a_fast_one_is_gone() {
        let tone = |hz: f64, rate: f64, i: usize| (TAU * hz * i as f64 / rate).cos();
        let samples: Vec<f64> =
            (0..4800).map(|i| tone(50.0, 4800.0, i) + tone(1300.0, 4800.0, i)).collect();
        let slow = Transforms::new().at_lower_rate(&samples, 4800.0, 1200.0);
        assert_eq!(slow.len(), 1200);
        for (i, value) in slow.iter().enumerate() {
            assert!((value - tone(50.0, 1200.0, i)).abs() < 1e-9, "{i}: {value}");
        }
        assert_eq!(Transforms::new().at_lower_rate(&samples, 1200.0, 4800.0), samples);
    }

    #[test]
    fn fast_lengths_enclose_and_factor() {
        assert_eq!((fast_length_at_most(20_480), fast_length_at_least(20_480)), (20_480, 20_480));
        assert_eq!((fast_length_at_most(97), fast_length_at_least(97)), (96, 100));
        assert_eq!(fast_length_at_most(0), 0);
    }
}
