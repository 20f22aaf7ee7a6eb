//! openCypher's own test suite ("Technology Compatibility Kit", 2024.3), run for results. Its
//! features lie in the source of crate `open-cypher`; the loader here runs each scenario's set-up
//! with an interpreter of `CREATE` that exists in tests only.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::{Limits, MemoryGraph, Properties, Query, QueryError, QueryTable};

mod gherkin;
mod setup;
mod shape;

use gherkin::{Scenario, Wanted};

/// The folders that concern reading queries.
const FOLDERS: [&str; 26] = [
    "clauses/match",
    "clauses/match-where",
    "clauses/return",
    "clauses/return-orderby",
    "clauses/return-skip-limit",
    "clauses/with",
    "clauses/with-orderBy",
    "clauses/with-skip-limit",
    "clauses/with-where",
    "clauses/unwind",
    "clauses/union",
    "useCases",
    "expressions/aggregation",
    "expressions/boolean",
    "expressions/comparison",
    "expressions/conditional",
    "expressions/list",
    "expressions/map",
    "expressions/null",
    "expressions/path",
    "expressions/pattern",
    "expressions/precedence",
    "expressions/quantifier",
    "expressions/string",
    "expressions/mathematical",
    "expressions/typeConversion",
];

/// The outcome of a scenario.
#[derive(Debug)]
enum Outcome {
    Passed,
    /// Refused, with the construct that the refusal names.
    Refused(String),
    Wrong(String),
}

/// The folder of the suite inside the source of `open-cypher`.
fn suite() -> PathBuf {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let told = std::process::Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo metadata");
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).expect("JSON of cargo");
    let packages = told["packages"].as_array().expect("packages");
    let package = packages.iter().find(|p| p["name"] == "open-cypher").expect("open-cypher");
    let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
    manifest.with_file_name("spec/vendor/openCypher-2024.3/tck")
}

fn features(folder: &Path, into: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            features(&path, into);
        } else if path.extension().is_some_and(|end| end == "feature") {
            into.push(path);
        }
    }
}

fn limits() -> Limits {
    // one scenario sums over a list of a million
    Limits { rows: 100_000, working_rows: 2_000_000, depth: 64, ..Limits::default() }
}

fn run(suite: &Path, scenario: &Scenario) -> Outcome {
    let mut graph = MemoryGraph::default();
    if let Some(name) = &scenario.named_graph {
        let file = suite.join("graphs").join(name).join(format!("{name}.cypher"));
        setup::execute(&mut graph, &std::fs::read_to_string(file).expect("a named graph"))
            .expect("the set-up of a named graph");
    }
    for statement in &scenario.setup {
        match setup::execute(&mut graph, statement) {
            Ok(()) => {}
            Err(QueryError::Invalid { code: "UnknownFunction", message }) => {
                return Outcome::Refused(format!("in the set-up: {message}"));
            }
            Err(other) => panic!("{}: {other}: {statement}", scenario.name),
        }
    }
    let parameters: Properties = scenario
        .parameters
        .iter()
        .map(|(name, text)| (name.as_str().into(), shape::value(text)))
        .collect();
    let answer =
        Query::read(&scenario.query).and_then(|query| query.run(&graph, &parameters, &limits()));
    match (&scenario.wanted, answer) {
        (_, Err(QueryError::Refused { construct, .. })) => Outcome::Refused(construct),
        (Wanted::Error { .. }, Ok(table)) => {
            Outcome::Wrong(format!("answered {} rows", table.rows.len()))
        }
        (Wanted::Error { kind, code }, Err(error)) => judged(kind, code, &error),
        (Wanted::Rows { .. }, Err(QueryError::Invalid { code: "UnknownFunction", message })) => {
            Outcome::Refused(message)
        }
        (Wanted::Rows { .. }, Err(error)) => Outcome::Wrong(error.to_string()),
        (Wanted::Rows { header, rows, ordered, lists }, Ok(table)) => {
            compare(header, rows, *ordered, *lists, &table)
        }
        (Wanted::Nothing, answer) => Outcome::Wrong(format!("{answer:?}")),
    }
}

