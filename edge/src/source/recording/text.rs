//! Samples as text: CSV and its relatives, and the ASCII files of IMS (tabs, no header, no
//! extension).
//!
//! One row per sample, one column per channel. Two stages: [`layout`] finds encoding, separator,
//! decimal sign, header, unit row and metadata from the first lines; then all rows are read by it.
//! Columns of calendar times become seconds; date and clock in two columns are joined. What is
//! time, and what is a channel, is decided behind this reader, as for every format (`time_columns`,
//! `interpretation`).
//!
//! Invariants: a row that does not fit the layout is an error with its line, unless it is of a
//! footer at the end; missing values and words for them are NaN.

use std::io::Read;
use std::path::Path;

use ndarray::{Array2, Axis, Slice};

use super::bounds::{check_samples, whole};
use super::options::RecordingOptions;
use super::time_columns::take_time_columns;
use super::{RawRecording, SourceError, StatedChannel, json, spectrum};
use crate::source::Preferred;
use crate::source::interpretation::{
    ChannelRole, StatedUnit, UnitKind, label, role, time_unit_of_name, unknown_unit_of,
};
use crate::source::time_axis::TimeAxis;
use crate::tabular::encoding::decoded;
use crate::tabular::fields::numbered_lines;
use crate::tabular::width::half_width;
use head_units::{HeadUnit, HeadUnits};
use layout::{ColumnKind, Layout, MAX_PREAMBLE_LINES, layout_of};
use metadata::Metadata;
use rewritten::{Rewritten, open_rewritten, refusal_of_zeros, text_without_tail};
use rows::TextColumns;

mod bulk;
mod cell_units;
mod head_fit;
mod head_start;
mod head_units;
mod heads;
mod keyed_head;
mod labelled;
mod layout;
mod long_form;
mod metadata;
mod octave;
mod pairs;
mod remarks;
mod rewritten;
mod rows;
mod shape;
mod stamped;
mod surroundings;
pub(super) mod unit_columns;
mod wrapped;
mod zero_bytes;

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
    let (text, tail) = match decoded(&content) {
        Some(text) => (text, 0),
        None => text_without_tail(&content).ok_or_else(|| malformed(refusal_of_zeros(&content)))?,
    };
    if let Some((documents, note)) = json::topic_documents(&text).map_err(malformed)? {
        let mut recording = json::open(path, documents, options.variable.as_deref())?;
        recording.notes.push(note);
        return Ok(recording);
    }
    let told = (tail > 0).then(|| format!("zero bytes at the end were left out: {tail}"));
    let mut recording = open_rewritten(path, &text, options)?;
    recording.notes.extend(told);
    Ok(recording)
}

