//! Samples as text: CSV, and the ASCII files of IMS (tabs, no header, no extension).
//!
//! One row per sample, one column per channel. Columns are separated by tab, `;`, `,` or spaces,
//! whichever the first row of numbers uses; with a separator other than `,` a decimal comma is
//! read. Lines before the first row of numbers are a preamble; the last of them with as many fields
//! names the columns. An empty field, `nan` and `inf` are samples without a number.
//!
//! Columns of samples are found by these rules:
//! 1. `--variable NAME[,NAME…]`: these, by header or by number from 0;
//! 2. else all but those that hold time: columns whose header says so (`time`, `t`, `index`, …);
//!    the first four where they read as hour, minute, second and microsecond (PRONOSTIA); a first
//!    column that rises in every row (of at least eight).
//!
//! Channels are counted from 0 over the columns that hold samples.

use std::io::Read;
use std::path::Path;

use ndarray::Array2;

use super::bounds::{check_samples, whole};
use super::{NumberEncoding, RawRecording, SourceError};

/// Most lines before the numbers. Exports of data loggers have up to some dozens; 200 are several
/// times that.
const MAX_PREAMBLE_LINES: usize = 200;

/// Number of rows over which a column must rise to be taken for time. Eight random samples rise by
/// chance in one of 40,000 tables (1 in 8!).
const LEAST_RISING_ROWS: usize = 8;

/// Headers of columns that hold time or a count, lower case, up to the first space or bracket.
const TIME_NAMES: [&str; 16] = [
    "time",
    "t",
    "timestamp",
    "date",
    "datetime",
    "index",
    "sample",
    "n",
    "hour",
    "minute",
    "second",
    "microsecond",
    "time_s",
    "time_ms",
    "sec",
    "ms",
];

/// Reads the whole file.
pub(super) fn open(
    path: &Path,
    file: impl Read,
    variable: Option<&str>,
) -> Result<RawRecording, SourceError> {
    let content = whole(path, file)?;
    let malformed = |what: String| SourceError::malformed(path, what);
    let table = parse(&content).map_err(malformed)?;
    drop(content);
    check_samples(path, table.numbers.len())?;
    let columns = match variable {
        Some(names) => named(&table, names).map_err(|what| SourceError::options(path, what))?,
        None => sample_columns(&table),
    };
    if columns.is_empty() {
        return Err(malformed("no column of samples: all columns hold time".to_owned()));
    }
    let rows = table.rows();
    let at = |(c, row): (usize, usize)| table.numbers[row * table.columns + columns[c]];
    let data = Array2::from_shape_fn((columns.len(), rows), at);
    Ok(RawRecording::whole("columns of text", data, None, NumberEncoding::Real))
}

/// The numbers of a text, row by row, with the names of their columns.
struct Table {
    header: Option<Vec<String>>,
    columns: usize,
    numbers: Vec<f64>,
}

impl Table {
    fn rows(&self) -> usize {
        self.numbers.len() / self.columns
    }

    fn column(&self, column: usize) -> impl Iterator<Item = f64> + '_ {
        self.numbers.iter().skip(column).step_by(self.columns).copied()
    }
}

/// The separator of fields.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    Char(char),
    Spaces,
}

impl Separator {
    fn of(line: &str) -> Self {
        ['\t', ';', ','].into_iter().find(|&c| line.contains(c)).map_or(Self::Spaces, Self::Char)
    }

    /// The fields of a line without quotes and spaces around them; a separator at the end of the
    /// line begins no field.
    fn fields(self, line: &str) -> Vec<&str> {
        match self {
            Self::Spaces => line.split_whitespace().collect(),
            Self::Char(separator) => {
                let line = line.trim_matches(' ');
                let line = line.strip_suffix(separator).unwrap_or(line);
                line.split(separator).map(|f| f.trim().trim_matches('"').trim()).collect()
            }
        }
    }

    fn number(self, field: &str) -> Option<f64> {
        if field.is_empty() {
            return Some(f64::NAN);
        }
        let parsed = field.parse().ok();
        if parsed.is_some() || self == Self::Char(',') {
            return parsed;
        }
        field.replacen(',', ".", 1).parse().ok()
    }

    /// The line ends in a separator.
    fn closes(self, line: &str) -> bool {
        matches!(self, Self::Char(separator) if line.trim_end_matches(' ').ends_with(separator))
    }

    /// The numbers of a line, if each field is a number or empty and at least one is not empty.
    fn numbers(self, line: &str) -> Option<Vec<f64>> {
        let fields = self.fields(line);
        if fields.iter().all(|field| field.is_empty()) {
            return None;
        }
        fields.into_iter().map(|field| self.number(field)).collect()
    }
}

