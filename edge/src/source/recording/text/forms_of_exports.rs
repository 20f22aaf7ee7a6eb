//! Exports of analyzers, recorders, phones and spreadsheet programs, each made here after the form
//! of a public case: what is read of it, or the words with which it is refused.

use super::super::open_content;
use super::forms::{assert_read, g, no_rate, options, read_table, s, table, usual};
use crate::source::{Calibration, Preferred};
use std::path::Path;

fn refusal(text: &str) -> String {
    match read_table(text.as_bytes(), &no_rate()) {
        Ok(read) => panic!("it is read as {read:?}:\n{}", text.lines().take(4).collect::<String>()),
        Err(error) => error,
    }
}

fn said(text: &str) -> String {
    let source = open_content(Path::new("t.csv"), text.as_bytes().to_vec(), &no_rate());
    source.expect("reads").interpretation().expect("a file").to_string()
}

/// R-EDGE-4: an analyzer prints 512 samples in four pairs of columns which follow one another.
#[test]
fn column_pairs_that_follow_one_another_are_one_recording_in_the_stated_units() {
    let head = "ANALYZER 7   WAVEFORM\n Date: 04-May-26  06:07:08     Amplitude Units:  G-s\n Time \
        Units: msec   RPM: 1800.\n\n";
    let names = "  TIME   AMPL".repeat(4);
    let rows: String = (0..128)
        .map(|row| {
            let pair =
                |at: usize| format!("  {:.3}  {:.5}", 1e3 * s(row + 128 * at), g(row + 128 * at));
            (0..4).map(pair).collect::<String>() + "\n"
        })
        .collect();
    let text = format!("{head}{names}\n{rows}");
    assert_read("pairs", text.as_bytes(), &no_rate(), 1);
    let told = said(&text);
    assert!(
        told.contains("4 pairs of columns") && told.contains("in G-s (from the file)"),
        "{told}"
    );
}

/// R-EDGE-4: the rows of a head with keys in front are no rows of samples.
#[test]
fn a_head_with_a_key_in_front_of_each_row_states_unit_and_rate() {
    let head = "\"Model \
        Name\",\"XL9\"\n\"BlockNumber\",1\n\"TraceName\",\"Acc1\",\"Acc2\"\n\"VUnit\",\"mg\",\"mg\"\n\"SampleRate\",2.56E+03,2.56E+03\n\"Date\",\"2026/05/04\",\"2026/05/04\"\n\"Time\",\"06:07:08.00\",\"06:07:08.00\"\n\n";
    let text = table(head, |n| format!("{:.5E},{:.5E},", 1e3 * g(n), 1e3 * g(n)));
    assert_read("keys in front", text.as_bytes(), &no_rate(), 2);
    assert!(said(&text).contains("Acc1, Acc2 in mg (from the file)"), "{}", said(&text));
    let blocks = refusal(&text.replace("\"BlockNumber\",1", "\"BlockNumber\",2"));
    assert!(blocks.contains("several blocks"), "{blocks}");
}

/// R-EDGE-4: rows of several measuring points one below the other are no one recording.
#[test]
fn stations_one_below_the_other_are_refused_and_told_where_the_column_is_named() {
    let text = table("time,station,acc_g\n", |n| {
        format!("{:.6},{},{:.5}", s(n), if n < 256 { "DE" } else { "NDE" }, g(n))
    });
    let error = refusal(&text);
    assert!(error.contains("\"station\"") && error.contains("\"DE\" 256 rows"), "{error}");
    let named = options(|o| {
        o.sample_rate = None;
        o.variable = Some("acc_g".to_owned());
    });
    assert_read("named", text.as_bytes(), &named, 1);
    let numbered =
        table("time,sensor_id,acc_g\n", |n| format!("{:.6},{},{:.5}", s(n), 3 + n / 300, g(n)));
    assert!(refusal(&numbered).contains("\"sensor_id\""));
    let one = table("time,station,acc_g\n", |n| format!("{:.6},DE,{:.5}", s(n), g(n)));
    assert_read("one station", one.as_bytes(), &no_rate(), 1);
    assert!(said(&one).contains("left out: station"), "{}", said(&one));
}

