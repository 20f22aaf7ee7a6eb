//! The table itself: a CSV with a header, a column that tells the time, columns of values.
//!
//! Rows stay in their order, which must be that of time or its reverse. What has two readings is
//! refused.

use std::io::Read;

use pdm_shared::time::Timestamp;

use super::times::{TimesAsked, instants};
use super::{cells, heads, points, quality};
use crate::source::interpretation::StatedUnit;
use crate::tabular::encoding::decoded;
use crate::tabular::fields::{Separator, is_processing_row, is_row_of_types, numbered_lines};
use crate::tabular::number::DecimalEvidence;
use crate::tabular::{DateOrder, Decimal, LocalZone, NumberForm, Stamp};

/// The columns to read of a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// The column that tells the time.
    pub time: String,
    /// The columns to judge.
    pub values: Vec<String>,
    /// Seconds from row to row, for a time column that only counts.
    pub period_s: f64,
    /// Whether the day or the month comes first; `None`: the dates tell.
    pub date_order: Option<DateOrder>,
    /// Decimal sign of the values; `None`: the values tell.
    pub decimal: Option<Decimal>,
    /// The zone of times that state none.
    pub zone: LocalZone,
    /// The rows to judge: those with these values in these columns.
    pub only: Vec<(String, String)>,
}

/// A table of values over time.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesTable {
    /// Names of the columns asked for.
    pub columns: Vec<String>,
    /// The rows, in the order of time.
    pub rows: Vec<Row>,
    /// Notes on the reading for the person.
    pub notes: Vec<String>,
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The instant of the row.
    pub at: Timestamp,
    /// One value a column asked for; `None` where the table has none.
    pub values: Vec<Option<f64>>,
}

/// A table that cannot be read. The caller shows it: the input has to be corrected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SeriesError {
    /// The period is not usable.
    #[error("the period is {got} s, allowed is a finite number above 0")]
    Period {
        /// The value that was given.
        got: f64,
    },
    /// A column that is not there.
    #[error("there is no column {wanted:?}; there are: {}", there.join(", "))]
    NoColumn {
        /// The column that was asked for.
        wanted: String,
        /// The header.
        there: Vec<String>,
    },
    /// A header without rows, or nothing at all.
    #[error("there are no rows below the header")]
    Empty,
    /// A row of another length, or not text.
    #[error("line {line}: {reason}")]
    Row {
        /// Line of the file, from 1.
        line: u64,
        /// The fault.
        reason: String,
    },
    /// A field that is no number.
    #[error("line {line}, column {column:?}: {got:?} is not a number (empty or NaN is allowed)")]
    Value {
        /// Line of the file, from 1.
        line: u64,
        /// The column.
        column: String,
        /// The field.
        got: String,
    },
    /// A field that is no time.
    #[error(
        "line {line}, column {column:?}: {got:?} is not a time; allowed are RFC 3339, \
         YYYY-MM-DD HH:MM:SS and other dates with a time of day, 20260301T080000, seconds, \
         spreadsheet day numbers, or a count of rows"
    )]
    Time {
        /// Line of the file, from 1.
        line: u64,
        /// The column.
        column: String,
        /// The field.
        got: String,
    },
    /// A field has two readings, or two statements contradict each other.
    #[error("line {line}: {reason}")]
    Ambiguous {
        /// Line of the file, from 1.
        line: u64,
        /// Both readings, and the option that decides.
        reason: String,
    },
    /// Rows out of order.
    #[error("line {line}: {time} is earlier than the row before it ({before}); sort by time")]
    Order {
        /// Line of the file, from 1.
        line: u64,
        /// The time in the row.
        time: Timestamp,
        /// The time before.
        before: Timestamp,
    },
}

