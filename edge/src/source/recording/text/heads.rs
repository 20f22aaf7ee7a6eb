//! The rows above a table that name its columns and their units.
//!
//! Part of the layout. The names stand in the line above the numbers, or in a comment there; a row of units
//! may stand between. Invariant: a row of units is told from a row of names by its fields, and a unit that is
//! not known stays in it as the file spells it.

use crate::source::interpretation::{ChannelRole, StatedUnit, UnitKind};
use crate::tabular::fields::Separator;

/// Longest spelling of a unit that is not known, in letters.
const LONGEST_UNIT: usize = 12;

/// Names and units of the columns.
#[derive(Debug, Default)]
pub(super) struct Heads {
    pub(super) names: Option<Vec<String>>,
    pub(super) units: Vec<Option<String>>,
    /// The nearest lines, or comments, that are such rows.
    pub(super) rows: usize,
}

/// Names and units from the lines above the numbers, the nearest first.
pub(super) fn heads_of(head: Vec<Vec<String>>, width: usize) -> Heads {
    let mut rows = head.into_iter();
    let Some(nearest) = rows.next() else {
        return Heads { units: vec![None; width], ..Heads::default() };
    };
    let (second, third) = (rows.next(), rows.next());
    let is_units = is_unit_row(&nearest, second.as_deref());
    let spelled = |row: &[String]| row.iter().map(unit_of_field).collect();
    match second {
        Some(names) if is_units => {
            // a row of axes (`Linear`, `Real`) may stand between names and units
            let better = third.filter(|third| names_a_role(third) && !names_a_role(&names));
            let rows = if better.is_some() { 3 } else { 2 };
            Heads { names: Some(better.unwrap_or(names)), units: spelled(&nearest), rows }
        }
        None if is_units && width > 1 && nearest.iter().all(|f| f.starts_with(['(', '['])) => {
            Heads { names: None, units: spelled(&nearest), rows: 1 }
        }
        _ => Heads { names: Some(nearest), units: vec![None; width], rows: 1 },
    }
}

/// Names and units from the comments above the numbers, the nearest first: `# time, acc`, with `# s, m/s^2`
/// or `# name: Time  name: Acc` before or behind it.
pub(super) fn heads_in_comments(comments: &[&str], separator: Separator, width: usize) -> Heads {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let (mut names, mut units) = (None, None);
    for comment in comments.iter().take(8) {
        let plain = comment.trim_start_matches(['#', '%', '/', ';', ' ']);
        if let Some((key, values)) = keyed_row(plain, width) {
            match key.as_str() {
                "unit" | "units" | "einheit" => units = units.or(Some(values)),
                "name" | "label" | "channel" => names = names.or(Some(values)),
                _ => {}
            }
            continue;
        }
        let fields: Vec<String> = separator.fields(plain).into_iter().map(str::to_owned).collect();
        let is_word = |field: &String| field.parse::<f64>().is_err() && !field.ends_with(':');
        if rows.len() < 2 && fields.len() == width && fields.iter().all(is_word) {
            rows.push(fields);
        }
    }
    if names.is_some() || units.is_some() {
        let units = units
            .map_or_else(|| vec![None; width], |units| units.iter().map(unit_of_field).collect());
        return Heads { names, units, rows: 1 };
    }
    // a sentence of as many words is no row of names
    let is_unit = |row: &Vec<String>| is_unit_row(row, None) && width > 1;
    match rows.as_slice() {
        [units, names, ..] if is_unit(units) && names_a_role(names) => Heads {
            names: Some(names.clone()),
            units: units.iter().map(unit_of_field).collect(),
            rows: 2,
        },
        [units, ..] if is_unit(units) => {
            Heads { units: units.iter().map(unit_of_field).collect(), rows: 1, names: None }
        }
        [names, ..] if width > 1 && names_a_role(names) => {
            Heads { names: Some(names.clone()), units: vec![None; width], rows: 1 }
        }
        _ => Heads { units: vec![None; width], ..Heads::default() },
    }
}

/// The values of a line in which one key stands as often as there are columns: `unit: s   unit: m/s^2`.
fn keyed_row(line: &str, width: usize) -> Option<(String, Vec<String>)> {
    let (key, _) = line.split_once(':')?;
    let key = format!("{}:", key.trim());
    let mut parts = line.split(key.as_str());
    let is_at_start = parts.next().is_some_and(|before| before.trim().is_empty());
    let values: Vec<String> = parts.map(|value| value.trim().to_owned()).collect();
    let fits = is_at_start && width > 1 && values.len() == width;
    fits.then(|| (key.trim_end_matches(':').to_lowercase(), values))
}

/// Whether a row states units: each of its fields is one, or brackets around one, or empty. Beside a known
/// unit of time a word that is not known may be a unit, where the row above names a column of time.
fn is_unit_row(row: &[String], names: Option<&[String]>) -> bool {
    let count = |is_so: &dyn Fn(&String) -> bool| row.iter().filter(|field| is_so(field)).count();
    let stated = count(&|field| StatedUnit::parse(field).is_some());
    let empty = count(&|field| is_blank(field));
    let bracketed = count(&|field| field.starts_with(['(', '[']));
    if stated == 0 {
        return false;
    }
    let is_time = |field: &String| {
        matches!(StatedUnit::parse(field), Some(StatedUnit { kind: UnitKind::Time(_), .. }))
    };
    let is_below_time = || {
        names.is_some_and(|names| {
            names.iter().zip(row).any(|(name, unit)| {
                ChannelRole::by_name(name) == ChannelRole::Time && is_time(unit)
            })
        })
    };
    let is_short = |field: &String| field.chars().count() <= LONGEST_UNIT;
    stated + empty >= row.len()
        || bracketed + empty >= row.len()
        || (row.iter().all(is_short) && is_below_time())
}

fn is_blank(field: &str) -> bool {
    matches!(field.trim(), "" | "-" | "--" | "()" | "[]")
}

/// A unit as the row spells it; `None` for an empty field.
fn unit_of_field(field: &String) -> Option<String> {
    if is_blank(field) {
        return None;
    }
    let own = field.trim().trim_matches(['[', ']', '(', ')', '{', '}', '"', '\'', ' ']);
    Some(StatedUnit::parse(field).map_or_else(|| own.to_owned(), |unit| unit.spelling))
}

/// Whether a name of the row says what its column is.
fn names_a_role(row: &[String]) -> bool {
    row.iter().any(|name| {
        ChannelRole::by_name(name) != ChannelRole::Unknown || StatedUnit::in_header(name).is_some()
    })
}

/// The columns whose header states another unit than the row of units below it: column, unit of the header,
/// unit of the row.
pub(super) fn contradictions(heads: &Heads) -> Vec<(usize, StatedUnit, StatedUnit)> {
    let Some(names) = &heads.names else { return Vec::new() };
    let both = |(column, (name, unit)): (usize, (&String, &Option<String>))| {
        let (own, below) = (StatedUnit::in_header(name)?, StatedUnit::parse(unit.as_deref()?)?);
        (own.kind != below.kind).then_some((column, own, below))
    };
    names.iter().zip(&heads.units).enumerate().filter_map(both).collect()
}
