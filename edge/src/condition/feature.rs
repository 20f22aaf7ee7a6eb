//! The kinds of quantities that features are: how each is scaled, how far it strays in health,
//! whether it can lead a trend. Decided by the [`Feature`] that its key names; a column of a
//! historian is `Generic`, unless the end of its name is a feature's key.

use pdm_shared::feature::{Feature, LineFigure};

/// Kinds of features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FeatureKind {
    /// A vibration level in g: RMS, envelope RMS, the amplitude of a line.
    Level,
    /// Velocity RMS 10–1000 Hz, mm/s.
    Velocity,
    /// The waveform's shape or extremes: kurtosis, crest factor, peak. Heavy-tailed; falls back
    /// while damage grows, so it never leads a trend.
    Shape,
    /// A level above a floor, dB.
    Decibel,
    /// A column of a historian: nothing is known of it.
    Generic,
}

impl FeatureKind {
    /// The kind of the feature with this key.
    pub(super) fn of(key: &str) -> Self {
        match Feature::of_key(key) {
            Feature::Peak
            | Feature::PeakToPeak
            | Feature::CrestFactor
            | Feature::Kurtosis
            | Feature::Skewness
            | Feature::ShapeFactor
            | Feature::ImpulseFactor
            | Feature::ClearanceFactor => Self::Shape,
            Feature::Velocity => Self::Velocity,
            Feature::Rms | Feature::LowBandRms | Feature::EnvelopeRms | Feature::NoiseFloor => {
                Self::Level
            }
            Feature::Line(_, figure) => Self::of_line(figure),
            Feature::Confidence => Self::Generic,
            Feature::Other(name) => Self::of_column(&name),
        }
    }

    const fn of_line(figure: LineFigure) -> Self {
        match figure {
            LineFigure::Level => Self::Decibel,
            LineFigure::EnvelopeAmplitude | LineFigure::Amplitude => Self::Level,
            LineFigure::Score
            | LineFigure::Frequency
            | LineFigure::Order
            | LineFigure::Sidebands
            | LineFigure::Harmonics => Self::Generic,
        }
    }

    /// Returns the kind of a historian's column, by the text after its last dot.
    fn of_column(name: &str) -> Self {
        match name.rsplit_once('.') {
            Some((_, last)) => Self::of(last),
            None if name.ends_with("_db") => Self::Decibel,
            None => Self::Generic,
        }
    }

    /// Least spread that a feature is credited with: relative for logarithmic ones, dB for
    /// decibels.
    ///
    /// Chosen: 3 % for levels and 8 % for shapes on the FEMTO runs (short windows stray more than
    /// their first fifty show); 1 % for a generic column, which must speak for itself (IMS test 2,
    /// 1-s windows, strays by 1.3 %); 1.5 dB on the noise of line-over-floor ratios.
    pub(super) const fn floor(self) -> f64 {
        match self {
            Self::Level | Self::Velocity => 0.03,
            Self::Shape => 0.08,
            Self::Decibel => 1.5,
            Self::Generic => 0.01,
        }
    }

    /// The logarithm is taken of positive quantities; decibels are one already.
    pub(super) const fn may_be_log(self) -> bool {
        !matches!(self, Self::Decibel)
    }

    /// Whether its course can be read as the course of the damage.
    pub(super) const fn leads(self) -> bool {
        matches!(self, Self::Level | Self::Velocity | Self::Generic)
    }
}

/// The unit of a feature by its key; `1` where the key does not tell.
pub(super) fn unit(key: &str) -> &'static str {
    let known = Feature::of_key(key);
    let Feature::Other(name) = &known else {
        return if known.unit().is_empty() { "1" } else { known.unit() };
    };
    match name.rsplit_once('.') {
        Some((_, last)) => unit(last),
        None if name.ends_with("_mm_s") => "mm/s",
        None if name.ends_with("_db") => "dB",
        None if name.ends_with("_g") => "g",
        None => "1",
    }
}

