//! Cepstrum pre-whitening: deterministic lines and resonances set to equal magnitude.
//!
//! Discrete shaft and gear lines, which dominate an acceleration spectrum, lose their weight; what
//! is left to the envelope is phase: impulses stand out wherever in frequency they ring.

use crate::envelope::RecordLines;
use crate::transform::Complex64;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transform::Transforms;

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
