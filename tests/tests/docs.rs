//! Checks the documents against the programs: configuration examples are accepted, links have a
//! target, and every metric is explained in both languages.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const GUIDES: [&str; 2] = ["docs/connect.md", "docs/connect.ko.md"];
const OPERATIONS: [&str; 2] = ["docs/operations.md", "docs/operations.ko.md"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The fenced blocks of a document with this mark.
fn blocks(text: &str, mark: &str) -> Vec<String> {
    let fence = format!("```{mark}\n");
    let rest = text.split(&fence).skip(1);
    rest.filter_map(|rest| rest.split("\n```").next()).map(str::to_owned).collect()
}

fn edge(text: &str) -> Result<(), String> {
    let parsed = pdm_edge::settings::parse(Path::new("/etc/pdm/edge.toml"), text);
    parsed.map(|_| ()).map_err(|error| error.to_string())
}

fn agent(text: &str) -> Result<(), String> {
    let parsed = pdm_agent::settings::AgentSettings::parse(Path::new("/etc/pdm/agent.toml"), text);
    parsed.map(|_| ()).map_err(|error| error.to_string())
}

#[test]
fn the_guides_show_configurations_that_both_programs_accept() {
    for guide in GUIDES {
        let text = read(guide);
        let (edges, agents) = (blocks(&text, "toml edge"), blocks(&text, "toml agent"));
        let sections = blocks(&text, "toml edge-section");
        assert_eq!((edges.len(), agents.len(), sections.len()), (2, 3, 1), "{guide}");
        for block in &edges {
            assert_eq!(edge(block), Ok(()), "{guide}:\n{block}");
        }
        for block in &agents {
            assert_eq!(agent(block), Ok(()), "{guide}:\n{block}");
        }
        for section in &sections {
            assert_eq!(edge(&format!("{}\n{section}", edges[0])), Ok(()), "{guide}");
            assert_eq!(agent(&format!("[store]\nsqlite = \"a.db\"\n{section}")), Ok(()), "{guide}");
        }
    }
}

#[test]
fn the_specification_of_frames_shows_a_configuration_that_the_edge_accepts() {
    let [english, korean] =
        ["docs/frames.md", "docs/frames.ko.md"].map(|page| blocks(&read(page), "toml edge"));
    assert_eq!(english.len(), 1);
    assert_eq!(english, korean);
    assert_eq!(edge(&english[0]), Ok(()), "{}", english[0]);
}

#[test]
fn both_languages_show_the_same_configurations() {
    let [english, korean] = GUIDES.map(read);
    for mark in ["toml edge", "toml edge-section", "toml agent"] {
        let values = |text: &str| -> Vec<toml::Table> {
            blocks(text, mark).iter().map(|block| block.parse().expect("TOML")).collect()
        };
        assert_eq!(values(&english), values(&korean), "{mark}");
    }
}

/// The names `pdm_edge_…` and `pdm_agent_…` in a text.
fn metrics(text: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
    text.split(|c| !is_name(c))
        .filter(|word| word.starts_with("pdm_edge_") || word.starts_with("pdm_agent_"))
        .map(str::to_owned)
        .collect()
}

/// The names of the programs' metrics: the argument of `counter!(`, `gauge!(` and `histogram!(`.
fn counted(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            counted(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source");
            for kind in ["counter!(", "gauge!(", "histogram!("] {
                let uses = text.split(kind).skip(1);
                found.extend(uses.filter_map(|rest| metrics(rest.split(')').next()?).pop_first()));
            }
        }
    }
}

/// R-EDGE-11, R-AGENT-12
#[test]
fn every_metric_is_explained_in_both_languages_and_no_other() {
    let mut real = BTreeSet::new();
    for program in [
        "edge",
        "agent",
        "agent/knowledge",
        "agent/reasoner",
        "agent/report",
        "agent/store",
        "agent/tools",
    ] {
        counted(&root().join(program).join("src"), &mut real);
    }
    assert!(real.len() > 40, "only {real:?} were found");
    for document in OPERATIONS {
        let mut told = metrics(&read(document));
        // the table of judgements is not a metric
        told.remove("pdm_agent_memory");
        assert_eq!(told, real, "{document}");
    }
}

/// The targets of the links `[text](target)` of a document, without addresses on the network.
fn links(text: &str) -> Vec<String> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let targets = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
    targets.map(|target| target.split('#').next().unwrap_or(target).to_owned()).collect()
}

#[test]
fn every_link_between_the_documents_leads_somewhere() {
    let mut followed = 0;
    for folder in ["", "docs", "deploy"] {
        for entry in std::fs::read_dir(root().join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|extension| extension != "md") {
                continue;
            }
            for link in links(&std::fs::read_to_string(&path).expect("a document")) {
                let target = path.with_file_name(&link);
                assert!(target.exists(), "{}: {link}", path.display());
                followed += 1;
            }
        }
    }
    assert!(followed > 15, "only {followed} links were followed");
}
