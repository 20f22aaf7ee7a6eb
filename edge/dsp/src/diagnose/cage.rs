//! Checks whether the lines of the cage stand: a comb of its first six multiples against the same
//! comb at unrelated orders of the same spectrum.
//!
//! Lines of the cage show that something modulates once a turn of the cage: its own damage, or a
//! damaged rolling element that passes the load zone with it. One record cannot tell the two apart
//! by these lines alone, so they are told and never named. Beside them [`super::spin`] looks for
//! lines that only a rolling element has.

use super::Request;
use super::levels::{log_levels, mask_shaft, widen};
use crate::robust::{MAD_TO_SIGMA, median_and_mad};
use crate::spectrum::Spectrum;

/// The number of standard deviations from which the lines stand, in the raw and in the pre-whitened
/// look (chosen: of 144 sound channels the largest has 3.9, and that bearing's rollers failed
/// later; race defects reach 3.2, the one record that shows by them has 6.3).
pub const STANDS: f64 = 5.0;
/// Shaft turns below which they are not resolved from their neighbours (chosen: 24 cage turns).
pub const LEAST_TURNS: f64 = 60.0;
/// Multiples that are looked at.
const TEETH: std::ops::RangeInclusive<u32> = 1..=6;
/// Orders among which the unrelated ones are.
const ORDERS: (f64, f64) = (0.215, 0.475);
/// Orders that are related to the cage's or to the shaft's.
const SHAFT: [f64; 3] = [0.25, 1.0 / 3.0, 0.5];
const RELATED: [f64; 3] = [0.5, 2.0 / 3.0, 1.0];

/// The finding of one look about the cage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cage {
    /// Standard deviations by which its comb stands above unrelated combs.
    pub z: f64,
    /// The order at which its comb is largest, within the tolerance.
    pub order: f64,
}

/// The cage's comb in an envelope spectrum at whole-record resolution; `z` is 0 where it cannot be
/// told.
pub fn standing(spectrum: &Spectrum, shaft_hz: f64, request: &Request) -> Cage {
    standing_in(&log_levels(spectrum, shaft_hz), spectrum.df_hz, shaft_hz, request)
}

/// Measures the same from levels (dB over the local floor) of lines `df` Hz apart.
pub fn standing_in(levels: &[f64], df: f64, shaft_hz: f64, request: &Request) -> Cage {
    let tolerance = request.order_tolerance.max(0.005);
    let ftf = request.orders.ftf.get();
    if df <= 0.0 || shaft_hz / df < LEAST_TURNS || levels.len() < 32 {
        return Cage { z: 0.0, order: ftf };
    }
    let levels = widen(&mask_shaft(levels, df, shaft_hz), 1);
    let comb = |order: f64| -> f64 {
        let level = |k| levels.get((f64::from(k) * order * shaft_hz / df).round() as usize);
        TEETH.map(|k| level(k).unwrap_or(&0.0)).sum::<f64>() / TEETH.count() as f64
    };
    let step = df / shaft_hz / 8.0;
    let largest = |order: f64| -> (f64, f64) {
        let count = (2.0 * tolerance * order / step) as usize;
        let orders = (0..=count).map(|i| order * (1.0 - tolerance) + step * i as f64);
        middle_of_top(orders.map(|order| (comb(order), order)))
    };
    let is_apart = |order: f64| {
        let related = RELATED.iter().map(|ratio| ratio * ftf).chain(SHAFT);
        related.into_iter().all(|other| (order / other - 1.0).abs() >= 2.2 * tolerance)
    };
    let unrelated: Vec<f64> =
        std::iter::successors(Some(ORDERS.0), |order| Some(order * (1.0 + tolerance)))
            .take_while(|order| *order < ORDERS.1)
            .filter(|order| is_apart(*order))
            .map(|order| largest(order).0)
            .collect();
    let (value, order) = largest(ftf);
    let z = match median_and_mad(&unrelated) {
        Some((usual, mad)) if unrelated.len() >= 4 => (value - usual) / (MAD_TO_SIGMA * mad + 1.0),
        _ => 0.0,
    };
    Cage { z, order }
}

/// The largest value and the middle of the first stretch of orders that have it: a tooth holds over
/// several steps.
fn middle_of_top(curve: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let mut top = (0.0, 0.0, 0.0);
    let mut is_held = false;
    for (value, order) in curve {
        if value > top.0 {
            (top, is_held) = ((value, order, order), true);
        } else if is_held && value >= top.0 {
            top.2 = order;
        } else {
            is_held = false;
        }
    }
    (top.0, f64::midpoint(top.1, top.2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bearing::DefectOrders;
    use pdm_shared::units::{Rpm, SampleRate};

    fn request() -> Request {
        let orders = DefectOrders::new(3.585, 5.415, 2.357, 0.398).expect("valid");
        let (rate, speed) = (SampleRate::new(12_000.0), Rpm::new(1800.0));
        Request::new(rate.expect("valid"), speed.expect("valid"), orders)
    }

    /// Uneven lines 0.1 Hz apart at 30 Hz, with multiples of an order standing out.
    fn spectrum(order: f64) -> Spectrum {
        let mut amplitude: Vec<f64> = (0..4000_u32)
            .map(|i| 1.0 + 0.5 * f64::from(i.wrapping_mul(7919) % 13) / 13.0)
            .collect();
        for k in 1..=8 {
            amplitude[(f64::from(k) * order * 30.0 / 0.1).round() as usize] = 8.0;
        }
        Spectrum { df_hz: 0.1, amplitude }
    }

    #[test]
    fn the_cages_own_comb_stands_and_another_does_not() {
        let own = standing(&spectrum(0.398), 30.0, &request());
        assert!(own.z >= STANDS && (own.order - 0.398).abs() < 0.001, "{own:?}");
        assert!(standing(&spectrum(0.29), 30.0, &request()).z < 2.0);
    }

    #[test]
    fn a_record_of_few_turns_tells_nothing() {
        let coarse = Spectrum { df_hz: 1.0, ..spectrum(0.398) };
        assert!(standing(&coarse, 30.0, &request()).z.abs() < 1e-12);
    }
}
