//! The values of one column: numbers, the unit behind a number, and codes that stand for no value.
//!
//! Stands between the fields of a table and its rows. Invariants: a column has one unit; what
//! stands for no value is left out with its count and first line, never taken for a value.

use std::borrow::Cow;

use super::table::{FieldRow, SeriesError};
use crate::source::interpretation::{StatedUnit, UnitKind};
use crate::tabular::NumberForm;
use crate::tabular::number::{split_unit, without_spaces};
use crate::tabular::sentinel::{in_levels, written};

/// A column that a person asks for.
pub(super) struct ColumnAsked<'a> {
    /// Its place in a row.
    pub(super) place: usize,
    pub(super) name: &'a str,
    /// Its unit in the row below the header.
    pub(super) unit: Option<String>,
}

fn number_and_unit(field: &str) -> (&str, &str) {
    split_unit(field, |unit| StatedUnit::parse(unit).is_some())
}

/// A field without its unit and without spaces between its thousands.
pub(super) fn bare(field: &str) -> Cow<'_, str> {
    without_spaces(number_and_unit(field).0)
}

/// The values of a column, row by row; `None` where there is none.
///
/// # Errors
/// A field that is no number, or a second unit; with the line.
pub(super) fn values(
    rows: &[FieldRow<'_>],
    asked: &ColumnAsked<'_>,
    form: NumberForm,
    notes: &mut Vec<String>,
) -> Result<Vec<Option<f64>>, SeriesError> {
    let mut numbers = Vec::with_capacity(rows.len());
    let mut units = UnitsOfCells::new(asked);
    let mut words: Option<(u64, String, u64)> = None;
    for row in rows {
        let field = row.fields.get(asked.place).copied().unwrap_or_default();
        let (text, unit) = number_and_unit(field);
        let number = form.number(&without_spaces(text)).ok_or_else(|| SeriesError::Value {
            line: row.line,
            column: asked.name.to_owned(),
            got: field.to_owned(),
        })?;
        if number.is_finite() {
            units.take(unit, row.line)?;
        } else if is_word(field) {
            let (_, _, count) = words.get_or_insert_with(|| (row.line, field.to_owned(), 0));
            *count += 1;
        }
        numbers.push(number);
    }
    notes.extend(units.note());
    notes.extend(words.map(|(line, word, count)| {
        format!(
            "{}: {count} cells hold words for no value (first in line {line}: {word:?}) and were \
             left out",
            asked.name
        )
    }));
    leave_codes_out(rows, asked.name, &mut numbers, notes);
    Ok(numbers.into_iter().map(|number| Some(number).filter(|n| n.is_finite())).collect())
}

/// Whether a field says in words that there is no value; `NaN` and a dash are what programs write.
fn is_word(field: &str) -> bool {
    let plain = field.trim().to_lowercase();
    plain.chars().any(char::is_alphabetic)
        && !["nan", "null", "na", "n/a", "none"].contains(&plain.as_str())
}

/// The unit of a column by its header, its row of units and its cells.
struct UnitsOfCells<'a> {
    name: &'a str,
    /// The unit, and where it stands.
    known: Option<(StatedUnit, String)>,
    with: usize,
    without: usize,
    first_without: u64,
}

impl<'a> UnitsOfCells<'a> {
    fn new(asked: &ColumnAsked<'a>) -> Self {
        let by_row = asked.unit.as_deref().and_then(StatedUnit::parse);
        let known = by_row.map(|unit| (unit, "the row of units".to_owned())).or_else(|| {
            StatedUnit::in_header(asked.name).map(|unit| (unit, "the header".to_owned()))
        });
        Self { name: asked.name, known, with: 0, without: 0, first_without: 0 }
    }

    fn take(&mut self, unit: &str, line: u64) -> Result<(), SeriesError> {
        let Some(unit) = StatedUnit::parse(unit) else {
            if self.without == 0 {
                self.first_without = line;
            }
            self.without += 1;
            return Ok(());
        };
        self.with += 1;
        let Some((known, place)) = &self.known else {
            self.known = Some((unit, format!("line {line}")));
            return Ok(());
        };
        if is_same(known, &unit) {
            return Ok(());
        }
        let reason = format!(
            "column {:?} is in {} by {place} and in {} here: a column has one unit; bring all \
             values into one",
            self.name, known.spelling, unit.spelling
        );
        Err(SeriesError::Ambiguous { line, reason })
    }

    fn note(&self) -> Option<String> {
        let (unit, _) = self.known.as_ref().filter(|_| self.with > 0)?;
        let spelling = &unit.spelling;
        Some(match self.without {
            0 => format!("{}: the unit {spelling} stands in the cells", self.name),
            without => format!(
                "{}: the unit {spelling} stands in {} cells and not in {without} (first in line \
                 {}), which are taken in the same",
                self.name, self.with, self.first_without
            ),
        })
    }
}

/// Whether two spellings are one unit. Kinds without a factor are told apart by the spelling.
fn is_same(a: &StatedUnit, b: &StatedUnit) -> bool {
    let plain = |unit: &StatedUnit| unit.spelling.to_lowercase().replace(' ', "");
    match a.kind {
        UnitKind::Other(_) => a.kind == b.kind && plain(a) == plain(b),
        UnitKind::Acceleration(_) | UnitKind::Voltage(_) | UnitKind::Counts | UnitKind::Time(_) => {
            a.kind == b.kind
        }
    }
}

