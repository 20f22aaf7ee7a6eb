//! Any text as `edge.toml` and as a bearing catalogue: settings or an error, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use pdm_edge::catalogue::Catalogue;

fuzz_target!(|text: &str| {
    let _ = pdm_edge::settings::parse(Path::new("edge.toml"), text);
    if let Ok(catalogue) = Catalogue::parse(Path::new("bearings.toml"), text) {
        for bearing in catalogue.bearings() {
            catalogue.find(&bearing.id).expect("what is listed is found");
        }
    }
});
