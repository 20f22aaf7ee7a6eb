//! Signal quality: whether a window can be judged (R-EDGE-5).
//!
//! Third stage of the flow, before any feature, so that a bad window is never judged as a fault and
//! never enters a baseline. [`assess`] gives an answer for all samples.
//!
//! Some flags only inform ([`QualityFlag::TooShort`], a few clipped samples, a sensor that drifts a
//! little); the others make the window invalid. The thresholds were measured over the *313
//! recordings*: channels and snapshots of CWRU, MFPT, IMS, FEMTO, HIT-SM and UESTC, none of which
//! may be invalid. The worst figure of these recordings is given with each threshold.

use pdm_shared::event::{QualityFlag, SignalQuality};
use pdm_shared::units::{M_S2_PER_G, Rpm, SampleRate};

mod level;
mod slope;

use level::Level;

/// Shaft turns that the thorough path needs to name a fault.
const LEAST_TURNS: f64 = pdm_dsp::diagnose::LEAST_TURNS;

/// Share of samples at the converter's limits above which a window is invalid. Record 236 of CWRU
/// clips 0.003 % of its samples, and Smith & Randall 2015 grade it diagnosable; 1 % is far above.
const GROSS_CLIPPING_SHARE: f64 = 0.01;

/// Share of samples equal to the one before above which a window is a flat line. Worst of the 313
/// recordings: 0.05.
const FLAT_SHARE: f64 = 0.98;

/// Number of equal samples in a row that count as a drop-out. Worst of the 313 recordings: 4.
const DROP_OUT_SAMPLES: usize = 16;

/// Change of the mean within the window, as a multiple of the vibration's RMS: above the first
/// figure a drift is flagged, above the second the window is invalid. Worst of the 313 recordings:
/// 0.73 (IMS), which is flagged and stays valid.
const DRIFT: (f64, f64) = (0.5, 2.0);

/// Level below which a machine counts as stopped, g RMS: the noise of an industrial accelerometer
/// with integrated electronics. Lowest of the 313 recordings: 0.0003 (HIT-SM, in another unit).
const SENSOR_NOISE_G: f64 = 0.0002;

/// Level, g RMS, and number of converter steps below both of which the machine counts as stopped.
/// IMS shows 0.002 g and one step when stopped, and 30 steps and more when running.
const STANDSTILL: (f64, f64) = (0.005, 4.0);

/// Allowed difference between the window's length by its samples and by the clock, ratio. Crystal
/// oscillators are better than 0.01 %, and the network's jitter on a 1-s window is below 1 %.
const RATE_TOLERANCE: f64 = 0.02;

/// Acceleration above which a window is implausible, g: chosen; the largest shocks that
/// accelerometers for machines are rated to measure are 500 g, and the highest peak of the 313
/// recordings is below 60 g.
const MOST_G: f64 = 1000.0;

/// Velocity RMS above which a window is implausible, mm/s: chosen; 20 times the limit to zone D of
/// the largest machines (ISO 20816-3: 11 mm/s). Samples in mg that are read as g lie above it from
/// 0.2 mm/s on.
const MOST_MM_S: f64 = 220.0;

/// Acceleration RMS from which on a velocity of [`MOST_MM_S`] is possible, m/s²: a sine of 10 Hz,
/// the lower end of the velocity's band, has 2π × 10 Hz × 1 m/s. The velocity is computed only
/// above.
const POSSIBLE_M_S2: f64 = 2.0 * std::f64::consts::PI * 10.0 * MOST_MM_S / 1000.0;

/// Share of lost samples above which a window is invalid. Chosen: a lost sample shifts the phase of
/// what follows, and with one in a thousand a recording has some hundred shifts.
const LOST_SHARE: f64 = 0.001;

/// Jitter of the time from sample to sample above which the rate is flagged, ratio. Chosen: above a
/// tenth the upper half of the spectrum is noise.
const MOST_JITTER: f64 = 0.1;

