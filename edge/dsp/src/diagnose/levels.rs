//! Levels of spectrum lines over their local floor, and the shaft's own lines taken out of them.

use crate::robust::running_floor;
use crate::spectrum::Spectrum;

/// Levels above this count no more, dB (chosen): one huge line is not a family.
const CAP_DB: f64 = 24.0;
/// How far the speed may wander within a record, as a ratio: shaft lines are masked that much wider
/// (chosen; at most 0.06 orders).
const MASK_WANDER: f64 = 0.0003;

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

/// Each level, or the largest within `reach` lines, at most [`CAP_DB`].
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

/// Takes the shaft's own lines out: the neighbourhood of every multiple of the shaft frequency
/// whose peak stands at the multiple itself. A peak that stands beside it, as far as the resolution
/// tells, is another line and stays.
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
