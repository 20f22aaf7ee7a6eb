//! Claims about MATLAB level 5 files, built element by element.

use std::io::{Cursor, Write};

use ndarray::Array2;
use proptest::prelude::*;

use super::super::NumberEncoding;
use super::*;

fn element(kind: u32, content: &[u8]) -> Vec<u8> {
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend(u32::try_from(content.len()).expect("short").to_le_bytes());
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

fn matrix(class: u32, rows: i32, columns: i32, name: &str, rest: &[u8]) -> Vec<u8> {
    let mut flags = class.to_le_bytes().to_vec();
    flags.extend([0; 4]);
    let mut content = element(6, &flags);
    content.extend(element(5, &[rows.to_le_bytes(), columns.to_le_bytes()].concat()));
    content.extend(element(1, name.as_bytes()));
    content.extend(rest);
    element(14, &content)
}

fn doubles(name: &str, rows: i32, numbers: &[f64]) -> Vec<u8> {
    let raw: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    let columns = i32::try_from(numbers.len()).expect("short") / rows;
    matrix(6, rows, columns, name, &element(9, &raw))
}

/// A struct `bearing` with the fields `sr` and `gs`, as MFPT has it.
fn a_struct() -> Vec<u8> {
    let mut rest = element(5, &8i32.to_le_bytes());
    rest.extend(element(1, b"sr\0\0\0\0\0\0gs\0\0\0\0\0\0"));
    rest.extend(doubles("", 1, &[48_828.0]));
    rest.extend(doubles("", 4, &[1.0, 2.0, 3.0, 4.0]));
    matrix(2, 1, 1, "bearing", &rest)
}

fn file(elements: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"MATLAB 5.0 MAT-file, by hand".to_vec();
    bytes.resize(124, b' ');
    bytes.extend([0x00, 0x01, b'I', b'M']);
    bytes.extend(elements.concat());
    bytes
}

fn compressed(element: &[u8]) -> Vec<u8> {
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    zlib.write_all(element).expect("memory");
    let content = zlib.finish().expect("memory");
    let mut bytes = 15u32.to_le_bytes().to_vec();
    bytes.extend(u32::try_from(content.len()).expect("short").to_le_bytes());
    bytes.extend(content);
    bytes
}

fn read(bytes: Vec<u8>, variable: Option<&str>) -> Result<(Array2<f64>, Option<f64>), SourceError> {
    let mut raw = open(Path::new("t.mat"), Cursor::new(bytes), variable)?;
    let data = raw.reader.next_snapshot()?.expect("one snapshot");
    Ok((data, raw.stated_rate_hz))
}

fn text(name: &str, text: &str) -> Vec<u8> {
    let raw: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let columns = i32::try_from(text.encode_utf16().count()).expect("short");
    matrix(4, 1, columns, name, &element(4, &raw))
}

/// A struct of several elements: each with its fields in the order of the names.
fn structs(name: &str, elements: i32, names: &[&str], fields: &[Vec<u8>]) -> Vec<u8> {
    let mut rest = element(5, &32i32.to_le_bytes());
    let padded = names.iter().flat_map(|name| {
        let mut raw = name.as_bytes().to_vec();
        raw.resize(32, 0);
        raw
    });
    rest.extend(element(1, &padded.collect::<Vec<u8>>()));
    rest.extend(fields.concat());
    matrix(2, 1, elements, name, &rest)
}

fn stated(bytes: Vec<u8>) -> RawRecording {
    open(Path::new("t.mat"), Cursor::new(bytes), None).expect("valid")
}

fn names(recording: &RawRecording) -> Vec<&str> {
    recording.channels.iter().map(|channel| channel.name.as_deref().unwrap_or("")).collect()
}

#[test]
fn a_short_list_beside_a_vector_is_no_candidate() {
    let long: Vec<f64> = (0..32).map(|n| f64::from(n % 3)).collect();
    let bytes = file(&[doubles("a", 1, &[9.0, 8.0]), doubles("b", 32, &long)]);
    assert_eq!(names(&stated(bytes)), ["b"]);
}

/// Issue 32, point 3: never the longest vector, first of equals.
#[test]
fn equally_long_vectors_are_channels_with_their_names() {
    let bytes = file(&[doubles("current", 2, &[2.0, 1.0]), doubles("acc", 2, &[4.0, 3.0])]);
    let recording = stated(bytes.clone());
    assert_eq!(names(&recording), ["current", "acc"]);
    assert_eq!(read(bytes, Some("acc")).expect("valid").0, ndarray::arr2(&[[4.0, 3.0]]));
}

#[test]
fn vectors_of_different_length_are_refused_with_their_names() {
    let bytes = file(&[doubles("a", 3, &[3.0, 2.0, 5.0]), doubles("b", 2, &[2.0, 1.0])]);
    let error = read(bytes, None).expect_err("ambiguous").to_string();
    assert!(
        error.contains("a, 3 numbers; b, 2 numbers") && error.contains("--variable"),
        "{error}"
    );
    let bytes = file(&[doubles("a", 3, &[3.0, 2.0, 5.0]), doubles("acc_x", 2, &[2.0, 1.0])]);
    assert_eq!(names(&stated(bytes)), ["acc_x"]);
}

/// The form of a public bearing set: an array of structs, the motor's current before the vibration.
#[test]
fn the_names_of_an_array_of_structs_are_those_of_its_fields() {
    let fields = [
        text("", "phase_current_1"),
        doubles("", 1, &[0.0, 0.1, 0.0]),
        text("", "vibration_1"),
        doubles("", 1, &[0.5, -0.5, 0.5]),
    ];
    let bytes = file(&[structs("Y", 2, &["Name", "Data"], &fields)]);
    let recording = stated(bytes.clone());
    assert_eq!(names(&recording), ["phase_current_1", "vibration_1"]);
    let expected = ndarray::arr2(&[[0.5, -0.5, 0.5]]);
    for name in ["vibration_1", "Y(1).Data"] {
        assert_eq!(read(bytes.clone(), Some(name)).expect("valid").0, expected, "{name}");
    }
}

/// The form of a test-lab program: increment and quantity stand in structs beside the values.
#[test]
fn increment_and_quantity_of_a_test_lab_are_rate_and_unit() {
    let of = |unit: &str, over: &str| {
        let quantity = structs("", 1, &["label"], &[text("", unit)]);
        let y =
            structs("", 1, &["values", "quantity"], &[doubles("", 3, &[1.0, 2.0, 1.0]), quantity]);
        let over = structs("", 1, &["label"], &[text("", over)]);
        let x = structs("", 1, &["increment", "quantity"], &[doubles("", 1, &[0.0005]), over]);
        let record = structs("", 1, &["name"], &[text("", "Point 1 +Z")]);
        file(&[structs("Signal", 1, &["x_values", "y_values", "function_record"], &[x, y, record])])
    };
    let recording = stated(of("m/s^2", "s"));
    assert_eq!(names(&recording), ["Point 1 +Z"]);
    assert_eq!(recording.channels[0].unit.as_deref(), Some("m/s^2"));
    assert_eq!(recording.stated_rate_hz, Some(2000.0));
    let error = read(of("m/s^2", "Hz"), None).expect_err("a spectrum").to_string();
    assert!(error.contains("spectrum"), "{error}");
}

#[test]
fn a_column_that_rises_evenly_is_time_and_gives_the_rate() {
    let times: Vec<f64> = (0..16).map(|n| f64::from(n) / 2560.0).collect();
    let acc: Vec<f64> = (0..16).map(|n| f64::from(n % 3)).collect();
    let bytes = file(&[doubles("data", 16, &[times.clone(), acc.clone()].concat())]);
    let recording = stated(bytes);
    assert_eq!((names(&recording), recording.stated_rate_hz), (vec!["data[1]"], Some(2560.0)));
    let bytes = file(&[doubles("zeit", 16, &times), doubles("a", 16, &acc)]);
    let recording = stated(bytes);
    assert_eq!((names(&recording), recording.stated_rate_hz), (vec!["a"], Some(2560.0)));
}

#[test]
fn integers_are_counts_and_columns_have_their_labels() {
    let raw: Vec<u8> = [1i16, -2, 3, 4, 5, 6].iter().flat_map(|n| n.to_le_bytes()).collect();
    let labels = [text("", "ax"), text("", "ay")].concat();
    let units = [text("", "g"), text("", "m/s^2")].concat();
    let bytes = file(&[
        matrix(10, 3, 2, "m", &element(3, &raw)),
        matrix(1, 1, 2, "labels", &labels),
        matrix(1, 1, 2, "units", &units),
    ]);
    let recording = stated(bytes);
    assert_eq!(names(&recording), ["ax", "ay"]);
    assert_eq!(recording.channels[1].unit.as_deref(), Some("m/s^2"));
    assert_eq!(recording.channels[0].encoding, NumberEncoding::Counts { bits: 16 });
}

#[test]
fn arrays_that_are_no_recording_are_refused_by_name() {
    let mut complex = doubles("z", 2, &[1.0, 2.0]);
    complex[17] |= 0x08;
    let raw: Vec<u8> = [1.0f64; 8].iter().flat_map(|n| n.to_le_bytes()).collect();
    let axes = [2i32, 2, 2].map(i32::to_le_bytes).concat();
    let cube = element(
        14,
        &[
            element(6, &[6, 0, 0, 0, 0, 0, 0, 0]),
            element(5, &axes),
            element(1, b"cube"),
            element(9, &raw),
        ]
        .concat(),
    );
    let sparse = matrix(5, 2, 2, "s", &element(5, &[0; 4]));
    for (array, name, kind) in
        [(complex, "z", "complex"), (cube, "cube", "2 × 2 × 2"), (sparse, "s", "sparse")]
    {
        for variable in [None, Some(name)] {
            let error =
                read(file(std::slice::from_ref(&array)), variable).expect_err(name).to_string();
            assert!(error.contains(name) && error.contains(kind), "{error}");
        }
    }
}

#[test]
fn a_vector_inside_a_struct_is_found_with_its_rate_compressed_or_not() {
    for element in [a_struct(), compressed(&a_struct())] {
        let bytes = file(&[element, doubles("x", 1, &[8.0])]);
        for variable in [None, Some("bearing.gs")] {
            let (data, rate) = read(bytes.clone(), variable).expect("valid");
            assert_eq!(data, ndarray::arr2(&[[1.0, 2.0, 3.0, 4.0]]));
            assert_eq!(rate, Some(48_828.0));
        }
    }
}

#[test]
fn a_cell_is_reached_by_its_number() {
    let inner = [doubles("", 2, &[1.0, 2.0]), doubles("", 2, &[3.0, 4.0])].concat();
    let bytes = file(&[matrix(1, 1, 2, "runs", &inner)]);
    assert_eq!(read(bytes, Some("runs{1}")).expect("valid").0, ndarray::arr2(&[[3.0, 4.0]]));
}

#[test]
fn the_columns_of_a_matrix_are_channels() {
    let bytes = file(&[doubles("m", 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])]);
    let expected = ndarray::arr2(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert_eq!(read(bytes, None).expect("valid").0, expected);
}

#[test]
fn an_unknown_variable_is_told_with_those_that_are_there() {
    let bytes = file(&[doubles("de", 2, &[1.0, 2.0])]);
    let error = read(bytes, Some("fe")).expect_err("unknown").to_string();
    assert_eq!(error, "t.mat: no numeric variable \"fe\"; there are de, 2 numbers");
}

#[test]
fn a_truncated_file_is_said_to_be_truncated() {
    let mut bytes = file(&[doubles("de", 3, &[1.0, 2.0, 3.0])]);
    bytes.truncate(bytes.len() - 5);
    let error = read(bytes, None).expect_err("truncated").to_string();
    assert!(error.contains("truncated"), "{error}");
}

#[test]
fn other_versions_are_told_apart() {
    let mut hdf5 = b"MATLAB 7.0 MAT-file, Platform: GLNXA64".to_vec();
    hdf5.resize(124, b' ');
    hdf5.extend([0x00, 0x02, b'I', b'M', 0, 0, 0, 0]);
    assert!(matches!(version(&hdf5, false), Version::Hdf5), "older headers say 7.0");
    let Version::Refused(why) = version(b"hello", true) else { panic!("not refused") };
    assert!(why.contains("no MAT-file"), "{why}");
    assert!(matches!(version(b"1.0,2.0\n", false), Version::Other));
    assert!(matches!(version(&file(&[]), false), Version::Five));
}

/// Nested compression would decompress a few kilobytes to gigabytes.
#[test]
fn a_compressed_element_inside_a_variable_is_refused() {
    let nested = (0..4).fold(doubles("x", 2, &[1.0, 2.0]), |inside, _| {
        compressed(&matrix(1, 1, 1, "c", &inside.repeat(64)))
    });
    let error = read(file(&[nested]), None).expect_err("nested").to_string();
    assert!(error.contains("inside a variable"), "{error}");
}

/// The name is part of the path of every element below, so a long name would be copied for each.
#[test]
fn a_name_longer_than_the_format_allows_is_refused() {
    let longest = "n".repeat(64);
    let (data, _) = read(file(&[doubles(&longest, 2, &[1.0, 2.0])]), None).expect("valid");
    assert_eq!(data.len(), 2);
    let bytes = file(&[matrix(1, 1, 1, &"n".repeat(65), &element(14, b"").repeat(1000))]);
    let error = read(bytes, None).expect_err("long").to_string();
    assert!(error.contains("a name of 65 bytes"), "{error}");
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(tail in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut bytes = file(&[]);
        bytes.extend(tail);
        let _ = read(bytes, None);
    }

    #[test]
    fn arbitrary_damage_never_panics(
        at in 128usize..400, byte in any::<u8>(), cut in 128usize..500,
        is_compressed in any::<bool>()
    ) {
        let inner = a_struct();
        let mut bytes = file(&[if is_compressed { compressed(&inner) } else { inner }]);
        if let Some(old) = bytes.get_mut(at) {
            *old = byte;
        }
        bytes.truncate(cut);
        let _ = read(bytes, None);
    }

    #[test]
    fn arbitrary_damage_inside_a_compressed_variable_never_panics(at in 0usize..250,
        byte in any::<u8>()) {
        let mut inner = a_struct();
        if let Some(old) = inner.get_mut(at) {
            *old = byte;
        }
        let _ = read(file(&[compressed(&inner)]), None);
    }
}
