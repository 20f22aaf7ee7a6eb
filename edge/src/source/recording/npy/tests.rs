//! NumPy files of every kind of number, byte order and axis order; damaged headers are refused.

use std::io::{Cursor, Write};

use proptest::prelude::*;

use super::super::bounds::Gunzip;
use super::*;

fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend(u16::try_from(header.len()).expect("short").to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn opened(bytes: Vec<u8>) -> Result<RawRecording, SourceError> {
    let is_gzip = bytes.starts_with(&[0x1f, 0x8b]);
    let file: Box<dyn Read + Send> = Box::new(Cursor::new(bytes));
    let file = if is_gzip { Box::new(Gunzip::new(file)) } else { file };
    open(Path::new("t.npy"), file, is_gzip)
}

fn all(bytes: Vec<u8>) -> Result<Vec<Array2<f64>>, SourceError> {
    let mut raw = opened(bytes)?;
    let mut snapshots = Vec::new();
    while let Some(snapshot) = raw.reader.next_snapshot()? {
        snapshots.push(snapshot);
    }
    Ok(snapshots)
}

#[test]
fn every_kind_of_number_is_decoded_in_both_byte_orders() {
    let cases: [(&str, Vec<u8>, f64); 14] = [
        ("|i1", vec![0xfe], -2.0),
        ("|u1", vec![0xfe], 254.0),
        ("<i2", (-300i16).to_le_bytes().to_vec(), -300.0),
        (">i2", (-300i16).to_be_bytes().to_vec(), -300.0),
        ("<u2", 40_000u16.to_le_bytes().to_vec(), 40_000.0),
        ("<i4", (-70_000i32).to_le_bytes().to_vec(), -70_000.0),
        (">u4", 3_000_000_000u32.to_be_bytes().to_vec(), 3e9),
        ("<i8", (-5i64).to_le_bytes().to_vec(), -5.0),
        (">i8", (-5i64).to_be_bytes().to_vec(), -5.0),
        ("<f2", vec![0x00, 0xc0], -2.0),
        (">f2", vec![0x3c, 0x00], 1.0),
        ("<f4", 1.5f32.to_le_bytes().to_vec(), 1.5),
        (">f8", (-2.25f64).to_be_bytes().to_vec(), -2.25),
        ("<f8", f64::NAN.to_le_bytes().to_vec(), f64::NAN),
    ];
    for (descr, data, expected) in cases {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1,), }}");
        let got = all(file(&header, &data)).expect(descr)[0][[0, 0]];
        assert!(got.to_bits() == expected.to_bits() || got.is_nan(), "{descr}: {got}");
    }
}

#[test]
fn a_fortran_array_has_its_first_axis_fastest() {
    // numpy.arange(12).reshape(2, 2, 3) in Fortran order
    let data = [0u8, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11];
    let header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2, 3), }";
    let got = all(file(header, &data)).expect("valid");
    assert_eq!(got[0], ndarray::arr2(&[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]));
    assert_eq!(got[1], ndarray::arr2(&[[6.0, 7.0, 8.0], [9.0, 10.0, 11.0]]));
}

#[test]
fn a_compressed_array_is_the_plain_one() {
    let header = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 1, 2), }";
    let plain = file(header, &[1, 0, 2, 0, 3, 0, 4, 0]);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&plain).expect("memory");
    let got = all(gzip.finish().expect("memory")).expect("valid");
    assert_eq!(got, all(plain).expect("valid"));
    assert_eq!(got.len(), 2);
}

#[test]
fn a_compressed_array_with_a_wrong_checksum_or_without_its_end_is_refused() {
    let header = "{'descr': '<i2', 'fortran_order': False, 'shape': (4,), }";
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&file(header, &[1, 0, 2, 0, 3, 0, 4, 0])).expect("memory");
    let whole = gzip.finish().expect("memory");
    let mut wrong = whole.clone();
    let at = wrong.len() - 8;
    wrong[at] ^= 1;
    let error = all(wrong).expect_err("a wrong checksum").to_string();
    assert!(error.contains("damaged content") && error.contains("checksum"), "{error}");
    for length in [whole.len() - 1, whole.len() - 7, whole.len() - 12] {
        let error = all(whole[..length].to_vec()).expect_err("truncated").to_string();
        assert!(error.contains("too early") || error.contains("damaged"), "{length}: {error}");
    }
}

#[test]
fn a_huge_shape_is_an_error_and_not_an_allocation() {
    for shape in [
        "(18446744073709551615,)",
        "(1000000000000, 2, 5)",
        "(4, 1024, 9007199254740993)",
        "(4294967296,)",
        "(8388609,)",
    ] {
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
        let error = all(file(&header, &[0; 64])).expect_err(shape).to_string();
        assert!(error.contains("t.npy"), "{error}");
    }
}

#[test]
fn errors_say_what_is_allowed() {
    let cases = [
        (
            "{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }",
            "complex numbers of type \"<c16\" are not read; allowed are",
        ),
        (
            "{'descr': [('t', '<f8')], 'fortran_order': False, 'shape': (1,), }",
            "a structured array",
        ),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1, 1), }", "1-D (samples)"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "1-D (samples)"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }", "holds no samples"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (9000, 40), }", "comes last"),
        ("{'descr': '<f8', 'shape': (1,), }", "fortran_order"),
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", "8 of 16 bytes"),
    ];
    for (header, expected) in cases {
        let error = all(file(header, &[0; 8])).expect_err(header).to_string();
        assert!(error.contains(expected), "{header}: {error}");
    }
    let error = all(b"\x93NUMPY\x09\x00".to_vec()).expect_err("version 9").to_string();
    assert!(error.contains("versions 1 to 3"), "{error}");
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(
        tail in proptest::collection::vec(any::<u8>(), 0..300), version in 0u8..5
    ) {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version, 0]);
        bytes.extend(tail);
        let _ = all(bytes);
    }

    #[test]
    fn arbitrary_headers_never_panic(
        descr in "[<>|=][iufcOS][0-9]{1,2}", order in "(True|False|x)",
        shape in "[(]?[0-9]{0,20}(, ?[0-9]{0,20}){0,4}[)]?"
    ) {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, \
            }}");
        let _ = all(file(&header, &[7; 40]));
    }
}

#[test]
fn an_array_of_sample_by_channel_is_turned_and_told() {
    for (columns, is_fortran) in [(1usize, false), (3, false), (3, true)] {
        let order = if is_fortran { "True" } else { "False" };
        let header =
            format!("{{'descr': '<f4', 'fortran_order': {order}, 'shape': (600, {columns}), }}");
        let value = |sample: usize, channel: usize| (sample * 10 + channel) as f32;
        let data: Vec<u8> = (0..600 * columns)
            .map(|n| if is_fortran { (n % 600, n / 600) } else { (n / columns, n % columns) })
            .flat_map(|(sample, channel)| value(sample, channel).to_le_bytes())
            .collect();
        let mut raw = opened(file(&header, &data)).expect("turned");
        assert!(raw.notes.iter().any(|note| note.contains("turned")), "{:?}", raw.notes);
        let all = raw.reader.next_snapshot().expect("readable").expect("one");
        assert_eq!(all.dim(), (columns, 600));
        assert!((all[[columns - 1, 7]] - f64::from(value(7, columns - 1))).abs() < 1e-9);
    }
}
