//! Waveform, acceleration spectrum and envelope spectrum as a PNG for reports.
//!
//! The font is part of the program (`assets/`), so that no font of the system is needed.

use std::path::{Path, PathBuf};
use std::sync::Once;

use pdm_dsp::Spectrum;
use pdm_dsp::spectrum::amplitude_spectrum;
use pdm_dsp::transform::Transforms;
use pdm_shared::fault::Fault;
use pdm_shared::units::M_S2_PER_G;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, register_font};

use super::{Mark, Picture, columns_of};

/// Pixels of the picture.
const SIZE: (u32, u32) = (1500, 1150);

/// Number of columns of a curve: one for each pixel of its width.
const COLUMNS: usize = 1380;

/// Ink of curves, frames and words.
pub(super) const INK: RGBColor = RGBColor(38, 50, 56);
pub(super) const CURVE: RGBColor = RGBColor(69, 90, 100);
pub(super) const GRID: RGBColor = RGBColor(224, 228, 230);

/// The picture cannot be made. The caller shows the error; the analysis is complete without it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The name does not end in `.png`.
    #[error("{}: the picture is a PNG, its name must end in .png", path.display())]
    NotPng {
        /// The name.
        path: PathBuf,
    },
    /// Drawing or writing failed.
    #[error("{}: cannot write the picture: {why}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the drawing library or the operating system.
        why: String,
    },
}

type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;
type Drawn<'a> = Result<(), DrawingAreaErrorKind<<BitMapBackend<'a> as DrawingBackend>::ErrorType>>;

/// Draws the picture into a file.
///
/// # Errors
/// [`PlotError`] if the name is not that of a PNG or the file cannot be written.
pub fn write_png(path: &Path, picture: &Picture<'_>) -> Result<(), PlotError> {
    let is_png = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("png"));
    if !is_png {
        return Err(PlotError::NotPng { path: path.to_owned() });
    }
    has_font();
    let failed = |why: String| PlotError::Write { path: path.to_owned(), why };
    // the drawing library reports a file that cannot be created only at the end; so it is created
    // here
    std::fs::File::create(path).map_err(|e| failed(e.to_string()))?;
    draw(path, picture).map_err(|e| failed(e.to_string()))
}

/// Registers the built-in font once.
pub(super) fn has_font() {
    static FONT: Once = Once::new();
    FONT.call_once(|| {
        let bytes = include_bytes!("../../assets/DejaVuSans-Latin.ttf");
        // without the font the picture has no words; the test would fail
        let known = register_font("sans-serif", FontStyle::Normal, bytes);
        debug_assert!(known.is_ok(), "the built-in font is a font");
    });
}

fn draw<'a>(path: &'a Path, picture: &Picture<'_>) -> Drawn<'a> {
    let root = BitMapBackend::new(path, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let root = root.margin(16, 12, 16, 24);
    let (head, rest) = root.split_vertically(64);
    head.draw(&Text::new(picture.title.clone(), (12, 4), words(21)))?;
    head.draw(&Text::new(picture.verdict.clone(), (12, 34), words(24)))?;
    let (waveform, spectra) = rest.split_vertically(270);
    let (spectrum, envelope) = spectra.split_vertically(300);
    draw_waveform(&waveform, picture)?;
    let whole = amplitude_spectrum(picture.accel_m_s2, picture.rate.get(), &mut Transforms::new());
    let axes = Axes {
        caption: "Acceleration spectrum",
        unit: "g (peak)",
        limit_hz: picture.rate.nyquist_hz(),
        scale: 1.0 / M_S2_PER_G,
    };
    draw_spectrum(&spectrum, &whole, &axes, &[])?;
    let limit_hz = picture.envelope_limit_hz();
    let caption = picture.findings.band.map_or_else(
        || "Squared envelope spectrum".to_owned(),
        |band| format!("Squared envelope spectrum, band {band}"),
    );
    let axes =
        Axes { caption: &caption, unit: "g²", limit_hz, scale: 1.0 / (M_S2_PER_G * M_S2_PER_G) };
    draw_spectrum(&envelope, &picture.findings.envelope_spectrum, &axes, &picture.marks(limit_hz))?;
    root.present()
}

/// A text of this height in the built-in font.
pub(super) fn words(pixels: i32) -> TextStyle<'static> {
    ("sans-serif", pixels).into_font().color(&INK)
}

/// The colour and the name of a defect frequency; colours differ in lightness too.
fn look(fault: Fault) -> (RGBColor, &'static str) {
    match fault {
        Fault::OuterRace => (RGBColor(198, 40, 40), "BPFO"),
        Fault::InnerRace => (RGBColor(21, 101, 192), "BPFI"),
        Fault::Ball => (RGBColor(46, 125, 50), "2×BSF"),
        Fault::Cage => (RGBColor(239, 108, 0), "FTF"),
    }
}

