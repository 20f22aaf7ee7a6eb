//! The shaft speed, read from the record itself.
//!
//! A comb of the first six shaft harmonics is laid over the low end of the acceleration spectrum at
//! every speed within the tolerance; the best one is taken if it stands out, else the nominal speed.

use pdm_shared::units::Rpm;

use super::Request;
use super::score::log_levels;
use crate::spectrum::amplitude_spectrum;
use crate::transform::Transforms;

/// Weights of the comb's teeth (chosen: the first carries unbalance, higher ones misalignment).
const TEETH: [f64; 6] = [1.5, 1.0, 1.0, 0.8, 0.8, 0.6];
/// Level from which a comb is believed, dB over the local floor (chosen on CWRU and HIT-SM).
const LEAST_COMB_DB: f64 = 11.0;
/// And how far above the combs of the other speeds, dB (chosen on the same).
const LEAST_LEAD_DB: f64 = 5.0;
/// Levels above this count no more, dB (chosen): one huge line must not make a comb.
const CAP_DB: f64 = 36.0;

/// A shaft speed and where it is from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FoundSpeed {
    /// The speed.
    pub speed: Rpm,
    /// True if the record gave it.
    pub estimated: bool,
}

/// Searches the shaft speed within the request's tolerance.
pub fn search(accel_m_s2: &[f64], request: &Request, transforms: &mut Transforms) -> FoundSpeed {
    let nominal = FoundSpeed { speed: request.speed, estimated: false };
    let shaft_hz = request.speed.shaft_hz();
    let tolerance = request.speed_tolerance;
    if tolerance <= 0.0 {
        return nominal;
    }
    let limit_hz = (TEETH.len() as f64 + 2.0) * shaft_hz * (1.0 + tolerance);
    let spectrum = amplitude_spectrum(accel_m_s2, request.rate.get(), transforms).up_to(limit_hz);
    let levels = log_levels(&spectrum, shaft_hz);
    let peaks = widened(&levels, CAP_DB);
    let step_hz = spectrum.df_hz / (1.5 * TEETH.len() as f64);
    let count = (2.0 * tolerance * shaft_hz / step_hz) as usize + 1;
    let combs: Vec<(f64, f64)> = (0..count)
        .map(|i| shaft_hz * (1.0 - tolerance) + i as f64 * step_hz)
        .map(|hz| (hz, comb(&peaks, hz / spectrum.df_hz)))
        .collect();
    let shifted = |&(hz, level): &(f64, f64)| {
        level - 2.0 * (hz - shaft_hz).abs() / (tolerance.max(1e-9) * shaft_hz)
    };
    let Some(best) = combs.iter().max_by(|a, b| shifted(a).total_cmp(&shifted(b))) else {
        return nominal;
    };
    let values: Vec<f64> = combs.iter().map(|c| c.1).collect();
    let usual = crate::robust::median(&values).unwrap_or(0.0);
    if best.1 < LEAST_COMB_DB || best.1 < usual + LEAST_LEAD_DB {
        return nominal;
    }
    let reach = 2.0 * spectrum.df_hz / TEETH.len() as f64;
    let top: Vec<f64> = combs
        .iter()
        .filter(|c| (c.0 - best.0).abs() < reach && shifted(c) >= shifted(best) - 0.3)
        .map(|c| c.0)
        .collect();
    let centre = top.iter().sum::<f64>() / top.len() as f64;
    Rpm::from_shaft_hz(centre).map_or(nominal, |speed| FoundSpeed { speed, estimated: true })
}

fn widened(levels: &[f64], cap: f64) -> Vec<f64> {
    (0..levels.len())
        .map(|i| {
            let part = &levels[i.saturating_sub(1)..(i + 2).min(levels.len())];
            part.iter().copied().fold(0.0_f64, f64::max).min(cap)
        })
        .collect()
}

fn comb(peaks: &[f64], first: f64) -> f64 {
    let total: f64 = TEETH.iter().sum();
    let sum: f64 = TEETH
        .iter()
        .zip(1..)
        .map(|(w, k)| w * peaks.get((first * f64::from(k)).round() as usize).unwrap_or(&0.0))
        .sum();
    sum / total
}
