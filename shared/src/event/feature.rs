//! The features of a window: the figures of an event that a trend may follow and an anomaly may
//! rest on.
//!
//! The edge judges a bearing by them, the agent reads what an anomaly rests on, and documents,
//! pages and messages name them. [`Feature`] is the one place that knows a feature's key, kind,
//! unit and names. Every match on it names all variants, so a new feature is a list of compile
//! errors and not a figure that somebody forgot.
//!
//! Invariants: a key that [`Feature::of_key`] knows is the key of a figure that an event may hold,
//! and [`Feature::key`] gives its short form; any other text is [`Feature::Other`].

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Event;
use crate::bounds::{BoundError, MAX_WORD, in_one_line};
use crate::fault::Fault;
use crate::text::Text;

mod line;

pub use line::LineFigure;

/// One figure of an event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Feature {
    /// RMS of the acceleration.
    Rms,
    /// Largest magnitude of the acceleration.
    Peak,
    /// Largest minus smallest acceleration.
    PeakToPeak,
    /// Peak / RMS.
    CrestFactor,
    /// Fourth standardised moment.
    Kurtosis,
    /// Third standardised moment.
    Skewness,
    /// RMS / mean magnitude.
    ShapeFactor,
    /// Peak / mean magnitude.
    ImpulseFactor,
    /// Peak / squared mean of square roots.
    ClearanceFactor,
    /// RMS of the envelope in the envelope band.
    EnvelopeRms,
    /// Velocity RMS in 10–1000 Hz.
    Velocity,
    /// RMS of the acceleration in 10–1000 Hz, where the window is too short for a velocity.
    LowBandRms,
    /// Median amplitude of the spectrum in the envelope band.
    NoiseFloor,
    /// Confidence in the named fault.
    Confidence,
    /// A figure of a defect line; without a fault where the key names no line.
    Line(Option<Fault>, LineFigure),
    /// A column of a historian, or a key that this version does not know.
    Other(String),
}

/// Kinds of features: what a rise of one of them speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FeatureKind {
    /// The overall vibration. A rise without any sign of the bearing is a matter of the machine.
    Level,
    /// The vibration at the low frequencies of rotor and frame: unbalance, alignment, looseness.
    LowFrequency,
    /// The waveform's shape and extremes: impacts.
    Impulsiveness,
    /// The high-frequency vibration that impacts and missing lubricant excite.
    Envelope,
    /// The height of a defect line of the bearing.
    LineLevel,
    /// The place or the company of a defect line, which by themselves tell no damage.
    LinePlace,
    /// A verdict of the edge on other figures.
    Verdict,
    /// Nothing is known of it.
    Unknown,
}

impl FeatureKind {
    /// Whether a rise is a sign of the bearing itself.
    pub const fn is_of_bearing(self) -> bool {
        match self {
            Self::Impulsiveness | Self::Envelope | Self::LineLevel => true,
            Self::Level | Self::LowFrequency | Self::LinePlace | Self::Verdict | Self::Unknown => {
                false
            }
        }
    }

    /// Whether a rise means that the machine vibrates more as a whole.
    pub const fn is_level(self) -> bool {
        match self {
            Self::Level | Self::LowFrequency => true,
            Self::Impulsiveness
            | Self::Envelope
            | Self::LineLevel
            | Self::LinePlace
            | Self::Verdict
            | Self::Unknown => false,
        }
    }
}

impl Feature {
    /// The features of the waveform, in the order of the event's block; the noise floor last.
    pub const OF_WAVEFORM: [Self; 13] = [
        Self::Rms,
        Self::Peak,
        Self::PeakToPeak,
        Self::CrestFactor,
        Self::Kurtosis,
        Self::Skewness,
        Self::ShapeFactor,
        Self::ImpulseFactor,
        Self::ClearanceFactor,
        Self::EnvelopeRms,
        Self::Velocity,
        Self::LowBandRms,
        Self::NoiseFloor,
    ];