/// Leaves codes for "no value" out, and tells those that may be values.
fn leave_codes_out(
    rows: &[FieldRow<'_>],
    name: &str,
    numbers: &mut [f64],
    notes: &mut Vec<String>,
) {
    for found in in_levels(numbers) {
        let line = rows.get(found.first).map_or(0, |row| row.line);
        let (code, count) = (written(found.code), found.count);
        let stands = if count == 1 {
            format!("{code} stands once (line {line})")
        } else {
            format!("{code} stands {count} times (first in line {line})")
        };
        if found.is_no_value {
            for number in numbers.iter_mut().filter(|number| found.is(**number)) {
                *number = f64::NAN;
            }
            notes.push(format!("{name}: {stands}, as a mark for no value: left out"));
        } else {
            notes.push(format!(
                "{name}: {stands}, as loggers write it for no value or a broken sensor; it may be \
                 a value and is kept"
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::{Request, SeriesTable, read_table};
    use super::*;

    fn read(header: &str, cells: &[&str]) -> Result<SeriesTable, SeriesError> {
        let rows = cells.iter().enumerate().map(|(row, cell)| format!("{}\t{cell}\n", 600 * row));
        let text = format!("t\t{header}\n{}", rows.collect::<String>());
        let values = vec![header.to_owned()];
        let request =
            Request { time: "t".to_owned(), values, period_s: 600.0, ..Request::default() };
        read_table(text.as_bytes(), &request)
    }

    fn values_of(header: &str, cells: &[&str]) -> Vec<Option<f64>> {
        read(header, cells).expect("reads").rows.iter().map(|row| row.values[0]).collect()
    }

    /// Issue 32: `1.88 mm/s` in a cell.
    #[test]
    fn a_unit_in_the_cells_is_told_and_the_numbers_are_read() {
        for (cells, unit) in [
            (["1.88 mm/s", "2.5 mm/s", "3 mm/s"], "mm/s"),
            (["1.88g", "2.5g", "3g"], "g"),
            (["1.88 %", "2.5 %", "3 %"], "%"),
            (["1,88 °C", "2,5 °C", "3,0 °C"], "°C"),
        ] {
            assert_eq!(values_of("a", &cells), [Some(1.88), Some(2.5), Some(3.0)], "{unit}");
            let notes = read("a", &cells).expect("reads").notes.join("; ");
            assert!(notes.contains(&format!("the unit {unit} stands in the cells")), "{notes}");
        }
        let mixed = read("a", &["1 mm/s", "2", "3 mm/s", "Bad"]).expect("reads").notes.join("; ");
        assert!(mixed.contains("not in 1 (first in line 3)"), "{mixed}");
    }

    #[test]
    fn two_units_in_one_column_are_refused_with_both_and_the_line() {
        for (header, cells, both) in [
            ("a", ["2.1 mm/s", "0.002 m/s"], ["mm/s", "m/s"]),
            ("a", ["0.3g", "310mg"], ["g", "mg"]),
            ("a (g)", ["2.1 g", "20.6 m/s2"], ["g", "m/s2"]),
            ("a [mm/s]", ["2.1 mm/s", "0.3 g"], ["mm/s", "g"]),
        ] {
            let error = read(header, &cells).expect_err("two units").to_string();
            assert!(error.starts_with("line 3") && error.contains("one unit"), "{error}");
            assert!(both.iter().all(|unit| error.contains(&format!("in {unit} "))), "{error}");
        }
        assert_eq!(values_of("a (g)", &["2.1 g", "2.2 g"]), [Some(2.1), Some(2.2)]);
    }

    /// A historian's `No Data` became an empty value without a word.
    #[test]
    fn words_for_no_value_are_left_out_with_their_count_and_line() {
        let cells = ["2.1", "No Data", "2.2", "Bad Input", "", "NaN"];
        assert_eq!(values_of("a", &cells).iter().flatten().count(), 2);
        let notes = read("a", &cells).expect("reads").notes.join("; ");
        assert!(
            notes.contains("2 cells hold words") && notes.contains("line 3: \"No Data\""),
            "{notes}"
        );
    }

    #[test]
    fn thousands_are_read_with_spaces_and_apostrophes() {
        for cells in
            [["1 234,5", "1 300,0"], ["1'234.5", "1'300.0"], ["1\u{a0}234,5", "1\u{a0}300,0"]]
        {
            assert_eq!(values_of("a", &cells), [Some(1234.5), Some(1300.0)], "{cells:?}");
        }
    }

    /// Issue 32: -9999 was judged as a level.
    #[test]
    fn codes_for_no_value_are_left_out_with_their_count_and_line() {
        for code in ["-9999", "-999.25", "1e30", "9.96921e36", "32767", "-32768", "-7999", "3.4e38"]
        {
            let cells = ["2.1", code, "2.2", code, "2.0", "2.3"];
            let table = read("a", &cells).expect("reads");
            let got: Vec<Option<f64>> = table.rows.iter().map(|row| row.values[0]).collect();
            assert_eq!(got, [Some(2.1), None, Some(2.2), None, Some(2.0), Some(2.3)], "{code}");
            let notes = table.notes.join("; ");
            assert!(notes.contains("2 times (first in line 3)"), "{code}: {notes}");
            assert!(notes.contains("left out"), "{code}: {notes}");
        }
    }

    /// A missing alarm would be worse: an overload and a standing machine stay values.
    #[test]
    fn an_overload_and_a_standing_machine_are_values() {
        let cells = ["2.1", "50", "2.2", "50", "0", "0"];
        let table = read("a", &cells).expect("reads");
        assert_eq!(table.rows.iter().filter(|row| row.values[0].is_none()).count(), 0);
        assert!(table.notes.is_empty(), "{:?}", table.notes);
        let near = ["9000", "9999", "9500", "9999", "8000", "9100"];
        let notes = read("a", &near).expect("reads").notes.join("; ");
        assert!(notes.contains("9999 stands 2 times") && notes.contains("is kept"), "{notes}");
    }
}
