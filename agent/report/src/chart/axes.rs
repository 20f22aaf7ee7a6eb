//! A frame with scales: the positions of values in it, and the marks at its edges.

use pdm_expert::wording::figure;
use pdm_routes::Zone;
use pdm_shared::time::Timestamp;

use super::LETTERS;
use crate::drawing::{Anchor, Colour, Drawing, Label};
use crate::font;

/// Margins at the left for the scale, at the right, at the top, below.
const LEFT: f32 = 46.0;
const RIGHT: f32 = 8.0;
const TOP: f32 = 10.0;
const BELOW: f32 = 24.0;
/// Steps of a time scale, s.
const TIME_STEPS: [f64; 20] = [
    1.0,
    10.0,
    60.0,
    300.0,
    600.0,
    1800.0,
    3600.0,
    7200.0,
    10_800.0,
    21_600.0,
    43_200.0,
    86_400.0,
    172_800.0,
    345_600.0,
    604_800.0,
    1_209_600.0,
    2_592_000.0,
    7_776_000.0,
    31_536_000.0,
    157_680_000.0,
];

/// A range of values; never empty.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    from: f64,
    to: f64,
}

impl Range {
    /// The range from `from` to `to`, widened if both are equal.
    pub(super) fn new(from: f64, to: f64) -> Self {
        if to > from && from.is_finite() && to.is_finite() {
            Self { from, to }
        } else {
            let middle = if from.is_finite() { from } else { 0.0 };
            let half = middle.abs().max(1.0) / 2.0;
            Self { from: middle - half, to: middle + half }
        }
    }

    fn share(self, value: f64) -> f32 {
        ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0) as f32
    }

    /// Whether a value lies in the range.
    pub(super) fn holds(self, value: f64) -> bool {
        (self.from..=self.to).contains(&value)
    }
}

/// A frame in a drawing.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) drawing: Drawing,
    x: Range,
    y: Range,
}

impl Frame {
    /// An empty frame of this size with these ranges.
    pub(super) fn new(width: f32, height: f32, x: Range, y: Range) -> Self {
        let mut frame = Self { drawing: Drawing::new(width, height), x, y };
        let (left, right, top, bottom) = frame.edges();
        frame.drawing.line([left, bottom], [right, bottom], Colour::Muted, 0.8);
        frame.drawing.line([left, top], [left, bottom], Colour::Muted, 0.8);
        frame
    }

    /// Left, right, top and bottom edge of the inside.
    pub(super) fn edges(&self) -> (f32, f32, f32, f32) {
        (LEFT, self.drawing.width - RIGHT, TOP, self.drawing.height - BELOW)
    }

    /// Position of a value of x; values outside the range are placed at the edge.
    pub(super) fn x_of(&self, value: f64) -> f32 {
        let (left, right, ..) = self.edges();
        left + (right - left) * self.x.share(value)
    }

    /// Position of a value of y.
    pub(super) fn y_of(&self, value: f64) -> f32 {
        let (.., top, bottom) = self.edges();
        bottom - (bottom - top) * self.y.share(value)
    }

    /// Whether a value of x is inside the frame.
    pub(super) fn shows(&self, value: f64) -> bool {
        self.x.holds(value)
    }

    /// Draws a small text.
    pub(super) fn label(&mut self, [x, y]: [f32; 2], anchor: Anchor, colour: Colour, text: String) {
        let label = Label { x, y, size: LETTERS, anchor, bold: false, colour, text };
        self.drawing.text(label);
    }

    /// Draws a small text on a filled background, so that no line crosses the text.
    pub(super) fn tag(&mut self, [x, y]: [f32; 2], colour: Colour, text: String) {
        let width = font::width(&text, LETTERS) + 2.0;
        self.drawing.rectangle([x - 1.0, y - LETTERS], [width, LETTERS + 2.0], Colour::Paper, 0.9);
        self.label([x, y], Anchor::Start, colour, text);
    }

