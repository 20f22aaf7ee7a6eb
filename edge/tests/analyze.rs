//! R-EDGE-4, R-EDGE-11. `pdm-edge analyze` as people and scripts call it, on real recordings.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pdm_harness::data_dir;
use pdm_shared::event::{Event, QualityFlag};
use pdm_shared::fault::Fault;

const NICE: [&str; 4] = ["--rpm", "1500", "--bearing", "NICE"];

fn edge(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pdm-edge"))
        .arg("analyze")
        .args(arguments)
        .output()
        .expect("the program starts")
}

fn events(output: &Output) -> Vec<Event> {
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| {
            let event: Event = serde_json::from_str(line).expect("an event of the contract");
            event.check().expect("a well-formed event");
            event
        })
        .collect()
}

/// The events of the recordings in a list; all must be readable.
fn listed(rows: &str) -> Vec<Event> {
    let folder = tempfile::tempdir().expect("folder");
    let list = folder.path().join("list.csv");
    std::fs::write(&list, rows).expect("written");
    let output = edge(&["--json", "--list", list.to_str().expect("text")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    events(&output)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn every_mfpt_fault_is_named() {
    let Some(data) = data_dir("every_mfpt_fault_is_named") else { return };
    let mut rows = "file,rpm,bearing\n".to_owned();
    for part in ["Inner", "Outer"] {
        for n in 1..=5 {
            let file = data.join(format!("mfpt/{part}RaceFault_vload_{n}.mat"));
            writeln!(rows, "{},1500,NICE", text(&file)).expect("memory");
        }
    }
    for (index, event) in listed(&rows).iter().enumerate() {
        let expected = if index < 5 { Fault::InnerRace } else { Fault::OuterRace };
        let found = &event.frequency_domain;
        assert_eq!(found.dominant_fault, Some(expected), "{}", event.equipment_id);
        assert!((event.window.sampling_rate_hz - 48_828.0).abs() < 1e-9);
    }
}

#[test]
fn cwru_105_130_and_209_are_named_and_the_normal_recording_is_not() {
    let test = "cwru_105_130_and_209_are_named_and_the_normal_recording_is_not";
    let Some(data) = data_dir(test) else { return };
    let mut rows = "file,channel,scale,rate,rpm,bearing\n".to_owned();
    for (file, channel, rate, bearing) in [
        ("cwru/12k_Drive_End_IR007_0_105.npy", 0, 12_000, "6205"),
        ("cwru/12k_Drive_End_OR007@6_0_130.npy", 0, 12_000, "6205"),
        ("cwru/12k_Drive_End_IR021_0_209.npy", 0, 12_000, "6205"),
        ("cwru/normal_0_97_part1.npy", 0, 48_000, "6205"),
        ("cwru/normal_0_97_part1.npy", 1, 48_000, "6203"),
    ] {
        let file = data.join(file);
        writeln!(rows, "{},{channel},0.0001,{rate},1797,{bearing}", text(&file)).expect("memory");
    }
    let found: Vec<Option<Fault>> =
        listed(&rows).iter().map(|event| event.frequency_domain.dominant_fault).collect();
    let inner = Some(Fault::InnerRace);
    assert_eq!(found, [inner, Some(Fault::OuterRace), inner, None, None]);
}

/// A rolling element that no single record names is named by what is new since a sound record of
/// the point; a baseline that names a part itself, or that has too low a rate, is said and not
/// used.
#[test]
fn a_recording_is_judged_by_what_is_new_since_its_baseline() {
    let Some(data) = data_dir("a_recording_is_judged_by_what_is_new_since_its_baseline") else {
        return;
    };
    let path = |file: &str| text(&data.join("cwru").join(file)).to_owned();
    let (ball, race) =
        (path("12k_Drive_End_B014_2_187.npy"), path("12k_Drive_End_OR007@6_2_132.npy"));
    let normal = path("normal_0_97_part1.npy");
    let machine = ["--rpm", "1750", "--orders", "3.5848,5.4152,2.3567,0.39828", "--rate", "12000"];
    let judged = |more: &[&str]| {
        let scale = ["--scale", "0.0008", "--json"];
        edge(&[&[ball.as_str()], machine.as_slice(), &scale, more].concat())
    };
    let named = |output: &Output| {
        let event = events(output).pop().expect("one event");
        (event.frequency_domain.dominant_fault, event.frequency_domain.new_comb_db.is_some())
    };
    assert_eq!(named(&judged(&[])), (None, false));
    let against = judged(&["--baseline", &normal, "--baseline-rate", "48000"]);
    assert_eq!(named(&against), (Some(Fault::Ball), true), "{}", stderr(&against));
    let against = judged(&["--baseline", &race]);
    assert_eq!(named(&against), (None, false));
    assert!(stderr(&against).contains("stand in the baseline itself"), "{}", stderr(&against));
    let against = judged(&["--baseline", &normal, "--baseline-rate", "6000"]);
    assert_eq!(against.status.code(), Some(65));
    assert!(stderr(&against).contains("sampled at 6000 Hz"), "{}", stderr(&against));
    let output = judged(&["--baseline-rate", "48000"]);
    assert_eq!(output.status.code(), Some(64), "a rate of no baseline");
}

#[test]
fn no_healthy_snapshot_of_ims_is_named() {
    let Some(data) = data_dir("no_healthy_snapshot_of_ims_is_named") else { return };
    let mut rows = "file,channel,scale,rate,rpm,bearing\n".to_owned();
    let mut files: Vec<PathBuf> = std::fs::read_dir(data.join("ims"))
        .expect("folder")
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "npy"))
        .collect();
    files.sort();
    assert_eq!(files.len(), 18);
    for (index, file) in files.iter().enumerate() {
        // every file, and every channel once in each direction: the benchmark judges all of them
        let channel = if text(file).contains("test2") { index % 4 } else { index % 8 };
        writeln!(rows, "{},{channel},0.001,20000,2000,ZA-2115", text(file)).expect("memory");
    }
    for event in listed(&rows) {
        let found = &event.frequency_domain;
        assert!(event.signal_quality.valid, "{}", event.equipment_id);
        assert_eq!(found.dominant_fault, None, "{}: {found:?}", event.equipment_id);
    }
}

#[test]
fn a_snapshot_of_a_run_says_that_it_is_too_short_to_name_a_fault() {
    let test = "a_snapshot_of_a_run_says_that_it_is_too_short_to_name_a_fault";
    let Some(data) = data_dir(test) else { return };
    let file = data.join("femto/Bearing2_4_acc.npy.gz");
    let output = edge(&[
        text(&file),
        "--snapshot",
        "750",
        "--channel",
        "1",
        "--scale",
        "0.001",
        "--rate",
        "25600",
        "--rpm",
        "1650",
        "--bearing",
        "PRONOSTIA",
        "--json",
    ]);
    let event = &events(&output)[0];
    assert_eq!(event.signal_quality.flags, [QualityFlag::TooShort]);
    assert!(event.frequency_domain.undetermined.as_ref().is_some_and(|why| why.contains("turns")));
    // the manifest's RMS of the last five snapshots is 1.27 g
    assert!((event.time_domain.rms_g.expect("measured") - 1.27).abs() < 0.4);
}

#[test]
fn the_table_and_the_picture_show_the_verdict() {
    let Some(data) = data_dir("the_table_and_the_picture_show_the_verdict") else { return };
    let file = data.join("mfpt/OuterRaceFault_vload_5.mat");
    let folder = tempfile::tempdir().expect("folder");
    let picture = folder.path().join("a.png");
    let mut arguments = vec![text(&file), "--plot", text(&picture)];
    arguments.extend(NICE);
    let output = edge(&arguments);
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", stderr(&output));
    for expected in ["outer race fault", "BPFO (outer race)", "2×BSF", "▲"] {
        assert!(table.contains(expected), "{table}");
    }
    assert!(std::fs::read(&picture).expect("written").starts_with(b"\x89PNG"));
}

#[test]
fn three_samples_are_too_short_to_be_judged() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("short.csv");
    std::fs::write(&path, "0.1\n0.2\n0.1\n").expect("written");
    let mut arguments = vec![text(&path), "--json", "--rate", "12000"];
    arguments.extend(NICE);
    let event = &events(&edge(&arguments))[0];
    assert!(!event.signal_quality.valid);
    assert!(event.signal_quality.flags.contains(&QualityFlag::TooShort));
}

