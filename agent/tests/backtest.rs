//! `pdm-agent backtest` as its own program: what it refuses, slices, a kill, a store, the page that
//! shows it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use pdm_agent::settings::StoreSettings;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_store::Incoming;
use serde_json::Value;
use tempfile::TempDir;
use uuid::Uuid;

const HEALTHY: &str = include_str!("../../config/examples/event-healthy.json");
const PAGE: &str = include_str!("../../docs/backtest.md");

/// A configuration that tells of Warning and above alone, to one person.
const CONFIG: &str = r#"[store]
sqlite = "agent.db"

[notify]
from = "Warning"

[notify.email]
host = "localhost"
security = "none"
from_address = "pdm@plant.example"

[[notify.recipient]]
name = "kim"
email = "kim@plant.example"
"#;

fn run(arguments: &[&str], input: &[u8], folder: &Path) -> Output {
    let mut child = command(arguments, folder).stdin(Stdio::piped()).spawn().expect("starts");
    // a command that does not read its input closes it: no matter
    let _unread = child.stdin.take().expect("stdin").write_all(input);
    child.wait_with_output().expect("ends")
}

fn command(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdm-agent"));
    command.arg("backtest").args(arguments).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit code")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output) -> Value {
    assert_eq!(code(output), 0, "{}", said(output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Returns the n-th hourly window of a bearing whose level is `ratio` times its baseline.
fn window(machine: &str, bearing: &str, number: u64, ratio: f64) -> Event {
    let mut event: Event = serde_json::from_str(HEALTHY).expect("event");
    event.gateway_id = format!("gw-{machine}").parse().expect("a name");
    event.equipment_id = machine.parse().expect("a name");
    event.bearing_id = bearing.parse().expect("a name");
    event.sequence = number;
    let later_s = if bearing == "DE" { 0.0 } else { 600.0 };
    event.measured_at = event.measured_at.plus_seconds(3600.0 * number as f64 + later_s);
    let salt =
        format!("{machine}/{bearing}").bytes().fold(7_u128, |sum, one| sum * 31 + u128::from(one));
    event.event_id = EventId(Uuid::from_u128((salt << 32) + u128::from(number)));
    event.anomaly_detected = ratio >= 1.3;
    event.anomaly.level_ratio = Some(ratio);
    event
}

/// Machines of two bearings: one that fails, one with a hump, and healthy ones.
fn plant(machines: usize, windows: u64) -> Vec<Event> {
    let mut events = Vec::new();
    for machine in 1..=machines {
        for bearing in ["DE", "NDE"] {
            for number in 1..=windows {
                let rise = number.saturating_sub(windows / 2) as f64;
                let is_hump = (windows / 4..windows / 2).contains(&number);
                let ratio = match (machine % 3, bearing) {
                    (1, "DE") => 1.0 + rise * 6.0 / windows as f64,
                    (1, _) => 1.0 + rise * 4.0 / windows as f64,
                    (2, "DE") if is_hump => 1.6,
                    _ => 1.0,
                };
                // one gateway counts both bearings
                let mut event = window(&format!("P-{machine}"), bearing, number, ratio);
                event.sequence = 2 * number - u64::from(bearing == "DE");
                events.push(event);
            }
        }
    }
    events
}

fn lines(events: &[Event]) -> String {
    let line = |event: &Event| serde_json::to_string(event).expect("json") + "\n";
    events.iter().map(line).collect()
}

/// A folder with the events, the configuration and the failures that are known.
fn folder(machines: usize, windows: u64) -> TempDir {
    let folder = tempfile::tempdir().expect("folder");
    let events = plant(machines, windows);
    std::fs::write(folder.path().join("events.jsonl"), lines(&events)).expect("written");
    std::fs::write(folder.path().join("agent.toml"), CONFIG).expect("written");
    let mut truth = "site,equipment,bearing,failed_at\n".to_owned();
    let failed_at = events[windows as usize - 1].measured_at;
    let _infallible = writeln!(truth, "ulsan-1,P-1,DE,{failed_at}\nulsan-1,P-2,DE,");
    std::fs::write(folder.path().join("failures.csv"), truth).expect("written");
    folder
}

const GIVEN: [&str; 8] = [
    "--from",
    "events.jsonl",
    "--config",
    "agent.toml",
    "--truth",
    "failures.csv",
    "--json",
    "--jobs",
];

#[test]
fn reversed_shuffled_doubled_cut_and_interleaved_events_end_with_65_and_name_line_and_event() {
    let folder = tempfile::tempdir().expect("folder");
    let events = plant(2, 6);
    let refuse = |text: String, words: &[&str]| {
        let output = run(&["--from", "-", "--json"], text.as_bytes(), folder.path());
        assert_eq!(code(&output), 65, "{}", said(&output));
        for word in words {
            assert!(said(&output).contains(word), "{word}: {}", said(&output));
        }
        assert!(output.stdout.is_empty(), "no result of a wrong input");
    };
    let mut reversed = events.clone();
    reversed.reverse();
    let id = reversed[1].event_id.to_string();
    refuse(lines(&reversed), &["line 2", &id, "steps back", "--sort"]);
    let mut shuffled = events.clone();
    shuffled.swap(2, 4);
    refuse(lines(&shuffled), &["line 4", &shuffled[3].event_id.to_string(), "steps back"]);
    let mut doubled = events.clone();
    doubled.insert(3, doubled[2].clone());
    refuse(lines(&doubled), &["line 4", &doubled[3].event_id.to_string(), "repeats line 3"]);
    let whole = lines(&events);
    refuse(whole[..whole.len() - 50].to_owned(), &["line 24", "not an event"]);
    let mut apart = events.clone();
    let late = apart.remove(0);
    apart.push(late);
    refuse(lines(&apart), &["line 24", "P-1", "--interleaved", "--sort"]);
    refuse("{}\n".to_owned(), &["line 1", "not an event"]);
    let end = r#"{"schema":"pdm.slice-end/1","events":25,"bearings":4}"#;
    refuse(format!("{whole}{end}\n"), &["counts 25 events of 4 bearings, read were 24 of 4"]);
    // two wrong lines: always the first one is named, whichever thread finds it
    let mut twice = events;
    twice.swap(2, 4);
    twice.swap(20, 22);
    for _ in 0..5 {
        refuse(lines(&twice), &["line 4"]);
    }
}

#[test]
fn a_configuration_that_is_wrong_ends_with_78_and_names_file_line_and_key() {
    let folder = folder(1, 4);
    let wrong = CONFIG.replace("from = \"Warning\"", "from = \"Panic\"");
    std::fs::write(folder.path().join("wrong.toml"), wrong).expect("written");
    let output = run(
        &["--from", "events.jsonl", "--config", "agent.toml", "--against", "wrong.toml"],
        b"",
        folder.path(),
    );
    assert_eq!(code(&output), 78, "{}", said(&output));
    for word in ["wrong.toml:5", "from", "Panic"] {
        assert!(said(&output).contains(word), "{word}: {}", said(&output));
    }
    let unknown = format!("{CONFIG}\n[judgement]\nversion = 9\n");
    std::fs::write(folder.path().join("newer.toml"), unknown).expect("written");
    let output = run(&["--from", "events.jsonl", "--config", "newer.toml"], b"", folder.path());
    assert_eq!(code(&output), 78, "{}", said(&output));
    assert!(said(&output).contains("judgement"), "{}", said(&output));
}

#[test]
fn wrong_arguments_and_inputs_that_are_not_there_are_told_apart() {
    let folder = folder(1, 4);
    for (arguments, exit) in [
        (&["--from", "none.jsonl"][..], 66),
        (&["--from", "events.jsonl", "--truth", "none.csv"], 66),
        (&["--from", "store"], 64),
        (&["--from", "events.jsonl", "--slice", "8/7", "--parts", "p"], 64),
        (&["--from", "events.jsonl", "--slice", "1/2"], 64),
        (&["--merge", "--parts", "none"], 66),
    ] {
        let output = run(arguments, b"", folder.path());
        assert_eq!(code(&output), exit, "{arguments:?}: {}", said(&output));
    }
    std::fs::write(folder.path().join("bad.csv"), "site,equipment,bearing,failed_at\ns,P,D,soon\n")
        .expect("written");
    let output = run(&["--from", "events.jsonl", "--truth", "bad.csv"], b"", folder.path());
    assert_eq!(code(&output), 65, "{}", said(&output));
    assert!(said(&output).contains("bad.csv, line 2") && said(&output).contains("soon"));
}

/// Runs each slice and merges the parts.
fn sliced(of: u64, folder: &Path) -> Value {
    let parts = format!("parts-{of}");
    for number in 1..=of {
        let slice = format!("{number}/{of}");
        let arguments = [&GIVEN[..], &["2", "--slice", &slice, "--parts", &parts]].concat();
        let output = run(&arguments, b"", folder);
        assert_eq!(code(&output), 0, "{}", said(&output));
    }
    let merge = [
        "--merge",
        "--parts",
        &parts,
        "--config",
        "agent.toml",
        "--truth",
        "failures.csv",
        "--json",
    ];
    json(&run(&merge, b"", folder))
}

#[test]
fn the_result_is_the_same_from_1_2_and_7_slices_and_from_any_number_of_threads() {
    let folder = folder(12, 60);
    let whole = json(&run(&[&GIVEN[..], &["1"]].concat(), b"", folder.path()));
    assert_eq!(whole["machines"], 12);
    assert!(
        whole["differences"].as_array().is_some_and(|all| all.len() > 6),
        "{}",
        whole["differences"]
    );
    assert_eq!(json(&run(&[&GIVEN[..], &["3"]].concat(), b"", folder.path())), whole);
    for of in [1, 2, 7] {
        assert_eq!(sliced(of, folder.path()), whole, "{of} slices");
    }
    std::fs::remove_file(folder.path().join("parts-7/part-3-of-7.jsonl")).expect("removed");
    let merge = ["--merge", "--parts", "parts-7", "--config", "agent.toml"];
    let output = run(&merge, b"", folder.path());
    assert_eq!(code(&output), 65, "{}", said(&output));
    assert!(
        said(&output).contains("part-3-of-7.jsonl") && said(&output).contains("missing"),
        "{}",
        said(&output)
    );
}

#[test]
fn events_in_turn_and_sorted_events_give_what_whole_bearings_give() {
    let folder = folder(3, 60);
    let whole = json(&run(&[&GIVEN[..], &["2"]].concat(), b"", folder.path()));
    let mut events = plant(3, 60);
    events.sort_by_key(|event| (event.measured_at, event.sequence));
    std::fs::write(folder.path().join("events.jsonl"), lines(&events)).expect("written");
    let in_turn = [&GIVEN[..], &["2", "--interleaved"]].concat();
    assert_eq!(json(&run(&in_turn, b"", folder.path())), whole);
    events.reverse();
    std::fs::write(folder.path().join("events.jsonl"), lines(&events)).expect("written");
    assert_eq!(json(&run(&[&GIVEN[..], &["2", "--sort"]].concat(), b"", folder.path())), whole);
}

#[test]
fn a_kill_in_the_middle_and_a_resume_give_the_same_report() {
    let folder = folder(40, 150);
    let whole = json(&run(&[&GIVEN[..], &["1"]].concat(), b"", folder.path()));
    let part = folder.path().join("parts/part-1-of-1.jsonl");
    let arguments = [&GIVEN[..], &["1", "--parts", "parts"]].concat();
    let played = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        (text.lines().count().saturating_sub(1), text.contains("\"record\":\"end\""))
    };
    let (mut kills, mut before) = (0, 0);
    while kills < 3 {
        let mut child = command(&arguments, folder.path()).spawn().expect("starts");
        loop {
            let (machines, is_ended) = played(&part);
            assert!(!is_ended, "it ended before it was killed {kills} times");
            if machines > before + 3 {
                before = machines;
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().expect("killed");
        child.wait().expect("ended");
        kills += 1;
    }
    let output = run(&arguments, b"", folder.path());
    assert!(said(&output).contains("are not played again"), "{}", said(&output));
    assert_eq!(json(&output), whole);
    // what is played already belongs to this configuration alone
    let other = ["--from", "events.jsonl", "--parts", "parts"];
    let output = run(&other, b"", folder.path());
    assert_eq!(code(&output), 64, "{}", said(&output));
    assert!(said(&output).contains("another configuration"), "{}", said(&output));
}

/// A store that holds these events, as the intake leaves them.
async fn stored(path: &Path, events: &[Event]) {
    let store = pdm_store::open(&StoreSettings::sqlite(path)).await.expect("a store");
    for event in events {
        let payload = serde_json::to_string(event).expect("json");
        let batch = [Incoming::Event { event: Box::new(event.clone()), payload, proven: false }];
        store.intake().store(&batch, event.measured_at, "dead-letter").await.expect("stored");
    }
    store.close().await;
}

#[tokio::test]
async fn a_store_gives_what_its_events_give_and_an_empty_one_says_so() {
    let folder = folder(2, 60);
    stored(&folder.path().join("empty.db"), &[]).await;
    let output = run(&["--from", "empty.db", "--json"], b"", folder.path());
    let empty = json(&output);
    assert_eq!((&empty["windows"], &empty["first"]), (&Value::from(0), &Value::Null));
    assert!(empty["sides"][0]["truth"].is_null());
    let mut events = plant(2, 60);
    events.sort_by_key(|event| (event.measured_at, event.sequence));
    std::fs::write(folder.path().join("turn.jsonl"), lines(&events)).expect("written");
    stored(&folder.path().join("agent.db"), &events).await;
    let of_lines = ["--from", "turn.jsonl", "--interleaved", "--config", "agent.toml", "--json"];
    let of_lines = json(&run(&of_lines, b"", folder.path()));
    assert_eq!(of_lines["windows"], 240);
    for from in ["agent.db", "store"] {
        let arguments = ["--from", from, "--config", "agent.toml", "--json"];
        assert_eq!(json(&run(&arguments, b"", folder.path())), of_lines, "{from}");
    }
}

/// docs/backtest.md shows what the command prints.
#[test]
fn the_page_shows_what_the_command_prints() {
    let folder = folder(3, 240);
    let arguments = [
        "--from",
        "events.jsonl",
        "--config",
        "agent.toml",
        "--truth",
        "failures.csv",
        "--out",
        "report",
    ];
    let output = run(&arguments, b"", folder.path());
    assert_eq!(code(&output), 0, "{}", said(&output));
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(PAGE.contains(&printed), "docs/backtest.md does not show:\n{printed}");
    for name in ["backtest.json", "backtest.ko.html", "backtest.en.html"] {
        let text = std::fs::read_to_string(folder.path().join("report").join(name)).expect(name);
        assert!(text.contains("P-1"), "{name}");
    }
}
