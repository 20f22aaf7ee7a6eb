//! Claims about HDF5 and MAT version 7.3, from small files that h5py has written (issue 32, point
//! 3).

use std::io::Cursor;

use proptest::prelude::*;

use super::*;

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/seeds/recording/");

/// A seed without the byte that chooses its name.
fn seed(name: &str) -> Vec<u8> {
    std::fs::read(format!("{FILES}{name}")).expect("a seed")[1..].to_vec()
}

fn opened(bytes: Vec<u8>, variable: Option<&str>) -> Result<RawRecording, SourceError> {
    open(Path::new("t.h5"), Cursor::new(bytes), variable)
}

fn names(recording: &RawRecording) -> Vec<&str> {
    recording.channels.iter().filter_map(|channel| channel.name.as_deref()).collect()
}

#[test]
fn attributes_of_a_dataset_are_its_unit_and_rate() {
    let recording = opened(seed("run.h5"), None).expect("valid");
    assert_eq!(names(&recording), ["/run/acc"]);
    assert_eq!(recording.channels[0].unit.as_deref(), Some("m/s^2"));
    assert_eq!(recording.stated_rate_hz, Some(2560.0));
    let mut recording = opened(seed("run.h5"), Some("/run/acc")).expect("valid");
    let data = recording.reader.next_snapshot().expect("readable").expect("one");
    assert_eq!(data.row(0).iter().take(3).copied().collect::<Vec<_>>(), [0.5, -0.25, 0.75]);
}

/// A struct array, texts as numbers, and references into `#refs#`.
#[test]
fn structs_and_texts_of_matlab_are_followed() {
    let recording = opened(seed("v73.mat"), None).expect("valid");
    assert_eq!(names(&recording), ["phase_current_1", "vibration_1"]);
    assert_eq!(recording.stated_rate_hz, Some(2560.0));
    assert!(opened(seed("v73.mat"), Some("M.Y(1).Data")).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn arbitrary_damage_is_an_error_of_the_file(at in 0usize..8000, byte in any::<u8>(),
        cut in 0usize..9000) {
        for name in ["run.h5", "v73.mat"] {
            let mut bytes = seed(name);
            if let Some(old) = bytes.get_mut(at) {
                *old = byte;
            }
            bytes.truncate(bytes.len().min(cut.max(600)));
            let _ = opened(bytes, None);
        }
    }
}
