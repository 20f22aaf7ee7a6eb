//! The plot of the leading feature with the expected end of life.

use pdm_shared::time::Timestamp;

use super::WIDTH;
use super::axes::{Frame, Range};
use crate::data::{EndOfLife, TrendPlot};
use crate::document::Speaker;
use crate::drawing::{Anchor, Colour, Drawing, Shape};

const HEIGHT: f32 = 165.0;
/// Longest time ahead in the plot, as a multiple of the shown history.
const AHEAD: f64 = 2.0;

fn seconds(at: Timestamp) -> f64 {
    at.unix_ms() as f64 / 1000.0
}

/// Draws the trend plot.
pub(crate) fn trend(plot: &TrendPlot, speaker: Speaker) -> Drawing {
    let first = plot.points.first().map_or(0.0, |point| seconds(point.at));
    let last = plot.points.last().map_or(1.0, |point| seconds(point.at));
    let furthest = last + AHEAD * (last - first).max(1.0);
    let until = plot.end.map_or(last, |end| seconds(end.high_at).clamp(last, furthest));
    let values = || {
        let measured = plot.points.iter().map(|point| point.value);
        measured.chain(plot.baseline_limit).chain(plot.baseline_level)
    };
    let top = values().fold(0.0, f64::max);
    let low = values().fold(0.0, f64::min);
    let x = Range::new(first, until);
    let y = Range::new(low, top * 1.15);
    let mut frame = Frame::new(WIDTH, HEIGHT, x, y);
    frame.y_scale();
    frame.time_scale(speaker.1);
    if let Some(end) = plot.end {
        band(&mut frame, end, until, speaker);
    }
    baseline(&mut frame, plot, speaker);
    course(&mut frame, plot);
    frame.drawing
}

/// Draws the feature's level in health, and the limit above which a window counts against it.
fn baseline(frame: &mut Frame, plot: &TrendPlot, speaker: Speaker) {
    let (left, right, ..) = frame.edges();
    if let Some(level) = plot.baseline_level {
        let y = frame.y_of(level);
        frame.drawing.line([left, y], [right, y], Colour::Muted, 0.8);
    }
    if let Some(limit) = plot.baseline_limit {
        let y = frame.y_of(limit);
        frame.drawing.dashes([left, y], [right, y], Colour::Normal, 1.2);
        let text = speaker.word("기준선 한계", "baseline limit");
        frame.tag([left + 3.0, y - 3.0], Colour::Normal, text);
    }
}

/// Draws the interval of the end of life with its median.
fn band(frame: &mut Frame, end: EndOfLife, until: f64, speaker: Speaker) {
    let (_, right, top, bottom) = frame.edges();
    let low = frame.x_of(seconds(end.low_at));
    let high = frame.x_of(seconds(end.high_at).min(until));
    if !frame.shows(seconds(end.low_at)) {
        let text = speaker.word("예상 수명 한계는 그림 밖 →", "expected end beyond the plot →");
        frame.label([right, top + 4.0], Anchor::End, Colour::Warning, text);
        return;
    }
    frame.drawing.rectangle([low, top], [high - low, bottom - top], Colour::Warning, 0.14);
    frame.drawing.line([low, top], [low, bottom], Colour::Warning, 1.2);
    let text = speaker.word("RUL 하한", "RUL lower bound");
    frame.label([low + 3.0, top + 9.0], Anchor::Start, Colour::Warning, text);
    if frame.shows(seconds(end.median_at)) {
        let x = frame.x_of(seconds(end.median_at));
        frame.drawing.dashes([x, top], [x, bottom], Colour::Warning, 1.0);
        let text = speaker.word("중앙값", "median");
        frame.label([x + 3.0, top + 19.0], Anchor::Start, Colour::Warning, text);
    }
}

fn course(frame: &mut Frame, plot: &TrendPlot) {
    let at = |frame: &Frame, point: &crate::data::TrendPoint| {
        [frame.x_of(seconds(point.at)), frame.y_of(point.value)]
    };
    let points = plot.points.iter().map(|point| at(frame, point)).collect();
    let stroke = Colour::Course;
    frame.drawing.shapes.push(Shape::Line { points, stroke, width: 1.2, dashed: false });
    for point in plot.points.iter().filter(|point| point.anomaly) {
        let place = at(frame, point);
        frame.drawing.diamond(place, 1.9, Colour::Critical);
    }
    if let Some(last) = plot.points.last() {
        let place = at(frame, last);
        frame.drawing.diamond(place, 3.2, Colour::Ink);
    }
}
