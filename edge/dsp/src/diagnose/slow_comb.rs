//! The comb of the cage in the mean of all bands: what a damaged rolling element leaves that has no
//! lines of its own.
//!
//! A damaged rolling element passes the load zone once a turn of the cage, so the first teeth of
//! the cage's comb stand; which of the first four depends on load and place, so the best three
//! count. Sound bearings show the same comb (IMS test 1, bearing 4, has 4.7 to 9.1 dB from its
//! first day), so the level says nothing alone: only what is new since the baseline does.
//! Invariant: a record that does not resolve the cage's lines has no level.

use super::Request;
use super::cage::LEAST_TURNS;
use super::figures::NAMING_SHARE;
use super::spectra::LogSpectrum;
use crate::robust::median;

/// Teeth that are looked at, and how many of them count: those that stand best.
const TEETH: u32 = 4;
const BEST: usize = 3;
/// Levels below and above these count as these, dB.
const LEAST_DB: f64 = -5.0;
const MOST_DB: f64 = 24.0;
/// Steps of the mean spectrum, orders, and where it ends.
const STEP: f64 = 0.002;
const HIGHEST: f64 = 4.1;
/// Places that are tried within the tolerance.
const PLACES: u32 = 19;
/// How far a tooth is off a whole multiple of the shaft, in lines of the finest spectrum.
const OFF_WHOLE_LINES: f64 = 2.2;
/// Orders of the unrelated combs, and the ratio of two neighbours.
const UNRELATED: (f64, f64) = (0.22, 0.95);
const NEXT: f64 = 1.012;
/// How near to the cage's own order, to half and twice it and to the shaft's turn less it no
/// unrelated comb may be, as ratios; and how near to a whole number of its turns, and of its half
/// turns, a turn of the shaft.
const APART: [f64; 3] = [0.045, 0.04, 0.03];
const APART_FROM_SHAFT: f64 = 0.06;

/// Returns how far the cage's comb stands above unrelated slow combs, dB: the smaller one of the
/// record as it is and of the record with its steady lines clipped; `None` where the record holds
/// too few turns.
pub(super) fn level_db(
    (as_it_is, clipped): (&[LogSpectrum], &[LogSpectrum]),
    (tried_hz, turns): (&[f64], f64),
    request: &Request,
) -> Option<f64> {
    if turns < LEAST_TURNS {
        return None;
    }
    let tolerance = NAMING_SHARE * request.order_tolerance;
    let ftf = request.orders.ftf.get();
    let of = |spectra: &[LogSpectrum]| {
        let at = |hz: &f64| MeanSpectrum::new(spectra, *hz, turns).excess_db(ftf, tolerance);
        tried_hz.iter().map(at).reduce(f64::max).unwrap_or(0.0)
    };
    Some(of(as_it_is).min(of(clipped)))
}

/// The mean of the finely resolved spectra, by order.
struct MeanSpectrum {
    levels: Vec<f64>,
    off_whole: f64,
}

impl MeanSpectrum {
    fn new(spectra: &[LogSpectrum], shaft_hz: f64, turns: f64) -> Self {
        let mut levels = vec![0.0; (HIGHEST / STEP) as usize + 2];
        let fine = || spectra.iter().filter(|spectrum| spectrum.is_fine);
        for spectrum in fine() {
            let get = |i: usize| {
                spectrum.levels.get(i).copied().unwrap_or(LEAST_DB).clamp(LEAST_DB, MOST_DB)
            };
            for (i, level) in levels.iter_mut().enumerate() {
                let at = i as f64 * STEP * shaft_hz / spectrum.df_hz;
                *level += between(get, at);
            }
        }
        let count = fine().count().max(1) as f64;
        for level in &mut levels {
            *level /= count;
        }
        let off_whole = OFF_WHOLE_LINES / turns.min(super::spectra::BLOCK_TURNS[0]);
        Self { levels, off_whole }
    }

