//! Excel workbooks (`.xlsx`): one sheet, read as a table of text.
//!
//! `calamine` reads the cells one after the other; the rows then go through the reader of text, so
//! a header, a row of units, lines above the table and columns of time mean the same as in a CSV
//! file. Of several sheets the one with by far the most rows of numbers is the recording; else a
//! person names it (`--variable SHEET`, `--variable SHEET!COLUMN`).
//!
//! Remarks in cells beside the table are no samples (`beside`), and formulas without values are
//! refused.
//!
//! Invariants: what an archive expands into and where a cell stands are bounded before they cost
//! memory; a date keeps its microseconds, of which Excel shows milliseconds.

use std::fmt::Write as _;
use std::io::{Cursor, Read};
use std::path::Path;

use calamine::{DataRef, ExcelDateTime, Reader as _, Xlsx};
use zip::ZipArchive;

use super::guarded::guarded;
use super::{RawRecording, RecordingOptions, SourceError, text};
use crate::tabular::{Decimal, NumberForm};

mod beside;

/// The file of an archive by which a workbook is known.
pub(super) const WORKBOOK: &str = "xl/workbook.xml";

/// Most bytes of all files of a workbook, unpacked: 64 for each cell of the largest snapshot.
const MAX_UNPACKED_BYTES: u64 = 512 << 20;

/// Most bytes of the file of texts, which is held in memory.
const MAX_TEXTS_BYTES: u64 = 16 << 20;

/// Most columns of a sheet that is read; Excel has 16,384, a recorder some dozens.
const MAX_COLUMNS: u32 = 1024;

/// Most bytes of a sheet as text.
const MAX_TEXT_BYTES: usize = 128 << 20;

/// Fewest rows with a number that make a sheet a candidate.
const LEAST_ROWS: usize = 16;

/// A sheet with fewer rows of numbers than this part of the largest one is no candidate, as with
/// variables.
const LEAST_PART: usize = 8;

/// How many cells of a column hold what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ColumnTally {
    numbers: usize,
    words: usize,
    /// Cells that are there and hold no value: formatted ones, and formulas that nothing has
    /// computed.
    empty: usize,
    /// The row of the last cell with a value, counted from 0.
    last_row: usize,
}

impl ColumnTally {
    const fn take(&mut self, is_number: bool) {
        if is_number {
            self.numbers += 1;
        } else {
            self.words += 1;
        }
    }
}

/// A sheet as lines of text, fields separated by tabs.
struct SheetText {
    name: String,
    text: String,
    /// Rows with a number.
    rows: usize,
    /// The tally of each column's cells.
    columns: Vec<ColumnTally>,
    /// A column of formulas of which the workbook holds no values.
    uncached: Option<usize>,
    /// Cells with a number that is written as text.
    texts: usize,
}

/// Reads a workbook.
pub(super) fn open(
    path: &Path,
    content: Vec<u8>,
    options: &RecordingOptions,
) -> Result<RawRecording, SourceError> {
    check_unpacked(path, &content)?;
    let sheets = guarded(path, "Excel workbooks", || sheets_of(path, content))?;
    let (wanted, column) = match options.variable.as_deref().map(|name| name.split_once('!')) {
        None => (None, None),
        Some(Some((sheet, column))) => (Some(sheet), Some(column.to_owned())),
        Some(None) => named_sheet_or_column(&sheets, options),
    };
    let statements = statements_of(&sheets);
    let (mut sheet, left_out) = chosen(path, sheets, wanted)?;
    if let Some(column) = sheet.uncached {
        let what = format!(
            "column {} of sheet {:?} holds formulas, and the workbook no values of them; open and \
             save it in a spreadsheet program, or save the sheet as CSV",
            beside::letters(column),
            sheet.name
        );
        return Err(SourceError::malformed(path, what));
    }
    beside::check_tables(&sheet).map_err(|what| SourceError::options(path, what))?;
    let remarks = beside::without_remarks(&mut sheet);
    let has_statements = !statements.is_empty();
    sheet.text = statements + &sheet.text;
    let options = RecordingOptions { variable: column, ..options.clone() };
    let mut recording = text::open_text(path, "Excel sheet", &sheet.text, &options)?;
    recording.notes.extend(remarks);
    if has_statements {
        recording.notes.push("unit or rate are stated in another sheet".to_owned());
    }
    if sheet.texts > 0 {
        recording.notes.push(format!("numbers that are written as text: {} cells", sheet.texts));
    }
    recording.notes.push(format!("sheet {:?}", sheet.name));
    recording.left_out.extend(left_out);
    Ok(recording)
}

/// Most lines of a sheet without samples that are looked at.
const MOST_LINES: usize = 200;

/// Units and rates that sheets without samples state, a key and a value in a row, as comments above
/// the table.
fn statements_of(sheets: &[SheetText]) -> String {
    let plain = sheets.iter().filter(|sheet| sheet.rows < LEAST_ROWS);
    let lines = plain.flat_map(|sheet| sheet.text.lines().take(MOST_LINES));
    lines
        .filter_map(text::statement_of_cells)
        .map(|line| format!("# {line}\n"))
        .collect::<Vec<String>>()
        .concat()
}

