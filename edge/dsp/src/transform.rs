//! Fourier transforms of the thorough path: planned once per length, kept for the record.
//!
//! Wraps `realfft`/`rustfft` in `f64`. Invariants: forward transforms are not scaled; lengths are
//! whatever the caller gives, [`fast_length_at_most`] and [`fast_length_at_least`] find good ones.

use std::sync::Arc;

use realfft::{RealFftPlanner, RealToComplex};
pub use rustfft::num_complex::Complex64;
use rustfft::{Fft, FftPlanner};

/// Plans and scratch memory of the transforms used for one record.
pub struct Transforms {
    real: RealFftPlanner<f64>,
    complex: FftPlanner<f64>,
    scratch: Vec<Complex64>,
}

impl std::fmt::Debug for Transforms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transforms").field("scratch", &self.scratch.len()).finish_non_exhaustive()
    }
}

impl Default for Transforms {
    fn default() -> Self {
        Self::new()
    }
}

impl Transforms {
    /// No plans yet.
    pub fn new() -> Self {
        Self { real: RealFftPlanner::new(), complex: FftPlanner::new(), scratch: Vec::new() }
    }

    /// One-sided transform `X[k] = Σ x[i] e^(−2πjik/n)` of real samples.
    ///
    /// **Input** `n` samples, destroyed. **Output** `n / 2 + 1` lines, unscaled.
    pub fn forward(&mut self, samples: &mut [f64]) -> Vec<Complex64> {
        if samples.is_empty() {
            return Vec::new();
        }
        let plan: Arc<dyn RealToComplex<f64>> = self.real.plan_fft_forward(samples.len());
        let mut lines = plan.make_output_vec();
        self.grow(plan.get_scratch_len());
        plan.process_with_scratch(samples, &mut lines, &mut self.scratch)
            .expect("input, output and scratch have the lengths that the plan asks for");
        lines
    }

    /// Inverse complex transform in place, `x[i] = Σ X[k] e^(+2πjik/n)`, unscaled.
    pub fn inverse(&mut self, lines: &mut [Complex64]) {
        if lines.is_empty() {
            return;
        }
        let plan: Arc<dyn Fft<f64>> = self.complex.plan_fft_inverse(lines.len());
        self.grow(plan.get_inplace_scratch_len());
        plan.process_with_scratch(lines, &mut self.scratch);
    }

    fn grow(&mut self, length: usize) {
        if self.scratch.len() < length {
            self.scratch.resize(length, Complex64::new(0.0, 0.0));
        }
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
    fn fast_lengths_enclose_and_factor() {
        assert_eq!((fast_length_at_most(20_480), fast_length_at_least(20_480)), (20_480, 20_480));
        assert_eq!((fast_length_at_most(97), fast_length_at_least(97)), (96, 100));
        assert_eq!(fast_length_at_most(0), 0);
    }
}
