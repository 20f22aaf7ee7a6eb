//! Claims about compressed files (issue 32, points 2 and 3).

use std::io::Write as _;

use ndarray::Array2;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::source::recording::raw_of;

use pdm_shared::time::Timestamp;

use super::*;

fn gzipped(content: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(content).expect("memory");
    gzip.finish().expect("memory")
}

fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        archive.start_file(*name, SimpleFileOptions::default()).expect("memory");
        archive.write_all(content).expect("memory");
    }
    archive.finish().expect("memory").into_inner()
}

fn array(descr: &str, shape: &str, content: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).expect("short").to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(content);
    bytes
}

fn floats(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn opened(name: &str, bytes: &[u8], variable: Option<&str>) -> Result<RawRecording, SourceError> {
    let options =
        RecordingOptions { variable: variable.map(str::to_owned), ..RecordingOptions::default() };
    let start = &bytes[..bytes.len().min(START_BYTES)];
    raw_of(Path::new(name), start, Box::new(Cursor::new(bytes.to_vec())), &options)
}

fn data(name: &str, bytes: &[u8]) -> Array2<f64> {
    let mut recording = opened(name, bytes, None).expect("valid");
    recording.reader.next_snapshot().expect("readable").expect("one")
}

#[test]
fn text_in_gzip_and_zip_is_the_plain_one() {
    let text = b"0.5,1.5\n-0.25,1.25\n0.75,1.75\n";
    let plain = data("t.csv", text);
    for name in ["t.csv.gz", "t.gz", "t"] {
        assert_eq!(data(name, &gzipped(text)), plain, "{name}");
    }
    let macos: &[(&str, &[u8])] = &[("run/t.csv", text), ("__MACOSX/run/._t.csv", b"x")];
    for files in [&[("t.csv", &text[..])][..], macos] {
        assert_eq!(data("t.zip", &zipped(files)), plain);
    }
}

/// Apps of phones export an archive: the recording, and what describes the phone.
#[test]
fn the_recording_of_an_archive_of_a_phone_app_is_read() {
    let text = b"0.5,1.5\n-0.25,1.25\n0.75,1.75\n";
    let phyphox: &[(&str, &[u8])] =
        &[("Raw Data.csv", text), ("meta/device.csv", b"a,b\n"), ("meta/time.csv", b"1,2\n")];
    let sensors: &[(&str, &[u8])] =
        &[("Gyroscope.csv", b"1\n2\n3\n"), ("Accelerometer.csv", text), ("Location.csv", b"x")];
    for files in [phyphox, sensors] {
        let recording = opened("t.zip", &zipped(files), None).expect("valid");
        assert_eq!(recording.left_out.len(), 2);
        assert_eq!(data("t.zip", &zipped(files)), data("t.csv", text));
    }
    let two: &[(&str, &[u8])] = &[("a.csv", text), ("b.csv", text)];
    let error = opened("t.zip", &zipped(two), None).err().expect("two recordings").to_string();
    assert!(error.contains("2 files in the archive"), "{error}");
}

#[test]
fn a_file_is_unpacked_once() {
    for twice in [gzipped(&gzipped(b"1\n2\n")), zipped(&[("a.zip", &zipped(&[("b", b"1\n2\n")]))])]
    {
        assert!(opened("t.gz", &twice, None).is_err());
    }
}

#[test]
fn arrays_of_an_archive_are_variables_with_the_texts_and_scalars_beside_them() {
    let unit: Vec<u8> = "m/s^2".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    let bytes = zipped(&[
        ("acc.npy", &array("<f8", "(3, 2)", &floats(&[0.5, 1.5, -0.25, 1.25, 0.75, 1.75]))),
        ("fs.npy", &array("<i8", "()", &2560i64.to_le_bytes())),
        ("unit.npy", &array("<U5", "()", &unit)),
        ("note.npy", &array("|O", "()", b"")),
    ]);
    let recording = opened("t.npz", &bytes, None).expect("valid");
    assert_eq!(recording.stated_rate_hz, Some(2560.0));
    assert_eq!(recording.channels[1].unit.as_deref(), Some("m/s^2"));
    let expected = ndarray::arr2(&[[0.5, -0.25, 0.75], [1.5, 1.25, 1.75]]);
    assert_eq!(data("t.npz", &bytes), expected);
    let error = opened("t.npz", &bytes, Some("b")).err().expect("unknown").to_string();
    assert!(error.contains("acc[0]"), "{error}");
}

fn whole_numbers(numbers: impl IntoIterator<Item = i64>) -> Vec<u8> {
    numbers.into_iter().flat_map(i64::to_le_bytes).collect()
}

/// 2026-03-01T10:00:00.250, whose zone NumPy does not state.
const START_MS: i64 = 1_772_359_200_250;

#[test]
fn an_array_of_datetime64_gives_rate_and_start_and_a_time_alone_the_start() {
    let wave: Vec<f64> = (0..64).map(|n| f64::from(n * 7 % 13) - 6.0).collect();
    let acc = array("<f8", "(64,)", &floats(&wave));
    for (descr, unit_ns) in [("<M8[ns]", 1), ("<M8[us]", 1000), ("<M8[50us]", 50_000)] {
        let step = 1_000_000 / unit_ns;
        let times = whole_numbers((0..64).map(|n| START_MS * 1_000_000 / unit_ns + n * step));
        let bytes = zipped(&[("t.npy", &array(descr, "(64,)", &times)), ("acc.npy", &acc)]);
        for variable in [None, Some("acc")] {
            let recording = opened("t.npz", &bytes, variable).expect("valid");
            assert_eq!(recording.channels.len(), 1, "{descr}");
            assert_eq!(recording.stated_rate_hz.map(f64::round), Some(1000.0), "{descr}");
            let ms = recording.stated_start.map(Timestamp::unix_ms);
            assert_eq!((ms, recording.is_start_local), (Some(START_MS), true), "{descr}");
            assert_eq!(recording.start_origin.as_deref(), Some("the times of t"));
        }
    }
    let alone = zipped(&[
        ("acc.npy", &acc),
        ("fs.npy", &array("<i8", "()", &2560i64.to_le_bytes())),
        ("start.npy", &array("<M8[ms]", "()", &whole_numbers([START_MS]))),
    ]);
    let recording = opened("t.npz", &alone, None).expect("valid");
    assert_eq!(recording.stated_start.map(Timestamp::unix_ms), Some(START_MS));
    assert!(recording.is_start_local && recording.start_origin.is_some());
}

/// pandas' index of durations; a log of events; NaT and big-endian numbers.
#[test]
fn durations_give_the_rate_alone_and_other_times_are_no_channels() {
    let wave: Vec<f64> = (0..64).map(|n| f64::from(n * 7 % 13) - 6.0).collect();
    let acc = array("<f8", "(64,)", &floats(&wave));
    let durations = whole_numbers((0..64).map(|n| n * 500_000));
    let durations = array("<m8[ns]", "(64,)", &durations);
    let bytes = zipped(&[("index.npy", &durations), ("acc.npy", &acc)]);
    let recording = opened("t.npz", &bytes, None).expect("valid");
    assert_eq!(recording.stated_rate_hz.map(f64::round), Some(2000.0));
    assert_eq!((recording.channels.len(), recording.stated_start), (1, None));
    let events: Vec<u8> = (0..20i64).flat_map(|n| (START_MS + n).to_be_bytes()).collect();
    let bytes = zipped(&[("events.npy", &array(">M8[ms]", "(20,)", &events)), ("acc.npy", &acc)]);
    let recording = opened("t.npz", &bytes, None).expect("valid");
    assert_eq!((recording.channels.len(), recording.stated_start), (1, None));
    let holes = whole_numbers((0..64).map(|n| if n == 5 { i64::MIN } else { START_MS + n }));
    let bytes = zipped(&[("time.npy", &array("<M8[ms]", "(64,)", &holes)), ("acc.npy", &acc)]);
    let mut source = crate::source::open_content(
        Path::new("t.npz"),
        bytes,
        &RecordingOptions {
            sample_rate: pdm_shared::units::SampleRate::new(1000.0).ok(),
            ..RecordingOptions::default()
        },
    )
    .expect("valid");
    assert_eq!(source.format().channels, 1, "times with a hole are no vibration");
    assert!(source.next_block().expect("readable").is_some());
    let short = array("<M8[ms]", "(64,)", &whole_numbers([START_MS]));
    let bytes = zipped(&[("time.npy", &short), ("acc.npy", &acc)]);
    assert!(opened("t.npz", &bytes, None).is_ok(), "the recording beside it is read");
}

#[test]
fn an_archive_of_several_files_is_refused_with_their_names() {
    let bytes = zipped(&[("a.csv", b"1\n2\n"), ("b.csv", b"1\n2\n")]);
    let error = opened("t.zip", &bytes, None).err().expect("refused").to_string();
    assert!(error.contains("a.csv, b.csv"), "{error}");
    let whole = zipped(&[("a.csv", b"1\n2\n")]);
    assert!(opened("t.zip", &whole[..whole.len() - 9], None).is_err());
}
