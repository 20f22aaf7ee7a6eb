//! Any bytes as the document of a capture: one whose numbers can be, or an error, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use pdm_edge::capture::parse_document;

fuzz_target!(|json: &[u8]| {
    if let Ok(document) = parse_document(Path::new("capture.json"), json) {
        assert!(document.sampling_rate_hz > 0.0 && document.window.samples <= document.samples);
        assert!(!document.file.name.contains('/'), "a name that leads elsewhere");
    }
});
