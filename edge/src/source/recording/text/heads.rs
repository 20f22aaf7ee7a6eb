//! The rows above a table that name its columns and their units.
//!
//! Part of the layout. The names stand in the line above the numbers, or in a comment there; a row
//! of units may stand between. Invariant: a row of units is told from a row of names by its fields,
//! and a unit that is not known stays in it as the file spells it.

use super::head_fit::{HeadFit, REMARKS, fields_of_rows, fit_of};
use super::head_units::HeadUnits;
use super::layout::{Line, loose_value};
use super::metadata::{Metadata, rate_of_fields};
use crate::source::interpretation::{ChannelRole, StatedUnit, UnitKind};
use crate::tabular::fields::{Separator, is_processing_row, is_row_of_types};
use crate::tabular::width::half_width;

/// Longest spelling of a unit that is not known, in letters.
const LONGEST_UNIT: usize = 12;

/// Names and units of the columns.
#[derive(Debug, Default)]
pub(super) struct Heads {
    pub(super) names: Option<Vec<String>>,
    pub(super) units: Vec<Option<String>>,
    /// The places of these rows among those that were looked at, the nearest first.
    pub(super) used: Vec<usize>,
}

/// The lines above the numbers.
pub(super) struct TableHead<'a> {
    pub(super) heads: Heads,
    /// Index of the first row of numbers.
    pub(super) first_row: usize,
    /// The lines and comments that are neither names nor units of columns.
    pub(super) words: Vec<&'a str>,
    /// Names of columns that are more or fewer than the fields of the rows, and have no one
    /// reading.
    pub(super) unfitting: Option<Vec<String>>,
    /// A key in the row of names with its value in the row below: `Increment: 7.8125e-05`.
    pub(super) statements: Vec<String>,
    pub(super) notes: Vec<String>,
}

/// The comments above a row.
pub(super) fn comments_above<'a>(
    lines: &[Line<'a>],
    comments: &[Line<'a>],
    row: usize,
) -> impl DoubleEndedIterator<Item = &'a str> {
    let first = lines.get(row).map_or(usize::MAX, |(number, _)| *number);
    comments.iter().filter(move |(at, _)| *at < first).map(|(_, c)| *c)
}

