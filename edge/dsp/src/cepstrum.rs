//! Cepstrum pre-whitening: deterministic lines and resonances set to equal magnitude; and the real
//! cepstrum, in which people look for families of equally spaced lines.
//!
//! Discrete shaft and gear lines, which dominate an acceleration spectrum, lose their weight; what
//! is left to the envelope is phase: impulses stand out wherever in frequency they ring.

use crate::envelope::RecordLines;
use crate::transform::{Complex64, Transforms};

/// Sets every line of a record to magnitude 1 and the mean to 0, phases kept.
///
/// **Source** Borghesani, Pennacchi, Randall, Sawalhi & Ricci 2013,
/// doi:10.1016/j.ymssp.2012.11.001, eq. 9: dividing by the magnitude equals zeroing the whole real
/// cepstrum but its origin.
#[must_use]
pub fn prewhiten(record: &RecordLines) -> RecordLines {
    let lines = record.lines.iter().enumerate().map(|(k, line)| unit(k, *line)).collect();
    RecordLines { lines, ..*record }
}

fn unit(k: usize, line: Complex64) -> Complex64 {
    let size = line.norm();
    if k == 0 || size <= 0.0 || !size.is_finite() { Complex64::new(0.0, 0.0) } else { line / size }
}

/// Lines below this share of the largest are taken to have it, so that the logarithm of a line of 0
/// is finite (chosen: −240 dB, below the rounding of 64-bit numbers).
const LEAST_LINE: f64 = 1e-12;

/// The real cepstrum: the inverse transform of the logarithm of the magnitudes.
///
/// **Input** the record's lines. **Output** `samples / 2 + 1` values at the quefrencies `0, 1 /
/// rate_hz, …`; an echo of the share `a` after `d` seconds stands at `d` with `a / 2`. Empty for a
/// record without a line.
///
/// **Source** Randall 2017, doi:10.1016/j.ymssp.2016.12.026, eq. 2.
#[must_use]
pub fn real_cepstrum(record: &RecordLines, transforms: &mut Transforms) -> Vec<f64> {
    let n = record.samples;
    let largest = record.lines.iter().map(|line| line.norm()).fold(0.0, f64::max);
    if n < 2 || !(largest.is_finite() && largest > 0.0) {
        return Vec::new();
    }
    let logarithm = |k: usize| {
        // the mean was removed: its line says nothing of the record
        let line = record.lines.get(k.max(1)).map_or(0.0, |line| line.norm());
        line.max(LEAST_LINE * largest).ln()
    };
    let mut whole: Vec<Complex64> =
        (0..n).map(|k| Complex64::new(logarithm(k.min(n - k)), 0.0)).collect();
    transforms.inverse(&mut whole);
    whole.iter().take(n / 2 + 1).map(|value| value.re / n as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ln|1 + a e^(−jωd)| = a cos ωd − a²/2 cos 2ωd + …`: half of `a` at `d`, a quarter of `−a²`
    /// at `2d`.
    #[test]
    fn an_echo_stands_in_the_cepstrum_at_its_delay() {
        let mut noise = 1_u32;
        let mut draw = || {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(noise >> 8) / f64::from(1 << 24) - 0.5
        };
        let direct: Vec<f64> = (0..32_768).map(|_| draw()).collect();
        // round the end, so that the echo is one of the transform's period
        let echoed: Vec<f64> = (0..direct.len())
            .map(|i| direct[i] + 0.5 * direct[(i + direct.len() - 400) % direct.len()])
            .collect();
        let mut transforms = Transforms::new();
        let of = |samples: &[f64], transforms: &mut Transforms| {
            real_cepstrum(&RecordLines::of(samples, 1000.0, transforms), transforms)
        };
        let (plain, got) = (of(&direct, &mut transforms), of(&echoed, &mut transforms));
        for (at, want) in [(400, 0.25), (800, -0.0625), (600, 0.0)] {
            let added = got[at] - plain[at];
            assert!((added - want).abs() < 1e-3, "{at}: {added}");
        }
        assert!(of(&[0.0; 64], &mut transforms).is_empty());
    }

    #[test]
    fn whitened_lines_have_magnitude_one_and_their_phase() {
        let samples: Vec<f64> = (0..100).map(|i| f64::from((i * 37) % 11)).collect();
        let record = RecordLines::of(&samples, 100.0, &mut Transforms::new());
        let white = prewhiten(&record);
        assert!(white.lines[0].norm() < 1e-12);
        for (a, b) in record.lines.iter().zip(&white.lines).skip(1) {
            assert!((b.norm() - 1.0).abs() < 1e-12 && (a.arg() - b.arg()).abs() < 1e-9);
        }
    }
}