/// Reads a table.
///
/// # Errors
/// The first [`SeriesError`] found.
pub fn read_table(mut input: impl Read, request: &Request) -> Result<SeriesTable, SeriesError> {
    if !(request.period_s.is_finite() && request.period_s > 0.0) {
        return Err(SeriesError::Period { got: request.period_s });
    }
    let broken = |reason: &dyn ToString| SeriesError::Row { line: 1, reason: reason.to_string() };
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).map_err(|error| broken(&error))?;
    let text =
        decoded(&bytes).ok_or_else(|| broken(&"these bytes are no text; save them as CSV"))?;
    let lines: Vec<(usize, &str)> =
        numbered_lines(&text).filter(|(_, line)| !line.trim().is_empty()).collect();
    let (separator, header_at) = header_line(&lines, &request.time);
    let (line, header) = lines.get(header_at).map_or((1, ""), |(line, text)| (*line, *text));
    let names = names_of(header, separator, &request.time);
    let below = without_markers(&lines[(header_at + 1).min(lines.len())..]);
    let mut notes = Vec::new();
    let header = heads::fitted(names, &below, separator, &mut notes);
    let find = |wanted: &String| {
        let mut places = (0..header.len()).filter(|place| &header[*place] == wanted);
        let first = places.next().ok_or_else(|| SeriesError::NoColumn {
            wanted: wanted.clone(),
            there: header.clone(),
        })?;
        if places.next().is_some() {
            let reason = format!(
                "several columns have the name {wanted:?}: which one is meant is open; give each a \
                 name of its own"
            );
            return Err(SeriesError::Ambiguous { line: line as u64, reason });
        }
        Ok(first)
    };
    let time = find(&request.time)?;
    let columns = request.values.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    let mut rows = rows_of(&below, separator, header.len())?;
    let units = unit_row(&mut rows);
    let time_unit = units.get(time).cloned();
    leave_footer_out(&mut rows, time, &columns, &mut notes);
    points::keep_asked(&mut rows, &header, &request.only, &mut notes)?;
    points::check(&rows, &header, (time, &columns))?;
    let form = number_form(&rows, &columns, request)?;
    let mut by_column = Vec::new();
    for (place, name) in columns.iter().zip(&request.values) {
        let asked = cells::ColumnAsked { place: *place, name, unit: units.get(*place).cloned() };
        let values = cells::values(&rows, &asked, form, &mut notes)?;
        notes.extend(points::frozen_note(name, &rows, &values));
        by_column.push(values);
    }
    quality::leave_out(&rows, &header, (time, &columns), &mut by_column, &mut notes);
    let row_of = |row: usize| by_column.iter().map(|column| column[row]).collect::<Vec<_>>();
    let mut values: Vec<Vec<Option<f64>>> = (0..rows.len()).map(row_of).collect();
    let instants = instants(&rows, time, &header, &TimesAsked { request, form, time_unit })?;
    notes.extend(instants.notes);
    notes.extend(repeated_times(&rows, time, &columns, &header)?);
    // the instants are in the order of time already
    if instants.is_reversed {
        values.reverse();
    }
    let rows: Vec<Row> =
        instants.at.into_iter().zip(values).map(|(at, values)| Row { at, values }).collect();
    Ok(SeriesTable { columns: request.values.clone(), rows, notes })
}

/// Share of rows with the time of the row before from which a column that tells such rows apart
/// makes a table of several series. Chosen: two tags below each other give half, a repeated hour of
/// summer time a hundredth.
const SEVERAL_SERIES: f64 = 0.3;
/// Most names of series that a refusal tells.
const NAMES_TOLD: usize = 5;

