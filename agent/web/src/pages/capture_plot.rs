//! The curves of a capture as drawings of the page (SVG): paths and marks; what is written stands
//! beside them as text, so that it is read at every width.

use std::fmt::Write as _;

use minijinja::context;
use minijinja::value::Value;
use pdm_shared::text::{Language, Text};

use crate::plant::{CaptureCurve, CaptureCurveKind, CaptureDrawn};

/// Width and height of a drawing; the page stretches it to its own width.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 240.0;
/// Labels below a plot.
const LABELS: u32 = 4;

/// The plots of a capture for the template.
pub(super) fn plots(drawn: &CaptureDrawn, language: Language) -> Vec<Value> {
    drawn.curves.iter().map(|curve| plot(drawn, curve, language)).collect()
}

/// The ordinates of a plot.
struct Scale {
    x: (f64, f64),
    y: (f64, f64),
}

impl Scale {
    fn x(&self, x: f64) -> f64 {
        (x - self.x.0) / (self.x.1 - self.x.0) * WIDTH
    }

    fn y(&self, y: f64) -> f64 {
        HEIGHT - (y - self.y.0) / (self.y.1 - self.y.0) * HEIGHT
    }
}

fn plot(drawn: &CaptureDrawn, curve: &CaptureCurve, language: Language) -> Value {
    let is_spectrum = is_spectrum(curve.kind);
    let all = || curve.points.iter().chain(curve.over.iter().flatten());
    let low = if is_spectrum { 0.0 } else { all().map(|point| point[1]).fold(0.0, f64::min) };
    let high = all().map(|point| point[2]).fold(0.0, f64::max);
    let scale = Scale { x: curve.range, y: (low, if high > low { high } else { low + 1.0 }) };
    let path = |points: &[[f64; 3]]| path(points, &scale, is_spectrum);
    let (title, unit_x, unit_y, factor) = words(curve.kind);
    let label = |at: u32| {
        let share = f64::from(at) / f64::from(LABELS);
        figure((scale.x.0 + share * (scale.x.1 - scale.x.0)) * factor)
    };
    context! {
        id => curve.kind.as_str(),
        factor,
        is_two_sided => !is_spectrum,
        title => title.in_language(language),
        unit_x => unit_x.in_language(language),
        unit_y,
        width => WIDTH,
        height => HEIGHT,
        path => path(&curve.points),
        over => curve.over.as_ref().map(|over| path(over)),
        is_empty => curve.points.is_empty(),
        low => figure(scale.y.0),
        high => figure(scale.y.1),
        labels => (0..=LABELS).map(label).collect::<Vec<_>>(),
        marks => marks(drawn, curve.kind, &scale),
        window => window(drawn, curve.kind, &scale),
    }
}

const fn is_spectrum(kind: CaptureCurveKind) -> bool {
    match kind {
        CaptureCurveKind::Waveform | CaptureCurveKind::Cepstrum => false,
        CaptureCurveKind::Spectrum | CaptureCurveKind::Envelope | CaptureCurveKind::Orders => true,
    }
}

/// Title, unit of the abscissa and of the ordinate, and the factor by which the abscissa is
/// written.
fn words(kind: CaptureCurveKind) -> (Text, Text, &'static str, f64) {
    let seconds = || Text::new("초 (판정 구간 시작이 0)", "s (0: begin of the judged window)");
    let hertz = || Text::new("Hz", "Hz");
    match kind {
        CaptureCurveKind::Waveform => (Text::new("파형", "Waveform"), seconds(), "m/s²", 1.0),
        CaptureCurveKind::Spectrum => (Text::new("스펙트럼", "Spectrum"), hertz(), "m/s²", 1.0),
        CaptureCurveKind::Envelope => {
            (Text::new("포락선 스펙트럼", "Envelope spectrum"), hertz(), "(m/s²)²", 1.0)
        }
        CaptureCurveKind::Cepstrum => {
            (Text::new("켑스트럼", "Cepstrum"), Text::new("ms", "ms"), "", 1000.0)
        }
        CaptureCurveKind::Orders => {
            (Text::new("차수 스펙트럼", "Order spectrum"), Text::new("차수", "orders"), "m/s²", 1.0)
        }
    }
}

