//! Tapers: the weights a stretch of samples gets before its transform.
//!
//! Invariants: periodic (DFT-even) form, so that equal tapers overlapping by half add to a
//! constant.

use std::f64::consts::TAU;

/// Periodic Hann taper of `n` points, `0.5 − 0.5 cos(2πi/n)`.
///
/// Coherent gain 0.5, equivalent noise bandwidth 1.5 lines. **Source** Harris 1978,
/// doi:10.1109/PROC.1978.10837, eq. 27b; equals `scipy.signal.windows.hann(n, sym=False)`.
pub fn hann(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.5 - 0.5 * (TAU * i as f64 / n as f64).cos()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hann_has_gain_a_half_and_noise_bandwidth_three_halves() {
        let taper = hann(64);
        let sum: f64 = taper.iter().sum();
        let squares: f64 = taper.iter().map(|w| w * w).sum();
        assert!((sum / 64.0 - 0.5).abs() < 1e-12);
        assert!((64.0 * squares / (sum * sum) - 1.5).abs() < 1e-12);
    }
}
