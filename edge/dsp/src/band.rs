//! Finds the band that rings, by the kurtogram: spectral kurtosis on a tree of bands.
//!
//! Invariants: the bands tile 0…Nyquist at every level; none is narrower than asked for.

use pdm_shared::units::Band;

use crate::envelope::{RecordLines, SquaredEnvelope, squared_envelope};
use crate::transform::Transforms;

/// A band and how impulsive it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BandScore {
    /// The band.
    pub band: Band,
    /// Spectral kurtosis of its envelope, 0 for Gaussian noise.
    pub kurtosis: f64,
}

/// Bands of the 1/3-binary tree, most impulsive first.
///
/// **Input** the record's lines, number of levels (each halves the bands, with a third-split level
/// between), least width in Hz. **Output** all bands at least that wide.
///
/// **Source** Antoni 2007, doi:10.1016/j.ymssp.2005.12.002: same tree, exact brick-wall bands in
/// place of the filter bank.
pub fn kurtogram(
    record: &RecordLines,
    levels: u32,
    least_width_hz: f64,
    transforms: &mut Transforms,
) -> Vec<BandScore> {
    let nyquist = record.rate_hz / 2.0;
    let mut scores = Vec::new();
    for division in tree(levels) {
        let width = nyquist / f64::from(division);
        if width < least_width_hz {
            continue;
        }
        for j in 0..division {
            let low = f64::from(j) * width;
            let Ok(band) = Band::new(low, low + width) else { continue };
            let envelope = squared_envelope(record, band, transforms);
            if !envelope.values.is_empty() {
                scores.push(BandScore { band, kurtosis: envelope.spectral_kurtosis() });
            }
        }
    }
    scores.sort_by(|a, b| b.kurtosis.total_cmp(&a.kurtosis));
    scores
}

/// Numbers of bands by level: 2, 3, 4, 6, 8, 12, …
fn tree(levels: u32) -> impl Iterator<Item = u32> {
    (1..=levels.min(16)).flat_map(move |level| {
        let halves = 1_u32 << level;
        let thirds = 3 * (halves / 2);
        std::iter::once(halves).chain((level < levels).then_some(thirds))
    })
}

/// The most impulsive band that is at least `least_width_hz` wide, with its envelope.
pub fn most_impulsive(
    record: &RecordLines,
    levels: u32,
    least_width_hz: f64,
    transforms: &mut Transforms,
) -> Option<(BandScore, SquaredEnvelope)> {
    let best = *kurtogram(record, levels, least_width_hz, transforms).first()?;
    Some((best, squared_envelope(record, best.band, transforms)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ringing_band_of_an_impulse_train_is_found() {
        let mut noise = 12_345_u32;
        let samples: Vec<f64> = (0..20_480)
            .map(|i: i32| {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let floor = f64::from(noise >> 8) / f64::from(1 << 24) - 0.5;
                let t = f64::from(i % 205) / 20_480.0;
                let ring = (-900.0 * t).exp() * (std::f64::consts::TAU * 6000.0 * t).sin();
                2.0 * ring + 1.5 * floor
            })
            .collect();
        let mut transforms = Transforms::new();
        let record = RecordLines::of(&samples, 20_480.0, &mut transforms);
        let (best, _) = most_impulsive(&record, 4, 500.0, &mut transforms).expect("bands");
        assert!(best.band.low_hz() <= 6000.0 && best.band.high_hz() >= 6000.0, "{}", best.band);
        assert!(best.kurtosis > 1.0);
    }
}
