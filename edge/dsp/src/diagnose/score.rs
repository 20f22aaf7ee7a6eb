//! How far do the defect lines stand out of one envelope spectrum, compared with lines that no
//! bearing part has?
//!
//! The statistic of an order is the weighted mean level (dB over the local floor) of its first four
//! harmonics with one common slip, plus sidebands that count only as far as their centre line stands.
//! The same statistic at hundreds of unrelated orders of the same spectrum gives the null
//! distribution; the result is how many of its robust standard deviations the defect order lies
//! above its median. So neither units nor the number of lines nor a rough floor need a threshold.

use super::Request;
use crate::part::{Part, PerPart};
use crate::robust::{MAD_TO_SIGMA, median_and_mad, running_floor};
use crate::spectrum::Spectrum;

/// Weights of the harmonics (chosen; higher ones smear with slip).
const HARMONICS: [f64; 4] = [1.0, 1.0, 0.8, 0.6];
/// Levels above this count no more, dB (chosen): one huge line is not a family.
const CAP_DB: f64 = 24.0;
/// Weight of the sidebands beside the centre lines (chosen).
const SIDEBAND_WEIGHT: f64 = 0.35;
/// Random slip widens harmonic k by this share of its frequency (Randall & Antoni 2011: 1–2 % per
/// interval averages out over a record).
const SPREAD: f64 = 0.0008;
/// By how much the second sidebands of an inner-race line may exceed it, dB (chosen: the load zone
/// modulates inner-race impacts; 1 dB is seen in the recordings).
const SECOND_SIDEBAND_DB: f64 = 6.0;
/// A stronger neighbour counts against a centre line up to this difference, dB (chosen).
const LADDER_CAP_DB: f64 = 20.0;
/// What is added to the null's deviation, dB, so that a very even spectrum does not make a mole-hill
/// significant (chosen).
const LEAST_SIGMA_DB: f64 = 1.0;
/// How far the speed may wander within a record, as a ratio: shaft lines are masked that much wider
/// (chosen; at most 0.06 orders).
const MASK_WANDER: f64 = 0.0003;
/// Range of orders from which unrelated ones are drawn.
const LOWEST_ORDER: f64 = 1.6;
const HIGHEST_ORDER: f64 = 9.5;
/// Ratios of a defect order that are related to it and left out of the null.
const RELATED: [f64; 7] = [0.5, 1.0, 2.0, 1.0 / 3.0, 3.0, 2.0 / 3.0, 1.5];

/// The finding of one look about one part.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Standing {
    /// Robust standard deviations above unrelated orders.
    pub z: f64,
    /// The order at which the statistic is largest, within the tolerance.
    pub order: f64,
}

/// The standing of each part.
pub type Standings = PerPart<Standing>;

/// Levels of a spectrum's lines over its running median, dB (20 log of amplitude).
///
/// The median runs over 1.3 shaft orders, at least 25 lines; over long windows it is taken on every
/// so-many-th line and interpolated.
pub fn log_levels(spectrum: &Spectrum, shaft_hz: f64) -> Vec<f64> {
    const TO_DB: f64 = 8.685_889_638_065_035;
    if spectrum.df_hz <= 0.0 {
        return Vec::new();
    }
    let logs: Vec<f64> = spectrum.amplitude.iter().map(|a| (a + 1e-300).ln()).collect();
    let width = ((1.3 * shaft_hz / spectrum.df_hz).round() as usize).max(25) | 1;
    let floor = running_floor(&logs, width);
    logs.iter().zip(floor).map(|(log, floor)| TO_DB * (log - floor)).collect()
}

/// The curve of the statistic over orders.
struct Curve<'a> {
    df: f64,
    shaft: f64,
    first: f64,
    step: f64,
    base: Vec<f64>,
    /// Levels with the shaft's lines taken out, each the largest of its neighbourhood.
    masked: Vec<f64>,
    full: Vec<f64>,
    spectrum: &'a Spectrum,
}