/// A name without `!` is that of a sheet if there is one, else that of columns.
fn named_sheet_or_column<'a>(
    sheets: &[SheetText],
    options: &'a RecordingOptions,
) -> (Option<&'a str>, Option<String>) {
    let name = options.variable.as_deref().unwrap_or_default();
    if sheets.iter().any(|sheet| sheet.name == name) {
        return (Some(name), None);
    }
    (None, Some(name.to_owned()))
}

/// Refuses an archive that expands without end, before its files are read.
fn check_unpacked(path: &Path, content: &[u8]) -> Result<(), SourceError> {
    let damaged = |what: String| SourceError::malformed(path, what);
    let unreadable = |e: &dyn std::fmt::Display| damaged(format!("the workbook is damaged: {e}"));
    let mut archive = ZipArchive::new(Cursor::new(content)).map_err(|e| unreadable(&e))?;
    let mut left = MAX_UNPACKED_BYTES;
    for index in 0..archive.len() {
        let file = archive.by_index(index).map_err(|e| unreadable(&e))?;
        let is_texts = file.name().is_ok_and(|name| name.ends_with("sharedStrings.xml"));
        let most = if is_texts { MAX_TEXTS_BYTES.min(left) } else { left };
        let mut counted = file.take(most + 1);
        let read = std::io::copy(&mut counted, &mut std::io::sink());
        let bytes = read.map_err(|e| unreadable(&e))?;
        if bytes > most {
            return Err(damaged(format!(
                "the workbook unpacks into more than {most} bytes, the most that is read"
            )));
        }
        left -= bytes;
    }
    Ok(())
}

/// All sheets as text.
fn sheets_of(path: &Path, content: Vec<u8>) -> Result<Vec<SheetText>, SourceError> {
    let damaged = |e: calamine::XlsxError| {
        SourceError::malformed(path, format!("the workbook is damaged: {e}"))
    };
    let mut workbook = Xlsx::new(Cursor::new(content)).map_err(damaged)?;
    let mut sheets = Vec::new();
    for name in workbook.sheet_names() {
        // a chart has a sheet of its own, which holds no cells
        let Ok(mut cells) = workbook.worksheet_cells_reader(&name) else { continue };
        let (text, columns) = (String::new(), Vec::new());
        let mut sheet = SheetText { name, text, rows: 0, columns, uncached: None, texts: 0 };
        let (mut place, mut texts) = (SheetPlace::default(), 0);
        while let Some(cell) = cells.next_cell().map_err(damaged)? {
            let (row, column) = cell.get_position();
            if column >= MAX_COLUMNS {
                continue;
            }
            let at = column as usize;
            if sheet.columns.len() <= at {
                sheet.columns.resize(at + 1, ColumnTally::default());
            }
            if matches!(cell.get_value(), DataRef::Empty) {
                sheet.columns[at].empty += 1;
                continue;
            }
            place.move_to(&mut sheet, row, column);
            let is_number = write_value(&mut sheet.text, cell.get_value());
            texts += usize::from(!is_number && is_number_as_text(cell.get_value()));
            let is_number = is_number || is_number_as_text(cell.get_value());
            sheet.columns[at].take(is_number);
            sheet.columns[at].last_row = row as usize;
            place.has_number |= is_number;
            if sheet.text.len() > MAX_TEXT_BYTES {
                let what = format!("sheet {:?} is longer than {MAX_TEXT_BYTES} bytes", sheet.name);
                return Err(SourceError::malformed(path, what));
            }
        }
        sheet.rows += usize::from(place.has_number);
        sheet.texts = texts;
        drop(cells);
        sheet.uncached = uncached_column(&mut workbook, &sheet).map_err(damaged)?;
        sheets.push(sheet);
    }
    Ok(sheets)
}

/// The first column whose cells are formulas without a value. Programs that write workbooks and
/// compute nothing leave the values to a spreadsheet program.
fn uncached_column(
    workbook: &mut Xlsx<Cursor<Vec<u8>>>,
    sheet: &SheetText,
) -> Result<Option<usize>, calamine::XlsxError> {
    let may_be = |column: usize| {
        sheet.columns.get(column).is_some_and(|own| own.empty >= LEAST_ROWS && own.numbers == 0)
    };
    if !(0..sheet.columns.len()).any(may_be) {
        return Ok(None);
    }
    let mut formulas = vec![0usize; sheet.columns.len()];
    let mut cells = workbook.worksheet_cells_reader(&sheet.name)?;
    while let Some(cell) = cells.next_formula()? {
        let column = cell.get_position().1 as usize;
        if !may_be(column) || cell.get_value().is_empty() {
            continue;
        }
        formulas[column] += 1;
        if formulas[column] >= LEAST_ROWS {
            return Ok(Some(column));
        }
    }
    Ok(None)
}

