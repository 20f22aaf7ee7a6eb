//! Apache Parquet: tables by columns, as data frames and historians save them.
//!
//! Every column of numbers is a variable with its name; a column of stamps or durations is a time in its
//! unit; decimals and numbers of 16 bits are numbers (`wide`); the file's metadata state units and rates
//! (`metadata`). The file is read without Arrow. Columns of lists are named as what they are; columns of words tell
//! whether several channels stand in one column (`repeats`). Missing
//! values are NaN. Invariants: the rows of the file's own metadata are compared with the limit before
//! anything is decoded; a page's announced size is bounded by the file's bytes and the limit.

use std::io::Read;
use std::path::Path;

use parquet::basic::{LogicalType, TimeUnit, Type as PhysicalType};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::bounds::{MAX_SAMPLES, whole};
use super::guarded::guarded;
use super::leaves::{Leaf, LeafContent, stated_start, variables_of};
use super::repeats::{WordColumn, check_variables};
use super::variables::recording_of_variables;
use super::{NumberEncoding, RawRecording, SourceError};
use metadata::statements_of;
use wide::NumberForm;

mod arrow;
mod metadata;
mod wide;

/// Rows that are decoded at once.
const PIECE_ROWS: usize = 4096;

/// Reads the whole file.
pub(super) fn open(
    path: &Path,
    file: impl Read,
    variable: Option<&str>,
) -> Result<RawRecording, SourceError> {
    let content = whole(path, file)?;
    let (leaves, words) = guarded(path, "Parquet", || {
        leaves_of(content).map_err(|what| SourceError::malformed(path, what))
    })?;
    let start = stated_start(&leaves);
    let (variables, others) = variables_of(leaves);
    let told =
        check_variables(&variables, &words).map_err(|what| SourceError::options(path, what))?;
    let mut recording = recording_of_variables(path, "Parquet file", variables, &others, variable)?;
    recording.notes.extend(told);
    recording.start_at(start);
    Ok(recording)
}

/// The columns of numbers with what the file states of them, and the columns of words.
fn leaves_of(content: Vec<u8>) -> Result<(Vec<Leaf>, Vec<WordColumn>), String> {
    let told = |error: parquet::errors::ParquetError| format!("no Parquet that is read: {error}");
    let reader = SerializedFileReader::new(bytes::Bytes::from(content)).map_err(told)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let groups = reader.num_row_groups();
    let rows: i64 = reader.metadata().row_groups().iter().map(|g| g.num_rows().max(0)).sum();
    let count = usize::try_from(rows).unwrap_or(usize::MAX).saturating_mul(schema.num_columns());
    if count > MAX_SAMPLES {
        return Err(format!(
            "{rows} rows of {} columns; at most {MAX_SAMPLES} numbers are read",
            schema.num_columns()
        ));
    }
    let names: Vec<String> = schema.columns().iter().map(|c| c.path().string()).collect();
    let pairs = reader.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    let pairs = pairs.filter_map(|pair| Some((pair.key.as_str(), pair.value.as_deref()?)));
    let mut leaves = statements_of(pairs, &names);
    let mut words = Vec::new();
    for (index, column) in schema.columns().iter().enumerate() {
        let name = column.path().string();
        let Some(form) = wide::form_of(column) else {
            if column.physical_type() == PhysicalType::BYTE_ARRAY && column.max_rep_level() == 0 {
                let mut own = WordColumn { name, ..WordColumn::default() };
                for group in 0..groups {
                    let group = reader.get_row_group(group).map_err(told)?;
                    let column = group.get_column_reader(index).map_err(told)?;
                    add_words(column, &mut own).map_err(told)?;
                }
                words.push(own);
                continue;
            }
            let content = LeafContent::Other(format!("a column of {}", column.physical_type()));
            leaves.push(Leaf { path: name, content });
            continue;
        };
        let mut numbers = Vec::new();
        for group in 0..groups {
            let group = reader.get_row_group(group).map_err(told)?;
            let column = group.get_column_reader(index).map_err(told)?;
            add_numbers(column, form, &mut numbers).map_err(told)?;
        }
        let rows = numbers.len();
        let content =
            LeafContent::Numbers { rows, columns: 1, numbers, encoding: encoding_of(column) };
        if let Some(unit) = time_unit(column) {
            let text = LeafContent::Text(vec![unit.to_owned()]);
            leaves.push(Leaf { path: format!("{name}_unit"), content: text });
        }
        leaves.push(Leaf { path: name, content });
    }
    Ok((leaves, words))
}

