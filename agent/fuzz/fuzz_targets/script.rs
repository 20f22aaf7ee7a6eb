//! Any text as a program of a language model, with tools that answer, fail and are gone: one end
//! with an answer or a reason, within the bounds of what the parent reads, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pdm_script::child;
use serde_json::{Value, json};

/// Results of tools that wait for a program; a program that asks more often finds nobody there.
const RESULTS: usize = 6;

fuzz_target!(|program: &str| {
    let mut input =
        json!({ "kind": "start", "program": program, "tools": ["stocks", "broken"] }).to_string();
    for result in 0..RESULTS {
        let line = if result % 3 == 2 {
            json!({ "kind": "failed", "reason": "the store is away" })
        } else {
            json!({ "kind": "result",
                "text": r#"[{"code": "005930", "name": "삼성전자", "weight": 30.5}]"# })
        };
        input.push('\n');
        input.push_str(&line.to_string());
    }
    let mut output = Vec::new();
    // results that no program took are refused as no program
    let _ = child::run_unconfined(input.as_bytes(), &mut output);
    let lines: Vec<&[u8]> =
        output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    assert!(lines.iter().all(|line| line.len() < 64 << 10));
    let ends = lines
        .iter()
        .map(|line| serde_json::from_slice::<Value>(line).expect("JSON"))
        .filter(|line| line["kind"] == "ended")
        .count();
    assert_eq!(ends, 1);
});
