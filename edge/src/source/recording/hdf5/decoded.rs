//! The content of a dataset or attribute as leaves: numbers, columns of records, texts.

use hdf5_reader::error::ByteOrder;
use hdf5_reader::{Attribute, Dataset, Datatype};

use super::LeafContent;
use crate::source::recording::NumberEncoding;
use crate::source::recording::half::half_to_f64;

/// Most characters of a text.
const MAX_CHARACTERS: usize = 4096;

/// A number, or a text of one or several lines.
pub(super) fn attribute(attribute: &Attribute) -> Option<LeafContent> {
    if let Ok(texts) = attribute.read_strings() {
        let texts = texts.into_iter().take(1024).map(|t| t.chars().take(MAX_CHARACTERS).collect());
        return Some(LeafContent::Text(texts.collect()));
    }
    let number = attribute.read_as_f64().ok()?;
    Some(numbers((1, 1), vec![number], NumberEncoding::Real))
}

const fn numbers(
    (rows, columns): (usize, usize),
    numbers: Vec<f64>,
    encoding: NumberEncoding,
) -> LeafContent {
    LeafContent::Numbers { rows, columns, numbers, encoding }
}

/// A text of MATLAB: 16-bit characters, row by row in the second dimension.
pub(super) fn matlab_text(data: &Dataset) -> Result<LeafContent, String> {
    let raw = data.read_native_bytes().map_err(|e| e.to_string())?;
    let units: Vec<u16> = raw
        .chunks_exact(2)
        .take(MAX_CHARACTERS)
        .map(|raw| u16::from_ne_bytes([raw[0], raw[1]]))
        .collect();
    let rows = data.shape().get(1).map_or(1, |&rows| rows.clamp(1, 64) as usize);
    let line = |row: usize| {
        let own: Vec<u16> = units.iter().skip(row).step_by(rows).copied().collect();
        String::from_utf16_lossy(&own).trim_end().to_owned()
    };
    Ok(LeafContent::Text((0..rows).map(line).collect()))
}

/// The dataset as one leaf without a name, or a leaf for each field of its records.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a list of another crate; no other type holds numbers or texts"
)]
pub(super) fn dataset(data: &Dataset) -> Result<Vec<(Option<String>, LeafContent)>, String> {
    let long: Vec<usize> =
        data.shape().iter().map(|&n| usize::try_from(n).unwrap_or(usize::MAX)).collect();
    let shown: Vec<String> = long.iter().take(8).map(usize::to_string).collect();
    let other =
        |what: &str| vec![(None, LeafContent::Other(format!("{what} {}", shown.join(" × "))))];
    if long.contains(&0) {
        return Ok(Vec::new());
    }
    let axes: Vec<usize> = long.iter().copied().filter(|&n| n != 1).collect();
    // numbers stand row by row, which is column by column of the transposed matrix
    let form = match *axes.as_slice() {
        [] => (1, 1),
        [rows] => (rows, 1),
        [columns, rows] => (rows, columns),
        _ => return Ok(other("an array of")),
    };
    match data.dtype() {
        Datatype::FixedPoint { .. } | Datatype::FloatingPoint { .. } => {
            let raw = data.read_raw_bytes().map_err(|e| e.to_string())?;
            let Some(field) = NumberField::of_type(data.dtype(), 0) else {
                return Ok(other("numbers of an unknown width,"));
            };
            let all = raw.chunks_exact(field.bytes).map(|raw| field.number(raw)).collect();
            Ok(vec![(None, numbers(form, all, field.encoding()))])
        }
        Datatype::String { .. } | Datatype::VarLen { .. } => {
            let texts = data.read_strings().unwrap_or_default();
            Ok(vec![(None, LeafContent::Text(texts))])
        }
        Datatype::Compound { size, fields } => {
            let is_complex = fields.len() == 2
                && fields
                    .iter()
                    .all(|field| matches!(field.name.as_str(), "r" | "i" | "real" | "imag"));
            if is_complex {
                return Ok(other("complex numbers,"));
            }
            let raw = data.read_raw_bytes().map_err(|e| e.to_string())?;
            let size = (*size as usize).max(1);
            let columns = fields.iter().flat_map(|field| {
                let column = |(name, number): (String, NumberField)| {
                    let column: Vec<f64> =
                        raw.chunks_exact(size).map(|row| number.of_row(row)).collect();
                    (Some(name), numbers((column.len(), 1), column, number.encoding()))
                };
                let parts = parts_of(&field.name, &field.datatype, field.byte_offset as usize);
                parts.into_iter().map(column).collect::<Vec<_>>()
            });
            Ok(columns.collect())
        }
        _ => Ok(other("data that is no number,")),
    }
}

