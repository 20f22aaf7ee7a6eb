//! Heads, units and times as people have them above and beside a table, each made here: what is
//! read of it, or the words with which it is refused. The signal is that of [`super::forms`]: 0.25
//! g at 2,560 Hz.

use std::path::Path;

use super::super::open_content;
use super::forms::{assert_read, g, no_rate, options, read_table, s, table, usual};
use crate::source::{AccelUnit, Calibration};

/// A table of time and value without a header, in m/s², below these lines.
fn below(lines: &str) -> String {
    table(lines, |n| format!("{:.7}\t{:.6}", s(n), 9.806_65 * g(n)))
}

fn refusal(text: &str) -> String {
    read_table(text.as_bytes(), &no_rate()).expect_err(text.lines().next().unwrap_or(""))
}

fn in_millivolts() -> crate::source::RecordingOptions {
    options(|o| {
        let unit = Some(AccelUnit::Millivolt { sensitivity_mv_per_g: 100.0 });
        o.sample_rate = None;
        o.calibrations = vec![Calibration::stated(unit, None, 0.0).expect("valid")];
    })
}

/// The line that says what was read.
fn line(text: &str, options: &crate::source::RecordingOptions) -> String {
    let source = open_content(Path::new("t.csv"), text.as_bytes().to_vec(), options);
    source.expect("reads").interpretation().expect("a file").to_string()
}

#[test]
fn a_unit_in_words_above_a_table_is_that_of_the_samples_and_not_of_the_time() {
    for lines in [
        "Ordinate unit:\tm/s²\n\n",
        "Y axis unit\tm/s^2\n",
        "# acceleration of pump 3 in m/s^2\n",
        "Units: m/s2\n",
        "% Units: t s, a m/s²\n",
        "\"Unit\",\"m/s^2\"\n",
        "# channel-id: 1    channel-id: 2\n# unit: s    unit: m/s^2\n",
        "# unit: s\tunit: m/s^2\n# name: t\tname: pump\n",
        "# time\tpump DE\n# s\tm/s^2\n",
        "#s\tm/s²\n",
        "Recorder 5\ntime unit: s\nvalue unit: m/s²\n",
        "t\tpump\nUnits\tm/s^2\n",
        "# m/s^2 are the samples\n# t, pump\n",
        "# s\tm/s^2\n# time\tpump\n",
    ] {
        let text = below(lines);
        assert_read(lines, text.as_bytes(), &no_rate(), 1);
        let said = line(&text, &no_rate());
        assert!(said.contains("(from the file)") && !said.contains("nothing states"), "{said}");
    }
    let in_g = table(
        "Number of samples: 512\nSamples per second: 2560\nUnits: g\n\nTime: Sample\n",
        |n| format!("{:.5} {:.5}", s(n), g(n)),
    );
    assert_read("a tester", in_g.as_bytes(), &no_rate(), 1);
    assert!(line(&in_g, &no_rate()).contains("in g (from the file)"));
}

#[test]
fn a_head_that_states_another_quantity_or_several_units_is_refused() {
    for (lines, word) in [
        ("Y-axis unit: mm/s\n", "velocity"),
        ("# vibration velocity in mm/s\n", "velocity"),
        ("# unit: g\n# unit: m/s^2\n", "several units (m/s^2 and g)"),
        ("Units: quux\n", "\"quux\", which is not known"),
        ("# full scale: 160 m/s²\n", "--unit"),
        ("time\tpump\ns\tquux/s\n", "no unit that is known"),
    ] {
        let error = refusal(&below(lines));
        assert!(error.contains(word), "{lines}: {error}");
    }
    let stated = options(|o| {
        let unit = Some(AccelUnit::MetrePerSecondSquared);
        o.calibrations = vec![Calibration::stated(unit, None, 0.0).expect("valid")];
    });
    assert_read("decided", below("# unit: g\n# unit: m/s^2\n").as_bytes(), &stated, 1);
    assert_read(
        "a range",
        table("# range: 16 g\n", |n| format!("{:.5}", g(n))).as_bytes(),
        &usual(),
        1,
    );
}