/// Writes `content` and gives exit code and message of `analyze` on it.
fn refused(name: &str, content: &[u8], arguments: &[&str]) -> (i32, String) {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("written");
    let mut all = vec![text(&path)];
    all.extend(arguments);
    let output = edge(&all);
    let told = stderr(&output);
    assert!(told.contains(name), "the message names the file: {told}");
    assert!(!told.contains("panicked"), "{told}");
    (output.status.code().expect("an exit code"), told)
}

fn npy(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).expect("short").to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

#[test]
fn bad_input_is_refused_with_a_clear_text_and_a_code_by_meaning() {
    let rate = ["--rate", "12000", "--rpm", "1500", "--bearing", "NICE"];
    let one = "{'descr': '<f4', 'fortran_order': False, 'shape': (4096,), }";
    let mut hdf5 = b"MATLAB 7.3 MAT-file".to_vec();
    hdf5.resize(600, 0);
    let cases: [(&str, Vec<u8>, i32, &str); 8] = [
        ("empty.npy", vec![], 65, "the file is empty"),
        ("cut.npy", npy(one, &[0; 99]), 65, "ends too early"),
        (
            "huge.npy",
            npy(&one.replace("4096", "99999999999999"), &[0; 99]),
            65,
            "more than 8388608 samples",
        ),
        ("text.npy", b"1,2\n3,4\n".to_vec(), 65, "no NumPy array"),
        ("new.mat", hdf5, 65, "version 7.3"),
        ("no.mat", b"hello hello hello hello".to_vec(), 65, "no MAT-file"),
        ("cut.wav", b"RIFF\x24\x00\x00\x00WAVE".to_vec(), 65, "truncated"),
        ("words.csv", b"hello\nworld\n".to_vec(), 65, "no row of numbers"),
    ];
    for (name, content, code, expected) in cases {
        let (got, told) = refused(name, &content, &rate);
        assert_eq!(got, code, "{name}: {told}");
        assert!(told.contains(expected), "{name}: {told}");
    }
}

