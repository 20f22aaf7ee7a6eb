//! Tables in long form: several channels in one column of values, told apart by a column beside it
//! (`time,sensor,value`), and rows that stand several times.
//!
//! Behind the rows and before the columns of time. Read as one channel such a table would have a
//! multiple of its rate. Invariant: a table in long form is refused with the column and its values,
//! copies are told.

use super::layout::{ColumnKind, Layout};
use super::rows::TextColumns;
use super::{all_columns, column_name, stated};
use crate::source::interpretation::{ChannelRole, role};
use crate::source::recording::repeats::{
    check_copies, long_form_refusal, names_channels, numbered, repeated_times,
};
use crate::source::recording::stations;

/// Refuses a table whose rows belong to several measuring points, one below the other; tells it
/// where a person has named the columns.
///
/// # Errors
/// The column that tells the points apart, with its values; in words.
pub(super) fn check_points(
    layout: &Layout,
    columns: &TextColumns,
    is_named: bool,
) -> Result<Vec<String>, String> {
    let mut told = Vec::new();
    for (column, words) in columns.words() {
        let name = column_name(layout, *column);
        if stations::names_points(&name) {
            let column = format!("column {name:?}");
            told.extend(stations::several_points(&column, &words.words, &words.rows));
        }
    }
    for column in all_columns(layout, columns) {
        let name = column_name(layout, column);
        if layout.kinds[column] == ColumnKind::Number
            && stations::names_points(&name)
            && role(&stated(layout, column)) != ChannelRole::Acceleration
            && let Some((values, rows)) = numbered(&columns.table(&[column]).row(0).to_vec())
            && stations::are_blocks(&rows)
        {
            let column = format!("column {name:?}");
            told.extend(stations::several_points(&column, &values, &rows));
        }
    }
    match told.first() {
        Some(first) if !is_named => Err(stations::refusal(first)),
        _ => Ok(told),
    }
}

/// Refuses a table in long form; tells copies of rows.
///
/// # Errors
/// The column that tells channels apart, with its values, or copies of all rows; in words.
pub(super) fn check_rows(layout: &Layout, columns: &TextColumns) -> Result<Vec<String>, String> {
    let all = all_columns(layout, columns);
    let is_time = |column: &&usize| {
        layout.kinds[**column] == ColumnKind::Calendar
            || role(&stated(layout, **column)) == ChannelRole::Time
    };
    let is_open = |column: &&usize| {
        layout.header.is_none() && all.first().is_some_and(|first| first == *column)
    };
    let times = all.iter().find(is_time).or_else(|| all.iter().find(is_open));
    let Some(&time) = times.filter(|_| all.len() > 1) else { return Ok(Vec::new()) };
    let times = columns.table(&[time]).row(0).to_vec();
    let falls = times.windows(2).filter(|pair| pair[1] < pair[0]).count();
    if is_open(&&time) && 20 * falls > times.len() {
        return Ok(Vec::new()); // a vibration
    }
    let name = |column: usize| {
        let name = stated(layout, column).name.map_or(String::new(), |name| format!(" {name:?}"));
        format!("column {column}{name}")
    };
    let words = columns.words().iter().filter(|(_, words)| words.may_name_channels());
    for (column, words) in words {
        if let Some(repeated) = repeated_times(&times, &words.rows) {
            return Err(long_form_refusal(&name(*column), &words.words, repeated));
        }
    }
    let is_numbered = |column: &&usize| {
        let name = stated(layout, **column).name;
        **column != time && name.as_deref().is_some_and(names_channels)
    };
    for column in all.iter().filter(is_numbered) {
        if let Some((values, rows)) = numbered(&columns.table(&[*column]).row(0).to_vec())
            && let Some(repeated) = repeated_times(&times, &rows)
        {
            return Err(long_form_refusal(&name(*column), &values, repeated));
        }
    }
    check_copies(&times, |each| columns.is_copied(each))
}
