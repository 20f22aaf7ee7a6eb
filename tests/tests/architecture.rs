//! The crate graph carries the architecture: the arrows of ARCHITECTURE.md, checked on what cargo
//! resolves. `deny.toml` states the same for `cargo deny`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Crate name → names of what it depends on in production (no dev-dependencies).
fn graph() -> BTreeMap<String, BTreeSet<String>> {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path", manifest])
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let names: BTreeMap<String, String> = list(&metadata["packages"])
        .iter()
        .map(|package| (text(&package["id"]), text(&package["name"])))
        .collect();
    let is_production = |dep: &Value| list(&dep["dep_kinds"]).iter().any(|k| k["kind"].is_null());
    list(&metadata["resolve"]["nodes"])
        .iter()
        .map(|node| {
            let needs = list(&node["deps"]);
            let needs = needs.iter().filter(|dep| is_production(dep));
            let needs = needs.map(|dep| names[&text(&dep["pkg"])].clone()).collect();
            (names[&text(&node["id"])].clone(), needs)
        })
        .collect()
}

fn reachable(graph: &BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(name) = open.pop() {
        for next in graph.get(&name).into_iter().flatten() {
            if seen.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    seen
}

/// R-AGENT-2
#[test]
fn the_agent_cannot_compute() {
    let graph = graph();
    for name in ["pdm-agent", "pdm-expert"] {
        let reached = reachable(&graph, name);
        assert!(!reached.is_empty(), "{name} is in the graph");
        for banned in ["pdm-dsp", "pdm-edge", "realfft", "rustfft"] {
            assert!(!reached.contains(banned), "{name} reaches {banned}");
        }
    }
}

#[test]
fn only_the_signal_crate_sees_transforms() {
    let graph = graph();
    for (name, needs) in
        graph.iter().filter(|(name, _)| !["pdm-dsp", "realfft"].contains(&name.as_str()))
    {
        assert!(
            !needs.contains("rustfft") && !needs.contains("realfft"),
            "{name} uses an FFT crate"
        );
    }
}

#[test]
fn the_signal_crate_is_pure() {
    let graph = graph();
    let needs = &graph["pdm-dsp"];
    let allowed = ["pdm-shared", "realfft", "rustfft", "thiserror"];
    for name in needs {
        assert!(allowed.contains(&name.as_str()), "pdm-dsp depends on {name}");
    }
}

#[test]
fn edge_and_agent_do_not_know_each_other() {
    let graph = graph();
    assert!(!reachable(&graph, "pdm-edge").contains("pdm-agent"));
    assert!(!reachable(&graph, "pdm-agent").contains("pdm-edge"));
}
