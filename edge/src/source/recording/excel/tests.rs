//! Claims about Excel workbooks (issue 32, point 3).

use std::fmt::Write as _;
use std::io::Write as _;

use proptest::prelude::*;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

/// A workbook of sheets, each the content of its `sheetData`.
fn workbook(sheets: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let mut add = |name: &str, content: &str| {
        archive.start_file(name, SimpleFileOptions::default()).expect("memory");
        archive.write_all(content.as_bytes()).expect("memory");
    };
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006/relationships";
    let (mut listed, mut related) = (String::new(), String::new());
    for (index, (name, rows)) in sheets.iter().enumerate() {
        let id = index + 1;
        let _infallible =
            write!(listed, "<sheet name=\"{name}\" sheetId=\"{id}\" r:id=\"r{id}\"/>");
        let _infallible = write!(
            related,
            "<Relationship Id=\"r{id}\" Type=\"{office}/worksheet\" \
             Target=\"worksheets/s{id}.xml\"/>"
        );
        add(
            &format!("xl/worksheets/s{id}.xml"),
            &format!("<worksheet xmlns=\"{main}\"><sheetData>{rows}</sheetData></worksheet>"),
        );
    }
    add(
        "_rels/.rels",
        &format!(
            "<Relationships xmlns=\"{package}\"><Relationship Id=\"r1\" \
             Type=\"{office}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
        ),
    );
    let styles = format!(
        "<styleSheet xmlns=\"{main}\"><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"22\"/></cellXfs>\
         </styleSheet>"
    );
    add("xl/styles.xml", &styles);
    let relation = "<Relationship Id=\"styles\" Type=\"styles\" Target=\"styles.xml\"/>";
    add(
        "xl/_rels/workbook.xml.rels",
        &format!("<Relationships xmlns=\"{package}\">{related}{relation}</Relationships>"),
    );
    add(
        WORKBOOK,
        &format!(
            "<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets>{listed}</sheets></workbook>"
        ),
    );
    archive.finish().expect("memory").into_inner()
}

fn words(words: &[&str]) -> String {
    let cell = |word: &&str| format!("<c t=\"inlineStr\"><is><t>{word}</t></is></c>");
    format!("<row>{}</row>", words.iter().map(cell).collect::<String>())
}

/// Rows of `columns` numbers, the first of which is a date and time at 1,000 Hz if `dated`.
fn numbers(rows: usize, columns: usize, dated: bool) -> String {
    let mut text = String::new();
    for row in 0..rows {
        text.push_str("<row>");
        if dated {
            let serial = 45_943.5 + row as f64 / 86_400_000.0;
            let _infallible = write!(text, "<c s=\"1\"><v>{serial}</v></c>");
        }
        for column in 0..columns {
            let number = ((row * (column + 3)) as f64 * 0.37).sin();
            let _infallible = write!(text, "<c><v>{number}</v></c>");
        }
        text.push_str("</row>");
    }
    text
}

fn opened(content: Vec<u8>, variable: Option<&str>) -> Result<RawRecording, SourceError> {
    let options =
        RecordingOptions { variable: variable.map(str::to_owned), ..RecordingOptions::default() };
    open(Path::new("book.xlsx"), content, &options)
}

#[test]
fn a_sheet_with_dates_units_and_names_is_read_as_a_table() {
    let rows = words(&["time", "ax [m/s^2]", "ay [m/s^2]"]) + &numbers(200, 2, true);
    let notes = words(&["machine", "P-101"]);
    let recording = opened(workbook(&[("Info", &notes), ("Data", &rows)]), None).expect("valid");
    assert_eq!(recording.samples, 200);
    assert_eq!(recording.channels.len(), 2);
    assert_eq!(recording.channels[1].name.as_deref(), Some("ay [m/s^2]"));
    let rate_hz = recording.time.as_ref().map_or(f64::NAN, |axis| axis.rate_hz(1.0));
    assert!((rate_hz - 1000.0).abs() < 5.0, "{rate_hz}");
    assert!(recording.notes.iter().any(|note| note.contains("Data")), "{:?}", recording.notes);
}

