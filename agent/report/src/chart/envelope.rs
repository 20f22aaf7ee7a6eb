//! The envelope spectrum with the defect frequencies marked.

use super::WIDTH;
use super::axes::{Frame, Range};
use crate::data::{EnvelopePlot, SpectrumMark};
use crate::drawing::{Colour, Drawing, Shape};
use crate::{font, words};

const HEIGHT: f32 = 190.0;
/// Rows of labels above the spectrum.
const ROWS: usize = 4;
/// Share of the height for the labels.
const LABELS: f64 = 0.30;

/// Draws the envelope spectrum.
pub(crate) fn envelope(plot: &EnvelopePlot) -> Drawing {
    let highest = plot.df_hz * plot.amplitude.len() as f64;
    // the first two lines are the mean level, not its modulation
    let top = plot.amplitude.iter().skip(2).copied().fold(f64::MIN_POSITIVE, f64::max);
    let y = Range::new(0.0, top * (1.0 + 2.0 * LABELS));
    let mut frame = Frame::new(WIDTH, HEIGHT, Range::new(0.0, highest), y);
    frame.y_scale();
    frame.x_scale("Hz");
    marks(&mut frame, &plot.marks);
    let points = plot
        .amplitude
        .iter()
        .enumerate()
        .map(|(at, value)| [frame.x_of(at as f64 * plot.df_hz), frame.y_of(value.min(top))])
        .collect();
    let stroke = Colour::Course;
    frame.drawing.shapes.push(Shape::Line { points, stroke, width: 0.9, dashed: false });
    frame.drawing
}

/// Draws a dashed line at each frequency, with its name in the first row that has room.
fn marks(frame: &mut Frame, marks: &[SpectrumMark]) {
    let (_, right, top, bottom) = frame.edges();
    let mut marks: Vec<&SpectrumMark> =
        marks.iter().filter(|mark| frame.shows(mark.frequency_hz)).collect();
    marks.sort_by(|a, b| a.frequency_hz.total_cmp(&b.frequency_hz));
    let mut taken = [f32::MIN; ROWS];
    let mut tags = Vec::new();
    for mark in marks {
        let x = frame.x_of(mark.frequency_hz);
        let text = format!("{} {}", mark.label, words::quantity(mark.frequency_hz, "Hz"));
        let needed = font::width(&text, super::LETTERS) + 6.0;
        let colour = if mark.named { Colour::Critical } else { Colour::Muted };
        let from = if x + needed > right { x - needed } else { x };
        let row = taken.iter().position(|end| *end <= from).unwrap_or(ROWS - 1);
        let y = top + 6.0 + row as f32 * 10.0;
        if let Some(end) = taken.get_mut(row) {
            *end = from + needed;
        }
        frame.drawing.dashes([x, y + 1.0], [x, bottom], colour, if mark.named { 0.9 } else { 0.6 });
        tags.push(([from + 2.0, y], colour, text));
    }
    for (place, colour, text) in tags {
        frame.tag(place, colour, text);
    }
}
