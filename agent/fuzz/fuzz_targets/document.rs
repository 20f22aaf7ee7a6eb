//! Any text as a document: chunks of it or an error, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use pdm_agent::knowledge::Collection;
use pdm_agent::knowledge::chunk::cut;
use pdm_agent::knowledge::document::Document;

fuzz_target!(|text: &str| {
    if let Ok(read) = Document::parse(Path::new("a.md"), text, Collection::EquipmentManual) {
        let _ = cut(&read);
    }
});