/// Adds the words of one column of a group of rows; one that is missing is empty.
fn add_words(column: ColumnReader, words: &mut WordColumn) -> parquet::errors::Result<()> {
    let ColumnReader::ByteArrayColumnReader(mut reader) = column else { return Ok(()) };
    loop {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let (rows, _, _) = reader.read_records(PIECE_ROWS, Some(&mut levels), None, &mut values)?;
        if rows == 0 || words.rows.len() > MAX_SAMPLES {
            return Ok(());
        }
        let top = levels.iter().copied().max().unwrap_or(0);
        let is_whole = levels.is_empty() || values.len() == rows;
        let mut values = values.into_iter();
        for row in 0..rows {
            let is_there = is_whole || levels.get(row) == Some(&top);
            let value = if is_there { values.next() } else { None };
            let bytes = value.as_ref().map_or(&[][..], ByteArray::data);
            words.take(&String::from_utf8_lossy(bytes));
        }
    }
}

fn encoding_of(column: &ColumnDescriptor) -> NumberEncoding {
    let bits = match (column.logical_type_ref(), column.physical_type()) {
        (Some(LogicalType::Decimal(_)), _)
        | (
            _,
            PhysicalType::FLOAT
            | PhysicalType::DOUBLE
            | PhysicalType::INT96
            | PhysicalType::BYTE_ARRAY
            | PhysicalType::FIXED_LEN_BYTE_ARRAY,
        ) => return NumberEncoding::Real,
        (Some(LogicalType::Integer(integer)), _) => integer.bit_width.unsigned_abs().into(),
        (_, PhysicalType::INT32) => 32,
        _ => 64,
    };
    NumberEncoding::Counts { bits }
}

/// The unit of a column of stamps.
#[expect(clippy::wildcard_enum_match_arm, reason = "a foreign list; no other type is a time")]
fn time_unit(column: &ColumnDescriptor) -> Option<&'static str> {
    if column.physical_type() == PhysicalType::INT96 {
        return Some(wide::INT96_UNIT);
    }
    let unit = match column.logical_type_ref()? {
        LogicalType::Timestamp(stamp) => &stamp.unit,
        LogicalType::Time(time) => &time.unit,
        _ => return None,
    };
    Some(match unit {
        TimeUnit::MILLIS => "ms",
        TimeUnit::MICROS => "us",
        TimeUnit::NANOS => "ns",
    })
}

/// Adds the numbers of one column of a group of rows.
fn add_numbers(
    column: ColumnReader,
    form: NumberForm,
    numbers: &mut Vec<f64>,
) -> parquet::errors::Result<()> {
    macro_rules! added {
        ($reader:expr, $number:expr) => {{
            let mut reader = $reader;
            loop {
                let (mut values, mut levels) = (Vec::new(), Vec::new());
                let (rows, _, _) =
                    reader.read_records(PIECE_ROWS, Some(&mut levels), None, &mut values)?;
                if rows == 0 || numbers.len() > MAX_SAMPLES {
                    return Ok(());
                }
                let top = levels.iter().copied().max().unwrap_or(0);
                let mut values = values.into_iter().map($number);
                if levels.is_empty() || values.len() == rows {
                    numbers.extend(values);
                } else {
                    // a level below the column's own is a missing value
                    let value = |&level: &i16| if level == top { values.next() } else { None };
                    numbers.extend(levels.iter().map(value).map(|n| n.unwrap_or(f64::NAN)));
                }
            }
        }};
    }
    match column {
        ColumnReader::DoubleColumnReader(reader) => added!(reader, |n: f64| n),
        ColumnReader::FloatColumnReader(reader) => added!(reader, f64::from),
        ColumnReader::Int32ColumnReader(reader) => added!(reader, |n: i32| form.scaled(n.into())),
        ColumnReader::Int64ColumnReader(reader) => added!(reader, |n: i64| form.scaled(n.into())),
        ColumnReader::Int96ColumnReader(reader) => added!(reader, |n: Int96| wide::int96(&n)),
        ColumnReader::ByteArrayColumnReader(reader) => {
            added!(reader, |bytes: ByteArray| form.of_bytes(bytes.data()))
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            added!(reader, |bytes: FixedLenByteArray| form.of_bytes(bytes.data()))
        }
        // columns of this type were left out before
        ColumnReader::BoolColumnReader(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests;
