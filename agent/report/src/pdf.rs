//! Writes pages as PDF: vector drawings, text that can be selected and searched, an embedded subset
//! of the font.
//!
//! The same document gives the same bytes.

use krilla::Document as Pdf;
use krilla::color::rgb;
use krilla::geom::{Path, PathBuilder, Point};
use krilla::metadata::{DateTime, Metadata};
use krilla::num::NormalizedF32;
use krilla::page::PageSettings;
use krilla::paint::{Fill, Stroke, StrokeDash};
use krilla::surface::Surface;
use krilla::text::{Font, GlyphId, KrillaGlyph};
use pdm_shared::text::Language;
use pdm_shared::time::Timestamp;

use super::document::Document;
use super::drawing::{Anchor, Colour, Drawing, Label, Shape};
use super::{font, layout};

/// The PDF was not made: a bug of this program, not an error of its input.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the PDF: {reason}")]
pub struct PdfError {
    /// The writer's error.
    reason: String,
}

fn error(reason: impl Into<String>) -> PdfError {
    PdfError { reason: reason.into() }
}

/// The document as a PDF file.
///
/// # Errors
/// [`PdfError`] if the writer refuses.
pub fn pdf(document: &Document) -> Result<Vec<u8>, PdfError> {
    let font = Font::new(font::bytes().into(), 0).ok_or_else(|| error("the font is refused"))?;
    let mut pdf = Pdf::new();
    for page in layout::pages(document) {
        let settings = PageSettings::from_wh(page.width, page.height)
            .ok_or_else(|| error("a page without size"))?;
        let mut sheet = pdf.start_page_with(settings);
        let mut surface = sheet.surface();
        draw(&mut surface, &page, &font);
        surface.finish();
        sheet.finish();
    }
    pdf.set_metadata(metadata(document));
    pdf.finish().map_err(|reason| error(format!("{reason:?}")))
}

fn metadata(document: &Document) -> Metadata {
    let language = match document.language {
        Language::Ko => "ko",
        Language::En => "en",
    };
    Metadata::new()
        .title(format!("{} {}", document.kind, document.title))
        .description(document.subtitle.clone())
        .language(language.to_owned())
        .creator("PdM".to_owned())
        .document_id(format!("{} {language}", document.number))
        .creation_date(date(document.written_at))
}

fn date(at: Timestamp) -> DateTime {
    use chrono::{Datelike, Timelike};
    let at = at.date_time();
    let small = |value: u32| u8::try_from(value).unwrap_or(0);
    DateTime::new(u16::try_from(at.year()).unwrap_or(0))
        .month(small(at.month()))
        .day(small(at.day()))
        .hour(small(at.hour()))
        .minute(small(at.minute()))
        .second(small(at.second()))
        .utc_offset_hour(0)
        .utc_offset_minute(0)
}

fn draw(surface: &mut Surface<'_>, page: &Drawing, font: &Font) {
    for shape in &page.shapes {
        match shape {
            Shape::Area { points, fill, opacity } => {
                if let Some(path) = path(points, true) {
                    surface.set_stroke(None);
                    surface.set_fill(Some(solid(*fill, *opacity)));
                    surface.draw_path(&path);
                }
            }
            Shape::Line { points, stroke, width, dashed } => {
                if let Some(path) = path(points, false) {
                    surface.set_fill(None);
                    surface.set_stroke(Some(line(*stroke, *width, *dashed)));
                    surface.draw_path(&path);
                }
            }
            Shape::Text(label) => write(surface, label, font),
        }
    }
}

fn path(points: &[[f32; 2]], close: bool) -> Option<Path> {
    let ([x, y], rest) = points.split_first()?;
    let mut path = PathBuilder::new();
    path.move_to(*x, *y);
    for [x, y] in rest {
        path.line_to(*x, *y);
    }
    if close {
        path.close();
    }
    path.finish()
}

fn paint(colour: Colour) -> krilla::paint::Paint {
    let [red, green, blue] = colour.on_paper();
    rgb::Color::new(red, green, blue).into()
}

fn solid(colour: Colour, opacity: f32) -> Fill {
    let opacity = NormalizedF32::new(opacity.clamp(0.0, 1.0)).unwrap_or(NormalizedF32::ONE);
    Fill { paint: paint(colour), opacity, ..Fill::default() }
}

fn line(colour: Colour, width: f32, dashed: bool) -> Stroke {
    let dash = dashed.then(|| StrokeDash { array: vec![4.0, 3.0], offset: 0.0 });
    Stroke { paint: paint(colour), width, dash, ..Stroke::default() }
}

/// Draws a line of text. Hangul and Latin need no shaping: one letter is one glyph, in order. Bold
/// letters are the same glyphs with an outline, so that one font is enough.
fn write(surface: &mut Surface<'_>, label: &Label, font: &Font) {
    let width = font::width(&label.text, label.size);
    let x = match label.anchor {
        Anchor::Start => label.x,
        Anchor::Middle => label.x - width / 2.0,
        Anchor::End => label.x - width,
    };
    let glyphs: Vec<KrillaGlyph> = label
        .text
        .char_indices()
        .map(|(at, letter)| {
            let glyph = font::glyph(letter);
            let range = at..at + letter.len_utf8();
            let id = GlyphId::new(u32::from(glyph.id));
            KrillaGlyph::new(id, glyph.advance_em, 0.0, 0.0, 0.0, range, None)
        })
        .collect();
    surface.set_fill(Some(solid(label.colour, 1.0)));
    surface.set_stroke(label.bold.then(|| line(label.colour, label.size * 0.035, false)));
    let at = Point::from_xy(x, label.y);
    surface.draw_glyphs(at, &glyphs, font.clone(), &label.text, label.size, false);
}