    /// The feature with this key, such as `rms_g`, `bpfo.snr_db` or `time_domain.kurtosis`.
    pub fn of_key(key: &str) -> Self {
        let mut levels = key.rsplit('.');
        let last = levels.next().unwrap_or(key);
        let mut line = None;
        for level in levels {
            let fault = Fault::ALL.into_iter().find(|fault| fault.frequency_key() == level);
            if fault.is_none() && !matches!(level, "time_domain" | "frequency_domain") {
                return Self::Other(key.to_owned());
            }
            line = line.or(fault);
        }
        Self::of_last(last, line).unwrap_or_else(|| Self::Other(key.to_owned()))
    }

    /// The feature at a path of evidence, which may lead through lists, such as
    /// `frequency_domain.bpfo.harmonics[1].snr_db`; `None` outside of the blocks of features.
    pub fn at_path(path: &str) -> Option<Self> {
        let block = path.split_once('.').map_or("", |(block, _)| block);
        let is_line = Fault::ALL.into_iter().any(|fault| fault.frequency_key() == block);
        if !is_line && !matches!(block, "" | "time_domain" | "frequency_domain") {
            return None;
        }
        let last = path.rsplit('.').next().unwrap_or(path);
        let mut lines = Fault::ALL.into_iter();
        let line = lines.find(|fault| path.split('.').any(|part| part == fault.frequency_key()));
        Self::of_last(last, line)
    }

    fn of_last(last: &str, line: Option<Fault>) -> Option<Self> {
        let known = Self::OF_WAVEFORM.into_iter().chain([Self::Confidence]);
        let figure = || LineFigure::ALL.into_iter().find(|figure| figure.key() == last);
        known
            .into_iter()
            .find(|feature| feature.key() == last)
            .or_else(|| Some(Self::Line(line, figure()?)))
    }

    /// The key in an event, in its short form: `rms_g`, `bpfo.snr_db`.
    pub fn key(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            Self::Rms => "rms_g",
            Self::Peak => "peak_g",
            Self::PeakToPeak => "peak_to_peak_g",
            Self::CrestFactor => "crest_factor",
            Self::Kurtosis => "kurtosis",
            Self::Skewness => "skewness",
            Self::ShapeFactor => "shape_factor",
            Self::ImpulseFactor => "impulse_factor",
            Self::ClearanceFactor => "clearance_factor",
            Self::EnvelopeRms => "envelope_rms_g",
            Self::Velocity => "velocity_rms_mm_s",
            Self::LowBandRms => "low_band_rms_g",
            Self::NoiseFloor => "noise_floor_g",
            Self::Confidence => "confidence",
            Self::Line(None, figure) => figure.key(),
            Self::Line(Some(fault), figure) => {
                return Cow::Owned(format!("{}.{}", fault.frequency_key(), figure.key()));
            }
            Self::Other(text) => text,
        })
    }

    /// Returns the kind of symptom of which a rise of the feature is a sign.
    pub const fn kind(&self) -> FeatureKind {
        match self {
            Self::Rms => FeatureKind::Level,
            // the low-band acceleration stands in for the velocity of a short window
            Self::Velocity | Self::LowBandRms => FeatureKind::LowFrequency,
            Self::Peak
            | Self::PeakToPeak
            | Self::CrestFactor
            | Self::Kurtosis
            | Self::Skewness
            | Self::ShapeFactor
            | Self::ImpulseFactor
            | Self::ClearanceFactor => FeatureKind::Impulsiveness,
            Self::EnvelopeRms | Self::NoiseFloor => FeatureKind::Envelope,
            Self::Confidence => FeatureKind::Verdict,
            Self::Line(_, figure) => figure.kind(),
            Self::Other(_) => FeatureKind::Unknown,
        }
    }

    /// The unit; empty for a ratio and for a column of which nothing is known.
    pub const fn unit(&self) -> &'static str {
        match self {
            Self::Rms
            | Self::Peak
            | Self::PeakToPeak
            | Self::EnvelopeRms
            | Self::LowBandRms
            | Self::NoiseFloor => "g",
            Self::Velocity => "mm/s",
            Self::CrestFactor
            | Self::Kurtosis
            | Self::Skewness
            | Self::ShapeFactor
            | Self::ImpulseFactor
            | Self::ClearanceFactor
            | Self::Confidence
            | Self::Other(_) => "",
            Self::Line(_, figure) => figure.unit(),
        }
    }

    /// The name for people. A column of a historian has its own name only, made safe to show.
    pub fn name(&self) -> Text {
        let (ko, en) = match self {
            Self::Rms => ("가속도 실효값", "Acceleration RMS"),
            Self::Peak => ("가속도 최댓값", "Acceleration peak"),
            Self::PeakToPeak => ("가속도 전진폭", "Acceleration peak to peak"),
            Self::CrestFactor => ("파고율", "Crest factor"),
            Self::Kurtosis => ("첨도", "Kurtosis"),
            Self::Skewness => ("왜도", "Skewness"),
            Self::ShapeFactor => ("파형률", "Shape factor"),
            Self::ImpulseFactor => ("충격 지수", "Impulse factor"),
            Self::ClearanceFactor => ("여유 지수", "Clearance factor"),
            Self::EnvelopeRms => ("포락선 실효값", "Envelope RMS"),
            Self::Velocity => ("진동속도 실효값", "Velocity RMS"),
            Self::LowBandRms => ("저주파 가속도 실효값", "Low-frequency acceleration RMS"),
            Self::NoiseFloor => ("노이즈 플로어", "Noise floor"),
            Self::Confidence => ("결함 판별 신뢰도", "Confidence of the name"),
            Self::Line(fault, figure) => return line::name(*fault, *figure),
            Self::Other(text) => {
                let safe = in_one_line(text, MAX_WORD);
                return Text::new(safe.clone(), safe);
            }
        };
        Text::new(ko, en)
    }
}

