//! Claims about universal files in the forms that programs write (issue 32, point 3).

use std::io::Cursor;

use proptest::prelude::*;

use super::*;

/// The header of a function: type, form, points, spacing, step, label and unit.
fn header(function: u32, form: u32, points: usize, spacing: u32, axis: (&str, &str)) -> String {
    let (label, unit) = axis;
    format!(
        "pump DE\nNONE\n25-Nov-26 10:00:00\nNONE\nNONE\n\
         {function:5}         0    0         0 NONE               3   3 NONE               0   0\n\
         {form:10}{points:10}{spacing:10}  0.00000E+00  3.90625E-04  0.00000E+00\n\
         \x20       17    0    0    0 time                 s                   \n\
         \x20       12    0    0    0 {label:<20} {unit:<20}\n\
         \x20        0    0    0    0 NONE                 NONE                \n\
         \x20        0    0    0    0 NONE                 NONE                \n"
    )
}

fn ascii(head: &str, numbers: &str) -> Vec<u8> {
    format!("    -1\n    58\n{head}{numbers}    -1\n").into_bytes()
}

/// A binary dataset; `before` and `after` are stray bytes around the block.
fn binary(order: u32, form: u32, numbers: &[f64], before: &[u8], after: &[u8]) -> Vec<u8> {
    let is_double = form == 4;
    let raw = numbers.iter().flat_map(|&number| {
        let mut raw = if is_double {
            number.to_le_bytes().to_vec()
        } else {
            (number as f32).to_le_bytes().to_vec()
        };
        if order == 2 {
            raw.reverse();
        }
        raw
    });
    let raw: Vec<u8> = raw.collect();
    let mut bytes = format!(
        "    -1\r\n    58b{order:6}{:6}{:12}{:12}     0     0           0           0\r\n",
        2,
        11,
        raw.len()
    )
    .into_bytes();
    let head = header(1, form, numbers.len(), 1, ("acc", "g")).replace('\n', "\r\n");
    bytes.extend(head.bytes());
    bytes.extend(before);
    bytes.extend(raw);
    bytes.extend(after);
    bytes.extend(b"    -1\r\n");
    bytes
}

fn opened(bytes: &[u8]) -> Result<RawRecording, SourceError> {
    assert!(is_universal(&bytes[..bytes.len().min(132)]));
    open(Path::new("t.uff"), Cursor::new(bytes), None)
}

fn data(bytes: &[u8]) -> ndarray::Array2<f64> {
    opened(bytes).expect("valid").reader.next_snapshot().expect("readable").expect("one")
}

#[test]
fn label_unit_and_rate_of_a_time_response_are_those_of_its_header() {
    let head = header(1, 2, 3, 1, ("Acceleration", "m/s^2"));
    let recording =
        opened(&ascii(&head, "  1.00000E+00 -2.00000E+00  3.50000E+00\n")).expect("valid");
    assert_eq!(recording.channels[0].name.as_deref(), Some("Acceleration 3 +Z"));
    assert_eq!(recording.channels[0].unit.as_deref(), Some("m/s^2"));
    assert_eq!(recording.stated_rate_hz, Some(2560.0));
    let at = recording.stated_start.expect("the third line").to_string();
    assert!(at.starts_with("2026-11-25T10:00:00") && recording.is_start_local, "{at}");
    assert_eq!(recording.start_origin.as_deref(), Some("line 3 of its header"));
}

/// No space before a sign, exponents of three digits, FORTRAN's D, a last line that is filled.
#[test]
fn numbers_are_found_by_what_they_look_like() {
    let head = header(1, 2, 4, 1, ("a", "g"));
    let expected = ndarray::arr2(&[[1.0, -2.0, 3.5, -4.0]]);
    for numbers in [
        "  1.00000E+00-2.00000E+00 3.50000E+000-4.00000E+000\n",
        " 1.0D+00 -2.0D+00\r\n 3.5D+00 -4.0D+00                        \r\n",
        "1 -2\n3.5\n-4\n\n",
    ] {
        assert_eq!(data(&ascii(&head, numbers)), expected, "{numbers}");
    }
}

#[test]
fn an_uneven_abscissa_gives_the_rate_if_it_is_even_all_the_same() {
    let pairs: Vec<String> = (0..16)
        .map(|n| format!("{:13.5E}{:13.5E}\n", f64::from(n) * 0.001, f64::from(n % 3)))
        .collect();
    let head = header(1, 2, 16, 0, ("a", "g"));
    let recording = opened(&ascii(&head, &pairs.concat())).expect("valid");
    assert_eq!((recording.samples, recording.stated_rate_hz.map(f64::round)), (16, Some(1000.0)));
    let jumps = pairs.concat().replace("1.50000E-2", "9.50000E-2");
    assert_eq!(opened(&ascii(&head, &jumps)).expect("valid").stated_rate_hz, None);
}

