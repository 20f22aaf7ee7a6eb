//! Demodulation: the squared envelope of a band and its spectrum.
//!
//! Stands between the record's transform and the search for defect lines. A band is cut out of the
//! one-sided spectrum, shifted to 0 Hz and transformed back at a rate that just holds the squared
//! envelope: the same as filtering, Hilbert transform and decimation, in one small transform.
//! Invariants: the squared envelope is never negative; its rate is at least twice the band's width.

use pdm_shared::units::Band;

use crate::spectrum::Spectrum;
use crate::taper::hann;
use crate::transform::{Complex64, Transforms, fast_length_at_least, fast_length_at_most};

/// The one-sided transform of a whole record, ready to be cut into bands.
#[derive(Debug, Clone)]
pub struct RecordLines {
    /// `X[k]`, unscaled, `n / 2 + 1` lines.
    pub lines: Vec<Complex64>,
    /// Number of samples behind it.
    pub samples: usize,
    /// Their rate, Hz.
    pub rate_hz: f64,
}

impl RecordLines {
    /// Transforms a record without its mean, cut to a fast length.
    pub fn of(samples: &[f64], rate_hz: f64, transforms: &mut Transforms) -> Self {
        let n = fast_length_at_most(samples.len());
        let mean = samples[..n].iter().sum::<f64>() / n.max(1) as f64;
        let mut work: Vec<f64> = samples[..n].iter().map(|x| x - mean).collect();
        Self { lines: transforms.forward(&mut work), samples: n, rate_hz }
    }

    /// Distance of the lines, Hz.
    pub fn df_hz(&self) -> f64 {
        self.rate_hz / self.samples.max(1) as f64
    }
}

/// A squared envelope and its rate.
#[derive(Debug, Clone, PartialEq)]
pub struct SquaredEnvelope {
    /// `|analytic signal|²`, (m/s²)².
    pub values: Vec<f64>,
    /// Samples per second.
    pub rate_hz: f64,
}

impl SquaredEnvelope {
    /// Mean of the squared envelope: twice the band's power.
    pub fn mean(&self) -> f64 {
        self.values.iter().sum::<f64>() / self.values.len().max(1) as f64
    }

    /// RMS of the envelope's variation (its standard deviation), m/s².
    pub fn variation_rms(&self) -> f64 {
        let count = self.values.len().max(1) as f64;
        let mean = self.values.iter().map(|e| e.sqrt()).sum::<f64>() / count;
        (self.mean() - mean * mean).max(0.0).sqrt()
    }

    /// `⟨e²⟩ / ⟨e⟩² − 2`: 0 for Gaussian noise, large for impulses (spectral kurtosis of the band).
    ///
    /// **Source** Antoni 2006, doi:10.1016/j.ymssp.2004.09.001, eq. 24.
    pub fn spectral_kurtosis(&self) -> f64 {
        let mean = self.mean();
        if mean <= 0.0 {
            return 0.0;
        }
        let count = self.values.len() as f64;
        self.values.iter().map(|e| e * e).sum::<f64>() / count / (mean * mean) - 2.0
    }

    /// The envelope itself, m/s², at the same rate.
    #[must_use]
    pub fn rooted(&self) -> Vec<f64> {
        self.values.iter().map(|e| e.sqrt()).collect()
    }
}

/// The squared envelope of a band.
///
/// **Input** the record's lines; a band inside 0…Nyquist (cut to it if not). **Output** squared
/// envelope, (m/s²)², at twice the band's width or a little more. Empty if the band holds no line.
///
/// **Source** Randall & Antoni 2011, doi:10.1016/j.ymssp.2010.07.017, section 5 (one-sided
/// spectrum, shift, inverse transform); the factor 2 makes it that of the analytic signal.
///
/// The envelope of a tone of 3 m/s² is 3 m/s² throughout, its square 9 (m/s²)²:
///
/// ```
/// # use pdm_dsp::envelope::{RecordLines, squared_envelope};
/// # use pdm_dsp::transform::Transforms;
/// # use pdm_dsp::units::Band;
/// let tone = |i: i32| 3.0 * (std::f64::consts::TAU * 400.0 * f64::from(i) / 2000.0).sin();
/// let accel_m_s2: Vec<f64> = (0..2000).map(tone).collect();
/// let mut transforms = Transforms::new();
/// let record = RecordLines::of(&accel_m_s2, 2000.0, &mut transforms);
/// let band = Band::new(300.0, 500.0).expect("a band");
/// let envelope = squared_envelope(&record, band, &mut transforms);
/// assert!((envelope.mean() - 9.0).abs() < 1e-6);
/// ```
pub fn squared_envelope(
    record: &RecordLines,
    band: Band,
    transforms: &mut Transforms,
) -> SquaredEnvelope {
    squared_envelope_as_wide(record, band, 0, transforms)
}

