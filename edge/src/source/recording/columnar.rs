//! Apache Parquet: tables by columns, as data frames and historians save them.
//!
//! Every column of numbers is a variable with its name; a column of stamps or durations is a time
//! in its unit; decimals and numbers of 16 bits are numbers (`wide`); the file's metadata state
//! units and rates (`metadata`). The file is read without Arrow. Columns of lists are named as what
//! they are; columns of words tell whether several channels stand in one column (`repeats`).
//! Missing values are NaN. Invariants: the rows of the file's own metadata are compared with the
//! limit before anything is decoded; a page's announced size is bounded by the file's bytes and the
//! limit.

use std::io::Read;
use std::path::Path;

use parquet::basic::{LogicalType, TimeUnit, Type as PhysicalType};
use parquet::column::reader::ColumnReader;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use pdm_shared::time::Timestamp;

use super::bounds::{MAX_SAMPLES, whole};
use super::guarded::guarded;
use super::leaves::{Leaf, LeafContent, stated_start, variables_of};
use super::names_units;
use super::repeats::{WordColumn, check_variables};
use super::text::unit_columns::one_unit;
use super::text_times::times_of_words;
use super::variables::{Variable, recording_of_variables};
use super::{NumberEncoding, RawRecording, SourceError};
use crate::tabular::Stamp;
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
    let FileLeaves { leaves, words, start, notes, has_lists } = guarded(path, "Parquet", || {
        leaves_of(content).map_err(|what| SourceError::malformed(path, what))
    })?;
    let start = start.or_else(|| stated_start(&leaves));
    let (variables, others) = variables_of(leaves);
    if has_lists && variable.is_none() && !variables.iter().any(Variable::says_acceleration) {
        let what = format!(
            "the samples stand in lists, one in each row, which is not read: {}; write each of \
             them into the rows of a file of its own, or name another column (--variable)",
            others.join(", ")
        );
        return Err(SourceError::options(path, what));
    }
    let told = check_variables(&variables, &words, variable.is_some())
        .map_err(|what| SourceError::options(path, what))?;
    let mut recording = recording_of_variables(path, "Parquet file", variables, &others, variable)?;
    recording.notes.extend(told.into_iter().chain(notes));
    recording.start_at(start);
    Ok(recording)
}