/// Reads a table that is text already; `format` is the usual name of the file's form.
pub(super) fn open_text(
    path: &Path,
    format: &'static str,
    text: &str,
    options: &RecordingOptions,
) -> Result<RawRecording, SourceError> {
    let malformed = |what: String| SourceError::malformed(path, what);
    let mut comments = Vec::new();
    let mut lines = Vec::new();
    for (number, line) in numbered_lines(text) {
        let plain = line.trim_matches([' ', '\u{feff}']);
        if is_comment(plain) {
            comments.push((number, plain));
        } else if !plain.is_empty() {
            lines.push((number, line));
        }
        if lines.len() >= LAYOUT_LINES {
            break;
        }
    }
    shape::check_width(&lines).map_err(malformed)?;
    let mut layout = layout_of(&lines, &comments, options.decimal).map_err(|what| {
        let is_choice = what.contains("--decimal");
        if is_choice { SourceError::options(path, what) } else { malformed(what) }
    })?;
    drop(lines);
    layout.zone = options.zone;
    let last_filled = shape::last_filled(text);
    let rows = numbered_lines(text).filter(|(number, line)| {
        let plain = line.trim_matches(' ');
        let is_within = (layout.first_row..=last_filled).contains(number);
        is_within && !plain.is_empty() && !is_comment(plain)
    });
    let mut columns = TextColumns::read(rows, &layout).map_err(malformed)?;
    check_samples(path, columns.samples())?;
    let refused = |what: String| SourceError::options(path, what);
    shape::check_rows_are_samples(&columns, &layout).map_err(refused)?;
    shape::check_lists(&columns, &layout, options.variable.as_deref()).map_err(refused)?;
    let head = shape::numbers_of_head(text, &layout, &columns);
    if let Some(head) = head {
        columns.leave_first_out(head.rows);
    }
    shape::check_rates_below(text, &layout, options).map_err(refused)?;
    let footer = columns.footer.clone();
    layout.head_units.take_below(&footer);
    let mut told = long_form::check_rows(&layout, &columns).map_err(refused)?;
    let is_named = options.variable.is_some();
    told.extend(long_form::check_points(&layout, &columns, is_named).map_err(refused)?);
    let mut recording = recording(path, &layout, columns, options)?;
    recording.notes.extend(told);
    if let Some(head) = head {
        recording.notes.push(head.note());
        let stated = head.step_s.map(|step| 1.0 / step);
        recording.stated_rate_hz = recording.stated_rate_hz.or(stated);
    }
    let has_times = recording.time.as_ref().is_some_and(|axis| !axis.is_count);
    if !has_times && recording.time_restart.is_none() {
        recording.time_restart = shape::divided_by_blank_lines(text, &layout);
    }
    remarks::take_footer(&footer, &mut recording);
    let is_decided = options.sample_rate.is_some() && options.prefer == Some(Preferred::Option);
    if let Some(doubt) = layout.rate_doubt().filter(|_| recording.time.is_none() && !is_decided) {
        return Err(refused(doubt));
    }
    take_lines(text, &layout, &mut recording);
    Ok(RawRecording { format, ..recording })
}

/// Takes what the lines above and among the rows say.
fn take_lines(text: &str, layout: &Layout, recording: &mut RawRecording) {
    if recording.time.is_none() && recording.stated_rate_hz.is_none() {
        recording.notes.extend(layout.rate_hints());
    }
    remarks::take(text, layout.first_row, recording);
    head_start::take(text, layout.first_row, recording);
}

/// The statement of a row of a sheet that is a key and a value and states a unit or a rate; `None`
/// for another row.
pub(super) fn statement_of_cells(row: &str) -> Option<String> {
    let cells: Vec<&str> = row.split('\t').map(str::trim).filter(|cell| !cell.is_empty()).collect();
    let [key, value] = cells.as_slice() else { return None };
    let line = format!("{}: {value}", key.trim_end_matches(':'));
    let is_rate = Metadata::of_lines(std::iter::once(line.as_str())).rate_hz.is_some();
    (is_rate || HeadUnits::is_statement(&format!("{key}\t{value}"))).then_some(line)
}

fn is_comment(line: &str) -> bool {
    line.starts_with(['#', '%']) || line.starts_with("//")
}

/// Whether a person has stated what the numbers are.
fn states_numbers(options: &RecordingOptions) -> bool {
    options.calibrations.iter().any(|given| given.unit().is_some() || given.states_scale())
}

/// Refuses a header and a row of units that contradict each other.
fn check_heads(layout: &Layout, options: &RecordingOptions) -> Result<(), String> {
    for (column, above, below) in &layout.contradictions {
        let is_other = |unit: &StatedUnit| matches!(unit.kind, UnitKind::Other(_));
        let is_time = |unit: &StatedUnit| matches!(unit.kind, UnitKind::Time(_));
        let is_decided = if is_time(above) && is_time(below) {
            options.sample_rate.is_some() && options.prefer == Some(Preferred::Option)
        } else {
            states_numbers(options) || (is_other(above) && is_other(below))
        };
        if !is_decided {
            let options = if is_time(above) { "--rate" } else { "--unit" };
            return Err(format!(
                "{} is in {} by its header and in {} by the row of units; correct the file, or \
                 decide with {options} and --prefer option",
                label(*column, &stated(layout, *column)),
                above.spelling,
                below.spelling
            ));
        }
    }
    Ok(())
}