/// The numbers of a field of a record, each with its name: one, or those of a block of columns as
/// pandas writes them (`values_block_0[1]`).
fn parts_of(name: &str, datatype: &Datatype, offset: usize) -> Vec<(String, NumberField)> {
    const MOST_PARTS: u64 = 1024;
    let Datatype::Array { base, dims } = datatype else {
        let own = NumberField::of_type(datatype, offset);
        return own.map(|number| (name.to_owned(), number)).into_iter().collect();
    };
    let count = dims.iter().try_fold(1u64, |all, dim| all.checked_mul(*dim));
    let count = count.filter(|count| *count <= MOST_PARTS).unwrap_or(0) as usize;
    let part = |at: usize| {
        let first = NumberField::of_type(base, offset)?;
        let number = NumberField { offset: offset.checked_add(at * first.bytes)?, ..first };
        let own = if count == 1 { name.to_owned() } else { format!("{name}[{at}]") };
        Some((own, number))
    };
    (0..count).filter_map(part).collect()
}

/// Where a number stands in a record, and how it is written.
struct NumberField {
    offset: usize,
    bytes: usize,
    is_float: bool,
    is_signed: bool,
    is_big_endian: bool,
}

impl NumberField {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a list of another crate; no other type holds numbers"
    )]
    fn of_type(datatype: &Datatype, offset: usize) -> Option<Self> {
        let (size, is_float, is_signed, order) = match datatype {
            Datatype::FixedPoint { size, signed, byte_order } => {
                (*size, false, *signed, *byte_order)
            }
            Datatype::FloatingPoint { size, byte_order } => (*size, true, true, *byte_order),
            _ => return None,
        };
        let is_known = if is_float { matches!(size, 2 | 4 | 8) } else { (1..=8).contains(&size) };
        let is_big_endian = matches!(order, ByteOrder::BigEndian);
        is_known.then_some(Self { offset, bytes: size.into(), is_float, is_signed, is_big_endian })
    }

    const fn encoding(&self) -> NumberEncoding {
        if self.is_float {
            NumberEncoding::Real
        } else {
            NumberEncoding::Counts { bits: 8 * self.bytes as u32 }
        }
    }

    fn of_row(&self, row: &[u8]) -> f64 {
        row.get(self.offset..self.offset.saturating_add(self.bytes))
            .map_or(f64::NAN, |raw| self.number(raw))
    }

    fn number(&self, raw: &[u8]) -> f64 {
        let mut little = [0u8; 8];
        let width = raw.len().min(8);
        little[..width].copy_from_slice(&raw[..width]);
        if self.is_big_endian {
            little[..width].reverse();
        }
        let bits = u64::from_le_bytes(little);
        match (self.is_float, width) {
            (true, 2) => half_to_f64(bits as u16),
            (true, 4) => f64::from(f32::from_bits(bits as u32)),
            (true, _) => f64::from_bits(bits),
            (false, width) if self.is_signed => {
                let unused = 64 - 8 * width as u32;
                ((bits << unused).cast_signed() >> unused) as f64
            }
            (false, _) => bits as f64,
        }
    }
}
