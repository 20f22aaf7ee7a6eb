//! Requirements of a test that may be missing: the test is then *not run*, by name, and never
//! "passed".
//!
//! With `PDM_REQUIRE_ALL=1` a missing requirement fails the test. Otherwise the test's name and the
//! reason are appended to the file in `PDM_NOT_RUN`, which the test command counts and prints.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

/// Notes that `test` was not run, with the reason; the test then returns.
///
/// # Panics
/// With `PDM_REQUIRE_ALL=1`, which allows no omission.
pub fn not_run(test: &str, why: &str) {
    assert!(
        std::env::var_os("PDM_REQUIRE_ALL").is_none_or(|all| all != "1"),
        "{test} cannot run, and PDM_REQUIRE_ALL=1 allows no test to be left out: {why}"
    );
    note(test, why);
}

#[expect(clippy::print_stderr, reason = "a test that was not run says so")]
fn note(test: &str, why: &str) {
    eprintln!("NOT RUN: {test}: {why}");
    if let Some(path) = std::env::var_os("PDM_NOT_RUN") {
        let line = format!("{test}: {why}\n");
        let written = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .and_then(|mut file| file.write_all(line.as_bytes()));
        assert!(written.is_ok(), "cannot note in {}: {written:?}", path.display());
    }
}

/// The address of a server that no package provides, from the environment variable `variable`. If
/// the variable is not set, the test is noted as not run, even with `PDM_REQUIRE_ALL=1`: such a
/// server is not available everywhere.
pub fn outside_server(test: &str, variable: &str) -> Option<String> {
    let url = std::env::var(variable).ok().filter(|url| !url.is_empty());
    if url.is_none() {
        note(test, &format!("{variable} is not set"));
    }
    url
}

/// The folder of real recordings: `PDM_DATA_DIR`, else `../shared/data` beside the workspace.
/// `None` (noted as not run) if the folder does not exist.
pub fn data_dir(test: &str) -> Option<PathBuf> {
    let workspace = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let dir = std::env::var_os("PDM_DATA_DIR")
        .map_or_else(|| PathBuf::from(workspace).join("../shared/data"), PathBuf::from);
    if dir.join("manifest.json").is_file() {
        return Some(dir);
    }
    not_run(test, &format!("no recordings in {} (set PDM_DATA_DIR)", dir.display()));
    None
}

/// The path of a program that a test starts, also searched in the folders of servers that Debian
/// keeps off `PATH`. `None` (noted as not run) if the program is not installed.
pub fn program(test: &str, name: &str) -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> =
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    folders.push("/usr/sbin".into());
    if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    let found = folders.into_iter().map(|folder| folder.join(name)).find(|path| path.is_file());
    if found.is_none() {
        not_run(test, &format!("the program {name} is not installed"));
    }
    found
}

/// Whether this process runs as root, which some servers refuse.
pub(crate) fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}