/// A header with more or fewer names than the rows have fields.
///
/// # Errors
/// No person has named the columns by their number.
fn unfitting_names(layout: &Layout, options: &RecordingOptions) -> Result<Option<String>, String> {
    let Some(names) = &layout.unfitting else { return Ok(None) };
    let what = format!(
        "the line above the rows names {} columns ({}), the rows have {} fields",
        names.len(),
        names.join(", "),
        layout.kinds.len()
    );
    if options.variable.is_some() {
        return Ok(Some(format!("{what}: its names and units are not used")));
    }
    Err(format!(
        "{what}: which name belongs to which column is open; correct that line, or name the \
         columns to read by their number (--variable 0,1,…, counted from 0) and state their unit \
         (--unit)"
    ))
}

/// Gives channels without a unit that which the lines above the table state.
///
/// # Errors
/// The lines contradict the columns or each other, and no option decides; in words.
fn take_head_unit(
    channels: &mut [&mut StatedChannel],
    layout: &Layout,
    options: &RecordingOptions,
) -> Result<(), String> {
    let is_decided = states_numbers(options);
    let own = |channel: &StatedChannel| {
        let in_name = || channel.name.as_deref().and_then(StatedUnit::of_name);
        channel.unit.as_deref().and_then(StatedUnit::parse).or_else(in_name)
    };
    // counts of rows are out of the table: what is called `Sample` now holds samples
    let is_vibration = |channel: &StatedChannel| {
        let role = role(channel);
        matches!(role, ChannelRole::Acceleration | ChannelRole::Unknown | ChannelRole::Count)
    };
    if let Some(above) = layout.head_units.by_key().filter(|_| !is_decided) {
        for (place, channel) in channels.iter().enumerate() {
            let other = own(channel).filter(|own| is_vibration(channel) && own.kind != above.kind);
            if let Some(other) = other {
                return Err(format!(
                    "{} is in {} by its header, and a line above states the unit {}; correct the \
                     file, or decide with --unit and --prefer option",
                    label(place, channel),
                    other.spelling,
                    above.spelling
                ));
            }
        }
    }
    let is_open = |channel: &StatedChannel| {
        let is_unknown_unit = channel.name.as_deref().and_then(unknown_unit_of).is_some();
        channel.unit.is_none()
            && own(channel).is_none()
            && !is_unknown_unit
            && is_vibration(channel)
    };
    if !channels.iter().any(|channel| is_open(channel)) {
        return Ok(());
    }
    match layout.head_units.decided() {
        HeadUnit::Nothing => Ok(()),
        HeadUnit::Open(_) if is_decided => Ok(()),
        HeadUnit::Open(what) => {
            Err(format!("{what}; state it (--unit, --sensitivity, or --scale with --unit)"))
        }
        HeadUnit::One(unit) => {
            for channel in channels.iter_mut().filter(|channel| is_open(channel)) {
                channel.unit = Some(unit.clone());
            }
            Ok(())
        }
    }
}

