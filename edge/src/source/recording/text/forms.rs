//! The forms in which people have tables of samples, each made here: what is read of it, or the words with
//! which it is refused. The signal is one: 512 samples at 2,560 Hz with an RMS of 0.25 g.

use std::fmt::Write as _;
use std::path::Path;

use encoding_rs::EUC_KR;
use pdm_shared::units::SampleRate;

use super::super::{RecordingOptions, open_content};
use crate::source::{AccelUnit, Calibration, Preferred};
use crate::tabular::Decimal;

const RATE_HZ: f64 = 2560.0;
const SAMPLES: usize = 512;
const RMS_G: f64 = 0.25;

fn g(n: usize) -> f64 {
    // a whole number of periods, so that the RMS is exact
    RMS_G * 2f64.sqrt() * (std::f64::consts::TAU * 37.0 * n as f64 / SAMPLES as f64).sin()
}

fn s(n: usize) -> f64 {
    n as f64 / RATE_HZ
}

/// A header and one line a sample.
fn table(header: &str, line: impl Fn(usize) -> String) -> String {
    (0..SAMPLES).fold(header.to_owned(), |mut all, n| {
        let _ = writeln!(all, "{}", line(n));
        all
    })
}

fn comma(number: f64) -> String {
    format!("{number:.5}").replace('.', ",")
}

fn options(change: impl FnOnce(&mut RecordingOptions)) -> RecordingOptions {
    let mut options =
        RecordingOptions { sample_rate: SampleRate::new(RATE_HZ).ok(), ..Default::default() };
    change(&mut options);
    options
}

fn usual() -> RecordingOptions {
    options(|_| {})
}

fn no_rate() -> RecordingOptions {
    options(|o| o.sample_rate = None)
}

fn calibrated(unit: Option<AccelUnit>, scale: Option<f64>) -> RecordingOptions {
    options(|o| o.calibrations = vec![Calibration::stated(unit, scale, 0.0).expect("valid")])
}

/// RMS in g and channels of the block, and the rate; or the refusal.
fn read(bytes: &[u8], options: &RecordingOptions) -> Result<(Vec<f64>, f64), String> {
    let mut source = open_content(Path::new("t.csv"), bytes.to_vec(), options)
        .map_err(|error| error.to_string())?;
    let rate = source.format().sample_rate.get();
    let block = source.next_block().map_err(|error| error.to_string())?.expect("one snapshot");
    let rms = |row: ndarray::ArrayView1<'_, f64>| {
        let present: Vec<f64> = row.iter().copied().filter(|x| x.is_finite()).collect();
        let mean = present.iter().sum::<f64>() / present.len() as f64;
        let power = present.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
        (power / present.len() as f64).sqrt() / 9.806_65
    };
    Ok((block.accel_m_s2.outer_iter().map(rms).collect(), rate))
}

fn assert_read(name: &str, bytes: &[u8], options: &RecordingOptions, channels: usize) {
    match read(bytes, options) {
        Err(error) => panic!("{name} is refused: {error}"),
        Ok((rms, rate)) => {
            assert!((rate / RATE_HZ - 1.0).abs() < 0.002, "{name}: {rate} Hz");
            assert_eq!(rms.len(), channels, "{name}: {rms:?}");
            assert!(rms.iter().all(|rms| (rms / RMS_G - 1.0).abs() < 0.02), "{name}: {rms:?}");
        }
    }
}

