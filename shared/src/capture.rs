//! A captured waveform (`pdm.capture/1`): what the numbers of its WAV file mean. The request for
//! one (`pdm.capture_demand/1`).
//!
//! The document stands beside the WAV file of the same name at the gateway that measured.
//! Invariant: with the document alone the samples can be judged again: rate, unit, speed and
//! bearing are in it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::bounds::{LINE_PATTERN, MAX_LINE, is_hidden};
use crate::event::SpeedSource;
use crate::fault::Fault;
use crate::id::{BearingId, BearingKey, EquipmentId, EventId, GatewayId, MeasuringPoint, SiteId};
use crate::time::Timestamp;

mod demand;

pub use demand::{
    CAPTURE_DEMAND_SCHEMA, CaptureAnswer, CaptureDemand, CaptureRefusal, MAX_ANSWERS,
};

/// The value of `schema` in the document of a capture.
pub const CAPTURE_SCHEMA: &str = "pdm.capture/1";

/// Largest document that is taken over a network, bytes: ten times one with all triggers and gaps.
pub const MAX_DOCUMENT_BYTES: usize = 128 * 1024;

/// What the agent has of a capture that a gateway sends: its answer to each part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureUpload {
    /// Bytes of the WAV file that are there; the next part begins here.
    pub have: u64,
    /// Bytes of the whole file.
    pub bytes: u64,
    /// The file is whole, its hash is right, and it is kept.
    pub complete: bool,
}

/// Largest head of a WAV file before its samples, bytes.
const MAX_HEAD_BYTES: u64 = 64 * 1024;

/// Most triggers that a document lists; further ones in the same stretch are counted at the
/// gateway.
pub const MAX_TRIGGERS: usize = 16;
/// Most gaps that a document lists; a capture ends before the next.
pub const MAX_GAPS: usize = 64;

/// The reason for a capture.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CaptureReason {
    /// The edge's anomaly was raised.
    Alarm,
    /// The evaluation zone rose to C or D.
    Stage,
    /// A fault was named, or another one than before.
    Name,
    /// A thorough look during an anomaly named no fault.
    NoName,
    /// A person or a program asked for it.
    Demand,
    /// The sound state, once in the configured time.
    Reference,
}

impl CaptureReason {
    /// All reasons.
    pub const ALL: [Self; 6] =
        [Self::Alarm, Self::Stage, Self::Name, Self::NoName, Self::Demand, Self::Reference];

    /// The word in documents, names of files and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Alarm => "alarm",
            Self::Stage => "stage",
            Self::Name => "name",
            Self::NoName => "no_name",
            Self::Demand => "demand",
            Self::Reference => "reference",
        }
    }
}

/// One reason of a capture, with the event in which it was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureTrigger {
    /// The reason.
    pub reason: CaptureReason,
    /// Start of the window in which it was seen; of a demand the newest window.
    pub at: Timestamp,
    /// The event of that window; absent for a demand before the first window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<EventId>,
    /// When a demand was asked, where it says so: one that waited for the gateway shows a later
    /// state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Timestamp>,
    /// The demand, where it has an identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demand_id: Option<Uuid>,
}

/// Why a capture is shorter than was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CaptureCut {
    /// The samples before or after it have another sampling rate.
    Rate,
    /// The clock was set back at a gap, so what lies behind the gap cannot be placed.
    Clock,
    /// Its beginning had left the memory.
    Memory,
}

impl CaptureCut {
    /// The word in documents and lists.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Clock => "clock",
            Self::Memory => "memory",
        }
    }
}

/// A stretch of samples of the capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureStretch {
    /// Its first sample, counted from 0.
    pub first_sample: u64,
    /// Number of samples.
    pub samples: u64,
}

/// Samples that are missing within a capture.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureGap {
    /// The sample before which they are missing, counted from 0.
    pub before_sample: u64,
    /// For how long, s.
    pub missing_s: f64,
}

