//! The statements of a file on its numbers: the name and unit of each channel, its rate and its
//! start.
//!
//! A reader of a format fills these in as the file spells them.
//! Invariant: nothing here is guessed, a statement that the file does not make is `None`.

use pdm_shared::time::Timestamp;

/// The statements of a file on one of its channels.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct StatedChannel {
    /// The name of the column, variable or channel, as the file spells it.
    pub(crate) name: Option<String>,
    /// The unit, as the file spells it.
    pub(crate) unit: Option<String>,
    /// The value of one count in the unit, where the file states it and the reader has not applied
    /// it.
    pub(crate) scale: Option<f64>,
    /// A field beside the numbers that may be such a scale, or the gain of an amplifier: its name
    /// and number.
    pub(crate) factor: Option<(String, f64)>,
    /// The encoding of the numbers in the file.
    pub(crate) encoding: NumberEncoding,
}

/// The encoding of a channel's numbers in the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum NumberEncoding {
    /// Decimal text or floating point, or integers that the reader has scaled by a factor that the
    /// file states: numbers that can be a physical quantity as they are.
    #[default]
    Real,
    /// Integers of a converter without a factor in the file: a scale is needed to make them a
    /// physical quantity.
    Counts {
        /// Bits that carry the number; 0 where the file does not tell.
        bits: u32,
    },
}

/// The time of a first sample, as a file states it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StatedStart {
    /// The time; of a clock whose zone nothing states, written as if it were UTC.
    pub(crate) at: Timestamp,
    /// Nothing states its zone.
    pub(crate) is_local: bool,
    /// Where it stands, in words: `wf_start_time`.
    pub(crate) origin: String,
}
