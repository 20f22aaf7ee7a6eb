//! Headers with more or fewer names than the rows have fields, names of times, codes for no value,
//! and rates that nothing is sampled at, each made here. The signal is that of [`super::forms`]:
//! 0.25 g at 2,560 Hz.

use std::fmt::Write as _;
use std::path::Path;

use proptest::prelude::*;

use super::super::{RecordingOptions, open_content};
use super::forms::{assert_read, g, no_rate, options, read_table, s, table, usual};

const G: f64 = 9.806_65;

fn refusal(text: &str, options: &RecordingOptions) -> String {
    read_table(text.as_bytes(), options).expect_err(text.lines().next().unwrap_or(""))
}

/// The line that says what was read.
fn line(text: &str, options: &RecordingOptions) -> String {
    let source = open_content(Path::new("t.csv"), text.as_bytes().to_vec(), options);
    source.expect("reads").interpretation().expect("a file").to_string()
}

/// Issue 32: such a header was passed over, and its units with it: m/s² was taken for g.
#[test]
fn a_header_that_lacks_the_name_of_the_index_or_of_empty_columns_keeps_its_units() {
    let value = |n: usize| format!("{:.7},{:.6}", s(n), G * g(n));
    let in_ms2 = "time,acc (m/s^2)";
    for (what, text) in [
        ("R", table(&format!("{in_ms2}\n"), |n| format!("{},{}", n + 1, value(n)))),
        (
            "R, quoted",
            table("\"time\",\"acc (m/s^2)\"\n", |n| format!("\"{}\",{}", n + 1, value(n))),
        ),
        ("names of rows", table(&format!("{in_ms2}\n"), |n| format!("row{n},{}", value(n)))),
        ("with a row of units", table("time,acc\ns,m/s^2\n", |n| format!("{n},{}", value(n)))),
        ("empty at the end", table(&format!("{in_ms2}\n"), |n| format!("{},,,", value(n)))),
        ("header with separators", table(&format!("{in_ms2},,,\n"), value)),
        ("remarks", table(&format!("{in_ms2},Remarks\n"), value)),
        ("in a comment", table(&format!("# {in_ms2}\n"), |n| format!("{n},{}", value(n)))),
        ("comment, empty", table(&format!("#{in_ms2}\n"), |n| format!("{},,", value(n)))),
    ] {
        assert_read(what, text.as_bytes(), &no_rate(), 1);
        let said = line(&text, &no_rate());
        assert!(said.contains("in m/s^2 (from the file)"), "{what}: {said}");
    }
    let no_time = table("acc (m/s^2),temp\n", |n| format!("{n},{:.6},25.1", G * g(n)));
    assert_read("an index without a time", no_time.as_bytes(), &usual(), 1);
}

#[test]
fn names_that_have_two_places_are_refused_with_both_counts_and_the_option() {
    let two = |n: usize| format!("{:.6},{:.5}", s(n), g(n));
    for (what, text) in [
        ("one more", table("time,temp,acc_g\n", two)),
        ("an index that is not there", table("index,time,acc_g\n", two)),
        ("one less", table("time,acc_g\n", |n| format!("{},{:.4}", two(n), 5.0 * g(n)))),
        (
            "a meter with three columns more",
            table("#start_time(s),acc(g),speed(rpm)\n", |n| format!("{},1,2,3", two(n))),
        ),
        (
            "decimal commas between commas",
            table("time,acc_g\n", |n| format!("{:.6},{:.5}", s(n), g(n)).replace('.', ",")),
        ),
    ] {
        let error = refusal(&text, &no_rate());
        assert!(error.contains("--variable") || error.contains("--decimal"), "{what}: {error}");
    }
    let text = table("time,temp,acc_g\n", two);
    let error = refusal(&text, &no_rate());
    assert!(error.contains("names 3 columns") && error.contains("have 2 fields"), "{error}");
    let by_number = options(|o| o.variable = Some("1".to_owned()));
    assert_read("named by number", text.as_bytes(), &by_number, 1);
    assert!(line(&text, &by_number).contains("names and units are not used"));
}

/// Loggers of Campbell have names, units, and what each value is of its interval: m/s² was taken
/// for g.
#[test]
fn the_three_heads_of_toa5_name_columns_and_units() {
    let heads = "\"TOA5\",\"CR6\",\"CR6\",\"1\",\"OS\",\"prog\",\"sig\",\"Vib\"\n\
                 \"TIMESTAMP\",\"RECORD\",\"acc\"\n\"TS\",\"RN\",\"m/s^2\"\n\"\",\"\",\"Smp\"\n";
    let text = table(heads, |n| format!("\"2026-03-01 00:00:{:09.6}\",{n},{:.6}", s(n), G * g(n)));
    assert_read("TOA5", text.as_bytes(), &no_rate(), 1);
    let said = line(&text, &no_rate());
    assert!(said.contains("acc in m/s^2 (from the file)"), "{said}");
}

#[test]
fn samples_that_are_zero_for_the_most_part_are_told() {
    let text = table("time,acc_g\n", |n| {
        format!("{:.7},{:.5}", s(n), if n % 10 == 0 { g(n) } else { 0.0 })
    });
    assert!(line(&text, &no_rate()).contains("samples are exactly 0"));
    let whole = table("time,acc_g\n", |n| format!("{:.7},{:.5}", s(n), g(n)));
    assert!(!line(&whole, &no_rate()).contains("exactly 0"));
}

