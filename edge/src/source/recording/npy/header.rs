//! The header of an `.npy` file: type, order and shape of the numbers.

use std::io::Read;
use std::path::Path;

use super::{MAGIC, NumberEncoding, SourceError};
use crate::source::recording::half::half_to_f64;

/// Longest header that is read. NumPy writes 118 bytes for a numeric array; 64 KiB is the most that
/// a header of format version 1 can announce.
const MAX_HEADER_BYTES: usize = 64 * 1024;

/// The content of the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) number: Number,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<usize>,
}

/// The kinds of number that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberKind {
    Signed,
    Unsigned,
    Float,
}

/// A kind of number with its width and byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number {
    kind: NumberKind,
    bytes: usize,
    is_big_endian: bool,
}

impl Number {
    /// The encoding of the samples.
    pub(super) fn encoding(self) -> NumberEncoding {
        match self.kind {
            NumberKind::Float => NumberEncoding::Real,
            NumberKind::Signed | NumberKind::Unsigned => {
                NumberEncoding::Counts { bits: self.bytes as u32 * 8 }
            }
        }
    }

    /// Decodes NumPy's `descr`, such as `<i2`, `>f8`, `|u1`.
    fn parse(descr: &str) -> Option<Self> {
        let mut chars = descr.chars();
        let order = chars.next()?;
        let kind = match chars.next()? {
            'i' => NumberKind::Signed,
            'u' => NumberKind::Unsigned,
            'f' => NumberKind::Float,
            _ => return None,
        };
        let bytes = match (kind, chars.as_str()) {
            (NumberKind::Signed | NumberKind::Unsigned, "1") => 1,
            (_, "2") => 2,
            (_, "4") => 4,
            (_, "8") => 8,
            _ => return None,
        };
        let is_big_endian = match order {
            '<' => false,
            '>' => true,
            '=' => cfg!(target_endian = "big"),
            '|' if bytes == 1 => false,
            _ => return None,
        };
        Some(Self { kind, bytes, is_big_endian })
    }

    pub(super) const fn bytes(self) -> usize {
        self.bytes
    }

    /// One number from its bytes; a slice of another length gives NaN.
    pub(super) fn decode(self, raw: &[u8]) -> f64 {
        let mut little = [0u8; 8];
        if raw.len() != self.bytes {
            return f64::NAN;
        }
        little[..raw.len()].copy_from_slice(raw);
        if self.is_big_endian {
            little[..raw.len()].reverse();
        }
        let bits = u64::from_le_bytes(little);
        match (self.kind, self.bytes) {
            (NumberKind::Unsigned, _) => bits as f64,
            (NumberKind::Float, 2) => half_to_f64(bits as u16),
            (NumberKind::Float, 4) => f64::from(f32::from_bits(bits as u32)),
            (NumberKind::Float, _) => f64::from_bits(bits),
            (NumberKind::Signed, bytes) => {
                let unused = 64 - 8 * bytes as u32;
                ((bits << unused).cast_signed() >> unused) as f64
            }
        }
    }
}

/// The contents of an array.
pub(super) enum Form {
    Numbers(Header),
    /// Texts of this many characters of 4 bytes each.
    Text {
        characters: usize,
        is_big_endian: bool,
    },
}

/// Reads magic, version and header of an array of numbers.
pub(super) fn read_header(path: &Path, reader: &mut dyn Read) -> Result<Header, SourceError> {
    let text = read_text(path, reader)?;
    parse(&text).map_err(|what| SourceError::malformed(path, what))
}

/// Reads the header of an array of numbers or texts.
pub(super) fn read_form(path: &Path, reader: &mut dyn Read) -> Result<Form, SourceError> {
    let text = read_text(path, reader)?;
    let descr = value_of(&text, "descr").ok().and_then(quoted).unwrap_or("");
    if let Some(characters) = descr.get(1..).and_then(|rest| rest.strip_prefix('U')) {
        let characters = characters.parse().unwrap_or(0usize).min(MAX_TEXT_CHARACTERS);
        return Ok(Form::Text { characters, is_big_endian: descr.starts_with('>') });
    }
    parse(&text).map(Form::Numbers).map_err(|what| SourceError::malformed(path, what))
}