/// R-EDGE-4: a time that begins anew is that of another recording; a given rate does not join them.
#[test]
fn recordings_one_below_the_other_are_not_joined_by_a_given_rate() {
    let two = table("millis,acc (g)\n", |n| format!("{:.4},{:.5}", 1e3 * s(n % 300), g(n)));
    for own in [no_rate(), usual()] {
        let error = read_table(two.as_bytes(), &own).expect_err("two recordings");
        assert!(
            error.contains("begins anew in row 301") && error.contains("--prefer option"),
            "{error}"
        );
    }
    let decided = options(|o| o.prefer = Some(Preferred::Option));
    assert_read("one by decision", two.as_bytes(), &decided, 1);
    let again = table("t (s);a (g)\n", |n| {
        let head = if n == 300 { "2026-05-04T06:07:08\nt (s);a (g)\ns;g\n" } else { "" };
        format!("{head}{:.6};{:.5}", s(n % 300), g(n))
    });
    assert!(refusal(&again).contains("rows go on in line 305"), "{}", refusal(&again));
}

/// R-EDGE-4: gravity of 9.81 speaks against g in any number of axes.
#[test]
fn gravity_in_one_axis_speaks_against_g_beside_any_number_of_channels() {
    let ms2 = |n: usize| 9.806_65 * g(n);
    let six = table("t,acc1_x,acc1_y,acc1_z,acc2_x,acc2_y,acc2_z\n", |n| {
        let (x, z) = (ms2(n), ms2(n) + 9.81);
        format!("{:.6},{x:.5},{x:.5},{z:.5},{x:.5},{x:.5},{z:.5}", s(n))
    });
    assert!(refusal(&six).contains("--unit m/s2"), "{}", refusal(&six));
    let one = table("t,acc_z\n", |n| format!("{:.6},{:.5}", s(n), ms2(n) - 9.79));
    assert!(refusal(&one).contains("mean of channel 0 \"acc_z\" is -9.790"), "{}", refusal(&one));
    let upright = table("t,acc_z\n", |n| format!("{:.6},{:.5}", s(n), g(n) + 1.0));
    assert_read("1 g", upright.as_bytes(), &no_rate(), 1);
}

/// R-EDGE-4: units in the cells, and words for halves of the day in Chinese and Japanese.
#[test]
fn units_in_cells_and_asian_times_are_read() {
    let cells = table("when,pump\n", |n| format!("{:.4}ms,{:.5}m/s2", 1e3 * s(n), 9.806_65 * g(n)));
    assert_read("units in cells", cells.as_bytes(), &no_rate(), 1);
    let mixed = table("\"Time\",\"acc\"\n", |n| {
        let cell =
            if n % 2 == 0 { format!("{:.2} mg", 1e3 * g(n)) } else { format!("{:.5} g", g(n)) };
        format!("\"2026-05-04 06:07:{:09.6}\",\"{cell}\"", 1.0 + s(n))
    });
    assert!(refusal(&mixed).contains("a column has one unit"), "{}", refusal(&mixed));
    for stamp in [
        "2026/5/14 下午 6:07:",
        "2026/5/14 午後 6:07:",
        "2026年5月14日 18時07分",
        "2026-05-14 上午6:07:",
    ] {
        let end = if stamp.contains('時') { "秒" } else { "" };
        let text =
            table("Time,a (g)\n", |n| format!("{stamp}{:09.6}{end},{:.5}", 1.0 + s(n), g(n)));
        assert_read(stamp, text.as_bytes(), &no_rate(), 1);
        assert!(said(&text).contains("dated by column \"Time\""), "{stamp}: {}", said(&text));
    }
}

/// R-EDGE-4: a spreadsheet shows a time as `mm:ss.0`; it is no hour with minutes.
#[test]
fn minutes_and_seconds_of_a_spreadsheet_are_no_hours() {
    let rows: Vec<String> = (0..4000)
        .map(|n| {
            format!("00:{:04.1},{:.5}\n", (f64::from(n) / 100.0).trunc() / 10.0, g(n as usize))
        })
        .collect();
    let text = format!("Time,X (g)\n{}", rows.concat());
    let (_, rate) = read_table(text.as_bytes(), &no_rate()).expect("reads");
    assert!((rate / 1000.0 - 1.0).abs() < 0.002, "{rate}");
    let told = said(&text);
    assert!(told.contains("stands for 100 rows") && !told.contains("gap"), "{told}");
}