fn judged(kind: &str, code: &str, error: &QueryError) -> Outcome {
    match error {
        QueryError::Syntax(_) if kind == "SyntaxError" => Outcome::Passed,
        QueryError::Invalid { code: own, .. } if *own == code || code == "*" => Outcome::Passed,
        other => Outcome::Wrong(format!("wanted {kind} {code}, got {other}")),
    }
}

fn compare(
    header: &[String],
    rows: &[Vec<String>],
    ordered: bool,
    any_list_order: bool,
    table: &QueryTable,
) -> Outcome {
    let columns: Vec<_> = table.columns.iter().map(ToString::to_string).collect();
    if columns != header {
        return Outcome::Wrong(format!("columns {columns:?}, wanted {header:?}"));
    }
    let own = table.rows.iter().map(|row| {
        row.iter()
            .map(|value| shape::shape_of(value, any_list_order))
            .collect::<Vec<_>>()
            .join(" | ")
    });
    let wanted = rows.iter().map(|row| {
        row.iter()
            .map(|text| shape::canonical(text, any_list_order))
            .collect::<Vec<_>>()
            .join(" | ")
    });
    let (mut own, mut wanted): (Vec<_>, Vec<_>) = (own.collect(), wanted.collect());
    if !ordered {
        own.sort();
        wanted.sort();
    }
    if own == wanted {
        Outcome::Passed
    } else {
        Outcome::Wrong(format!("{own:?}, wanted {wanted:?}"))
    }
}

/// R-GRAPH-1: no result differs from the suite's, every refusal names its construct, and at least
/// seventy in a hundred scenarios pass.
#[test]
fn reading_scenarios_of_the_suite_answer_what_it_says() {
    let suite = suite();
    let (mut passed, mut refused, mut wrong) = (0, BTreeMap::<String, usize>::new(), Vec::new());
    for folder in FOLDERS {
        let mut files = Vec::new();
        features(&suite.join("features").join(folder), &mut files);
        assert!(!files.is_empty(), "{folder} holds no feature");
        for file in files {
            for scenario in gherkin::read_scenarios(&file) {
                match run(&suite, &scenario) {
                    Outcome::Passed => passed += 1,
                    Outcome::Refused(construct) => {
                        assert!(!construct.is_empty(), "{}", scenario.name);
                        *refused.entry(construct).or_default() += 1;
                    }
                    Outcome::Wrong(why) => {
                        wrong.push(format!("{}: {why}\n{}", scenario.name, scenario.query));
                    }
                }
            }
        }
    }
    let refusals: usize = refused.values().sum();
    let all = passed + refusals + wrong.len();
    println!(
        "openCypher TCK 2024.3: {passed} of {all} scenarios pass, {refusals} refused, {} wrong",
        wrong.len()
    );
    for (construct, count) in &refused {
        println!("refused {count:3} times: {construct}");
    }
    assert!(wrong.is_empty(), "wrong results:\n{}", wrong.join("\n---\n"));
    assert!(all > 1_000, "only {all} scenarios were found");
    assert!(passed * 100 >= all * 70, "{passed} of {all} is below 70 %");
}

/// Every query of the whole suite that writes or calls is refused before anything runs.
#[test]
fn every_writing_or_calling_query_of_the_suite_is_refused() {
    let suite = suite();
    let mut files = Vec::new();
    features(&suite.join("features"), &mut files);
    let mut count = 0;
    for file in files {
        for scenario in gherkin::read_scenarios(&file) {
            for text in scenario.setup.iter().chain([&scenario.query]) {
                if setup::writes_or_calls(text) {
                    count += 1;
                    assert!(Query::read(text).is_err(), "{} was accepted:\n{text}", scenario.name);
                }
            }
        }
    }
    println!("{count} writing or calling queries of the suite, all refused");
    assert!(count > 1_000, "only {count} writing or calling queries were found");
}
