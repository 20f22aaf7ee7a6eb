//! Reads the text beside and above the rows of a table: statements, rates of columns, columns of
//! words, parts of seconds.
//!
//! Part of the layout. Invariant: a contradiction is refused with both sides.

use super::layout::{ColumnKind, Line, SAMPLE_LINES, loose_value};
use super::metadata::fields_of_rates;
use crate::source::interpretation::ChannelRole;
use crate::tabular::fields::Separator;

/// The column behind a clock whose fields all have three or six digits, as in `06:07:08,123`
/// between commas.
pub(super) fn fraction_of(
    rows: &[Line<'_>],
    separator: Separator,
    kinds: &[ColumnKind],
) -> Option<(usize, f64)> {
    let is_pair = |two: &[ColumnKind]| two == [ColumnKind::Calendar, ColumnKind::Number];
    let column = kinds.windows(2).position(is_pair)? + 1;
    let digits = |(_, line): &Line<'_>| {
        let fields = separator.fields(line);
        let own = fields.get(column)?;
        own.bytes().all(|byte| byte.is_ascii_digit()).then_some(own.len())
    };
    let first = digits(rows.first()?)?;
    let unit_ns = match first {
        3 => 1e6,
        6 => 1e3,
        _ => return None,
    };
    let is_whole = rows.iter().take(SAMPLE_LINES).all(|row| digits(row) == Some(first));
    is_whole.then_some((column, unit_ns))
}

/// A note on columns of words, by their names.
pub(super) fn words_left_out(
    kinds: &[ColumnKind],
    names: Option<&[String]>,
    first: &[&str],
) -> Option<String> {
    let own = (0..kinds.len()).filter(|column| kinds[*column] == ColumnKind::Words);
    let name = |column: usize| names.and_then(|names| names.get(column)).filter(|n| !n.is_empty());
    let named: Vec<&str> = own.clone().filter_map(|at| name(at).map(String::as_str)).collect();
    own.clone().next()?;
    let named = if named.is_empty() {
        String::new()
    } else {
        format!(": {}", named[..named.len().min(8)].join(", "))
    };
    let times: Vec<String> = own
        .filter_map(|at| {
            let name = name(at).filter(|name| ChannelRole::by_name(name) == ChannelRole::Time)?;
            let cell = first.get(at).filter(|cell| cell.contains(|c: char| c.is_ascii_digit()))?;
            let cell: String = cell.chars().take(50).collect();
            Some(format!(
                "; column {name:?} is not understood as times ({cell:?}), so gaps in them are not \
                 seen"
            ))
        })
        .collect();
    Some(format!("columns of words were left out{named}{}", times.concat()))
}

/// Refuses a row that states another rate for each column.
pub(super) fn check_rates_of_columns<'a>(
    mut above: impl Iterator<Item = &'a str>,
) -> Result<(), String> {
    let differ = |rates: &Vec<f64>| rates.iter().any(|other| (other / rates[0] - 1.0).abs() > 1e-9);
    match above.find_map(|line| fields_of_rates(line).filter(|rates| differ(rates))) {
        Some(rates) => Err(format!(
            "the head states several rates for its columns ({}); save the columns of one rate in a \
             file of their own",
            rates.iter().map(|rate| format!("{rate} Hz")).collect::<Vec<_>>().join(", ")
        )),
        None => Ok(()),
    }
}

/// Statements beside the first samples, as some oscilloscopes write them: a key and a value in the
/// first columns, which are words or empty.
pub(super) fn statements_beside(
    rows: &[Line<'_>],
    separator: Separator,
    kinds: &[ColumnKind],
) -> Vec<String> {
    if kinds.first() != Some(&ColumnKind::Words) {
        return Vec::new();
    }
    let statement = |(_, line): &Line<'_>| {
        let fields = separator.fields(line);
        let (key, value) = (fields.first()?, fields.get(1)?);
        let unit = fields.get(2).filter(|_| kinds.get(2) == Some(&ColumnKind::Words));
        let is_key = loose_value(key).is_none() && !value.is_empty();
        is_key.then(|| format!("{key}: {value} {}", unit.unwrap_or(&"")))
    };
    rows.iter().take(SAMPLE_LINES).filter_map(statement).collect()
}
