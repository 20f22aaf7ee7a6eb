//! The plot of the risk over time: a staircase through the four named levels.

use pdm_shared::risk::RiskLevel;

use super::WIDTH;
use super::axes::{Frame, Range};
use crate::data::RiskPlot;
use crate::document::{Speaker, colour, sign};
use crate::drawing::{Anchor, Colour, Drawing, Shape};

const HEIGHT: f32 = 112.0;

fn level(risk: RiskLevel) -> f64 {
    match risk {
        RiskLevel::Normal => 0.0,
        RiskLevel::Watch => 1.0,
        RiskLevel::Warning => 2.0,
        RiskLevel::Critical => 3.0,
    }
}

/// Draws the risk plot.
pub(crate) fn risk(plot: &RiskPlot, speaker: Speaker) -> Drawing {
    let seconds = |at: usize| plot.points.get(at).map_or(0.0, |p| p.at.unix_ms() as f64 / 1000.0);
    let (first, last) = (seconds(0), seconds(plot.points.len().saturating_sub(1)));
    let y = Range::new(-0.5, 3.5);
    let mut frame = Frame::new(WIDTH, HEIGHT, Range::new(first, last), y);
    frame.time_scale(speaker.1);
    let (left, right, ..) = frame.edges();
    for risk in RiskLevel::ALL {
        let (upper, lower) = (frame.y_of(level(risk) + 0.5), frame.y_of(level(risk) - 0.5));
        frame.drawing.rectangle([left, upper], [right - left, lower - upper], colour(risk), 0.10);
        let name = format!("{} {}", sign(risk), speaker.say(&risk.label()));
        let place = [left - 4.0, frame.y_of(level(risk)) + 2.6];
        frame.label(place, Anchor::End, colour(risk), name);
    }
    let mut points: Vec<[f32; 2]> = Vec::new();
    for (at, point) in plot.points.iter().enumerate() {
        let place = [frame.x_of(seconds(at)), frame.y_of(level(point.risk_level))];
        if let Some([_, before]) = points.last().copied() {
            points.push([place[0], before]);
        }
        points.push(place);
    }
    frame.drawing.shapes.push(Shape::Line {
        points,
        stroke: Colour::Ink,
        width: 1.4,
        dashed: false,
    });
    changes(&mut frame, plot);
    frame.drawing
}

/// Draws a mark and the stage at each change of risk or stage, and at the last judgement.
fn changes(frame: &mut Frame, plot: &RiskPlot) {
    let last = plot.points.len().saturating_sub(1);
    let mut free_from = f32::MIN;
    for (at, point) in plot.points.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| plot.points.get(before));
        let same = before.is_some_and(|before| {
            (before.risk_level, before.fault_stage) == (point.risk_level, point.fault_stage)
        });
        if same && at != last {
            continue;
        }
        let x = frame.x_of(point.at.unix_ms() as f64 / 1000.0);
        let y = frame.y_of(level(point.risk_level));
        frame.drawing.diamond([x, y], 3.0, colour(point.risk_level));
        if point.fault_stage > 0 && x > free_from {
            let text = format!("P-F {}", point.fault_stage);
            let (_, right, ..) = frame.edges();
            let anchor = if x + 24.0 > right { Anchor::End } else { Anchor::Start };
            frame.label(
                [x + if anchor == Anchor::End { -4.0 } else { 4.0 }, y - 4.0],
                anchor,
                Colour::Ink,
                text,
            );
            free_from = x + 26.0;
        }
    }
}
