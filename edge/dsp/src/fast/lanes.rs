//! Passes over a window in sixteen lanes, so that the compiler can use vector instructions without
//! a change of result from machine to machine: lanes are summed in `f32` over a short block and the
//! blocks in `f64`.

use rustfft::num_complex::Complex32;

use crate::time_domain::Sums;

const LANES: usize = 16;
/// Samples a block: 32 terms a lane keep the rounding of its `f32` sums below 1e-5.
const BLOCK: usize = 32 * LANES;

/// Mean of the samples; not finite if one of them is not.
pub(super) fn mean(samples: &[f32]) -> f32 {
    let mut total = 0.0_f64;
    for block in samples.chunks(BLOCK) {
        let mut lanes = [0.0_f32; LANES];
        let (whole, rest) = block.as_chunks::<LANES>();
        for chunk in whole {
            for (sum, x) in lanes.iter_mut().zip(chunk) {
                *sum += x;
            }
        }
        total += lanes.iter().chain(rest).map(|x| f64::from(*x)).sum::<f64>();
    }
    (total / samples.len().max(1) as f64) as f32
}

#[derive(Clone, Copy)]
struct Lanes {
    second: [f32; LANES],
    third: [f32; LANES],
    fourth: [f32; LANES],
    magnitude: [f32; LANES],
    root: [f32; LANES],
}

/// Writes the samples without their mean and sums their powers.
pub(super) fn centre(samples: &[f32], mean: f32, centred: &mut [f32]) -> Sums {
    let mut sums = Sums::default();
    let (mut low, mut high) = ([f32::INFINITY; LANES], [f32::NEG_INFINITY; LANES]);
    for (block, out) in samples.chunks(BLOCK).zip(centred.chunks_mut(BLOCK)) {
        let zero = [0.0; LANES];
        let mut lanes =
            Lanes { second: zero, third: zero, fourth: zero, magnitude: zero, root: zero };
        for (chunk, to) in block.chunks(LANES).zip(out.chunks_mut(LANES)) {
            // The last chunk may be short: its missing lanes add zeros, which change no sum.
            let mut x = [0.0_f32; LANES];
            for ((x, sample), to) in x.iter_mut().zip(chunk).zip(to.iter_mut()) {
                *x = sample - mean;
                *to = *x;
            }
            lanes.add(&x);
            for i in 0..chunk.len() {
                low[i] = if x[i] < low[i] { x[i] } else { low[i] };
                high[i] = if x[i] > high[i] { x[i] } else { high[i] };
            }
        }
        lanes.flush(&mut sums);
    }
    sums.low = f64::from(low.iter().copied().fold(f32::INFINITY, f32::min));
    sums.high = f64::from(high.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    sums
}

impl Lanes {
    #[inline]
    fn add(&mut self, x: &[f32; LANES]) {
        for (i, &x) in x.iter().enumerate() {
            let square = x * x;
            let size = x.abs();
            self.second[i] += square;
            self.third[i] += square * x;
            self.fourth[i] += square * square;
            self.magnitude[i] += size;
            self.root[i] += size.sqrt();
        }
    }

    fn flush(&self, sums: &mut Sums) {
        let total = |lanes: &[f32; LANES]| lanes.iter().map(|x| f64::from(*x)).sum::<f64>();
        sums.second += total(&self.second);
        sums.third += total(&self.third);
        sums.fourth += total(&self.fourth);
        sums.magnitude += total(&self.magnitude);
        sums.root += total(&self.root);
    }
}

/// Writes the scaled magnitudes of complex values; their mean and the RMS of their variation.
pub(super) fn magnitudes(values: &[Complex32], gain: f32, out: &mut [f32]) -> (f64, f64) {
    let (mut sum, mut squares) = (0.0_f64, 0.0_f64);
    for (block, to) in values.chunks(BLOCK).zip(out.chunks_mut(BLOCK)) {
        let (mut sum_lanes, mut square_lanes) = ([0.0_f32; LANES], [0.0_f32; LANES]);
        for (chunk, to) in block.chunks(LANES).zip(to.chunks_mut(LANES)) {
            for (i, (z, to)) in chunk.iter().zip(to.iter_mut()).enumerate() {
                let size = z.norm_sqr().sqrt() * gain;
                *to = size;
                sum_lanes[i] += size;
                square_lanes[i] += size * size;
            }
        }
        sum += sum_lanes.iter().map(|x| f64::from(*x)).sum::<f64>();
        squares += square_lanes.iter().map(|x| f64::from(*x)).sum::<f64>();
    }
    let count = values.len().max(1) as f64;
    let mean = sum / count;
    (mean, (squares / count - mean * mean).max(0.0).sqrt())
}
