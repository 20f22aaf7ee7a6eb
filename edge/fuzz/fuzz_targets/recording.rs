//! Any bytes under any name: a recording is read or refused, never a panic.
//!
//! The first byte chooses the name and the columns that a person names, the rest is the file.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use pdm_edge::source::{AccelUnit, Calibration, Preferred, RecordingOptions, open_content};
use pdm_shared::units::SampleRate;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, content)) = data.split_first() else { return };
    let names = ["a.npy", "a.npy.gz", "a.mat", "a.wav", "a.csv", "a"];
    let name = Path::new(names[usize::from(choice) % names.len()]);
    let variables = [None, Some("0"), Some("1,2"), Some("acc")];
    let variable = variables[usize::from(choice) / names.len() % variables.len()];
    let options = RecordingOptions {
        sample_rate: SampleRate::new(1000.0).ok(),
        calibrations: Calibration::new(AccelUnit::G, 1.0, 0.0).into_iter().collect(),
        prefer: Some(Preferred::Option),
        variable: variable.map(str::to_owned),
        ..Default::default()
    };
    if let Ok(mut source) = open_content(name, content.to_vec(), &options) {
        while let Ok(Some(_)) = source.next_block() {}
    }
});