    /// Draws the scale at the left with its lines; the unit is in the plot's title.
    pub(super) fn y_scale(&mut self) {
        let (left, right, ..) = self.edges();
        for value in round_values(self.y, 4.0) {
            let y = self.y_of(value);
            self.drawing.line([left, y], [right, y], Colour::Rule, 0.5);
            self.label([left - 4.0, y + 2.6], Anchor::End, Colour::Muted, figure_of(value));
        }
    }

    /// Draws a scale of numbers below.
    pub(super) fn x_scale(&mut self, unit: &str) {
        let (_, right, _, bottom) = self.edges();
        for value in round_values(self.x, 8.0) {
            let x = self.x_of(value);
            self.drawing.line([x, bottom], [x, bottom + 3.0], Colour::Muted, 0.8);
            self.label([x, bottom + 11.0], Anchor::Middle, Colour::Muted, figure_of(value));
        }
        self.label([right, bottom + 21.0], Anchor::End, Colour::Muted, unit.to_owned());
    }

    /// Draws a scale of times on a plant's clock below; x is in seconds since 1970.
    pub(super) fn time_scale(&mut self, zone: Zone) {
        let (_, right, _, bottom) = self.edges();
        let span = self.x.to - self.x.from;
        let step = TIME_STEPS.into_iter().find(|step| span / step <= 7.0).unwrap_or(span / 4.0);
        let form = match step {
            step if step < 60.0 => "%H:%M:%S",
            step if step < 86_400.0 && span < 172_800.0 => "%H:%M",
            step if step < 86_400.0 => "%m-%d %H:%M",
            step if step < 2_592_000.0 => "%m-%d",
            _ => "%Y-%m",
        };
        let shown = |at: f64| Timestamp::from_unix_ms((at * 1000.0) as i64);
        // full hours and days of that clock; on the day on which it is set they lie beside the
        // marks
        let local_s = |at| zone.local_as_utc(at).seconds_since(at);
        let ahead_s = shown(self.x.to).map_or(0.0, local_s);
        let mut at = ((self.x.from + ahead_s) / step).ceil() * step - ahead_s;
        while at <= self.x.to {
            let x = self.x_of(at);
            self.drawing.line([x, bottom], [x, bottom + 3.0], Colour::Muted, 0.8);
            if let Some(moment) = shown(at) {
                let text = zone.local(moment).format(form).to_string();
                self.label([x, bottom + 11.0], Anchor::Middle, Colour::Muted, text);
            }
            at += step;
        }
        let name = shown(self.x.to).map(|at| zone.abbreviation(at)).unwrap_or_default();
        self.label([right, bottom + 21.0], Anchor::End, Colour::Muted, name);
    }
}

/// A number of a scale: zero as `0`, others with three digits.
fn figure_of(value: f64) -> String {
    if value < 0.0 { format!("-{}", figure(-value)) } else { figure(value) }
}

/// Round values in a range, about `count` of them: steps of 1, 2, 5 and their tens.
fn round_values(range: Range, count: f64) -> Vec<f64> {
    let rough = (range.to - range.from) / count;
    let power = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|factor| factor * power >= rough);
    let step = factor.unwrap_or(10.0) * power;
    let first = (range.from / step).ceil();
    (0..=20)
        .map(|n| (first + f64::from(n)) * step)
        .take_while(|value| *value <= range.to * (1.0 + 1e-9))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_have_round_values_inside_the_range() {
        assert_eq!(round_values(Range::new(0.0, 0.43), 4.0), [0.0, 0.2, 0.4]);
        assert_eq!(round_values(Range::new(0.0, 430.0), 8.0).len(), 5);
    }

    proptest::proptest! {
        #[test]
        fn no_range_panics_and_all_stands_inside(from in proptest::num::f64::ANY,
            to in proptest::num::f64::ANY, value in proptest::num::f64::ANY) {
            let range = Range::new(from, to);
            proptest::prop_assert!(round_values(range, 4.0).len() <= 21);
            let mut frame = Frame::new(500.0, 150.0, range, range);
            frame.y_scale();
            frame.x_scale("Hz");
            let x = frame.x_of(value);
            proptest::prop_assert!(value.is_nan() || (0.0..=500.0).contains(&x));
        }
    }
}
