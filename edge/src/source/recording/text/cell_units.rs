//! Tables whose cells have the unit beside the number: `12ms,0.98m/s2`, `"2026-03-01
//! 08:00:00.001","0.51 g"`.
//!
//! Such a text becomes a table with the units in its header before the layout is looked for; each
//! line stays in its place. Invariant: a column has one unit; another one in a line below is
//! refused with both lines.

use super::layout::loose_value;
use crate::source::interpretation::{StatedUnit, UnitKind};
use crate::tabular::Stamp;
use crate::tabular::fields::{Separator, numbered_lines};

/// Lines by which such a text is known.
const SAMPLE_LINES: usize = 60;

/// Fewest rows of the sample.
const LEAST_ROWS: usize = 8;

/// The unit of a column and the line in which it stands first.
type CellUnits = Vec<Option<(StatedUnit, usize)>>;

/// Returns the text as a table with units in its header, and notes for the person; `None` if it is
/// of another form.
///
/// # Errors
/// The lines in which a column has two units; in words.
pub(super) fn as_table(text: &str) -> Result<Option<(String, Vec<String>)>, String> {
    let Some((separator, mut units)) = units_of(text) else { return Ok(None) };
    let names: Vec<&str> = numbered_lines(text)
        .map(|(_, line)| separator.fields(line))
        .take_while(|fields| !is_row(fields, &units))
        .filter(|fields| fields.len() == units.len())
        .last()
        .unwrap_or_default();
    let mut lines: Vec<String> = Vec::new();
    let mut head_at = None;
    let mut has_rows = false;
    for (number, line) in numbered_lines(text) {
        let fields = separator.fields(line);
        if fields.len() != units.len() || !(has_rows || is_row(&fields, &units)) {
            if !has_rows && fields == names && !names.is_empty() {
                head_at = Some(lines.len());
            }
            lines.push(line.to_owned());
            continue;
        }
        has_rows = true;
        lines.push(row(number, &fields, &mut units, &names)?);
    }
    let name = |column: usize| match names.get(column).filter(|name| !name.is_empty()) {
        Some(name) => (*name).to_owned(),
        None => format!("column {column}"),
    };
    let head = |column: usize| match &units[column] {
        Some((unit, _)) => format!("{} ({})", name(column), unit.spelling),
        None => name(column),
    };
    let head = (0..units.len()).map(head).collect::<Vec<_>>().join("\t");
    match head_at {
        Some(at) => lines[at] = head,
        None => lines.insert(0, head),
    }
    let told = units.iter().enumerate().filter_map(|(column, unit)| {
        let (unit, _) = unit.as_ref()?;
        Some(format!("{}: the unit {} stands in the cells", name(column), unit.spelling))
    });
    let notes = told.collect();
    Ok(Some((lines.join("\n"), notes)))
}

/// A row with the units taken out of its cells.
fn row(
    number: usize,
    fields: &[&str],
    units: &mut CellUnits,
    names: &[&str],
) -> Result<String, String> {
    let mut own = Vec::new();
    for (column, field) in fields.iter().enumerate() {
        let Some((known, first)) = &mut units[column] else {
            own.push(*field);
            continue;
        };
        let column =
            names.get(column).map_or_else(|| column.to_string(), |name| format!("{name:?}"));
        match split(field) {
            Some((value, unit)) if unit.kind == known.kind => {
                *first = (*first).min(number);
                own.push(value);
            }
            Some((_, unit)) => {
                return Err(format!(
                    "line {number}: column {column} is in {} by line {first} and in {} here: a \
                     column has one unit; bring all values into one",
                    known.spelling, unit.spelling
                ));
            }
            None if loose_value(field) == Some(true) => {
                return Err(format!(
                    "line {number}: column {column} is in {} by line {first} and has no unit here; \
                     write the unit into each cell or into none",
                    known.spelling
                ));
            }
            None => own.push(*field),
        }
    }
    Ok(own.join("\t"))
}

