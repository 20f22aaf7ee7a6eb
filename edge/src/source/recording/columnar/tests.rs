//! Claims about Parquet, from a small file that PyArrow has written (issue 32, point 3).

use std::io::Cursor;

use proptest::prelude::*;

use super::*;

fn seed() -> Vec<u8> {
    seed_named("table")
}

/// A seed without the byte that chooses its name.
fn seed_named(name: &str) -> Vec<u8> {
    seed_of("seeds", name)
}

fn seed_of(kind: &str, name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz");
    std::fs::read(format!("{folder}/{kind}/recording/{name}.parquet")).expect("a seed")[1..]
        .to_vec()
}

/// A column of durations, and a unit in the metadata of its neighbour's Arrow field; unit and rate
/// in the attributes of a pandas frame.
#[test]
fn units_rates_and_durations_of_the_metadata_are_those_of_the_columns() {
    for name in ["field-unit", "attrs"] {
        let recording = opened(seed_named(name)).expect("valid");
        let [channel] = recording.channels.as_slice() else { panic!("{name}: one channel") };
        assert_eq!(channel.name.as_deref(), Some("pump"), "{name}");
        assert_eq!(channel.unit.as_deref(), Some("m/s^2"), "{name}");
        let rate = recording.stated_rate_hz.expect("a rate");
        assert!((rate / 2560.0 - 1.0).abs() < 1e-6, "{name}: {rate}");
    }
}

#[test]
fn one_unit_for_each_column_and_the_attributes_of_a_column_are_read() {
    let columns = ["ax".to_owned(), "t".to_owned()];
    for pairs in [
        [("PANDAS_ATTRS", r#"{"units": {"ax": "mg", "t": "s", "other": "V"}}"#)],
        [("units", r#"{"ax": "mg", "t": "s", "other": "V"}"#)],
        [("PANDAS_ATTRS", r#"{"ax": {"unit": "mg"}, "t": {"unit": "s"}, "by": {"name": "me"}}"#)],
    ] {
        let leaves = metadata::statements_of(pairs.into_iter(), &columns);
        let text = |path: &str| {
            let leaf = leaves.iter().find(|leaf| leaf.path == path).map(|leaf| &leaf.content);
            matches!(leaf, Some(
                LeafContent::Text(lines)) if lines == &[if path == "ax.unit" { "mg" } else { "s" }])
        };
        assert!(text("ax.unit") && text("t.unit"), "{leaves:?}");
        assert!(!leaves.iter().any(|leaf| leaf.path.starts_with("other")), "{leaves:?}");
    }
    for damaged in ["", "AAAA", "/////wAAAAA=", "//////gAAAAQAAAAAAAKAAwABgAFAAgACgAAAAAB"] {
        assert!(arrow::fields_of_schema(damaged).is_empty(), "{damaged}");
    }
}

fn opened(bytes: Vec<u8>) -> Result<RawRecording, SourceError> {
    open(Path::new("t.parquet"), Cursor::new(bytes), None)
}

/// Columns: stamps in µs, `ax` with a missing value, `counts` as int16, a text.
#[test]
fn stamps_are_time_and_columns_keep_their_names_and_encodings() {
    let mut recording = opened(seed()).expect("valid");
    let names: Vec<&str> = recording.channels.iter().filter_map(|c| c.name.as_deref()).collect();
    assert_eq!(names, ["ax", "counts"]);
    assert_eq!(recording.channels[1].encoding, NumberEncoding::Counts { bits: 16 });
    assert_eq!(recording.stated_rate_hz, Some(1000.0));
    let data = recording.reader.next_snapshot().expect("readable").expect("one");
    assert_eq!(data.dim(), (2, 16));
    assert!(data[[0, 1]].is_nan() && data[[0, 2]] > 0.7 && data[[1, 15]] < -0.5);
}

/// R-EDGE-4: a table in long form had a multiple of its rate, and was judged as one channel.
#[test]
fn several_channels_in_one_column_and_rows_that_stand_twice_are_refused() {
    for (name, words) in [
        ("long-words", ["\"axis\"", "(x, y, z)"]),
        ("long-numbers", ["\"sensor_id\"", "(1, 2, 3)"]),
        ("twice", ["every row stands 2 times", "take the copies out"]),
        ("station", ["\"station\"", "several measuring points"]),
        ("lists", ["lists, one in each row", "acc"]),
    ] {
        let error = opened(seed_of("hostile", name)).err().expect(name).to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{name}: {error}");
    }
    let content = Cursor::new(seed_of("hostile", "station"));
    let named = open(Path::new("t.parquet"), content, Some("acc")).expect("the column is named");
    let told = named.notes.join("; ");
    assert!(told.contains("several measuring points"), "{told}");
}

/// R-EDGE-4: times that are written as text give the rate; a date with two readings dates nothing.
#[test]
fn times_of_text_give_the_rate() {
    let recording = opened(seed_named("text-times")).expect("valid");
    assert_eq!(recording.channels.len(), 1);
    assert!(recording.stated_rate_hz.is_some_and(|hz| (hz / 1000.0 - 1.0).abs() < 1e-6));
    assert!(recording.stated_start.is_none(), "the fourth of May or the fifth of April");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn arbitrary_damage_is_an_error_of_the_file(at in 0usize..3000, byte in any::<u8>(),
        cut in 8usize..4000) {
        let mut bytes = seed_named(["table", "field-unit", "attrs"][cut % 3]);
        if let Some(old) = bytes.get_mut(at) {
            *old = byte;
        }
        let end = bytes.len().saturating_sub(if cut < 64 { cut } else { 0 });
        bytes.truncate(end);
        let _ = opened(bytes);
    }
}
