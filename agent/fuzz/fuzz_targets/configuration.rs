//! Any text as `agent.toml`: settings or an error, never a panic.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use pdm_agent::settings::AgentSettings;

fuzz_target!(|text: &str| {
    let _ = AgentSettings::parse(Path::new("agent.toml"), text);
});
