//! The shaft speed, read from the record itself.
//!
//! A comb of the first six shaft harmonics is laid over the low end of the acceleration spectrum at
//! every speed within the tolerance; the best one is taken if it stands out, else the nominal
//! speed.

use pdm_shared::units::{Band, Rpm};

use super::levels::log_levels;
use super::{DEFAULT_SPEED_TOLERANCE, Request};
use crate::envelope::{RecordLines, squared_envelope};
use crate::spectrum::{Spectrum, amplitude_spectrum};
use crate::transform::Transforms;

mod mean;
mod tried;

pub(super) use mean::DIFFERS;
pub use mean::SpeedMean;
use tried::leads_as_part;
pub use tried::{SpeedFit, Tried, tried};

/// Weights of the comb's teeth (chosen: the first carries unbalance, higher ones misalignment).
const TEETH: [f64; 6] = [1.5, 1.0, 1.0, 0.8, 0.8, 0.6];
/// Level from which a comb is believed, dB over the local floor (chosen on CWRU and HIT-SM).
const LEAST_COMB_DB: f64 = 11.0;
/// And how far above the combs of the other speeds, dB (chosen on the same).
const LEAST_LEAD_DB: f64 = 5.0;
/// Lines to either side of a tooth's place among which its peak is (chosen: a comb is found within
/// one and a half).
const TOOTH_REACH: f64 = 2.0;
/// Levels above this count no more, dB (chosen): one huge line must not make a comb.
const CAP_DB: f64 = 36.0;

/// How far from the stated speed a comb of shaft lines is believed here, as a ratio: beyond,
/// [`tried`] asks for more of it.
const NEAR_STATED: f64 = 0.02;

/// Levels of the six teeth of a comb, dB.
type Teeth = [f64; TEETH.len()];

/// A shaft speed and where it is from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FoundSpeed {
    /// The speed.
    pub speed: Rpm,
    /// True if the record gave it.
    pub estimated: bool,
    /// The frequency by the peaks of the teeth that stand, Hz, with which a doubtful whole number
    /// is compared.
    pub fine_hz: f64,
}

impl FoundSpeed {
    /// This speed, or the one at which a named part's lines were found if that is another.
    #[must_use]
    pub fn or_at(self, shaft_hz: f64) -> Self {
        let is_same = (self.speed.shaft_hz() / shaft_hz - 1.0).abs() <= SAME;
        if is_same {
            return self;
        }
        Rpm::from_shaft_hz(shaft_hz).map_or(self, |speed| Self {
            speed,
            estimated: true,
            fine_hz: shaft_hz,
        })
    }
}

/// Two speeds this close, as a ratio, are one: a tenth of what slip leaves open.
const SAME: f64 = 0.001;

/// Searches the shaft speed within the request's tolerance: two combs, one on the acceleration
/// spectrum (unbalance, misalignment), one on the envelope of the whole band (everything that the
/// turning shaft modulates), are added; the best speed is taken if it stands out in one or in both,
/// and is no part's line that poses as a shaft. Where another speed than the stated one was
/// `tried`, that is the speed.
pub fn search(
    accel_m_s2: &[f64],
    record: &RecordLines,
    (request, tried): (&Request, &Tried),
    transforms: &mut Transforms,
) -> FoundSpeed {
    let shaft_hz = request.speed.shaft_hz();
    let nominal = FoundSpeed { speed: request.speed, estimated: false, fine_hz: shaft_hz };
    if let Some(hz) = tried.hz.first().filter(|_| tried.fit == SpeedFit::Other) {
        return nominal.or_at(*hz);
    }
    let is_declared = request.speed_tolerance > DEFAULT_SPEED_TOLERANCE;
    let most = if is_declared { request.speed_tolerance } else { NEAR_STATED };
    let tolerance = request.speed_tolerance.min(most);
    if tolerance <= 0.0 {
        return nominal;
    }
    let limit_hz = (TEETH.len() as f64 + 2.0) * shaft_hz * (1.0 + tolerance);
    let (acceleration, envelope) = low_spectra(accel_m_s2, record, limit_hz, transforms);
    let combs = Combs::new(&acceleration, &envelope, shaft_hz, tolerance);
    let Some(best) = combs.best(shaft_hz, tolerance) else { return nominal };
    let (acceleration_db, envelope_db) = combs.teeth_at(best);
    if [acceleration_db, envelope_db].iter().any(|teeth| leads_as_part(teeth, request)) {
        return nominal;
    }
    let fine_hz = by_peaks(&acceleration, best);
    Rpm::from_shaft_hz(best).map_or(nominal, |speed| FoundSpeed { speed, estimated: true, fine_hz })
}

/// Acceleration spectrum and envelope spectrum of the whole band, whole-record resolution.
fn low_spectra(
    accel_m_s2: &[f64],
    record: &RecordLines,
    limit_hz: f64,
    transforms: &mut Transforms,
) -> (Spectrum, Spectrum) {
    let acceleration = amplitude_spectrum(accel_m_s2, record.rate_hz, transforms).up_to(limit_hz);
    let envelope = Band::new(0.0, record.rate_hz / 2.0).map_or_else(
        |_| Spectrum::default(),
        |band| {
            let squared = squared_envelope(record, band, transforms);
            crate::envelope::envelope_spectrum(&squared, limit_hz, transforms)
        },
    );
    (acceleration, envelope)
}