/// The sensor behind the samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureSensor {
    /// Sensitivity with which millivolts became acceleration, mV/g; absent where the source gave
    /// acceleration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity_mv_per_g: Option<f64>,
}

/// The steps in which the samples were kept before they were written.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureSteps {
    /// The largest step of all parts, m/s².
    pub step_m_s2: f64,
    /// Every sample is the source's own count: nothing was rounded but to the file's 32-bit float.
    /// False: the source gave floating-point numbers, and each is within half a step.
    pub is_exact: bool,
}

/// The bearing for which the samples are judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureBearing {
    /// Defect order of the outer race.
    pub bpfo: f64,
    /// Defect order of the inner race.
    pub bpfi: f64,
    /// Spin frequency of a rolling element (1×).
    pub bsf: f64,
    /// Order of the cage.
    pub ftf: f64,
    /// Relative tolerance of the orders.
    pub order_tolerance: f64,
    /// The catalogue's entry that the orders are estimated from, where they are an estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_LINE), regex(pattern = LINE_PATTERN))]
    pub estimated_for: Option<String>,
}

/// The shaft's speed during the capture.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureSpeed {
    /// Speed in the window of the first trigger, rpm.
    pub shaft_speed_rpm: f64,
    /// Where it is from.
    pub speed_source: SpeedSource,
    /// Relative tolerance within which a judgement searches the speed.
    pub tolerance: f64,
}

/// The WAV file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureFile {
    /// Its name, in the folder of the document.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of the whole file, 64 hexadecimal digits.
    pub sha256: String,
}

/// The document of a capture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaptureDocument {
    /// Always [`CAPTURE_SCHEMA`].
    pub schema: String,
    /// The capture's identity.
    pub capture_id: EventId,
    /// The gateway that measured.
    pub gateway_id: GatewayId,
    /// Site of the machine.
    pub site: SiteId,
    /// The machine.
    pub equipment_id: EquipmentId,
    /// The bearing.
    pub bearing_id: BearingId,
    /// Location of the sensor.
    #[serde(default)]
    pub measuring_point: Option<MeasuringPoint>,
    /// Time of the first sample.
    pub started_at: Timestamp,
    /// Why it was captured, in the order of time; one or more.
    #[schemars(length(min = 1, max = MAX_TRIGGERS))]
    pub triggers: Vec<CaptureTrigger>,
    /// The window of the first trigger within the capture.
    pub window: CaptureStretch,
    /// The anomaly stood when it was captured.
    pub is_in_alarm: bool,
    /// The fault that stood named, if one was.
    #[serde(default)]
    pub dominant_fault: Option<Fault>,
    /// Number of samples.
    pub samples: u64,
    /// Samples per second with which the samples are judged: the true rate where it was measured.
    pub sampling_rate_hz: f64,
    /// Unit of the numbers in the WAV file: always `m/s2`.
    pub unit: String,
    /// Samples that were no finite numbers, or larger than any acceleration, and are NaN in the
    /// file.
    pub not_finite: u64,
    /// Samples that are missing in between.
    #[serde(default)]
    #[schemars(length(max = MAX_GAPS))]
    pub gaps: Vec<CaptureGap>,
    /// Why it is shorter than was asked for; absent where it is not, or where a gap ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<CaptureCut>,
    /// The steps of the samples.
    pub steps: CaptureSteps,
    /// The sensor.
    pub sensor: CaptureSensor,
    /// The shaft's speed.
    pub speed: CaptureSpeed,
    /// The bearing's defect orders.
    pub bearing: CaptureBearing,
    /// The WAV file.
    pub file: CaptureFile,
}

/// A document that is not of a capture. The reader shows it with the name of the file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureDocumentError {
    /// The document has another schema.
    #[error("schema {got:?}; allowed is {CAPTURE_SCHEMA}")]
    Schema {
        /// The schema in the document.
        got: String,
    },
    /// A number that cannot be.
    #[error("{what} is {got}; allowed is {allowed}")]
    Number {
        /// The field.
        what: &'static str,
        /// The number in the document.
        got: f64,
        /// The allowed values.
        allowed: &'static str,
    },
    /// A text that cannot be.
    #[error("{what} is {got:?}; allowed is {allowed}")]
    Words {
        /// The field.
        what: &'static str,
        /// The first characters of the text in the document.
        got: String,
        /// The allowed texts.
        allowed: &'static str,
    },
}

