//! Remarks in cells beside the table of a sheet: `RMS | 0.11` next to the first rows, a word next
//! to row 1000.
//!
//! A row with a remark is as much a row of samples as the others. Such cells become comments above
//! the table, which may state a rate, and are told. Invariant: a column with a cell in each tenth
//! row or more is one of the table.

use super::SheetText;

/// A column that has fewer cells than one in this many rows does not belong to the table.
const LEAST_PART: usize = 10;

/// Fewest rows of a table beside which remarks are told apart.
const LEAST_ROWS: usize = 16;

/// Remarks that become comments.
const MOST_COMMENTS: usize = 50;

/// Remarks that the note names.
const MOST_TOLD: usize = 4;

/// Rows above the numbers that may name columns and their units.
const HEAD_ROWS: usize = 3;

/// A column as a spreadsheet program names it: A, B, …, AA.
pub(super) fn letters(column: usize) -> String {
    let mut rest = column + 1;
    let mut name = Vec::new();
    while rest > 0 {
        name.push(char::from(b'A' + ((rest - 1) % 26) as u8));
        rest = (rest - 1) / 26;
    }
    name.into_iter().rev().collect()
}

/// Refuses two tables of different lengths that stand side by side, with an empty column between
/// them.
///
/// # Errors
/// The columns of each and their rows; in words.
pub(super) fn check_tables(sheet: &SheetText) -> Result<(), String> {
    let mut tables: Vec<(usize, usize, usize)> = Vec::new();
    let mut is_open = false;
    for (column, own) in sheet.columns.iter().enumerate() {
        let is_there = (own.numbers + own.words) * LEAST_PART >= sheet.rows;
        match tables.last_mut().filter(|_| is_there && is_open) {
            Some((_, last, rows)) => (*last, *rows) = (column, own.last_row.max(*rows)),
            None if is_there => tables.push((column, column, own.last_row)),
            None => {}
        }
        is_open = is_there;
    }
    let has_numbers = |first: usize, last: usize| {
        sheet.columns[first..=last].iter().any(|own| own.numbers >= LEAST_ROWS)
    };
    tables.retain(|(first, last, _)| has_numbers(*first, *last));
    let longest = tables.iter().map(|(.., rows)| *rows).max().unwrap_or(0);
    let differ = tables.iter().any(|(.., rows)| 100 * rows < 99 * longest);
    if tables.len() < 2 || !differ {
        return Ok(());
    }
    let told: Vec<String> = tables
        .iter()
        .map(|(first, last, rows)| {
            format!("{}–{} (to row {})", letters(*first), letters(*last), rows + 1)
        })
        .collect();
    Err(format!(
        "tables of different lengths stand side by side in sheet {:?}: columns {}; keep one of \
         them in a sheet of its own",
        sheet.name,
        told.join(", ")
    ))
}