/// Computes the same at the rate of a band of at least `least_lines` lines, so that envelopes of
/// bands of unequal width can have one rate.
pub fn squared_envelope_as_wide(
    record: &RecordLines,
    band: Band,
    least_lines: usize,
    transforms: &mut Transforms,
) -> SquaredEnvelope {
    let df = record.df_hz();
    let first = ((band.low_hz() / df).ceil() as usize).max(1);
    let last = ((band.high_hz() / df).floor() as usize).min(record.lines.len().saturating_sub(1));
    if first >= last {
        return SquaredEnvelope { values: Vec::new(), rate_hz: 0.0 };
    }
    let width = last - first + 1;
    let length = fast_length_at_least(2 * width.max(least_lines));
    let mut lines = vec![Complex64::new(0.0, 0.0); length];
    lines[..width].copy_from_slice(&record.lines[first..=last]);
    transforms.inverse(&mut lines);
    let gain = (2.0 / record.samples as f64).powi(2);
    let values = lines.iter().map(|z| z.norm_sqr() * gain).collect();
    SquaredEnvelope { values, rate_hz: length as f64 * df }
}

/// Spectrum of the squared envelope over the whole record, Hann-tapered, up to `limit_hz`.
///
/// **Output** one-sided peak amplitudes, (m/s²)². **Source** Randall & Antoni 2011, eq. 29.
pub fn envelope_spectrum(
    envelope: &SquaredEnvelope,
    limit_hz: f64,
    transforms: &mut Transforms,
) -> Spectrum {
    averaged_envelope_spectrum(envelope, f64::INFINITY, limit_hz, transforms)
}

/// Computes the same averaged over half-overlapping blocks of `block_s` seconds (Welch): less
/// resolution, less variance, and slip smears less.
pub fn averaged_envelope_spectrum(
    envelope: &SquaredEnvelope,
    block_s: f64,
    limit_hz: f64,
    transforms: &mut Transforms,
) -> Spectrum {
    let wanted = (block_s * envelope.rate_hz).min(envelope.values.len() as f64) as usize;
    let grown = fast_length_at_least(wanted);
    let block = if grown <= envelope.values.len() { grown } else { fast_length_at_most(wanted) };
    if block < 8 {
        return Spectrum::default();
    }
    crate::spectrum::averaged_spectrum(&envelope.values, envelope.rate_hz, block, transforms)
        .up_to(limit_hz)
}

/// Hann taper helper for callers that work block by block.
pub(crate) fn block_taper(n: usize) -> Vec<f64> {
    hann(n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    fn modulated() -> Vec<f64> {
        (0..16_384)
            .map(|i| {
                let t = f64::from(i) / 16_384.0;
                (2.0 + (TAU * 40.0 * t).cos()) * (TAU * 3000.0 * t).sin()
            })
            .collect()
    }

    /// `|2 + cos|² = 4.5 + 4 cos(40) + 0.5 cos(80)`.
    #[test]
    fn amplitude_modulation_shows_its_squared_envelope() {
        let mut transforms = Transforms::new();
        let record = RecordLines::of(&modulated(), 16_384.0, &mut transforms);
        let band = Band::new(2000.0, 4000.0).expect("band");
        let envelope = squared_envelope(&record, band, &mut transforms);
        assert!((envelope.mean() - 4.5).abs() < 1e-3, "{}", envelope.mean());
        let spectrum = envelope_spectrum(&envelope, 500.0, &mut transforms);
        for (hz, want) in [(40.0, 4.0), (80.0, 0.5)] {
            let (at, got) = spectrum.peak_near(hz, 3.0).expect("inside");
            assert!((at - hz).abs() < 1.0 && (got - want).abs() < 2e-2, "{hz} {at} {got}");
        }
    }

    #[test]
    fn a_band_without_lines_has_no_envelope() {
        let mut transforms = Transforms::new();
        let record = RecordLines::of(&modulated(), 16_384.0, &mut transforms);
        let band = Band::new(9000.0, 9001.0).expect("band");
        assert!(squared_envelope(&record, band, &mut transforms).values.is_empty());
    }
}
