//! The event (`pdm.event/1`): the edge's findings in one window of one measuring point.
//!
//! `null` means "not measured"; a number is never NaN or infinite. Field names, nesting and value
//! sets are the contract: a field may be added in a minor version, none may change its meaning.
//! Accelerations are in g, velocities in mm/s; the field's name says peak or RMS.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds::{LINE_PATTERN, MAX_CONTRIBUTORS, MAX_FLAGS, MAX_HARMONICS, MAX_LINE, MAX_WORD};
use crate::fault::Fault;
use crate::id::{
    BearingId, BearingKey, Epoch, EquipmentId, EventId, GatewayId, GatewayKey, MeasuringPoint,
    SiteId,
};
use crate::time::Timestamp;

mod change;
mod check;
pub mod feature;
mod input;
mod timing;

pub use change::{Change, ChangeKind};
pub use check::EventError;
pub use input::{InputDescription, StatementSource};
pub use timing::{PeriodChange, Timing};

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
    /// A change of the gateway's clock or of the time from window to window, noticed with this window;
    /// absent in all other events.
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

/// The four defect frequencies and the verdict on them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FrequencyDomain {
    /// Method of the measurement: `fast` in every window, `thorough` on learning, anomaly and
    /// schedule.
    #[serde(default)]
    pub method: Method,
    /// Band whose envelope was analysed, `[low, high]`.
    pub envelope_band_hz: Option<[f64; 2]>,
    /// Median amplitude of the acceleration spectrum in `envelope_band_hz`.
    #[serde(default)]
    pub noise_floor_g: Option<f64>,
    /// Ball pass frequency, outer race.
    pub bpfo: DefectLine,
    /// Ball pass frequency, inner race.
    pub bpfi: DefectLine,
    /// Ball spin frequency (1×); its harmonics count multiples of 2×BSF, where a defect shows.
    pub bsf: DefectLine,
    /// Fundamental train (cage) frequency.
    pub ftf: DefectLine,
    /// The named fault; `null` if none is named.
    pub dominant_fault: Option<Fault>,
    /// Confidence in the named fault, 0…1: of claims made with confidence c, a share c is right.
    pub confidence: f64,
    /// A second fault whose own lines stand beside those of the named one; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_fault: Option<SecondFault>,
    /// By how much the comb of the cage has grown since the baseline, dB, where the name rests on that alone: a
    /// rolling element passes the load zone once a turn of the cage, and a damaged cage would show the same.
    /// Absent elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_comb_db: Option<f64>,
    /// The catalogue's entry whose defect orders are only estimated from the boundary dimensions, where the
    /// verdict rests on such a one. Absent elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bearing_estimate: Option<BearingEstimate>,
    /// Damage that is seen while its part is open: the lines stand higher than those of sound bearings, but
    /// not plainly enough of one element. Absent where an element is named and where no damage is seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damaged: Option<OpenDamage>,
    /// Elements whose lines stood already while the baseline was learnt: no news of this bearing. Absent
    /// without such lines, and where nothing of the time of the baseline is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 4))]
    pub since_commissioning: Vec<StoodLine>,
    /// The reason why no fault can be named or excluded, where there is one.
    #[serde(default)]
    #[schemars(length(max = MAX_LINE), regex(pattern = LINE_PATTERN))]
    pub undetermined: Option<String>,
}

/// Defect orders that are an estimate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BearingEstimate {
    /// The entry of the catalogue.
    #[schemars(length(max = MAX_LINE), regex(pattern = LINE_PATTERN))]
    pub bearing: String,
    /// How far the orders may be off, percent.
    pub order_tolerance_percent: f64,
}

/// An element whose lines stood from the first day.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoodLine {
    /// The element.
    pub fault: Fault,
    /// How far its comb stood above those of unrelated orders, mean of all bands, dB.
    pub level_db: f64,
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

/// The elements of which damage without a name may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenDamage {
    /// The most likely one.
    pub most_likely: Fault,
    /// The one after it.
    pub or_else: Fault,
}

/// A fault beside the named one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SecondFault {
    /// Which one.
    pub fault: Fault,
    /// Confidence in it, 0…1.
    pub confidence: f64,
}

impl FrequencyDomain {
    /// The line of one fault.
    pub const fn line(&self, fault: Fault) -> &DefectLine {
        match fault {
            Fault::OuterRace => &self.bpfo,
            Fault::InnerRace => &self.bpfi,
            Fault::Ball => &self.bsf,
            Fault::Cage => &self.ftf,
        }
    }
}

/// Method by which the frequency domain was measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// A fixed number of transforms in one band.
    #[default]
    Fast,
    /// Signal separation, band selection, speed search and significance test.
    Thorough,
}

