//! The finding at the defect frequencies: the line of each element, the named fault, damage without
//! a name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds::{LINE_PATTERN, MAX_HARMONICS, MAX_LINE};
use crate::fault::Fault;

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
    /// By how much the comb of the cage has grown since the baseline, dB, where the name rests on
    /// that alone: a rolling element passes the load zone once a turn of the cage, and a damaged
    /// cage would show the same. Absent elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_comb_db: Option<f64>,
    /// The catalogue's entry whose defect orders are only estimated from the boundary dimensions,
    /// where the verdict rests on such a one. Absent elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bearing_estimate: Option<BearingEstimate>,
    /// Damage that is seen while its part is open: the lines stand higher than those of sound
    /// bearings, but not plainly enough of one element. Absent where an element is named and where
    /// no damage is seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damaged: Option<OpenDamage>,
    /// Elements whose lines stood already while the baseline was learnt: no news of this bearing.
    /// Absent without such lines, and where nothing of the time of the baseline is known.
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