#[test]
fn wrong_options_are_refused_with_64_and_what_is_allowed() {
    let samples: Vec<u8> = (0..8192u16).flat_map(|i| f32::from(i % 97).to_le_bytes()).collect();
    let file = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4096), }", &samples);
    let base = ["--rate", "12000", "--rpm", "1500", "--bearing", "NICE"];
    let told = |more: &[&str]| refused("a.npy", &file, &[&base, more].concat());
    for (more, expected) in [
        (["--channel", "2"], "channel 2 is not there: the file has 2 channels (counted from 0)"),
        (["--snapshot", "1"], "snapshot 1 is not there: the file has 1 snapshot"),
        (["--start-s", "9"], "start 9 s lies outside"),
        (["--duration-s", "9"], "reaches beyond the recording"),
    ] {
        let (code, text) = told(&more);
        assert!(code == 64 && text.contains(expected), "{more:?}: {code} {text}");
    }
    for arguments in [
        &["a.npy", "--rate", "0", "--rpm", "1500", "--bearing", "NICE"][..],
        &["a.npy", "--rate", "12000", "--rpm", "-5", "--bearing", "NICE"],
        &["a.npy", "--rate", "12000", "--rpm", "1500", "--bearing", "9999"],
        &["a.npy", "--rate", "12000", "--rpm", "1500", "--orders", "1,2,3"],
        &["a.npy", "--unit", "furlong"],
        &["--json"],
    ] {
        let output = edge(arguments);
        assert_eq!(output.status.code(), Some(64), "{arguments:?}: {}", stderr(&output));
    }
}

