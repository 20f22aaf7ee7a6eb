//! Samples as text: CSV and its relatives, and the ASCII files of IMS (tabs, no header, no extension).
//!
//! One row per sample, one column per channel. Two stages: [`layout`] finds encoding, separator, decimal sign,
//! header, unit row and metadata from the first lines; then all rows are read by it. Columns of calendar
//! times become seconds; date and clock in two columns are joined. What is time, and what is a channel,
//! is decided behind this reader, as for every format (`time_columns`, `interpretation`).
//!
//! Invariants: a row that does not fit the layout is an error with its line, unless it is of a footer at the
//! end; missing values and words for them are NaN.

use std::io::Read;
use std::path::Path;

use super::bounds::{check_samples, whole};
use super::options::RecordingOptions;
use super::time_columns::take_time_columns;
use super::{NumberEncoding, RawRecording, SourceError, StatedChannel};
use crate::source::interpretation::{ChannelRole, StatedUnit, role};
use crate::source::time_axis::TimeAxis;
use crate::tabular::encoding::decoded;
use crate::tabular::fields::numbered_lines;
use layout::{ColumnKind, Layout, MAX_PREAMBLE_LINES, layout_of};
use rows::TextColumns;

mod labelled;
mod layout;
mod metadata;
mod rows;

/// Lines that are looked at for the layout.
const LAYOUT_LINES: usize = MAX_PREAMBLE_LINES + 1000;

/// Reads the whole file.
pub(super) fn open(
    path: &Path,
    file: impl Read,
    options: &RecordingOptions,
) -> Result<RawRecording, SourceError> {
    let content = whole(path, file)?;
    let malformed = |what: String| SourceError::malformed(path, what);
    let text = decoded(&content).ok_or_else(|| {
        malformed(
            "neither text nor a known format; allowed are WAV, CSV and other tables, Excel (.xlsx), \
             NumPy, MATLAB, HDF5, Parquet, LabVIEW LVM and TDMS, universal files and JSON"
                .to_owned(),
        )
    })?;
    if let Some((table, notes)) = labelled::as_table(&text).map_err(malformed)? {
        let mut recording = open_text(path, "names and values", &table, options)?;
        recording.notes.extend(notes);
        return Ok(recording);
    }
    open_text(path, "columns of text", &text, options)
}

/// Reads a table that is text already; `format` is what a person calls the file.
pub(super) fn open_text(
    path: &Path,
    format: &'static str,
    text: &str,
    options: &RecordingOptions,
) -> Result<RawRecording, SourceError> {
    let malformed = |what: String| SourceError::malformed(path, what);
    let is_comment = |line: &str| line.starts_with(['#', '%']) || line.starts_with("//");
    let mut comments = Vec::new();
    let mut lines = Vec::new();
    for (number, line) in numbered_lines(text) {
        let plain = line.trim_matches([' ', '\u{feff}']);
        if is_comment(plain) {
            comments.push(plain);
        } else if !plain.is_empty() {
            lines.push((number, line));
        }
        if lines.len() >= LAYOUT_LINES {
            break;
        }
    }
    let layout = layout_of(&lines, &comments, options.decimal).map_err(|what| {
        let is_choice = what.contains("--decimal");
        if is_choice { SourceError::options(path, what) } else { malformed(what) }
    })?;
    drop(lines);
    let rows = numbered_lines(text).filter(|(number, line)| {
        let plain = line.trim_matches(' ');
        *number >= layout.first_row && !plain.is_empty() && !is_comment(plain)
    });
    let columns = TextColumns::read(rows, &layout).map_err(malformed)?;
    check_samples(path, columns.samples())?;
    let recording = recording(path, &layout, columns, options.variable.as_deref())?;
    Ok(RawRecording { format, ..recording })
}

