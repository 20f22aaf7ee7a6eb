//! The captured waveform of a judgement: the picture in report and work order, or that it follows.
//!
//! The curves are made for people from the gateway's samples (`pdm-waveform`); no sentence of a
//! document rests on them (R-AGENT-2).

use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a document says of the waveform.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Waveform {
    /// Where it is looked at and listened to: the page of the capture, or, before it has come, that
    /// of the judgement. A path where the agent's own address is not configured.
    pub page: String,
    /// The capture; none where it had not come when the document was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<WaveformPlot>,
}

/// A capture as a document draws it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaveformPlot {
    /// The capture.
    pub capture_id: EventId,
    /// Time of its first sample.
    pub started_at: Timestamp,
    /// Its length, s.
    pub duration_s: f64,
    /// Acceleration over time, m/s²; the judged window begins at 0 s.
    pub acceleration_m_s2: WaveformCurve,
    /// Amplitude of the squared envelope over frequency, (m/s²)².
    pub envelope: WaveformCurve,
    /// The band of the envelope, Hz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band_hz: Option<[f64; 2]>,
    /// Time of the sound reference that is drawn beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_at: Option<Timestamp>,
    /// Lines of the bearing in the envelope.
    pub marks: Vec<WaveformMark>,
}

/// A curve: abscissa, lowest and highest value of each column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaveformCurve {
    /// Lowest and highest abscissa: s, or Hz.
    pub range: [f64; 2],
    /// The capture.
    pub points: Vec<[f64; 3]>,
    /// The sound reference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reference: Vec<[f64; 3]>,
}

/// A line of the bearing in the envelope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaveformMark {
    /// `BPFO`, `2×BPFO`, …
    pub label: String,
    /// Its frequency, Hz.
    pub frequency_hz: f64,
    /// Whether it belongs to the named fault.
    pub named: bool,
}