pub(super) fn widen(levels: &[f64], reach: usize) -> Vec<f64> {
    (0..levels.len())
        .map(|i| {
            levels[i.saturating_sub(reach)..(i + reach + 1).min(levels.len())]
                .iter()
                .copied()
                .fold(0.0_f64, f64::max)
                .min(CAP_DB)
        })
        .collect()
}

/// Takes the shaft's own lines out: the neighbourhood of every multiple of the shaft frequency whose
/// peak stands at the multiple itself. A peak that stands beside it, as far as the resolution tells,
/// is another line and stays.
pub(super) fn mask_shaft(levels: &[f64], df: f64, shaft: f64) -> Vec<f64> {
    let half = if df > 0.02 * shaft { 1.6 } else { 2.2 };
    let mut masked = levels.to_vec();
    for k in 1..40 {
        let centre = f64::from(k) * shaft / df;
        let wander = (MASK_WANDER * centre).min(0.06 * shaft / df);
        let low = (centre - half - wander).floor().max(0.0) as usize;
        let high = (centre + half + wander).ceil() as usize;
        if low >= masked.len() {
            break;
        }
        let end = (high + 1).min(masked.len());
        let apex = (low..end).max_by(|&a, &b| levels[a].total_cmp(&levels[b])).unwrap_or(low);
        let is_local_peak = apex > low && apex + 1 < end;
        if is_local_peak && (apex as f64 - centre).abs() > 1.2 + wander {
            continue;
        }
        masked[low..end].fill(0.0);
    }
    masked
}

impl<'a> Curve<'a> {
    fn new(spectrum: &'a Spectrum, shaft: f64, highest: f64) -> Self {
        let df = spectrum.df_hz;
        let levels = log_levels(spectrum, shaft);
        let bare = mask_shaft(&levels, df, shaft);
        let step = df / HARMONICS.len() as f64;
        let first = LOWEST_ORDER * shaft;
        let count = ((highest * shaft - first) / step).max(0.0) as usize + 1;
        let middle = first + step * count as f64 / 2.0;
        let mut base = vec![0.0; count];
        let total: f64 = HARMONICS.iter().sum();
        for (weight, k) in HARMONICS.iter().zip(1..) {
            let reach = (1.0 + SPREAD * f64::from(k) * middle / df).round().min(8.0) as usize;
            let wide = widen(&bare, reach);
            for (i, sum) in base.iter_mut().enumerate() {
                let at = f64::from(k) * (first + step * i as f64) / df;
                *sum += weight / total * wide.get(at.round() as usize).unwrap_or(&0.0);
            }
        }
        Self {
            df,
            shaft,
            first,
            step,
            base,
            masked: widen(&bare, 1),
            full: widen(&levels, 1),
            spectrum,
        }
    }

    fn at(&self, levels: &[f64], hz: f64) -> f64 {
        if hz < 0.0 { 0.0 } else { *levels.get((hz / self.df).round() as usize).unwrap_or(&0.0) }
    }

    fn sidebands(&self, spacing_hz: f64) -> Vec<f64> {
        (0..self.base.len())
            .map(|i| {
                let hz = self.first + self.step * i as f64;
                let sum: f64 = [1.0, 2.0]
                    .iter()
                    .map(|k| {
                        let centre = self.at(&self.masked, k * hz);
                        self.at(&self.full, k * hz - spacing_hz).min(centre)
                            + self.at(&self.full, k * hz + spacing_hz).min(centre)
                    })
                    .sum();
                self.base[i] + SIDEBAND_WEIGHT * sum / 4.0
            })
            .collect()
    }

    /// The largest value of a curve within ± tolerance of an order, and at which order.
    fn largest(&self, curve: &[f64], order: f64, tolerance: f64) -> (f64, f64) {
        let index = |o: f64| ((o * self.shaft - self.first) / self.step).max(0.0);
        let low = index(order * (1.0 - tolerance)).ceil() as usize;
        let high = (index(order * (1.0 + tolerance)) as usize + 1).min(curve.len());
        (low..high)
            .max_by(|&a, &b| curve[a].total_cmp(&curve[b]))
            .map_or((0.0, order), |i| (curve[i], (self.first + self.step * i as f64) / self.shaft))
    }