impl Event {
    /// The value of a feature in this event; `None` if it was not measured or the event has no such
    /// figure.
    pub fn figure(&self, feature: &Feature) -> Option<f64> {
        let time = &self.time_domain;
        match feature {
            Feature::Rms => time.rms_g,
            Feature::Peak => time.peak_g,
            Feature::PeakToPeak => time.peak_to_peak_g,
            Feature::CrestFactor => time.crest_factor,
            Feature::Kurtosis => time.kurtosis,
            Feature::Skewness => time.skewness,
            Feature::ShapeFactor => time.shape_factor,
            Feature::ImpulseFactor => time.impulse_factor,
            Feature::ClearanceFactor => time.clearance_factor,
            Feature::EnvelopeRms => time.envelope_rms_g,
            Feature::Velocity => time.velocity_rms_mm_s,
            Feature::LowBandRms => time.low_band_rms_g,
            Feature::NoiseFloor => self.frequency_domain.noise_floor_g,
            Feature::Confidence => Some(self.frequency_domain.confidence),
            Feature::Line(Some(fault), figure) => {
                figure.value_in(self.frequency_domain.line(*fault))
            }
            Feature::Line(None, _) | Feature::Other(_) => None,
        }
    }

    /// The features that the anomaly rests on, strongest first.
    pub fn contributing(&self) -> impl Iterator<Item = Feature> + '_ {
        self.anomaly.contributors.iter().map(|key| Feature::of_key(key))
    }
}

impl Serialize for Feature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.key())
    }
}

impl<'de> Deserialize<'de> for Feature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::of_key(&Cow::<'_, str>::deserialize(deserializer)?))
    }
}

/// Checks the key of a figure in an event, such as `envelope_rms_g` or `bpfo.snr_db`; an empty one
/// says that no feature leads.
///
/// # Errors
/// [`BoundError::Unknown`] if no event has such a figure.
pub fn check_key(key: &str) -> Result<(), BoundError> {
    let is_figure = !matches!(Feature::of_key(key), Feature::Other(_));
    let known = key.is_empty() || (is_figure && key.len() <= MAX_WORD);
    if known {
        return Ok(());
    }
    let allowed = "the key of a figure in the event, such as \"envelope_rms_g\" or \"bpfo.snr_db\"";
    Err(BoundError::Unknown { got: in_one_line(key, MAX_WORD).into_owned(), allowed })
}

#[cfg(test)]
mod tests;