/// Takes the cells beside the table out of a sheet; returns a note on them.
pub(super) fn without_remarks(sheet: &mut SheetText) -> Option<String> {
    let is_of_table = |column: usize| {
        let own = sheet.columns.get(column).copied().unwrap_or_default();
        (own.numbers + own.words) * LEAST_PART >= sheet.rows
    };
    let has_numbers = |column: usize| is_of_table(column) && sheet.columns[column].numbers > 0;
    let table: Vec<usize> = (0..sheet.columns.len()).filter(|own| has_numbers(*own)).collect();
    let has_remarks = (0..sheet.columns.len())
        .any(|own| !is_of_table(own) && sheet.columns[own].numbers + sheet.columns[own].words > 0);
    if sheet.rows < LEAST_ROWS || table.is_empty() || !has_remarks {
        return None;
    }
    let filled = |line: &str, is_meant: &dyn Fn(&str) -> bool| {
        let fields: Vec<&str> = line.split('\t').collect();
        let count = table.iter().filter(|own| fields.get(**own).is_some_and(|own| is_meant(own)));
        2 * count.count() > table.len()
    };
    let is_value = |field: &str| field.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let start = sheet.text.lines().position(|line| filled(line, &is_value))?;
    let (mut text, mut remarks) = (String::with_capacity(sheet.text.len()), Vec::new());
    for (row, line) in sheet.text.lines().enumerate() {
        let is_head = row + HEAD_ROWS >= start && filled(line, &|field| !field.is_empty());
        if row < start && !is_head {
            text.push_str(line);
        } else {
            let fields = || line.split('\t').enumerate();
            let own: Vec<&str> =
                fields().filter(|(column, _)| is_of_table(*column)).map(|(_, own)| own).collect();
            text.push_str(own.join("\t").trim_end_matches('\t'));
            let others = fields().filter(|(column, own)| !is_of_table(*column) && !own.is_empty());
            let words: Vec<&str> = others.map(|(_, own)| own).collect();
            if !words.is_empty() {
                remarks.push(words.join(": "));
            }
        }
        text.push('\n');
    }
    if remarks.is_empty() {
        return None;
    }
    let comments: String =
        remarks.iter().take(MOST_COMMENTS).flat_map(|remark| ["# ", remark, "\n"]).collect();
    sheet.text = comments + &text;
    let more = if remarks.len() > MOST_TOLD { ", …" } else { "" };
    let told: Vec<String> =
        remarks.iter().take(MOST_TOLD).map(|remark| format!("{remark:?}")).collect();
    Some(format!("cells beside the table are no samples: {}{more}", told.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::super::ColumnTally;
    use super::*;

    fn sheet(lines: &[String]) -> SheetText {
        let mut columns: Vec<ColumnTally> = Vec::new();
        for (row, line) in lines.iter().enumerate() {
            for (column, field) in line.split('\t').enumerate() {
                columns.resize(columns.len().max(column + 1), ColumnTally::default());
                if !field.is_empty() {
                    columns[column].take(field.parse::<f64>().is_ok());
                    columns[column].last_row = row;
                }
            }
        }
        let rows = lines.iter().filter(|line| line.contains("0.")).count();
        let (name, text) = ("Data".to_owned(), lines.join("\n"));
        SheetText { name, text, rows, columns, uncached: None, texts: 0 }
    }

    /// R-EDGE-4: a row with a remark beside it is a row of samples.
    #[test]
    fn a_remark_beside_the_table_takes_no_row_and_no_name() {
        let mut lines: Vec<String> =
            (0..100).map(|n| format!("{}\t0.{n:02}", f64::from(n) * 0.5)).collect();
        lines.insert(0, "t (s)\tpump (g)\t\tRemarks".to_owned());
        lines[1].push_str("\t\tby Lee");
        lines[60].push_str("\t\t\tfs\t2000");
        let mut sheet = sheet(&lines);
        let note = without_remarks(&mut sheet).expect("remarks");
        assert!(note.contains("by Lee") && note.contains("fs: 2000"), "{note}");
        let rows: Vec<&str> = sheet.text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!((rows.len(), rows[0], rows[1]), (101, "t (s)\tpump (g)", "0\t0.00"));
        assert!(rows.iter().all(|row| row.split('\t').count() == 2), "{rows:?}");
        let plain = (0..100).map(|n| format!("{n}\t0.{n:02}")).collect::<Vec<String>>();
        assert_eq!(without_remarks(&mut self::sheet(&plain)), None);
    }

    /// R-EDGE-4: a second, shorter table beside the first one is no cut of it.
    #[test]
    fn tables_of_different_lengths_side_by_side_are_refused() {
        let row = |n: usize, both: bool| {
            let own = format!("0.{n:02}\t0.5");
            if both { format!("{own}\t\t{own}") } else { own }
        };
        let two: Vec<String> = (0..90).map(|n| row(n, n < 40)).collect();
        let error = check_tables(&sheet(&two)).expect_err("two tables");
        assert!(error.contains("A–B (to row 90), D–E (to row 40)"), "{error}");
        let even: Vec<String> = (0..90).map(|n| row(n, true)).collect();
        assert_eq!(check_tables(&sheet(&even)), Ok(()));
    }

    #[test]
    fn columns_have_the_letters_of_a_spreadsheet() {
        assert_eq!([0, 25, 26, 701, 702].map(letters), ["A", "Z", "AA", "ZZ", "AAA"]);
    }
}
