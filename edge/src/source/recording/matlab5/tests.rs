//! Claims about MATLAB level 5 files, built element by element.

use std::io::{Cursor, Write};

use proptest::prelude::*;

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

#[test]
fn the_longest_vector_is_the_recording() {
    let bytes = file(&[doubles("a", 1, &[9.0]), doubles("b", 3, &[1.0, 2.0, 3.0])]);
    let (data, rate) = read(bytes, None).expect("valid");
    assert_eq!((data, rate), (ndarray::arr2(&[[1.0, 2.0, 3.0]]), None));
}

#[test]
fn of_equally_long_vectors_the_first_is_the_recording() {
    let bytes = file(&[doubles("de", 2, &[2.0, 1.0]), doubles("fe", 2, &[4.0, 3.0])]);
    assert_eq!(read(bytes, None).expect("valid").0, ndarray::arr2(&[[2.0, 1.0]]));
    let bytes = file(&[doubles("time", 2, &[0.0, 0.1]), doubles("data", 2, &[4.0, 3.0])]);
    assert_eq!(read(bytes, None).expect("valid").0, ndarray::arr2(&[[4.0, 3.0]]));
}

#[test]
fn a_vector_inside_a_struct_is_found_with_its_rate_compressed_or_not() {
    for element in [a_struct(), compressed(&a_struct())] {
        let bytes = file(&[element, doubles("x", 2, &[8.0, 9.0])]);
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
    assert_eq!(error, "t.mat: no numeric variable \"fe\"; there are de (2 × 1)");
}

#[test]
fn a_truncated_file_is_said_to_be_truncated() {
    let mut bytes = file(&[doubles("de", 3, &[1.0, 2.0, 3.0])]);
    bytes.truncate(bytes.len() - 5);
    let error = read(bytes, None).expect_err("truncated").to_string();
    assert!(error.contains("truncated"), "{error}");
}

#[test]
fn other_versions_are_refused_by_name() {
    let mut hdf5 = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".to_vec();
    hdf5.resize(132, 0);
    let level_4 = [0u8, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, b'x', 0];
    for (bytes, expected) in
        [(hdf5.as_slice(), "7.3"), (&level_4, "level 4"), (b"hello", "no MAT-file")]
    {
        let Version::Refused(why) = version(bytes, true) else {
            panic!("{expected} was not refused")
        };
        assert!(why.contains(expected), "{why}");
    }
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
        at in 128usize..400, byte in any::<u8>(), cut in 128usize..500, is_compressed in any::<bool>()
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
    fn arbitrary_damage_inside_a_compressed_variable_never_panics(at in 0usize..250, byte in any::<u8>()) {
        let mut inner = a_struct();
        if let Some(old) = inner.get_mut(at) {
            *old = byte;
        }
        let _ = read(file(&[compressed(&inner)]), None);
    }
}