/// R-EDGE-11: a newcomer types the file alone, and learns of the file first.
#[test]
fn a_file_alone_is_told_before_the_options_that_are_missing() {
    for (name, content, code, said) in [
        ("empty.csv", &b""[..], 65, "the file is empty"),
        ("report.csv", b"%PDF-1.7\n", 65, "a PDF"),
        ("words.txt", b"to be\nor not\n", 65, "no row of numbers"),
    ] {
        let (got, told) = refused(name, content, &[]);
        assert!(got == code && told.contains(said), "{name}: {got} {told}");
        assert!(!told.contains("--rpm"), "no option mends it: {told}");
    }
    let rows = |header: &str, first: &dyn Fn(u32) -> String| {
        (0..4096).fold(header.to_owned(), |mut all, n| {
            let wave = (f64::from(n) * 0.7).sin();
            writeln!(all, "{}{wave:.6},{:.6},{:.6}", first(n), 0.5 * wave, 0.25 * wave)
                .expect("memory");
            all
        })
    };
    let no_rate = rows("left_g,right_g,top_g\n", &|_| String::new());
    let (code, told) = refused("no-rate.csv", no_rate.as_bytes(), &[]);
    assert_eq!(code, 64, "{told}");
    for said in ["(--rate)", "--rpm is missing", "--bearing ID or --orders"] {
        assert!(told.contains(said), "all in one go: {told}");
    }
    let timed = rows("t (s),left_g,right_g,top_g\n", &|n| format!("{:.6},", f64::from(n) / 2560.0));
    let (code, told) = refused("timed.csv", timed.as_bytes(), &[]);
    assert_eq!(code, 64, "{told}");
    for said in ["2560 Hz", "right_g (--channel 1), top_g (--channel 2)", "--rpm is missing"] {
        assert!(told.contains(said), "{said}: {told}");
    }
    let (code, told) = refused("wrong.csv", timed.as_bytes(), &["--rpm", "1500"]);
    assert!(code == 64 && !told.contains("--rpm is") && told.contains("--bearing ID"), "{told}");
}

/// R-EDGE-11: a copy of a recording was not measured today.
#[test]
fn the_event_is_of_the_time_that_the_content_states() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("dated.csv");
    let rows = (0..4096u32).fold("time,acc_g\n".to_owned(), |mut all, n| {
        let us = u64::from(n) * 400;
        writeln!(
            all,
            "2026-02-03 04:05:{:02}.{:06}Z,{:.6}",
            6 + us / 1_000_000,
            us % 1_000_000,
            (f64::from(n) * 0.7).sin()
        )
        .expect("memory");
        all
    });
    std::fs::write(&path, rows).expect("written");
    let mut arguments = vec![text(&path), "--json"];
    arguments.extend(NICE);
    let output = edge(&arguments);
    let all = events(&output);
    let event = all.first().expect("an event");
    let at = event.measured_at.to_string();
    assert!(at.starts_with("2026-02-03T04:05:06"), "{at}: {}", stderr(&output));
}

#[test]
fn a_missing_file_does_not_stop_the_others() {
    let folder = tempfile::tempdir().expect("folder");
    let good = folder.path().join("good.csv");
    let column: String = (0..20_000).fold(String::new(), |mut text, i| {
        writeln!(text, "{}", f64::from(i * i % 1013) / 1013.0 - 0.5).expect("memory");
        text
    });
    std::fs::write(&good, column).expect("written");
    let missing = folder.path().join("missing.csv");
    let mut arguments = vec![text(&missing), text(&good), "--json", "--rate", "12000"];
    arguments.extend(NICE);
    let output = edge(&arguments);
    assert_eq!(output.status.code(), Some(66));
    assert!(stderr(&output).contains("missing.csv: no such file"), "{}", stderr(&output));
    assert_eq!(events(&output).len(), 1);
}

#[test]
fn samples_that_are_no_numbers_are_a_quality_not_an_error() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("nan.csv");
    let rows = "0.1\n-0.1\n".repeat(3000) + "nan\n";
    std::fs::write(&path, rows).expect("written");
    let mut arguments = vec![text(&path), "--json", "--rate", "12000"];
    arguments.extend(NICE);
    let output = edge(&arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let event = &events(&output)[0];
    assert!(event.signal_quality.flags.contains(&QualityFlag::NotFinite));
    assert!(!event.signal_quality.valid && event.frequency_domain.dominant_fault.is_none());
}
