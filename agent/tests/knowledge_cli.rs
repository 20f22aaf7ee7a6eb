//! `pdm-agent knowledge` as it is typed.

use std::path::Path;
use std::process::{Command, Output};

fn typed(store: &Path, arguments: &[&str]) -> Output {
    let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../config");
    Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
        .arg("knowledge")
        .args(arguments)
        .arg("--store")
        .arg(store)
        .current_dir(documents)
        .output()
        .expect("runs")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// R-KB-5, R-KB-7.
#[test]
fn documents_are_ingested_searched_and_looked_up_by_command() {
    let folder = tempfile::tempdir().expect("folder");
    let store = folder.path().join("knowledge.db");
    let first = typed(&store, &["ingest", "knowledge"]);
    assert!(first.status.success(), "{first:?}");
    assert_eq!(text(&first).matches("stored").count(), 19);
    assert_eq!(text(&typed(&store, &["ingest", "knowledge"])).matches("same").count(), 19);
    let found = typed(&store, &["search", "보지기 파손", "--top-k", "1", "--json"]);
    let hits: serde_json::Value = serde_json::from_slice(&found.stdout).expect("json");
    assert_eq!(hits.as_array().map(Vec::len), Some(1));
    assert!(hits[0]["source"].as_str().is_some_and(|source| source.contains(".md")), "{hits}");
    assert!(text(&typed(&store, &["section", "EM-06", "9"])).contains("길들이기 운전"));
    assert!(text(&typed(&store, &["title", "외륜 결함 가이드"])).contains("EM-02"));
}

#[test]
fn exit_codes_tell_what_went_wrong() {
    let folder = tempfile::tempdir().expect("folder");
    let store = folder.path().join("knowledge.db");
    let bad = folder.path().join("bad.pdf");
    std::fs::write(&bad, "no PDF").expect("file");
    let code = |arguments: &[&str]| typed(&store, arguments).status.code();
    assert_eq!(code(&["ingest", &bad.to_string_lossy()]), Some(65));
    assert_eq!(code(&["ingest", "nowhere"]), Some(66));
    assert_eq!(code(&["section", "EM-99", "1"]), Some(66));
    assert_eq!(code(&["search", "?"]), Some(64));
    assert_eq!(typed(folder.path(), &["search", "외륜"]).status.code(), Some(69));
}

/// A search made an empty `knowledge.db` in whatever folder it was typed in.
#[test]
fn a_search_makes_no_knowledge_base_and_says_that_there_is_none() {
    let folder = tempfile::tempdir().expect("folder");
    let store = folder.path().join("deep/knowledge.db");
    for arguments in [&["search", "외륜"][..], &["section", "EM-06", "9"], &["title", "절차서"]]
    {
        let output = typed(&store, arguments);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(66), "{arguments:?}: {told}");
        assert!(told.contains("there is no knowledge base"), "{arguments:?}: {told}");
        assert!(!folder.path().join("deep").exists(), "{arguments:?}");
    }
}

/// A document that a stranger brings is the first answer of a search: whoever reads it has to learn
/// from whom it is.
#[test]
fn a_documents_bringer_stands_in_the_list_and_in_the_record_of_acts() {
    let folder = tempfile::tempdir().expect("folder");
    let at = |name: &str| folder.path().join(name);
    let (store, config, manual) = (at("knowledge.db"), at("agent.toml"), at("V-78.md"));
    let text_of = "[store]\nsqlite = \"agent.db\"\n[broker]\naddresses = [\"127.0.0.1:1\"]\n";
    std::fs::write(&config, text_of).expect("written");
    std::fs::write(&manual, "# Mixer V-78\n\n## 1. Grease\n\n41 g.\n").expect("written");
    let migrated = Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
        .args(["migrate", "--config"])
        .arg(&config)
        .status();
    assert!(migrated.expect("runs").success());
    let ingest = |by: &str| {
        let (manual, config) = (manual.display().to_string(), config.display().to_string());
        typed(&store, &["ingest", &manual, "--by", by, "--config", &config])
    };
    assert!(ingest("lee").status.success());
    // the same text by somebody else is still the first one's
    assert!(text(&ingest("park")).contains("same"));
    let listed = text(&typed(&store, &["list"]));
    assert!(listed.contains("V-78") && listed.contains("added by lee (cli) 20"), "{listed}");
    let listed = typed(&store, &["list", "--json"]);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("json");
    assert_eq!(listed[0]["added"]["by"], "lee", "{listed}");
    assert_eq!(typed(&at("none.db"), &["list"]).status.code(), Some(66));
    let acts = Command::new("sqlite3")
        .arg(at("agent.db"))
        .arg("SELECT who || ' ' || action || ' ' || what FROM acts")
        .output();
    let acts = text(&acts.expect("sqlite3 is installed"));
    assert!(acts.contains("lee upload") && acts.contains("\"V-78\""), "{acts}");
}
