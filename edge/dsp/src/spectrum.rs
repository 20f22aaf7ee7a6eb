//! Amplitude spectra: scaling stated once, here.
//!
//! Invariants: line `k` stands at `k · df_hz`; amplitudes are one-sided peak values, so a sine of
//! amplitude `a` on a line shows as `a` whatever the taper; none is negative or NaN.

use crate::taper::hann;
use crate::transform::{Transforms, fast_length_at_most};

/// One-sided peak amplitudes at `0, df, 2 df, …`
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Spectrum {
    /// Distance of the lines, Hz.
    pub df_hz: f64,
    /// Peak amplitudes, in the unit of the samples (squared for a squared envelope).
    pub amplitude: Vec<f64>,
}

impl Spectrum {
    /// Returns where the line with the largest of `levels` (dB, one a line) within ± `reach` lines
    /// of a frequency peaks, Hz, by a parabola through it and its neighbours; and its level.
    pub fn peak_at(&self, levels: &[f64], frequency_hz: f64, reach: f64) -> Option<(f64, f64)> {
        let at = frequency_hz / self.df_hz;
        let low = (at - reach).round().max(1.0) as usize;
        let high = ((at + reach).round().max(0.0) as usize + 1).min(levels.len());
        let i = (low..high).max_by(|&a, &b| levels[a].total_cmp(&levels[b]))?;
        let shift = match (levels.get(i.wrapping_sub(1)), levels.get(i + 1)) {
            (Some(&left), Some(&right)) => {
                let bend = left - 2.0 * levels[i] + right;
                if bend < 0.0 { (0.5 * (left - right) / bend).clamp(-0.5, 0.5) } else { 0.0 }
            }
            _ => 0.0,
        };
        Some(((i as f64 + shift) * self.df_hz, levels[i]))
    }

    /// The largest amplitude within `± reach_hz` of `frequency_hz` and where it stands (Hz);
    /// `None` outside the spectrum.
    pub fn peak_near(&self, frequency_hz: f64, reach_hz: f64) -> Option<(f64, f64)> {
        if self.df_hz <= 0.0 || frequency_hz < 0.0 {
            return None;
        }
        let low = ((frequency_hz - reach_hz) / self.df_hz).round().max(0.0) as usize;
        let high = ((frequency_hz + reach_hz) / self.df_hz).round() as usize;
        let end = (high + 1).min(self.amplitude.len());
        let lines = self.amplitude.get(low..end)?;
        lines
            .iter()
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(b.1))
            .map(|(i, &amplitude)| ((low + i) as f64 * self.df_hz, amplitude))
    }

    /// The first lines, up to and with `limit_hz`.
    #[must_use]
    pub fn up_to(&self, limit_hz: f64) -> Self {
        let lines =
            if self.df_hz > 0.0 { ((limit_hz / self.df_hz) as usize).saturating_add(2) } else { 0 };
        let end = lines.min(self.amplitude.len());
        Self { df_hz: self.df_hz, amplitude: self.amplitude[..end].to_vec() }
    }
}

/// Hann-tapered amplitude spectrum of a whole record.
///
/// **Input** `n` samples at `rate_hz`; the mean is removed; the record is cut to the next shorter
/// length with factors 2, 3, 5. **Output** peak amplitudes in the unit of the samples.
/// **Source** Heinzel, Rüdiger & Schilling 2002 (hdl:11858/00-001M-0000-0013-557A-5), eq. 24.
///
/// A tone of 3 m/s² at 100 Hz stands as a line of 3 m/s² at 100 Hz:
///
/// ```
/// # use pdm_dsp::spectrum::amplitude_spectrum;
/// # use pdm_dsp::transform::Transforms;
/// let tone = |i: i32| 3.0 * (std::f64::consts::TAU * 100.0 * f64::from(i) / 2000.0).sin();
/// let accel_m_s2: Vec<f64> = (0..2000).map(tone).collect();
/// let spectrum = amplitude_spectrum(&accel_m_s2, 2000.0, &mut Transforms::new());
/// let (at_hz, peak_m_s2) = spectrum.peak_near(100.0, 2.0).expect("inside the spectrum");
/// assert!((at_hz - 100.0).abs() < 1e-9 && (peak_m_s2 - 3.0).abs() < 1e-6);
/// ```
pub fn amplitude_spectrum(samples: &[f64], rate_hz: f64, transforms: &mut Transforms) -> Spectrum {
    let n = fast_length_at_most(samples.len());
    averaged_spectrum(samples, rate_hz, n, transforms)
}

/// Root of the mean squared amplitude of half-overlapping Hann-tapered blocks (Welch).
///
/// **Input** samples at `rate_hz`, `block` samples each block (the whole record if it is shorter).
/// **Output** amplitudes in the unit of the samples, lines `rate / block` apart.
/// **Source** Welch 1967, doi:10.1109/TAU.1967.1161901.
pub fn averaged_spectrum(
    samples: &[f64],
    rate_hz: f64,
    block: usize,
    transforms: &mut Transforms,
) -> Spectrum {
    let block = block.min(samples.len());
    if block < 2 {
        return Spectrum::default();
    }
    let mean = samples.iter().sum::<f64>() / samples.len() as f64;
    let taper = hann(block);
    let step = (block / 2).max(1);
    let mut power = vec![0.0; block / 2 + 1];
    let mut blocks = 0.0;
    let mut work = vec![0.0; block];
    for start in (0..=samples.len() - block).step_by(step) {
        for ((w, x), t) in work.iter_mut().zip(&samples[start..]).zip(&taper) {
            *w = (x - mean) * t;
        }
        let lines = transforms.forward(&mut work);
        power.iter_mut().zip(&lines).for_each(|(p, line)| *p += line.norm_sqr());
        blocks += 1.0;
    }
    let gain = taper.iter().sum::<f64>();
    let last = block / 2;
    let amplitude = power
        .iter()
        .enumerate()
        .map(|(k, p)| {
            let sided = if k == 0 || (k == last && block.is_multiple_of(2)) { 1.0 } else { 2.0 };
            sided * (p / blocks).sqrt() / gain
        })
        .collect();
    Spectrum { df_hz: rate_hz / block as f64, amplitude }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    #[test]
    fn a_sine_on_a_line_shows_its_amplitude() {
        let sine: Vec<f64> =
            (0..1000).map(|i| 3.0 * (TAU * 50.0 * f64::from(i) / 1000.0).sin()).collect();
        let spectrum = amplitude_spectrum(&sine, 1000.0, &mut Transforms::new());
        let (at, amplitude) = spectrum.peak_near(49.0, 3.0).expect("inside");
        assert!((at - 50.0).abs() < 1e-9 && (amplitude - 3.0).abs() < 1e-9);
    }

    #[test]
    fn outside_the_spectrum_there_is_no_peak() {
        let spectrum = Spectrum { df_hz: 1.0, amplitude: vec![0.0; 10] };
        assert!(spectrum.peak_near(100.0, 1.0).is_none());
        assert!(Spectrum::default().peak_near(1.0, 1.0).is_none());
    }
}
