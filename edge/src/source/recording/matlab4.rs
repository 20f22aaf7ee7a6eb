//! MATLAB's MAT-file, level 4 (MATLAB 4 and earlier; `-v4` of MATLAB and Octave).
//!
//! Layout: matrices one after the other, each a header of five numbers of 4 bytes (type, rows,
//! columns, complex or not, length of the name), the name with a 0 behind it, and the numbers
//! column by column. The digits of the type are byte order, a 0, precision, and kind (numbers,
//! text, sparse). The file has no first bytes of its own: a header whose every part is allowed,
//! with a name, tells. Source: MathWorks, *MAT-File Format*, chapter 2.
//!
//! MATLAB writes whole numbers as integers to save space, whatever they are, so an integer here is
//! no count of a converter by itself. Invariants: the bytes of the file bound what is read; complex
//! and sparse matrices are named and left out.

use std::io::Read;
use std::path::Path;

use super::bounds::whole;
use super::leaves::{Leaf, LeafContent, stated_start, variables_of};
use super::variables::recording_of_variables;
use super::{NumberEncoding, RawRecording, SourceError};

/// Length of a matrix's header.
const HEADER_BYTES: usize = 20;

/// Longest name with its 0. MATLAB 4 has 19 letters, Octave writes longer ones.
const MAX_NAME_BYTES: usize = 64;

/// Most matrices of a file.
const MAX_MATRICES: usize = 20_000;

/// The numbers of a matrix's form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Precision {
    Double,
    Single,
    Long,
    Short,
    UnsignedShort,
    Byte,
}

impl Precision {
    const fn bytes(self) -> usize {
        match self {
            Self::Double => 8,
            Self::Single | Self::Long => 4,
            Self::Short | Self::UnsignedShort => 2,
            Self::Byte => 1,
        }
    }

    /// The number in as many bytes as it has, lowest first.
    fn number(self, little: [u8; 8]) -> f64 {
        let [a, b, c, d, ..] = little;
        match self {
            Self::Double => f64::from_le_bytes(little),
            Self::Single => f64::from(f32::from_le_bytes([a, b, c, d])),
            Self::Long => f64::from(i32::from_le_bytes([a, b, c, d])),
            Self::Short => f64::from(i16::from_le_bytes([a, b])),
            Self::UnsignedShort => f64::from(u16::from_le_bytes([a, b])),
            Self::Byte => f64::from(a),
        }
    }
}

/// The header of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MatrixHead {
    is_big_endian: bool,
    precision: Precision,
    is_text: bool,
    is_sparse: bool,
    is_complex: bool,
    rows: usize,
    columns: usize,
    name_bytes: usize,
}

impl MatrixHead {
    /// The header at the beginning of `raw`; `None` if a part of it is not allowed.
    fn parse(raw: &[u8]) -> Option<Self> {
        [false, true].into_iter().find_map(|is_big_endian| Self::parse_as(raw, is_big_endian))
    }

    fn parse_as(raw: &[u8], is_big_endian: bool) -> Option<Self> {
        let long = |at: usize| -> Option<u32> {
            let raw: [u8; 4] = raw.get(4 * at..4 * at + 4)?.try_into().ok()?;
            Some(if is_big_endian { u32::from_be_bytes(raw) } else { u32::from_le_bytes(raw) })
        };
        let (kind, rows, columns) = (long(0)?, long(1)?, long(2)?);
        let (is_complex, name_bytes) = (long(3)?, long(4)? as usize);
        let order = u32::from(is_big_endian);
        let precision = match kind % 100 / 10 {
            0 => Precision::Double,
            1 => Precision::Single,
            2 => Precision::Long,
            3 => Precision::Short,
            4 => Precision::UnsignedShort,
            5 => Precision::Byte,
            _ => return None,
        };
        let fits = kind / 1000 == order
            && kind % 1000 / 100 == 0
            && kind % 10 <= 2
            && is_complex <= 1
            && (2..=MAX_NAME_BYTES).contains(&name_bytes)
            && i32::try_from(rows).is_ok()
            && i32::try_from(columns).is_ok();
        fits.then_some(Self {
            is_big_endian,
            precision,
            is_text: kind % 10 == 1,
            is_sparse: kind % 10 == 2,
            is_complex: is_complex == 1,
            rows: rows as usize,
            columns: columns as usize,
            name_bytes,
        })
    }

