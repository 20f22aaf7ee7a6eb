//! The content decides the format, not the name; any bytes are read or refused, never a panic.

use pdm_shared::units::SampleRate;
use proptest::prelude::*;

use super::*;

fn options(sample_rate: f64) -> RecordingOptions {
    let g = Calibration::new(super::super::AccelUnit::G, 1.0, 0.0).expect("valid");
    RecordingOptions {
        sample_rate: SampleRate::new(sample_rate).ok(),
        calibrations: vec![g],
        ..Default::default()
    }
}

fn refused(name: &str, content: &[u8], options: &RecordingOptions) -> String {
    let opened = open_content(Path::new(name), content.to_vec(), options);
    opened.err().expect("refused").to_string()
}

/// An array of NumPy with f32 or f64 numbers, of one snapshot or several.
fn array(shape: &str, numbers: &[f64]) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    bytes
}

/// Loggers write -9999 and 1e30 into arrays as well as into tables.
#[test]
fn a_mark_for_no_value_in_an_array_is_no_sample_and_is_told() {
    let mut numbers: Vec<f64> = (0..400).map(|n| (f64::from(n) * 0.7).sin()).collect();
    for at in [3, 77, 311] {
        numbers[at] = -9999.0;
    }
    for shape in ["(400,)", "(2, 1, 200)"] {
        let content = array(shape, &numbers);
        let mut read = open_content(Path::new("a.npy"), content, &options(1000.0)).expect("opens");
        let (mut missing, mut told) = (0, String::new());
        while let Some(block) = read.next_block().expect("reads") {
            missing += block.accel_m_s2.iter().filter(|sample| sample.is_nan()).count();
            told.push_str(&block.input.expect("described").to_string());
        }
        assert_eq!(missing, 3, "{shape}");
        assert!(told.contains("-9999") && told.contains("no value"), "{shape}: {told}");
    }
}

/// The zone of a column of times decides when it was recorded, and the line says which it was.
#[test]
fn a_time_column_without_a_zone_is_read_in_the_zone_of_the_options() {
    let column = |end: &str| -> Vec<u8> {
        let row = |n: u32| format!("2026-03-01 08:00:00.{n:03}{end},{}.5\n", n % 3);
        ("time,acc_g\n".to_owned() + &(0..80).map(row).collect::<String>()).into_bytes()
    };
    let read = |content: Vec<u8>, zone: &str| {
        let zone = zone.parse().expect("a zone");
        let options = RecordingOptions { zone, ..RecordingOptions::default() };
        let mut source = open_content(Path::new("t.csv"), content, &options).expect("opens");
        let block = source.next_block().expect("reads").expect("one");
        let line = block.input.expect("described").to_string();
        (block.started_at.expect("dated").to_string(), line)
    };
    for (end, zone, at, is_told) in [
        ("", "Asia/Seoul", "2026-02-28T23:00:00.000Z", true),
        ("", "UTC", "2026-03-01T08:00:00.000Z", true),
        ("", "-05:00", "2026-03-01T13:00:00.000Z", true),
        ("Z", "Asia/Seoul", "2026-03-01T08:00:00.000Z", false),
        ("+02:00", "Asia/Seoul", "2026-03-01T06:00:00.000Z", false),
    ] {
        let (got, line) = read(column(end), zone);
        assert_eq!(got, at, "{end} {zone}: {line}");
        assert_eq!(line.contains("times without a zone are read in"), is_told, "{line}");
    }
    let twice = String::from_utf8(column("")).expect("text").replace("03-01 08", "10-25 02");
    let (_, line) = read(twice.into_bytes(), "Europe/Berlin");
    assert!(line.contains("its hour is repeated"), "{line}");
    let later = String::from_utf8(column("")).expect("text").replace("2026", "2096");
    let (_, line) = read(later.into_bytes(), "UTC");
    assert!(line.contains("ahead of this machine's clock"), "{line}");
}