/// The columns of numbers with what the file states of them, and the columns of words.
fn leaves_of(content: Vec<u8>) -> Result<FileLeaves, String> {
    let told = |error: parquet::errors::ParquetError| format!("no Parquet that is read: {error}");
    let reader = SerializedFileReader::new(bytes::Bytes::from(content)).map_err(told)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let groups = reader.num_row_groups();
    check_rows(&reader, schema.num_columns())?;
    let names: Vec<String> = schema.columns().iter().map(|c| c.path().string()).collect();
    let pairs = reader.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    let pairs = pairs.filter_map(|pair| Some((pair.key.as_str(), pair.value.as_deref()?)));
    let mut leaves = statements_of(pairs, &names);
    let (mut words, mut notes, mut start, mut lists) = (Vec::new(), Vec::new(), None, 0);
    let mut units = Vec::new();
    for (index, column) in schema.columns().iter().enumerate() {
        let name = column.path().string();
        let Some(form) = wide::form_of(column) else {
            if column.physical_type() == PhysicalType::BYTE_ARRAY && column.max_rep_level() == 0 {
                let mut own = text_column(&reader, index, name).map_err(told)?;
                if let Some((times, start_of_times, note)) = own.times() {
                    notes.extend(note);
                    leaves.extend(times);
                    start = start.or(start_of_times);
                } else {
                    units.extend(unit_of_words(&own.words)?);
                    words.push(own.words);
                }
                continue;
            }
            let content = if column.max_rep_level() > 0 {
                lists += usize::from(is_real(column.physical_type()));
                LeafContent::Other("a list of numbers in each row".to_owned())
            } else {
                LeafContent::Other(format!("a column of {}", column.physical_type()))
            };
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
    // a unit beside lists is that of what is in them
    if lists == 0 {
        leaves.extend(units);
    }
    Ok(FileLeaves { leaves, words, start, notes, has_lists: lists > 0 })
}

/// Refuses more numbers than are read, by the rows of the metadata.
fn check_rows(reader: &SerializedFileReader<bytes::Bytes>, columns: usize) -> Result<(), String> {
    let rows: i64 = reader.metadata().row_groups().iter().map(|g| g.num_rows().max(0)).sum();
    let count = usize::try_from(rows).unwrap_or(usize::MAX).saturating_mul(columns);
    if count > MAX_SAMPLES {
        return Err(format!(
            "{rows} rows of {columns} columns; at most {MAX_SAMPLES} numbers are read"
        ));
    }
    Ok(())
}

/// The unit that a column of words states for the columns of numbers beside it.
///
/// # Errors
/// It holds several units; in words.
fn unit_of_words(own: &WordColumn) -> Result<Option<Leaf>, String> {
    if !names_units(&own.name) {
        return Ok(None);
    }
    let unit = one_unit(&own.name, &own.words)?;
    Ok(unit.map(|unit| Leaf { path: own.name.clone(), content: LeafContent::Text(vec![unit]) }))
}

/// The contents of a file.
struct FileLeaves {
    /// The columns of numbers, with what the file states of them.
    leaves: Vec<Leaf>,
    words: Vec<WordColumn>,
    /// The first time of a column of text, and whether its zone is stated nowhere.
    start: Option<(Timestamp, bool)>,
    /// Notes on columns of text for the person.
    notes: Vec<String>,
    /// A column holds a list of numbers in each row.
    has_lists: bool,
}

const fn is_real(kind: PhysicalType) -> bool {
    matches!(kind, PhysicalType::FLOAT | PhysicalType::DOUBLE)
}

/// The leaves of a column of times, the first one with whether its zone is stated nowhere, and a
/// note.
type TimeLeaves = (Vec<Leaf>, Option<(Timestamp, bool)>, Option<String>);

/// A column of text: words, or times.
struct TextColumn {
    words: WordColumn,
    /// The texts themselves, as long as they are times.
    times: Option<Vec<String>>,
}

/// The texts of one column of all groups of rows.
fn text_column(
    reader: &SerializedFileReader<bytes::Bytes>,
    index: usize,
    name: String,
) -> parquet::errors::Result<TextColumn> {
    let mut own = TextColumn::named(name);
    for group in 0..reader.num_row_groups() {
        add_words(reader.get_row_group(group)?.get_column_reader(index)?, &mut own)?;
    }
    Ok(own)
}

impl TextColumn {
    fn named(name: String) -> Self {
        Self { words: WordColumn { name, ..WordColumn::default() }, times: Some(Vec::new()) }
    }

    fn take(&mut self, text: &str) {
        self.words.take(text);
        if Stamp::parse(text).is_none() {
            self.times = None;
        }
        if let Some(times) = &mut self.times {
            times.push(text.to_owned());
        }
    }

    /// The leaves of the column if its texts are times, and the first one.
    fn times(&mut self) -> Option<TimeLeaves> {
        let texts = self.times.take().filter(|texts| !texts.is_empty())?;
        let name = self.words.name.clone();
        let times = times_of_words(&name, texts.iter().map(String::as_str))?;
        let rows = times.seconds.len();
        let unit = LeafContent::Text(vec!["s".to_owned()]);
        let encoding = NumberEncoding::Real;
        let content = LeafContent::Numbers { rows, columns: 1, numbers: times.seconds, encoding };
        let leaves = vec![
            Leaf { path: format!("{name}_unit"), content: unit },
            Leaf { path: name, content },
        ];
        Some((leaves, times.start, times.note))
    }
}

/// Adds the words of one column of a group of rows; one that is missing is empty.
fn add_words(column: ColumnReader, words: &mut TextColumn) -> parquet::errors::Result<()> {
    let ColumnReader::ByteArrayColumnReader(mut reader) = column else { return Ok(()) };
    loop {
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let (rows, _, _) = reader.read_records(PIECE_ROWS, Some(&mut levels), None, &mut values)?;
        if rows == 0 || words.words.rows.len() > MAX_SAMPLES {
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