#[test]
fn of_several_sheets_a_person_names_one() {
    let (a, b) = (numbers(64, 1, false), words(&["x", "ax"]) + &numbers(80, 2, false));
    let content = workbook(&[("run 1", &a), ("run 2", &b)]);
    let Err(refused) = opened(content.clone(), None) else { panic!("two readings") };
    let refused = refused.to_string();
    for said in ["\"run 1\", 64 rows", "\"run 2\", 80 rows", "--variable SHEET"] {
        assert!(refused.contains(said), "{refused}");
    }
    assert_eq!(opened(content.clone(), Some("run 1")).expect("valid").samples, 64);
    let column = opened(content.clone(), Some("run 2!ax")).expect("valid");
    assert_eq!(column.channels[0].name.as_deref(), Some("ax"));
    let Err(refused) = opened(content, Some("run 3!ax")) else { panic!("no such sheet") };
    assert!(refused.to_string().contains("no sheet \"run 3\""), "{refused}");
}

#[test]
fn sheets_of_other_programs_are_refused_by_name() {
    let old = [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".as_slice(), &[0; 600]].concat();
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for name in ["mimetype", "content.xml"] {
        archive.start_file(name, SimpleFileOptions::default()).expect("memory");
    }
    let open = archive.finish().expect("memory").into_inner();
    for (name, content, said) in [("a.xls", old, ".xls"), ("a.ods", open, ".ods")] {
        let options = RecordingOptions::default();
        let start = &content[..content.len().min(64)];
        let file = Box::new(Cursor::new(content.clone()));
        let Err(error) = super::super::raw_of(Path::new(name), start, file, &options) else {
            panic!("{name} is read")
        };
        let error = error.to_string();
        assert!(error.contains(said) && error.contains("save it as .xlsx"), "{error}");
    }
}

#[test]
fn a_cell_far_away_costs_no_memory() {
    let rows = numbers(64, 1, false) + "<row r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c></row>";
    assert_eq!(opened(workbook(&[("Data", &rows)]), None).expect("valid").samples, 64);
}

#[test]
fn a_workbook_that_expands_without_end_is_refused() {
    let rows = "0".repeat(MAX_UNPACKED_BYTES as usize + 1);
    let Err(refused) = opened(workbook(&[("Data", &rows)]), None) else { panic!("too large") };
    assert!(refused.to_string().contains("unpacks into more than"), "{refused}");
}

/// R-EDGE-4: a column of formulas that nothing has computed holds no samples.
#[test]
fn formulas_without_values_are_refused_and_remarks_cost_no_row() {
    let mut rows = words(&["t", "ax [g]"]);
    for row in 0..64 {
        let t = f64::from(row) / 1000.0;
        let _infallible =
            write!(rows, "<row><c><v>{t}</v></c><c><f>SIN(A{row})</f><v></v></c></row>");
    }
    let Err(refused) = opened(workbook(&[("Data", &rows)]), None) else { panic!("no values") };
    let refused = refused.to_string();
    assert!(refused.contains("column B") && refused.contains("formulas"), "{refused}");
    let mut rows = words(&["t", "ax [g]", "Remarks"]);
    for row in 0..64 {
        let (t, ax) = (f64::from(row) / 1000.0, (f64::from(row) * 0.7).sin());
        let cells = format!("<c><v>{t}</v></c><c><v>{ax}</v></c>");
        let remark = if row == 1 || row == 40 {
            "<c t=\"inlineStr\"><is><t>by Lee</t></is></c>"
        } else {
            ""
        };
        let _infallible = write!(rows, "<row>{cells}{remark}</row>");
    }
    let recording = opened(workbook(&[("Data", &rows)]), None).expect("valid");
    assert_eq!(recording.samples, 64);
    assert_eq!(recording.channels[0].name.as_deref(), Some("ax [g]"));
    assert!(recording.notes.iter().any(|note| note.contains("by Lee")), "{:?}", recording.notes);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn arbitrary_damage_is_an_error_of_the_file(at in 0usize..3000, byte in any::<u8>(),
        cut in 8usize..4000) {
        let mut bytes = workbook(&[("Data", &numbers(64, 2, true))]);
        if let Some(old) = bytes.get_mut(at) {
            *old = byte;
        }
        bytes.truncate(cut);
        if let Ok(mut recording) = opened(bytes, None) {
            while let Ok(Some(_)) = recording.reader.next_snapshot() {}
        }
    }
}
