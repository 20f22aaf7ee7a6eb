//! The figures of a defect line as features.

use super::FeatureKind;
use crate::event::DefectLine;
use crate::fault::Fault;
use crate::text::Text;

/// A figure of a defect line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LineFigure {
    /// Level of the envelope line above the local floor.
    Level,
    /// Amplitude of the envelope spectrum at the line.
    EnvelopeAmplitude,
    /// Amplitude of the acceleration spectrum at the line.
    Amplitude,
    /// Score of the defect.
    Score,
    /// Frequency of the line.
    Frequency,
    /// Frequency as a multiple of the shaft speed.
    Order,
    /// The sidebands around the line.
    Sidebands,
    /// The multiples of the line.
    Harmonics,
}

impl LineFigure {
    /// All figures of a line.
    pub const ALL: [Self; 8] = [
        Self::Level,
        Self::EnvelopeAmplitude,
        Self::Amplitude,
        Self::Score,
        Self::Frequency,
        Self::Order,
        Self::Sidebands,
        Self::Harmonics,
    ];

    /// The key within the line's block of an event.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Level => "snr_db",
            Self::EnvelopeAmplitude => "envelope_amplitude",
            Self::Amplitude => "amplitude_g",
            Self::Score => "score",
            Self::Frequency => "frequency_hz",
            Self::Order => "order",
            Self::Sidebands => "sidebands",
            Self::Harmonics => "harmonics",
        }
    }

    /// Returns the kind of symptom of which a rise of the figure is a sign.
    pub const fn kind(self) -> FeatureKind {
        match self {
            Self::Level | Self::EnvelopeAmplitude | Self::Amplitude => FeatureKind::LineLevel,
            Self::Score => FeatureKind::Verdict,
            Self::Frequency | Self::Order | Self::Sidebands | Self::Harmonics => {
                FeatureKind::LinePlace
            }
        }
    }

    /// The unit; empty for a ratio and a count.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Level => "dB",
            Self::EnvelopeAmplitude | Self::Amplitude => "g",
            Self::Frequency => "Hz",
            Self::Score | Self::Order | Self::Sidebands | Self::Harmonics => "",
        }
    }

    /// The value in a line; the number of sidebands and multiples.
    pub fn value_in(self, line: &DefectLine) -> Option<f64> {
        match self {
            Self::Level => line.snr_db,
            Self::EnvelopeAmplitude => line.envelope_amplitude,
            Self::Amplitude => line.amplitude_g,
            Self::Score => line.score,
            Self::Frequency => line.frequency_hz,
            Self::Order => line.order,
            Self::Sidebands => Some(f64::from(line.sidebands.count)),
            Self::Harmonics => u32::try_from(line.harmonics.len()).ok().map(f64::from),
        }
    }
}

/// The name of a line's figure, with the name of its frequency in front where the line is known.
pub(super) fn name(fault: Option<Fault>, figure: LineFigure) -> Text {
    let (ko, en) = match figure {
        LineFigure::Level => ("결함선 수준(노이즈 플로어 대비)", "Line above the floor"),
        LineFigure::EnvelopeAmplitude => ("포락선 결함선 진폭", "Envelope line"),
        LineFigure::Amplitude => ("결함선 진폭", "Line amplitude"),
        LineFigure::Score => ("결함선 점수", "Score of the line"),
        LineFigure::Frequency => ("결함 주파수", "Defect frequency"),
        LineFigure::Order => ("결함 차수", "Order of the line"),
        LineFigure::Sidebands => ("측대파", "Sidebands"),
        LineFigure::Harmonics => ("고조파", "Harmonics"),
    };
    let line = match fault {
        None => return Text::new(ko, en),
        Some(Fault::OuterRace) => "BPFO",
        Some(Fault::InnerRace) => "BPFI",
        Some(Fault::Ball) => "BSF",
        Some(Fault::Cage) => "FTF",
    };
    Text::new(format!("{line} {ko}"), format!("{line}: {en}"))
}