/// A note on rows that have the time of the row before.
///
/// # Errors
/// The column that tells them apart, where the table holds several series below each other.
fn repeated_times(
    rows: &[FieldRow<'_>],
    time: usize,
    values: &[usize],
    header: &[String],
) -> Result<Option<String>, SeriesError> {
    let field = |row: &FieldRow<'_>, place: usize| {
        row.fields.get(place).copied().unwrap_or_default().to_owned()
    };
    let again: Vec<&[FieldRow<'_>]> =
        rows.windows(2).filter(|pair| field(&pair[0], time) == field(&pair[1], time)).collect();
    if again.is_empty() {
        return Ok(None);
    }
    if again.len() as f64 >= SEVERAL_SERIES * rows.len() as f64 {
        let tells_apart = |place: &usize| {
            *place != time
                && !values.contains(place)
                && again.iter().all(|pair| field(&pair[0], *place) != field(&pair[1], *place))
        };
        if let Some(place) = (0..header.len()).find(tells_apart) {
            let names: std::collections::BTreeSet<String> =
                rows.iter().map(|row| field(row, place)).collect();
            let told: Vec<String> =
                names.iter().take(NAMES_TOLD).map(|name| format!("{name:?}")).collect();
            let reason = format!(
                "the times stand several times, and column {:?} tells such rows apart ({}): the \
                 table holds several series below each other; judge one of them (--only {}={}), or \
                 give each a column of its own",
                header[place],
                told.join(", "),
                header[place],
                names.first().map_or("", String::as_str)
            );
            return Err(SeriesError::Ambiguous { line: again[0][1].line, reason });
        }
    }
    let line = again[0][1].line;
    Ok(Some(format!(
        "{} rows have the time of the row before, so that times stand twice (first in line {line})",
        again.len()
    )))
}

/// The lines without those that begin in `#`: the markers `"#TYPES"` and `"#ROWS"` of Ignition, and
/// the row of types below the first.
fn without_markers<'a>(lines: &[(usize, &'a str)]) -> Vec<(usize, &'a str)> {
    let marker = |line: &str| line.trim_start_matches(['"', ' ']).starts_with('#');
    let is_types = |at: usize| {
        let above = at.checked_sub(1).and_then(|above| lines.get(above));
        above.is_some_and(|(_, line)| line.trim_matches(['"', ' ']).starts_with("#TYPES"))
    };
    // ClickHouse writes a row of types below the names
    let is_first_types = |at: usize, line: &str| {
        let types = |separator: &Separator| is_row_of_types(&separator.fields(line));
        at == 0 && Separator::ALL[..4].iter().any(types)
    };
    let kept = lines
        .iter()
        .enumerate()
        .filter(|(at, (_, line))| !marker(line) && !is_types(*at) && !is_first_types(*at, line));
    kept.map(|(_, line)| *line).collect()
}

/// Lines above the header that are looked at.
const MOST_ABOVE: usize = 200;

/// Lines of a footer at most.
const MOST_BELOW: usize = 20;

/// A row of fields with its line.
pub(super) struct FieldRow<'a> {
    pub(super) line: u64,
    pub(super) fields: Vec<&'a str>,
}

/// A header without the sign of a comment before it: `# time\trms`.
fn plain_header(line: &str) -> &str {
    line.trim_start_matches(['\u{feff}', ' ']).trim_start_matches(['#', '%', ' '])
}

/// The names of a header line, whose first one may stand behind the sign of a comment.
fn names_of(line: &str, separator: Separator, time: &str) -> Vec<String> {
    let owned = |line: &str| -> Vec<String> {
        let mut fields = separator.fields(line);
        // a header that ends in a separator names one column more, which has no name
        if separator.closes(line) {
            fields.push("");
        }
        fields.into_iter().map(str::to_owned).collect()
    };
    let own = owned(line);
    if own.iter().any(|name| name == time) { own } else { owned(plain_header(line)) }
}

/// The separator, and the first line that has the column of time; else the first line.
fn header_line(lines: &[(usize, &str)], time: &str) -> (Separator, usize) {
    for (at, (_, line)) in lines.iter().take(MOST_ABOVE).enumerate() {
        let has_it = |separator: &Separator| {
            separator.fields(line).contains(&time)
                || separator.fields(plain_header(line)).contains(&time)
        };
        // of several separators that fit, the one with most fields
        let fitting = Separator::ALL[..4].iter().copied().filter(has_it);
        if let Some(separator) = fitting.max_by_key(|separator| separator.fields(line).len()) {
            return (separator, at);
        }
    }
    let first = lines.first().map_or("", |(_, line)| line);
    let count = |separator: &Separator| separator.fields(first).len();
    let best = Separator::ALL[..4].iter().copied().rev().max_by_key(count);
    (best.unwrap_or(Separator::Char(',')), 0)
}