    /// Bytes of the numbers; `None` if they are more than any memory holds.
    fn content_bytes(&self) -> Option<usize> {
        let count = self.rows.checked_mul(self.columns)?;
        let parts = if self.is_complex { 2 } else { 1 };
        count.checked_mul(parts)?.checked_mul(self.precision.bytes())
    }

    fn numbers(&self, content: &[u8]) -> Vec<f64> {
        let decoded = |raw: &[u8]| {
            let mut little = [0u8; 8];
            let width = raw.len().min(8);
            little[..width].copy_from_slice(&raw[..width]);
            if self.is_big_endian {
                little[..width].reverse();
            }
            self.precision.number(little)
        };
        content.chunks_exact(self.precision.bytes()).map(decoded).collect()
    }
}

/// Whether a file begins with a matrix of level 4, by its first bytes.
pub(super) fn is_level_4(start: &[u8]) -> bool {
    MatrixHead::parse(start).is_some_and(|head| name_of(start, HEADER_BYTES, &head).is_some())
}

/// The name at `at`: letters, digits and `_`, and a 0.
fn name_of(raw: &[u8], at: usize, head: &MatrixHead) -> Option<String> {
    let (zero, name) = raw.get(at..at + head.name_bytes)?.split_last()?;
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let begins = name.first().is_some_and(|byte| !byte.is_ascii_digit());
    let fits = *zero == 0 && begins && name.iter().all(is_letter);
    fits.then(|| String::from_utf8_lossy(name).into_owned())
}

/// Reads the whole file.
pub(super) fn open(
    path: &Path,
    file: impl Read,
    variable: Option<&str>,
) -> Result<RawRecording, SourceError> {
    let content = whole(path, file)?;
    let leaves = parse(&content).map_err(|what| SourceError::malformed(path, what))?;
    drop(content);
    let start = stated_start(&leaves);
    let (variables, others) = variables_of(leaves);
    let mut recording = recording_of_variables(path, "MAT level 4", variables, &others, variable)?;
    recording.start_at(start);
    Ok(recording)
}

/// All matrices of a file, in its order.
fn parse(content: &[u8]) -> Result<Vec<Leaf>, String> {
    let mut leaves = Vec::new();
    let mut at = 0usize;
    while let Some(rest) = content.get(at..).filter(|rest| !rest.is_empty()) {
        let index = leaves.len();
        if index == MAX_MATRICES {
            return Err(format!("more than {MAX_MATRICES} matrices, the most that is read"));
        }
        let damaged =
            || format!("matrix {index} (from 0) of this MAT-file of level 4 has no valid header");
        let head = MatrixHead::parse(rest).ok_or_else(damaged)?;
        let name = name_of(rest, HEADER_BYTES, &head).ok_or_else(damaged)?;
        let start = HEADER_BYTES + head.name_bytes;
        let shape = format!("{} × {}", head.rows, head.columns);
        let end = head.content_bytes().and_then(|bytes| start.checked_add(bytes));
        let own = end.and_then(|end| rest.get(start..end)).ok_or_else(|| {
            let there = rest.len() - start.min(rest.len());
            format!(
                "variable {name:?} states {shape} numbers, {there} bytes are there; the file \
                is truncated"
            )
        })?;
        at += start + own.len();
        leaves.push(Leaf { path: name, content: content_of(&head, own, &shape) });
    }
    Ok(leaves)
}

fn content_of(head: &MatrixHead, own: &[u8], shape: &str) -> LeafContent {
    if head.is_sparse {
        return LeafContent::Other("a sparse matrix".to_owned());
    }
    if head.is_complex {
        return LeafContent::Other(format!("complex numbers, {shape}"));
    }
    let numbers = head.numbers(own);
    if head.is_text {
        const MAX_LINES: usize = 64;
        let line = |row: usize| -> String {
            let letters = numbers.iter().skip(row).step_by(head.rows.max(1)).take(4096);
            letters.map(|&letter| char::from(letter as u8)).collect::<String>().trim().to_owned()
        };
        return LeafContent::Text((0..head.rows.min(MAX_LINES)).map(line).collect());
    }
    let (rows, columns) = (head.rows, head.columns);
    LeafContent::Numbers { rows, columns, numbers, encoding: NumberEncoding::Real }
}

#[cfg(test)]
mod tests;
