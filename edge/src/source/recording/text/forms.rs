//! The forms in which people have tables of samples, each made here: what is read of it, or the
//! words with which it is refused. The signal is one: 512 samples at 2,560 Hz with an RMS of 0.25
//! g.

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

pub(super) fn g(n: usize) -> f64 {
    // a whole number of periods, so that the RMS is exact
    RMS_G * 2f64.sqrt() * (std::f64::consts::TAU * 37.0 * n as f64 / SAMPLES as f64).sin()
}

pub(super) fn s(n: usize) -> f64 {
    n as f64 / RATE_HZ
}

/// A header and one line a sample.
pub(super) fn table(header: &str, line: impl Fn(usize) -> String) -> String {
    (0..SAMPLES).fold(header.to_owned(), |mut all, n| {
        let _ = writeln!(all, "{}", line(n));
        all
    })
}

fn comma(number: f64) -> String {
    format!("{number:.5}").replace('.', ",")
}

pub(super) fn options(change: impl FnOnce(&mut RecordingOptions)) -> RecordingOptions {
    let mut options =
        RecordingOptions { sample_rate: SampleRate::new(RATE_HZ).ok(), ..Default::default() };
    change(&mut options);
    options
}

pub(super) fn usual() -> RecordingOptions {
    options(|_| {})
}

pub(super) fn no_rate() -> RecordingOptions {
    options(|o| o.sample_rate = None)
}

fn calibrated(unit: Option<AccelUnit>, scale: Option<f64>) -> RecordingOptions {
    options(|o| o.calibrations = vec![Calibration::stated(unit, scale, 0.0).expect("valid")])
}

/// RMS in g of each channel, and the rate; or the refusal.
type TableRead = Result<(Vec<f64>, f64), String>;

