//! The event (`pdm.event/1`): the edge's findings in one window of one measuring point.
//!
//! `null` means "not measured"; a number is never NaN or infinite. Field names, nesting and value
//! sets are the contract: a field may be added in a minor version, none may change its meaning.
//! Accelerations are in g, velocities in mm/s; the field's name says peak or RMS.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds::{LINE_PATTERN, MAX_CONTRIBUTORS, MAX_FLAGS, MAX_LINE, MAX_WORD};
use crate::id::{
    BearingId, BearingKey, Epoch, EquipmentId, EventId, GatewayId, GatewayKey, MeasuringPoint,
    SiteId,
};
use crate::time::Timestamp;

mod change;
mod check;
pub mod feature;
mod frequency_domain;
mod input;
mod spectra;
mod timing;
mod trend;

pub use change::{Change, ChangeKind};
pub use check::EventError;
pub use frequency_domain::{
    BearingEstimate, DefectLine, FrequencyDomain, Harmonic, Method, OpenDamage, SecondFault,
    Sidebands, StoodLine,
};
pub use input::{InputDescription, StatementSource};
pub use spectra::{MAX_SPECTRUM_LINES, Spectra, SpectrumLines};
pub use timing::{PeriodChange, Timing};
pub use trend::{Rul, Trend, TrendDirection};

/// The value of `schema` that this program writes and reads.
pub const EVENT_SCHEMA: &str = "pdm.event/1";

/// Highest sequence number: 2^53 - 1, the largest integer that every reader of JSON keeps exactly
/// (RFC 7493, section 2.2). At 1,000 events a second a gateway reaches it after 285,000 years.
pub const HIGHEST_SEQUENCE: u64 = (1 << 53) - 1;

/// One window of one measuring point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Always [`EVENT_SCHEMA`].
    pub schema: String,
    /// The de-duplication key.
    pub event_id: EventId,
    /// The gateway that measured.
    pub gateway_id: GatewayId,
    /// Sequence number of the event at its gateway: from 1, without gaps.
    pub sequence: u64,
    /// Identity of the count that `sequence` belongs to; absent in events of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<Epoch>,
    /// Site of the machine.
    pub site: SiteId,
    /// The machine.
    pub equipment_id: EquipmentId,
    /// The bearing.
    pub bearing_id: BearingId,
    /// Location of the sensor; `null` if the bearing has one sensor without a name.
    #[serde(default)]
    pub measuring_point: Option<MeasuringPoint>,
    /// Start of the window, UTC.
    pub measured_at: Timestamp,
    /// Whether the event was sent late, out of the spool.
    pub replayed: bool,
    /// Seconds between the end of the window and its sending, where `replayed`; else 0.
    pub delayed_s: f64,
    /// The samples behind the event.
    pub window: Window,
    /// State of the machine during the window.
    pub operating: Operating,
    /// Whether the signal can be judged.
    pub signal_quality: SignalQuality,
    /// The anomaly flag after persistence and hysteresis.
    pub anomaly_detected: bool,
    /// The evidence for the anomaly flag.
    pub anomaly: Anomaly,
    /// A change of the machine or its mounting that this window completed the evidence for; absent
    /// in all other events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// A change of the gateway's clock or of the time from window to window, noticed with this
    /// window; absent in all other events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
    /// How the samples were read from a file; absent in events of streams and devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<InputDescription>,
    /// Statistics of the waveform.
    pub time_domain: TimeDomain,
    /// The four defect frequencies.
    pub frequency_domain: FrequencyDomain,
    /// Slope over hours and days.
    pub trend: Trend,
    /// Remaining useful life.
    pub rul: Rul,
    /// The spectra on which the verdict rests; sent on anomaly, when the baseline is complete, and
    /// at least hourly.
    #[serde(default)]
    pub spectra: Option<Spectra>,
}

/// The samples behind an event.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Number of samples.
    pub samples: u64,
    /// Samples per second.
    pub sampling_rate_hz: f64,
    /// Samples per second as the gateway's clock measured them at a live source. The lines are
    /// measured with this rate; absent where no rate was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_rate_hz: Option<f64>,
    /// Length of the window, s.
    pub duration_s: f64,
}

/// State of the machine during the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Operating {
    /// Whether the shaft turned.
    pub running: bool,
    /// Shaft speed used for the orders, rpm.
    pub shaft_speed_rpm: Option<f64>,
    /// Source of the shaft speed.
    pub speed_source: SpeedSource,
    /// What the speed rests on beside its source; absent where the source says all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed_basis: Option<SpeedBasis>,
    /// The speed that was configured or told by another system, rpm, where `speed_basis` is
    /// `learnt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_speed_rpm: Option<f64>,
    /// Operating state (speed or load bin) whose baseline applies.
    #[serde(default = "default_state")]
    #[schemars(length(max = MAX_LINE), regex(pattern = LINE_PATTERN))]
    pub state: String,
    /// Temperature of the bearing, °C; absent where nothing measures it. No judgement rests on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<f64>,
}

