//! Plots as drawings: the trend with the expected end of life, the envelope spectrum with the
//! defect frequencies, the risk over time.

mod axes;
mod envelope;
mod risk;
mod trend;

pub(crate) use envelope::envelope;
pub(crate) use risk::risk;
pub(crate) use trend::trend;

/// Width of a plot, pt: the text width of an A4 page.
const WIDTH: f32 = 505.0;
/// Font size in a plot, pt.
const LETTERS: f32 = 7.5;
