//! Claims about calendar times: every usual spelling of one instant gives that instant.

use proptest::prelude::*;

use super::*;

/// 2026-03-21T08:05:09Z
const INSTANT: i64 = 1_774_080_309;

fn seconds(field: &str) -> Option<f64> {
    let stamp = Stamp::parse(field)?;
    let order = decided_order(&[stamp], None).ok()?;
    stamp.unix_ns(order).map(|ns| ns as f64 / 1e9)
}

#[test]
fn every_spelling_of_an_instant_gives_the_instant() {
    for field in [
        "2026-03-21T08:05:09Z",
        "2026-03-21T08:05:09+00:00",
        "2026-03-21T17:05:09+09:00",
        "2026-03-21 17:05:09+0900",
        "2026-03-21 03:05:09-05:00",
        "2026-03-21 08:05:09",
        "2026/03/21 08:05:09",
        "2026/3/21 8:05:09",
        "2026.03.21.08.05.09",
        "2026-03-21-08-05-09",
        "2026_03_21_08_05_09",
        "21.03.2026 08:05:09",
        "21.3.2026 8:05:09",
        "03/21/2026 08:05:09",
        "21/03/2026 08:05:09",
        "3/21/2026 8:05:09 AM",
        "21-Mar-2026 08:05:09",
        "Mar 21, 2026 08:05:09",
        "Sat Mar 21 2026 08:05:09",
        "21. März 2026 08:05:09",
        "Sat Mar 21 08:05:09 2026",
        "Sat Mar 21 08:05:09 UTC 2026",
        "21-Mar-26 08:05:09",
        "2026-03-21 오전 8:05:09",
        "2026. 3. 21. 오전 8:05:09",
        "2026년 3월 21일 8:05:09",
        "20260321T080509",
        "20260321T080509Z",
        "20260321_080509",
        "20260321080509",
        "260321080509",
        "260321-080509",
        "2026-03-21 08:05:09.000",
        "2026-03-21 08:05:09,000",
    ] {
        let got = seconds(field);
        assert_eq!(got, Some(INSTANT as f64), "{field}");
    }
    assert_eq!(seconds("3/21/2026 8:05:09 PM"), Some((INSTANT + 43_200) as f64));
    let quarter = seconds("2026-03-21 08:05:09.25").expect("a time") - INSTANT as f64;
    assert!((quarter - 0.25).abs() < 1e-5);
    assert_eq!(seconds("08:05:09.5"), Some(29_109.5));
    assert_eq!(seconds("2026-03-21"), Some((INSTANT - 29_109) as f64));
}

/// Recordings of before 2000 carry years of two digits.
#[test]
fn a_year_of_two_digits_is_between_1970_and_2069() {
    let days = |field: &str| seconds(field).map(|s| s / 86_400.0);
    assert_eq!(days("01-Jan-70"), Some(0.0));
    assert_eq!(days("12-Feb-98"), days("1998-02-12"));
    assert_eq!(days("12-Feb-69"), days("2069-02-12"));
    assert_eq!(seconds("980212143200"), seconds("1998-02-12 14:32:00"));
}

#[test]
fn what_is_no_time_is_none() {
    for field in
        ["", "x", "0.125", "-1.5", "12,5", "1e-3", "DE", "channel 1", "25:00:99", "2026-13-45x"]
    {
        assert_eq!(Stamp::parse(field), None, "{field}");
    }
}

#[test]
fn days_and_months_are_told_apart_by_all_rows_or_refused() {
    let column = |fields: &[&str]| -> Result<DateOrder, String> {
        let stamps: Vec<Stamp> =
            fields.iter().map(|field| Stamp::parse(field).expect("a time")).collect();
        decided_order(&stamps, None)
    };
    assert_eq!(column(&["01/02/2026", "13/02/2026"]), Ok(DateOrder::DayFirst));
    assert_eq!(column(&["01/02/2026", "02/13/2026"]), Ok(DateOrder::MonthFirst));
    let days: Vec<String> = (1..=12).map(|day| format!("{day:02}/03/2026 08:00:00")).collect();
    let days: Vec<&str> = days.iter().map(String::as_str).collect();
    assert_eq!(column(&days), Ok(DateOrder::DayFirst), "one order rises day by day");
    let error = column(&["01/02/2026 08:00", "01/02/2026 09:00"]).expect_err("open");
    assert!(error.contains("--date-order"), "{error}");
}

proptest! {
    #[test]
    fn no_field_panics(field in "[0-9a-zA-Z:/. ,+-]{0,40}") {
        let _ = Stamp::parse(&field).map(|stamp| stamp.unix_ns(DateOrder::MonthFirst));
    }

    #[test]
    fn any_letters_are_read_or_refused(field in "\\PC{0,40}") {
        let _ = Stamp::parse(&field);
    }
}
