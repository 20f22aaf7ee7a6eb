//! The grid of numbers on which the samples of a stretch lie, so that 24 bits hold them.
//!
//! A converter's counts become m/s² by a factor, so they lie on a grid whose step is one count. The
//! step is found from the numbers themselves, since a sender may state another factor than the
//! configuration, and every sample is then checked against it. Invariant: with [`Grid::is_exact`]
//! each sample is `origin + count × step` within 2⁻²⁰ of a step, so the source's own count is kept.
//! Numbers that lie on no grid of 24 bits (a source of floating-point numbers) are rounded to a
//! step that is the power of two which brings the largest magnitude of the stretch to 23 bits: each
//! is within half a step, at most 2⁻²⁴ of that magnitude (−144 dB). Numbers that no sensor gives
//! ([`WILD_M_S2`], [`FILL_FROM`]) are no numbers here: one of them would make the step so wide that
//! all others of the stretch were 0.

use crate::tabular::sentinel::FILL_FROM;

/// Largest count: 24 bits with sign.
const MOST_COUNT: f64 = 8_388_607.0;
/// Samples by which a grid is searched first; where their grid does not hold all, all are taken.
const SEARCHED: usize = 2048;
/// Farthest that a sample may lie from its count, in steps.
const EXACT: f64 = 1.0 / 1_048_576.0;

/// The magnitude from which a number is no acceleration, m/s²: 100,000 g, the range of shock
/// accelerometers that go on steel; bearings and their impacts stay below 10,000 g. It counts among
/// floating-point numbers, and only where most of the stretch is below: a source of a wrong scale
/// keeps its samples.
const WILD_M_S2: f64 = 1e6;

/// A grid of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Grid {
    /// m/s² in one count.
    pub(super) step: f64,
    /// The number of count 0, m/s².
    pub(super) origin: f64,
    /// Every sample of the stretch is its count.
    pub(super) is_exact: bool,
    /// The magnitude from which the values of a source are no numbers, m/s².
    most: f64,
}

impl Grid {
    /// The grid of these samples; `like`: that of the stretch before, which is tried first.
    pub(super) fn of(samples: &[f64], like: Option<Self>) -> Self {
        let known = like.filter(|grid| grid.is_exact && grid.holds(samples));
        let found = known.or_else(|| searched(samples, FILL_FROM));
        found.unwrap_or_else(|| {
            let most = floating_limit(samples);
            // a converter's samples with marks among them lie on their grid without these
            let without_marks = Some(most).filter(|&most| most < FILL_FROM);
            without_marks
                .and_then(|most| searched(samples, most))
                .unwrap_or_else(|| power_of_two(samples, most))
        })
    }

    /// Whether a sample is a number that the grid keeps.
    pub(super) fn is_number(&self, sample: f64) -> bool {
        sample.abs() < self.most
    }

    /// The count of a sample. What is no number has count 0.
    pub(super) fn count(&self, sample: f64) -> i32 {
        if !self.is_number(sample) {
            return 0;
        }
        ((sample - self.origin) / self.step).round().clamp(-MOST_COUNT, MOST_COUNT) as i32
    }

    /// The sample of a count, m/s².
    pub(super) fn sample(&self, count: i32) -> f64 {
        self.origin + f64::from(count) * self.step
    }

    fn holds(&self, samples: &[f64]) -> bool {
        samples.iter().filter(|sample| self.is_number(**sample)).all(|&sample| {
            let count = (sample - self.origin) / self.step;
            count.abs() <= MOST_COUNT && (count - count.round()).abs() <= EXACT
        })
    }
}

/// Returns the magnitude from which on floating-point numbers cannot be of a grid.
fn floating_limit(samples: &[f64]) -> f64 {
    let numbers = samples.iter().copied().filter(|sample| sample.abs() < FILL_FROM);
    let (wild, sane): (Vec<f64>, Vec<f64>) = numbers.partition(|sample| sample.abs() >= WILD_M_S2);
    if wild.is_empty() || wild.len() > sane.len() { FILL_FROM } else { WILD_M_S2 }
}

/// The grid on which all samples below `most` lie, if there is one.
fn searched(samples: &[f64], most: f64) -> Option<Grid> {
    for count in [SEARCHED, usize::MAX] {
        let numbers = samples.iter().copied().filter(|sample| sample.abs() < most).take(count);
        let grid = Grid { most, ..common(numbers.collect())? };
        if grid.holds(samples) {
            return Some(grid);
        }
    }
    None
}

