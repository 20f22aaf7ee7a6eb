//! The rows of a bearing's windows for pages and API.

use pdm_shared::event::SpectrumLines;
use pdm_shared::fault::Fault;
use pdm_shared::feature::Feature;
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// A window of a bearing, without its spectra.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WindowRow {
    /// The event.
    pub event_id: EventId,
    /// When the window was measured.
    pub measured_at: Timestamp,
    /// The machine ran.
    pub running: bool,
    /// The window could be judged.
    pub valid: bool,
    /// RMS of the acceleration, g.
    pub rms_g: Option<f64>,
    /// RMS of the velocity, 10–1000 Hz, mm/s.
    pub velocity_rms_mm_s: Option<f64>,
    /// RMS of the acceleration in the same band, g, where the window is too short for a velocity.
    pub low_band_rms_g: Option<f64>,
    /// Kurtosis of the acceleration.
    pub kurtosis: Option<f64>,
    /// RMS of the envelope, g.
    pub envelope_rms_g: Option<f64>,
    /// Anomaly score, 0–1.
    pub anomaly_score: Option<f64>,
    /// Level of the trend's feature in the baseline.
    pub baseline_level: Option<f64>,
    /// Limit of the trend's feature above which a window counts as unusual.
    pub baseline_limit: Option<f64>,
    /// The trend's feature.
    pub feature: String,
    /// Risk of the judgement; `null` before it, and of a window that came late: its judgement is of
    /// the bearing as it stood when the window came.
    pub risk_level: Option<RiskLevel>,
    /// Stage of the judgement.
    pub fault_stage: Option<u8>,
    /// Element of the judgement.
    pub fault_type: Option<Fault>,
    /// Median of the remaining life, hours.
    pub rul_hours: Option<f64>,
    /// Lower bound of the remaining life's 80 % interval, hours.
    pub rul_low_hours: Option<f64>,
    /// Upper bound of the remaining life's 80 % interval, hours.
    pub rul_high_hours: Option<f64>,
}

/// The features that lists of windows show.
pub const SHOWN_FEATURES: [Feature; 5] =
    [Feature::Rms, Feature::Velocity, Feature::LowBandRms, Feature::EnvelopeRms, Feature::Kurtosis];

impl WindowRow {
    /// The figure of a feature in this row; `None` where it was not measured, and for features that
    /// only the event shows.
    pub const fn figure(&self, feature: &Feature) -> Option<f64> {
        match feature {
            Feature::Rms => self.rms_g,
            Feature::Velocity => self.velocity_rms_mm_s,
            Feature::LowBandRms => self.low_band_rms_g,
            Feature::EnvelopeRms => self.envelope_rms_g,
            Feature::Kurtosis => self.kurtosis,
            Feature::Peak
            | Feature::PeakToPeak
            | Feature::CrestFactor
            | Feature::Skewness
            | Feature::ShapeFactor
            | Feature::ImpulseFactor
            | Feature::ClearanceFactor
            | Feature::NoiseFloor
            | Feature::Confidence
            | Feature::Line(_, _)
            | Feature::Other(_) => None,
        }
    }
}

/// The envelope spectrum of a window.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SpectrumRow {
    /// The event.
    pub event_id: EventId,
    /// When the window was measured.
    pub measured_at: Timestamp,
    /// The squared-envelope spectrum.
    pub envelope: SpectrumLines,
}
