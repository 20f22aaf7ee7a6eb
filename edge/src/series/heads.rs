//! Headers that have more or fewer names than the rows have fields.
//!
//! Part of the table. R and data frames write the index of rows without a name, loggers end their
//! rows or their header with separators. Invariant: names are moved only where the rows leave one
//! reading; else the reader of rows refuses them with both counts.

use crate::source::interpretation::ChannelRole;
use crate::tabular::fields::{Separator, index_of_rows};

/// Rows that are looked at.
const LOOKED_AT: usize = 50;

/// The names by column, as many as the rows have fields where that has one reading.
pub(super) fn fitted(
    mut names: Vec<String>,
    rows: &[(usize, &str)],
    separator: Separator,
    notes: &mut Vec<String>,
) -> Vec<String> {
    let looked: Vec<Vec<&str>> =
        rows.iter().take(LOOKED_AT).map(|(_, line)| separator.fields(line)).collect();
    let widths = || looked.iter().map(Vec::len);
    let width = widths().max().unwrap_or(names.len());
    // columns without a name and without fields
    while names.len() > width && names.last().is_some_and(String::is_empty) {
        names.pop();
    }
    let Some(more) = width.checked_sub(names.len()).filter(|more| *more > 0) else { return names };
    let are_empty = |columns: std::ops::Range<usize>| {
        looked.iter().all(|row| columns.clone().all(|at| row.get(at).is_none_or(|f| f.is_empty())))
    };
    if are_empty(names.len()..width) {
        names.resize(width, String::new());
        return names;
    }
    let are_full = widths().all(|own| own == width);
    if more == 1 && are_full && index_of_rows(&looked) && !is_index_named(&names) {
        names.insert(0, String::new());
        notes.push(
            "the rows have one field more than the header: the first is the index of the row, \
             without a name"
                .to_owned(),
        );
    }
    names
}

/// Whether the header names the index itself: then another column has no name.
fn is_index_named(names: &[String]) -> bool {
    let first = names.first().map_or(ChannelRole::Unknown, |name| ChannelRole::by_name(name));
    first == ChannelRole::Count || names.first().is_some_and(String::is_empty)
}

#[cfg(test)]
mod tests {
    use super::super::table::{Request, SeriesTable, read_table};

    fn read(text: &str) -> Result<SeriesTable, String> {
        let request = Request {
            time: "t".to_owned(),
            values: vec!["a".to_owned()],
            period_s: 600.0,
            ..Request::default()
        };
        read_table(text.as_bytes(), &request).map_err(|error| error.to_string())
    }

    fn values(text: &str) -> Vec<Option<f64>> {
        read(text).expect("reads").rows.iter().map(|row| row.values[0]).collect()
    }

    /// Issue 32: the header had one name less, or one more, than the rows had fields.
    #[test]
    fn an_index_without_a_name_and_separators_at_the_end_are_no_columns() {
        for (what, text) in [
            ("R", "t,a\n1,0,2.5\n2,600,2.6\n3,1200,2.7\n"),
            ("R, quoted", "\"t\",\"a\"\n\"1\",0,2.5\n\"2\",600,2.6\n\"3\",1200,2.7\n"),
            ("names of rows", "t;a\nrow1;0;2,5\nrow2;600;2,6\nrow3;1200;2,7\n"),
            ("one at the end of rows", "t,a\n0,2.5,\n600,2.6,\n1200,2.7,\n"),
            ("several at the end of rows", "t,a\n0,2.5,,,\n600,2.6,,,\n1200,2.7,,,\n"),
            ("one at the end of the header", "t,a,\n0,2.5\n600,2.6\n1200,2.7\n"),
            ("several at the end of the header", "t,a,,,\n0,2.5\n600,2.6\n1200,2.7\n"),
            ("a comment", "# an export\n#\n# t\ta\n0\t2.5\n600\t2.6\n1200\t2.7\n"),
            ("another comment", "%t;a\n0;2,5\n600;2,6\n1200;2,7\n"),
        ] {
            assert_eq!(values(text), [Some(2.5), Some(2.6), Some(2.7)], "{what}");
        }
        let notes = read("t,a\n1,0,2.5\n2,600,2.6\n").expect("reads").notes.join("; ");
        assert!(notes.contains("index of the row"), "{notes}");
    }

    /// Loggers of Campbell: names, units, and what each value is of its interval.
    #[test]
    fn the_three_heads_of_toa5_are_no_rows() {
        let text = "\"TOA5\",\"CR6\",\"x\"\n\"t\",\"RECORD\",\"a\"\n\"TS\",\"RN\",\"mm/s\"\n\
                    \"\",\"\",\"Avg\"\n\"2026-03-01 00:00:00\",0,2.5\n\"2026-03-01 \
                    00:10:00\",1,\"NAN\"\n";
        assert_eq!(values(text), [Some(2.5), None]);
    }

    #[test]
    fn names_that_have_two_places_are_refused_with_both_counts() {
        for (what, text, words) in [
            ("a field more", "t,a\n0,2.5,7\n600,2.6,8\n", "3 fields where the header has 2"),
            (
                "a count for a time",
                "t,a\n0,2.5,7\n1,2.9,8\n2,2.6,8\n",
                "3 fields where the header has 2",
            ),
            ("a field less", "t,b,a\n0,2.5\n600,2.6\n", "2 fields where the header has 3"),
            ("an index with a name", "n,t,a\n1,0,2.5,9\n2,600,2.6,9\n", "header has 3"),
            ("two of one name", "t,a,a\n0,2.5,7\n600,2.6,8\n", "several columns have the name"),
        ] {
            let error = read(text).expect_err(what);
            assert!(error.contains(words), "{what}: {error}");
        }
    }
}