/// Issue 32: where the clock jitters, the name alone says that a column is time.
#[test]
fn a_column_that_its_name_calls_a_time_is_no_channel_however_it_runs() {
    let uneven = |n: usize| s(n) + 0.0009 * ((n * n) as f64 * 0.37).sin().abs() * (n % 5) as f64;
    for name in [
        "Second",
        "Seconds",
        "Secs",
        "sec.",
        "Sekunde",
        "Sekunden",
        "Sekunde(n)",
        "Sek.",
        "초",
        "경과초",
        "秒",
        "시간",
    ] {
        for separator in [",", ";"] {
            let head = format!("{name}{separator}Value\n");
            let even = table(&head, |n| format!("{:.7}{separator}{:.5}", s(n), g(n)));
            assert_read(name, even.as_bytes(), &no_rate(), 1);
            let whole = table(&head, |n| format!("{}{separator}{:.5}", s(n) as u32, g(n)));
            assert_read(name, whole.as_bytes(), &usual(), 1);
            let jitter = table(&head, |n| format!("{:.6}{separator}{:.5}", uneven(n), g(n)));
            assert_read(name, jitter.as_bytes(), &usual(), 1);
        }
    }
    for (name, factor) in
        [("Millisekunde", 1e3), ("밀리초", 1e3), ("msec.", 1e3), ("Mikrosekunden", 1e6)]
    {
        let text =
            table(&format!("{name};Wert\n"), |n| format!("{:.4};{:.5}", factor * s(n), g(n)));
        assert_read(name, text.as_bytes(), &no_rate(), 1);
    }
}

/// Issue 32: -9999 and the fill of NetCDF were samples.
#[test]
fn codes_for_no_value_are_no_samples_and_are_told() {
    for code in ["-9999", "-999.25", "9.96921e36", "1e30", "32767", "-32768"] {
        let text = table("time,acc_g\n", |n| {
            let value = if n % 64 == 9 { code.to_owned() } else { format!("{:.5}", g(n)) };
            format!("{:.7},{value}", s(n))
        });
        let said = line(&text, &no_rate());
        assert!(said.contains("stands 8 times") && said.contains("left out"), "{code}: {said}");
        let (rms, _) = read_table(text.as_bytes(), &no_rate()).expect("reads");
        assert!((rms[0] / 0.25 - 1.0).abs() < 0.05, "{code}: {rms:?}");
    }
    let spike =
        table("time,acc_g\n", |n| format!("{:.7},{:.5}", s(n), if n == 9 { 20.0 } else { g(n) }));
    assert!(!line(&spike, &no_rate()).contains("left out"), "a shock is a sample");
}

/// A wrong statement of a header, such as a rate in mHz or an increment in the wrong unit.
#[test]
fn a_rate_above_the_limit_is_refused_in_every_format() {
    let json =
        |rate: &str| format!("{{\"fs\":{rate},\"acc\":{:?}}}", (0..64).map(g).collect::<Vec<_>>());
    let mut lines = String::from("# sampling rate: 25600000 Hz\nacc_g\n");
    (0..64).for_each(|n| {
        let _ = writeln!(lines, "{:.5}", g(n));
    });
    for text in [json("25600000"), json("1.5e6"), lines] {
        let error = refusal(&text, &no_rate());
        assert!(error.contains("no vibration is sampled above 1000000 Hz"), "{error}");
        let decided = options(|o| o.prefer = Some(crate::source::Preferred::Option));
        assert!(read_table(text.as_bytes(), &decided).is_ok(), "the option decides");
    }
    let mut wav: Vec<u8> = Vec::new();
    wav.extend(b"RIFF\x80\0\0\0WAVEfmt \x10\0\0\0\x03\0\x01\0");
    wav.extend(2_000_000u32.to_le_bytes());
    wav.extend(8_000_000u32.to_le_bytes());
    wav.extend(b"\x04\0\x20\0data\x40\0\0\0");
    (0..16).for_each(|n| wav.extend((g(n) as f32).to_le_bytes()));
    let error = open_content(Path::new("t.wav"), wav, &no_rate()).map(|_| ()).expect_err("fast");
    assert!(error.to_string().contains("the file states 2000000 Hz"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Tables of any names and rows: counts of fields that do not fit, units, codes, comments,
    /// quotes.
    #[test]
    fn any_table_is_read_or_refused(
        head in prop::collection::vec("[#%]?(time|t|초|Sekunde\\(n\\)|acc|g|ax \
            \\(g\\)|m/s\\^2|n|,|;|)", 0..6),
        rows in prop::collection::vec(
            prop::collection::vec("-?[0-9]{0,4}(\\.|,)?[0-9]{0,3}( mm/s|g|e36|)?|-9999|x|\"", 0..6),
            0..40),
        separator in prop::sample::select(vec![",", ";", "\t", " "]),
        variable in prop::option::of("[0-3](,[0-3])?"),
    ) {
        let mut text = head.join(separator);
        for row in rows {
            text.push('\n');
            text.push_str(&row.join(separator));
        }
        let options = options(|o| o.variable = variable);
        if let Ok(mut source) = open_content(Path::new("t.csv"), text.into_bytes(), &options) {
            while let Ok(Some(_)) = source.next_block() {}
        }
    }
}