/// The texts of an array, as far as they are there.
pub(super) fn texts(
    path: &Path,
    reader: &mut dyn Read,
    characters: usize,
    is_big_endian: bool,
) -> Result<Vec<String>, SourceError> {
    let mut raw = Vec::new();
    let most = (4 * MAX_TEXT_CHARACTERS) as u64;
    reader.take(most).read_to_end(&mut raw).map_err(|e| SourceError::from_io(path, e))?;
    let text = |raw: &[u8]| -> String {
        let characters = raw.chunks_exact(4).map(|raw| {
            let raw = [raw[0], raw[1], raw[2], raw[3]];
            let code =
                if is_big_endian { u32::from_be_bytes(raw) } else { u32::from_le_bytes(raw) };
            char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
        });
        characters.take_while(|&c| c != '\0').collect()
    };
    Ok(raw.chunks_exact((4 * characters).max(4)).map(text).collect())
}

/// Most characters of texts beside numbers: names and units.
const MAX_TEXT_CHARACTERS: usize = 4096;

pub(super) fn read_text(path: &Path, reader: &mut dyn Read) -> Result<String, SourceError> {
    let malformed = |what: String| SourceError::malformed(path, what);
    let mut start = [0u8; 8];
    reader.read_exact(&mut start).map_err(|e| SourceError::from_io(path, e))?;
    if !start.starts_with(MAGIC) {
        return Err(malformed("the compressed content is no NumPy array".to_owned()));
    }
    let (major, minor) = (start[6], start[7]);
    let mut length = [0u8; 4];
    let length_bytes = match major {
        1 => 2,
        2 | 3 => 4,
        _ => {
            let what = format!("NumPy format version {major}.{minor}; versions 1 to 3 are read");
            return Err(malformed(what));
        }
    };
    reader.read_exact(&mut length[..length_bytes]).map_err(|e| SourceError::from_io(path, e))?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX_HEADER_BYTES {
        let what = format!("a header of {length} bytes; at most {MAX_HEADER_BYTES} are read");
        return Err(malformed(what));
    }
    let mut text = vec![0u8; length];
    reader.read_exact(&mut text).map_err(|e| SourceError::from_io(path, e))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Decodes the dictionary of the header.
pub(super) fn parse(text: &str) -> Result<Header, String> {
    let descr = value_of(text, "descr")?;
    let number = quoted(descr).and_then(Number::parse).ok_or_else(|| {
        format!(
            "{}; allowed are arrays of i1, i2, i4, i8, u1, u2, u4, u8, f2, f4 and f8",
            unread_type(descr)
        )
    })?;
    let order = value_of(text, "fortran_order")?;
    let fortran_order = match (order.starts_with("True"), order.starts_with("False")) {
        (true, _) => true,
        (_, true) => false,
        _ => return Err("fortran_order of the header is neither True nor False".to_owned()),
    };
    Ok(Header { number, fortran_order, shape: shape_of(value_of(text, "shape")?)? })
}

/// Describes the contents of a type that is not read.
fn unread_type(descr: &str) -> String {
    if let Some((fields, _)) = descr.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let shown: String = fields.chars().take(80).collect();
        return format!(
            "a structured array with the fields {shown}, which is not read; save each field as an \
             array of its own"
        );
    }
    let own = quoted(descr).unwrap_or(descr);
    let shown: String = own.chars().take(12).collect();
    let what = match own.trim_start_matches(['<', '>', '=', '|']).chars().next() {
        Some('c') => "complex numbers",
        Some('b' | '?') => "truth values",
        Some('O') => "objects of Python",
        Some('U' | 'S') => "texts",
        Some('M' | 'm') => "times",
        Some('V') => "bytes without a meaning",
        _ => "numbers",
    };
    format!("{what} of type {shown:?} are not read")
}

/// The text behind a key of the dictionary.
pub(super) fn value_of<'a>(text: &'a str, key: &str) -> Result<&'a str, String> {
    ['\'', '"']
        .iter()
        .find_map(|quote| text.split_once(&format!("{quote}{key}{quote}")))
        .and_then(|(_, after)| after.trim_start().strip_prefix(':'))
        .map(str::trim_start)
        .ok_or_else(|| format!("the header has no key {key:?}"))
}

pub(super) fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote).map(|(inside, _)| inside)
}

pub(super) fn shape_of(text: &str) -> Result<Vec<usize>, String> {
    let inside = text
        .strip_prefix('(')
        .and_then(|t| t.split_once(')'))
        .map(|(inside, _)| inside)
        .ok_or_else(|| "the shape of the header is no tuple".to_owned())?;
    inside
        .split(',')
        .map(str::trim)
        .filter(|axis| !axis.is_empty())
        .map(|axis| axis.trim_end_matches('L').parse::<usize>())
        .collect::<Result<_, _>>()
        .map_err(|_| format!("({inside}) is no shape: whole numbers are allowed"))
}
