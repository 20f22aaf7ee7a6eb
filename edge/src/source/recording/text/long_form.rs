//! Tables in long form: several channels in one column of values, told apart by a column beside it
//! (`time,sensor,value`), and rows that stand several times.
//!
//! Behind the rows and before the columns of time. Read as one channel such a table would have a multiple of
//! its rate. Invariant: a table in long form is refused with the column and its values, copies are told.

use super::layout::{ColumnKind, Layout};
use super::rows::TextColumns;
use super::{all_columns, stated};
use crate::source::interpretation::{ChannelRole, role};
use crate::source::recording::repeats::{
    MOST_CHANNELS, long_form_refusal, names_channels, repeated_times,
};

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
    let words = columns.words().iter().filter(|words| words.may_name_channels());
    for words in words {
        if let Some(repeated) = repeated_times(&times, &words.rows) {
            return Err(long_form_refusal(&name(words.column), &words.words, repeated));
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
    copies(&times, columns)
}

/// The values of a column of few whole numbers, and the place of each row's value among them.
fn numbered(column: &[f64]) -> Option<(Vec<String>, Vec<u16>)> {
    let mut values: Vec<f64> = Vec::new();
    let mut rows = Vec::with_capacity(column.len());
    for number in column {
        let place = values.iter().position(|own| own.to_bits() == number.to_bits());
        let place = place.unwrap_or_else(|| {
            values.push(*number);
            values.len() - 1
        });
        if number.fract() != 0.0 || values.len() > MOST_CHANNELS {
            return None;
        }
        rows.push(place as u16);
    }
    Some((values.iter().map(f64::to_string).collect(), rows))
}

/// Tells rows that stand twice with the same time and the same values.
fn copies(times: &[f64], columns: &TextColumns) -> Result<Vec<String>, String> {
    let same = times.windows(2).filter(|pair| pair[0].to_bits() == pair[1].to_bits()).count();
    // the time rises from one row to the next that is no copy of it
    let rises = |each: usize| {
        let own: Vec<f64> = times.iter().copied().step_by(each).collect();
        own.windows(2).all(|pair| pair[1] > pair[0])
    };
    let is_copied = |each: &usize| times.len() > 15 && rises(*each) && columns.is_copied(*each);
    if let Some(each) = [2, 3, 4].into_iter().find(is_copied) {
        return Err(format!(
            "every row stands {each} times, with the same time and the same values; take the copies out"
        ));
    }
    // times with few digits repeat, too: a few equal ones beside many different ones are copies
    let are_copies = same > 0 && 10 * same <= times.len();
    Ok(are_copies
        .then(|| format!("{same} rows have the time of the row before: rows may stand twice"))
        .into_iter()
        .collect())
}
