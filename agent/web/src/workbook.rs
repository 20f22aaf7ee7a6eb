//! A table as a workbook of Excel (ECMA-376, `.xlsx`): one sheet with filters and a head that stays
//! in sight.
//!
//! Rows are written into the compressed file one after the other, so the memory is that of the file
//! and of one row. Invariants: numbers and dates are such; every other cell is text, also one that
//! begins as a formula: it is written as a text of the sheet (never as `<f>`) and carries the mark
//! of a text that was typed with an apostrophe, so that it stays one where somebody edits it.

use std::fmt::Write as _;
use std::io::{self, Cursor, Write as _};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The media type of the file.
pub(crate) const MEDIA_TYPE: &str =
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// Most characters of a cell that Excel opens.
const MOST_IN_CELL: usize = 32_767;
/// Most rows of a sheet, with the head.
const MOST_ROWS: usize = 1_048_576;

/// A cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SheetCell {
    /// Nothing.
    Empty,
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
    /// A time on the plant's clock, milliseconds of that clock since 1970.
    LocalTime(i64),
}

/// Where the styles of [`STYLES`] stand.
const HEAD: usize = 1;
const DATE: usize = 2;
const TYPED: usize = 3;

const STYLES: &str = "<styleSheet \
    xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><numFmts count=\"1\">\
    <numFmt numFmtId=\"164\" formatCode=\"yyyy\\-mm\\-dd\\ hh:mm:ss\"/></numFmts>\
    <fonts count=\"2\"><font><sz val=\"11\"/><name val=\"Calibri\"/></font>\
    <font><b/><sz val=\"11\"/><name val=\"Calibri\"/></font></fonts>\
    <fills count=\"2\"><fill><patternFill patternType=\"none\"/></fill>\
    <fill><patternFill patternType=\"gray125\"/></fill></fills>\
    <borders count=\"1\"><border/></borders>\
    <cellStyleXfs count=\"1\"><xf/></cellStyleXfs><cellXfs count=\"4\"><xf/>\
    <xf fontId=\"1\" applyFont=\"1\"/>\
    <xf numFmtId=\"164\" applyNumberFormat=\"1\"/>\
    <xf quotePrefix=\"1\"/></cellXfs><cellStyles count=\"1\">\
    <cellStyle name=\"Normal\" xfId=\"0\" builtinId=\"0\"/></cellStyles></styleSheet>";

const TYPES: &str = "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
    <Default Extension=\"rels\" \
    ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
    <Override PartName=\"/xl/workbook.xml\" ContentType=\"application/vnd.openxmlformats-\
    officedocument.spreadsheetml.sheet.main+xml\"/>\
    <Override PartName=\"/xl/worksheets/sheet1.xml\" ContentType=\"application/vnd.openxmlformats-\
    officedocument.spreadsheetml.worksheet+xml\"/>\
    <Override PartName=\"/xl/styles.xml\" ContentType=\"application/vnd.openxmlformats-\
    officedocument.spreadsheetml.styles+xml\"/></Types>";

const ROOT: &str = "<Relationships \
    xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
    <Relationship Id=\"rId1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/\
    relationships/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>";

const OF_BOOK: &str = "<Relationships \
    xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
    <Relationship Id=\"rId1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/\
    relationships/worksheet\" Target=\"worksheets/sheet1.xml\"/>\
    <Relationship Id=\"rId2\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/\
    relationships/styles\" Target=\"styles.xml\"/></Relationships>";

const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>";

/// Writes a sheet with a head and its rows; rows beyond those that a sheet can hold are left out.
///
/// # Errors
/// [`io::Error`] if the file cannot be written.
pub(crate) fn written(
    name: &str,
    head: &[String],
    rows: impl Iterator<Item = Vec<SheetCell>>,
) -> io::Result<Vec<u8>> {
    let mut file = ZipWriter::new(Cursor::new(Vec::new()));
    let title = escaped(&sheet_name(name));
    let book = format!(
        "<workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
         xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><sheets>\
         <sheet name=\"{title}\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>"
    );
    for (part, text) in [
        ("[Content_Types].xml", TYPES),
        ("_rels/.rels", ROOT),
        ("xl/workbook.xml", book.as_str()),
        ("xl/_rels/workbook.xml.rels", OF_BOOK),
        ("xl/styles.xml", STYLES),
    ] {
        file.start_file(part, SimpleFileOptions::default())?;
        file.write_all(XML.as_bytes())?;
        file.write_all(text.as_bytes())?;
    }
    file.start_file("xl/worksheets/sheet1.xml", SimpleFileOptions::default())?;
    write!(
        file,
        "{XML}<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">\
         <sheetViews><sheetView workbookViewId=\"0\"><pane ySplit=\"1\" topLeftCell=\"A2\" \
         activePane=\"bottomLeft\" state=\"frozen\"/></sheetView></sheetViews>\
         <cols><col min=\"1\" max=\"{}\" width=\"20\" customWidth=\"1\"/></cols><sheetData>",
        head.len().max(1)
    )?;
    let head: Vec<SheetCell> = head.iter().map(|text| SheetCell::Text(text.clone())).collect();
    let width = head.len();
    file.write_all(row(1, &head, Some(HEAD)).as_bytes())?;
    let mut last = 1;
    for cells in rows.take(MOST_ROWS - 1) {
        last += 1;
        file.write_all(row(last, &cells, None).as_bytes())?;
    }
    let corner = column(width.saturating_sub(1));
    write!(file, "</sheetData><autoFilter ref=\"A1:{corner}{last}\"/></worksheet>")?;
    Ok(file.finish()?.into_inner())
}