fn draw_waveform<'a>(area: &Area<'a>, picture: &Picture<'_>) -> Drawn<'a> {
    let extremes = extremes(picture.accel_m_s2);
    let duration_s = picture.accel_m_s2.len() as f64 / picture.rate.get();
    let peak = extremes.iter().map(|(low, high)| high.abs().max(low.abs())).fold(1e-9, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption("Acceleration", words(18))
        .x_label_area_size(42)
        .y_label_area_size(84)
        .build_cartesian_2d(0.0..duration_s, -1.05 * peak..1.05 * peak)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style(words(15))
        .axis_desc_style(words(16))
        .x_desc("s")
        .y_desc("g")
        .y_label_formatter(&|v| short(*v))
        .x_label_formatter(&|v| short(*v))
        .draw()?;
    let step = duration_s / extremes.len().max(1) as f64;
    chart.draw_series(extremes.iter().enumerate().map(|(column, &(low, high))| {
        let at = step * (column as f64 + 0.5);
        PathElement::new(vec![(at, low), (at, high)], CURVE)
    }))?;
    Ok(())
}

/// Lowest and highest value, g, within each of at most [`COLUMNS`] stretches; neighbours touch.
fn extremes(accel_m_s2: &[f64]) -> Vec<(f64, f64)> {
    let together = accel_m_s2.len().div_ceil(COLUMNS).max(1);
    let mut before = None;
    accel_m_s2
        .chunks(together)
        .map(|part| {
            let first = before.replace(part[part.len() - 1]).unwrap_or(part[0]);
            let low = part.iter().copied().fold(first, f64::min);
            let high = part.iter().copied().fold(first, f64::max);
            (low / M_S2_PER_G, high / M_S2_PER_G)
        })
        .collect()
}

/// Labels and scale of a spectrum's axes.
struct Axes<'a> {
    caption: &'a str,
    unit: &'a str,
    limit_hz: f64,
    /// Factor from the spectrum's unit to the shown one.
    scale: f64,
}

fn draw_spectrum<'a>(
    area: &Area<'a>,
    spectrum: &Spectrum,
    axes: &Axes<'_>,
    marks: &[Mark],
) -> Drawn<'a> {
    let limit_hz = axes.limit_hz.max(spectrum.df_hz).max(1e-9);
    let columns = ((limit_hz / spectrum.df_hz) as usize).clamp(2, COLUMNS);
    let heights = columns_of(spectrum, limit_hz, columns);
    let highest = heights.iter().copied().fold(0.0, f64::max) * axes.scale;
    let highest = if highest > 0.0 { highest } else { 1.0 };
    let room = if marks.is_empty() { 1.08 } else { 1.25 };
    let mut chart = ChartBuilder::on(area)
        .caption(axes.caption, words(18))
        .x_label_area_size(42)
        .y_label_area_size(84)
        .build_cartesian_2d(0.0..limit_hz, 0.0..room * highest)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style(words(15))
        .axis_desc_style(words(16))
        .x_desc("Hz")
        .y_desc(axes.unit)
        .x_labels(12)
        .y_labels(6)
        .x_label_formatter(&|v| short(*v))
        .y_label_formatter(&|v| short(*v))
        .draw()?;
    for mark in marks {
        let (colour, _) = look(mark.fault);
        let ends = vec![(mark.frequency_hz, 0.0), (mark.frequency_hz, 1.08 * highest)];
        let strength = if mark.is_found { 0.9 } else { 0.25 };
        chart.draw_series(std::iter::once(PathElement::new(ends, colour.mix(strength))))?;
    }
    let step = limit_hz / columns as f64;
    let curve = heights
        .iter()
        .enumerate()
        .map(|(column, height)| (step * (column as f64 + 0.5), height * axes.scale));
    chart.draw_series(LineSeries::new(curve, CURVE.stroke_width(1)))?;
    for mark in marks.iter().filter(|mark| mark.n == 1 || mark.is_found) {
        let (colour, name) = look(mark.fault);
        let name = if mark.n == 1 { name.to_owned() } else { format!("{}×", mark.n) };
        let centred = Pos::new(HPos::Center, VPos::Bottom);
        let style = ("sans-serif", 15).into_font().color(&colour).pos(centred);
        // four rows of names, so that neighbours do not cover each other
        let row = Fault::ALL.iter().position(|&fault| fault == mark.fault).unwrap_or(0);
        let height = highest * (1.075 + 0.045 * row as f64);
        chart.draw_series(std::iter::once(Text::new(name, (mark.frequency_hz, height), style)))?;
    }
    Ok(())
}

/// A number with few digits.
pub(super) fn short(value: f64) -> String {
    if value.abs() < 1e-12 {
        "0".to_owned()
    } else if !(1e-3..1e5).contains(&value.abs()) {
        format!("{value:.1e}")
    } else {
        let text = format!("{value:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use pdm_dsp::{DefectOrders, Request, diagnose};
    use pdm_shared::units::{Rpm, SampleRate};

    use super::*;

    #[test]
    fn a_picture_is_a_png_with_words_and_curves() {
        let rate = SampleRate::new(5000.0).expect("valid");
        let orders = DefectOrders::new(3.585, 5.415, 2.357, 0.398).expect("valid");
        let accel: Vec<f64> =
            (0..10_000).map(|i| if i % 46 == 0 { 9.0 } else { f64::from(i % 7) * 0.1 }).collect();
        let request = Request::new(rate, Rpm::new(1797.0).expect("valid"), orders);
        let findings = diagnose(&accel, &request).expect("measurable");
        let picture = Picture {
            title: "test".to_owned(),
            verdict: "Verdict".to_owned(),
            accel_m_s2: &accel,
            rate,
            findings: &findings,
        };
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.png");
        write_png(&path, &picture).expect("drawn");
        let bytes = std::fs::read(&path).expect("written");
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 10_000);
        assert!(matches!(
            write_png(&folder.path().join("a.jpg"), &picture),
            Err(PlotError::NotPng { .. })
        ));
        let missing = folder.path().join("no/such/folder.png");
        assert!(matches!(write_png(&missing, &picture), Err(PlotError::Write { .. })));
    }

    #[test]
    fn numbers_are_short() {
        for (value, text) in
            [(0.0, "0"), (0.5, "0.5"), (1200.0, "1200"), (2.5e-5, "2.5e-5"), (0.02, "0.02")]
        {
            assert_eq!(short(value), text);
        }
    }
}