#[test]
fn a_name_that_lies_is_told_instead_of_read_as_noise() {
    let text = b"1;2\n3;4\n5;6\n";
    assert!(refused("a.npy", text, &options(10.0)).contains("no NumPy array"));
    assert!(refused("a.wav", text, &options(10.0)).contains("no WAV file"));
    assert!(refused("a.npy.gz", text, &options(10.0)).contains("no gzip file"));
    assert!(refused("a.mat", text, &options(10.0)).contains("no MAT-file"));
    assert!(refused("a.sensor", b"\x00\x01\x02", &options(10.0)).contains("allowed are WAV"));
}

#[test]
fn seconds_are_cut_and_channels_chosen_in_their_order() {
    let text = b"1;2\n3;4\n5;6\n7;8\n";
    let chosen = RecordingOptions {
        channels: vec![1, 0],
        calibrations: vec![
            Calibration::new(super::super::AccelUnit::MetrePerSecondSquared, 1.0, 0.0)
                .expect("valid"),
        ],
        start_s: 0.1,
        duration_s: Some(0.2),
        ..options(10.0)
    };
    let mut source = open_content(Path::new("a.csv"), text.to_vec(), &chosen).expect("valid");
    let block = source.next_block().expect("readable").expect("one");
    assert_eq!(block.accel_m_s2, ndarray::arr2(&[[4.0, 6.0], [3.0, 5.0]]));
    assert!(source.next_block().expect("readable").is_none());
}

#[test]
fn the_time_of_a_snapshot_follows_from_the_period() {
    let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 1, 2), }";
    let mut content = b"\x93NUMPY\x01\x00".to_vec();
    content.extend(u16::try_from(header.len()).expect("short").to_le_bytes());
    content.extend(header.as_bytes());
    content.extend([1, 2, 3, 4, 5, 6]);
    let started_at = Timestamp::from_unix_ms(1000);
    let timed = RecordingOptions { started_at, period_s: Some(60.0), ..options(10.0) };
    let mut source = open_content(Path::new("a.npy"), content.clone(), &timed).expect("valid");
    source.skip_blocks(2).expect("readable");
    let block = source.next_block().expect("readable").expect("the third");
    assert_eq!(block.started_at, Timestamp::from_unix_ms(121_000));
    let third = RecordingOptions { snapshot: Some(2), ..timed };
    let mut source = open_content(Path::new("a.npy"), content, &third).expect("valid");
    assert_eq!(source.expected_blocks(), Some(1));
    let block = source.next_block().expect("readable").expect("the third");
    assert_eq!(block.started_at, Timestamp::from_unix_ms(121_000));
}

#[test]
fn options_that_do_not_fit_name_what_is_there() {
    let text = b"1;2\n3;4\n";
    let with = |change: fn(&mut RecordingOptions)| {
        let mut options = options(10.0);
        change(&mut options);
        refused("a.csv", text, &options)
    };
    assert!(with(|o| o.sample_rate = None).contains("give it in Hz"));
    assert!(with(|o| o.channels = vec![2]).contains("the file has 2 channels"));
    assert!(with(|o| o.snapshot = Some(1)).contains("the file has 1 snapshot"));
    assert!(with(|o| o.start_s = f64::NAN).contains("outside the recording"));
    assert!(with(|o| o.duration_s = Some(-1.0)).contains("must be above 0"));
    assert!(with(|o| o.calibrations = vec![Calibration::default(); 3]).contains("3 calibrations"));
}

#[test]
fn a_sequence_is_one_source_and_its_files_are_alike() {
    let folder = tempfile::tempdir().expect("folder");
    for (name, content) in [("b", "1 2\n3 4\n"), ("a", "5 6\n7 9\n"), (".hidden", "x")] {
        std::fs::write(folder.path().join(name), content).expect("written");
    }
    let folder_path = folder.path().to_owned();
    let mut source =
        open_sequence(std::slice::from_ref(&folder_path), &options(10.0)).expect("valid");
    for first in [5.0, 1.0] {
        let block = source.next_block().expect("readable").expect("there");
        assert!((block.accel_m_s2[[0, 0]] / 9.806_65 - first).abs() < 1e-9);
    }
    assert!(source.next_block().expect("readable").is_none());
    std::fs::write(folder.path().join("c"), "1\n2\n").expect("written");
    let named = ["a", "b", "c"].map(|name| folder_path.join(name));
    let mut source = open_sequence(&named, &options(10.0)).expect("valid");
    assert_eq!(source.skip_blocks(2).expect("readable"), 2);
    let error = source.next_block().expect_err("another form").to_string();
    assert!(error.contains("the files before it have"), "{error}");
    let mut source = open_sequence(&[folder_path], &options(10.0)).expect("valid");
    assert_eq!(source.skip_blocks(9).expect("the third is set aside"), 2);
}