/// The columns as a recording, with what the text states of them.
fn recording(
    path: &Path,
    layout: &Layout,
    columns: TextColumns,
    variable: Option<&str>,
) -> Result<RawRecording, SourceError> {
    let refused = |what: String| SourceError::options(path, what);
    let rows = columns.rows();
    let mut notes = layout.notes.clone();
    notes.extend(columns.notes.iter().cloned());
    if let Some(variable) = variable {
        let wanted = named(layout, variable).map_err(refused)?;
        let data = columns.table(&wanted);
        let channels = wanted.iter().map(|column| stated(layout, *column)).collect();
        let all = all_columns(layout, &columns);
        let axis = take_time_columns(columns.table(&all), described(layout, &all))
            .ok()
            .and_then(|split| split.axis);
        let raw = RawRecording::described("columns of text", data, channels, layout.rate_hz());
        return Ok(RawRecording { time: axis, notes, ..raw });
    }
    let all = all_columns(layout, &columns);
    if all.is_empty() || rows == 0 {
        let what = "no column of samples: all columns hold time".to_owned();
        return Err(SourceError::malformed(path, what));
    }
    let clock = columns.clock_seconds().filter(|_| layout.header.is_none());
    let all = if clock.is_some() { all.into_iter().skip(4).collect() } else { all };
    let data = columns.table(&all);
    let start_s = columns.start_ns.map(|ns| ns as f64 / 1e9);
    drop(columns);
    let mut split = take_time_columns(data, described(layout, &all)).map_err(refused)?;
    if let Some(seconds) = clock {
        let column = "columns 0 to 3 (hour, minute, second, microsecond)".to_owned();
        let axis = TimeAxis::of_column(&seconds, Some(1.0));
        split.axis = axis.map(|axis| TimeAxis { column, ..axis });
    }
    let raw =
        RawRecording::described("columns of text", split.data, split.channels, layout.rate_hz());
    let start = layout.start_and_rate.map(|(start, _)| start);
    let stated_start = start_s.or(start).and_then(super::meaning::since_1970);
    notes.extend(split.notes);
    Ok(RawRecording { time: split.axis, left_out: split.left_out, notes, stated_start, ..raw })
}

/// The columns that hold numbers or times.
fn all_columns(layout: &Layout, columns: &TextColumns) -> Vec<usize> {
    let is_value =
        |column: &usize| layout.kinds[*column] != ColumnKind::Words && !columns.is_joined(*column);
    (0..layout.kinds.len()).filter(is_value).collect()
}

fn described(layout: &Layout, columns: &[usize]) -> Vec<StatedChannel> {
    columns.iter().map(|column| stated(layout, *column)).collect()
}

/// What the text states of a column.
fn stated(layout: &Layout, column: usize) -> StatedChannel {
    let name = layout.header.as_ref().and_then(|header| header.get(column));
    let name = name.filter(|name| !name.is_empty()).cloned();
    let is_time = layout.kinds[column] == ColumnKind::Calendar;
    let own = if is_time { Some("s".to_owned()) } else { layout.units[column].clone() };
    let mut channel =
        StatedChannel { name, unit: own, scale: None, encoding: NumberEncoding::Real };
    // a unit of the whole text is that of its channels of vibration
    let is_vibration = matches!(role(&channel), ChannelRole::Acceleration | ChannelRole::Unknown);
    let has_own = channel.name.as_deref().and_then(StatedUnit::in_header).is_some();
    if channel.unit.is_none() && is_vibration && !has_own {
        channel.unit.clone_from(&layout.metadata.unit);
    }
    channel
}

/// Columns by header or by number from 0, separated by commas.
fn named(layout: &Layout, names: &str) -> Result<Vec<usize>, String> {
    names.split(',').map(str::trim).map(|name| column_of(layout, name)).collect()
}

fn column_of(layout: &Layout, name: &str) -> Result<usize, String> {
    let width = layout.kinds.len();
    let header = layout.header.as_ref();
    let by_header = header.and_then(|header| header.iter().position(|column| column == name));
    by_header.or_else(|| name.parse().ok().filter(|&column: &usize| column < width)).ok_or_else(
        || {
            let there = header.map_or(String::new(), |h| format!(": {}", h.join(", ")));
            format!("no column {name:?}; there are {width} (0 to {}){there}", width - 1)
        },
    )
}

#[cfg(test)]
mod forms;
#[cfg(test)]
mod tests;
