//! The crate graph against the arrows of ARCHITECTURE.md, checked on the graph that cargo resolves.
//! `deny.toml` states the same for `cargo deny`.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Each crate with the names of its production dependencies (no dev-dependencies).
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

/// The wings of the agent.
const WINGS: [&str; 16] = [
    "pdm-decision",
    "pdm-episode",
    "pdm-expert",
    "pdm-graph",
    "pdm-hook",
    "pdm-kinds",
    "pdm-oidc",
    "pdm-knowledge",
    "pdm-tools",
    "pdm-pdf",
    "pdm-report",
    "pdm-routes",
    "pdm-script",
    "pdm-store",
    "pdm-web",
    "pdm-reasoner",
];

/// The one crate of the agent's side that computes: pictures and sound of captured waveforms, for
/// people.
const PICTURES: &str = "pdm-waveform";

/// R-AGENT-2: no wing that judges, remembers, words or shows can compute, and the agent reaches the
/// signal crate by the pictures of waveforms alone.
#[test]
fn what_the_agent_judges_and_says_cannot_be_computed() {
    let mut graph = graph();
    assert!(reachable(&graph, PICTURES).contains("pdm-dsp"));
    graph.remove(PICTURES);
    for name in WINGS.into_iter().chain(["pdm-agent"]) {
        let reached = reachable(&graph, name);
        assert!(graph.contains_key(name), "{name} is in the graph");
        assert!(name == "pdm-agent" || !reached.contains(PICTURES), "{name} reaches {PICTURES}");
        for banned in ["pdm-dsp", "pdm-edge", "realfft", "rustfft"] {
            assert!(!reached.contains(banned), "{name} reaches {banned}");
        }
    }
}

/// R-AGENT-2: within the agent only the files of captures name the crate that computes.
#[test]
fn only_the_captures_of_the_agent_compute() {
    let mut folders = vec![crate::root().join("agent/src")];
    let mut naming = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if std::fs::read_to_string(&path).expect("a source").contains("pdm_waveform") {
                naming.push(path);
            }
        }
    }
    assert!(!naming.is_empty(), "the captures are drawn somewhere");
    let captures = crate::root().join("agent/src/captures");
    let elsewhere: Vec<_> = naming.iter().filter(|path| !path.starts_with(&captures)).collect();
    assert!(elsewhere.is_empty(), "{elsewhere:?} compute");
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

/// Words and rules can be used in any program: they depend on no runtime, no TLS, no command line
/// and no HTTP.
#[test]
fn words_signal_science_and_rules_need_no_runtime() {
    let graph = graph();
    for name in ["pdm-shared", "pdm-dsp", "pdm-expert", "pdm-episode", "pdm-routes", PICTURES] {
        let reached = reachable(&graph, name);
        for banned in ["tokio", "rustls", "clap", "axum", "reqwest", "sqlx", "pdm-service"] {
            assert!(!reached.contains(banned), "{name} reaches {banned}");
        }
    }
}

#[test]
fn edge_and_agent_do_not_know_each_other() {
    let graph = graph();
    assert!(!reachable(&graph, "pdm-edge").contains("pdm-agent"));
    assert!(!reachable(&graph, "pdm-agent").contains("pdm-edge"));
}

/// Every wing can be built and tested without the agent.
#[test]
fn no_wing_knows_the_agent() {
    let graph = graph();
    for wing in WINGS {
        assert!(!reachable(&graph, wing).contains("pdm-agent"), "{wing} reaches pdm-agent");
    }
}

/// The parser of PDFs is a tenth of a build and its peak of memory: it is in a program of its own,
/// which a build can leave out (`cargo build -p pdm-agent`, `-p pdm`).
#[test]
fn the_agent_is_built_without_the_parser_of_pdfs() {
    let graph = graph();
    assert!(reachable(&graph, "pdm-pdf").contains("oxidize-pdf"));
    for name in WINGS.into_iter().chain(["pdm-agent", "pdm"]).filter(|name| *name != "pdm-pdf") {
        let reached = reachable(&graph, name);
        assert!(!reached.contains("oxidize-pdf") && !reached.contains("pdm-pdf"), "{name}");
    }
}

/// Each crate with those that it needs.
const PLANNED: [(&str, &[&str]); 23] = [
    ("pdm-shared", &[]),
    ("pdm-service", &["pdm-shared"]),
    ("pdm-dsp", &["pdm-shared"]),
    ("pdm-edge", &["pdm-dsp", "pdm-service", "pdm-shared"]),
    ("pdm-expert", &["pdm-shared"]),
    ("pdm-episode", &["pdm-shared"]),
    ("pdm-knowledge", &["pdm-service", "pdm-shared"]),
    ("pdm-tools", &["pdm-service", "pdm-shared"]),
    ("pdm-decision", &["pdm-shared", "pdm-tools"]),
    ("pdm-graph", &["pdm-tools"]),
    ("pdm-hook", &["pdm-service", "pdm-shared"]),
    ("pdm-routes", &["pdm-shared"]),
    ("pdm-kinds", &[]),
    ("pdm-oidc", &["pdm-service"]),
    ("pdm-pdf", &["pdm-service"]),
    ("pdm-web", &["pdm-oidc", "pdm-routes", "pdm-service", "pdm-shared"]),
    ("pdm-waveform", &["pdm-dsp", "pdm-shared"]),
    ("pdm-script", &["pdm-service"]),
    (
        "pdm-reasoner",
        &[
            "pdm-expert",
            "pdm-kinds",
            "pdm-routes",
            "pdm-script",
            "pdm-service",
            "pdm-shared",
            "pdm-tools",
        ],
    ),
    ("pdm-report", &["pdm-expert", "pdm-knowledge", "pdm-routes", "pdm-service", "pdm-shared"]),
    (
        "pdm-store",
        &[
            "pdm-decision",
            "pdm-episode",
            "pdm-expert",
            "pdm-graph",
            "pdm-reasoner",
            "pdm-routes",
            "pdm-service",
            "pdm-shared",
            "pdm-web",
        ],
    ),
    (
        "pdm-agent",
        &[
            "pdm-decision",
            "pdm-episode",
            "pdm-expert",
            "pdm-graph",
            "pdm-hook",
            "pdm-knowledge",
            "pdm-oidc",
            "pdm-reasoner",
            "pdm-report",
            "pdm-routes",
            "pdm-script",
            "pdm-service",
            "pdm-shared",
            "pdm-store",
            "pdm-tools",
            "pdm-waveform",
            "pdm-web",
        ],
    ),
    ("pdm", &["pdm-agent", "pdm-edge", "pdm-service", "pdm-shared"]),
];

/// The arrows between the project's own crates, as in ARCHITECTURE.md. A new arrow is a decision
/// and is added here.
#[test]
fn the_arrows_between_own_crates_are_those_of_the_plan() {
    let graph = graph();
    for (name, needs) in PLANNED {
        let own = |dep: &&String| dep.as_str() == "pdm" || dep.starts_with("pdm-");
        let found: Vec<&str> = graph[name].iter().filter(own).map(String::as_str).collect();
        assert_eq!(found, needs, "{name}");
    }
}
