//! Plots as drawings: the trend with the expected end of life, the envelope spectrum with the
//! defect frequencies, the risk over time, the captured waveform.

mod axes;
mod envelope;
mod risk;
mod trend;
mod waveform;

pub(crate) use envelope::envelope;
pub(crate) use risk::risk;
pub(crate) use trend::trend;
pub(crate) use waveform::{acceleration, envelope_of_capture};

/// Width of a plot, pt: the text width of an A4 page.
const WIDTH: f32 = 505.0;
/// Font size in a plot, pt.
const LETTERS: f32 = 7.5;
