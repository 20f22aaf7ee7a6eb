//! The settings of a simulation: machine, bearing, fault and course of the damage.

use pdm_dsp::DefectOrders;
use pdm_shared::fault::Fault;
use pdm_shared::time::Timestamp;
use pdm_shared::units::{Rpm, SampleRate};

/// Most samples of one snapshot and channel: 64 Mi samples of 8 bytes are 512 MiB.
const MAX_SAMPLES: f64 = 64.0 * 1024.0 * 1024.0;

/// A setting is out of its range. The caller reports the error with the option or key of the
/// setting.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{setting} is {got}, allowed is {allowed}")]
pub struct SimulatorError {
    /// The setting, with its unit.
    pub setting: &'static str,
    /// The given value.
    pub got: String,
    /// The allowed values.
    pub allowed: &'static str,
}

/// A simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatorSettings {
    /// Samples per second.
    pub sample_rate: SampleRate,
    /// Mean shaft speed.
    pub speed: Rpm,
    /// Defect orders of the bearing.
    pub orders: DefectOrders,
    /// The element that fails; `None`: the bearing stays healthy in every course.
    pub fault: Option<Fault>,
    /// Course of the damage.
    pub course: Course,
    /// Number of snapshots.
    pub snapshots: u64,
    /// Length of a snapshot, s.
    pub snapshot_s: f64,
    /// Time from the start of one snapshot to that of the next, s.
    pub period_s: f64,
    /// Time of the first snapshot.
    pub started_at: Option<Timestamp>,
    /// Number of sensors; each is farther from the bearing than the one before.
    pub channels: usize,
    /// The machine around the bearing.
    pub rig: Rig,
    /// Seed of the random parts; the same seed gives the same samples.
    pub seed: u64,
}

impl SimulatorSettings {
    /// A run with the defaults: healthy, one 1-s snapshot a minute for five hours, one sensor.
    pub fn new(sample_rate: SampleRate, speed: Rpm, orders: DefectOrders) -> Self {
        Self {
            sample_rate,
            speed,
            orders,
            fault: None,
            course: Course::Constant { severity: 0.0 },
            snapshots: 300,
            snapshot_s: 1.0,
            period_s: 60.0,
            started_at: None,
            channels: 1,
            rig: Rig::default(),
            seed: 1,
        }
    }

    /// Checks all settings.
    ///
    /// # Errors
    /// [`SimulatorError`] with the first setting that is out of its range.
    pub fn check(&self) -> Result<(), SimulatorError> {
        self.checked_samples().map(|_samples| ())
    }

    /// Samples of a snapshot, after all settings were checked.
    pub(super) fn checked_samples(&self) -> Result<usize, SimulatorError> {
        let samples = (self.snapshot_s * self.sample_rate.get()).round();
        if !(1.0..=MAX_SAMPLES).contains(&samples) {
            return Err(SimulatorError {
                setting: "snapshot length (s)",
                got: self.snapshot_s.to_string(),
                allowed: "a length of 1 to 67108864 samples",
            });
        }
        number("period (s)", self.period_s, 0.0, 1e9)?;
        if !(1..=64).contains(&self.channels) {
            let got = self.channels.to_string();
            return Err(SimulatorError { setting: "channels", got, allowed: "1 to 64" });
        }
        self.course.check()?;
        self.rig.check()?;
        Ok(samples as usize)
    }
}

/// The course of the damage over the snapshots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Course {
    /// The same severity in every snapshot, 0 (healthy) to 1 (about to fail).
    Constant {
        /// 0…1.
        severity: f64,
    },
    /// Healthy at first, then growing exponentially to 1 at the last snapshot.
    RunToFailure {
        /// Share of the run without damage, 0 to below 1.
        healthy_share: f64,
        /// Exponent of the growth, above 0: the damage grows `e^growth` times faster at the end
        /// than at its beginning.
        growth: f64,
    },
}