/// A level's square: energies and powers reach their end at the square of a level's ratio.
pub(super) fn is_squared(key: &str) -> bool {
    let Feature::Other(name) = Feature::of_key(key) else { return false };
    let name = name.to_ascii_lowercase();
    ["energy", "power", "psd", "variance"].iter().any(|word| name.contains(word))
}

/// Whether a level at failure can be said from the healthy one. Figures of shape come back while
/// damage grows, and a single defect line has no usual end: on IMS test 2 it grows 150-fold.
pub(super) fn has_usual_end(key: &str) -> bool {
    match Feature::of_key(key) {
        Feature::Rms
        | Feature::Peak
        | Feature::PeakToPeak
        | Feature::EnvelopeRms
        | Feature::Velocity
        | Feature::LowBandRms
        | Feature::NoiseFloor
        | Feature::Confidence
        | Feature::Line(
            None,
            LineFigure::Amplitude
            | LineFigure::EnvelopeAmplitude
            | LineFigure::Score
            | LineFigure::Order
            | LineFigure::Sidebands
            | LineFigure::Harmonics,
        ) => true,
        Feature::CrestFactor
        | Feature::Kurtosis
        | Feature::Skewness
        | Feature::ShapeFactor
        | Feature::ImpulseFactor
        | Feature::ClearanceFactor
        | Feature::Line(None, LineFigure::Level | LineFigure::Frequency)
        | Feature::Line(Some(_), _) => false,
        Feature::Other(name) => has_column_usual_end(&name),
    }
}

/// Whether a historian's column is a level of vibration, whose ratio to its baseline says what it
/// is worth: no figure of shape, no defect line, and no temperature, whose zero is not nothing.
pub(super) fn is_column_level(key: &str) -> bool {
    let Feature::Other(name) = Feature::of_key(key) else { return false };
    let temperatures = ["temp", "celsius", "degc", "fahrenheit", "degf"];
    let lower = name.to_ascii_lowercase();
    has_column_usual_end(&name) && !temperatures.iter().any(|word| lower.contains(word))
}

/// Whether a historian's column is the line of one element: what only a bearing has.
pub(crate) fn is_column_line(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["bpfo", "bpfi", "bsf", "ftf"].iter().any(|word| name.contains(word))
}

/// Whether the same holds for a column of a historian, whose name is all that is known of it.
fn has_column_usual_end(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let without = [
        "kurt", "crest", "skew", "factor", "entropy", "ratio", "freq", "bpfo", "bpfi", "bsf",
        "ftf", "snr",
    ];
    !without.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_the_event_are_known() {
        assert_eq!(FeatureKind::of("rms_g"), FeatureKind::Level);
        assert_eq!(FeatureKind::of("bpfo.snr_db"), FeatureKind::Decibel);
        assert_eq!(FeatureKind::of("bpfi.envelope_amplitude"), FeatureKind::Level);
        assert_eq!(FeatureKind::of("kurtosis"), FeatureKind::Shape);
        assert_eq!(FeatureKind::of("Bearing1_ch1_rms"), FeatureKind::Generic);
        assert_eq!(FeatureKind::of("pump.kurtosis"), FeatureKind::Shape);
        assert_eq!(unit("velocity_rms_mm_s"), "mm/s");
        assert_eq!(unit("bpfo.envelope_amplitude"), "g");
        assert!(is_squared("Bearing1_ch1_energy") && !is_squared("rms_g"));
        assert!(is_column_level("Bearing1_ch1_rms") && is_column_level("MTR-3 overall"));
        for other in ["rms_g", "Bearing1_ch1_kurt", "b1_env_bpfo_energy", "DE bearing temp"] {
            assert!(!is_column_level(other), "{other}");
        }
        assert!(is_column_line("Bearing1_ch1_env_BPFO_energy") && !is_column_line("b1_rms"));
        assert!(has_usual_end("envelope_rms_g") && !has_usual_end("Bearing1_ch1_kurt"));
    }
}