pub(super) fn read_table(bytes: &[u8], options: &RecordingOptions) -> TableRead {
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

pub(super) fn assert_read(name: &str, bytes: &[u8], options: &RecordingOptions, channels: usize) {
    match read_table(bytes, options) {
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
        match read_table(text.as_bytes(), &options) {
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
    assert!(line.contains("1 gap, 640 samples lost") && line.contains("column \"time\""), "{line}");
}

/// Names and forms of phone apps, loggers and oscilloscopes (issue 32).
#[test]
#[expect(clippy::too_many_lines, reason = "a table of forms")]
fn exports_of_apps_oscilloscopes_and_labview_are_read() {
    let ms2 = |n: usize| 9.806_65 * g(n);
    let phone = table(
        "\"Time (s)\",\"X (m/s^2)\",\"Y (m/s^2)\",\"Absolute acceleration (m/s^2)\"\n",
        |n| format!("{:.9E},{:.9E},{:.9E},{:.9E}", s(n), ms2(n), ms2(n), ms2(n).abs()),
    );
    let picoquake =
        table("# Config: data_rate = 2560.0 Hz, acc_range = 4 g\ncount,a_x,g_x\n", |n| {
            format!("{n},{:.7},{}", g(n), -249.9)
        });
    let scope = table("x-axis,1,2\nsecond,g,Volt\n", |n| {
        format!("{:+.7E},{:+.5E},-326.16003E-03", s(n), g(n))
    });
    let before_trigger = table("x-axis,1,2\nsecond,g,g\n", |n| {
        let rest = if n < 300 { ",".to_owned() } else { format!("{:.7},{:.7}", g(n), g(n)) };
        format!("{:.7},{rest}", s(n))
    });
    let source = open_content(Path::new("t.csv"), before_trigger.into_bytes(), &no_rate());
    assert_eq!(source.expect("reads").interpretation().expect("a file").missing_values, 600);
    let late = table("time (s),ax (g),ay (g)\n", |n| {
        let second = if n < 260 { String::new() } else { format!("{:.7}", g(n)) };
        format!("{:.7},{:.7},{second}", s(n), g(n))
    });
    let labels = table(",anno,time (s),acc (g)\n", |n| {
        let label = if n < 300 { "NAN" } else { "Sitting" };
        format!("{n},{label},{:.7},{:.7}", s(n), g(n))
    });
    let influx = table(
        "#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,double\n,result,table,_start,_time,_value\n",
        |n| {
            let us = (1e6 * s(n)).round() as u64;
            format!(",,0,2026-03-04T05:00:00Z,2026-03-04T05:06:07.{us:06}Z,{:.7}", g(n))
        },
    );
    let signal_express = table(
        "channel names:\tai0\tai1\nstart times:\t3/4/2026 05:06:07\t3/4/2026 05:06:07\n\
         dt:\t0.000390625\t0.000390625\ndata:\n",
        |n| format!("\t{:.7}\t{:.7}", g(n), g(n)),
    );
    let statements_beside = table("", |n| {
        let beside = ["Record Length,512,", "Sample Interval,3.90625e-04,s"];
        format!("{},{:.7},{:.7}", beside.get(n).unwrap_or(&",,"), s(n), g(n))
    });
    let xsens = table("// Update Rate: 2560.0Hz\nPacketCounter\tSampleTimeFine\tAcc_X\n", |n| {
        format!("{n:05}\t{}\t{:.7}", 4 * n, g(n))
    });
    let labview = table("X_Value\tvib (g)\tComment\n", |n| format!("{:.7}\t{:.7}", s(n), g(n)));
    let toolbox = table("time,gFx,gFy,gFTotal\n", |n| {
        format!("{:.7},{:.7},{:.7},{:.7}", s(n), g(n), g(n), 2.0 * g(n).abs())
    });
    let decided_rate = options(|o| o.prefer = Some(Preferred::Option));
    let fallen_clock = table("NodeTimestamp,ax\n", |n| format!("{}.5,{:.7}", (n * 7) % 400, g(n)));
    for (name, text, options, channels) in [
        ("phone app", phone, no_rate(), 2),
        ("heading before the rate", picoquake, no_rate(), 1),
        ("oscilloscope", scope, no_rate(), 1),
        ("labels of a part", labels, no_rate(), 1),
        ("name for remarks", labview, no_rate(), 1),
        ("InfluxDB", influx, no_rate(), 1),
        ("SignalExpress", signal_express, no_rate(), 2),
        ("xsens", xsens, no_rate(), 1),
        ("statements beside the first samples", statements_beside, no_rate(), 1),
        ("g-force of an app", toolbox, no_rate(), 2),
        ("clock that falls back", fallen_clock, decided_rate, 1),
    ] {
        assert_read(name, text.as_bytes(), &options, channels);
    }
    let source = open_content(Path::new("t.csv"), late.into_bytes(), &no_rate()).expect("reads");
    assert_eq!(source.interpretation().expect("a file").missing_values, 260);
}

/// Texts that would be read wrongly are refused: series one below the other, volts that a line
/// above states.
#[test]
fn stacked_series_and_volts_of_an_oscilloscope_are_refused() {
    let stacked = table("_time,_value,_field\n", |n| {
        let us = (1e6 * s(n % 256)).round() as u64;
        format!("2026-03-04T05:06:07.{us:06}Z,{:.7},{}", g(n), if n < 256 { "ax" } else { "ay" })
    });
    let error = read_table(stacked.as_bytes(), &no_rate()).expect_err("two series");
    assert!(error.contains("\"_field\"") && error.contains("(ax, ay)"), "{error}");
    let volts =
        table("Model,MSO24\nVertical Units,V,\nTIME,CH1\n", |n| format!("{:.7},{:.7}", s(n), g(n)));
    let error = read_table(volts.as_bytes(), &no_rate()).expect_err("volts");
    assert!(error.contains("--sensitivity"), "{error}");
}

/// Gravity, and the name of a sensor's file, speak against g where nothing states a unit.
#[test]
fn what_speaks_against_g_is_refused_with_the_unit_that_it_speaks_for() {
    let three = |gravity: f64| {
        table("time,x,y,z\n", move |n| {
            let (wave, time) = (gravity * g(n), s(n));
            format!("{time:.7},{wave:.5},{:.5},{:.5}", wave - 0.6 * gravity, wave + 0.8 * gravity)
        })
    };
    for (gravity, option) in [(9.81, "--unit m/s2"), (1000.0, "--scale 0.001")] {
        let error = read_table(three(gravity).as_bytes(), &no_rate()).expect_err("another unit");
        assert!(error.contains(option), "{error}");
    }
    assert!(read_table(three(1.0).as_bytes(), &no_rate()).is_ok(), "1 g is gravity in g");
    let stated = options(|o| {
        let unit = Some(AccelUnit::MetrePerSecondSquared);
        o.calibrations = vec![Calibration::stated(unit, None, 0.0).expect("valid")];
    });
    assert!(read_table(three(9.81).as_bytes(), &stated).is_ok());
    let open = |name: &str, header: &str| {
        let text = table(header, |n| format!("{:.7},{:.5}", s(n), g(n)));
        open_content(Path::new(name), text.into_bytes(), &no_rate()).map_err(|e| e.to_string())
    };
    for name in ["Gyroscope.csv", "Magnetometer raw data.csv"] {
        let error = open(name, "time,x\n").err().expect("another sensor");
        assert!(error.contains("the name of the file says"), "{error}");
        assert!(open(name, "time,acc\n").is_ok(), "a column says acceleration");
    }
    assert!(open("pump_location_2.csv", "time,x\n").is_ok());
    for header in ["time (s),Height (m)\n", "time (s),X (mGa)\n", "time (s),Flow (gpm)\n"] {
        let error = open("a.csv", header).err().expect("another quantity");
        assert!(error.contains("--variable"), "{header}: {error}");
    }
}

/// Loggers write rows of separators between sessions.
#[test]
fn empty_rows_between_times_are_left_out_and_told() {
    let text = table("date,ax (g)\n", |n| {
        let gap = if n == 300 { ",\n" } else { "" };
        let ms = n as f64 * 1000.0 / 250.0;
        format!("{gap}2026-03-04 05:06:{:06.3},{:.7}", ms / 1000.0, g(n))
    });
    let source = open_content(Path::new("t.csv"), text.into_bytes(), &no_rate()).expect("reads");
    let input = source.interpretation().expect("a file");
    assert_eq!((input.missing_values, input.gaps), (0, 0));
    assert!(input.to_string().contains("1 empty row was left out"), "{input}");
}