/// The separator and the units of the columns, if most lines that are looked at have them.
fn units_of(text: &str) -> Option<(Separator, CellUnits)> {
    let plain = |(_, line): &(usize, &str)| {
        let line = line.trim();
        !line.is_empty() && !super::is_comment(line)
    };
    let sample: Vec<(usize, &str)> =
        numbered_lines(text).filter(plain).take(SAMPLE_LINES).collect();
    // a text without a letter in its last line is of another form, and is not looked at further
    let has_letter =
        sample.last()?.1.contains(|c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E'));
    let separators = [Separator::Char('\t'), Separator::Char(';'), Separator::Char(',')];
    separators.into_iter().filter(|_| has_letter).find_map(|separator| {
        let rows: Vec<(usize, Vec<&str>)> =
            sample.iter().map(|(number, line)| (*number, separator.fields(line))).collect();
        let (first, last) = rows.last()?;
        let units: CellUnits =
            last.iter().map(|field| split(field).map(|(_, unit)| (unit, *first))).collect();
        let fitting: Vec<&(usize, Vec<&str>)> =
            rows.iter().filter(|(_, fields)| is_row(fields, &units)).collect();
        let is_form = units.iter().any(Option::is_some)
            && fitting.len() >= LEAST_ROWS
            && 10 * fitting.len() >= 8 * rows.len();
        // the unit of the first row counts, and others are measured by it
        let mut units = units;
        for (column, unit) in units.iter_mut().enumerate().filter(|(_, unit)| unit.is_some()) {
            let own =
                fitting.iter().find_map(|(at, fields)| Some((split(fields.get(column)?)?.1, *at)));
            *unit = own.or_else(|| unit.take());
        }
        is_form.then_some((separator, units))
    })
}

/// Whether the fields are a row: numbers with a unit where the columns have one, values elsewhere.
fn is_row(fields: &[&str], units: &CellUnits) -> bool {
    let fits = |(field, unit): (&&str, &Option<(StatedUnit, usize)>)| match unit {
        Some(_) => split(field).is_some(),
        None => loose_value(field).is_some(),
    };
    fields.len() == units.len() && fields.iter().zip(units).all(fits)
}

/// A number and the unit behind it.
fn split(field: &str) -> Option<(&str, StatedUnit)> {
    let is_sign = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | ',' | '−');
    let end = field.find(|c: char| !is_sign(c))?;
    let (number, rest) = field.split_at(end);
    // `1.5e-3 g`
    let (number, rest) = match rest.strip_prefix(['e', 'E']) {
        Some(power)
            if power.starts_with(['-', '+']) || power.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            let digits = power.trim_start_matches(['-', '+']);
            let digits =
                digits.len() - digits.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let end = end + 1 + power.len() - power.trim_start_matches(['-', '+']).len() + digits;
            field.split_at_checked(end)?
        }
        _ => (number, rest),
    };
    let is_number =
        number.contains(|c: char| c.is_ascii_digit()) && loose_value(number) == Some(true);
    if !is_number || Stamp::parse(field).is_some() {
        return None;
    }
    let unit = StatedUnit::parse(rest.trim())?;
    let is_sample = matches!(
        unit.kind,
        UnitKind::Acceleration(_) | UnitKind::Voltage(_) | UnitKind::Time(_) | UnitKind::Other(_)
    );
    is_sample.then_some((number, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-EDGE-4: units in the cells are those of the columns, and a column has one.
    #[test]
    fn units_in_the_cells_are_those_of_the_columns() {
        for (separator, quote) in [(",", "\""), (";", ""), ("\t", "")] {
            let rows: Vec<String> =
                (0..30).map(|n| format!("{n}ms{separator}{quote}-{n}.5 m/s²{quote}\n")).collect();
            let rows = rows.concat();
            let text = format!("when{separator}acc\n{rows}");
            let (table, notes) = as_table(&text).expect("one unit").expect("units in cells");
            let lines: Vec<&str> = table.lines().collect();
            assert_eq!(lines[..2], ["when (ms)\tacc (m/s²)", "0\t-0.5"], "{separator}");
            assert_eq!((notes.len(), lines.len()), (2, 31));
            let mixed = text.replace("-20.5 m/s²", "-2.05 g");
            let error = as_table(&mixed).expect_err("two units");
            assert!(error.contains("line 22") && error.contains("\"acc\""), "{error}");
        }
        for text in ["a,b\n1,2\n", "", "12:00:01 PM,1\n", "t,x\n1 May 2026 10:00,5\n"] {
            let many = text.repeat(20);
            assert!(as_table(&many).expect("another form").is_none(), "{text}");
        }
        let (value, unit) = split("-1.5e-3 g").expect("a unit");
        assert_eq!((value, unit.spelling.as_str()), ("-1.5e-3", "g"));
    }
}