/// The finding at one defect frequency.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DefectLine {
    /// Frequency of the line that was found; the nominal defect frequency if none was found.
    pub frequency_hz: Option<f64>,
    /// `frequency_hz` as a multiple of the shaft speed.
    #[serde(default)]
    pub order: Option<f64>,
    /// Amplitude of the acceleration spectrum at the line.
    pub amplitude_g: Option<f64>,
    /// Amplitude of the envelope spectrum at the line, g.
    pub envelope_amplitude: Option<f64>,
    /// Level of the envelope line above the local floor.
    pub snr_db: Option<f64>,
    /// The line's multiples that exceed the floor, the first included.
    #[schemars(length(max = MAX_HARMONICS))]
    pub harmonics: Vec<Harmonic>,
    /// Modulation around the line.
    pub sidebands: Sidebands,
    /// Score of the defect: 0 nothing … 1 certain.
    pub score: Option<f64>,
}

/// A multiple of a defect frequency that exceeds the floor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Harmonic {
    /// The multiple, from 1.
    pub n: u32,
    /// Frequency at which it was found.
    pub frequency_hz: f64,
    /// Level above the local floor.
    pub snr_db: f64,
}

/// Modulation sidebands around a defect line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sidebands {
    /// Distance of the sidebands: shaft frequency (races) or FTF (ball).
    pub spacing_hz: Option<f64>,
    /// Number of sidebands that exceed the floor.
    pub count: u32,
    /// Mean level of these sidebands above the local floor.
    pub snr_db: Option<f64>,
}

/// Slope of the leading feature over hours and days.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trend {
    /// The leading feature, by its key in this event.
    #[schemars(length(max = MAX_WORD), regex(pattern = LINE_PATTERN))]
    pub feature: String,
    /// Theil–Sen slope of the feature.
    pub slope: Option<f64>,
    /// Unit of the slope, such as `g/h`.
    #[schemars(length(max = 32), regex(pattern = LINE_PATTERN))]
    pub slope_unit: String,
    /// 95 % confidence interval of the slope.
    pub slope_ci: Option<[f64; 2]>,
    /// The direction that the confidence interval supports.
    pub trend_direction: TrendDirection,
    /// Whether the later half rises significantly faster than the earlier.
    pub acceleration_detected: bool,
    /// Hours of history in the trend.
    pub span_h: Option<f64>,
    /// Level of the feature in health, in this window's operating state and the feature's own unit;
    /// absent until it is learnt, and in events from before this field existed.
    #[serde(default)]
    pub baseline_level: Option<f64>,
    /// Limit above which a window counts against the baseline (`anomaly.persistence` counts such
    /// windows), in the feature's own unit.
    #[serde(default)]
    pub baseline_limit: Option<f64>,
}

/// Direction of a trend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrendDirection {
    /// The slope's interval lies above 0.
    Rising,
    /// The slope's interval lies below 0.
    Falling,
    /// The interval includes 0, or the change is too small to matter.
    Stable,
    /// Too little data for a direction.
    Unknown,
}

/// Remaining useful life: either the hours with their interval, or the reason why it is unknown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rul {
    /// Best estimate, a little below the middle of the interval, because a late forecast costs more
    /// than an early one.
    pub hours: Option<f64>,
    /// Lower bound of the interval.
    pub ci_low_hours: Option<f64>,
    /// Upper bound of the interval.
    pub ci_high_hours: Option<f64>,
    /// Coverage of the interval, such as 0.8.
    pub confidence: Option<f64>,
    /// The model: `bayesian_exponential` follows this bearing's growth. Earlier edges also told
    /// `population`, the usual course of damaged bearings, which says nothing of this bearing.
    #[schemars(length(max = MAX_WORD), regex(pattern = LINE_PATTERN))]
    pub model: Option<String>,
    /// The reason why there is no figure.
    #[schemars(length(max = MAX_LINE), regex(pattern = LINE_PATTERN))]
    pub unknown: Option<String>,
}

impl Rul {
    /// A remaining life without a figure, for `reason`.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self { unknown: Some(reason.into()), ..Self::default() }
    }
}

/// Spectra for people: at most 800 lines each, up to the frequency that shows four harmonics of
/// BPFI.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spectra {
    /// Squared-envelope spectrum on which the verdict rests.
    pub envelope: SpectrumLines,
    /// Acceleration spectrum.
    pub acceleration: SpectrumLines,
}

/// Most lines of one spectrum on the wire.
pub const MAX_SPECTRUM_LINES: usize = 800;

/// Amplitudes at `0, df, 2 df, …`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpectrumLines {
    /// Distance between neighbouring lines.
    pub df_hz: f64,
    /// Unit of the amplitudes.
    #[schemars(length(max = 32), regex(pattern = LINE_PATTERN))]
    pub unit: String,
    /// One-sided peak amplitudes; where lines were joined, the largest of these.
    #[schemars(length(max = MAX_SPECTRUM_LINES))]
    pub amplitude: Vec<f64>,
}

#[cfg(test)]
mod tests;
