//! Times as loggers write them beside samples: two stamps a row, open dates, intervals, a memory
//! that is read at once, remarks; and statements of other languages above the rows. The signal is
//! that of [`super::forms`]: 0.25 g at 2,560 Hz.

use std::path::Path;
use std::sync::Arc;

use encoding_rs::{GB18030, SHIFT_JIS};

use super::super::open_content;
use super::forms::{assert_read, g, no_rate, read_table, s, table};
use crate::source::Interpretation;

fn interpreted(text: &str) -> Arc<Interpretation> {
    let source = open_content(Path::new("t.csv"), text.as_bytes().to_vec(), &no_rate());
    source.expect("reads").interpretation().expect("a file").clone()
}

fn clock(n: usize, shift_ms: f64) -> String {
    let ms = s(n) * 1000.0 + shift_ms;
    format!("2026-03-01T08:00:{:02}.{:06}Z", (ms / 1000.0) as u32, ((ms % 1000.0) * 1000.0) as u32)
}

/// R-EDGE-4: the start is that of the column that gives the times, not of another one with dates.
#[test]
fn a_recording_is_dated_by_the_column_that_gives_its_times() {
    for (header, constant) in [
        ("_start,_time,acc\n", "2026-03-01T07:55:00Z"),
        ("created_at,timestamp,acc\n", "2026-03-02T09:00:00Z"),
    ] {
        let text = table(header, |n| format!("{constant},{},{:.5}", clock(n, 0.0), g(n)));
        let read = super::open(Path::new("t.csv"), text.as_bytes(), &no_rate()).expect("reads");
        let start = read.stated_start.expect("dated").to_string();
        assert_eq!(start, "2026-03-01T08:00:00.000Z", "{header}");
    }
}

/// Whole seconds of arrival beside the sensor's own stamps.
#[test]
fn of_two_times_the_one_with_more_digits_gives_the_rate() {
    let text = table("received_at,timestamp,acc\n", |n| {
        let arrived = format!("2026-03-01T08:00:{:02}Z", (s(n) * 40.0) as u32);
        format!("{arrived},{},{:.5}", clock(n, 0.0), g(n))
    });
    let own = interpreted(&text);
    assert!((own.rate_hz / 2560.0 - 1.0).abs() < 1e-3, "{own}");
    assert!(own.to_string().contains("\"timestamp\""), "{own}");
}

#[test]
fn a_date_with_two_readings_dates_nothing_and_is_told() {
    let text = table("time,acc\n", |n| {
        let ms = s(n) * 1000.0;
        format!("3/1/2026 8:00:00.{:03} AM,{:.5}", ms as u32, g(n))
    });
    let source = open_content(Path::new("t.csv"), text.clone().into_bytes(), &no_rate());
    let source = source.expect("reads");
    assert!(source.interpretation().expect("a file").to_string().contains("day or the month"));
    let certain = text.replace("3/1/2026", "2026-03-01");
    assert!(!interpreted(&certain).to_string().contains("day or the month"));
}

/// A sketch prints the microseconds since the row before.
#[test]
fn a_column_of_intervals_gives_the_rate() {
    let text = table("x;dt_us\n", |n| format!("{:.5};{}", g(n), 390 + n % 2));
    let own = interpreted(&text);
    assert!((own.rate_hz / (1e6 / 390.5) - 1.0).abs() < 1e-3, "{own}");
    assert!(own.to_string().contains("from one row to the next"), "{own}");
    let contradicts = format!("# sample rate: 3000 Hz\n{text}");
    assert!(read_table(contradicts.as_bytes(), &no_rate()).is_err());
}

#[test]
fn rows_of_a_memory_that_is_read_at_once_have_the_true_rate() {
    let text = table("t_us,acc\n", |n| format!("{},{:.5}", n / 32 * 12_500, g(n)));
    let own = interpreted(&text);
    assert!((own.rate_hz - 2560.0).abs() < 1e-6, "{own}");
    assert!(own.to_string().contains("stands for 32 rows"), "{own}");
}

#[test]
fn a_remark_among_the_rows_is_told_and_a_loss_is_a_gap() {
    for (remark, gaps) in [("# FIFO overflow: 512 samples lost", 1), ("# pump switched over", 0)] {
        let text = table("time,acc\n", |n| {
            let before = if n == 300 { format!("{remark}\n") } else { String::new() };
            format!("{before}{:.7},{:.5}", s(n), g(n))
        });
        let own = interpreted(&text);
        assert_eq!(own.gaps, gaps, "{remark}");
        assert!(own.to_string().contains(remark), "{own}");
    }
    let below = table("time,acc\n", |n| format!("{:.7},{:.5}", s(n), g(n))) + "# end of file\n";
    assert!(!interpreted(&below).to_string().contains("remark"));
}

/// R-EDGE-4: unit and rate above the rows, in the languages of the makers of loggers.
#[test]
fn units_and_rates_of_chinese_and_japanese_files_are_read() {
    let rows = |head: &str| {
        (0..512).fold(head.to_owned(), |all, n| all + &format!("{:.6}\n", 9.806_65 * g(n)))
    };
    let chinese = rows("采样频率：2560 Hz\n单位：m/s²\n通道：水泵驱动端\n");
    let japanese = rows("サンプリング周波数,2560\n単位,m/s2\n測定点,ポンプ駆動側\n");
    assert_read("utf-8 zh", chinese.as_bytes(), &no_rate(), 1);
    assert_read("utf-8 ja", japanese.as_bytes(), &no_rate(), 1);
    assert_read("gb18030", &GB18030.encode(&chinese).0, &no_rate(), 1);
    assert_read("shift-jis", &SHIFT_JIS.encode(&japanese).0, &no_rate(), 1);
}

/// The first rows of a table of stamps are no seconds of 2009.
#[test]
fn microseconds_of_a_controller_ask_for_their_unit() {
    let text = table("timestamp,accelerometer_m_s2[0]\n", |n| {
        format!("{},{:.6}", 1_234_567_890 + (s(n) * 1e6).round() as u64, 9.806_65 * g(n))
    });
    let refusal = read_table(text.as_bytes(), &no_rate()).expect_err("no unit of the time");
    assert!(refusal.contains("--rate"), "{refusal}");
    assert_read("with the rate", text.as_bytes(), &super::forms::usual(), 1);
}
