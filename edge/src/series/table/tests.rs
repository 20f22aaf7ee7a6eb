//! Claims about columns, units and times of a table of a historian.

use super::*;

fn request() -> Request {
    Request {
        time: "t".into(),
        values: vec!["a".into()],
        period_s: 600.0,
        date_order: None,
        decimal: None,
        zone: LocalZone::default(),
        only: Vec::new(),
    }
}

fn table(text: &str) -> Result<SeriesTable, SeriesError> {
    read_table(text.as_bytes(), &request())
}

fn first_step(text: &str) -> f64 {
    let rows = table(text).expect("reads").rows;
    rows[1].at.seconds_since(rows[0].at)
}

#[test]
fn every_form_of_time_is_read() {
    assert!(
        (first_step("t,a\n2026-01-01T00:00:00Z,1\n2026-01-01T09:10:00+09:00,1") - 600.0).abs()
            < 1e-6
    );
    assert!((first_step("t,a\n2004-02-12 10:32:39,1\n2004-02-12 10:42:39,1") - 600.0).abs() < 1e-6);
    assert!((first_step("t,a\n2004.02.12.10.32.39,1\n2004.02.12.10.42.39,1") - 600.0).abs() < 1e-6);
    assert!((first_step("t,a\n0,1\n1,1\n2,1") - 600.0).abs() < 1e-6);
    assert!((first_step("t,a\n0.0,1\n600.0,1") - 600.0).abs() < 1e-6);
    assert!((first_step("t,a\n0.0,1\n10.0,1") - 600.0).abs() < 1e-6, "minutes");
    assert!(table("t,a\n0.5,1\n7.7,1").is_err(), "no unit fits the period");
    assert!((first_step("t,a\n1700000000000,1\n1700000000500,1") - 0.5).abs() < 1e-6);
}

/// Issue 32: the values and the times are turned round together.
#[test]
fn a_table_whose_newest_row_comes_first_reads_as_the_same_in_order() {
    let newest = "t,a\n2026-01-01T00:20:00Z,3\n2026-01-01T00:10:00Z,2\n2026-01-01T00:00:00Z,1\n";
    let oldest = "t,a\n2026-01-01T00:00:00Z,1\n2026-01-01T00:10:00Z,2\n2026-01-01T00:20:00Z,3\n";
    let (newest, oldest) = (table(newest).expect("reads"), table(oldest).expect("reads"));
    assert_eq!(newest.rows, oldest.rows);
    assert!(newest.notes.iter().any(|note| note.contains("turned round")));
}

/// Issue 32: two tags below each other are no series.
#[test]
fn a_table_of_several_tags_below_each_other_is_refused_with_their_column() {
    let text = "t,tag,a\n2026-01-01T00:00:00Z,RMS,1\n2026-01-01T00:00:00Z,TEMP,60\n\
                2026-01-01T00:10:00Z,RMS,1\n2026-01-01T00:10:00Z,TEMP,61\n";
    let error = table(text).expect_err("two tags").to_string();
    assert!(error.contains("tag") && error.contains("RMS") && error.contains("TEMP"), "{error}");
    let copied = "t,a\n2026-01-01T00:00:00Z,1\n2026-01-01T00:00:00Z,1\n2026-01-01T00:10:00Z,2\n";
    let told = table(copied).expect("reads").notes;
    assert!(told.iter().any(|note| note.contains("twice")), "{told:?}");
}

/// The export of Ignition has markers and a row of types; that of PI writes its state for a value.
#[test]
fn exports_of_historians_are_read() {
    let ignition = "\"#NAMES\"\n\"t\",\"a\"\n\"#TYPES\"\n\"date\",\"D\"\n\"#ROWS\",\"2\"\n\
                    \"2026-03-04 05:00:00\",\"1.5\"\n\"2026-03-04 05:10:00\",\"2.5\"\n";
    let rows = table(ignition).expect("reads").rows;
    let values: Vec<Option<f64>> = rows.iter().map(|row| row.values[0]).collect();
    assert_eq!(values, [Some(1.5), Some(2.5)]);
    let pi = "t,a\n04-Mar-26 05:00:00,Bad Input\n04-Mar-26 05:10:00,2.5\n\
              04-Mar-26 05:20:00,I/O Timeout\n04-Mar-26 05:30:00,Pt Created\n";
    let rows = table(pi).expect("reads").rows;
    let values: Vec<Option<f64>> = rows.iter().map(|row| row.values[0]).collect();
    assert_eq!(values, [None, Some(2.5), None, None]);
}

#[test]
fn missing_values_are_rows_without_a_value() {
    let rows = table("t,a\n0,\n1,NaN\n2,inf\n3,0.5").expect("reads").rows;
    let values: Vec<Option<f64>> = rows.iter().map(|row| row.values[0]).collect();
    assert_eq!(values, [None, None, None, Some(0.5)]);
}

#[test]
fn semicolons_bring_decimal_commas() {
    assert_eq!(table("t;a\n0;0,5").expect("reads").rows[0].values, [Some(0.5)]);
}

#[test]
fn errors_name_the_line_and_what_is_there() {
    let text = |input: &str| table(input).expect_err("refused").to_string();
    assert_eq!(text("t,b\n0,1"), "there is no column \"a\"; there are: t, b");
    assert!(text("t,a\n0,1\n1,x").starts_with("line 3, column \"a\": \"x\" is not a number"));
    assert!(text("t,a\n2026-01-01 00:00:00,1\nsoon,1").starts_with("line 3, column \"t\""));
    assert_eq!(text("t,a\n0,1\n1"), "line 3: 1 fields where the header has 2");
    assert!(text("t,a\n5,1\n4,1\n6,1\n7,1").contains("line 3"));
    assert_eq!(text("t,a\n"), "there are no rows below the header");
    assert_eq!(text(""), "there is no column \"t\"; there are: ");
}

#[test]
fn a_period_of_zero_is_refused() {
    let request = Request { period_s: 0.0, ..request() };
    assert!(matches!(read_table("t,a\n0,1".as_bytes(), &request), Err(SeriesError::Period { .. })));
}
