//! Files of formats that are not read, made here after their specifications, are refused by name;
//! what is read is not.

use std::path::Path;

use super::*;
use crate::source::recording::{RecordingOptions, open_content};

/// `start` and zeros up to the bytes that are looked at.
fn padded(start: &[u8]) -> Vec<u8> {
    let mut bytes = start.to_vec();
    bytes.resize(2056.max(bytes.len()), 0);
    bytes
}

fn told(name: &str, content: Vec<u8>) -> String {
    let error = open_content(Path::new(name), content, &RecordingOptions::default());
    error.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn a_format_that_is_not_read_is_refused_by_name() {
    for (start, word) in [
        (&b"\x1a\x45\xdf\xa3\x01"[..], "enDAQ"),
        (b"\x1a\x45\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webm", "WebM"),
        (b"MDF     4.10    ", "MDF"),
        (b"UnFinMF 4.10    ", "not finished"),
        (b"fLaC\0\0\0\x22", "WAV"),
        (b"FORM\0\0\0\x20AIFFCOMM", "AIFF"),
        (b"FORM\0\0\0\x208SVXVHDR", "8SVX"),
        (b"\0\0\0\x20ftypisom", "MP4"),
        (b"ARROW1\0\0", "Feather"),
        (b"\xff\xff\xff\xff\x10\0\0\0", "Arrow"),
        (b"PARE", "encrypted"),
        (b"Obj\x01\x04", "Avro"),
        (b"SQLite format 3\0\x10", "SQLite"),
        (b"\0\x01\0\0Standard Jet DB\0", "Access"),
        (b"REDIS0011\xfa", "Redis"),
        (b"RDX3\nX\n", "write.csv"),
        (b"|CF,2,1,1;|CK,1,3,1,1;", "FAMOS"),
        (b"DASYLab V 2022\0\x01\x02", "DASYLab"),
        (b"7z\xbc\xaf\x27\x1c\0\x04", "7-Zip"),
        (b"Rar!\x1a\x07\x01\0", "RAR"),
        (b"#9000050350WAVEDESC\0", "LeCroy"),
        (b":WFMPRE:BYT_N 2;:CURVE #\0", "Tektronix"),
        (b"FORMAT\0\0\0BINARY_IEEE", "RPC"),
        (b"MS\x03\x04\0\0", "miniSEED"),
        (b"000001V 0100127024.0", "SEED"),
        (b"\x55\x3a\x01\x00\x40\0", "SEG-2"),
        (b"<!DOCTYPE html><html><head>", "HTML"),
    ] {
        let words = told("a.dat", padded(start));
        assert!(words.contains(word) && words.contains("not read"), "{word}: {words}");
    }
}

/// R-EDGE-4: a record of miniSEED 2, in both orders of bytes.
#[test]
fn miniseed_is_known_by_its_header() {
    for year_and_day in [[0x07, 0xea, 0x00, 0x3c], [0xea, 0x07, 0x3c, 0x00]] {
        let mut record = b"000001D ANMO 00BHZIU".to_vec();
        record.extend(year_and_day);
        record.extend([0; 24]);
        let words = told("a.mseed", padded(&record));
        assert!(words.contains("miniSEED") && words.contains("export"), "{words}");
    }
    assert_eq!(refusal(b"000001D 12,34\n000002D 12,35\n000003D 12,36\n000004D 1,2\n"), None);
}

#[test]
fn sac_is_known_by_the_version_of_its_header_and_undefined_fields() {
    for is_big in [false, true] {
        let mut bytes = Vec::new();
        for word in 0..158u32 {
            let own = match word {
                0 => 0.01f32.to_bits(),
                76 => 6,
                1..70 => (-12_345.0f32).to_bits(),
                _ => (-12_345i32).cast_unsigned(),
            };
            bytes.extend(if is_big { own.to_be_bytes() } else { own.to_le_bytes() });
        }
        bytes.resize(900, 0);
        let words = told("a.sac", bytes);
        assert!(words.contains("SAC of seismology"), "{words}");
    }
}

#[test]
fn segy_is_known_by_its_forty_cards_in_both_alphabets() {
    let card = |n: u32| format!("{:<80}", format!("C{n:2} CLIENT")).into_bytes();
    let mut ascii: Vec<u8> = (1..=40).flat_map(card).collect();
    ascii.extend([0; 400]);
    assert!(told("a.sgy", ascii.clone()).contains("SEG-Y"));
    let ebcdic = ascii.iter().map(|byte| if *byte == b'C' { 0xc3 } else { 0x40 }).collect();
    assert!(told("a.segy", ebcdic).contains("SEG-Y"));
}

#[test]
fn edf_is_known_by_its_version_and_dates() {
    let mut head = b"0       ".to_vec();
    head.resize(168, b' ');
    head.extend(b"01.03.2610.00.00");
    head.resize(256, b' ');
    head[168..184].copy_from_slice(b"01.03.2610.00.00");
    assert!(told("a.edf", padded(&head)).contains("EDF"));
}

/// The name decides only where the content is no text.
#[test]
fn binary_content_is_refused_by_the_program_that_its_name_tells() {
    let bytes = padded(&[1, 0, 7, 200, 3, 0, 255, 16]);
    for (name, word) in [
        ("a.dxd", "Dewesoft"),
        ("a.ddf", "DASYLab"),
        ("a.dat", "the program that wrote it"),
        ("a.bin", "numpy.fromfile"),
        ("a.r64", "DIAdem"),
    ] {
        let words = told(name, bytes.clone());
        assert!(words.contains(word), "{name}: {words}");
    }
}

/// Texts whose first letters are those of a format.
#[test]
fn text_is_never_taken_for_a_format() {
    for text in [
        &b""[..],
        b"MDF,1\n",
        b"1,2\n",
        b"DASYLab - V 9.00.02\nWorksheet name: pump\nMeasurement time[s];Input 0\n0,0;1,0\n",
        b"FORMAT;x\n1;2\n",
        b"ORCHARD,1\n",
        b"C,1\nC,2\n",
        b"time,a\n0.0,1.0\n",
        b"\xff\xfe1\0,\x002\0\n\0",
        b"1\0,\x002\0\n\x003\0,\x004\0\n\0",
        b"LOGGER,PARENT\n1,2\n",
        b"PARENT;x\n1;2\n",
    ] {
        for extension in ["csv", "dat", "bin", ""] {
            let told = refusal(text).or_else(|| refusal_of_binary(text, extension));
            assert_eq!(told, None, "{:?}", String::from_utf8_lossy(text));
        }
    }
}

#[test]
fn archives_of_documents_are_refused_by_name() {
    let holding = |name: &'static str| refusal_of_archive(|asked| asked == name).unwrap_or("");
    assert!(holding("word/document.xml").contains("Word"));
    assert!(holding("xl/workbook.bin").contains(".xlsb"));
    assert!(holding("content.xml").contains(".ods"));
    assert_eq!(holding("a.csv"), "");
}
