//! Measures how high the comb of an order stands in one spectrum.
//!
//! The comb level of an order is the weighted mean level (dB, 0 to 24) of its first four harmonics;
//! harmonics that fall on shaft multiples are left out. The level of an asked order is the largest
//! within its tolerance that is a peak of its own: a slope at the window's edge belongs to another
//! order.

use super::spectra::LogSpectrum;

/// Weights of harmonics 1 to 4; higher ones smear with slip.
const WEIGHTS: [f64; 4] = [1.0, 1.0, 0.7, 0.7];
/// Levels above this count no more, dB: one huge line is no family.
pub const CAP_DB: f64 = 24.0;
/// Least sum of weights by which a comb's sum is divided: two harmonics and a third.
const LEAST_WEIGHT: f64 = 1.7;
/// A line counts that much less at the edge of the widening that slip asks for, dB.
const EDGE_DROP_DB: f64 = 1.5;
/// Random slip widens harmonic `k` of an order by this share of `k` (for orders of about 5).
const SPREAD: f64 = 0.0008 * 5.0;
/// Lowest order of the curve.
const LOWEST_ORDER: f64 = 1.5;
/// How far a shaft multiple may be off, as a ratio, by speed that wanders within a record.
const SHAFT_WANDER: f64 = 0.0005;
/// Lines to either side of a tooth's place among which its peak is.
const TOOTH_REACH: f64 = 3.0;
/// Steps to either side within which a peak must be the largest.
const PEAK_STEPS: usize = 2;

/// The comb level over orders of one spectrum.
#[derive(Debug)]
pub struct CombCurve {
    step: f64,
    values: Vec<f64>,
}

impl CombCurve {
    /// The curve up to `highest` orders.
    pub fn new(spectrum: &LogSpectrum, shaft_hz: f64, highest: f64) -> Self {
        let lines_per_order = shaft_hz / spectrum.df_hz;
        let step = 1.0 / lines_per_order / 4.0;
        let count = ((highest - LOWEST_ORDER) / step).max(0.0) as usize;
        let capped: Vec<f64> = spectrum.levels.iter().map(|l| l.clamp(0.0, CAP_DB)).collect();
        let resolution = (lines_per_order / spectrum.block_turns).max(1.0);
        let (mut sum, mut weight) = (vec![0.0; count], vec![0.0; count]);
        for (w, k) in WEIGHTS.iter().zip(1..) {
            let k = f64::from(k);
            let reach = (1.0 + (SPREAD * k * lines_per_order).round()).min(8.0) as usize;
            let wide = widened(&capped, reach);
            for i in 0..count {
                let order = k * (LOWEST_ORDER + step * i as f64);
                let at = (order * lines_per_order).round() as usize;
                // the widening brings a shaft line nearer by as much
                let beside = resolution + (reach as f64 - 1.0) / 2.0;
                let is_apart = is_apart_from_shaft(order, lines_per_order, beside);
                if at < wide.len() && is_apart {
                    sum[i] += w * wide[at];
                    weight[i] += w;
                }
            }
        }
        let levels: Vec<f64> =
            sum.iter().zip(&weight).map(|(s, w)| s / w.max(LEAST_WEIGHT)).collect();
        Self { step, values: peaks_only(&levels) }
    }

    /// The largest level within ± `tolerance` (ratio) of an order, and at which order.
    pub fn largest(&self, order: f64, tolerance: f64) -> (f64, f64) {
        let index = |o: f64| ((o - LOWEST_ORDER) / self.step).max(0.0).ceil() as usize;
        let low = index(order * (1.0 - tolerance)).min(self.values.len());
        let high = index(order * (1.0 + tolerance)).min(self.values.len());
        let mut best = (0.0, order);
        let mut is_first = true;
        for i in low..high {
            if is_first || self.values[i] > best.0 {
                best = (self.values[i], LOWEST_ORDER + self.step * i as f64);
                is_first = false;
            }
        }
        best
    }
}

/// Each level, or a neighbour's less what its distance costs, whichever is larger.
fn widened(levels: &[f64], reach: usize) -> Vec<f64> {
    let mut wide = levels.to_vec();
    for s in 1..=reach {
        let drop = EDGE_DROP_DB * (s as f64 / reach as f64).powi(2);
        for i in s..levels.len() {
            wide[i] = wide[i].max(levels[i - s] - drop);
            wide[i - s] = wide[i - s].max(levels[i] - drop);
        }
    }
    wide
}

fn peaks_only(levels: &[f64]) -> Vec<f64> {
    let usual = crate::robust::median(levels).unwrap_or(0.0);
    (0..levels.len())
        .map(|i| {
            let around =
                &levels[i.saturating_sub(PEAK_STEPS)..(i + PEAK_STEPS + 1).min(levels.len())];
            let top = around.iter().copied().fold(0.0, f64::max);
            if levels[i] >= top { levels[i] } else { levels[i].min(usual) }
        })
        .collect()
}

/// The highest line at an order, within the resolution, dB; `None` outside the spectrum and on a
/// shaft multiple.
pub fn line_level(spectrum: &LogSpectrum, shaft_hz: f64, order: f64) -> Option<f64> {
    let lines_per_order = shaft_hz / spectrum.df_hz;
    let resolution = (lines_per_order / spectrum.block_turns).max(1.0);
    let centre = order * lines_per_order;
    let low = (centre - 1.5 * resolution).floor();
    let high = (centre + 1.5 * resolution).ceil() as usize + 1;
    let is_inside = low > 0.0 && high < spectrum.levels.len();
    if !is_inside || !is_apart_from_shaft(order, lines_per_order, resolution) {
        return None;
    }
    spectrum.levels[low as usize..high].iter().copied().reduce(f64::max)
}

/// The highest line within three lines of an order, dB; 0 outside the spectrum.
pub fn tooth_level(spectrum: &LogSpectrum, shaft_hz: f64, order: f64) -> f64 {
    let centre = order * shaft_hz / spectrum.df_hz;
    let low = (centre - TOOTH_REACH).round().max(0.0) as usize;
    let high = ((centre + TOOTH_REACH).round() as usize + 1).min(spectrum.levels.len());
    spectrum.levels.get(low..high).map_or(0.0, |part| part.iter().copied().fold(0.0, f64::max))
}

/// Whether an order is so far from every shaft multiple that a shaft line's main lobe does not
/// reach it.
fn is_apart_from_shaft(order: f64, lines_per_order: f64, resolution: f64) -> bool {
    let off = (order - order.round()).abs() * lines_per_order;
    off > 2.0 * resolution + 0.5 + SHAFT_WANDER * order * lines_per_order
}