/// Where the text of a sheet stands. Rows without a cell make no line, so a cell far down costs
/// nothing.
#[derive(Default)]
struct SheetPlace {
    row: Option<u32>,
    column: u32,
    has_number: bool,
}

impl SheetPlace {
    fn move_to(&mut self, sheet: &mut SheetText, row: u32, column: u32) {
        if self.row != Some(row) {
            if self.row.is_some() {
                sheet.text.push('\n');
            }
            sheet.rows += usize::from(self.has_number);
            (self.row, self.column, self.has_number) = (Some(row), 0, false);
        }
        while self.column < column {
            sheet.text.push('\t');
            self.column += 1;
        }
    }
}

/// Writes a value as a logger would; says whether it is a number.
fn write_value(text: &mut String, value: &DataRef<'_>) -> bool {
    let words = |text: &mut String, words: &str| {
        text.extend(words.chars().map(|c| if c.is_control() || c == '"' { ' ' } else { c }));
    };
    // writing to a text cannot fail
    let _infallible = match value {
        DataRef::Int(number) => write!(text, "{number}"),
        DataRef::Float(number) => write!(text, "{number}"),
        DataRef::DateTime(at) => write!(text, "{}", stamp(at)),
        DataRef::Bool(is_true) => write!(text, "{}", u8::from(*is_true)),
        DataRef::String(own) | DataRef::DateTimeIso(own) | DataRef::DurationIso(own) => {
            words(text, own);
            Ok(())
        }
        DataRef::SharedString(own) => {
            words(text, own);
            Ok(())
        }
        DataRef::Error(_) => write!(text, "NaN"),
        DataRef::Empty => Ok(()),
    };
    matches!(value, DataRef::Int(_) | DataRef::Float(_) | DataRef::DateTime(_))
}

/// Whether a cell of text holds a number, as an import by another country's decimal sign leaves it.
fn is_number_as_text(value: &DataRef<'_>) -> bool {
    let text = match value {
        DataRef::String(own) => own.as_str(),
        DataRef::SharedString(own) => own,
        DataRef::Int(_)
        | DataRef::Float(_)
        | DataRef::DateTime(_)
        | DataRef::DateTimeIso(_)
        | DataRef::DurationIso(_)
        | DataRef::Bool(_)
        | DataRef::Error(_)
        | DataRef::Empty => return false,
    };
    let number = |decimal| NumberForm { decimal }.number(text).is_some_and(f64::is_finite);
    number(Decimal::Point) || number(Decimal::Comma)
}

/// A date, a time of day or both, with microseconds.
fn stamp(at: &ExcelDateTime) -> String {
    const DAY_US: u64 = 86_400_000_000;
    let serial = at.as_f64();
    let us = ((serial - serial.floor()) * DAY_US as f64).round() as u64;
    let us = us.min(DAY_US - 1);
    let (s, us) = (us / 1_000_000, us % 1_000_000);
    let time = format!("{:02}:{:02}:{:02}.{us:06}", s / 3600, s / 60 % 60, s % 60);
    if serial < 1.0 {
        return time;
    }
    let (year, month, day, ..) = at.to_ymd_hms_milli();
    format!("{year:04}-{month:02}-{day:02} {time}")
}

/// The sheet that is the recording, and those that are left out, each with the reason.
fn chosen(
    path: &Path,
    mut sheets: Vec<SheetText>,
    wanted: Option<&str>,
) -> Result<(SheetText, Vec<String>), SourceError> {
    let listed = |sheets: &[SheetText]| {
        let all = sheets.iter().map(|sheet| format!("{:?}, {} rows", sheet.name, sheet.rows));
        all.collect::<Vec<_>>().join("; ")
    };
    let most = sheets.iter().map(|sheet| sheet.rows).max().unwrap_or(0);
    let is_meant = |sheet: &SheetText| match wanted {
        Some(name) => sheet.name == name,
        None => sheet.rows >= LEAST_ROWS && sheet.rows * LEAST_PART > most,
    };
    let meant: Vec<usize> =
        (0..sheets.len()).filter(|&index| sheets.get(index).is_some_and(is_meant)).collect();
    let [one] = meant.as_slice() else {
        let there = listed(&sheets);
        let what = match (wanted, meant.len()) {
            (Some(name), _) => format!("no sheet {name:?}; there are {there}"),
            (None, 0) => format!("no sheet holds {LEAST_ROWS} rows of numbers; there are {there}"),
            (None, _) => format!(
                "several sheets hold numbers; name one (--variable SHEET or SHEET!COLUMN): {there}"
            ),
        };
        return Err(SourceError::options(path, what));
    };
    let sheet = sheets.remove(*one);
    let left_out = sheets.iter().filter(|sheet| sheet.rows > 0);
    let left_out = left_out.map(|sheet| format!("sheet {:?} ({} rows)", sheet.name, sheet.rows));
    Ok((sheet, left_out.collect()))
}

#[cfg(test)]
mod tests;
