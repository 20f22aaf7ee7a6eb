//! Any text as the file of a web hook: a hook or its problem with the line, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pdm_hook::HookTemplate;

fuzz_target!(|text: &str| {
    if let Err(error) = HookTemplate::parse("hook.toml", text) {
        assert!(!error.to_string().is_empty());
    }
});