/// R-EDGE-4: names, units and rates in three rows; a rate in the row below its key; a sentence
/// above one column.
#[test]
fn heads_of_recorders_scopes_and_sound_programs_are_read() {
    let ms2 = |n: usize| 9.806_65 * g(n);
    let rates = table(
        "T0 = 04.05.2026 06:07:08\nZeit\tAI1_DE\tAI2_NDE\ns\tm/s²\tm/s²\n2560 Hz\t2560 Hz\t2560 \
         Hz\n",
        |n| format!("{:.6}\t{:.5}\t{:.5}", s(n), ms2(n), ms2(n)).replace('.', ","),
    );
    assert_read("a row of rates", rates.as_bytes(), &no_rate(), 2);
    let several = rates.replace("2560 Hz\t2560 Hz\t2560 Hz", "2560 Hz\t2560 Hz\t1280 Hz");
    assert!(refusal(&several).contains("several rates"), "{}", refusal(&several));
    let scope = table("X,CH1,Start,Increment,\nSequence,g,-5.0e-01,3.90625e-04\n", |n| {
        format!("{n},{:.5},,", g(n))
    });
    assert_read("a rate below its key", scope.as_bytes(), &no_rate(), 1);
    let sound = table(
        "fan.wav   1 channel (mono)\nSample Rate: 2560 Hz. Sample values on linear scale.\nLength \
         processed: 512 samples 0.20000 seconds.\n\n",
        |n| format!("{:.5}", g(n)),
    );
    assert!(refusal(&sound).contains("linear scale"), "{}", refusal(&sound));
    let scaled = options(|o| {
        o.sample_rate = None;
        o.calibrations = vec![Calibration::stated(None, Some(1.0), 0.0).expect("valid")];
    });
    assert_read("sound with a scale", sound.as_bytes(), &scaled, 1);
    for head in ["Einheit;m/s²\nAbtastrate;2560 Hz\nA\n", "单位：m/s²\n采样频率：2560 Hz\nA\n"]
    {
        let text = table(head, |n| format!("{:.5}", ms2(n)));
        assert_read("a channel named A", text.as_bytes(), &no_rate(), 1);
        assert!(said(&text).contains("1 channel A in m/s²"), "{}", said(&text));
    }
}

/// R-EDGE-4: the time of an acceleration is no acceleration; intervals in another rate than the
/// chip's are refused.
#[test]
fn times_of_sensors_and_intervals_are_no_samples() {
    let phone = table(
        "loggingTime(txt),accelerometerTimestamp_sinceReboot(s),accelerometerAccelerationX(G)\n",
        |n| format!("2026-05-04T06:07:{:09.6}+09:00,{:.6},{:.5}", 1.0 + s(n), 8000.0 + s(n), g(n)),
    );
    assert_read("phone", phone.as_bytes(), &no_rate(), 1);
    let interval = |n: usize| {
        (1e6 * (s(n) - s(n.saturating_sub(1)))).round().max(390.0) + (n % 3) as f64 - 1.0
    };
    let stated = table("Time units: microseconds\nSample rate: 3000 Hz\nX;dt\n", |n| {
        format!("{:.5};{}", g(n), interval(n))
    });
    assert!(refusal(&stated).contains("--prefer option"), "{}", refusal(&stated));
    let open = stated.replace("Time units: microseconds\n", "");
    let error = refusal(&open);
    assert!(error.contains("in no unit (in us they are"), "{error}");
    let fitting = stated.replace("3000 Hz", "2560 Hz");
    assert_read("fitting intervals", fitting.as_bytes(), &no_rate(), 1);
}

/// Lines that speak of a rate and are not understood are shown to whoever is asked for it.
#[test]
fn lines_that_may_state_the_rate_are_shown_where_none_is_found() {
    let text = table(
        "Data file created by Logger GT9 date format d/M/yyyy at 2560 Hz Filter Normal\nx,y\n",
        |n| format!("{:.5},{:.5}", g(n), g(n)),
    );
    let error = refusal(&text);
    assert!(
        error.contains("no sampling rate was found") && error.contains("at 2560 Hz Filter"),
        "{error}"
    );
}

/// R-EDGE-4: zeros of a reserved file are no rows, and zeros amid the rows are a loss.
#[test]
fn zero_bytes_at_the_end_are_left_out_and_amid_the_rows_refused() {
    let text = table("time,acc (g)\n", |n| format!("{:.6},{:.5}", s(n), g(n)));
    let reserved = [text.as_bytes(), &[0; 700]].concat();
    assert_read("reserved", &reserved, &no_rate(), 1);
    let (head, tail) = text.split_at(text.len() / 2);
    let lost = [head.as_bytes(), &[0; 512], tail.as_bytes()].concat();
    let error = read_table(&lost, &no_rate()).expect_err("a lost block");
    assert!(error.contains("512 zero bytes") && error.contains("line "), "{error}");
}