/// Issue 32, point 2.
#[expect(clippy::too_many_lines, reason = "a table of forms")]
#[test]
fn columns_of_vibration_are_found_among_times_counts_and_other_quantities() {
    let forms: Vec<(&str, String, usize)> = vec![
        ("no header", table("", |n| format!("{:.5}", g(n))), 1),
        ("two columns", table("", |n| format!("{:.5}\t{:.5}", g(n), g(n))), 2),
        ("index without a name", table(",ax,ay\n", |n| format!("{n},{:.5},{:.5}", g(n), g(n))), 2),
        ("numbered header", table(",0,1\n", |n| format!("{n},{:.5},{:.5}", g(n), g(n))), 2),
        ("count", table("count,a_x\n", |n| format!("{n},{:.5}", g(n))), 1),
        ("count from 1", table("No.;X\n", |n| format!("{};{:.5}", n + 1, g(n))), 1),
        ("seconds", table("time,x\n", |n| format!("{:.6},{:.5}", s(n), g(n))), 1),
        ("seconds, another name", table("Abszisse,x\n", |n| format!("{:.6},{:.5}", s(n), g(n))), 1),
        ("milliseconds", table("t (ms),x\n", |n| format!("{:.4},{:.5}", 1e3 * s(n), g(n))), 1),
        ("ms without a word", table("t,x\n", |n| format!("{:.4},{:.5}", 1e3 * s(n), g(n))), 1),
        ("microseconds", table("micros,x\n", |n| format!("{:.0},{:.5}", 1e6 * s(n), g(n))), 1),
        (
            "microseconds that wrap",
            table("us,x\n", |n| {
                format!(
                    "{},{:.5}",
                    4_294_900_000u32.wrapping_add((1e6 * s(n)).round() as u32),
                    g(n)
                )
            }),
            1,
        ),
        (
            "rounded times",
            table("", |n| format!("{:.2},{:.5}", (100.0 * s(n)).floor() / 100.0, g(n))),
            1,
        ),
        ("epoch", table("timestamp,x\n", |n| format!("{:.6},{:.5}", 1.7e9 + s(n), g(n))), 1),
        ("epoch ms", table("ts,x\n", |n| format!("{:.4},{:.5}", 1.7e12 + 1e3 * s(n), g(n))), 1),
        (
            "text times",
            table("time,x\n", |n| format!("2026-03-01 09:00:{:09.6},{:.5}", s(n), g(n))),
            1,
        ),
        (
            "date and clock",
            table("date time x\n", |n| format!("2026-03-01 09:00:{:09.6} {:.5}", s(n), g(n))),
            1,
        ),
        (
            "count, date, clock, microseconds",
            table("NO.\tDate\tTime\tus\tX\n", |n| {
                let us = (1e6 * s(n)).round() as u64 + 900_000;
                let (second, us) = (12 + us / 1_000_000, us % 1_000_000);
                format!("{n}\t2026/1/24\t16:53:{second}\t{us}\t{:.5}", g(n))
            }),
            1,
        ),
        (
            "newest first",
            {
                let line =
                    |n: usize| format!("{:.6},{:.5}", s(SAMPLES - 1 - n), g(SAMPLES - 1 - n));
                table("time,x\n", line)
            },
            1,
        ),
        (
            "speed first",
            table("time,rpm,acc\n", |n| format!("{:.6},{:.1},{:.5}", s(n), 1797.0 + g(n), g(n))),
            1,
        ),
        (
            "current",
            table("current_a,vibration_1\n", |n| format!("{:.5},{:.5}", 9.0 * g(n), g(n))),
            1,
        ),
        ("units decide", table("A (A),B (g)\n", |n| format!("{:.5},{:.5}", 9.0 * g(n), g(n))), 1),
        (
            "tachometer without a header",
            table("", |n| {
                let pulse = if n % 85 < 5 { 5.0 } else { 0.0 };
                format!("{pulse:.1},{:.5}", g(n))
            }),
            1,
        ),
        (
            "Korean",
            table("시간(초),가속도(g),온도(℃)\n", |n| {
                format!("{:.6},{:.5},40.1", s(n), g(n))
            }),
            1,
        ),
        (
            "German",
            table("Zeit [s];Beschleunigung [g];Drehzahl\n", |n| {
                format!("{};{};1500,0", comma(s(n)), comma(g(n)))
            }),
            1,
        ),
        (
            "a name with time",
            table("X130_DE_time,X130_FE_time\n", |n| format!("{:.5},{:.5}", g(n), g(n))),
            2,
        ),
        ("words in a column", table("axis,x,y\n", |n| format!("DE,{:.5},{:.5}", g(n), g(n))), 2),
    ];
    for (name, text, channels) in forms {
        assert_read(name, text.as_bytes(), &usual(), channels);
    }
}

