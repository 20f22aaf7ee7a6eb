//! The rows of captured waveforms for pages and API.

use pdm_shared::capture::{CaptureDocument, CaptureReason};
use pdm_shared::id::{BearingKey, EventId, GatewayId, MeasuringPoint};
use pdm_shared::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// A captured waveform that a gateway has sent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CaptureRow {
    /// The capture.
    pub capture_id: Uuid,
    /// Site, machine and bearing.
    #[serde(flatten)]
    pub key: BearingKey,
    /// Location of the sensor.
    pub measuring_point: Option<MeasuringPoint>,
    /// The gateway that measured.
    pub gateway_id: GatewayId,
    /// Time of the first sample.
    pub started_at: Timestamp,
    /// When it was here whole, by the agent's clock.
    pub received_at: Timestamp,
    /// Why it was captured.
    pub reasons: Vec<CaptureReason>,
    /// The events in which that was seen.
    pub event_ids: Vec<EventId>,
    /// Its length, s; gaps are not counted.
    pub duration_s: f64,
    /// Samples per second.
    pub sampling_rate_hz: f64,
    /// Bytes of the WAV file.
    pub bytes: u64,
    /// SHA-256 of the WAV file.
    pub sha256: String,
}

impl CaptureRow {
    /// The row of a document under the bearing's present name.
    pub fn new(key: BearingKey, received_at: Timestamp, document: &CaptureDocument) -> Self {
        let mut event_ids: Vec<EventId> =
            document.triggers.iter().filter_map(|trigger| trigger.event_id).collect();
        event_ids.dedup();
        Self {
            capture_id: document.capture_id.0,
            key,
            measuring_point: document.measuring_point.clone(),
            gateway_id: document.gateway_id.clone(),
            started_at: document.started_at,
            received_at,
            reasons: document.reasons(),
            event_ids,
            duration_s: document.duration_s(),
            sampling_rate_hz: document.sampling_rate_hz,
            bytes: document.file.bytes,
            sha256: document.file.sha256.clone(),
        }
    }
}

/// A capture with its document.
#[derive(Debug, Clone, PartialEq)]
pub struct CaptureFound {
    /// The row for lists.
    pub row: CaptureRow,
    /// The document.
    pub document: CaptureDocument,
    /// The document as the gateway has sent it.
    pub text: String,
}

/// A capture as a NumPy file.
#[derive(Debug, Clone, PartialEq)]
pub struct CaptureNpy {
    /// The file: version 1.0, 32-bit float, m/s².
    pub content: Vec<u8>,
    /// Its name.
    pub name: String,
    /// The capture's document with name, bytes and hash of this file.
    pub text: String,
}

/// How a capture is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CaptureAsked {
    /// Columns of a plot.
    pub columns: usize,
    /// Spectra of all that belongs together around the trigger's window, not of the window alone.
    pub is_whole: bool,
    /// Another capture that is drawn over this one.
    pub over: Option<Uuid>,
    /// A part of one curve, by its lowest and highest abscissa, in all columns.
    pub zoom: Option<(CaptureCurveKind, [f64; 2])>,
}

/// The pictures of a capture.
#[derive(Debug, Clone, PartialEq)]
pub struct CaptureDrawn {
    /// The curves.
    pub curves: Vec<CaptureCurve>,
    /// The band of the envelope, Hz.
    pub band_hz: Option<[f64; 2]>,
    /// The stretch of the spectra: its begin after that of the trigger's window, and its length, s.
    pub stretch_s: [f64; 2],
    /// Length of the trigger's window, s.
    pub window_s: f64,
    /// Shaft frequency by which lines are marked, Hz.
    pub shaft_hz: f64,
    /// The shaft was followed in the samples; else its speed is taken to be constant.
    pub is_tracked: bool,
    /// Samples of the stretch that are no numbers, taken as 0.
    pub not_finite: u64,
    /// Lines of the bearing and the shaft.
    pub marks: Vec<CaptureMark>,
}

/// Which curve it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureCurveKind {
    /// Acceleration, m/s², over time, s.
    Waveform,
    /// Amplitude, m/s², over frequency, Hz.
    Spectrum,
    /// Amplitude of the squared envelope, (m/s²)², over frequency, Hz.
    Envelope,
    /// Real cepstrum over quefrency, s.
    Cepstrum,
    /// Amplitude, m/s², over orders.
    Orders,
}

impl CaptureCurveKind {
    /// All, in the order of the page.
    pub const ALL: [Self; 5] =
        [Self::Waveform, Self::Spectrum, Self::Envelope, Self::Cepstrum, Self::Orders];

    /// The word of addresses and pages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waveform => "waveform",
            Self::Spectrum => "spectrum",
            Self::Envelope => "envelope",
            Self::Cepstrum => "cepstrum",
            Self::Orders => "orders",
        }
    }
}

/// A curve, thinned to the columns of its plot.
#[derive(Debug, Clone, PartialEq)]
pub struct CaptureCurve {
    /// The kind of curve.
    pub kind: CaptureCurveKind,
    /// Lowest and highest abscissa.
    pub range: (f64, f64),
    /// Abscissa, lowest and highest value of each column.
    pub points: Vec<[f64; 3]>,
    /// The points of the capture that lies over it.
    pub over: Option<Vec<[f64; 3]>>,
}

/// A line of the bearing or the shaft.
#[derive(Debug, Clone, PartialEq)]
pub struct CaptureMark {
    /// Its name, such as `BPFO`.
    pub name: String,
    /// The order, in multiples of the shaft frequency.
    pub order: f64,
    /// Harmonics that are marked: 1 to this.
    pub harmonics: u32,
}