/// Names and units of the columns, in the lines above the first row of values or else in comments
/// there.
pub(super) fn head_of<'a>(
    lines: &[Line<'a>],
    comments: &[Line<'a>],
    (first, width): (usize, usize),
    separator: Separator,
) -> TableHead<'a> {
    let fields = |line: &str| fields_of_head(separator, line, width);
    let sample = fields_of_rows(&lines[first..], separator, width);
    let mut above = lines_above(&lines[..first]);
    leave_types_out(&mut above, separator);
    let mut head: Vec<(usize, Vec<String>)> =
        above.iter().take(3).map(|line| fields(line)).enumerate().collect();
    let statements = statements_below_names(&mut head);
    let is_head = |(_, row): &(usize, Vec<String>)| {
        row.len() == width && !states_something(row) && !is_section(row)
    };
    let nearest = head.first().map(|(_, row)| row.clone()).unwrap_or_default();
    let mut fit = fit_of(&nearest, &sample, separator, width);
    for (_, row) in head.iter_mut().filter(|(_, row)| row.len() == nearest.len()) {
        fit.apply(row, width);
    }
    // a third row of names counts above two others alone
    head.truncate(if head.iter().take(2).all(is_head) { 3 } else { 2 });
    head.retain(is_head);
    let mut first_row = first;
    let numbered = fields(lines[first].1);
    if head.is_empty() && is_numbered_header(&numbered, lines.get(first + 1)) {
        head.push((usize::MAX, numbered));
        first_row += 1;
    }
    let remarks: Vec<&str> = comments_above(lines, comments, first_row).rev().collect();
    let (places, rows): (Vec<usize>, Vec<Vec<String>>) = head.into_iter().unzip();
    let is_in_comments = rows.is_empty();
    let heads = if is_in_comments {
        let found = heads_in_comments(&remarks, separator, width);
        let nearest = remarks.first().map(|remark| fields(bare_comment(remark)));
        match nearest.filter(|_| found.names.is_none() && found.used.is_empty()) {
            Some(names) => fitted_comment(found, names, &mut fit, (&sample, separator)),
            None => found,
        }
    } else {
        let heads = heads_of(rows, width);
        let used = heads.used.iter().filter_map(|row| places.get(*row).copied()).collect();
        Heads { used, ..heads }
    };
    // units in the names of columns are those of the columns
    let left = |all: &[&'a str], are_used: bool| -> Vec<&'a str> {
        let is_left = |place: &usize| !(are_used && heads.used.contains(place));
        (0..all.len()).filter(is_left).map(|place| all[place]).collect()
    };
    let words = [left(&above, !is_in_comments), left(&remarks, is_in_comments)].concat();
    let unfitting = match &fit {
        HeadFit::Open(names) if heads.names.is_none() => Some(names.clone()),
        HeadFit::Open(_) | HeadFit::None | HeadFit::Index | HeadFit::EmptyAtEnd => None,
    };
    let notes = fit.note().into_iter().collect();
    TableHead { heads, first_row, words, unfitting, statements, notes }
}

/// The fields of a line that may be the header of rows of this width.
fn fields_of_head(separator: Separator, line: &str, width: usize) -> Vec<String> {
    // a quote within quotes is doubled
    let own = |field: &str| half_width(&field.replace("\"\"", "\"")).into_owned();
    let mut all: Vec<String> = separator.fields(line).into_iter().map(own).collect();
    if all.len() + 1 == width && separator.closes(line) {
        all.push(String::new());
    }
    // the column of remarks has a name in the header and nothing in the rows (LabVIEW)
    if all.len() == width + 1 {
        all.pop_if(|last| REMARKS.contains(&last.to_lowercase().as_str()));
    }
    if separator == Separator::Spaces && all.len() > width {
        all = with_units_joined(all);
    }
    // statements behind the names: `CH1V,CH2V,t0 =-0.5s, tInc = 7.8e-05,` (Rigol)
    let is_no_name = |field: &String| field.is_empty() || field.contains(" =");
    while all.len() > width && all.last().is_some_and(is_no_name) {
        all.pop();
    }
    all
}

/// Takes the row of types below the names out (ClickHouse, exports of PLCs): it is neither names
/// nor units.
fn leave_types_out(above: &mut Vec<&str>, separator: Separator) {
    let width_of = |line: &&str| separator.fields(line).len();
    let is_types = above.first().is_some_and(|line| is_row_of_types(&separator.fields(line)));
    if is_types && above.get(1).map(width_of) == above.first().map(width_of) {
        above.remove(0);
    }
}

/// The words of a header with units in brackets behind them: `t [s]   acc [g]` names two columns.
fn with_units_joined(words: Vec<String>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for word in words {
        match names.last_mut().filter(|_| word.starts_with(['[', '('])) {
            Some(name) => {
                name.push(' ');
                name.push_str(&word);
            }
            None => names.push(word),
        }
    }
    names
}

/// The lines above the rows, the nearest first, without those next to the rows that state a rate
/// for each column (catman): these are neither names nor units.
fn lines_above<'a>(lines: &[Line<'a>]) -> Vec<&'a str> {
    let above = lines.iter().rev().map(|(_, line)| *line);
    above.skip_while(|line| rate_of_fields(line).is_some()).collect()
}

/// Names of fields that hold a value in the row below the names, in lower case (Rigol).
const STATED_BELOW: [&str; 4] = ["start", "increment", "tinc", "t0"];

/// Takes the values of such fields out of the row below the names; returns them as statements.
fn statements_below_names(head: &mut [(usize, Vec<String>)]) -> Vec<String> {
    let [(_, below), (_, names), ..] = head else { return Vec::new() };
    let mut statements = Vec::new();
    for (name, value) in names.iter().zip(below) {
        let is_stated = STATED_BELOW.contains(&name.trim().to_lowercase().as_str());
        if is_stated && loose_value(value) == Some(true) {
            statements.push(format!("{name}: {}", std::mem::take(value)));
        }
    }
    statements
}

