//! Programs from outside end with an answer or a reason, never a panic: the seeds and hostile files
//! of the fuzz target `script`, and pieces of the dialect in any order.

use std::fs;
use std::path::Path;

use pdm_script::child;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Results of tools that wait for a program.
const RESULTS: usize = 6;

/// Runs a program with tools that answer and fail in turn; returns how it ends.
fn ended(program: &str) -> Value {
    let start = json!({ "kind": "start", "program": program, "tools": ["stocks", "broken"] });
    let results = (0..RESULTS).map(|result| match result % 3 {
        2 => json!({ "kind": "failed", "reason": "the store is away" }),
        _ => json!({ "kind": "result", "text": r#"[{"code": "005930", "name": "삼성전자", "weight": 30.5}]"# }),
    });
    let lines: Vec<String> =
        std::iter::once(start).chain(results).map(|line| line.to_string()).collect();
    let mut output = Vec::new();
    // results that no program took are refused as no program
    let _refused = child::run_unconfined(lines.join("\n").as_bytes(), &mut output);
    let ends: Vec<Value> = output
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice::<Value>(line).expect("a line of JSON"))
        .filter(|line| line["kind"] == "ended")
        .collect();
    assert_eq!(ends.len(), 1, "{program:?}: {}", String::from_utf8_lossy(&output));
    ends.into_iter().next().unwrap_or_default()
}

fn files(kind: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz").join(kind).join("script");
    fs::read_dir(folder)
        .expect("a folder of seeds")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.display().to_string(), fs::read_to_string(&path).expect("a seed")))
        .collect()
}

#[test]
fn seeds_run_to_their_end_without_an_error() {
    let seeds = files("seeds");
    assert!(seeds.len() >= 4, "{} seeds", seeds.len());
    for (path, program) in seeds {
        let end = ended(&program);
        assert_eq!(end["error"], Value::Null, "{path}: {end}");
    }
}

#[test]
fn hostile_programs_end_by_a_limit_or_an_error() {
    let programs = files("hostile");
    assert!(programs.len() >= 50, "{} programs", programs.len());
    for (path, program) in programs {
        let end = ended(&program);
        let is_told = [&end["error"], &end["answer"], &end["printed"]];
        assert!(is_told.iter().any(|text| text.is_string()), "{path}: {end}");
    }
}

proptest! {
    #[test]
    fn pieces_of_the_dialect_in_any_order_are_no_panic(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "x", " = ", "1", "0.5", "'a'", "f'{x:>9}'", "f'{", "}'", "[", "]", "(", ")", "{", "}", ", ", ": ",
                "\n", "\n    ", "for x in ", "range(9)", "if ", "else:", "while ",
                "def f(a, *b, c=1):", "return ",
                "lambda a: ", " + ", " ** ", " // ", " % ", " - ", " == ", " and ", " not in ", "[::-1]", ".append(",
                ".format(", ".join(", "stocks(", "broken(id=", "import json", "json.loads(", "try:", "except:",
                "finally:", "final_answer(", "print(", "None", "*x", "9223372036854775807", "'\\u{202e}'", "베어링",
                "\u{0}", "\\", "#", "'''", "global x", "class ", "sorted(", "zip(", "int('", "%s %d",
            ]),
            0..24,
        ),
    ) {
        ended(&pieces.concat());
    }
}
