//! Claims about CSV and IMS text: the columns of samples are found with a header and without.

use std::io::Cursor;

use ndarray::Array2;
use proptest::prelude::*;

use super::*;

fn read(text: &str, variable: Option<&str>) -> Result<Array2<f64>, SourceError> {
    let options =
        RecordingOptions { variable: variable.map(str::to_owned), ..RecordingOptions::default() };
    let mut raw = open(Path::new("t.csv"), Cursor::new(text.as_bytes().to_vec()), &options)?;
    Ok(raw.reader.next_snapshot()?.expect("one snapshot"))
}

#[test]
fn tabs_without_a_header_are_channels_side_by_side() {
    let data = read("-0.022\t-0.039\n-0.105\t-0.017\n0.1\t0.2\n", None).expect("valid");
    assert_eq!(data, ndarray::arr2(&[[-0.022, -0.105, 0.1], [-0.039, -0.017, 0.2]]));
}

#[test]
fn the_clock_of_pronostia_is_no_channel() {
    let commas = "9,39,39,65664,0.552,-0.146\n9,39,39,65703,0.501,-0.48\n";
    let semicolons = "8;8;0;4.2504e+05;0.552;-0.146\n8;8;0;4.2508e+05;0.501;-0.48\n";
    for text in [commas, semicolons] {
        let data = read(text, None).expect("valid");
        assert_eq!(data, ndarray::arr2(&[[0.552, 0.501], [-0.146, -0.48]]), "{text}");
    }
}

#[test]
fn a_header_names_channels_and_time() {
    let text = "logger 7\nTime [s],DE,FE\n0,1,2\n1,3,4\n";
    assert_eq!(read(text, None).expect("valid"), ndarray::arr2(&[[1.0, 3.0], [2.0, 4.0]]));
    assert_eq!(read(text, Some("FE")).expect("valid"), ndarray::arr2(&[[2.0, 4.0]]));
    assert_eq!(read(text, Some("2, 1")).expect("valid"), ndarray::arr2(&[[2.0, 4.0], [1.0, 3.0]]));
    let error = read(text, Some("BA")).expect_err("unknown").to_string();
    assert!(error.contains("Time [s], DE, FE"), "{error}");
}

#[test]
fn a_first_column_that_always_rises_is_time() {
    let rows =
        |n: usize| (0..n).map(|i| format!("{}.5 {}\n", i, i % 3)).collect::<Vec<_>>().concat();
    assert_eq!(read(&rows(8), None).expect("valid").dim(), (1, 8));
    assert_eq!(read(&rows(7), None).expect("valid").dim(), (2, 7), "that may be chance");
}

#[test]
fn a_single_column_is_never_time() {
    assert_eq!(read("1\n2\n3\n4\n", None).expect("valid").dim(), (1, 4));
}

#[test]
fn a_decimal_comma_is_read_beside_a_semicolon() {
    assert_eq!(
        read("0,5;-1,25\n1;2\n", None).expect("valid"),
        ndarray::arr2(&[[0.5, 1.0], [-1.25, 2.0]])
    );
}

#[test]
fn an_empty_field_and_nan_are_samples_without_a_number() {
    let data = read("1,2\n,nan\n3,\n", None).expect("valid");
    assert!(data[[0, 1]].is_nan() && data[[1, 1]].is_nan() && data[[1, 2]].is_nan());
}

#[test]
fn errors_name_the_line() {
    let error = read("1,2\n3,4\n4,5,6\n", None).expect_err("ragged").to_string();
    assert!(error.contains("line 3 has 3 fields"), "{error}");
    let error = read("1;2\n3", None).expect_err("cut off").to_string();
    assert!(error.contains("line 2 has 1 field,"), "{error}");
    let error = read("1,2\n3,x\n", None).expect_err("text").to_string();
    assert!(error.contains("line 2, column 2: \"x\" is no number"), "{error}");
    assert!(read("hello\nworld\n", None).is_err());
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = open(Path::new("t"), Cursor::new(bytes), &RecordingOptions::default());
    }

    #[test]
    fn arbitrary_tables_never_panic(text in "[0-9a-z,;\t\n. \"-]{0,200}",
        name in "[0-9a-z,]{0,8}") {
        let _ = read(&text, None);
        let _ = read(&text, Some(&name));
    }
}