/// The context of a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QualityContext {
    /// Samples per second.
    pub sample_rate: SampleRate,
    /// Shaft speed, if known.
    pub speed: Option<Rpm>,
    /// RMS below which this machine counts as stopped, g; `None`: the noise of the sensor decides.
    pub machine_off_rms_g: Option<f64>,
    /// Largest acceleration that sensor and converter can measure, g.
    pub full_scale_g: Option<f64>,
    /// Length of the window by the clock, s, for live sources.
    pub elapsed_s: Option<f64>,
    /// The rate of a live source, measured over minutes, is too far from the configured one.
    pub is_wrong_rate: bool,
    /// The sensor repeats the samples of the windows before.
    pub is_frozen: bool,
    /// Samples that the time column of the recording shows to be lost.
    pub lost_samples: u64,
    /// How often the times of the recording's column step back.
    pub time_steps_back: u64,
    /// Jitter of the recording's time column, ratio.
    pub jitter_ratio: f64,
}

impl QualityContext {
    /// A context with only the sampling rate.
    pub const fn new(sample_rate: SampleRate) -> Self {
        Self {
            sample_rate,
            speed: None,
            machine_off_rms_g: None,
            full_scale_g: None,
            elapsed_s: None,
            is_wrong_rate: false,
            is_frozen: false,
            lost_samples: 0,
            time_steps_back: 0,
            jitter_ratio: 0.0,
        }
    }
}

/// The quality of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quality {
    /// The event's block.
    pub signal: SignalQuality,
    /// False if the machine is stopped.
    pub is_running: bool,
}

impl Quality {
    fn of(mut found: Vec<(QualityFlag, bool)>) -> Self {
        found.sort_unstable();
        let valid = !found.iter().any(|&(_, spoils)| spoils);
        let flags: Vec<QualityFlag> = found.into_iter().map(|(flag, _)| flag).collect();
        let is_running = !flags.contains(&QualityFlag::MachineOff);
        Self { signal: SignalQuality { valid, flags }, is_running }
    }
}

impl Quality {
    /// The quality of a window whose machine stands, as another system tells.
    #[must_use]
    pub(crate) fn of_standstill(mut self) -> Self {
        if !self.signal.flags.contains(&QualityFlag::MachineOff) {
            self.signal.flags.push(QualityFlag::MachineOff);
            self.signal.flags.sort_unstable();
        }
        self.signal.valid = false;
        self.is_running = false;
        self
    }
}

/// Judges a window of one channel.
///
/// **Input** acceleration, m/s², any number of samples. **Output** the flags in their order, and
/// whether the window is valid.
pub fn assess(accel_m_s2: &[f64], context: &QualityContext) -> Quality {
    let mut found = Vec::new();
    let rate_hz = context.sample_rate.get();
    let duration_s = accel_m_s2.len() as f64 / rate_hz;
    let has_too_few = accel_m_s2.len() < pdm_dsp::diagnose::LEAST_SAMPLES;
    if has_too_few || context.speed.is_some_and(|s| duration_s * s.shaft_hz() < LEAST_TURNS) {
        // with too few turns no fault can be named, but levels can be followed; too few samples
        // make the window invalid
        found.push((QualityFlag::TooShort, has_too_few));
    }
    let is_wrong = context.elapsed_s.is_some_and(|elapsed| is_wrong_rate(duration_s, elapsed));
    if is_wrong || context.is_wrong_rate {
        found.push((QualityFlag::WrongRate, true));
    } else if let Some(spoils) = time_column_fault(accel_m_s2.len(), context) {
        found.push((QualityFlag::WrongRate, spoils));
    }
    let Some(level) = Level::of(accel_m_s2) else {
        if !accel_m_s2.is_empty() {
            found.push((QualityFlag::NotFinite, true));
        }
        return Quality::of(found);
    };
    if is_implausible(accel_m_s2, &level, context.sample_rate) {
        found.push((QualityFlag::Implausible, true));
    }
    // samples that are not measured anew say as little as none
    if level.is_flat() || context.is_frozen {
        found.push((QualityFlag::FlatLine, true));
        return Quality::of(found);
    }
    if is_standing(&level, context.machine_off_rms_g) {
        found.push((QualityFlag::MachineOff, true));
        return Quality::of(found);
    }
    found.extend(clipping(accel_m_s2, &level, context.full_scale_g));
    if level.longest_run >= DROP_OUT_SAMPLES {
        found.push((QualityFlag::DropOut, true));
    }
    found.extend(drift(accel_m_s2));
    if slope::is_ski_slope(accel_m_s2, rate_hz) {
        found.push((QualityFlag::SkiSlope, true));
    }
    Quality::of(found)
}

