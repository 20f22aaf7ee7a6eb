//! Tools are declared, checked, reloaded and called: R-TOOL-1 … R-TOOL-8.

mod executors;
mod packs;
mod registry;
mod reload;
mod runtime;
mod server;
mod standards;
mod web;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pdm_tools::{Call, Catalogue, ExecutorResources, Problem, Runtime};
use serde_json::Value;
use tempfile::TempDir;

/// A valid tool file with `extra` lines at its end.
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

/// The folder of the tools that the project ships.
fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../config/tools")
}

/// A runtime for one tool file, and its folder.
fn runtime_of(text: &str, means: ExecutorResources) -> (Runtime, TempDir) {
    let folder = folder(&[("tool.yaml", text)]);
    let (catalogue, problems) = Catalogue::open(folder.path());
    assert_eq!(said(&problems), Vec::<String>::new());
    (Runtime::new(catalogue, means), folder)
}

fn said(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

fn call(tool: &str, arguments: Value) -> Call {
    Call { id: format!("call-of-{tool}"), tool: tool.to_owned(), arguments }
}

/// The names of the tools in a catalogue.
fn names(catalogue: &Arc<Catalogue>) -> Vec<String> {
    catalogue.current().names().to_vec()
}
