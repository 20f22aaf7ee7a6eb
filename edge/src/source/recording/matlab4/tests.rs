//! Files of MATLAB level 4, right, cut off and drawn at random.

use proptest::prelude::*;

use super::*;

/// A matrix as MATLAB writes it, in the byte order that its type states.
fn matrix(
    name: &str,
    kind: u32,
    (rows, columns): (u32, u32),
    is_complex: u32,
    numbers: &[u8],
) -> Vec<u8> {
    let mut raw = Vec::new();
    for part in [kind, rows, columns, is_complex, name.len() as u32 + 1] {
        raw.extend(if kind >= 1000 { part.to_be_bytes() } else { part.to_le_bytes() });
    }
    raw.extend(name.as_bytes());
    raw.push(0);
    raw.extend(numbers);
    raw
}

fn doubles(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn read(content: &[u8], variable: Option<&str>) -> Result<Vec<Vec<f64>>, SourceError> {
    let mut raw = open(Path::new("t.mat"), content, variable)?;
    let data = raw.reader.next_snapshot()?.expect("one snapshot");
    Ok(data.outer_iter().map(|row| row.to_vec()).collect())
}

#[test]
fn a_vector_of_doubles_is_read_in_both_byte_orders() {
    let little = matrix("de", 0, (3, 1), 0, &doubles(&[1.0, -2.5, 3.0]));
    let big: Vec<u8> = [1.0f64, -2.5, 3.0].iter().flat_map(|n| n.to_be_bytes()).collect();
    let big = matrix("de", 1000, (1, 3), 0, &big);
    for content in [little, big] {
        assert!(is_level_4(&content));
        assert_eq!(read(&content, None).expect("valid"), [[1.0, -2.5, 3.0]]);
    }
}

#[test]
fn every_precision_is_read_and_columns_of_a_matrix_are_channels() {
    let single: Vec<u8> = [0.5f32, 1.5].iter().flat_map(|n| n.to_le_bytes()).collect();
    let short: Vec<u8> = [-7i16, 9].iter().flat_map(|n| n.to_le_bytes()).collect();
    for (kind, raw, expected) in [
        (10, single, [0.5, 1.5]),
        (20, vec![1, 0, 0, 0, 254, 255, 255, 255], [1.0, -2.0]),
        (30, short, [-7.0, 9.0]),
        (40, vec![255, 255, 1, 0], [65_535.0, 1.0]),
        (50, vec![200, 3], [200.0, 3.0]),
    ] {
        let content = matrix("x", kind, (2, 1), 0, &raw);
        assert_eq!(read(&content, None).expect("valid"), [expected], "type {kind}");
    }
    let two = matrix("m", 0, (3, 2), 0, &doubles(&[1.0, 2.0, 4.0, 7.0, 5.0, 9.0]));
    let read = read(&two, None).expect("valid");
    assert_eq!(read, [[1.0, 2.0, 4.0], [7.0, 5.0, 9.0]]);
}

#[test]
fn a_rate_beside_the_vector_counts_and_what_is_no_vector_is_named() {
    let fs = matrix("fs", 0, (1, 1), 0, &doubles(&[2560.0]));
    let vib = matrix("vib", 0, (4, 1), 0, &doubles(&[1.0, 2.0, 0.0, 4.0]));
    let complex = matrix("h", 0, (2, 1), 1, &doubles(&[1.0, 2.0, 3.0, 4.0]));
    let sparse = matrix("s", 2, (2, 3), 0, &doubles(&[1.0; 6]));
    let text = matrix("unit", 51, (1, 1), 0, b"g");
    let content = [fs, vib, complex, sparse, text].concat();
    let raw = open(Path::new("t.mat"), content.as_slice(), None).expect("valid");
    assert_eq!(raw.stated_rate_hz, Some(2560.0));
    assert_eq!(raw.channels[0].unit.as_deref(), Some("g"));
    for (name, what) in [("h", "complex"), ("s", "sparse")] {
        let error = read(&content, Some(name)).expect_err(name).to_string();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn a_file_that_is_cut_off_is_told_and_other_bytes_are_no_level_4() {
    let mut content = matrix("de", 0, (3, 1), 0, &doubles(&[1.0, 2.0, 3.0]));
    content.truncate(content.len() - 4);
    let error = read(&content, None).expect_err("cut off").to_string();
    assert!(error.contains("truncated"), "{error}");
    let huge = matrix("de", 0, (0x7fff_ffff, 0x7fff_ffff), 0, b"");
    assert!(read(&huge, None).is_err());
    for other in [&b"0,1\n2,3\n"[..], b"", &[0; 132], b"RIFF", b"\x00\x01\x02"] {
        assert!(!is_level_4(other), "{other:?}");
    }
    // the digits of the type, and the letters of the name
    assert!(!is_level_4(&matrix("de", 100, (1, 1), 0, &[0; 8])));
    assert!(!is_level_4(&matrix("de", 3, (1, 1), 0, &[0; 8])));
    assert!(!is_level_4(&matrix("d e", 0, (1, 1), 0, &[0; 8])));
}

proptest! {
    #[test]
    fn arbitrary_damage_never_panics(at in 0usize..80, byte in any::<u8>(), cut in 0usize..120) {
        let fs = matrix("fs", 0, (1, 1), 0, &doubles(&[2560.0]));
        let vib = matrix("vib", 1030, (4, 2), 0, &[1; 16]);
        let mut content = [fs, vib].concat();
        if let Some(old) = content.get_mut(at) {
            *old = byte;
        }
        content.truncate(cut);
        let _ = read(&content, None);
    }
}