/// The names in a comment that has another number of them than the rows have fields.
fn fitted_comment(
    found: Heads,
    mut names: Vec<String>,
    fit: &mut HeadFit,
    (sample, separator): (&[Vec<&str>], Separator),
) -> Heads {
    let width = found.units.len();
    let own = fit_of(&names, sample, separator, width);
    let is_fitted = own.apply(&mut names, width);
    if own != HeadFit::None {
        *fit = own;
    }
    if is_fitted {
        Heads { names: Some(names), units: vec![None; width], used: vec![0] }
    } else {
        found
    }
}

fn bare_comment(comment: &str) -> &str {
    comment.trim_start_matches(['#', '%', '/', ';', ' '])
}

/// Whether a row as wide as the table is a statement and no names: `dt:` beside numbers, `unit`
/// beside a unit, `Rate: 2,560 Hz` alone.
fn states_something(row: &[String]) -> bool {
    let Some(first) = row.first() else { return false };
    let has_number = || row.iter().skip(1).any(|field| loose_value(field) == Some(true));
    if first.ends_with(':') && has_number() {
        return true;
    }
    match row {
        [alone] => is_statement_alone(alone),
        [key, value, rest @ ..] => {
            rest.iter().all(String::is_empty) && HeadUnits::is_statement(&format!("{key}\t{value}"))
        }
        [] => false,
    }
}

/// Whether a row is the heading of a section: `[Values]`.
fn is_section(row: &[String]) -> bool {
    let [alone] = row else { return false };
    alone.starts_with('[') && alone.ends_with(']') && StatedUnit::parse(alone).is_none()
}

/// Whether the only field of a line is a key and a value: a rate, a unit, or a number behind a
/// mark.
fn is_statement_alone(line: &str) -> bool {
    let Some(at) = line.find(['=', ':', '：', ';', '\t']).or_else(|| line.find(',')) else {
        return false;
    };
    let (key, value) = line.split_at(at);
    let value = value.trim_start_matches(['=', ':', '：', ';', '\t', ',', ' ']);
    Metadata::of_lines(std::iter::once(line)).rate_hz.is_some()
        || HeadUnits::is_statement(&format!("{key}\t{value}"))
        || (!key.trim().is_empty() && value.starts_with(|c: char| c.is_ascii_digit()))
}

/// A header of numbers, as data frames without names write it: `0,1,2` or `,0,1`.
fn is_numbered_header(fields: &[String], next: Option<&Line<'_>>) -> bool {
    let names = match fields {
        [first, rest @ ..] if first.is_empty() && !rest.is_empty() => rest,
        all if all.len() > 1 => all,
        _ => return false,
    };
    let counts = names.iter().enumerate().all(|(place, name)| *name == place.to_string());
    // a row below it with whole numbers only may be a row like it
    counts && next.is_some_and(|(_, line)| line.contains('.') || fields[0].is_empty())
}

/// Names and units from the lines above the numbers, the nearest first.
fn heads_of(head: Vec<Vec<String>>, width: usize) -> Heads {
    let mut rows = head.into_iter();
    let Some(nearest) = rows.next() else {
        return Heads { units: vec![None; width], ..Heads::default() };
    };
    let (second, third) = (rows.next(), rows.next());
    // a logger's row of what a value is of its interval (`Smp`, `Avg`) stands below names and units
    if let (Some(units), Some(names)) = (&second, &third)
        && is_processing_row(&nearest)
        && is_unit_row(units, Some(names))
    {
        let units = units.iter().map(|field| unit_of_field(field)).collect();
        return Heads { names: third, units, used: vec![0, 1, 2] };
    }
    let is_units = is_unit_row(&nearest, second.as_deref());
    let spelled = |row: &[String]| row.iter().map(|field| unit_of_field(field)).collect();
    match second {
        Some(names) if is_units => {
            // a row of axes (`Linear`, `Real`) may stand between names and units
            let better = third.filter(|third| names_a_role(third) && !names_a_role(&names));
            let used = if better.is_some() { vec![0, 1, 2] } else { vec![0, 1] };
            Heads { names: Some(better.unwrap_or(names)), units: spelled(&nearest), used }
        }
        None if is_units && width > 1 && nearest.iter().all(|f| f.starts_with(['(', '['])) => {
            Heads { names: None, units: spelled(&nearest), used: vec![0] }
        }
        _ => Heads { names: Some(nearest), units: vec![None; width], used: vec![0] },
    }
}