impl CaptureDocument {
    /// The document, if a gateway may send it: [`CaptureDocument::checked`], and bounds of what
    /// others show and compute with it.
    ///
    /// # Errors
    /// [`CaptureDocumentError`].
    pub fn checked_of_others(self) -> Result<Self, CaptureDocumentError> {
        let document = self.checked()?;
        let numbers = [
            ("triggers", document.triggers.len() as f64, 1.0, MAX_TRIGGERS as f64, "1 to 16"),
            ("gaps", document.gaps.len() as f64, 0.0, MAX_GAPS as f64, "at most 64"),
            ("sampling_rate_hz", document.sampling_rate_hz, 1.0, 1e7, "1 to 10,000,000"),
            (
                "speed.shaft_speed_rpm",
                document.speed.shaft_speed_rpm,
                1e-3,
                1e6,
                "0.001 to 1,000,000",
            ),
        ];
        for (what, got, least, most, allowed) in numbers {
            if !(least..=most).contains(&got) {
                return Err(CaptureDocumentError::Number { what, got, allowed });
            }
        }
        let orders = &document.bearing;
        for (what, got) in [
            ("bearing.bpfo", orders.bpfo),
            ("bearing.bpfi", orders.bpfi),
            ("bearing.bsf", orders.bsf),
            ("bearing.ftf", orders.ftf),
        ] {
            if !(got > 0.0 && got <= 1000.0) {
                return Err(CaptureDocumentError::Number {
                    what,
                    got,
                    allowed: "above 0, at most 1,000",
                });
            }
        }
        let file = &document.file;
        let is_name = (1..=MAX_LINE).contains(&file.name.chars().count())
            && !matches!(file.name.as_str(), "." | "..")
            && !file.name.chars().any(|one| is_hidden(one) || "/\\\"".contains(one));
        let is_hash =
            file.sha256.len() == 64 && file.sha256.bytes().all(|one| one.is_ascii_hexdigit());
        for (what, got, is_right, allowed) in [
            ("unit", &document.unit, document.unit == "m/s2", "\"m/s2\""),
            ("file.name", &file.name, is_name, "the name of a file without folders"),
            ("file.sha256", &file.sha256, is_hash, "64 hexadecimal digits"),
        ] {
            if !is_right {
                let got = got.chars().take(80).collect();
                return Err(CaptureDocumentError::Words { what, got, allowed });
            }
        }
        let samples = document.samples.saturating_mul(4);
        if file.bytes < samples || file.bytes - samples > MAX_HEAD_BYTES {
            let allowed = "the samples in 4 bytes each, and a head of at most 64 KiB";
            return Err(CaptureDocumentError::Number {
                what: "file.bytes",
                got: file.bytes as f64,
                allowed,
            });
        }
        Ok(document)
    }

    /// The bearing.
    pub fn key(&self) -> BearingKey {
        BearingKey {
            site: self.site.clone(),
            equipment: self.equipment_id.clone(),
            bearing: self.bearing_id.clone(),
        }
    }

    /// Returns its length, s; gaps are not counted.
    pub fn duration_s(&self) -> f64 {
        self.samples as f64 / self.sampling_rate_hz
    }

    /// Whether it belongs to an alarm: its anomaly stood, or it was captured for one.
    pub fn is_of_alarm(&self) -> bool {
        self.is_in_alarm || self.is_for_alarm()
    }

    /// Whether it was captured for what an alarm told: its rise, its zone, its fault or the lack of
    /// one. A demand is not, even where an alarm stood.
    pub fn is_for_alarm(&self) -> bool {
        let is_one = |reason| match reason {
            CaptureReason::Alarm
            | CaptureReason::Stage
            | CaptureReason::Name
            | CaptureReason::NoName => true,
            CaptureReason::Demand | CaptureReason::Reference => false,
        };
        self.triggers.iter().any(|trigger| is_one(trigger.reason))
    }