/// Issue 32: what is left out does not move what comes after it.
#[test]
fn a_file_that_is_set_aside_keeps_its_place_in_time() {
    let folder = tempfile::tempdir().expect("folder");
    for (name, content) in [("1", "1 2\n3 4\n"), ("2", "words\n"), ("3", "5 6\n7 9\n")] {
        std::fs::write(folder.path().join(name), content).expect("written");
    }
    let start = pdm_shared::time::Timestamp::parse("2026-03-01T00:00:00Z").expect("a time");
    let options =
        RecordingOptions { started_at: Some(start), period_s: Some(60.0), ..options(10.0) };
    let mut source = open_sequence(&[folder.path().to_owned()], &options).expect("valid");
    assert_eq!(source.expected_blocks(), Some(3));
    let mut at = Vec::new();
    while let Some(block) = source.next_block().expect("readable") {
        at.push(block.started_at.expect("dated").seconds_since(start));
    }
    assert_eq!(at, [0.0, 120.0]);
}

#[test]
fn a_bad_file_of_a_folder_is_set_aside_and_one_that_is_named_is_an_error() {
    let folder = tempfile::tempdir().expect("folder");
    let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (4294967296,), }";
    let mut huge = b"\x93NUMPY\x01\x00".to_vec();
    huge.extend(u16::try_from(header.len()).expect("short").to_le_bytes());
    huge.extend(header.as_bytes());
    for (name, content) in [
        ("a-empty", &b""[..]),
        ("b-huge.npy", &huge),
        ("c-good", b"5\n6\n"),
        ("d-short.wav", b"RIFF\x00"),
        ("e-good", b"7\n9\n"),
        ("f-huge.npy", &huge),
    ] {
        std::fs::write(folder.path().join(name), content).expect("written");
    }
    let all = [folder.path().to_owned()];
    let mut source = open_sequence(&all, &options(10.0)).expect("a readable file is there");
    assert_eq!(source.skip_blocks(9).expect("to the end"), 2);
    for name in ["a-empty", "b-huge.npy", "d-short.wav"] {
        let named = [folder.path().join(name), folder.path().join("c-good")];
        let read = open_sequence(&named, &options(10.0)).and_then(|mut all| all.skip_blocks(9));
        assert!(read.expect_err(name).to_string().contains(name), "{name}");
    }
    std::fs::remove_file(folder.path().join("c-good")).expect("removed");
    std::fs::remove_file(folder.path().join("e-good")).expect("removed");
    let read = open_sequence(&all, &options(10.0)).and_then(|mut all| all.skip_blocks(9));
    assert!(read.as_ref().map_or(true, |blocks| *blocks == 0), "{read:?}");
}

proptest! {
    /// Any bytes under any name: read or refused, never a panic.
    #[test]
    fn any_content_is_read_or_refused(
        start in prop_oneof![
            Just(vec![]), Just(npy::MAGIC.to_vec()), Just(b"RIFF".to_vec()), Just(vec![0x1f, 0x8b])
        ],
        tail in proptest::collection::vec(any::<u8>(), 0..300),
        name in prop_oneof![Just("a.npy"), Just("a.npy.gz"), Just("a.mat"), Just("a.wav"),
            Just("a")]
    ) {
        let content = [start, tail].concat();
        if let Ok(mut source) = open_content(Path::new(name), content, &options(1000.0)) {
            while let Ok(Some(_)) = source.next_block() {}
        }
    }
}
