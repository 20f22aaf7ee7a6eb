//! Any text as `agent.toml` and as `diagnosis.toml`: settings or an error, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use pdm_agent::settings::{AgentSettings, rules};

fuzz_target!(|text: &str| {
    let _ = AgentSettings::parse(Path::new("agent.toml"), text);
    let _ = rules::parse(Path::new("diagnosis.toml"), text);
});