    fn excess_db(&self, ftf: f64, tolerance: f64) -> f64 {
        let unrelated: Vec<f64> = std::iter::successors(Some(UNRELATED.0), |c| Some(c * NEXT))
            .take_while(|order| *order < UNRELATED.1)
            .filter(|order| is_unrelated(*order, ftf))
            .map(|order| self.largest(order, tolerance))
            .collect();
        self.largest(ftf, tolerance) - median(&unrelated).unwrap_or(0.0)
    }

    /// The highest comb within the tolerance of an order.
    fn largest(&self, order: f64, tolerance: f64) -> f64 {
        let step = 2.0 * tolerance / f64::from(PLACES - 1);
        let places = (0..PLACES).map(|i| order * (1.0 - tolerance + step * f64::from(i)));
        places.map(|order| self.comb(order)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Mean level of the teeth that stand best and are no multiples of the shaft.
    fn comb(&self, order: f64) -> f64 {
        let mut teeth: Vec<f64> = (1..=TEETH)
            .map(|k| f64::from(k) * order)
            .filter(|tooth| *tooth < HIGHEST && (tooth - tooth.round()).abs() > self.off_whole)
            .map(|tooth| between(|i| self.levels.get(i).copied().unwrap_or(0.0), tooth / STEP))
            .collect();
        teeth.sort_by(|a, b| b.total_cmp(a));
        teeth.truncate(BEST);
        teeth.iter().sum::<f64>() / teeth.len().max(1) as f64
    }
}

/// The value at a place between two of a series.
fn between(get: impl Fn(usize) -> f64, at: f64) -> f64 {
    let (low, share) = (at as usize, at.fract());
    (1.0 - share) * get(low) + share * get(low + 1)
}

/// Whether a slow order has no relation to the cage's or the shaft's.
fn is_unrelated(order: f64, ftf: f64) -> bool {
    let [own, half_or_twice, mirrored] = APART;
    let is_near = |other: f64, ratio: f64| (other / order - 1.0).abs() <= ratio;
    let is_of_shaft = |turns: f64| {
        let count = turns / order;
        (count - count.round()).abs() <= APART_FROM_SHAFT
    };
    (order / ftf - 1.0).abs() > own
        && !is_near(2.0 * ftf, half_or_twice)
        && !is_near(0.5 * ftf, half_or_twice)
        && ((1.0 - order) / ftf - 1.0).abs() > mirrored
        && !is_of_shaft(1.0)
        && !is_of_shaft(2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-EDGE-4, rolling element: some ninety slow combs set the zero of the cage's.
    #[test]
    fn some_ninety_slow_combs_are_no_relation_of_the_cages() {
        for ftf in [0.3818, 0.3983, 0.4056, 0.4316] {
            let orders = std::iter::successors(Some(UNRELATED.0), |c| Some(c * NEXT));
            let count = orders
                .take_while(|order| *order < UNRELATED.1)
                .filter(|order| is_unrelated(*order, ftf))
                .count();
            assert!((60..=120).contains(&count), "{count} at {ftf}");
            assert!(!is_unrelated(ftf, ftf) && !is_unrelated(2.0 * ftf, ftf));
            assert!(!is_unrelated(0.5, ftf) && !is_unrelated(1.0 - ftf, ftf));
        }
    }

    /// Uneven levels, at 100 lines an order, with two of the first four teeth of a comb standing.
    fn mean_spectrum(order: f64) -> MeanSpectrum {
        let mut levels: Vec<f64> = (0..=(HIGHEST / STEP) as u32 + 1)
            .map(|i| f64::from(i.wrapping_mul(2_654_435_761) >> 16) / 65_536.0)
            .collect();
        for tooth in [order, 2.0 * order, 3.0 * order] {
            let at = (tooth / STEP).round() as usize;
            levels[at - 4..=at + 4].fill(9.0);
        }
        MeanSpectrum { levels, off_whole: 0.022 }
    }

    #[test]
    fn the_cages_comb_stands_above_the_unrelated_ones_and_another_does_not() {
        let own = mean_spectrum(0.398).excess_db(0.398, 0.015);
        assert!((6.0..9.5).contains(&own), "{own}");
        let other = mean_spectrum(0.29).excess_db(0.398, 0.015);
        assert!(other < 3.0, "{other}");
    }
}
