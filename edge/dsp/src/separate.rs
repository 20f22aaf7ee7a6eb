//! Discrete/random separation: what is left of a record without its steady lines.
//!
//! Stands before the looks of the diagnosis. Shafts, gears, fans and electric drives put
//! discrete lines into a spectrum, and two lines in one band beat: their difference stands in the
//! envelope as a line that no impact made. Impacts of a bearing slip a little each time, so in the
//! bands that they ring their lines smear into a random part whose power pulses. Invariant: a line
//! is kept as it is or set to 0.

use crate::envelope::RecordLines;
use crate::robust::running_floor;
use crate::taper::hann;
use crate::transform::{Complex64, Transforms, fast_length_at_most};

/// A line this much above the median power around it is discrete, dB (chosen: of Gaussian noise one
/// line in 36 million is).
const DISCRETE_DB: f64 = 14.0;
/// Lines over which that median runs (chosen: wider than any family's feet, narrower than a
/// resonance in records of a second and more).
const FLOOR_LINES: usize = 405;
/// Lines to either side that a discrete one takes with it: the main lobe of the Hann taper.
const LOBE_LINES: usize = 2;

/// Multiples of a frequency that are looked at: as far as the spectrum goes, at most these.
const MOST_TEETH: usize = 200;
/// Steps in which a frequency is varied by ± one line, so that its high multiples are met.
const STEPS: i32 = 40;

/// A record taken apart.
#[derive(Debug, Clone)]
pub struct Separated {
    /// The transform of the record without its mean, Hann-tapered so that a steady line stays
    /// narrow, discrete lines 0.
    pub random: RecordLines,
    is_discrete: Vec<bool>,
}

/// Takes a record apart.
///
/// **Input** samples and their rate, Hz.
///
/// **Source** Randall & Antoni 2011, doi:10.1016/j.ymssp.2010.07.017, section 4: why and how to
/// separate. Their filters need a delay longer than slip remembers; whole records are at hand here,
/// and a level over the running median finds the same lines without one.
pub fn separate(samples: &[f64], rate_hz: f64, transforms: &mut Transforms) -> Separated {
    let n = fast_length_at_most(samples.len());
    let mean = samples[..n].iter().sum::<f64>() / n.max(1) as f64;
    let mut work: Vec<f64> =
        samples[..n].iter().zip(hann(n)).map(|(x, t)| (x - mean) * t).collect();
    let mut lines = transforms.forward(&mut work);
    let is_discrete = discrete(&lines);
    for k in (0..lines.len()).filter(|&k| is_discrete[k]) {
        let end = (k + LOBE_LINES + 1).min(lines.len());
        lines[k.saturating_sub(LOBE_LINES)..end].fill(Complex64::new(0.0, 0.0));
    }
    Separated { random: RecordLines { lines, samples: n, rate_hz }, is_discrete }
}

fn discrete(lines: &[Complex64]) -> Vec<bool> {
    let levels: Vec<f64> =
        lines.iter().map(|line| 10.0 * (line.norm_sqr() + 1e-300).log10()).collect();
    let floor = running_floor(&levels, FLOOR_LINES);
    levels.iter().zip(floor).map(|(level, floor)| level - floor > DISCRETE_DB).collect()
}

impl Separated {
    /// Returns how many multiples in a row of a frequency known to ± one line are discrete lines.
    ///
    /// Impacts without any slip leave nothing random, but they stand at every multiple of their own
    /// frequency throughout the bands that they ring. Sidebands of a tone stand beside the tone,
    /// wherever that is, and are few.
    pub fn discrete_multiples(&self, hz: f64) -> usize {
        let longest_run = |stands: &dyn Fn(usize) -> bool| {
            (1..=MOST_TEETH).fold((0, 0), |(longest, run): (usize, usize), k| {
                let run = if stands(k) { run + 1 } else { 0 };
                (longest.max(run), run)
            })
        };
        let df = self.random.df_hz();
        let stands = |at: f64| {
            let at = at.round() as usize;
            let around = self.is_discrete.get(at.saturating_sub(1)..at + 2);
            around.is_some_and(|lines| lines.contains(&true))
        };
        (-STEPS..=STEPS)
            .map(|step| hz / df + f64::from(step) / f64::from(STEPS))
            .filter(|first| *first > 8.0)
            .map(|first| longest_run(&|k| stands(k as f64 * first)).0)
            .max()
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    const RATE_HZ: f64 = 10_000.0;

    fn noise(n: usize) -> Vec<f64> {
        let mut state = 12_345_u32;
        let mut uniform = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1 << 24) - 0.5
        };
        (0..n).map(|_| (0..4).map(|_| uniform()).sum()).collect()
    }

    /// Power of the lines within ± 5 Hz.
    fn power(record: &RecordLines, hz: f64) -> f64 {
        let at = (hz / record.df_hz()) as usize;
        let reach = (5.0 / record.df_hz()) as usize;
        record.lines[at - reach..at + reach].iter().map(Complex64::norm_sqr).sum()
    }

    #[test]
    fn a_steady_tone_goes_and_the_noise_around_it_stays() {
        let quiet = noise(20_000);
        let with_tone: Vec<f64> = (0_u32..)
            .zip(&quiet)
            .map(|(i, x)| x + 3.0 * (TAU * 2000.3 * f64::from(i) / RATE_HZ).sin())
            .collect();
        let mut transforms = Transforms::new();
        let before = separate(&quiet, RATE_HZ, &mut transforms).random;
        let after = separate(&with_tone, RATE_HZ, &mut transforms).random;
        assert!(power(&after, 2000.3) < 1.5 * power(&before, 2000.3));
        assert!((power(&after, 3000.0) / power(&before, 3000.0) - 1.0).abs() < 0.01);
    }

    #[test]
    fn noise_alone_is_left_whole() {
        let record = separate(&noise(30_000), RATE_HZ, &mut Transforms::new()).random;
        let gone = record.lines.iter().skip(10).filter(|line| line.norm_sqr() <= 0.0).count();
        assert_eq!(gone, 0);
    }

    #[test]
    fn an_empty_record_has_no_lines() {
        assert!(separate(&[], RATE_HZ, &mut Transforms::new()).random.lines.is_empty());
    }

    #[test]
    fn impacts_without_slip_stand_at_every_multiple_and_sidebands_do_not() {
        let add = |of: &dyn Fn(f64) -> f64| -> Vec<f64> {
            (0_u32..)
                .zip(noise(20_000))
                .map(|(i, x)| 0.5 * x + of(f64::from(i) / RATE_HZ))
                .collect()
        };
        let impacts = add(&|t| {
            let since = t - (t * 107.3).floor() / 107.3;
            (-700.0 * since).exp() * (TAU * 3000.0 * since).sin()
        });
        let family = add(&|t| (1.0 + (TAU * 107.3 * t).cos()) * (TAU * 3017.0 * t).sin());
        let teeth = |samples: &[f64]| {
            separate(samples, RATE_HZ, &mut Transforms::new()).discrete_multiples(107.3)
        };
        assert!(teeth(&impacts) >= 12, "{}", teeth(&impacts));
        assert!(teeth(&family) <= 3, "{}", teeth(&family));
    }
}
