//! The comb of a cage that strikes: all of its first teeth stand, in several bands.
//!
//! A cage that strikes once a turn gives a comb of even teeth at its own frequency; a rolling
//! element or a race that meets the load zone with the cage gives the first tooth or two beside
//! lines of its own ([`super::cage`] tells of those). So figures are taken from the spectra of the
//! logarithmic envelopes: how far the comb stands above combs of unrelated orders, and how even its
//! teeth are. Invariant: a record that does not resolve the cage's lines has neither.

use super::Request;
use super::cage::LEAST_TURNS;
use super::figures::NAMING_SHARE;
use super::levels::mask_shaft;
use super::spectra::LogSpectrum;
use crate::robust::median;

/// Teeth of the comb.
const TEETH: usize = 6;
/// Levels above this count no more, dB.
const CAP_DB: f64 = 24.0;
/// Random slip widens tooth `k` to either side by this share of `k` times the shaft's frequency:
/// 0.3 % of the cage's.
const SPREAD: f64 = 0.0012;
/// Most lines to either side.
const MOST_LINES: f64 = 8.0;
/// Orders among which the unrelated ones are, and those that are related to the shaft or to the
/// cage.
const ORDERS: (f64, f64) = (0.215, 0.475);
const SHAFT: [f64; 3] = [0.25, 1.0 / 3.0, 0.5];
const RELATED: [f64; 3] = [0.5, 2.0 / 3.0, 1.0];
/// Spectra whose excess is averaged: those that show the comb best.
const BEST_SPECTRA: usize = 5;

/// The comb of the cage in one record.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CageComb {
    /// Mean level of six teeth above that of unrelated orders, mean of the five best spectra, dB;
    /// of the record as it is and with its steady lines clipped the smaller.
    pub excess_db: f64,
    /// The second-lowest of the six teeth, mean of all spectra of the clipped record, dB.
    pub least_tooth_db: f64,
    /// The second-highest of them, dB.
    pub most_tooth_db: f64,
}

impl CageComb {
    /// The comb in the spectra of the record as it is and with its steady lines clipped.
    pub fn of(
        (as_it_is, clipped): (&[LogSpectrum], &[LogSpectrum]),
        shaft_hz: f64,
        request: &Request,
    ) -> Self {
        let search = Search::new(request);
        let read = |spectra: &[LogSpectrum]| -> Vec<Found> {
            let fine = spectra.iter().filter(|s| s.is_fine && shaft_hz / s.df_hz >= LEAST_TURNS);
            fine.map(|spectrum| search.found_in(spectrum, shaft_hz)).collect()
        };
        let (as_it_is, clipped) = (read(as_it_is), read(clipped));
        let mut teeth: [f64; TEETH] =
            std::array::from_fn(|k| mean(clipped.iter().map(|found| found.teeth[k])));
        teeth.sort_by(f64::total_cmp);
        Self {
            excess_db: best(&as_it_is).min(best(&clipped)),
            least_tooth_db: teeth[1],
            most_tooth_db: teeth[TEETH - 2],
        }
    }
}

fn best(found: &[Found]) -> f64 {
    let mut excess: Vec<f64> = found.iter().map(|found| found.excess_db).collect();
    excess.sort_by(|a, b| b.total_cmp(a));
    mean(excess.into_iter().take(BEST_SPECTRA))
}

/// The comb in one spectrum.
struct Found {
    excess_db: f64,
    teeth: [f64; TEETH],
}

/// The orders that are compared.
struct Search {
    cage: f64,
    tolerance: f64,
    unrelated: Vec<f64>,
}

impl Search {
    fn new(request: &Request) -> Self {
        let tolerance = (NAMING_SHARE * request.order_tolerance).max(0.005);
        let cage = request.orders.ftf.get();
        let is_apart = |order: &f64| {
            let related = RELATED.iter().map(|ratio| ratio * cage).chain(SHAFT);
            related.into_iter().all(|other| (order / other - 1.0).abs() >= 2.2 * tolerance)
        };
        let unrelated =
            std::iter::successors(Some(ORDERS.0), |order| Some(order * (1.0 + tolerance)))
                .take_while(|order| *order < ORDERS.1)
                .filter(is_apart)
                .collect();
        Self { cage, tolerance, unrelated }
    }

    fn found_in(&self, spectrum: &LogSpectrum, shaft_hz: f64) -> Found {
        let lines = shaft_hz / spectrum.df_hz;
        // the highest tooth of the highest unrelated order, as wide as slip asks for
        let needed = (TEETH as f64 * 1.05 * ORDERS.1 * lines + MOST_LINES) as usize;
        let levels = &spectrum.levels[..needed.min(spectrum.levels.len())];
        let levels = mask_shaft(levels, spectrum.df_hz, shaft_hz);
        let combs = Combs::new(&levels, lines);
        let at = |order: &f64| combs.largest(*order, self.tolerance).0;
        let chance: Vec<f64> = self.unrelated.iter().map(at).collect();
        let (level, order) = combs.largest(self.cage, self.tolerance);
        let excess_db = level - median(&chance).unwrap_or(0.0);
        Found { excess_db, teeth: combs.teeth(order) }
    }
}

/// Levels as wide as slip asks for, by tooth.
struct Combs {
    wide: Vec<Vec<f64>>,
    lines_per_order: f64,
}

impl Combs {
    fn new(levels: &[f64], lines_per_order: f64) -> Self {
        let wide = (1..=TEETH).map(|k| {
            let reach = 1.0 + (SPREAD * k as f64 * lines_per_order).round();
            widened(levels, reach.min(MOST_LINES) as usize)
        });
        Self { wide: wide.collect(), lines_per_order }
    }

    fn teeth(&self, order: f64) -> [f64; TEETH] {
        std::array::from_fn(|i| {
            let at = ((i + 1) as f64 * order * self.lines_per_order).round() as usize;
            self.wide[i].get(at).copied().unwrap_or(0.0)
        })
    }

    /// The largest mean level within a tolerance of an order, and at which order.
    fn largest(&self, order: f64, tolerance: f64) -> (f64, f64) {
        let step = 1.0 / self.lines_per_order / 8.0;
        let count = (2.0 * tolerance * order / step) as usize + 1;
        (0..=count)
            .map(|i| order * (1.0 - tolerance) + step * i as f64)
            .map(|order| (self.teeth(order).iter().sum::<f64>() / TEETH as f64, order))
            .fold((0.0, order), |best, one| if one.0 > best.0 { one } else { best })
    }
}

/// Each level, or the largest within `reach` lines, 0 to [`CAP_DB`].
fn widened(levels: &[f64], reach: usize) -> Vec<f64> {
    (0..levels.len())
        .map(|i| {
            let around = &levels[i.saturating_sub(reach)..(i + reach + 1).min(levels.len())];
            around.iter().copied().fold(0.0_f64, f64::max).min(CAP_DB)
        })
        .collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / f64::max(count, 1.0)
}
