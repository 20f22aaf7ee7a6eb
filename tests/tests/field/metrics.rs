//! Metrics exist from the start: what the documentation, the alert rules and the dashboard name is
//! there before anything was counted. Issue 33, point 10.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pdm_harness::{Child, binary, free_port, until};
use serde_json::Value;

use crate::watched::{PATIENCE, Watched};

pub(crate) fn project(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file)
}

/// Names of metrics in a text.
fn names(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c| !is_part(c));
    let is_name = |word: &&str| {
        ["pdm_agent_", "pdm_edge_", "pdm_http_", "pdm_tools_"]
            .iter()
            .any(|prefix| word.starts_with(prefix) && word.len() > prefix.len())
    };
    words.filter(is_name).map(str::to_owned).collect()
}

/// The metrics that the tables of a document name.
fn documented(file: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(project(file)).expect("a document");
    let cells = text.lines().filter(|line| line.starts_with("| `pdm_"));
    cells.flat_map(|line| names(line.split('|').nth(1).unwrap_or_default())).collect()
}

/// Returns the text of a scrape, with HELP for each family.
fn scraped(port: u16) -> Option<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).ok()?;
    stream
        .write_all(b"GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
        .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.starts_with("HTTP/1.1 200").then_some(answer)
}

/// An edge with the simulator, whose broker is away.
fn edge(folder: &Path, port: u16) -> Child {
    edge_at(folder, port, free_port())
}

/// An edge with the simulator, at the broker of this port.
pub(crate) fn edge_at(folder: &Path, port: u16, broker: u16) -> Child {
    let text = format!(
        "gateway_id = \"gw-01\"\nsite = \"ulsan-1\"\n\
         [broker]\naddresses = [\"127.0.0.1:{}\"]\n[spool]\npath = \"{}\"\n\
         [admin]\nlisten = \"127.0.0.1:{port}\"\n\
         [[source]]\nname = \"pump\"\nkind = \"simulator\"\npace = 1.0\nrate_hz = 12800.0\n\
         period_s = 60.0\n[source.simulator]\nfault = \"outer_race\"\nsnapshots = 400\n\
         snapshot_s = 1.0\nseed = 1\n[[source.channel]]\nchannel = 0\nequipment = \"P-101\"\n\
         bearing = \"DE\"\nmeasuring_point = \"DE-H\"\nbearing_type = \"6205\"\n\
         rpm = 1797.0\nmachine_group = \"medium_rigid\"\n",
        broker,
        folder.join("spool.db").display()
    );
    std::fs::write(folder.join("edge.toml"), text).expect("written");
    let log = std::fs::File::create(folder.join("edge.log")).expect("log");
    Child::start(
        Command::new(binary("pdm-edge"))
            .args(["run", "--config"])
            .arg(folder.join("edge.toml"))
            .stdout(Stdio::null())
            .stderr(log),
    )
}

#[test]
fn every_documented_metric_exists_from_the_start_with_its_help() {
    let test = "every_documented_metric_exists_from_the_start_with_its_help";
    let Some(mut plant) = Watched::new(test, "sqlite = \"agent.db\"", "") else { return };
    plant.start();
    plant.works();
    let port = free_port();
    let _edge = edge(plant.path(), port);
    let of_edge = until("metrics of the edge", PATIENCE, || scraped(port));
    let (_status, of_agent) = plant.status("/metrics").expect("metrics of the agent");
    let live = names(&format!("{of_agent}{of_edge}"));
    let wanted = documented("docs/operations.md");
    assert!(wanted.len() > 90, "{}", wanted.len());
    let missing: Vec<&String> = wanted.difference(&live).collect();
    assert!(missing.is_empty(), "documented and not there: {missing:?}");
    let families = names(&of_agent).into_iter().chain(names(&of_edge));
    let stem = |name: &String| {
        let stem = ["_sum", "_count", "_bucket"].iter().find_map(|end| name.strip_suffix(end));
        stem.unwrap_or(name).to_owned()
    };
    let both = format!("{of_agent}{of_edge}");
    let without: BTreeSet<String> = families
        .map(|name| stem(&name))
        .filter(|name| !both.contains(&format!("# HELP {name} ")))
        .collect();
    assert!(without.is_empty(), "without HELP: {without:?}");
    let undocumented: Vec<String> = live.iter().map(stem).filter(|n| !wanted.contains(n)).collect();
    assert!(undocumented.is_empty(), "there and not documented: {undocumented:?}");
    assert_eq!(documented("docs/operations.ko.md"), wanted, "both languages name the same");
    let (rules, board) = (rules(), board());
    let unknown: Vec<&String> = rules.union(&board).filter(|name| !live.contains(*name)).collect();
    assert!(unknown.is_empty(), "rules or dashboard name what is not there: {unknown:?}");
}

/// A figure of which the documentation says in bold that it must stay 0 has a rule that sends an
/// alert.
#[test]
fn every_figure_that_must_stay_0_has_an_alert_rule() {
    let rules = rules();
    for (file, words) in [("docs/operations.md", "above 0"), ("docs/operations.ko.md", "0보다")] {
        let text = std::fs::read_to_string(project(file)).expect("a document");
        let rows = text.lines().filter(|line| line.starts_with("| `pdm_") && line.contains("**"));
        let urgent: Vec<&str> = rows.filter(|line| line.contains(words)).collect();
        assert!(urgent.len() > 15, "{file}: {}", urgent.len());
        for row in urgent {
            let named = names(row.split('|').nth(1).unwrap_or_default());
            assert!(!named.is_disjoint(&rules), "{file}: no rule for {named:?}");
        }
    }
}

/// The metrics of the shipped alert rules, which have the form that Prometheus reads.
fn rules() -> BTreeSet<String> {
    let text = std::fs::read_to_string(project("deploy/monitoring/alerts.yaml")).expect("rules");
    let rules: Value = serde_saphyr::from_str(&text).expect("YAML");
    let mut metrics = BTreeSet::new();
    for group in rules["groups"].as_array().expect("groups") {
        assert!(group["name"].is_string());
        for rule in group["rules"].as_array().expect("rules") {
            assert!(rule["alert"].is_string(), "{rule}");
            assert!(rule["annotations"]["summary"].is_string(), "{rule}");
            let found = names(rule["expr"].as_str().expect("an expression"));
            assert!(!found.is_empty(), "{rule}");
            metrics.extend(found);
        }
    }
    metrics
}

/// The metrics of the shipped dashboard.
fn board() -> BTreeSet<String> {
    let text = std::fs::read_to_string(project("deploy/monitoring/grafana.json")).expect("a board");
    let board: Value = serde_json::from_str(&text).expect("JSON");
    let panels = board["panels"].as_array().expect("panels");
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().expect("targets"));
    targets.flat_map(|target| names(target["expr"].as_str().expect("an expression"))).collect()
}
