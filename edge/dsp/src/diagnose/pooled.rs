//! The envelopes of many bands as one: what pulses everywhere at once.
//!
//! The squared envelope belongs to the largest impacts of the loudest band; its logarithm weighs
//! every instant alike. Averaging the levels of its spectrum over bands leaves what all of them
//! share, which impacts do and a beat of two lines does not.

use pdm_shared::units::Band;

use super::score::log_levels;
use crate::envelope::{
    RecordLines, SquaredEnvelope, averaged_envelope_spectrum, squared_envelope_as_wide,
};
use crate::spectrum::Spectrum;
use crate::transform::Transforms;

/// What is added to the squared envelope before the logarithm, as a share of its mean (chosen):
/// instants of almost nothing must not outweigh impacts.
const LEAST_SHARE: f64 = 0.1;
/// Half-overlapping bands that count as one independent band (chosen: neighbours share half of
/// their lines).
const BANDS_AS_ONE: f64 = 1.6;

/// Mean level of the bands' logarithmic envelope spectra, scattered like that of one band, as a
/// spectrum whose amplitudes are ratios to the local floor.
///
/// **Input** the record's lines; bands of about equal width; the shaft frequency, Hz; the length of
/// an averaged block (s) with the highest frequency wanted (Hz).
///
/// **Source** Borghesani & Antoni 2017, "CS2 analysis in presence of non-Gaussian background noise",
/// Mechanical Systems and Signal Processing 90, 378–398: the log-envelope resists impulsive noise.
pub fn spectrum(
    record: &RecordLines,
    bands: &[Band],
    shaft_hz: f64,
    (block_s, limit_hz): (f64, f64),
    transforms: &mut Transforms,
) -> Spectrum {
    let widest = bands.iter().map(|band| band.width_hz()).fold(0.0, f64::max);
    let lines = (widest / record.df_hz()) as usize + 1;
    let mut sum: Vec<f64> = Vec::new();
    let (mut count, mut df_hz) = (0.0, 0.0);
    for band in bands {
        let mut envelope = squared_envelope_as_wide(record, *band, lines, transforms);
        if envelope.values.is_empty() {
            continue;
        }
        take_logarithm(&mut envelope);
        let one = averaged_envelope_spectrum(&envelope, block_s, limit_hz, transforms);
        let levels = log_levels(&one, shaft_hz);
        if sum.is_empty() {
            (sum, df_hz) = (vec![0.0; levels.len()], one.df_hz);
        }
        sum.iter_mut().zip(&levels).for_each(|(sum, level)| *sum += level);
        count += 1.0;
    }
    let alone = f64::max(count / BANDS_AS_ONE, 1.0).sqrt() / f64::max(count, 1.0);
    let amplitude = sum.iter().map(|sum| 10_f64.powf(sum * alone / 20.0)).collect();
    Spectrum { df_hz, amplitude }
}

fn take_logarithm(envelope: &mut SquaredEnvelope) {
    let least = LEAST_SHARE * envelope.mean() + f64::MIN_POSITIVE;
    for value in &mut envelope.values {
        *value = (*value + least).ln();
    }
}