/// The columns as a recording, with what the text states of them.
fn recording(
    path: &Path,
    layout: &Layout,
    columns: TextColumns,
    options: &RecordingOptions,
) -> Result<RawRecording, SourceError> {
    let refused = |what: String| SourceError::options(path, what);
    check_heads(layout, options).map_err(refused)?;
    let mut notes = layout.notes.clone();
    notes.extend(unfitting_names(layout, options).map_err(refused)?);
    let rows = columns.rows();
    notes.extend(columns.notes.iter().cloned());
    let spectrum_over = spectrum_over(layout, &columns);
    if let Some(variable) = options.variable.as_deref() {
        let raw = named_columns(layout, &columns, variable, options).map_err(refused)?;
        let notes = [notes, raw.notes].concat();
        return Ok(RawRecording { notes, spectrum_over, ..raw });
    }
    let all = all_columns(layout, &columns);
    if all.is_empty() || rows == 0 {
        let what = "no column of samples: all columns hold time".to_owned();
        return Err(SourceError::malformed(path, what));
    }
    let clock = columns.clock_seconds().filter(|_| layout.header.is_none());
    let all = if clock.is_some() { all.into_iter().skip(4).collect() } else { all };
    let mut data = columns.table(&all);
    let rows_without = rows_without_samples(layout, &all, &data);
    if rows_without > 0 {
        data.slice_axis_inplace(Axis(1), Slice::from(..rows - rows_without));
        notes.push(format!("{rows_without} rows at the end hold no samples and were left out"));
    }
    let mut split = take_time_columns(data, described(layout, &all)).map_err(refused)?;
    if let Some(seconds) = clock {
        let column = "columns 0 to 3 (hour, minute, second, microsecond)".to_owned();
        let axis = TimeAxis::of_column(&seconds, Some(1.0));
        split.axis = axis.map(|axis| TimeAxis { column, ..axis });
    }
    let start = columns.start(split.axis_row.map(|row| all[row]));
    let mut open: Vec<&mut StatedChannel> = split.channels.iter_mut().collect();
    unit_columns::take(&mut open, layout, &columns, states_numbers(options)).map_err(refused)?;
    drop(columns);
    take_head_unit(&mut open, layout, options).map_err(refused)?;
    let start_origin = start.map(|start| format!("column {:?}", column_name(layout, start.column)));
    let is_start_local = start.is_some_and(|start| start.is_local);
    let start_s = start.map(|start| start.s);
    let raw =
        RawRecording::described("columns of text", split.data, split.channels, layout.rate_hz());
    let start = layout.start_and_rate.map(|(start, _)| start);
    let stated_start = start_s.or(start).and_then(super::meaning::since_1970);
    notes.extend(split.notes);
    Ok(RawRecording {
        time: split.axis,
        time_steps_back: split.steps_back,
        time_restart: split.restart,
        left_out: split.left_out,
        notes,
        stated_start,
        start_origin,
        is_start_local,
        spectrum_over,
        ..raw
    })
}

/// The name of a column; without one its number.
fn column_name(layout: &Layout, column: usize) -> String {
    stated(layout, column)
        .name
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| column.to_string())
}

/// The column over which the others are a spectrum.
fn spectrum_over(layout: &Layout, columns: &TextColumns) -> Option<String> {
    let all = all_columns(layout, columns);
    let numbers = |place: usize| columns.table(&[all[place]]).into_raw_vec_and_offset().0;
    spectrum::abscissa_of(&described(layout, &all), numbers)
}

