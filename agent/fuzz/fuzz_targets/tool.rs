//! Any text as a tool: a tool or its problems, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use pdm_tools::ToolSpec;

fuzz_target!(|text: &str| {
    let _ = ToolSpec::parse(Path::new("tool.yaml"), text);
});
