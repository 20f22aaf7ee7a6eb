//! One series of a station as a PNG: its values, and where something is wrong with them.

use std::io::Write as _;

use pdm_shared::time::Timestamp;
use plotters::prelude::*;

use super::png::{CURVE, GRID, INK, PlotError, has_font, short, words};

/// Pixels of the picture.
const SIZE: (u32, u32) = (1000, 380);

/// A stretch that is marked.
#[derive(Debug, Clone, PartialEq)]
pub struct MarkedStretch {
    /// First value, from 0.
    pub first: usize,
    /// Last value.
    pub last: usize,
    /// The word beside it.
    pub word: &'static str,
}

/// The content of the picture.
#[derive(Debug, Clone, PartialEq)]
pub struct StationPicture<'a> {
    /// Title.
    pub title: &'a str,
    /// Evenly spaced values.
    pub values: &'a [Option<f64>],
    /// The first and the last instant.
    pub span: (Timestamp, Timestamp),
    /// The marked stretches.
    pub marks: &'a [MarkedStretch],
}

/// The picture as the bytes of a PNG.
///
/// # Errors
/// [`PlotError`] if the drawing fails.
pub fn station_png(picture: &StationPicture<'_>) -> Result<Vec<u8>, PlotError> {
    has_font();
    let failed = |why: String| PlotError::Write { path: "(memory)".into(), why };
    let mut pixels = vec![0; SIZE.0 as usize * SIZE.1 as usize * 3];
    draw(&mut pixels, picture).map_err(failed)?;
    encode(&pixels).map_err(|error| failed(error.to_string()))
}

fn draw(pixels: &mut [u8], picture: &StationPicture<'_>) -> Result<(), String> {
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let root = BitMapBackend::with_buffer(pixels, SIZE).into_drawing_area();
    root.fill(&WHITE).map_err(|error| told(&error))?;
    let present = || picture.values.iter().flatten().copied();
    let low = present().reduce(f64::min).unwrap_or(0.0).min(0.0);
    let high = present().reduce(f64::max).unwrap_or(1.0);
    let room = ((high - low) * 0.08).max(1e-12);
    let last = picture.values.len().max(2) as f64 - 1.0;
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .caption(picture.title, words(18))
        .x_label_area_size(40)
        .y_label_area_size(80)
        .build_cartesian_2d(0.0..last, low - room..high + 2.0 * room)
        .map_err(|error| told(&error))?;
    let (from, to) = picture.span;
    let instant = |place: &f64| {
        let at = from.plus_seconds(to.seconds_since(from) * place / last);
        at.date_time().format("%m-%d %H:%M").to_string()
    };
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style(words(14))
        .x_labels(8)
        .y_labels(6)
        .x_label_formatter(&instant)
        .y_label_formatter(&|value| short(*value))
        .draw()
        .map_err(|error| told(&error))?;
    for mark in picture.marks {
        let red = RGBColor(198, 40, 40);
        let (left, right) = (mark.first as f64 - 0.5, mark.last as f64 + 0.5);
        let area = Rectangle::new(
            [(left, low - room), (right, high + 2.0 * room)],
            red.mix(0.18).filled(),
        );
        chart.draw_series(std::iter::once(area)).map_err(|error| told(&error))?;
        let style = ("sans-serif", 15).into_font().color(&red);
        let word = Text::new(mark.word, (left.max(0.0), high + 1.8 * room), style);
        chart.draw_series(std::iter::once(word)).map_err(|error| told(&error))?;
    }
    // a missing value breaks the curve
    let mut points = Vec::new();
    for (place, value) in picture.values.iter().chain([&None]).enumerate() {
        if let Some(value) = value {
            points.push((place as f64, *value));
            continue;
        }
        let run = LineSeries::new(std::mem::take(&mut points), CURVE.stroke_width(2));
        chart.draw_series(run).map_err(|error| told(&error))?;
    }
    root.present().map_err(|error| told(&error))
}

/// RGB pixels as a PNG (ISO/IEC 15948): signature, header, one compressed block of rows without a
/// filter, end.
fn encode(pixels: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut rows = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    for row in pixels.chunks(SIZE.0 as usize * 3) {
        rows.write_all(&[0])?;
        rows.write_all(row)?;
    }
    let mut header = Vec::from(SIZE.0.to_be_bytes());
    header.extend(SIZE.1.to_be_bytes());
    // eight bits a channel, RGB, deflate, no filter, not interlaced
    header.extend([8, 2, 0, 0, 0]);
    let mut png = Vec::from(*b"\x89PNG\r\n\x1a\n");
    for (kind, data) in [(b"IHDR", header), (b"IDAT", rows.finish()?), (b"IEND", Vec::new())] {
        png.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_be_bytes());
        let mut sum = flate2::Crc::new();
        for part in [&kind[..], &data] {
            sum.update(part);
            png.extend(part);
        }
        png.extend(sum.sum().to_be_bytes());
    }
    Ok(png)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_is_a_png_of_its_size_even_without_values() {
        for values in
            [vec![], vec![None; 30], vec![Some(1.0), None, Some(f64::MAX / 1e9), Some(0.0)]]
        {
            let picture = StationPicture {
                title: "station 101, SO2",
                values: &values,
                span: (Timestamp::EPOCH, Timestamp::EPOCH.plus_seconds(3600.0)),
                marks: &[MarkedStretch { first: 0, last: 1, word: "spike" }],
            };
            let png = station_png(&picture).expect("drawn");
            assert!(png.starts_with(b"\x89PNG\r\n\x1a\n") && png.ends_with(b"\xaeB\x60\x82"));
            assert_eq!(png[16..24], [0, 0, 3, 232, 0, 0, 1, 124]);
        }
    }
}
