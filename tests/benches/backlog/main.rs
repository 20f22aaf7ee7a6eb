//! A million events of an outage go from the spool of the real `pdm-edge` through Mosquitto into
//! the SQLite file of the real `pdm-agent`, which judges meanwhile, while the edge measures 8
//! channels at 25.6 kHz. The benchmark reports the memory of both programs and the duration, and
//! checks that every event is stored once.
//!
//! ```text
//! cargo bench -p pdm-tests --bench backlog [-- EVENTS]
//! ```
//!
//! The benchmark builds the two programs beside it in release form; with the usual profile it takes
//! those that are there. It needs Mosquitto and about 10 GB of disk in the folder for temporary
//! files.

mod drain;
mod outage;

use std::process::Command;

/// Events that wait when the programs start.
const EVENTS: u64 = 1_000_000;

fn main() {
    let asked = std::env::args().find_map(|argument| argument.parse().ok());
    if !cfg!(debug_assertions) {
        build_programs();
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(drain::measure(asked.unwrap_or(EVENTS)));
}

/// Builds both programs beside this one, in the same profile.
fn build_programs() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_not_by_cargo| "cargo".to_owned());
    let arguments = ["build", "--release", "-p", "pdm-edge", "-p", "pdm-agent", "--bins"];
    let built = Command::new(cargo).args(arguments).status().expect("cargo starts");
    assert!(built.success(), "the programs cannot be built: {built}");
}

#[expect(clippy::print_stdout, reason = "the benchmark prints its result")]
fn say(line: &str) {
    println!("{line}");
}