/// R-EDGE-4: the last line of a printer's log states the rate, and tells of samples that are
/// missing.
#[test]
fn a_last_line_states_the_rate_and_tells_of_overflows() {
    let rows = table("Sample,X,Y,Z\n", |n| format!("{n},{:.5},{:.5},{:.5}", g(n), g(n), g(n)));
    let whole = format!("{rows}Rate 2560, overflows 0\n");
    assert_read("footer", whole.as_bytes(), &no_rate(), 3);
    assert!(!said(&whole).contains("gap"), "{}", said(&whole));
    let lossy = said(&format!("{rows}Rate 2560, overflows 3\n"));
    assert!(lossy.contains("3 gaps") && lossy.contains("tells of overflows"), "{lossy}");
    let failed = format!("{rows}Failed to collect data from accelerometer\n");
    let source = open_content(Path::new("t.csv"), failed.into_bytes(), &usual()).expect("reads");
    let told = source.interpretation().expect("a file").to_string();
    assert!(told.contains("tells of a failure"), "{told}");
}

/// R-EDGE-4: whole seconds and the rest of a second in two columns are one time; headings of
/// sections are no names.
#[test]
fn seconds_in_two_columns_sections_and_units_behind_values_are_read() {
    let two = table("sec,nsec,x_g\n", |n| {
        let at = 0.95 + s(n);
        format!("{:.0},{:.0},{:.5}", 7.0 + at.floor(), 1e9 * at.fract(), g(n))
    });
    assert_read("sec and nsec", two.as_bytes(), &no_rate(), 1);
    let sections = table(
        "[General]\nMachine=P7\n[Data]\nX_Unit=s\nY_Unit=m/s²\nX_Delta=0.000390625\n[Values]\n",
        |n| format!("{:.5}", 9.806_65 * g(n)),
    );
    assert_read("sections", sections.as_bytes(), &no_rate(), 1);
    let behind =
        table("", |n| format!("X: {:.5} \tY: {:.5} \tm/s^2", 9.806_65 * g(n), 9.806_65 * g(n)));
    assert_read("a unit behind the values", behind.as_bytes(), &usual(), 2);
    let app = table("time,seconds_elapsed,z,y,x\n", |n| {
        format!(
            "{},{:.6},{:.5},{:.5},{:.5}",
            1_780_000_000_000_000_000u64 + (1e9 * s(n)) as u64,
            s(n),
            g(n),
            g(n),
            g(n)
        )
    });
    assert!(refusal(&app).contains("Sensor Logger"), "{}", refusal(&app));
}

/// R-EDGE-4: a rate of a converter that leaves samples out, or of all channels together, is not the
/// rate of the rows.
#[test]
fn a_rate_of_other_samples_than_the_rows_is_asked_for() {
    for head in [
        "ADC sample rate: 51200 Hz\nDecimation: 20\nacc_g\n",
        "Total sample rate: 5120 Hz\nChannels: 2\nacc_g\n",
        "Summenabtastrate: 5120 Hz\nacc_g\n",
    ] {
        let text = table(head, |n| format!("{:.5}", g(n)));
        let error = refusal(&text);
        assert!(error.contains("which rate the rows have is open"), "{error}");
        let decided = options(|o| o.prefer = Some(Preferred::Option));
        assert_read(head, text.as_bytes(), &decided, 1);
    }
    let plain = table("sample rate: 2560 Hz\nDecimation: 1\nacc_g\n", |n| format!("{:.5}", g(n)));
    assert_read("no decimation", plain.as_bytes(), &no_rate(), 1);
}

/// R-EDGE-4: the part of a second behind a comma, a unit of the X axis above the names, a unit in
/// the file's name.
#[test]
fn commas_of_clocks_units_of_the_x_axis_and_of_file_names_count() {
    let logged = table("", |n| {
        let at = 0.9 + s(n);
        format!(
            "2026-05-14 06:07:{:02.0},{:03.0},{:.5}",
            at.floor(),
            (1e3 * at.fract()).floor(),
            g(n)
        )
    });
    let (rms, rate) = read_table(logged.as_bytes(), &no_rate()).expect("reads");
    assert!(rms.len() == 1 && (rate / 2560.0 - 1.0).abs() < 0.02, "{rms:?} {rate}");
    let axes = table(
        "Waveform Type,Direct\nY-Axis Unit,m/s2\nX-Axis Unit,ms\n\nX-Axis Value,Y-Axis Value\n",
        |n| format!("{:.5},{:.5}", 1e3 * s(n), 9.806_65 * g(n)),
    );
    assert_read("units of axes", axes.as_bytes(), &no_rate(), 1);
    let plain = table("", |n| format!("{:.5}", g(n)));
    for (name, is_read) in
        [("run_m_s2_07.csv", false), ("pump mm_s2.csv", false), ("run_7_g.csv", true)]
    {
        let opened = open_content(Path::new(name), plain.clone().into_bytes(), &usual());
        assert_eq!(opened.is_ok(), is_read, "{name}");
    }
}
