//! R-PACK-1: every tool of every pack, called over MCP by a client that is not ours (the `mcp`
//! package of Python), with the examples of the documents that the packs come from.
//!
//! `examples.json` holds, by pack, the calls with what their answers must hold, and the wrong calls
//! with what they are told. Each answer is checked against the `output_schema` of the tool's file,
//! which is read here without the project's own reader.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use pdm_harness::PythonPackage;
use serde::Deserialize;
use serde_json::Value;
use tempfile::TempDir;

mod model;

/// The versions whose programming interface the script uses.
const PACKAGE: PythonPackage<'_> =
    PythonPackage { requirement: "mcp>=2.3,<3", probe: "import mcp.client.stdio" };

/// The examples of one pack.
#[derive(Debug, Deserialize)]
struct Examples {
    right: Vec<Right>,
    wrong: Vec<Wrong>,
}

/// A call whose answer holds these values, each under its JSON pointer.
#[derive(Debug, Deserialize)]
struct Right {
    tool: String,
    arguments: Value,
    #[serde(default)]
    holds: BTreeMap<String, Value>,
}

/// A call that is refused with these words.
#[derive(Debug, Deserialize)]
struct Wrong {
    tool: String,
    arguments: Value,
    says: String,
}

/// The tools and calls that the client saw.
#[derive(Debug, Deserialize)]
struct Seen {
    tools: Vec<String>,
    calls: Vec<SeenCall>,
}

#[derive(Debug, Deserialize)]
struct SeenCall {
    #[serde(rename = "isError")]
    is_error: bool,
    value: Value,
    text: String,
}

fn pack_folder(pack: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/packs").join(pack)
}

/// The output schema of each tool of a pack, by name.
fn schemas(pack: &str) -> BTreeMap<String, Value> {
    let files = std::fs::read_dir(pack_folder(pack).join("tools")).expect("the tools");
    let read = |file: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(file.expect("an entry").path()).expect("a text");
        let tool: Value = serde_saphyr::from_str(&text).expect("YAML");
        (tool["name"].as_str().expect("a name").to_owned(), tool["output_schema"].clone())
    };
    files.map(read).collect()
}

/// Returns what the client sees of `pdm-agent mcp` with these arguments.
fn seen(python: &Path, arguments: &[&str], calls: &[Value]) -> Seen {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("calls.json");
    std::fs::write(&file, serde_json::to_string(calls).expect("JSON")).expect("written");
    let output = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/packs/client.py"))
        .arg(&file)
        .arg(env!("CARGO_BIN_EXE_pdm-agent"))
        .arg("mcp")
        .args(arguments)
        .env_remove("PDM_AGENT_CONFIG")
        .output()
        .expect("python runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {told}"))
}

fn same(is: &Value, expected: &Value) -> bool {
    match (is.as_f64(), expected.as_f64()) {
        (Some(is), Some(expected)) => (is - expected).abs() < 1e-9,
        _ => is == expected,
    }
}

