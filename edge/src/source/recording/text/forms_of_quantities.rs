//! Names and units of other quantities, spectra, and lines of serial monitors, each made here. The
//! signal is that of [`super::forms`]: 0.25 g at 2,560 Hz. R-EDGE-4.

use std::path::Path;

use super::super::{RecordingOptions, open_content};
use super::forms::{assert_read, g, no_rate, options, read_table, s, table, usual};
use crate::source::Preferred;

const G: f64 = 9.806_65;

fn refusal(text: &str, options: &RecordingOptions) -> String {
    read_table(text.as_bytes(), options).expect_err(text.lines().next().unwrap_or(""))
}

#[test]
fn a_unit_that_a_name_joins_is_the_unit_of_its_numbers() {
    for (name, in_unit) in [
        ("bearing_acc_m_s2", G),
        ("Accel.Y..m.s.2.", G),
        ("lin_acc_x_m_s_2", G),
        ("vib_mm_per_s2", 1000.0 * G),
        ("acc [m/s**2]", G),
        ("\"ускорение, м/с²\"", G),
        ("acc_m_per_s2", G),
    ] {
        let text =
            table(&format!("t_s,{name}\n"), |n| format!("{:.7},{:.6}", s(n), in_unit * g(n)));
        assert_read(name, text.as_bytes(), &no_rate(), 1);
    }
}

#[test]
fn a_unit_that_is_not_known_and_another_quantity_are_never_g() {
    for (name, said) in [
        ("ball acceleration [px/s²]", "no unit that is known"),
        ("acc_px_s2", "no unit that is known"),
        ("acceleration (arb)", "no unit that is known"),
        ("vib_vel_mm_s", "velocity"),
        ("speed_mm_per_s", "velocity"),
        ("v_mms", "velocity"),
        ("vibration velocity", "velocity"),
        ("shaft disp", "displacement"),
        ("kurtosis", "a figure of many samples"),
        ("RMS", "a figure of many samples"),
        ("envelope_gE", "an envelope"),
        ("out voltage", "--sensitivity"),
        ("acc psd", "a spectrum"),
    ] {
        for named in [None, Some("1")] {
            let text = table(&format!("time (s),{name}\n"), |n| format!("{:.7},{:.6}", s(n), g(n)));
            let own = options(|o| {
                o.sample_rate = None;
                o.variable = named.map(str::to_owned);
            });
            let told = refusal(&text, &own);
            assert!(told.contains(said), "{name} {named:?}: {told}");
        }
    }
    for name in ["Acceleration (DE)", "acc (axial)", "vib_s2", "amp"] {
        let text = table(&format!("time (s),{name}\n"), |n| format!("{:.7},{:.6}", s(n), g(n)));
        assert_read(name, text.as_bytes(), &no_rate(), 1);
    }
}

#[test]
fn the_name_of_a_file_that_says_another_quantity_is_heard() {
    let text = table("", |n| format!("{:.7} {:.6}", s(n), g(n)));
    let read = |name: &str, options: &RecordingOptions| {
        let opened = open_content(Path::new(name), text.clone().into_bytes(), options);
        opened.map(|_| ()).map_err(|error| error.to_string())
    };
    for name in ["tower_velocity.txt", "rig7-displacement.dat", "panel_psd.txt"] {
        let told = read(name, &usual()).expect_err(name);
        assert!(told.contains("the name of the file says") && told.contains("--unit"), "{told}");
        let named = options(|o| o.variable = Some("1".to_owned()));
        assert!(read(name, &named).is_err(), "{name}: a column by its number states no unit");
    }
    assert!(read("tower_3.txt", &usual()).is_ok());
}

#[test]
fn a_table_over_frequency_is_refused_by_name() {
    for header in
        ["Frequency (Hz),Amplitude (g)", "freq,amp", "f,Pxx", "Order,Amplitude (g)", "주파수,진동"]
    {
        let text = table(&format!("{header}\n"), |n| format!("{},{:.6}", n as f64 * 1.25, g(n)));
        for own in [no_rate(), usual(), options(|o| o.variable = Some("1".to_owned()))] {
            let told = refusal(&text, &own);
            assert!(told.contains("this is a spectrum"), "{header}: {told}");
        }
    }
    let text = table("frequency,acc_g\n", |n| format!("{},{:.6}", n as f64 * 1.25, g(n)));
    let decided = options(|o| o.prefer = Some(Preferred::Option));
    assert_read("a drive that runs up", text.as_bytes(), &decided, 1);
    let text = table("time (s),frequency (Hz),acc_g\n", |n| {
        format!("{:.7},{},{:.6}", s(n), n as f64 * 0.1, g(n))
    });
    assert_read("beside a time", text.as_bytes(), &no_rate(), 1);
}

#[test]
fn the_first_axis_behind_the_time_of_a_serial_monitor_is_a_channel() {
    let stamp = |n: usize| {
        let us = (s(n) * 1e6).round() as u64;
        format!("11:22:{:02}.{:06}", 33 + us / 1_000_000, us % 1_000_000)
    };
    let three = |n: usize| format!("{:.6},{:.6},{:.6}", g(n), g(n), g(n));
    for (what, text) in [
        ("Arduino", table("", |n| format!("{} -> {}", stamp(n), three(n)))),
        ("brackets", table("", |n| format!("[{}] {}", stamp(n), three(n).replace(',', "\t")))),
        ("CoolTerm", table("", |n| format!("2026-02-03 {} {}", stamp(n), three(n)))),
    ] {
        assert_read(what, text.as_bytes(), &no_rate(), 3);
    }
}

#[test]
fn stamps_of_a_data_frame_give_the_rate() {
    let text = table("time,acc_g\n", |n| format!("0 days 00:00:{:09.6},{:.6}", s(n), g(n)));
    assert_read("durations", text.as_bytes(), &no_rate(), 1);
}