impl Course {
    /// A run to failure as on test rigs: healthy for the first 35 %, then accelerating. The first
    /// sign appears at 55 % of the run in IMS test 2, and between 20 and 99 % in FEMTO's runs; 35 %
    /// lies in between.
    pub const fn run_to_failure() -> Self {
        Self::RunToFailure { healthy_share: 0.35, growth: 4.0 }
    }

    fn check(&self) -> Result<(), SimulatorError> {
        match *self {
            Self::Constant { severity } => number("severity", severity, 0.0, 1.0),
            Self::RunToFailure { healthy_share, growth } => {
                number("healthy share", healthy_share, 0.0, 0.99)?;
                number("growth", growth, 1e-3, 50.0)
            }
        }
    }
}

/// The machine around the bearing. Accelerations in g are at the first sensor.
#[derive(Debug, Clone, PartialEq)]
pub struct Rig {
    /// RMS of the random background of a healthy machine, g.
    pub background_rms_g: f64,
    /// Unbalance: velocity RMS of the shaft's first harmonic, mm/s.
    pub unbalance_rms_mm_s: f64,
    /// Peak of a single impact at the sensor when the damage is largest, g.
    pub impact_peak_g: f64,
    /// Scatter of the angular period between impacts, ratio of the period (1 σ).
    pub slip_jitter_ratio: f64,
    /// Slow wander of the speed, ratio (1 σ between snapshots; half of it within one).
    pub speed_wander_ratio: f64,
    /// A fixed tone of a drive: frequency in Hz and RMS in g.
    pub tone: Option<(f64, f64)>,
    /// Resonances: frequency in Hz, damping ratio, gain. Those above 0.45 of the rate are left out.
    pub resonances: Vec<(f64, f64, f64)>,
}

impl Default for Rig {
    /// A pump of some kilowatts: 0.08 g of background as in IMS, 0.7 mm/s of unbalance (zone A of
    /// ISO 20816-3), housing resonances of 0.9, 2.8 and 5.2 kHz (domain: 0.5–10 kHz).
    fn default() -> Self {
        Self {
            background_rms_g: 0.08,
            unbalance_rms_mm_s: 0.7,
            impact_peak_g: 3.0,
            slip_jitter_ratio: 0.006,
            speed_wander_ratio: 0.001,
            tone: None,
            resonances: vec![(900.0, 0.06, 0.3), (2800.0, 0.04, 1.0), (5200.0, 0.03, 0.7)],
        }
    }
}

impl Rig {
    fn check(&self) -> Result<(), SimulatorError> {
        number("background (g RMS)", self.background_rms_g, 0.0, 1e3)?;
        number("unbalance (mm/s RMS)", self.unbalance_rms_mm_s, 0.0, 1e3)?;
        number("impact peak (g)", self.impact_peak_g, 0.0, 1e4)?;
        number("slip jitter (ratio)", self.slip_jitter_ratio, 0.0, 0.2)?;
        number("speed wander (ratio)", self.speed_wander_ratio, 0.0, 0.1)?;
        if let Some((frequency_hz, rms_g)) = self.tone {
            number("tone frequency (Hz)", frequency_hz, 0.0, 1e6)?;
            number("tone (g RMS)", rms_g, 0.0, 1e3)?;
        }
        for &(frequency_hz, damping, gain) in &self.resonances {
            number("resonance frequency (Hz)", frequency_hz, 1.0, 1e6)?;
            number("resonance damping (ratio)", damping, 1e-4, 0.7)?;
            number("resonance gain", gain, -1e3, 1e3)?;
        }
        Ok(())
    }
}

fn number(setting: &'static str, value: f64, low: f64, high: f64) -> Result<(), SimulatorError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    let allowed = if low < 0.0 { "a finite number" } else { "a finite number in its range" };
    let allowed = match setting {
        "severity" => "0 to 1",
        "healthy share" => "0 to 0.99",
        "slip jitter (ratio)" => "0 to 0.2",
        "speed wander (ratio)" => "0 to 0.1",
        "period (s)" => "0 or more",
        "resonance damping (ratio)" => "0.0001 to 0.7",
        _ => allowed,
    };
    Err(SimulatorError { setting, got: value.to_string(), allowed })
}