    /// The document, if it can be.
    ///
    /// # Errors
    /// [`CaptureDocumentError`].
    pub fn checked(self) -> Result<Self, CaptureDocumentError> {
        if self.schema != CAPTURE_SCHEMA {
            return Err(CaptureDocumentError::Schema { got: self.schema });
        }
        let above_0 = [
            ("sampling_rate_hz", self.sampling_rate_hz),
            ("speed.shaft_speed_rpm", self.speed.shaft_speed_rpm),
            ("samples", self.samples as f64),
            ("window.samples", self.window.samples as f64),
        ];
        for (what, got) in above_0 {
            if !(got.is_finite() && got > 0.0) {
                return Err(CaptureDocumentError::Number { what, got, allowed: "above 0" });
            }
        }
        let end = self.window.first_sample.saturating_add(self.window.samples);
        if end > self.samples {
            let (what, allowed) = ("end of window", "at most `samples`");
            return Err(CaptureDocumentError::Number { what, got: end as f64, allowed });
        }
        Ok(self)
    }

    /// The bearing as `equipment/bearing`.
    pub fn within_site(&self) -> String {
        format!("{}/{}", self.equipment_id, self.bearing_id)
    }

    /// Returns its reasons in the order of its triggers, each once.
    pub fn reasons(&self) -> Vec<CaptureReason> {
        let mut reasons = Vec::new();
        for trigger in &self.triggers {
            if !reasons.contains(&trigger.reason) {
                reasons.push(trigger.reason);
            }
        }
        reasons
    }

    /// Whether one of its reasons is this one.
    pub fn is_for(&self, reason: CaptureReason) -> bool {
        self.triggers.iter().any(|trigger| trigger.reason == reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = include_str!("../../config/examples/capture.json");

    fn read(json: &str) -> Result<CaptureDocument, CaptureDocumentError> {
        serde_json::from_str::<CaptureDocument>(json).expect("json").checked()
    }

    #[test]
    fn the_example_is_a_document_and_is_written_as_it_was_read() {
        let document = read(EXAMPLE).expect("valid");
        let written = serde_json::to_value(&document).expect("json");
        assert_eq!(written, serde_json::from_str::<serde_json::Value>(EXAMPLE).expect("json"));
    }

    /// Issue 39: what a gateway sends is bounded before anything is computed or shown of it.
    #[test]
    fn a_document_of_a_gateway_is_held_to_bounds() {
        let taken = |json: &str| read(json).expect("json").checked_of_others();
        assert!(taken(EXAMPLE).is_ok());
        for (from, to, told) in [
            ("\"m/s2\"", "\"g\"", "unit"),
            ("P-101_DE_2026", "../P-101_DE_2026", "file.name"),
            ("\"bytes\": 1331556", "\"bytes\": 1000", "file.bytes"),
            ("0f343b09", "zz343b09", "file.sha256"),
            ("\"bpfo\": 3.5848", "\"bpfo\": -1.0", "bearing.bpfo"),
            ("25600.0", "1e9", "sampling_rate_hz"),
        ] {
            assert!(EXAMPLE.contains(from), "{from}");
            let error = taken(&EXAMPLE.replacen(from, to, 1)).expect_err(to).to_string();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn a_document_that_cannot_be_is_refused_by_name() {
        for (from, to, told) in [
            ("pdm.capture/1", "pdm.capture/2", "schema"),
            ("\"sampling_rate_hz\": 25600.0", "\"sampling_rate_hz\": 0.0", "sampling_rate_hz"),
            ("\"first_sample\": 256000", "\"first_sample\": 999999999", "end of window"),
        ] {
            assert!(EXAMPLE.contains(from), "{from}");
            let error = read(&EXAMPLE.replace(from, to));
            let error = error.expect_err(to).to_string();
            assert!(error.contains(told), "{error}");
        }
    }
}
