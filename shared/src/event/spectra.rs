//! Spectra on the wire, for people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bounds::LINE_PATTERN;

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
