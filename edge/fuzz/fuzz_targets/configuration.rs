//! Any text as `edge.toml`: settings or an error, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = pdm_edge::settings::parse(Path::new("edge.toml"), text);
});
