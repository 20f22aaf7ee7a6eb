//! `pdm-agent trace` and `pdm-agent follow-up` on a store in which an event was judged.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use pdm_agent::judging::Judging;
use pdm_agent::settings::NotifySettings;
use pdm_agent::workflow::{Expert, Workflow};
use pdm_expert::rules::Rules;
use pdm_service::clock::{Clock, SystemClock};
use pdm_shared::episode::{EpisodeDocument, EpisodeState};
use pdm_shared::event::Event;
use pdm_shared::topic::Prefix;
use pdm_store::{Incoming, Store};
use serde_json::Value;

fn event() -> Event {
    serde_json::from_str(include_str!("../../config/examples/event.json")).expect("event")
}

/// A store in which the contract's event was judged.
async fn judged(folder: &Path) {
    let store = Store::open_sqlite(&folder.join("agent.db")).await.expect("opens");
    store.migrate().await.expect("migrated");
    let payload = serde_json::to_string(&event()).expect("json");
    let batch = [Incoming::Event { event: Box::new(event()), payload, proven: false }];
    store.intake().store(&batch, SystemClock.now(), "dead").await.expect("stored");
    let clock = Arc::new(SystemClock);
    let workflow = Workflow::new(Expert::new(Rules::default()), clock.clone());
    let (notify, prefix) = (NotifySettings::default(), Prefix::default());
    let judging = Judging::new(store.judging(), clock, workflow, &notify, &prefix);
    assert_eq!(judging.pass().await.expect("judged"), 1);
    store.close().await;
    let config = "[store]\nsqlite = \"agent.db\"\n[broker]\n";
    std::fs::write(folder.join("agent.toml"), config).expect("written");
}

fn typed(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pdm-agent"))
        .args(arguments)
        .arg("--config")
        .arg(folder.join("agent.toml"))
        .output()
        .expect("runs")
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// R-AGENT-3: every step is read back in its order.
#[tokio::test]
async fn every_step_of_a_judgement_is_told() {
    let folder = tempfile::tempdir().expect("folder");
    judged(folder.path()).await;
    let id = event().event_id.to_string();
    let json = text(&typed(folder.path(), &["trace", &id, "--json"]));
    let all: Value = serde_json::from_str(&json).expect("json");
    let steps = all["steps"].as_array().expect("a list");
    let nodes: Vec<&str> = steps.iter().filter_map(|step| step["node"].as_str()).collect();
    let documents = ["generate_report", "generate_work_order", "save_memory"];
    assert_eq!(nodes[..3], ["load_memory", "reasoning", "parse_diagnosis"]);
    assert_eq!(nodes[3..], documents);
    let told = text(&typed(folder.path(), &["trace", &id]));
    assert!(told.contains("이전 판정 이력 없음") && told.contains("risk_level: Warning"), "{told}");
}

/// R-AGENT-9: what is to be done is listed, and noted when it is done.
#[tokio::test]
async fn what_was_done_is_noted_with_who_said_so() {
    let folder = tempfile::tempdir().expect("folder");
    judged(folder.path()).await;
    let id = event().event_id.to_string();
    let before = text(&typed(folder.path(), &["follow-up", &id]));
    assert!(before.contains(" 1. [open] 교체 계획"), "{before}");
    let done = ["follow-up", &id, "--number", "1", "--state", "done", "--by", "kim"];
    assert!(text(&typed(folder.path(), &done)).contains(" 1. [done]"));
    let after = text(&typed(folder.path(), &["trace", &id]));
    assert!(after.contains("[done]") && after.contains("(kim, "), "{after}");
    let wrong = ["follow-up", &id, "--number", "9", "--state", "done", "--by", "kim"];
    let output = typed(folder.path(), &wrong);
    assert_eq!(output.status.code(), Some(66));
    assert!(String::from_utf8_lossy(&output.stderr).contains("1 to 2"), "{output:?}");
}

/// R-AGENT-9: what was found is kept with the action, and counts.
#[tokio::test]
async fn what_was_found_counts_in_the_precision() {
    let folder = tempfile::tempdir().expect("folder");
    judged(folder.path()).await;
    let id = event().event_id.to_string();
    let before = text(&typed(folder.path(), &["stats"]));
    assert!(before.contains("actions open        2") && before.contains("precision           –"));
    let found = ["follow-up", &id, "--state", "done", "--by", "kim", "--repaired"];
    let found =
        [&found[..], &["--found", "right", "--element", "outer-race", "--cause", "정렬"]].concat();
    let told = text(&typed(folder.path(), &found));
    assert!(told.contains("found: right outer_race 정렬"), "{told}");
    assert_eq!(told.matches("[done]").count(), 2, "every open action: {told}");
    let json = text(&typed(folder.path(), &["stats", "--json"]));
    let counts: Value = serde_json::from_str(&json).expect("json");
    assert_eq!(
        (&counts["done"], &counts["right"], &counts["precision"]),
        (&2.into(), &1.into(), &1.0.into())
    );
}

/// R-AGENT-10: a standing episode is listed, acknowledged, shelved and told of again by command; an
/// act that does not fit is refused with the reason and changes nothing.
#[tokio::test]
async fn an_episode_is_listed_acknowledged_and_shelved_by_command() {
    let folder = tempfile::tempdir().expect("folder");
    judged(folder.path()).await;
    let bearing = event().key().to_string();
    let listed = text(&typed(folder.path(), &["episodes", "list"]));
    assert!(listed.starts_with("unacknowledged_active Warning "), "{listed}");
    assert!(listed.contains(&bearing), "{listed}");
    let acknowledged = text(&typed(folder.path(), &["ack", &bearing, "--by", "김 정비"]));
    assert!(acknowledged.contains("Warning acknowledged by 김 정비"), "{acknowledged}");
    let json = text(&typed(folder.path(), &["episodes", "show", &bearing, "--json"]));
    let episode: EpisodeDocument = serde_json::from_str(&json).expect("an episode");
    assert_eq!(episode.episode_state, EpisodeState::AcknowledgedActive);
    let shelve = ["shelve", &bearing, "--hours", "8", "--by", "kim", "--reason", "spare"];
    assert!(text(&typed(folder.path(), &shelve)).contains("told nothing until"));
    let shown = text(&typed(folder.path(), &["episodes", "show", &bearing]));
    assert!(shown.contains("shelved until") && shown.contains("by kim: spare"), "{shown}");
    let end = ["shelve", &bearing, "--end", "--by", "kim"];
    assert!(text(&typed(folder.path(), &end)).contains("told again"));
    for (wrong, code, told) in [
        (
            vec!["shelve", "ulsan-1/P-101/X", "--hours", "8", "--by", "k", "--reason", "r"],
            66,
            "never judged",
        ),
        (
            vec!["shelve", &bearing, "--hours", "200", "--by", "k", "--reason", "r"],
            64,
            "expected after",
        ),
        (vec!["shelve", &bearing, "--by", "k", "--reason", "r"], 64, "--hours"),
        (vec!["ack", "ulsan-1/P-101/X", "--by", "k"], 66, "nothing was told"),
        (vec!["episodes", "show", "P-101/DE"], 64, "SITE/EQUIPMENT/BEARING"),
    ] {
        let output = typed(folder.path(), &wrong);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{wrong:?}: {said}");
        assert!(said.contains(told), "{wrong:?}: {said}");
    }
}
