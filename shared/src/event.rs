//! The event (`pdm.event/1`): what the edge says of one window of one measuring point.
//!
//! `null` means "not measured"; a number is never NaN or infinite. Field names, nesting and value
//! sets are the contract: a field may be added in a minor version, none may change its meaning.
//! Accelerations are in g, velocities in mm/s, both as the name says peak or RMS.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::fault::Fault;
use crate::id::{BearingId, EquipmentId, EventId, GatewayId, MeasuringPoint, SiteId};

mod check;

pub use check::EventError;

/// The value of `schema` that this program writes and reads.
pub const EVENT_SCHEMA: &str = "pdm.event/1";

/// One window of one measuring point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Always [`EVENT_SCHEMA`].
    pub schema: String,
    /// The de-duplication key.
    pub event_id: EventId,
    /// The gateway that measured.
    pub gateway_id: GatewayId,
    /// Gap-free per gateway, from 1.
    pub sequence: u64,
    /// Site of the machine.
    pub site: SiteId,
    /// Machine.
    pub equipment_id: EquipmentId,
    /// Bearing.
    pub bearing_id: BearingId,
    /// Where the sensor sits; `null` if the bearing has one sensor without a name.
    #[serde(default)]
    pub measuring_point: Option<MeasuringPoint>,
    /// When the window began, UTC.
    pub measured_at: Timestamp,
    /// Sent late out of the spool.
    pub replayed: bool,
    /// Seconds between the end of the window and its sending, where `replayed`; else 0.
    pub delayed_s: f64,
    /// The samples behind the event.
    pub window: Window,
    /// What the machine was doing.
    pub operating: Operating,
    /// Whether the signal can be judged.
    pub signal_quality: SignalQuality,
    /// The anomaly flag after persistence and hysteresis.
    pub anomaly_detected: bool,
    /// Why.
    pub anomaly: Anomaly,
    /// Statistics of the waveform.
    pub time_domain: TimeDomain,
    /// The four defect frequencies.
    pub frequency_domain: FrequencyDomain,
    /// Slope over hours and days.
    pub trend: Trend,
    /// Remaining useful life.
    pub rul: Rul,
    /// What the verdict saw; on anomaly, on the baseline's completion and at least hourly.
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
    /// Length, s.
    pub duration_s: f64,
}

/// What the machine was doing during the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Operating {
    /// The shaft turned.
    pub running: bool,
    /// Speed used for the orders, rpm.
    pub shaft_speed_rpm: Option<f64>,
    /// Where the speed comes from.
    pub speed_source: SpeedSource,
    /// Operating state whose baseline applies (speed or load bin).
    #[serde(default = "default_state")]
    pub state: String,
}

fn default_state() -> String {
    "default".to_owned()
}

/// Where a shaft speed comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpeedSource {
    /// A number in the configuration or on the command line.
    Configured,
    /// A tachometer or keyphasor channel.
    Tachometer,
    /// A value from another system.
    Tag,
    /// Found in the spectrum.
    Estimated,
}

/// Whether a window may be judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignalQuality {
    /// False: never judged as a fault, never part of a baseline.
    pub valid: bool,
    /// What was found; some flags only inform, others make the window invalid.
    pub flags: Vec<QualityFlag>,
}

/// What can be wrong with a signal (R-EDGE-5).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum QualityFlag {
    /// NaN or infinite samples.
    NotFinite,
    /// Samples stuck at the converter's limits.
    Clipping,
    /// Hardly any movement at all: cable or power.
    FlatLine,
    /// A stretch of identical samples inside a moving signal.
    DropOut,
    /// The mean is far from zero or moves during the window.
    DcDrift,
    /// Level falls off from the lowest frequencies on: loose mount or saturated amplifier.
    SkiSlope,
    /// More or fewer samples than rate and time allow.
    WrongRate,
    /// The machine stands.
    MachineOff,
    /// Too short for what is asked (fewer than 15 shaft turns, say).
    TooShort,
}

/// The anomaly judgement of the edge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Anomaly {
    /// 0 as in the baseline … 1 far outside.
    pub score: Option<f64>,
    /// The features that carry the score, strongest first.
    pub contributors: Vec<String>,
    /// `k` of the last `n` windows were outside.
    pub persistence: Persistence,
    /// The baseline compared with.
    pub baseline: Baseline,
    /// How far the vibration stands above its baseline: the median of the latest windows over the
    /// healthy level, of the level feature that is highest; absent while nothing is learnt, and in
    /// events of before this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level_ratio: Option<f64>,
}

/// `k` of the last `n` windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Persistence {
    /// Windows outside the baseline.
    pub k: u32,
    /// Windows looked at.
    pub n: u32,
}

/// The state of a baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Baseline {
    /// Learning or ready.
    pub state: BaselineState,
    /// Windows it was learnt from so far.
    pub windows: u64,
}

/// Whether a baseline can be compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BaselineState {
    /// Still collecting healthy windows.
    Learning,
    /// Learnt.
    Ready,
}

