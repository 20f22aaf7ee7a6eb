//! Any samples get an answer.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pdm_edge::quality::{QualityContext, assess};
use pdm_shared::units::SampleRate;

fuzz_target!(|samples: Vec<f64>| {
    if let Ok(rate) = SampleRate::new(10_000.0) {
        let _ = assess(&samples, &QualityContext::new(rate));
    }
});
