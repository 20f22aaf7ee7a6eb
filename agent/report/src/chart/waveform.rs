//! The curves of a captured waveform, the sound reference in grey behind them.

use super::WIDTH;
use super::axes::{Frame, Range};
use crate::drawing::{Colour, Drawing, Shape};
use crate::waveform::{WaveformCurve, WaveformPlot};

const HEIGHT: f32 = 150.0;

/// Draws the acceleration over time: between the lowest and the highest value of each column.
pub(crate) fn acceleration(plot: &WaveformPlot) -> Drawing {
    let curve = &plot.acceleration_m_s2;
    let low = values(curve).map(|[_, low, _]| low).fold(0.0, f64::min);
    let mut frame = framed(curve, low, "s");
    let reach = |points: &[[f64; 3]]| -> Vec<[f64; 2]> {
        points.iter().flat_map(|&[x, low, high]| [[x, high], [x, low]]).collect()
    };
    draw(&mut frame, &reach(&curve.reference), Colour::Muted);
    draw(&mut frame, &reach(&curve.points), Colour::Course);
    frame.drawing
}

/// Draws the envelope spectrum with the lines of the bearing.
pub(crate) fn envelope_of_capture(plot: &WaveformPlot) -> Drawing {
    let curve = &plot.envelope;
    let mut frame = framed(curve, 0.0, "Hz");
    let (.., top, bottom) = frame.edges();
    for mark in &plot.marks {
        if !frame.shows(mark.frequency_hz) {
            continue;
        }
        let x = frame.x_of(mark.frequency_hz);
        let colour = if mark.named { Colour::Critical } else { Colour::Rule };
        frame.drawing.dashes([x, top], [x, bottom], colour, 0.7);
        if mark.named {
            frame.tag([x + 2.0, top + 6.0], colour, mark.label.clone());
        }
    }
    let highest = |points: &[[f64; 3]]| -> Vec<[f64; 2]> {
        points.iter().map(|&[x, _, high]| [x, high]).collect()
    };
    draw(&mut frame, &highest(&curve.reference), Colour::Muted);
    draw(&mut frame, &highest(&curve.points), Colour::Course);
    frame.drawing
}

fn values(curve: &WaveformCurve) -> impl Iterator<Item = [f64; 3]> {
    curve.points.iter().chain(&curve.reference).copied()
}

/// A frame that both curves fit into.
fn framed(curve: &WaveformCurve, low: f64, unit: &str) -> Frame {
    let high = values(curve).map(|[.., high]| high).fold(f64::MIN_POSITIVE, f64::max);
    let [from, to] = curve.range;
    let mut frame = Frame::new(WIDTH, HEIGHT, Range::new(from, to), Range::new(low, high));
    frame.y_scale();
    frame.x_scale(unit);
    frame
}

fn draw(frame: &mut Frame, points: &[[f64; 2]], stroke: Colour) {
    let points: Vec<[f32; 2]> =
        points.iter().map(|&[x, y]| [frame.x_of(x), frame.y_of(y)]).collect();
    if points.len() > 1 {
        frame.drawing.shapes.push(Shape::Line { points, stroke, width: 0.6, dashed: false });
    }
}