#[test]
fn heads_that_contradict_each_other_are_refused_with_both() {
    for (head, words) in [
        ("Time (s),Acc (g)\ns,m/s²\n", ["in g by its header", "m/s² by the row"]),
        ("Time (ms),Acc (g)\ns,g\n", ["in ms by its header", "s by the row"]),
        ("time_s,pump_mg\n(s),(g)\n", ["in mg by its header", "g by the row"]),
        ("Unit: m/s²\nTime (s),Acc (g)\n", ["in g by its header", "the unit m/s²"]),
    ] {
        let text = table(head, |n| format!("{:.7},{:.6}", s(n), g(n)));
        let error = refusal(&text);
        assert!(words.iter().all(|word| error.contains(word)), "{head}: {error}");
    }
}

#[test]
fn volts_are_volts_in_every_row_that_says_so() {
    for head in [
        "X,CH1\nSequence,Volt\n",
        "X,CH1\nSequence,VOLT\n",
        "Time(s),CH1V\n",
        "Time(s),V\n",
        "second,Channel 1 (V)\n",
        "second,volts\n",
    ] {
        let has_time = !head.contains("Sequence");
        let text = table(head, |n| {
            let first = if has_time { format!("{:.7}", s(n)) } else { n.to_string() };
            format!("{first},{:.8}", 0.1 * g(n))
        });
        let mut options = in_millivolts();
        if !has_time {
            options.sample_rate = usual().sample_rate;
        }
        assert_read(head, text.as_bytes(), &options, 1);
    }
    let in_g = table("Time(s),Acc (g)\n", |n| format!("{:.7},{:.6}", s(n), g(n)));
    let error = read_table(in_g.as_bytes(), &in_millivolts()).expect_err("the option contradicts");
    assert!(error.contains("100 mV/g"), "{error}");
}

#[test]
fn a_long_form_is_refused_with_its_column_and_copies_of_rows_are_told() {
    let long = |name: &str, channels: [&str; 2]| {
        table(&format!("time,{name},acc_g\n"), |n| {
            format!("{:.7},{},{:.6}", s(n / 2), channels[n % 2], g(n / 2))
        })
    };
    for (name, channels) in
        [("sensor", ["DE", "NDE"]), ("axis", ["x", "y"]), ("node", ["17", "23"])]
    {
        let error = refusal(&long(name, channels));
        assert!(error.contains(name) && error.contains(channels[1]), "{error}");
    }
    let stacked = table("time,place,acc_g\n", |n| {
        format!("{:.7},{},{:.6}", s(n % 256), if n < 256 { "DE" } else { "NDE" }, g(n))
    });
    assert!(refusal(&stacked).contains("NDE"));
    let twice = table("time,acc_g\n", |n| format!("{:.7},{:.6}", s(n / 2), g(n / 2)));
    assert!(refusal(&twice).contains("every row stands 2 times"));
    let some = table("time,acc_g\n", |n| {
        let row = |n: usize| format!("{:.7},{:.6}", s(n), g(n));
        if n % 100 == 50 { format!("{}\n{}", row(n), row(n)) } else { row(n) }
    });
    assert!(line(&some, &no_rate()).contains("5 rows have the time of the row before"));
    // a state beside times with few digits is no channel
    let rounded = table("time (s),state,acc (g)\n", |n| {
        format!("{:.3},{},{:.6}", s(n), if n < 300 { "ok" } else { "warm" }, g(n))
    });
    assert_read("rounded times", rounded.as_bytes(), &usual(), 1);
}

#[test]
fn day_numbers_are_days_and_no_column_gives_megahertz() {
    for (head, day, digits) in [
        ("Time,acc (g)\n", 46_082.3, 11),
        ("datenum,acc (g)\n", 740_042.3, 10),
        ("Zeit [d],acc (g)\n", 46_082.3, 11),
    ] {
        let text = table(head, |n| format!("{:.digits$},{:.6}", day + s(n) / 86_400.0, g(n)));
        assert_read(head, text.as_bytes(), &usual(), 1);
        assert!(
            read_table(text.as_bytes(), &no_rate())
                .is_ok_and(|(_, hz)| (hz / 2560.0 - 1.0).abs() < 0.02)
        );
    }
    let text = table("Time (ms),acc (g)\n", |n| format!("{:.7},{:.6}", s(n), g(n)));
    let error = refusal(&text);
    assert!(
        error.contains("2560000 Hz") && error.contains("in s they would be 2560 Hz"),
        "{error}"
    );
}

