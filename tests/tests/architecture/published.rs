//! Checks that the crate of signal science reads as a library of its own: its pages, its examples
//! and what a package of it would hold name no requirement, no program and no other crate of this
//! project.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::root;

/// Words that only people of this project know, in text that callers of the library read.
const INNER: [&str; 7] =
    ["R-EDGE", "R-AGENT", "pdm_shared::", "pdm-edge", "pdm-agent", "the gateway", "the agent"];

/// Rust files of a folder and those below it, without tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs")
            && path.file_stem().is_some_and(|stem| stem != "tests")
        {
            found.push(path);
        }
    }
}

/// The lines that documentation shows: doc comments before the tests of a file.
fn documented(text: &str) -> impl Iterator<Item = &str> {
    let before = text.split("#[cfg(test)]").next().unwrap_or_default();
    before
        .lines()
        .map(str::trim_start)
        .filter(|line| line.starts_with("//!") || line.starts_with("///"))
}

/// R-EDGE-4. Whoever reads the documentation of `pdm-dsp` meets no inner word of this project.
#[test]
fn pages_and_examples_of_the_signal_crate_have_no_inner_words() {
    let folder = root().join("edge/dsp");
    let mut files = Vec::new();
    sources(&folder.join("src"), &mut files);
    assert!(files.len() > 20, "{}", files.len());
    let mut found = Vec::new();
    let mut look = |path: &Path, line: &str| {
        for word in INNER.iter().filter(|word| line.contains(**word)) {
            found.push(format!("{}: {word}: {line}", path.display()));
        }
    };
    for path in &files {
        let text = std::fs::read_to_string(path).expect("a source");
        documented(&text).for_each(|line| look(path, line));
    }
    let mut whole = vec![folder.join("README.md")];
    sources(&folder.join("examples"), &mut whole);
    assert!(whole.len() >= 3, "{whole:?}");
    for path in &whole {
        let text = std::fs::read_to_string(path).expect("a page");
        text.lines().for_each(|line| look(path, line));
    }
    assert_eq!(found, Vec::<String>::new());
}

/// R-EDGE-4. A package of `pdm-dsp` holds its sources, examples, page and licence, and nothing that
/// only this project needs. Nothing is published and no registry is asked.
#[test]
fn a_package_of_the_signal_crate_holds_what_callers_need() {
    let listed = Command::new(env!("CARGO"))
        .args(["package", "--package", "pdm-dsp", "--list", "--offline", "--allow-dirty"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let said = String::from_utf8_lossy(&listed.stderr);
    assert!(listed.status.success(), "{said}");
    let listed = String::from_utf8(listed.stdout).expect("names");
    let names: Vec<&str> = listed.lines().collect();
    for wanted in
        ["LICENSE", "README.md", "examples/diagnose.rs", "examples/envelope.rs", "src/lib.rs"]
    {
        assert!(names.contains(&wanted), "{wanted} is not in {names:?}");
    }
    let made_by_cargo = [".cargo_vcs_info.json", "Cargo.lock", "Cargo.toml", "Cargo.toml.orig"];
    let folders = ["src/", "examples/", "benches/", "tests/"];
    for name in &names {
        let is_known = made_by_cargo.contains(name)
            || ["LICENSE", "README.md"].contains(name)
            || folders.iter().any(|folder| name.starts_with(folder));
        assert!(is_known && !name.ends_with("proptest-regressions"), "{name}");
    }
    let manifest = std::fs::read_to_string(root().join("edge/dsp/Cargo.toml")).expect("a manifest");
    for key in ["description", "readme", "keywords", "categories", "license"] {
        assert!(manifest.lines().any(|line| line.starts_with(key)), "{key}");
    }
}