    /// The centre line should be the strongest of centre ± m shaft orders: a sideband of another
    /// part's family is not. dB by which it is not, capped, mean of two harmonics.
    fn ladder_penalty(&self, order: f64, neighbours: &[(f64, f64)]) -> f64 {
        let is_whole = |q: f64| (q - q.round()).abs() <= 0.02;
        let level = |k: f64, m: f64| {
            let q = k * order + m;
            let hz = q * self.shaft;
            let reach = 1.5 + 0.002 * k * order * self.shaft / self.df;
            let low = (hz / self.df - reach).round();
            let high = (hz / self.df + reach).round();
            // Beside a centre that is not itself a shaft multiple, those are no rivals.
            let apart = m.abs() <= 0.0 || is_whole(k * order) || !is_whole(q);
            if low <= 1.0 || q <= 0.3 || !apart || high as usize >= self.spectrum.amplitude.len() {
                return None;
            }
            let peak = self.spectrum.amplitude[low as usize..=high as usize]
                .iter()
                .copied()
                .fold(0.0_f64, f64::max);
            Some(20.0 * (peak + 1e-300).log10())
        };
        [1.0, 2.0]
            .iter()
            .filter_map(|&k| {
                let centre = level(k, 0.0)?;
                let rival = neighbours
                    .iter()
                    .filter_map(|&(m, allowance)| level(k, m).map(|l| l - allowance))
                    .fold(f64::NEG_INFINITY, f64::max);
                Some(0.5 * (rival - centre).clamp(0.0, LADDER_CAP_DB))
            })
            .sum()
    }
}

/// Standing of the three parts in one envelope spectrum.
///
/// **Input** a squared-envelope spectrum up to four harmonics of BPFI, the shaft frequency (Hz).
pub fn standings(spectrum: &Spectrum, shaft_hz: f64, request: &Request) -> Standings {
    let orders = Part::ALL.map(|part| request.orders.of(part.fault()).get());
    let most = orders.iter().copied().fold(0.0_f64, f64::max);
    let highest = HIGHEST_ORDER.max(1.1 * most);
    if spectrum.df_hz <= 0.0 || spectrum.amplitude.len() < 32 {
        return Standings::default();
    }
    let curve = Curve::new(spectrum, shaft_hz, highest);
    let unrelated = unrelated_orders(&orders, highest, request.order_tolerance);
    let tolerance = request.order_tolerance;
    PerPart::from_fn(|part| {
        // each part with the sidebands that its modulation gives it
        let statistic = match part {
            Part::OuterRace => curve.base.clone(),
            Part::InnerRace => curve.sidebands(shaft_hz),
            Part::Ball => curve.sidebands(request.orders.ftf.get() * shaft_hz),
        };
        let null: Vec<f64> =
            unrelated.iter().map(|&o| curve.largest(&statistic, o, tolerance).0).collect();
        let (usual, mad) = median_and_mad(&null).unwrap_or((0.0, 0.0));
        let asked = request.orders.of(part.fault()).get();
        let (value, order) = curve.largest(&statistic, asked, tolerance);
        let far = if part == Part::InnerRace { SECOND_SIDEBAND_DB } else { 0.0 };
        let neighbours = &[(-1.0, 0.0), (1.0, 0.0), (-2.0, far), (2.0, far)];
        let penalty = 0.5 * curve.ladder_penalty(order, neighbours);
        let z = (value - penalty - usual) / (MAD_TO_SIGMA * mad + LEAST_SIGMA_DB);
        Standing { z, order }
    })
}

fn unrelated_orders(orders: &[f64], highest: f64, tolerance: f64) -> Vec<f64> {
    let step = 1.0 + tolerance.max(0.005);
    std::iter::successors(Some(LOWEST_ORDER * 1.02), |o| Some(o * step))
        .take_while(|o| *o < highest / 1.02)
        .filter(|o| {
            orders
                .iter()
                .all(|d| RELATED.iter().all(|r| (o / (d * r) - 1.0).abs() >= 2.2 * tolerance))
        })
        .collect()
}