fn parse(content: &[u8]) -> Result<Table, String> {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    if content.contains(&0) {
        return Err("neither text nor a known format; allowed are .npy, .npy.gz, .mat (level 5), \
                    .wav, .csv and columns of numbers"
            .to_owned());
    }
    let text = String::from_utf8_lossy(content);
    let is_told = |line: &&str| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with(['#', '%'])
    };
    let mut lines = text.lines().enumerate().filter(|(_, line)| is_told(line)).peekable();
    let mut preamble = Vec::new();
    let (separator, columns) = loop {
        let Some((_, line)) = lines.peek() else {
            return Err("no row of numbers in this text".to_owned());
        };
        let separator = Separator::of(line);
        if let Some(numbers) = separator.numbers(line) {
            break (separator, numbers.len());
        }
        if preamble.len() == MAX_PREAMBLE_LINES {
            return Err(format!("no row of numbers in the first {MAX_PREAMBLE_LINES} lines"));
        }
        preamble.extend(lines.next().map(|(_, line)| line));
    };
    let header = preamble
        .last()
        .map(|line| separator.fields(line).into_iter().map(str::to_owned).collect::<Vec<_>>())
        .filter(|fields| fields.len() == columns);
    let mut numbers = Vec::new();
    for (index, line) in lines {
        row(separator, line, index + 1, columns, &mut numbers)?;
    }
    Ok(Table { header, columns, numbers })
}

/// Adds one row.
fn row(
    separator: Separator,
    line: &str,
    line_number: usize,
    columns: usize,
    numbers: &mut Vec<f64>,
) -> Result<(), String> {
    let mut fields = separator.fields(line);
    if fields.len() + 1 == columns && separator.closes(line) {
        fields.push(""); // an empty last field
    }
    if fields.len() != columns {
        return Err(format!(
            "line {line_number} has {} fields, the rows before have {columns}; is the file truncated?",
            fields.len()
        ));
    }
    for (column, field) in fields.into_iter().enumerate() {
        let number = separator.number(field).ok_or_else(|| {
            let shown: String = field.chars().take(40).collect();
            format!("line {line_number}, column {}: {shown:?} is no number", column + 1)
        })?;
        numbers.push(number);
    }
    Ok(())
}

/// Columns by header or by number from 0, separated by commas.
fn named(table: &Table, names: &str) -> Result<Vec<usize>, String> {
    names.split(',').map(str::trim).map(|name| column_of(table, name)).collect()
}

fn column_of(table: &Table, name: &str) -> Result<usize, String> {
    let by_header =
        table.header.as_ref().and_then(|header| header.iter().position(|column| column == name));
    by_header
        .or_else(|| name.parse().ok().filter(|&column: &usize| column < table.columns))
        .ok_or_else(|| {
            let there =
                table.header.as_ref().map_or(String::new(), |h| format!(": {}", h.join(", ")));
            format!(
                "no column {name:?}; there are {} (0 to {}){there}",
                table.columns,
                table.columns - 1
            )
        })
}

/// The columns that hold samples rather than time.
fn sample_columns(table: &Table) -> Vec<usize> {
    if let Some(header) = &table.header {
        return (0..table.columns).filter(|&c| !is_time_name(&header[c])).collect();
    }
    let first = if has_clock(table) {
        4
    } else {
        usize::from(table.columns > 1 && is_rising(table.column(0)))
    };
    (first..table.columns).collect()
}

fn is_time_name(name: &str) -> bool {
    let word = name.split([' ', '[', '(', '/']).next().unwrap_or("");
    TIME_NAMES.contains(&word.to_lowercase().as_str())
}

/// The first four columns are hour, minute, second and microsecond, as PRONOSTIA writes them.
fn has_clock(table: &Table) -> bool {
    let is_within = |column: usize, limit: f64, must_be_whole: bool| {
        table
            .column(column)
            .all(|v| (0.0..limit).contains(&v) && (!must_be_whole || v.fract() == 0.0))
    };
    table.columns > 4
        && is_within(0, 24.0, true)
        && is_within(1, 60.0, true)
        && is_within(2, 61.0, true)
        && is_within(3, 1e6, false)
        && table.column(3).any(|v| v >= 1.0)
}

fn is_rising(column: impl Iterator<Item = f64>) -> bool {
    let mut rows = 0usize;
    let mut before = f64::NEG_INFINITY;
    for value in column {
        if !value.is_finite() || value <= before {
            return false;
        }
        before = value;
        rows += 1;
    }
    rows >= LEAST_RISING_ROWS
}

#[cfg(test)]
mod tests;