/// A row of the sheet; `style`: that of each cell, where it is not by the cell's kind.
fn row(number: usize, cells: &[SheetCell], style: Option<usize>) -> String {
    let mut text = format!("<row r=\"{number}\">");
    for (at, cell) in cells.iter().enumerate() {
        let place = format!("{}{number}", column(at));
        let _written = match cell {
            SheetCell::Empty => Ok(()),
            SheetCell::Number(value) if value.is_finite() => {
                write!(text, "<c r=\"{place}\"><v>{value}</v></c>")
            }
            SheetCell::Number(_no_number) => Ok(()),
            SheetCell::LocalTime(ms) => {
                write!(text, "<c r=\"{place}\" s=\"{DATE}\"><v>{}</v></c>", serial(*ms))
            }
            SheetCell::Text(words) => {
                let typed = words.starts_with(['=', '+', '-', '@', '\t', '\r']).then_some(TYPED);
                let style = style.or(typed).unwrap_or(0);
                let shown: String = words.chars().take(MOST_IN_CELL).collect();
                write!(
                    text,
                    "<c r=\"{place}\" s=\"{style}\" t=\"inlineStr\"><is><t \
                     xml:space=\"preserve\">{}</t></is></c>",
                    escaped(&shown)
                )
            }
        };
    }
    text.push_str("</row>");
    text
}

/// Days since the beginning of Excel's count, which for dates after February 1900 is 1899-12-30.
fn serial(local_ms: i64) -> f64 {
    local_ms as f64 / 86_400_000.0 + 25_569.0
}

/// The letters of a column: A, B, …, Z, AA, …
fn column(at: usize) -> String {
    let mut letters = Vec::new();
    let mut left = at + 1;
    while left > 0 {
        letters.push(char::from(b'A' + ((left - 1) % 26) as u8));
        left = (left - 1) / 26;
    }
    letters.iter().rev().collect()
}

/// A name that a sheet may have: 31 characters, none of `[]:*?/\\`.
fn sheet_name(name: &str) -> String {
    let kept = name.chars().filter(|letter| !"[]:*?/\\'".contains(*letter));
    let name: String = kept.take(31).collect();
    if name.trim().is_empty() { "1".to_owned() } else { name }
}

/// A text in XML, without the characters that XML cannot hold. `_x0041_` is a character to Excel,
/// so an underscore that would begin one is written as such.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '_' if is_code(text.get(at..).unwrap_or_default()) => out.push_str("_x005F_"),
            '\n' | '\t' => out.push(letter),
            '\u{fffe}' | '\u{ffff}' => {}
            letter if letter.is_control() => {}
            letter => out.push(letter),
        }
    }
    out
}

/// Whether a text begins as `_x0041_`.
fn is_code(text: &str) -> bool {
    let code = text.strip_prefix("_x").and_then(|rest| rest.get(..5));
    code.and_then(|code| code.strip_suffix('_'))
        .is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn sheet(rows: Vec<Vec<SheetCell>>) -> String {
        let head = ["이름".to_owned(), "값".to_owned()];
        let file = written("작업/목록", &head, rows.into_iter()).expect("written");
        let mut archive = zip::ZipArchive::new(Cursor::new(file)).expect("a ZIP file");
        let mut text = String::new();
        let mut part = archive.by_name("xl/worksheets/sheet1.xml").expect("the sheet");
        part.read_to_string(&mut text).expect("UTF-8");
        text
    }

    /// R-UI-1: what a person typed never runs in a spreadsheet, and stays what was typed.
    #[test]
    fn a_formula_is_a_text_and_a_number_is_a_number() {
        let text = |text: &str| SheetCell::Text(text.to_owned());
        let sheet = sheet(vec![
            vec![text("=HYPERLINK(\"http://evil\",\"x\")"), SheetCell::Number(-1.5)],
            vec![text("@SUM(A1)"), SheetCell::Number(f64::NAN)],
            vec![text("6205"), SheetCell::LocalTime(1_700_000_000_000)],
            vec![text("a<b>&\u{1} _x0041_ 냉각수"), SheetCell::Empty],
        ]);
        assert!(!sheet.contains("<f>"), "{sheet}");
        assert!(sheet.contains("s=\"3\" t=\"inlineStr\"><is><t xml:space=\"preserve\">=HYPER"));
        assert!(sheet.contains("<c r=\"B2\"><v>-1.5</v></c>"), "{sheet}");
        assert!(!sheet.contains("B3"), "no number is nothing");
        assert!(sheet.contains("<is><t xml:space=\"preserve\">6205</t>"), "a designation is text");
        // 2023-11-14 22:13:20: 45244 days and 0.9259
        assert!(sheet.contains("<c r=\"B4\" s=\"2\"><v>45244.92592592593</v></c>"), "{sheet}");
        assert!(sheet.contains("a&lt;b&gt;&amp; _x005F_x0041_ 냉각수"), "{sheet}");
        assert!(sheet.contains("<autoFilter ref=\"A1:B5\"/>"), "{sheet}");
    }

    #[test]
    fn columns_have_letters_and_sheets_have_names() {
        assert_eq!([0, 25, 26, 701, 702].map(column), ["A", "Z", "AA", "ZZ", "AAA"]);
        assert_eq!(sheet_name("a/b:c"), "abc");
        assert_eq!(sheet_name("??"), "1");
        assert_eq!(sheet_name(&"x".repeat(99)).len(), 31);
    }
}