/// All rows below the header. A row of another length is an error, unless it may be of a footer.
fn rows_of<'a>(
    lines: &[(usize, &'a str)],
    separator: Separator,
    width: usize,
) -> Result<Vec<FieldRow<'a>>, SeriesError> {
    let mut rows = Vec::new();
    for (at, (line, text)) in lines.iter().enumerate() {
        let mut fields = separator.fields(text);
        if fields.len() < width && separator.closes(text) {
            fields.resize(width, "");
        }
        if fields.len() != width {
            let is_word = fields.first().is_some_and(|field| has_word(field));
            if is_word && !rows.is_empty() && lines.len() - at <= MOST_BELOW {
                fields.resize(width, "");
            } else {
                let reason = format!("{} fields where the header has {width}", fields.len());
                return Err(SeriesError::Row { line: *line as u64, reason });
            }
        }
        rows.push(FieldRow { line: *line as u64, fields });
    }
    Ok(rows)
}

fn has_word(field: &str) -> bool {
    field.chars().any(char::is_alphabetic) && Stamp::parse(field).is_none()
}

/// Takes a row of units below the header out; returns the units, empty where there is no such row.
fn unit_row(rows: &mut Vec<FieldRow<'_>>) -> Vec<String> {
    let Some(first) = rows.first() else { return Vec::new() };
    let is_unit =
        |field: &str| matches!(field, "" | "-" | "TS" | "RN") || StatedUnit::parse(field).is_some();
    let has_unit = first.fields.iter().any(|field| StatedUnit::parse(field).is_some());
    if !(has_unit && first.fields.iter().all(|field| is_unit(field))) {
        return Vec::new();
    }
    let units = first.fields.iter().map(|field| (*field).to_owned()).collect();
    rows.remove(0);
    // TOA5 has a row of what each value is of its interval below
    if rows.first().is_some_and(|row| is_processing_row(&row.fields)) {
        rows.remove(0);
    }
    units
}

/// Takes lines of words at the end out, such as `Total;400`.
fn leave_footer_out(
    rows: &mut Vec<FieldRow<'_>>,
    time: usize,
    columns: &[usize],
    notes: &mut Vec<String>,
) {
    let is_word = |row: &FieldRow<'_>| {
        let first = row.fields.get(time).copied().unwrap_or_default();
        has_word(first)
            && columns
                .iter()
                .all(|c| row.fields.get(*c).is_none_or(|f| f.is_empty() || has_word(f)))
    };
    let footer = rows.iter().rev().take(MOST_BELOW).take_while(|row| is_word(row)).count();
    if footer > 0 && footer < rows.len() {
        rows.truncate(rows.len() - footer);
        notes.push(format!("{footer} lines at the end were left out"));
    }
}

/// Returns how the numbers are written.
fn number_form(
    rows: &[FieldRow<'_>],
    columns: &[usize],
    request: &Request,
) -> Result<NumberForm, SeriesError> {
    if let Some(decimal) = request.decimal {
        return Ok(NumberForm { decimal });
    }
    let mut evidence = DecimalEvidence::default();
    let mut example = None;
    for row in rows {
        for field in columns.iter().filter_map(|column| row.fields.get(*column)) {
            evidence.take(&cells::bare(field));
            if example.is_none() && field.contains(',') {
                example = Some((row.line, (*field).to_owned()));
            }
        }
    }
    match (evidence.decided(), example) {
        (Some(decimal), _) => Ok(NumberForm { decimal }),
        (None, example) => {
            let (line, got) = example.unwrap_or_default();
            let reason = format!(
                "{got:?} may be a decimal comma or a comma between thousands; decide with \
                 --decimal comma or --decimal point"
            );
            Err(SeriesError::Ambiguous { line, reason })
        }
    }
}

#[cfg(test)]
mod tests;
