//! The plot of an episode that differs: the level over its baseline, the risk under both
//! configurations and their messages.

use pdm_report::document::colour;
use pdm_report::drawing::{Anchor, Colour, Drawing, Label, Shape};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;

use super::compare::Difference;
use super::course::Point;
use super::played::{BearingPlayed, MachinePlayed, Message};

/// Size, pt: the text width of an A4 page.
const WIDTH: f32 = 505.0;
const HEIGHT: f32 = 140.0;
/// The left edge of the plot, its top and bottom, pt.
const LEFT: f32 = 40.0;
const TOP: f32 = 12.0;
const BOTTOM: f32 = 88.0;
/// A strip's height and the distance from one to the next, pt.
const STRIP: f32 = 8.0;
const STRIPS: f32 = 14.0;
const LETTERS: f32 = 7.5;
/// Share of the episode's length that is shown before and after it, and the least, s.
const AROUND: f64 = 0.3;
const LEAST_S: f64 = 86_400.0;

/// The times that a plot shows.
struct Span {
    from: Timestamp,
    length_s: f64,
}

impl Span {
    fn of(difference: &Difference, bearing: &BearingPlayed) -> Option<Self> {
        let told = || difference.a.iter().chain(&difference.b);
        let begun = told().map(|one| one.opened_at).min()?;
        let ended = told().map(|one| one.closed_at.unwrap_or(bearing.last)).max()?;
        let around_s = (AROUND * ended.seconds_since(begun)).max(LEAST_S);
        let from = begun.plus_seconds(-around_s).max(bearing.first);
        let until = ended.plus_seconds(around_s).min(bearing.last);
        Some(Self { from, length_s: until.seconds_since(from).max(1.0) })
    }

    fn x(&self, at: Timestamp) -> f32 {
        let share = (at.seconds_since(self.from) / self.length_s).clamp(0.0, 1.0);
        LEFT + (WIDTH - LEFT) * share as f32
    }

    fn holds(&self, at: Timestamp) -> bool {
        (0.0..=self.length_s).contains(&at.seconds_since(self.from))
    }
}

/// Draws the plot of a difference; `None` if the bearing was not played here.
pub(super) fn plot(difference: &Difference, machines: &[MachinePlayed]) -> Option<Drawing> {
    let mut bearings = machines.iter().flat_map(|machine| &machine.bearings);
    let bearing = bearings.find(|one| one.bearing == difference.bearing)?;
    let span = Span::of(difference, bearing)?;
    let shown: Vec<&Point> = bearing.course.iter().filter(|one| span.holds(one.at)).collect();
    let mut drawing = Drawing::new(WIDTH, HEIGHT);
    level(&mut drawing, &span, &shown);
    for (place, name) in ["A", "B"].into_iter().enumerate().take(bearing.sides.len()) {
        let top = BOTTOM + STRIPS * place as f32 + 6.0;
        label(&mut drawing, [LEFT - 6.0, top + STRIP - 1.0], Anchor::End, name.to_owned());
        let risk = |point: &&Point| point.risks.get(place).copied().unwrap_or(RiskLevel::Normal);
        strip(&mut drawing, &span, top, shown.iter().map(|point| (point.at, risk(point))));
        let messages = bearing.sides.get(place).map(|side| side.messages.as_slice());
        marks(&mut drawing, &span, top, messages.unwrap_or_default());
    }
    let foot = HEIGHT - 6.0;
    let until = span.from.plus_seconds(span.length_s);
    label(&mut drawing, [LEFT, foot], Anchor::Start, minute(span.from));
    label(&mut drawing, [WIDTH, foot], Anchor::End, minute(until));
    Some(drawing)
}

/// An instant to the minute.
pub(super) fn minute(at: Timestamp) -> String {
    at.date_time().format("%Y-%m-%d %H:%M UTC").to_string()
}

/// The level over its baseline, from 0.
fn level(drawing: &mut Drawing, span: &Span, points: &[&Point]) {
    drawing.line([LEFT, BOTTOM], [WIDTH, BOTTOM], Colour::Rule, 0.7);
    let ratios = || points.iter().filter_map(|one| Some((one.at, one.ratio?)));
    let Some(highest) = ratios().map(|(_, ratio)| ratio).max_by(f64::total_cmp) else { return };
    let highest = highest.max(1.5);
    let y = |ratio: f64| BOTTOM - (BOTTOM - TOP) * (ratio.max(0.0) / highest) as f32;
    drawing.dashes([LEFT, y(1.0)], [WIDTH, y(1.0)], Colour::Muted, 0.5);
    label(drawing, [LEFT - 6.0, y(1.0) + 3.0], Anchor::End, "1×".to_owned());
    label(drawing, [LEFT - 6.0, TOP + 3.0], Anchor::End, format!("{highest:.1}×"));
    let line = ratios().map(|(at, ratio)| [span.x(at), y(ratio)]).collect();
    drawing.shapes.push(Shape::Line {
        points: line,
        stroke: Colour::Course,
        width: 1.2,
        dashed: false,
    });
}

/// The risk as a strip of colours, one for each stretch of one risk.
fn strip(
    drawing: &mut Drawing,
    span: &Span,
    top: f32,
    risks: impl Iterator<Item = (Timestamp, RiskLevel)>,
) {
    let mut stretches: Vec<(Timestamp, RiskLevel)> = Vec::new();
    for (at, risk) in risks {
        if stretches.last().is_none_or(|(_, last)| *last != risk) {
            stretches.push((at, risk));
        }
    }
    let end = span.from.plus_seconds(span.length_s);
    for (place, (at, risk)) in stretches.iter().enumerate() {
        let until = stretches.get(place + 1).map_or(end, |(next, _)| *next);
        let (from, to) = (span.x(*at), span.x(until));
        let opacity = if *risk == RiskLevel::Normal { 0.15 } else { 0.85 };
        drawing.rectangle([from, top], [to - from, STRIP], colour(*risk), opacity);
    }
}

/// A diamond for each message.
fn marks(drawing: &mut Drawing, span: &Span, top: f32, messages: &[Message]) {
    for message in messages.iter().filter(|one| span.holds(one.at)) {
        drawing.diamond([span.x(message.at), top + STRIP / 2.0], 4.0, Colour::Ink);
    }
}

fn label(drawing: &mut Drawing, [x, y]: [f32; 2], anchor: Anchor, text: String) {
    let (size, colour) = (LETTERS, Colour::Muted);
    drawing.text(Label { x, y, size, anchor, bold: false, colour, text });
}
