//! The shaft speed, read from the record itself.
//!
//! A comb of the first six shaft harmonics is laid over the low end of the acceleration spectrum at
//! every speed within the tolerance; the best one is taken if it stands out, else the nominal speed.

use pdm_shared::units::{Band, Rpm};

use super::Request;
use super::levels::log_levels;
use crate::envelope::{RecordLines, squared_envelope};
use crate::spectrum::{Spectrum, amplitude_spectrum};
use crate::transform::Transforms;

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

/// A shaft speed and where it is from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FoundSpeed {
    /// The speed.
    pub speed: Rpm,
    /// True if the record gave it.
    pub estimated: bool,
    /// The same by the peaks of the teeth that stand, Hz: what a doubtful whole number is held
    /// against.
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
/// turning shaft modulates), are added; the best speed is taken if it stands out in one or in both.
pub fn search(
    accel_m_s2: &[f64],
    record: &RecordLines,
    request: &Request,
    transforms: &mut Transforms,
) -> FoundSpeed {
    let shaft_hz = request.speed.shaft_hz();
    let nominal = FoundSpeed { speed: request.speed, estimated: false, fine_hz: shaft_hz };
    let tolerance = request.speed_tolerance;
    if tolerance <= 0.0 {
        return nominal;
    }
    let limit_hz = (TEETH.len() as f64 + 2.0) * shaft_hz * (1.0 + tolerance);
    let (acceleration, envelope) = low_spectra(accel_m_s2, record, limit_hz, transforms);
    let combs = Combs::new(&acceleration, &envelope, shaft_hz, tolerance);
    let Some(best) = combs.best(shaft_hz, tolerance) else { return nominal };
    let fine_hz = by_peaks(&acceleration, best);
    Rpm::from_shaft_hz(best).map_or(nominal, |speed| FoundSpeed { speed, estimated: true, fine_hz })
}

/// How far the stated speed is sharpened on the comb of shaft lines, as a ratio.
const SHARPENED: f64 = 0.003;
/// How much higher the comb of another speed must stand to be tried beside the stated one, dB.
const OTHER_LEAD_DB: f64 = 3.0;

/// The speeds at which defect orders are tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// Shaft frequencies, Hz; the stated one first.
    pub hz: Vec<f64>,
    /// The stated one as the comb of shaft lines sharpens it, Hz, where that comb stands.
    pub confirmed_hz: Option<f64>,
}

/// The speeds at which defect orders are tried: the stated one, sharpened within 0.3 % where its
/// comb stands, and another within the tolerance whose comb stands 3 dB higher.
///
/// The other never replaces the stated one: the comb of a fault can pose as a shaft's, and a wrong
/// speed moves a line off its order.
pub fn tried(acceleration: &Spectrum, request: &Request) -> Tried {
    let shaft_hz = request.speed.shaft_hz();
    let df = acceleration.df_hz;
    if df <= 0.0 {
        return Tried { hz: vec![shaft_hz], confirmed_hz: None };
    }
    let levels = widened(&log_levels(acceleration, shaft_hz), CAP_DB);
    let (step, reach) = (df / 9.0, request.speed_tolerance * shaft_hz);
    let curve: Vec<(f64, f64)> = (0..=(2.0 * reach / step) as usize)
        .map(|i| shaft_hz - reach + step * i as f64)
        .map(|hz| (hz, comb(&levels, hz / df)))
        .collect();
    let values: Vec<f64> = curve.iter().map(|point| point.1).collect();
    let usual = crate::robust::median(&values).unwrap_or(0.0);
    let clear = LEAST_COMB_DB.max(usual + LEAST_LEAD_DB);
    let near = SHARPENED * shaft_hz + df / 6.0;
    let stated = top_within(&curve, shaft_hz, near, df).unwrap_or((shaft_hz, 0.0));
    let confirmed_hz = (stated.1 >= clear).then_some(stated.0);
    let mut hz = vec![confirmed_hz.unwrap_or(shaft_hz)];
    if let Some(other) = top_within(&curve, shaft_hz, f64::INFINITY, df)
        && other.1 >= clear.max(stated.1 + OTHER_LEAD_DB)
    {
        hz.push(other.0);
    }
    Tried { hz, confirmed_hz }
}

/// Middle and value of the top of a curve within `reach` of a frequency.
fn top_within(curve: &[(f64, f64)], hz: f64, reach: f64, df: f64) -> Option<(f64, f64)> {
    let inside = curve.iter().filter(|point| (point.0 - hz).abs() <= reach);
    let top = inside.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let is_top = |point: &&(f64, f64)| point.1 >= top.1 - 0.3 && (point.0 - top.0).abs() < df / 3.0;
    let held: Vec<f64> = curve.iter().filter(is_top).map(|point| point.0).collect();
    Some((held.iter().sum::<f64>() / held.len() as f64, top.1))
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
        Self { values, df_hz }
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

/// The shaft frequency that fits the peaks of the comb's standing teeth best, Hz: least squares over
/// `k` times the shaft. A comb of few teeth alone leaves it open by half a line.
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

fn comb(peaks: &[f64], first: f64) -> f64 {
    let total: f64 = TEETH.iter().sum();
    let sum: f64 = TEETH
        .iter()
        .zip(1..)
        .map(|(w, k)| w * peaks.get((first * f64::from(k)).round() as usize).unwrap_or(&0.0))
        .sum();
    sum / total
}
