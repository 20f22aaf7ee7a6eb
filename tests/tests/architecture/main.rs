//! Tests of the structure: the arrows between crates, the modules inside each, their names, and the
//! map in ARCHITECTURE.md.

mod crates;
mod lines;
mod map;
mod modules;
mod names;
mod published;
mod walks;

use std::path::{Path, PathBuf};

/// The crates whose folders and modules are looked at, as folders from the project's root.
const CRATES: [&str; 24] = [
    "shared",
    "shared/service",
    "edge",
    "edge/dsp",
    "agent",
    "agent/episode",
    "agent/expert",
    "agent/knowledge",
    "agent/tools",
    "agent/decision",
    "agent/graph",
    "agent/hook",
    "agent/kinds",
    "agent/oidc",
    "agent/pdf",
    "agent/routes",
    "agent/script",
    "agent/store",
    "agent/report",
    "agent/reasoner",
    "agent/waveform",
    "agent/web",
    "deploy/standalone",
    "tests",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