/// The columns that a person names, with the course of the column of time among all.
fn named_columns(
    layout: &Layout,
    columns: &TextColumns,
    variable: &str,
    options: &RecordingOptions,
) -> Result<RawRecording, String> {
    let wanted = named(layout, variable)?;
    let mut data = columns.table(&wanted);
    let mut channels = described(layout, &wanted);
    let all = all_columns(layout, columns);
    let split = take_time_columns(columns.table(&all), described(layout, &all)).ok();
    let is_time = |column: &usize| {
        let place = all.iter().position(|own| own == column);
        split.as_ref().zip(place).is_some_and(|(split, place)| split.taken.contains(&place))
    };
    let places = wanted.iter().zip(&mut channels).filter(|(column, _)| !is_time(column));
    let mut open: Vec<&mut StatedChannel> = places.map(|(_, channel)| channel).collect();
    unit_columns::take(&mut open, layout, columns, states_numbers(options))?;
    take_head_unit(&mut open, layout, options)?;
    let Some(split) = split else {
        return Ok(RawRecording::described("columns of text", data, channels, layout.rate_hz()));
    };
    if split.axis.as_ref().is_some_and(|axis| axis.is_reversed) {
        data.invert_axis(Axis(1));
        data = data.as_standard_layout().into_owned();
    }
    let raw = RawRecording::described("columns of text", data, channels, layout.rate_hz());
    let (notes, time_steps_back) = (split.notes, split.steps_back);
    let time_restart = split.restart;
    let dated = columns.start(split.axis_row.map(|row| all[row]));
    let start = dated.map(|start| start.s).or(layout.start_and_rate.map(|(start, _)| start));
    let is_start_local = dated.is_some_and(|start| start.is_local);
    let stated_start = start.and_then(super::meaning::since_1970);
    Ok(RawRecording {
        time: split.axis,
        notes,
        time_steps_back,
        time_restart,
        stated_start,
        is_start_local,
        ..raw
    })
}

/// Most rows of events at the end: a logger writes one when it is stopped, connected or read out.
const MOST_EVENT_ROWS: usize = 20;

/// Rows at the end with a time and words for an event, and no sample in any column.
fn rows_without_samples(layout: &Layout, columns: &[usize], data: &Array2<f64>) -> usize {
    let is_samples = |column: &usize| {
        let role = role(&stated(layout, *column));
        layout.kinds[*column] == ColumnKind::Number
            && !matches!(role, ChannelRole::Time | ChannelRole::Count)
    };
    let places: Vec<usize> = (0..columns.len()).filter(|at| is_samples(&columns[*at])).collect();
    let is_empty = |row: usize| places.iter().all(|place| data[[*place, row]].is_nan());
    let count = (0..data.ncols()).rev().take_while(|row| is_empty(*row)).count();
    if places.is_empty() || count > MOST_EVENT_ROWS || columns.len() < 2 { 0 } else { count }
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

/// Returns the statements of the text on a column.
fn stated(layout: &Layout, column: usize) -> StatedChannel {
    let name = layout.header.as_ref().and_then(|header| header.get(column));
    // a number above a column is its place or the end of a statement
    // and a `g` among other letters is one of them
    let letters = layout.header.iter().flatten().filter(|name| name.chars().count() == 1).count();
    let is_name = |name: &&String| {
        !name.is_empty() && name.parse::<f64>().is_err() && !(letters > 3 && *name == "g")
    };
    let name = name.filter(is_name).cloned();
    let is_time = layout.kinds[column] == ColumnKind::Calendar;
    let unit = if is_time { Some("s".to_owned()) } else { layout.units[column].clone() };
    // `Time units: msec` above the table is of a column of times that states none itself
    let is_open_time = |name: &String| {
        let plain = name.to_lowercase().replace(['-', '_', ' '], "");
        let is_abscissa = plain.starts_with("xaxis") || plain == "xvalue";
        (is_abscissa || ChannelRole::by_name(name) == ChannelRole::Time)
            && time_unit_of_name(name).is_none()
    };
    let unit = unit.or_else(|| {
        let of_head = layout.head_units.time_unit()?;
        name.as_ref().filter(|name| is_open_time(name)).map(|_| of_head)
    });
    StatedChannel { name, unit, ..StatedChannel::default() }
}

/// Columns by header or by number from 0, separated by commas.
fn named(layout: &Layout, names: &str) -> Result<Vec<usize>, String> {
    half_width(names).split(',').map(str::trim).map(|name| column_of(layout, name)).collect()
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
mod forms_of_exports;
#[cfg(test)]
mod forms_of_heads;
#[cfg(test)]
mod forms_of_names;
#[cfg(test)]
mod forms_of_quantities;
#[cfg(test)]
mod forms_of_rows;
#[cfg(test)]
mod forms_of_times;
#[cfg(test)]
mod tests;