/// Whether the time column shows a fault, and whether the fault spoils the window.
fn time_column_fault(samples: usize, context: &QualityContext) -> Option<bool> {
    let lost = context.lost_samples as f64;
    let is_shaky = context.jitter_ratio > MOST_JITTER;
    // a clock that was set tells nothing of the samples themselves
    let is_set_back = context.time_steps_back > 0;
    (lost > 0.0 || is_shaky || is_set_back).then_some(lost > LOST_SHARE * samples as f64)
}

fn is_implausible(accel_m_s2: &[f64], level: &Level, rate: SampleRate) -> bool {
    if level.max.max(-level.min) > MOST_G * M_S2_PER_G {
        return true;
    }
    level.rms > POSSIBLE_M_S2 && {
        let mut transforms = pdm_dsp::transform::Transforms::new();
        pdm_dsp::integrate::velocity_rms_mm_s(accel_m_s2, rate, &mut transforms)
            .is_some_and(|velocity| velocity > MOST_MM_S)
    }
}

fn is_wrong_rate(duration_s: f64, elapsed_s: f64) -> bool {
    !(elapsed_s.is_finite() && (duration_s - elapsed_s).abs() <= RATE_TOLERANCE * elapsed_s)
}

fn is_standing(level: &Level, configured_g: Option<f64>) -> bool {
    let rms_g = level.rms / M_S2_PER_G;
    configured_g.map_or_else(
        || {
            rms_g < SENSOR_NOISE_G
                || (rms_g < STANDSTILL.0 && level.rms < STANDSTILL.1 * level.step)
        },
        |configured_g| rms_g < configured_g,
    )
}

/// Clipped samples: more samples at an extreme than an unclipped signal has there.
///
/// A sine has at its peak 0.8 times as many samples (one converter step) as in the 2 % of the range
/// below it; noise has fewer; a limited signal has several times as many.
fn clipping(
    accel: &[f64],
    level: &Level,
    full_scale_g: Option<f64>,
) -> Option<(QualityFlag, bool)> {
    let range = level.max - level.min;
    let at = (level.step / 2.0).max(1e-6 * range);
    // with few and coarse converter steps the near range must still be wider than the extreme
    // itself
    let near = (0.02 * range).max(2.0 * at);
    let count = |within: f64, distance: &dyn Fn(f64) -> f64| {
        accel.iter().filter(|&&x| distance(x) <= within).count()
    };
    let from_top = |x: f64| level.max - x;
    let from_bottom = |x: f64| x - level.min;
    let (top, bottom) = (count(at, &from_top), count(at, &from_bottom));
    let near_top = count(near, &from_top) - top;
    let near_bottom = count(near, &from_bottom) - bottom;
    let is_limit = |at: usize, near: usize| at >= 8 && at > 4 * near;
    let is_gross = is_limit(top, near_top) || is_limit(bottom, near_bottom);
    // spikes that are cut at the same level above and below show the limits of the converter
    let is_symmetric = (level.max + level.min).abs() <= 4.0 * at;
    let is_some =
        is_symmetric && top >= 2 && bottom >= 2 && top >= near_top && bottom >= near_bottom;
    let is_beyond =
        full_scale_g.is_some_and(|g| level.max.max(-level.min) >= 0.999 * g.abs() * M_S2_PER_G);
    let share = (top + bottom) as f64 / accel.len() as f64;
    (is_gross || is_some || is_beyond)
        .then_some((QualityFlag::Clipping, share > GROSS_CLIPPING_SHARE))
}

/// A mean that changes. A steady one is an offset, such as gravity on an upright axis, and takes
/// nothing from the vibration around it.
fn drift(accel: &[f64]) -> Option<(QualityFlag, bool)> {
    let (wander, vibration) = level::wander(accel);
    if wander > DRIFT.0 * vibration {
        return Some((QualityFlag::DcDrift, wander > DRIFT.1 * vibration));
    }
    None
}

#[cfg(test)]
mod tests;
