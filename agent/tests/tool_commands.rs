//! Tests the commands that people and scripts type: `pdm-agent tools`, its output and its exit
//! codes.

use std::process::Command;

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A right tool's file with `extra` lines at its end.
fn tool(name: &str, layer: &str, extra: &str) -> String {
    format!(
        "name: {name}\nversion: \"1.0.0\"\nlayer: {layer}\ndomain: data\ndescription: a tool\n\
         input_schema:\n  type: object\n  properties:\n    query: {{type: string}}\n\
         output_schema:\n  type: object\n  properties: {{}}\n{extra}"
    )
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

/// The tools that the project ships.
fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/tools")
}

/// Exit code, standard output, standard error.
fn typed(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
        .arg("tools")
        .args(arguments)
        .env_remove("PDM_TOOLS")
        .env_remove("PDM_AGENT_CONFIG")
        .output()
        .expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_shipped_tools_are_listed_described_and_drawn() {
    let shipped = shipped().display().to_string();
    let (code, listed, _) = typed(&["list", "--tools", &shipped, "--tag", "search"]);
    assert_eq!((code, listed.lines().count()), (0, 5));
    let (code, described, _) =
        typed(&["describe", "notify_maintenance_staff", "--tools", &shipped]);
    let described: serde_json::Value = serde_json::from_str(&described).expect("JSON");
    assert_eq!((code, &described["layer"]), (0, &"ops".into()));
    let (code, dot, _) = typed(&["graph", "--dot", "--tools", &shipped]);
    assert!(code == 0 && dot.contains("notify_maintenance_staff"), "{dot}");
    let (code, said, _) = typed(&["validate", &shipped]);
    assert_eq!((code, said.as_str()), (0, "20 tools, all right\n"));
}

#[test]
fn a_wrong_tool_is_told_with_file_line_and_field_and_exit_65() {
    let wrong = tool("a", "execution", "");
    let folder = folder(&[
        ("a.yaml", &wrong),
        ("b.yaml", &tool("b", "ops", "executor: table\nconfig: {source: s, rows: [{a: 1}]}\n")),
    ]);
    let path = folder.path().display().to_string();
    let (code, told, error) = typed(&["validate", &path]);
    assert_eq!(code, 65, "{error}");
    assert!(
        told.starts_with(&format!("{path}/a.yaml:3:1: layer: is \"execution\", allowed")),
        "{told}"
    );
    assert_eq!(error, "pdm-agent: 1 problems; 1 tools are right\n");
}

#[test]
fn a_call_that_cannot_be_made_has_its_own_exit_code() {
    let shipped = shipped().display().to_string();
    let code = |arguments: &[&str]| {
        let (code, _, error) = typed(&[arguments, &["--tools", &shipped]].concat());
        (code, error)
    };
    assert_eq!(code(&["call", "nothing"]).0, 64);
    assert_eq!(code(&["call", "search_equipment_manual", "{"]).0, 64);
    let (wrong, error) = code(&["call", "search_equipment_manual", "{\"top_k\": 1}"]);
    assert_eq!(wrong, 64);
    assert!(error.contains("query: is required and missing"), "{error}");
    assert_eq!(typed(&["list", "--tools", "/no/such/folder"]).0, 66);
}