/// The widest grid on which these samples lie.
fn common(mut samples: Vec<f64>) -> Option<Grid> {
    samples.sort_unstable_by(f64::total_cmp);
    samples.dedup();
    let (&first, &last) = (samples.first()?, samples.last()?);
    let peak = first.abs().max(last.abs());
    if samples.len() == 1 {
        return Some(Grid { step: peak.max(1.0), origin: first, is_exact: true, most: FILL_FROM });
    }
    let step = refined(&samples, common_step(&samples)?);
    let mut origin = first - (first / step).round() * step;
    // a grid through 0 is what every source without an offset has
    if origin.abs() < 1e-6 * step {
        origin = 0.0;
    }
    // with a large offset the counts are those from the middle
    if (peak / step).round() > MOST_COUNT {
        origin = first + ((last - first) / (2.0 * step)).round() * step;
    }
    Some(Grid { step, origin, is_exact: true, most: FILL_FROM })
}

/// The common divisor of the differences between neighbours; `None` where it is smaller than 24
/// bits resolve. What is smaller than that is the rounding of the numbers, not a remainder.
fn common_step(sorted: &[f64]) -> Option<f64> {
    let (&first, &last) = (sorted.first()?, sorted.last()?);
    let mut apart: Vec<f64> = sorted.windows(2).map(|pair| pair[1] - pair[0]).collect();
    apart.sort_unstable_by(f64::total_cmp);
    let tolerance = (last - first) / (16.0 * MOST_COUNT);
    let mut step = apart.first().copied()?;
    for next in apart {
        if step <= 2.0 * tolerance {
            return None;
        }
        step = divisor(next, step, tolerance);
    }
    (step > 2.0 * tolerance).then_some(step)
}

/// Euclid's algorithm. The whole numbers that it finds on its way say how many steps the larger
/// number has, so the step comes from that number itself and not from remainders of remainders,
/// whose rounding grows.
fn divisor(larger: f64, smaller: f64, tolerance: f64) -> f64 {
    let (mut a, mut b) = (larger, smaller);
    // how often `smaller` is in each of them
    let (mut of_a, mut of_b) = (0.0_f64, 1.0_f64);
    while b > tolerance {
        let times = (a / b).round();
        let (rest, of_rest) = (a - times * b, of_a - times * of_b);
        let sign = if rest < 0.0 { -1.0 } else { 1.0 };
        (a, b) = (b, sign * rest);
        (of_a, of_b) = (of_b, sign * of_rest);
    }
    // nothing is left of so many times `smaller` less so many times `larger`
    if of_b == 0.0 { a } else { larger / of_b.abs() }
}

/// The step, from ever longer differences: the relative error of the shortest one grows with its
/// count.
fn refined(sorted: &[f64], mut step: f64) -> f64 {
    let first = sorted[0];
    for most in [4096.0, 262_144.0, f64::INFINITY] {
        let far = sorted.iter().rev().find(|&&sample| (sample - first) / step <= most);
        let Some(apart) = far.map(|far| far - first).filter(|&apart| apart > 0.0) else { continue };
        let counts = (apart / step).round();
        if counts >= 1.0 {
            step = apart / counts;
        }
    }
    step
}