/// Names and units from the comments above the numbers, the nearest first: `# time, acc`, with `#
/// s, m/s^2`
/// or `# name: Time  name: Acc` before or behind it.
fn heads_in_comments(comments: &[&str], separator: Separator, width: usize) -> Heads {
    let mut rows: Vec<(usize, Vec<String>)> = Vec::new();
    let (mut names, mut units) = (None, None);
    for (place, comment) in comments.iter().take(8).enumerate() {
        let plain = bare_comment(comment);
        if let Some((key, values)) = keyed_row(plain, width) {
            match key.as_str() {
                "unit" | "units" | "einheit" => units = units.or(Some(values)),
                "name" | "label" | "channel" => names = names.or(Some(values)),
                _ => {}
            }
            continue;
        }
        let mut fields: Vec<String> =
            separator.fields(plain).into_iter().map(str::to_owned).collect();
        if separator == Separator::Spaces && fields.len() > width {
            fields = with_units_joined(fields);
        }
        let is_word = |field: &String| field.parse::<f64>().is_err() && !field.ends_with(':');
        if rows.len() < 2 && fields.len() == width && fields.iter().all(is_word) {
            rows.push((place, fields));
        }
    }
    let spelled = |row: &[String]| row.iter().map(|field| unit_of_field(field)).collect();
    if names.is_some() || units.is_some() {
        let units = units.map_or_else(|| vec![None; width], |units| spelled(&units));
        return Heads { names, units, used: Vec::new() };
    }
    // a sentence of as many words is no row of names
    let is_unit = |row: &[String]| is_unit_row(row, None) && width > 1;
    let named = |row: &[String]| width > 1 && names_a_role(row);
    match rows.as_slice() {
        [(a, units), (b, names), ..] if is_unit(units) && named(names) => {
            Heads { names: Some(names.clone()), units: spelled(units), used: vec![*a, *b] }
        }
        [(a, names), (b, units), ..] if is_unit(units) && named(names) => {
            Heads { names: Some(names.clone()), units: spelled(units), used: vec![*a, *b] }
        }
        [(place, units), ..] if is_unit(units) => {
            Heads { names: None, units: spelled(units), used: vec![*place] }
        }
        [(place, names), ..] if named(names) => {
            Heads { names: Some(names.clone()), units: vec![None; width], used: vec![*place] }
        }
        _ => Heads { units: vec![None; width], ..Heads::default() },
    }
}

/// The values of a line in which one key stands as often as there are columns: `unit: s   unit:
/// m/s^2`.
fn keyed_row(line: &str, width: usize) -> Option<(String, Vec<String>)> {
    let (key, _) = line.split_once(':')?;
    let key = format!("{}:", key.trim());
    let mut parts = line.split(key.as_str());
    let is_at_start = parts.next().is_some_and(|before| before.trim().is_empty());
    let values: Vec<String> = parts.map(|value| value.trim().to_owned()).collect();
    let fits = is_at_start && width > 1 && values.len() == width;
    fits.then(|| (key.trim_end_matches(':').to_lowercase(), values))
}

/// Whether a row states units: each of its fields is one, or brackets around one, or empty. Beside
/// a known unit of time a word that is not known may be a unit, where the row above names a column
/// of time.
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

/// A field without a unit; `TS`, `RN` and `Sequence` stand for those of a time and of a count of
/// records (TOA5, Rigol).
fn is_blank(field: &str) -> bool {
    matches!(field.trim(), "" | "-" | "--" | "()" | "[]" | "TS" | "RN" | "Sequence")
}

/// A unit as the row spells it; `None` for an empty field.
fn unit_of_field(field: &str) -> Option<String> {
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

/// The columns whose header states another unit than the row of units below it: column, unit of the
/// header, unit of the row.
pub(super) fn contradictions(heads: &Heads) -> Vec<(usize, StatedUnit, StatedUnit)> {
    let Some(names) = &heads.names else { return Vec::new() };
    let both = |(column, (name, unit)): (usize, (&String, &Option<String>))| {
        let (own, below) = (StatedUnit::in_header(name)?, StatedUnit::parse(unit.as_deref()?)?);
        (own.kind != below.kind).then_some((column, own, below))
    };
    names.iter().zip(&heads.units).enumerate().filter_map(both).collect()
}
