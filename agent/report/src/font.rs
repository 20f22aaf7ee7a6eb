//! The font of PDF pages, which comes with the program: Hangul, Latin, symbols.
//!
//! The font is unpacked once. A character that it lacks is shown as `□`.

use std::io::Read;
use std::sync::OnceLock;

use flate2::read::GzDecoder;
use ttf_parser::{Face, GlyphId};

const PACKED: &[u8] = include_bytes!("../fonts/PdmSans.ttf.gz");
/// Replacement for characters that the font lacks.
const MISSING: char = '□';
/// The glyph of a font that lacks even the replacement.
const NO_GLYPH: GlyphId = GlyphId(0);

/// The font's file.
pub(crate) fn bytes() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let mut bytes = Vec::new();
        GzDecoder::new(PACKED)
            .read_to_end(&mut bytes)
            .expect("the font was packed with the program and is read by a test");
        bytes
    })
}

fn face() -> &'static Face<'static> {
    static FACE: OnceLock<Face<'static>> = OnceLock::new();
    FACE.get_or_init(|| {
        Face::parse(bytes(), 0).expect("the font comes with the program and is read by a test")
    })
}

/// A glyph and its advance width, in ems.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Glyph {
    pub(crate) id: u16,
    pub(crate) advance_em: f32,
}

/// The glyph of a character.
pub(crate) fn glyph(letter: char) -> Glyph {
    let face = face();
    let found = face.glyph_index(letter).or_else(|| face.glyph_index(MISSING));
    let id = found.unwrap_or(NO_GLYPH);
    let advance = f32::from(face.glyph_hor_advance(id).unwrap_or(0));
    Glyph { id: id.0, advance_em: advance / f32::from(face.units_per_em()) }
}

/// Whether the font has a character.
#[cfg(test)]
pub(crate) fn has(letter: char) -> bool {
    face().glyph_index(letter).is_some()
}

/// Width of a line of text, pt.
pub(crate) fn width(text: &str, size: f32) -> f32 {
    text.chars().map(|letter| glyph(letter).advance_em).sum::<f32>() * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_all_modern_hangul_and_the_symbols_that_documents_use() {
        let hangul = '\u{ac00}'..='\u{d7a3}';
        let symbols = " –—×÷·°µμ²≤≥→▲■●◆≈±‘’“”…α□☐§→₩".chars();
        let missing: Vec<char> =
            hangul.chain(' '..='~').chain(symbols).filter(|c| !has(*c)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn widths_add_up_and_hangul_is_wider_than_latin() {
        assert!((width("가나", 10.0) - 2.0 * width("가", 10.0)).abs() < 1e-4);
        assert!(width("가", 10.0) > width("i", 10.0));
    }
}