/// Statistics of the waveform, acceleration in g unless named otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeDomain {
    /// RMS of the acceleration without its mean.
    pub rms_g: Option<f64>,
    /// Largest magnitude.
    pub peak_g: Option<f64>,
    /// Largest minus smallest.
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
    /// Which path measured: every window `fast`; on learning, anomaly and schedule `thorough`.
    #[serde(default)]
    pub method: Method,
    /// Band whose envelope was analysed, `[low, high]`.
    pub envelope_band_hz: Option<[f64; 2]>,
    /// Median amplitude of the acceleration spectrum in that band.
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
    /// The fault that is named, or none.
    pub dominant_fault: Option<Fault>,
    /// How sure the name is, 0…1: of claims made with confidence c, a share c is right.
    pub confidence: f64,
    /// Why no fault can be named or excluded, where that is so.
    #[serde(default)]
    pub undetermined: Option<String>,
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

/// How the frequency domain was measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// A fixed number of transforms, one band.
    #[default]
    Fast,
    /// Separation, band selection, speed search and significance.
    Thorough,
}

/// What stands at one defect frequency.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DefectLine {
    /// Where the line was looked for and found; the nominal place if nothing stands there.
    pub frequency_hz: Option<f64>,
    /// The same as a multiple of the shaft speed.
    #[serde(default)]
    pub order: Option<f64>,
    /// Amplitude of the acceleration spectrum there.
    pub amplitude_g: Option<f64>,
    /// Amplitude of the envelope spectrum there, g.
    pub envelope_amplitude: Option<f64>,
    /// Level of the envelope line above the local floor.
    pub snr_db: Option<f64>,
    /// The line's multiples that stand out, the first included.
    pub harmonics: Vec<Harmonic>,
    /// Modulation around the line.
    pub sidebands: Sidebands,
    /// 0 nothing … 1 certain.
    pub score: Option<f64>,
}

/// A multiple of a defect frequency that stands out of the floor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Harmonic {
    /// Which multiple, from 1.
    pub n: u32,
    /// Where it was found.
    pub frequency_hz: f64,
    /// Above the local floor.
    pub snr_db: f64,
}

/// Modulation sidebands around a defect line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sidebands {
    /// Their distance: shaft frequency (races) or FTF (ball).
    pub spacing_hz: Option<f64>,
    /// How many stand out.
    pub count: u32,
    /// Mean level of those above the local floor.
    pub snr_db: Option<f64>,
}

/// Slope of the leading feature over hours and days.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trend {
    /// Which feature, by its key in this event.
    pub feature: String,
    /// Theil–Sen slope.
    pub slope: Option<f64>,
    /// Its unit, such as `g/h`.
    pub slope_unit: String,
    /// 95 % confidence interval of the slope.
    pub slope_ci: Option<[f64; 2]>,
    /// What the interval allows to say.
    pub trend_direction: TrendDirection,
    /// The later half rises significantly faster than the earlier.
    pub acceleration_detected: bool,
    /// Hours looked at.
    pub span_h: Option<f64>,
    /// Where the feature lies in health in this window's operating state, in the feature's own
    /// unit; absent while that is not learnt, and in events of before this field.
    #[serde(default)]
    pub baseline_level: Option<f64>,
    /// Above this a window counts against the baseline (`anomaly.persistence` counts such windows),
    /// in the feature's own unit.
    #[serde(default)]
    pub baseline_limit: Option<f64>,
}

/// Direction of a trend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrendDirection {
    /// The slope's interval lies above 0.
    Rising,
    /// Below 0.
    Falling,
    /// Around 0, or a change too small to matter.
    Stable,
    /// Too little data.
    Unknown,
}

/// Remaining useful life: either the hours with their interval, or why it is unknown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rul {
    /// Best estimate where late is worse than early: a little below the middle of the interval.
    pub hours: Option<f64>,
    /// Lower bound of the interval.
    pub ci_low_hours: Option<f64>,
    /// Upper bound.
    pub ci_high_hours: Option<f64>,
    /// Coverage of the interval, such as 0.8.
    pub confidence: Option<f64>,
    /// The model: `bayesian_exponential` follows this bearing's growth. Edges of before told
    /// `population` while it said nothing, how bearings with damage go on in general: no news of it.
    pub model: Option<String>,
    /// Why there is no figure.
    pub unknown: Option<String>,
}

impl Rul {
    /// No figure, and why.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self { unknown: Some(reason.into()), ..Self::default() }
    }
}

/// Spectra for people: at most 800 lines each, up to what shows four harmonics of BPFI.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spectra {
    /// Squared-envelope spectrum that the verdict saw.
    pub envelope: SpectrumLines,
    /// Acceleration spectrum.
    pub acceleration: SpectrumLines,
}

/// Most lines of one spectrum on the wire.
pub const MAX_SPECTRUM_LINES: usize = 800;

/// Amplitudes at `0, df, 2 df, …`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpectrumLines {
    /// Distance of the lines.
    pub df_hz: f64,
    /// Unit of the amplitudes.
    pub unit: String,
    /// One-sided peak amplitudes; where lines were joined, the largest of them.
    pub amplitude: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLES: [&str; 2] = [
        include_str!("../../config/examples/event.json"),
        include_str!("../../config/examples/event-healthy.json"),
    ];

    #[test]
    fn the_contracts_examples_are_read_and_written_back_unchanged() {
        for example in EXAMPLES {
            let before: serde_json::Value = serde_json::from_str(example).expect("json");
            let event: Event = serde_json::from_str(example).expect("event");
            let mut after = serde_json::to_value(&event).expect("json");
            let frequency = after["frequency_domain"].as_object_mut().expect("object");
            assert_eq!(frequency.remove("undetermined"), Some(serde_json::Value::Null));
            assert_eq!(before, after);
            event.check().expect("the example is a valid event");
        }
    }
}