/// A line through the highest values, and through the lowest too where the curve has two sides.
fn path(points: &[[f64; 3]], scale: &Scale, is_one_sided: bool) -> String {
    let mut path = String::with_capacity(points.len() * 14);
    for [x, low, high] in points {
        let begin = if path.is_empty() { 'M' } else { 'L' };
        // a text takes every write
        let _written = write!(path, "{begin}{:.1} {:.1}", scale.x(*x), scale.y(*high));
        if !is_one_sided && low < high {
            let _written = write!(path, "V{:.1}", scale.y(*low));
        }
    }
    path
}

/// Returns the positions of the lines of bearing and shaft; empty in the waveform, and in the
/// spectrum, whose lowest hundredth holds all of them.
fn marks(drawn: &CaptureDrawn, kind: CaptureCurveKind, scale: &Scale) -> Vec<Value> {
    let at = |hz: f64| match kind {
        CaptureCurveKind::Envelope => Some(hz),
        CaptureCurveKind::Orders => Some(hz / drawn.shaft_hz),
        CaptureCurveKind::Cepstrum => Some(1.0 / hz),
        CaptureCurveKind::Waveform | CaptureCurveKind::Spectrum => None,
    };
    let (_, _, _, factor) = words(kind);
    let of_mark = drawn.marks.iter().enumerate().flat_map(|(place, mark)| {
        let harmonics = if kind == CaptureCurveKind::Cepstrum { 1 } else { mark.harmonics };
        (1..=harmonics).map(move |harmonic| (place, mark, harmonic))
    });
    of_mark
        .filter_map(|(place, mark, harmonic)| {
            let x = at(mark.order * drawn.shaft_hz * f64::from(harmonic))?;
            let is_inside = x >= scale.x.0 && x <= scale.x.1;
            let name = if harmonic == 1 {
                mark.name.clone()
            } else {
                format!("{harmonic}× {}", mark.name)
            };
            is_inside.then(|| {
                context! { x => format!("{:.1}", scale.x(x)), place, name, value => figure(x * factor), first => harmonic == 1 }
            })
        })
        .collect()
}

/// The judged window in the waveform: left end and width.
fn window(drawn: &CaptureDrawn, kind: CaptureCurveKind, scale: &Scale) -> Option<Value> {
    if kind != CaptureCurveKind::Waveform {
        return None;
    }
    let (from, to) = (scale.x(0.0).clamp(0.0, WIDTH), scale.x(drawn.window_s).clamp(0.0, WIDTH));
    Some(context! { x => format!("{from:.1}"), width => format!("{:.1}", (to - from).max(1.0)) })
}

/// Three significant digits, as the rest of the pages.
fn figure(number: f64) -> String {
    let size = number.abs();
    if size < 1e-12 {
        return "0".to_owned();
    }
    if !(1e-4..1e6).contains(&size) {
        return format!("{number:.2e}");
    }
    let digits = (2 - size.log10().floor() as i32).clamp(0, 6) as usize;
    format!("{number:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_shows_both_sides_of_a_waveform_and_the_highest_of_a_spectrum() {
        let scale = Scale { x: (0.0, 10.0), y: (-1.0, 1.0) };
        let points = [[0.0, -1.0, 1.0], [5.0, 0.0, 0.0], [10.0, 0.5, 1.0]];
        assert_eq!(path(&points, &scale, false), "M0.0 0.0V240.0L500.0 120.0L1000.0 0.0V60.0");
        assert_eq!(path(&points, &scale, true), "M0.0 0.0L500.0 120.0L1000.0 0.0");
        assert_eq!(path(&[], &scale, true), "");
    }
}
