//! Runs as another installation might have recorded them: no recording of its own, but one that no
//! constant was chosen on.

use ndarray::{Array3, Axis};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::benchmark::random::gaussian;

/// How a run would have been recorded otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Variant {
    /// Recorded by a sensor of another sensitivity.
    Gain(f64),
    /// Recorded from a later snapshot on.
    Later(usize),
    /// Every n-th snapshot.
    Every(usize),
    /// Recorded with noise of this share of the healthy level.
    Noise(f64),
}

impl Variant {
    /// The variants that the alarms are tried on.
    pub const ALL: [Self; 5] =
        [Self::Gain(0.5), Self::Gain(2.0), Self::Later(40), Self::Every(6), Self::Noise(0.3)];

    /// Returns the change in words.
    pub fn name(self) -> String {
        match self {
            Self::Gain(factor) => format!("× {factor}"),
            Self::Later(snapshots) => format!("from snapshot {snapshots} on"),
            Self::Every(step) => format!("a snapshot each {} s", 10 * step),
            Self::Noise(share) => format!("with noise of {:.0} %", 100.0 * share),
        }
    }

    /// Returns the number of snapshots of which one is kept.
    pub(super) const fn step(self) -> usize {
        match self {
            Self::Every(step) => step,
            Self::Gain(_) | Self::Later(_) | Self::Noise(_) => 1,
        }
    }

    /// The snapshots that are kept, and their samples.
    pub(super) fn of(self, samples: &Array3<i32>) -> (Vec<usize>, Array3<i32>) {
        let first = if let Self::Later(first) = self { first } else { 0 };
        let kept: Vec<usize> = (first..samples.dim().0).step_by(self.step()).collect();
        let mut recorded = samples.select(Axis(0), &kept);
        match self {
            Self::Gain(factor) => {
                recorded.mapv_inplace(|value| (f64::from(value) * factor).round() as i32);
            }
            Self::Noise(share) => add_noise(&mut recorded, share),
            Self::Later(_) | Self::Every(_) => {}
        }
        (kept, recorded)
    }
}

/// Adds white noise of a share of each axis' RMS in the first 50 snapshots.
fn add_noise(samples: &mut Array3<i32>, share: f64) {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for mut axis in samples.axis_iter_mut(Axis(1)) {
        let head = axis.outer_iter().take(50).flat_map(|snapshot| snapshot.to_vec());
        let (sum, count) = head.fold((0.0, 0.0), |(sum, count), value| {
            (sum + f64::from(value) * f64::from(value), count + 1.0)
        });
        let sigma = share * (sum / f64::max(count, 1.0)).sqrt();
        axis.mapv_inplace(|value| {
            (f64::from(value) + sigma * gaussian(&mut random)).round() as i32
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_keeps_what_it_says() {
        let run = Array3::from_shape_fn((120, 2, 64), |(n, axis, k)| {
            i32::try_from(1000 * axis + 100 * (k % 2) + n).expect("small")
        });
        let (kept, thinned) = Variant::Every(6).of(&run);
        assert_eq!((kept.len(), thinned.dim().0, thinned[[1, 0, 0]]), (20, 20, 6));
        let (kept, late) = Variant::Later(40).of(&run);
        assert_eq!((kept[0], late[[0, 1, 0]]), (40, 1040));
        let (_, half) = Variant::Gain(0.5).of(&run);
        assert_eq!(half[[4, 1, 0]], 502);
        let (_, noisy) = Variant::Noise(0.3).of(&run);
        assert!(noisy != run && noisy.dim() == run.dim());
    }
}