/// Issue 32, point 2.
#[test]
fn units_of_headers_rows_labels_and_comments_count() {
    let m_s2 = |n: usize| 9.806_65 * g(n);
    for (name, text) in [
        ("header", table("Time (s),Acc X (m/s^2)\n", |n| format!("{:.6},{:.5}", s(n), m_s2(n)))),
        ("superscript", table("X [m/s²]\n", |n| format!("{:.5}", m_s2(n)))),
        ("mg", table("X (mg)\n", |n| format!("{:.3}", 1000.0 * g(n)))),
        (
            "unit row",
            table("Time,X\n(ms),(m/s2)\n", |n| format!("{:.4},{:.5}", 1e3 * s(n), m_s2(n))),
        ),
        (
            "unit row without brackets",
            table("t;X\ns;mg\n", |n| format!("{:.6};{:.3}", s(n), 1000.0 * g(n))),
        ),
        ("comment", table("# unit: m/s^2\nx\n", |n| format!("{:.5}", m_s2(n)))),
        ("label", table("Einheit;m/s²\nKanal 1\n", |n| format!("{:.5}", m_s2(n)))),
    ] {
        assert_read(name, text.as_bytes(), &usual(), 1);
    }
    let mv = table("Time,Channel A\n(ms),(mV)\n\n", |n| {
        format!("{:.4},{:.3}", 1e3 * s(n), 100.0 * g(n))
    });
    let unit = AccelUnit::Millivolt { sensitivity_mv_per_g: 100.0 };
    assert_read("mV", mv.as_bytes(), &calibrated(Some(unit), None), 1);
    let volts = table("Channel A (V)\n", |n| format!("{:.6}", 0.1 * g(n)));
    assert_read("V", volts.as_bytes(), &calibrated(Some(unit), None), 1);
    let counts = table("micros,ax\n", |n| format!("{:.0},{:.0}", 1e6 * s(n), 2048.0 * g(n)));
    assert_read("counts", counts.as_bytes(), &calibrated(None, Some(1.0 / 2048.0)), 1);
}

/// Issue 32, point 2.
#[test]
fn rates_are_read_from_metadata_and_times() {
    for (name, text) in [
        ("comment", table("# data_rate = 2560.0 Hz, range = 4 g\nx\n", |n| format!("{:.5}", g(n)))),
        ("preamble", table("Logger 7\nSampling Frequency;2560\nX\n", |n| format!("{:.5}", g(n)))),
        ("interval", table("Delta_X\t0.000390625\nX\n", |n| format!("{:.5}", g(n)))),
        ("Korean", table("측정주파수 : 2560\nX\n", |n| format!("{:.5}", g(n)))),
        ("times", table("time,x\n", |n| format!("{:.6},{:.5}", s(n), g(n)))),
        (
            "start and rate",
            table("1700000000.0,1700000000.0\n2560.0,2560.0\n", |n| {
                format!("{:.5},{:.5}", g(n), g(n))
            }),
        ),
    ] {
        let channels = if name == "start and rate" { 2 } else { 1 };
        assert_read(name, text.as_bytes(), &no_rate(), channels);
    }
}