#[test]
fn numeric_times_that_step_back_are_told_as_times_in_text_are() {
    let back = |n: usize| if n < 300 { s(n) } else { s(n) - 0.05 };
    for head in ["Time (s),acc (g)\n", "time,acc (g)\n", "column,acc (g)\n", ""] {
        let text = table(head, |n| format!("{:.7},{:.6}", back(n), g(n)));
        let said = line(&text, &usual());
        assert!(said.contains("falls back once"), "{head}: {said}");
        assert_read(head, text.as_bytes(), &usual(), 1);
        assert!(refusal(&text).contains("falls back once"), "{head}");
    }
    let text =
        table("Time,acc (g)\n", |n| format!("2026-03-04 05:06:{:09.6},{:.6}", 1.0 + back(n), g(n)));
    assert!(line(&text, &usual()).contains("falls back once"));
    let named = options(|o| o.variable = Some("acc (g)".to_owned()));
    assert!(line(&text, &named).contains("falls back once"));
    let source = open_content(Path::new("t.csv"), text.into_bytes(), &usual()).expect("reads");
    assert_eq!(source.interpretation().map(|input| input.time_steps_back), Some(1));
}

#[test]
fn another_rate_further_down_is_refused() {
    let rows = table("", |n| format!("{:.6}", g(n)));
    let text = format!("# rate: 2560 Hz\nacc (g)\n{rows}# rate: 1280 Hz\n{rows}");
    let error = refusal(&text);
    assert!(error.contains("1280 Hz") && error.contains("2560 Hz"), "{error}");
}

#[test]
fn text_times_beside_an_empty_last_cell_and_statements_beside_samples_are_read() {
    let events = table(
        "\"#\",\"Date Time, GMT+01:00\",\"Accel X, g (S/N: 7)\",\"Stopped (S/N: 7)\"\n",
        |n| format!("{},03/14/26 08:00:{:09.6} AM,{:.6},", n + 1, s(n), g(n)),
    );
    let events = events
        + "513,03/14/26 08:00:09.000000 AM,,Logged\n514,03/14/26 08:00:10.000000 AM,,Logged\n";
    assert_read("events at the end", events.as_bytes(), &no_rate(), 1);
    let said = line(&events, &no_rate());
    assert!(said.contains("in g (from the file)") && said.contains("2 rows at the end"), "{said}");
    assert!(!said.contains("gaps") && !said.contains("missing"), "{said}");
    let scope = table("", |n| {
        let beside = [
            "Record Length,512,",
            "Sample Interval,3.90625e-04,",
            "Source,CH2,",
            "Vertical Units,V,",
            "Model,DPO,",
            "Firmware,v1,",
        ];
        format!("{},{:.7},{:.8},", beside.get(n).unwrap_or(&",,"), s(n), 0.1 * g(n))
    });
    assert_read("volts beside the samples", scope.as_bytes(), &in_millivolts(), 1);
    let words = table("t,acc (g)\n", |n| {
        let word = ["Offline", "1.#QNAN", "<null>", "n. def.", "Scan Timeout"][n % 5];
        if n % 64 < 5 { format!("{:.7},{word}", s(n)) } else { format!("{:.7},{:.6}", s(n), g(n)) }
    });
    assert!(line(&words, &no_rate()).contains("40 values missing"));
}

#[test]
fn a_number_above_a_column_is_no_name() {
    let text = table("Scale,0.100\nSecond,g\n", |n| format!("{:.7},{:.6}", s(n), g(n)));
    assert!(line(&text, &no_rate()).contains("1 channel in g (from the file)"));
    let axes =
        table("Time,DE\nLinear,Real\ns,m/s^2\n", |n| format!("{:.7},{:.6}", s(n), 9.806_65 * g(n)));
    assert!(line(&axes, &no_rate()).contains("1 channel DE in m/s^2"));
    let unit = below("Y-axis unit:\tm/s²\n");
    assert!(line(&unit, &no_rate()).contains("1 channel in m/s² (from the file)"));
    let rate = table("Sensor 7\nRate: 2,560 Hz\n", |n| format!("{:.5}", g(n)));
    assert_read("a rate above one column", rate.as_bytes(), &no_rate(), 1);
    let letters =
        table("a,b,c,d,e,f,g\n", |n| [g(n); 7].map(|sample| format!("{sample:.5}")).join(","));
    assert_read("letters", letters.as_bytes(), &usual(), 7);
    let gravity = table("#time,x,y,z\n", |n| {
        let wave = 9806.65 * g(n);
        format!("{:.7},{wave:.2},{:.2},{:.2}", s(n), wave - 5884.0, wave + 7845.3)
    });
    assert!(refusal(&gravity).contains("mm/s²"));
}
