//! Level, extremes and resolution of a window in one pass.

use super::FLAT_SHARE;

/// Number of parts whose means are compared to detect a drift.
const PARTS: usize = 8;

/// Figures of one window, m/s².
pub(super) struct Level {
    /// RMS without the mean.
    pub(super) rms: f64,
    pub(super) max: f64,
    pub(super) min: f64,
    /// Smallest difference between neighbouring samples that are not equal: the converter's step,
    /// if the signal is small enough to show it.
    pub(super) step: f64,
    /// Most equal samples in a row, without those at the extremes.
    pub(super) longest_run: usize,
    /// Share of samples that equal the one before.
    repeated: f64,
}

impl Level {
    /// `None` if there is no sample or one that is not finite.
    pub(super) fn of(accel: &[f64]) -> Option<Self> {
        let first = *accel.first()?;
        let (mut sum, mut max, mut min) = (0.0, f64::NEG_INFINITY, f64::INFINITY);
        for &x in accel {
            if !x.is_finite() {
                return None;
            }
            sum += x;
            max = x.max(max);
            min = x.min(min);
        }
        let n = accel.len() as f64;
        let mean = sum / n;
        let (mut power, mut step, mut repeats) = (0.0, f64::INFINITY, 0usize);
        let (mut run, mut longest_run, mut before) = (1usize, 1usize, first);
        for (index, &x) in accel.iter().enumerate() {
            power += (x - mean) * (x - mean);
            let change = (x - before).abs();
            before = x;
            if index == 0 {
                continue;
            }
            if change > 0.0 {
                step = step.min(change);
                run = 1;
                continue;
            }
            repeats += 1;
            run += 1;
            // equal samples at the extremes are clipping, which has a flag of its own
            if x < max && x > min {
                longest_run = longest_run.max(run);
            }
        }
        let rms = (power / n).sqrt();
        let step = if step.is_finite() { step } else { 0.0 };
        let repeated = repeats as f64 / (n - 1.0).max(1.0);
        Some(Self { rms, max, min, step, longest_run, repeated })
    }

    /// Whether the signal does not move.
    pub(super) fn is_flat(&self) -> bool {
        self.rms <= 0.0 || self.repeated >= FLAT_SHARE
    }
}

/// The range of the parts' means, and the RMS of the vibration around them.
pub(super) fn wander(accel: &[f64]) -> (f64, f64) {
    let part = accel.len().div_ceil(PARTS).max(1);
    let (mut max, mut min, mut power) = (f64::NEG_INFINITY, f64::INFINITY, 0.0);
    for samples in accel.chunks(part) {
        let mean = samples.iter().sum::<f64>() / samples.len() as f64;
        max = max.max(mean);
        min = min.min(mean);
        power += samples.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
    }
    (max - min, (power / accel.len() as f64).sqrt())
}
