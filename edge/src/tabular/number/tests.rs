//! Tests of numbers of a table.

use proptest::prelude::*;

use super::*;

#[test]
fn a_duration_of_a_data_frame_is_its_seconds() {
    for (text, seconds) in [
        ("0 days 00:00:00.004000", 0.004),
        ("1 day 01:01:01", 90_061.0),
        ("-1 days +23:59:59", -1.0),
    ] {
        assert!(point(text).is_some_and(|got| (got - seconds).abs() < 1e-9), "{text}");
    }
    for text in ["3 days", "0 days noon", "0 days 00:00:99"] {
        assert_eq!(point(text), None, "{text}");
    }
}

/// R-EDGE-4: such numbers were words.
#[test]
fn numbers_of_fortran_and_of_bookkeeping_are_read() {
    for (text, number) in [
        ("1.25D-01", 0.125),
        ("-4.0d+02", -400.0),
        (".5D1", 5.0),
        ("(0.75)", -0.75),
        ("0.75-", -0.75),
    ] {
        assert!(point(text).is_some_and(|got| (got - number).abs() < 1e-12), "{text}");
    }
    assert!(comma("1,25D-01").is_some_and(|got| (got - 0.125).abs() < 1e-12));
    for text in ["5D10", "(1)", "A1.5D", "2026-", "1.5D", "(see 1.5)", "1.2.3-"] {
        assert_eq!(point(text), None, "{text}");
    }
}

fn point(field: &str) -> Option<f64> {
    NumberForm { decimal: Decimal::Point }.number(field)
}

fn comma(field: &str) -> Option<f64> {
    NumberForm { decimal: Decimal::Comma }.number(field)
}

fn decided(fields: &[&str]) -> Option<Decimal> {
    let mut evidence = DecimalEvidence::default();
    for field in fields {
        evidence.take(field);
    }
    evidence.decided()
}

#[test]
fn numbers_of_both_signs_and_both_decimal_signs_are_read() {
    assert_eq!(point("+ 0.08"), Some(0.08));
    assert_eq!(point("- 1.5"), Some(-1.5));
    assert_eq!(point("1,234.5"), Some(1234.5));
    assert_eq!(point("4.25e+05"), Some(425_000.0));
    assert_eq!(comma("0,5"), Some(0.5));
    assert_eq!(comma("-1.234,5"), Some(-1234.5));
    assert_eq!(comma("1,5E-3"), Some(0.0015));
    assert_eq!(point("x"), None);
    assert_eq!(point("12:30"), None);
}

#[test]
fn thousands_are_grouped_by_points_commas_spaces_and_apostrophes() {
    for field in ["1.234,5", "1\u{a0}234,5", "1\u{202f}234,5", "1'234,5", "1’234,5"] {
        assert_eq!(comma(field), Some(1234.5), "{field:?}");
    }
    assert_eq!(point(&without_spaces("-12 345 678.25")), Some(-12_345_678.25));
    assert_eq!(decided(&["1’234,5"]), Some(Decimal::Comma));
    for field in ["1 2", "12 34", "1 2345", "1234 567", "1 234 5", "2026 03 01", "1''234"] {
        assert_eq!(point(&without_spaces(field)), None, "{field:?}");
    }
    assert_eq!(point("1 234"), None, "spaces separate columns");
    assert_eq!(point("'-2.00"), Some(-2.0), "Grafana");
    assert_eq!(comma("'-2,50"), Some(-2.5));
}

fn is_known(unit: &str) -> bool {
    ["mm/s", "g", "%", "°C", "rpm", "V", "mV"].contains(&unit)
}

#[test]
fn a_unit_that_is_known_is_split_from_its_number() {
    for (field, number, unit) in [
        ("1.88 mm/s", "1.88", "mm/s"),
        ("0,34g", "0,34", "g"),
        ("12.3 %", "12.3", "%"),
        ("-4.0°C", "-4.0", "°C"),
        ("1e-3 g", "1e-3", "g"),
        ("1 234.5 rpm", "1 234.5", "rpm"),
        ("5. V", "5.", "V"),
        ("+ 0.08 mV", "+ 0.08", "mV"),
    ] {
        assert_eq!(split_unit(field, is_known), (number, unit), "{field}");
    }
    for field in ["", "g", "12.3", "1e5", "2.0 furlong", "12:30", "Bad", "-", "n/a", "1 2 3"] {
        assert_eq!(split_unit(field, is_known), (field, ""), "{field}");
    }
}

proptest! {
    #[test]
    fn any_field_is_split_and_read_or_refused(field in "\\PC{0,24}|[-+0-9eE.,' \
        %°µgms/]{0,16}") {
        let (number, unit) = split_unit(&field, is_known);
        prop_assert!(field.starts_with(number) || field.trim_start().starts_with(number));
        prop_assert!(field.contains(unit));
        for decimal in [Decimal::Point, Decimal::Comma] {
            let _read = NumberForm { decimal }.number(number);
        }
        let mut evidence = DecimalEvidence::default();
        evidence.take(number);
    }
}

#[test]
fn words_for_a_missing_value_are_no_number() {
    for word in [
        "",
        "NA",
        "N/A",
        "null",
        "-",
        "---",
        "NaN",
        "#N/A",
        "Bad",
        "I/O Timeout",
        "OVER",
        "Scan Timeout",
        "Offline",
        "unavailable",
        "unknown",
        "1.#QNAN",
        "-1.#IND",
        "(null)",
        "<null>",
        "n. def.",
    ] {
        assert!(
            point(word).is_some_and(f64::is_nan) || point(word).is_some_and(f64::is_infinite),
            "{word}"
        );
    }
}

#[test]
fn a_comma_that_may_group_or_divide_is_open() {
    assert_eq!(decided(&["1,234", "2,345"]), None);
    assert_eq!(decided(&["1,234", "0,345"]), Some(Decimal::Comma));
    assert_eq!(decided(&["1,234", "2,34"]), Some(Decimal::Comma));
    assert_eq!(decided(&["1,234.5"]), Some(Decimal::Point));
    assert_eq!(decided(&["1.234,5"]), Some(Decimal::Comma));
    assert_eq!(decided(&["0.1", "12"]), Some(Decimal::Point));
}
