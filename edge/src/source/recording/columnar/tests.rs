//! Claims about Parquet, from a small file that PyArrow has written (issue 32, point 3).

use std::io::Cursor;

use proptest::prelude::*;

use super::*;

/// The seed without the byte that chooses its name.
fn seed() -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/seeds/recording/table.parquet");
    std::fs::read(path).expect("a seed")[1..].to_vec()
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn arbitrary_damage_is_an_error_of_the_file(at in 0usize..3000, byte in any::<u8>(), cut in 8usize..4000) {
        let mut bytes = seed();
        if let Some(old) = bytes.get_mut(at) {
            *old = byte;
        }
        let end = bytes.len().saturating_sub(if cut < 64 { cut } else { 0 });
        bytes.truncate(end);
        let _ = opened(bytes);
    }
}