/// Issue 32, point 2.
#[test]
fn texts_of_every_encoding_line_end_and_decimal_sign_are_read() {
    let plain = table("time,x\n", |n| format!("{:.6},{:.5}", s(n), g(n)));
    let wide = |bom: &str| -> Vec<u8> {
        format!("{bom}{plain}").encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    let big: Vec<u8> = plain.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let korean = table("시간(초),가속도(g)\n", |n| format!("{:.6},{:.5}", s(n), g(n)));
    let german = table("Zeit [s];Beschleunigung [m/s2]\n", |n| {
        format!("{};{}", comma(s(n)), comma(9.806_65 * g(n)))
    });
    let latin: Vec<u8> = german
        .replace("m/s2", "m/s\u{b2}")
        .chars()
        .map(|c| u8::try_from(u32::from(c)).expect("Latin-1"))
        .collect();
    let footer = format!("{plain}End of data\nSamples: 512\n");
    for (name, bytes) in [
        ("mark of UTF-8", [b"\xef\xbb\xbf", plain.as_bytes()].concat()),
        ("UTF-16 with a mark", wide("\u{feff}")),
        ("UTF-16 without", wide("")),
        ("UTF-16 big endian", big),
        ("CP949", EUC_KR.encode(&korean).0.into_owned()),
        ("Latin-1", latin),
        ("CR LF", plain.replace('\n', "\r\n").into_bytes()),
        ("CR", plain.replace('\n', "\r").into_bytes()),
        ("footer", footer.into_bytes()),
        (
            "quotes",
            table("\"Time\",\"X\"\n", |n| format!("\"{}\",\"{}\"", comma(s(n)), comma(g(n))))
                .into_bytes(),
        ),
        ("one column of commas", table("", |n| comma(g(n))).into_bytes()),
        ("one named column of commas", table("X\n", |n| comma(g(n))).into_bytes()),
        (
            "a space behind the sign",
            table("t\tX\n", |n| {
                format!("{:.6}\t{} {:.5}", s(n), if g(n) < 0.0 { '-' } else { '+' }, g(n).abs())
            })
            .into_bytes(),
        ),
        (
            "missing values",
            table("x,y\n", |n| match n % 97 {
                0 => "N/A,I/O Timeout".to_owned(),
                1 => "---,Bad".to_owned(),
                _ => format!("{:.5},{:.5}", g(n), g(n)),
            })
            .into_bytes(),
        ),
    ] {
        let channels = if name == "missing values" { 2 } else { 1 };
        assert_read(name, &bytes, &usual(), channels);
    }
}

/// Issue 32, point 1.
#[test]
fn what_contradicts_or_has_two_readings_is_refused_with_the_option_that_decides() {
    let at_1000 = table("Time (s),X (g)\n", |n| format!("{:.6},{:.5}", n as f64 / 1000.0, g(n)));
    let counts = table("ax,ay\n", |n| format!("{:.0},{:.0}", 2048.0 * g(n), 2048.0 * g(n)));
    let m_s2 = table("X (m/s^2)\n", |n| format!("{:.5}", g(n)));
    let mv = table("X (mV)\n", |n| format!("{:.5}", g(n)));
    let thousands = table("a;b\n", |n| format!("{},{:03};1", 1 + n % 9, n));
    let pair = table("", |n| format!("{},{}", 1 + n % 7, 101 + n));
    let speed = table("", |n| format!("{:.3},{:.5}", 1797.0 + 0.1 * g(n), g(n)));
    let others = table("rpm,temperature\n", |n| format!("{:.2},{:.2}", 1500.0 + g(n), 40.0 + g(n)));
    let grows = table("", |n| format!("{},{:.5}", n * n, g(n)));
    let cut = table("a,b\n", |n| format!("{:.5},{:.5}", g(n), g(n))) + "0.1";
    for (name, text, options, words) in [
        ("rate", at_1000.clone(), usual(), ["1000 Hz", "--prefer"]),
        ("counts", counts, usual(), ["cannot be g", "--scale"]),
        ("unit", m_s2, calibrated(Some(AccelUnit::G), None), ["m/s^2", "--prefer"]),
        ("voltage", mv, usual(), ["mV", "--sensitivity"]),
        ("thousands", thousands, usual(), ["1,", "--decimal"]),
        ("one or two columns", pair, usual(), ["two columns", "--decimal"]),
        ("kinds", speed, usual(), ["different kinds", "--variable"]),
        ("no vibration", others, usual(), ["no column of acceleration", "--variable"]),
        ("rises", grows, usual(), ["not evenly", "--variable"]),
        (
            "no rate",
            table("x\n", |n| format!("{:.5}", g(n))),
            no_rate(),
            ["sampling rate", "--rate"],
        ),
        ("cut off", cut, usual(), ["line 514", "truncated"]),
    ] {
        match read(text.as_bytes(), &options) {
            Ok(read) => panic!("{name} is read as {read:?}"),
            Err(error) => {
                assert!(words.iter().all(|word| error.contains(word)), "{name}: {error}");
            }
        }
    }
    let decided = options(|o| o.prefer = Some(Preferred::Option));
    assert_read("preferred", at_1000.as_bytes(), &decided, 1);
    let comma = options(|o| o.decimal = Some(Decimal::Comma));
    assert_read("decimal", table("", |n| self::comma(g(n))).as_bytes(), &comma, 1);
}

/// Issue 32, point 2.
#[test]
fn gaps_and_lost_samples_of_an_honest_time_column_are_told() {
    let text = table("time,x\n", |n| {
        let late = if n > 300 { 0.25 } else { 0.0 };
        format!("{:.6},{:.5}", s(n) + late, g(n))
    });
    let source = open_content(Path::new("t.csv"), text.into_bytes(), &usual()).expect("reads");
    let input = source.interpretation().expect("a file");
    assert_eq!((input.gaps, input.lost_samples), (1, 640));
    let line = input.to_string();
    assert!(
        line.contains("1 gaps, 640 samples lost") && line.contains("column \"time\""),
        "{line}"
    );
}