struct Combs {
    /// Shaft frequency, comb on the acceleration, comb on the envelope.
    values: Vec<(f64, f64, f64)>,
    df_hz: f64,
    /// Levels of the acceleration and of the envelope, and the distance of the latter's lines, Hz.
    levels: (Vec<f64>, Vec<f64>),
    envelope_df_hz: f64,
}

impl Combs {
    fn new(acceleration: &Spectrum, envelope: &Spectrum, shaft_hz: f64, tolerance: f64) -> Self {
        let on_acceleration = widened(&log_levels(acceleration, shaft_hz), CAP_DB);
        let on_envelope = widened(&log_levels(envelope, shaft_hz), CAP_DB);
        let df_hz = acceleration.df_hz;
        let step_hz = df_hz / (1.5 * TEETH.len() as f64);
        let count = (2.0 * tolerance * shaft_hz / step_hz) as usize + 1;
        let values = (0..count)
            .map(|i| shaft_hz * (1.0 - tolerance) + i as f64 * step_hz)
            .map(|hz| {
                let a = comb(&on_acceleration, hz / df_hz);
                (hz, a, comb(&on_envelope, hz / envelope.df_hz.max(1e-12)))
            })
            .collect();
        let envelope_df_hz = envelope.df_hz.max(1e-12);
        Self { values, df_hz, levels: (on_acceleration, on_envelope), envelope_df_hz }
    }

    /// The teeth at a shaft frequency on the acceleration and on the envelope, dB.
    fn teeth_at(&self, hz: f64) -> (Teeth, Teeth) {
        let (acceleration, envelope) = &self.levels;
        (teeth(acceleration, hz / self.df_hz), teeth(envelope, hz / self.envelope_df_hz))
    }

    fn best(&self, shaft_hz: f64, tolerance: f64) -> Option<f64> {
        let together = |c: &(f64, f64, f64)| c.1 + c.2;
        // A mild pull to the nominal speed decides between equals.
        let shifted = |c: &(f64, f64, f64)| {
            together(c) - 2.0 * (c.0 - shaft_hz).abs() / (tolerance * shaft_hz)
        };
        let best = self.values.iter().max_by(|a, b| shifted(a).total_cmp(&shifted(b)))?;
        let usual = |pick: fn(&(f64, f64, f64)) -> f64| {
            let all: Vec<f64> = self.values.iter().map(pick).collect();
            crate::robust::median(&all).unwrap_or(0.0)
        };
        let stands =
            |level: f64, usual: f64| level >= LEAST_COMB_DB && level >= usual + LEAST_LEAD_DB;
        let one = stands(best.1, usual(|c| c.1)) || stands(best.2, usual(|c| c.2));
        let both = together(best) >= 1.5 * LEAST_COMB_DB
            && together(best) >= usual(|c| c.1 + c.2) + 1.5 * LEAST_LEAD_DB;
        if !(one || both) {
            return None;
        }
        let reach = 2.0 * self.df_hz / TEETH.len() as f64;
        let top: Vec<f64> = self
            .values
            .iter()
            .filter(|c| (c.0 - best.0).abs() < reach && shifted(c) >= shifted(best) - 0.3)
            .map(|c| c.0)
            .collect();
        Some(top.iter().sum::<f64>() / top.len() as f64)
    }
}

/// The shaft frequency that fits the peaks of the comb's standing teeth best, Hz: least squares
/// over `k` times the shaft. A comb of few teeth alone leaves it open by half a line.
fn by_peaks(acceleration: &Spectrum, shaft_hz: f64) -> f64 {
    let levels = log_levels(acceleration, shaft_hz);
    let (mut sum, mut weight) = (0.0, 0.0);
    for k in (1..=TEETH.len()).map(|k| k as f64) {
        let Some((at, level)) = acceleration.peak_at(&levels, k * shaft_hz, TOOTH_REACH) else {
            continue;
        };
        if level >= LEAST_COMB_DB {
            sum += k * at;
            weight += k * k;
        }
    }
    if weight > 0.0 { sum / weight } else { shaft_hz }
}

fn widened(levels: &[f64], cap: f64) -> Vec<f64> {
    (0..levels.len())
        .map(|i| {
            let part = &levels[i.saturating_sub(1)..(i + 2).min(levels.len())];
            part.iter().copied().fold(0.0_f64, f64::max).min(cap)
        })
        .collect()
}

fn teeth(peaks: &[f64], first: f64) -> Teeth {
    std::array::from_fn(|k| *peaks.get((first * (k + 1) as f64).round() as usize).unwrap_or(&0.0))
}

fn comb(peaks: &[f64], first: f64) -> f64 {
    let total: f64 = TEETH.iter().sum();
    TEETH.iter().zip(teeth(peaks, first)).map(|(w, level)| w * level).sum::<f64>() / total
}

#[cfg(test)]
mod tests;