/// The grid of numbers that lie on none.
fn power_of_two(samples: &[f64], most: f64) -> Grid {
    let numbers = samples.iter().filter(|sample| sample.abs() < most);
    let peak = numbers.fold(0.0_f64, |peak, sample| peak.max(sample.abs()));
    let mut step = 2.0_f64.powi(peak.log2().floor().max(-900.0) as i32 + 1 - 23);
    if peak == 0.0 {
        step = 1.0;
    } else if (peak / step).round() > MOST_COUNT {
        step *= 2.0;
    }
    Grid { step, origin: 0.0, is_exact: false, most }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_step_of_a_converter_is_found_and_every_count_comes_back() {
        // 16 bits at 10 g full scale; 24 bits at 100 mV/g; one with an offset
        for (scale, offset, most) in
            [(10.0 / 32768.0, 0.0, 20_000), (1e-6, 0.0, 8_000_000), (0.000_305, 0.25, 9_000)]
        {
            let counts: Vec<i32> = (0..8192_i32).map(|n| (n * 7919 + n * n % 977) % most).collect();
            let samples: Vec<f64> =
                counts.iter().map(|&c| (f64::from(c) * scale - offset) * 9.806_65).collect();
            let grid = Grid::of(&samples, None);
            assert!(grid.is_exact, "{scale} {offset}: {grid:?}");
            let step = scale * 9.806_65;
            assert!((grid.step / step - 1.0).abs() < 1e-12, "{} against {step}", grid.step);
            for &sample in &samples {
                assert!((grid.sample(grid.count(sample)) - sample).abs() < 1e-5 * step);
            }
        }
    }

    #[test]
    fn flat_empty_and_lost_samples_have_a_grid() {
        for samples in [&[][..], &[0.0; 5], &[3.25; 9], &[f64::NAN, f64::NAN], &[f64::NAN, 1.0]] {
            let grid = Grid::of(samples, None);
            assert!(grid.step > 0.0 && grid.step.is_finite(), "{samples:?}: {grid:?}");
            for &sample in samples.iter().filter(|sample| sample.is_finite()) {
                assert!((grid.sample(grid.count(sample)) - sample).abs() < 1e-12);
            }
        }
    }

    /// Marks for no value among floating-point samples, as historians, NetCDF and serial loggers
    /// write them, leave their neighbours as they were and are no numbers.
    #[test]
    fn a_number_that_no_sensor_gives_leaves_its_neighbours() {
        for wild in [1e30, -1e30, 9.969_21e36, f64::from(f32::MAX), 4.3e9, -99_999_999.0, 1e6] {
            let mut samples: Vec<f64> =
                (0..8192).map(|n| 20.0 * (f64::from(n) * 0.37).sin() + 1e-3).collect();
            samples[4000] = wild;
            let grid = Grid::of(&samples, None);
            assert!(!grid.is_number(wild) && grid.step < 1e-5, "{wild}: {grid:?}");
            for (at, &sample) in samples.iter().enumerate().filter(|(at, _)| *at != 4000) {
                let error = (grid.sample(grid.count(sample)) - sample).abs();
                assert!(error <= 0.500_001 * grid.step, "{wild} sample {at}: off by {error}");
            }
            // a converter's counts beside it are kept exactly
            for (n, sample) in samples.iter_mut().enumerate().filter(|(n, _)| *n != 4000) {
                *sample = ((n * 7919) % 20_011) as f64 * 0.003;
            }
            let grid = Grid::of(&samples, None);
            assert!(grid.is_exact && (grid.step - 0.003).abs() < 1e-9, "{wild}: {grid:?}");
        }
        // a source of a wrong scale, all of whose numbers are large, keeps them
        let large: Vec<f64> = (0..8192).map(|n| 3e7 * (f64::from(n) * 0.37).sin()).collect();
        let grid = Grid::of(&large, None);
        assert!(large.iter().all(|&sample| grid.is_number(sample)), "{grid:?}");
    }

    #[test]
    fn a_grid_that_no_longer_holds_is_searched_anew() {
        let first: Vec<f64> = (0..500).map(|n| f64::from(n % 91) * 0.5).collect();
        let grid = Grid::of(&first, None);
        let second: Vec<f64> = (0..500).map(|n| f64::from(n % 91) * 0.3).collect();
        let other = Grid::of(&second, Some(grid));
        assert!(other.is_exact && (other.step - 0.3).abs() < 1e-9, "{other:?}");
    }

    /// Three counts that are far apart, with an offset: their step is a hundred-millionth of their
    /// span.
    #[test]
    fn the_step_of_few_samples_far_apart_is_found() {
        let samples =
            [0.0, -10_102.0, 7_671_817.0].map(|count| (count * 1.370_1 - 1.8e6) * 9.806_65);
        let grid = Grid::of(&samples, None);
        assert!(grid.is_exact, "{grid:?}");
    }

    proptest! {
        /// Whatever the width, scale and offset of a converter: each sample is its own count.
        #[test]
        fn any_converters_counts_are_kept(
            counts in proptest::collection::vec(-8_000_000_i32..8_000_000, 1..3000),
            narrower in 0_u32..20, power in -6_i32..4, offset in -1.0_f64..1.0
        ) {
            let scale = 10.0_f64.powi(power) * 1.370_1;
            let offset = offset * scale * f64::from(8_000_000 >> narrower);
            let samples: Vec<f64> = counts
                .iter()
                .map(|&count| (f64::from(count >> narrower) * scale - offset) * 9.806_65)
                .collect();
            let grid = Grid::of(&samples, None);
            prop_assert!(grid.is_exact, "{:?}", grid);
            for &sample in &samples {
                let error = (grid.sample(grid.count(sample)) - sample).abs();
                prop_assert!(error <= 1e-5 * grid.step, "{} off by {}", sample, error);
            }
        }

        /// Numbers on no grid are within half a step, and the step is within 2⁻²³ of the peak.
        #[test]
        fn floating_point_numbers_are_within_half_a_step(
            samples in proptest::collection::vec(-1e4_f64..1e4, 1..400)
        ) {
            let grid = Grid::of(&samples, None);
            let peak = samples.iter().fold(0.0_f64, |peak, s| peak.max(s.abs()));
            prop_assert!(grid.is_exact || grid.step <= peak / 4_194_304.0 * 1.000_001);
            for &sample in &samples {
                let error = (grid.sample(grid.count(sample)) - sample).abs();
                prop_assert!(error <= grid.step * 0.500_001, "{} off by {}", sample, error);
            }
        }
    }
}