fn claims(pack: &str, examples: &Examples, seen: &Seen) {
    let schemas = schemas(pack);
    for name in schemas.keys() {
        assert!(seen.tools.contains(name), "{pack}: {name} is not listed");
    }
    let (right, wrong) = seen.calls.split_at(examples.right.len());
    let mut answered = BTreeSet::new();
    for (example, call) in examples.right.iter().zip(right) {
        let tool = &example.tool;
        assert!(!call.is_error, "{pack}: {tool} {}: {}", example.arguments, call.text);
        let schema = jsonschema::validator_for(&schemas[tool]).expect("a schema");
        let errors: Vec<String> =
            schema.iter_errors(&call.value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{pack}: {tool}: {errors:?}: {}", call.value);
        for (at, expected) in &example.holds {
            let is = call.value.pointer(at).unwrap_or(&Value::Null);
            assert!(
                same(is, expected),
                "{pack}: {tool} {at}: {is}, not {expected}: {}",
                call.value
            );
        }
        answered.insert(tool.as_str());
    }
    for (example, call) in examples.wrong.iter().zip(wrong) {
        let tool = &example.tool;
        assert!(call.is_error, "{pack}: {tool} {} is refused: {}", example.arguments, call.text);
        assert!(call.text.contains(&example.says), "{pack}: {tool}: {}", call.text);
        answered.insert(tool.as_str());
    }
    let every: BTreeSet<&str> = schemas.keys().map(String::as_str).collect();
    assert_eq!(answered, every, "{pack}: every tool is called");
}

/// Every shipped pack has examples, and all of them hold.
#[test]
fn every_tool_of_every_pack_answers_an_independent_client() {
    let test = "every_tool_of_every_pack_answers_an_independent_client";
    let Some(python) = PACKAGE.interpreter(test, env!("CARGO_TARGET_TMPDIR"), "mcp-venv") else {
        return;
    };
    let text = include_str!("examples.json");
    let packs: BTreeMap<String, Examples> = serde_json::from_str(text).expect("examples");
    let shipped: Vec<&str> = pdm_tools::pack::shipped_names().collect();
    assert_eq!(packs.keys().map(String::as_str).collect::<Vec<_>>(), shipped);
    for (pack, examples) in &packs {
        let call = |tool: &str, arguments: &Value| serde_json::json!({ "tool": tool, "arguments": arguments });
        let right = examples.right.iter().map(|one| call(&one.tool, &one.arguments));
        let wrong = examples.wrong.iter().map(|one| call(&one.tool, &one.arguments));
        let calls: Vec<Value> = right.chain(wrong).collect();
        claims(pack, examples, &seen(&python, &["--packs", pack], &calls));
    }
}

/// R-TOOL-2 and the tool specification, section 8: the validator's result as it gives it.
#[test]
fn validate_tells_valid_and_errors() {
    let validated = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
            .args(["tools", "validate", "--json"])
            .args(arguments)
            .env_remove("PDM_AGENT_CONFIG")
            .output()
            .expect("the program runs");
        let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        (output.status.code(), told)
    };
    let all = pdm_tools::pack::shipped_names().collect::<Vec<_>>().join(",");
    let (code, told) = validated(&["--packs", &all]);
    assert_eq!((code, told), (Some(0), serde_json::json!({"valid": true, "errors": []})));

    // a tool whose function the program does not have
    let folder = TempDir::new().expect("a folder");
    let tool = "name: nobody\nversion: \"1.0.0\"\nlayer: ops\ndomain: data\ndescription: d\n\
                input_schema: {type: object, properties: {}}\n\
                output_schema: {type: object, properties: {}}\n";
    std::fs::write(folder.path().join("nobody.yaml"), tool).expect("written");
    let (code, told) = validated(&[&folder.path().display().to_string()]);
    assert_eq!((code, &told["valid"]), (Some(65), &Value::Bool(false)));
    let error = told["errors"][0].as_str().expect("an error");
    assert!(
        error.contains("nobody.yaml:1:1: executor: the program has no function \"nobody\""),
        "{error}"
    );
}

/// R-GRAPH-1: a tool's own graph query is read before anybody calls the tool.
#[test]
fn validate_refuses_a_graph_query_that_cannot_be_read_or_writes() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("asks.yaml");
    for (query, line, told) in [
        ("MATCH (e:Equipment) RETURN e.id", 0, ""),
        ("MATCH (e:Equipment) SET e.name = 'x'", 8, "config.query: SET is not allowed"),
        (
            "MATCH (e:Equipment RETURN e.id",
            8,
            "config.query: the query cannot be read: line 1, column 7",
        ),
        ("MATCH (e:Equipment) RETURN f.id", 8, "config.query: UndefinedVariable"),
    ] {
        let tool = format!(
            "name: asks\nversion: \"1.0.0\"\nlayer: collection\ndomain: data\ndescription: d\n\
             executor: graph\nconfig:\n  query: \"{query}\"\n\
             input_schema: {{type: object, properties: {{}}}}\noutput_schema: {{type: array}}\n"
        );
        std::fs::write(&file, tool).expect("written");
        let output = Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
            .args(["tools", "validate", &folder.path().display().to_string()])
            .env_remove("PDM_AGENT_CONFIG")
            .output()
            .expect("the program runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let expected = if told.is_empty() { 0 } else { 65 };
        assert_eq!(output.status.code(), Some(expected), "{query}: {said}");
        if !told.is_empty() {
            let place = format!("asks.yaml:{line}:3: {told}");
            assert!(said.contains(&place), "{place}: {said}");
        }
    }
}

#[test]
fn a_pack_that_is_not_there_is_told_with_those_that_are() {
    let output = Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
        .args(["tools", "list", "--packs", "contract"])
        .output()
        .expect("the program runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(66), "{told}");
    assert!(
        told.contains("there is no pack contract; there are: ") && told.contains("contracts"),
        "{told}"
    );
    let folder = TempDir::new().expect("a folder");
    let config = folder.path().join("agent.toml");
    std::fs::write(&config, "[store]\nsqlite = \"a.db\"\n[tools]\npacks = [\"contract\"]\n")
        .expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
        .args(["tools", "list", "--config"])
        .arg(&config)
        .output()
        .expect("the program runs");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(78), "{told}");
    assert!(told.contains("tools.packs is contract, allowed is "), "{told}");
}