#[test]
fn binary_blocks_are_read_in_both_orders_and_widths_with_stray_bytes_around() {
    let numbers = [1.0, -2.0, 3.5];
    for (order, form) in [(1, 2), (2, 2), (1, 4), (2, 4)] {
        for (before, after) in [
            (&b""[..], &b"\r\n"[..]),
            (b"", b""),
            (b"", b"\r\n\r\n"),
            (b"\r\n", b"\n"),
            (b"", b"\0\0\0\0\r\n"),
        ] {
            let bytes = binary(order, form, &numbers, before, after);
            assert_eq!(
                data(&bytes),
                ndarray::arr2(&[numbers]),
                "{order} {form} {before:?} {after:?}"
            );
        }
    }
}

/// A line end is a number's byte as any other.
#[test]
fn bytes_of_a_block_that_look_like_a_delimiter_end_nothing() {
    let text = f64::from_le_bytes(*b"\n    -1\n");
    let bytes = binary(1, 4, &[1.0, text, 2.0], b"", b"\r\n");
    assert_eq!(data(&bytes), ndarray::arr2(&[[1.0, text, 2.0]]));
}

#[test]
fn several_datasets_are_channels_and_foreign_ones_are_left_out() {
    let head = |label: &str| header(1, 2, 2, 1, (label, "g"));
    let foreign = b"    -1\n   151\nmodel\n  58 is no dataset here\n    -1\n";
    let bytes = [
        &foreign[..],
        &ascii(&head("x"), " 1 2\n"),
        &binary(1, 2, &[5.0, 6.0], b"", b"\r\n"),
        b"    -1\n    15\n  1  2  3\n    -1\n",
        &ascii(&head("y"), " 3 4\n"),
    ]
    .concat();
    assert_eq!(data(&bytes), ndarray::arr2(&[[1.0, 2.0], [5.0, 6.0], [3.0, 4.0]]));
}

#[test]
fn a_unit_that_is_missing_is_that_of_the_files_system() {
    let units = b"    -1\n   164\n         1 SI                          2\n 1.0 1.0 1.0\n    -1\n";
    let bytes = [&units[..], &ascii(&header(1, 2, 2, 1, ("NONE", "NONE")), " 1 2\n")].concat();
    let recording = opened(&bytes).expect("valid");
    assert_eq!(recording.channels[0].name.as_deref(), Some("acceleration 3 +Z"));
    assert_eq!(recording.channels[0].unit.as_deref(), Some("m/s^2"));
}

#[test]
fn functions_that_are_no_recording_are_refused_by_name() {
    for (function, form, numbers, name) in [
        (4, 5, " 1 2\n", "a frequency response"),
        (9, 2, " 1\n", "spectral density"),
        (1, 5, " 1 2\n", "complex numbers"),
    ] {
        let error = opened(&ascii(&header(function, form, 1, 1, ("a", "g")), numbers));
        let error = error.err().expect("refused").to_string();
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn a_truncated_dataset_is_said_to_be_truncated() {
    let head = header(1, 2, 400, 1, ("a", "g"));
    let whole = ascii(&head, " 1 2 3\n");
    let error = opened(&whole).err().expect("too few").to_string();
    assert!(error.contains("3 of 400 numbers"), "{error}");
    let bytes = binary(1, 4, &[1.0; 20], b"", b"");
    let error = opened(&bytes[..bytes.len() - 30]).err().expect("cut").to_string();
    assert!(error.contains("truncated"), "{error}");
    let error = opened(&whole[..200]).err().expect("cut").to_string();
    assert!(error.contains("ends within the header"), "{error}");
}

proptest! {
    #[test]
    fn arbitrary_damage_never_panics(
        at in 12usize..800, byte in any::<u8>(), cut in 200usize..900, is_binary in any::<bool>()
    ) {
        let mut bytes = if is_binary {
            binary(1, 2, &[1.0, 2.0], b"", b"\r\n")
        } else {
            ascii(&header(1, 2, 3, 1, ("a", "g")), " 1 2 3\n")
        };
        if let Some(old) = bytes.get_mut(at) {
            *old = byte;
        }
        bytes.truncate(cut);
        let _ = open(Path::new("t.uff"), Cursor::new(bytes), None);
    }
}
