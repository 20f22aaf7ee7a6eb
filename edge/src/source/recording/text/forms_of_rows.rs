//! Rows of historians and of other programs: more words than values, a row of types, units between
//! blanks, times of other calendars and of both changes of summer time, columns of time of several
//! rates. The signal is that of [`super::forms`]: 0.25 g at 2,560 Hz.

use std::path::Path;

use super::super::{RecordingOptions, open_content};
use super::forms::{assert_read, g, no_rate, options, read_table, s, table};

const G: f64 = 9.806_65;

fn stamp(date: &str, hour: u32, n: usize) -> String {
    format!("{date} {hour:02}:00:00.{:07}", (s(n) * 1e7).round() as u64)
}

/// Returns the interpretation of a text in words, and the time of its first sample.
fn said(text: &str, options: &RecordingOptions) -> (String, Option<String>) {
    let source = open_content(Path::new("t.csv"), text.as_bytes().to_vec(), options);
    let mut source = source.expect("reads");
    let told = source.interpretation().expect("a file").to_string();
    let block = source.next_block().expect("reads").expect("a block");
    (told, block.started_at.map(|at| at.to_string()))
}

/// R-EDGE-4: two columns of words beside a time and one number made a row none.
#[test]
fn rows_with_more_words_than_values_are_read() {
    let at = |n: usize| stamp("2026-05-04", 6, n);
    for (what, text) in [
        (
            "a historian",
            table("ts,plant,tag,acc_g,quality\n", |n| {
                format!("{},Ulsan,P-7,{:.5},GOOD", at(n), g(n))
            }),
        ),
        (
            "the value last",
            table("ts,plant,tag,quality,acc_g\n", |n| {
                format!("{},Ulsan,P-7,GOOD,{:.5}", at(n), g(n))
            }),
        ),
        (
            "seconds",
            table("t_s;plant;tag;acc_g\n", |n| format!("{:.7};Ulsan;P-7;{:.5}", s(n), g(n))),
        ),
        (
            "a column of units",
            table("ts,tag,value,unit\n", |n| format!("{},P-7,{:.5},m/s2", at(n), G * g(n))),
        ),
        (
            "a row of types",
            table("\"ts\",\"acc_ms2\"\n\"DateTime64(6)\",\"Float64\"\n", |n| {
                format!("\"{}\",{:.5}", at(n), G * g(n))
            }),
        ),
        (
            "types, three",
            table("time,acc_mg,temp_c\ntimestamp,float,float\n", |n| {
                format!("{},{:.3},31.5", at(n), 1e3 * g(n))
            }),
        ),
        (
            "units between blanks",
            table("# t [s]   acc [g]\n", |n| {
                format!("  {:.7E}  {:.6E}", s(n), g(n)).replace('E', "D")
            }),
        ),
        (
            "labels",
            table("\"Time\",\"acc {unit=\"\"m/s2\"\", axis=\"\"x\"\"}\"\n", |n| {
                format!("{},{:.5}", at(n), G * g(n))
            }),
        ),
        (
            "two times of their own",
            table("Time_acc [s],Acc [g],Time_temp [s],Temp [degC]\n", |n| {
                format!("{:.7},{:.5},{:.1},31.5", s(n), g(n), n as f64 / 10.0)
            }),
        ),
    ] {
        assert_read(what, text.as_bytes(), &no_rate(), 1);
    }
}

/// R-EDGE-4: the names of an oscilloscope say volts, and a text without rows shows a line of it.
#[test]
fn names_beside_statements_are_names_and_a_text_without_rows_is_shown() {
    let volts = table("CH1V,CH2V,t0 =-5.0e-01s, tInc = 3.90625e-04,\n", |n| {
        format!("{:.6},0.5,,", 0.1 * g(n))
    });
    let told = read_table(volts.as_bytes(), &no_rate()).expect_err("volts");
    assert!(told.contains("is in V"), "{told}");
    let words = "a line,of words,without end\n".repeat(300);
    let error = read_table(words.as_bytes(), &no_rate()).expect_err("words");
    assert!(error.contains("line 200 is \"a line,of words"), "{error}");
}