fn default_state() -> String {
    "default".to_owned()
}

/// Source of a shaft speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpeedSource {
    /// A number in the configuration or on the command line.
    Configured,
    /// A tachometer or keyphasor channel.
    Tachometer,
    /// A value from another system.
    Tag,
    /// An estimate from the spectrum.
    Estimated,
}

/// What a shaft speed rests on beside its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpeedBasis {
    /// The windows that the baseline was learnt from: the shaft turns at another speed than the
    /// stated one.
    Learnt,
}

/// Quality of the signal in a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignalQuality {
    /// Whether the window may be judged. If false, it is never judged as a fault and never part of
    /// a baseline.
    pub valid: bool,
    /// The defects found in the signal; some flags only inform, others make the window invalid.
    #[schemars(length(max = MAX_FLAGS))]
    pub flags: Vec<QualityFlag>,
}

/// Defects of a signal (R-EDGE-5).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum QualityFlag {
    /// NaN or infinite samples.
    NotFinite,
    /// Samples stuck at the converter's limits.
    Clipping,
    /// Hardly any movement in the whole window: cable or power.
    FlatLine,
    /// A stretch of identical samples inside a moving signal.
    DropOut,
    /// The mean moves during the window.
    DcDrift,
    /// Level falls off from the lowest frequencies on: loose mount or saturated amplifier.
    SkiSlope,
    /// More or fewer samples than sampling rate and time allow.
    WrongRate,
    /// The machine is not running.
    MachineOff,
    /// The window is too short for the analysis (fewer than 15 shaft turns, for example).
    TooShort,
    /// Levels that no bearing reaches: unit or scale of the samples are wrong.
    Implausible,
}

/// The anomaly judgement of the edge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Anomaly {
    /// Anomaly score: 0 as in the baseline … 1 far outside.
    pub score: Option<f64>,
    /// The features that contribute to the score, strongest first.
    #[schemars(length(max = MAX_CONTRIBUTORS), inner(length(max = MAX_WORD)))]
    pub contributors: Vec<String>,
    /// Number of the last windows that were outside the baseline.
    pub persistence: Persistence,
    /// The baseline that the window was compared with.
    pub baseline: Baseline,
    /// How far the vibration stands above its baseline: the median of the latest windows over the
    /// healthy level, of the level feature that is highest; absent while nothing is learnt, and in
    /// events of before this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level_ratio: Option<f64>,
}

/// `k` of the last `n` windows were outside the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Persistence {
    /// Number of windows outside the baseline.
    pub k: u32,
    /// Number of windows considered.
    pub n: u32,
}

/// The state of a baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Baseline {
    /// Whether the baseline is complete.
    pub state: BaselineState,
    /// Number of windows learnt so far.
    pub windows: u64,
}

/// Whether a baseline is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BaselineState {
    /// Still collecting healthy windows.
    Learning,
    /// Complete: windows are compared with it.
    Ready,
}

/// Statistics of the waveform, acceleration in g unless named otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeDomain {
    /// RMS of the acceleration without its mean.
    pub rms_g: Option<f64>,
    /// Largest magnitude of the acceleration.
    pub peak_g: Option<f64>,
    /// Largest minus smallest acceleration.
    pub peak_to_peak_g: Option<f64>,
    /// Peak / RMS.
    pub crest_factor: Option<f64>,
    /// Fourth standardised moment, raw: Gaussian = 3.
    pub kurtosis: Option<f64>,
    /// Third standardised moment.
    pub skewness: Option<f64>,
    /// RMS / mean magnitude.
    pub shape_factor: Option<f64>,
    /// Peak / mean magnitude.
    pub impulse_factor: Option<f64>,
    /// Peak / squared mean of square roots of magnitudes.
    pub clearance_factor: Option<f64>,
    /// RMS of the envelope's variation in the envelope band.
    pub envelope_rms_g: Option<f64>,
    /// Velocity RMS in 10–1000 Hz (ISO 20816-1).
    pub velocity_rms_mm_s: Option<f64>,
    /// RMS of the acceleration in the same band, told where the window is too short for a velocity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low_band_rms_g: Option<f64>,
    /// Evaluation zone of the configured table.
    pub iso_zone: Option<IsoZone>,
}

/// Evaluation zone A–D (ISO 20816-1, 6.3).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum IsoZone {
    /// Newly commissioned.
    A,
    /// Unrestricted long-term operation.
    B,
    /// Limited time only.
    C,
    /// May cause damage.
    D,
}

impl Event {
    /// The full name of the gateway that the event names.
    pub fn gateway(&self) -> GatewayKey {
        GatewayKey::new(self.site.clone(), self.gateway_id.clone())
    }

    /// The full name of the bearing that was measured.
    pub fn key(&self) -> BearingKey {
        BearingKey {
            site: self.site.clone(),
            equipment: self.equipment_id.clone(),
            bearing: self.bearing_id.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
