//! A stretch of one point's samples in memory: 24-bit counts, coded without loss.
//!
//! Invariant: [`Chunk::samples`] gives back what was put in, by the rule of [`Grid`]; a sample that
//! is no number by it is NaN.

use pdm_shared::time::Timestamp;

use super::grid::Grid;
use super::rice;

/// Where a chunk's samples are from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Origin {
    /// Number of its first sample, counted over all that the point had.
    pub(super) first: u64,
    /// Time of that sample.
    pub(super) started_at: Timestamp,
    /// Samples per second.
    pub(super) rate_hz: f64,
    /// The rate that the sender itself states, where it does: it holds while the measured one is
    /// still sought.
    pub(super) stated_hz: Option<f64>,
    /// Samples were lost before it, or it is a snapshot of its own.
    pub(super) is_after_gap: bool,
}

/// A stretch of samples.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) origin: Origin,
    pub(super) samples: u32,
    pub(super) grid: Grid,
    /// One bit for each sample that is no number; absent where all are.
    lost: Option<Box<[u64]>>,
    code: Box<[u8]>,
}

/// Rates further apart than this ratio are of two recordings; the measured rate of one stream moves
/// less.
const SAME_RATE: f64 = 0.01;

impl Origin {
    /// Whether two stretches have one rate: by what the sender states, else by what was measured.
    pub(super) fn has_rate_of(&self, other: &Self) -> bool {
        let (a, b) = match (self.stated_hz, other.stated_hz) {
            (Some(a), Some(b)) => (a, b),
            _ => (self.rate_hz, other.rate_hz),
        };
        (a / b - 1.0).abs() <= SAME_RATE
    }
}

fn lost_of(samples: &[f64], grid: &Grid) -> Option<Box<[u64]>> {
    if samples.iter().all(|&sample| grid.is_number(sample)) {
        return None;
    }
    let mut bits = vec![0_u64; samples.len().div_ceil(64)];
    for (at, _) in samples.iter().enumerate().filter(|(_, sample)| !grid.is_number(**sample)) {
        bits[at / 64] |= 1 << (at % 64);
    }
    Some(bits.into_boxed_slice())
}

impl Chunk {
    /// A chunk of these samples, m/s²; `like`: the grid of the chunk before.
    pub(super) fn of(samples: &[f64], origin: Origin, like: Option<Grid>) -> Self {
        let grid = Grid::of(samples, like);
        let counts: Vec<i32> = samples.iter().map(|&sample| grid.count(sample)).collect();
        let code = rice::encoded(&counts).into_boxed_slice();
        let lost = lost_of(samples, &grid);
        Self { origin, samples: samples.len() as u32, grid, lost, code }
    }

    /// Length, s.
    pub(super) fn length_s(&self) -> f64 {
        f64::from(self.samples) / self.origin.rate_hz
    }

    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        let lost = self.lost.as_ref().map_or(0, |bits| size_of_val::<[u64]>(bits));
        // the allocator's own word for each of its blocks
        size_of::<Self>() + self.code.len() + lost + 32
    }

    /// Returns its samples, m/s²; `None` if the code in memory is damaged, which is a bug or a
    /// broken memory.
    pub(super) fn samples(&self) -> Option<Vec<f64>> {
        let counts = rice::decoded(&self.code, self.samples as usize)?;
        let is_lost =
            |at: usize| self.lost.as_ref().is_some_and(|bits| bits[at / 64] >> (at % 64) & 1 == 1);
        let sample = |(at, &count)| if is_lost(at) { f64::NAN } else { self.grid.sample(count) };
        Some(counts.iter().enumerate().map(sample).collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn origin() -> Origin {
        let (started_at, rate_hz) = (Timestamp::EPOCH, 1e3);
        Origin { first: 0, started_at, rate_hz, stated_hz: None, is_after_gap: false }
    }

    /// A converter's counts come back as they were, whatever they are.
    fn same_counts(counts: &[i32]) {
        let samples: Vec<f64> = counts.iter().map(|&count| f64::from(count) * 0.001).collect();
        let chunk = Chunk::of(&samples, origin(), None);
        let back = chunk.samples().expect("decodes");
        assert_eq!(back.len(), samples.len());
        for (sample, back) in samples.iter().zip(back) {
            assert!((sample - back).abs() <= chunk.grid.step * 0.500_001, "{sample} {back}");
            if chunk.grid.is_exact {
                assert!((sample - back).abs() <= 1e-9, "{sample} {back}");
            }
        }
    }

    #[test]
    fn extremes_short_and_empty_stretches_come_back() {
        same_counts(&[]);
        same_counts(&[5]);
        same_counts(&[8_388_607, -8_388_607].repeat(2500));
        same_counts(&vec![0; 5000]);
        same_counts(&(0..4096 + 3).map(|n| n % 11 - 5).collect::<Vec<_>>());
    }

    #[test]
    fn lost_samples_are_lost_again_and_no_others() {
        let samples: Vec<f64> =
            (0..1000).map(|n| if n % 67 == 3 { f64::NAN } else { f64::from(n % 50) }).collect();
        let back = Chunk::of(&samples, origin(), None).samples().expect("decodes");
        for (sample, back) in samples.iter().zip(back) {
            assert_eq!(sample.is_nan(), back.is_nan());
            assert!(sample.is_nan() || (sample - back).abs() < 1e-9);
        }
    }

    /// One mark for no value among 8,191 floating-point samples is one lost sample.
    #[test]
    fn a_mark_for_no_value_is_lost_alone() {
        let mut samples: Vec<f64> = (0..8192).map(|n| 5.0 * (f64::from(n) * 0.11).sin()).collect();
        samples[17] = 1e30;
        let back = Chunk::of(&samples, origin(), None).samples().expect("decodes");
        assert!(back[17].is_nan());
        let worst = samples.iter().zip(&back).enumerate().filter(|(at, _)| *at != 17);
        let worst = worst.map(|(_, (a, b))| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-5, "neighbours are off by {worst}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_counts_come_back(
            counts in proptest::collection::vec(-8_388_607_i32..=8_388_607, 0..6000)
        ) {
            same_counts(&counts);
        }
    }
}