/// R-EDGE-4: 1970 and 2001 were printed, which stand nowhere in the file.
#[test]
fn years_of_other_calendars_and_clocks_that_were_never_set_date_nothing() {
    for (date, told) in [
        ("2569-05-04", "year 2569"),
        ("1405/02/14", "year 1405"),
        ("0001-01-01", "year 0001"),
        ("4/5/2569", "year 2569"),
        ("115/05/04", "year 0115"),
        ("R8.05.04", "year 0008"),
        ("1970-01-01", "never set"),
        ("2000-01-01", "never set"),
        ("1980-01-06", "never set"),
    ] {
        let text = table("Time,acc_g\n", |n| format!("{},{:.5}", stamp(date, 6, n), g(n)));
        assert_read(date, text.as_bytes(), &no_rate(), 1);
        let (line, start) = said(&text, &no_rate());
        assert!(line.contains(told) && start.is_none(), "{date}: {line} {start:?}");
    }
    let dated = table("Time,acc_g\n", |n| format!("{},{:.5}", stamp("2003-10-22", 6, n), g(n)));
    let (_, start) = said(&dated, &no_rate());
    assert!(start.is_some_and(|at| at.starts_with("2003-10-22")), "NASA IMS");
}

/// R-EDGE-4: the file states the zone, and the machine's was taken.
#[test]
fn a_zone_in_a_name_or_a_line_dates_the_recording() {
    let seoul = |o: &mut RecordingOptions| o.zone = "America/New_York".parse().expect("a zone");
    let rows = |head: &str| table(head, |n| format!("{},{:.5}", stamp("2026-05-04", 9, n), g(n)));
    for (head, expected) in [
        ("timestamp (+0900),acc_g\n", "2026-05-04T00"),
        ("Time [KST],acc_g\n", "2026-05-04T00"),
        ("time_utc,acc_g\n", "2026-05-04T09"),
        ("Time (GMT),acc_g\n", "2026-05-04T09"),
        ("# timezone: Asia/Seoul\nTime,acc_g\n", "2026-05-04T00"),
        ("Time,acc_g\n", "2026-05-04T13"),
    ] {
        let change = options(|o| {
            o.sample_rate = None;
            seoul(o);
        });
        let (told, start) = said(&rows(head), &change);
        assert!(
            start.as_ref().is_some_and(|at| at.starts_with(expected)),
            "{head}: {start:?} {told}"
        );
    }
}

/// R-EDGE-4: one was refused as two recordings, the other lost two hours of samples.
#[test]
fn both_changes_of_summer_time_are_no_break_in_their_zone() {
    let berlin = options(|o| {
        o.sample_rate = None;
        o.zone = "Europe/Berlin".parse().expect("a zone");
    });
    let row = |date: &str, before: &str, after: &str, n: usize| {
        let (hour, second) = if n < 256 { (before, 59.9) } else { (after, -0.1) };
        format!("{date} {hour}:{:010.7},{:.5}", second + s(n), g(n))
    };
    let end = table("time,acc_g\n", |n| row("2026-10-25", "02:59", "02:00", n));
    let begin = table("time,acc_g\n", |n| row("2026-03-29", "01:59", "03:00", n));
    for (what, text, start) in
        [("the end", end, "2026-10-25T00:59:59"), ("the begin", begin, "2026-03-29T00:59:59")]
    {
        assert_read(what, text.as_bytes(), &berlin, 1);
        let (told, at) = said(&text, &berlin);
        assert!(at.as_ref().is_some_and(|at| at.starts_with(start)), "{what}: {at:?}");
        assert!(!told.contains("gap"), "{what}: {told}");
    }
}
