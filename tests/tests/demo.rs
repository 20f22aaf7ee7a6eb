//! `pdm demo`: the whole chain in one process, started as a new user would.

use std::path::Path;
use std::process::{Command, Output};

use pdm_harness::{binary, data_dir};

/// The five figures of the summary line.
#[derive(Debug, PartialEq, Eq)]
struct Summary {
    measured: u64,
    published: u64,
    stored: u64,
    judged: u64,
    notified: u64,
}

fn demo(arguments: &[&str]) -> (Summary, String) {
    let output = Command::new(binary("pdm"))
        .args(["demo", "--exit", "--lang", "en"])
        .args(arguments)
        .output()
        .expect("pdm starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    (summary(&output, &text), text)
}

fn summary(output: &Output, text: &str) -> Summary {
    let line = text.lines().rev().find(|line| line.starts_with("events: "));
    let errors = String::from_utf8_lossy(&output.stderr);
    let line = line.unwrap_or_else(|| panic!("no summary in\n{text}\n{errors}"));
    let mut figures = line.split_whitespace().filter_map(|word| word.parse().ok());
    let mut next = || figures.next().expect("five figures");
    Summary {
        measured: next(),
        published: next(),
        stored: next(),
        judged: next(),
        notified: next(),
    }
}

/// R-RUN-1
#[test]
fn the_simulated_bearing_goes_from_normal_to_critical_and_staff_is_told() {
    let (summary, text) = demo(&[]);
    assert!(summary.measured > 100, "{summary:?}");
    assert_eq!(
        (summary.published, summary.stored, summary.judged),
        (summary.measured, summary.measured, summary.measured)
    );
    let mut rest = text.as_str();
    // the first alarm is a Warning: the level has its ratio when the element is named
    for level in ["Normal", "Warning", "Critical"] {
        let at = rest.find(level).unwrap_or_else(|| panic!("{level} does not follow in\n{text}"));
        rest = &rest[at..];
    }
    assert!((2..=9).contains(&summary.notified), "{summary:?}");
    assert!(text.contains("outer"), "{text}");
    // what the rules say themselves is never withheld as a figure without a source
    assert!(!text.contains("[unverified]") && !text.contains("[근거 미확인]"), "{text}");
    assert!(text.contains("P-F stage 2 to 3") || text.contains("P-F 2단계 → 3단계"), "{text}");
    // R-AGENT-8: reports are on, linked in notifications, and the last lines say where they are
    for what in ["last report: ", "last work order: "] {
        let path = text.lines().find_map(|line| line.strip_prefix(what));
        let path = path.unwrap_or_else(|| panic!("no {what:?} in\n{text}"));
        assert!(Path::new(path).is_file(), "{path}");
        assert!(text.contains(&format!("/{}", path.rsplit('/').next().expect("a name"))));
    }
}

/// R-RUN-1: of a bearing of which nothing fails nobody is told, and no work is ordered.
#[test]
fn a_simulated_bearing_that_stays_sound_tells_nobody_and_orders_nothing() {
    for seed in ["1", "3"] {
        let (summary, text) = demo(&["--fault", "none", "--seed", seed]);
        assert!(summary.judged > 100 && summary.notified == 0, "{summary:?}\n{text}");
        assert!(!text.contains("last work order: "), "{text}");
    }
}

fn femto(name: &str, recording: &str, rpm: &str) -> Option<(Summary, String)> {
    let data = data_dir(name)?;
    let path = data.join("femto").join(recording);
    Some(demo(&[
        "--speed",
        "max",
        "--recording",
        Path::new(&path).to_str().expect("UTF-8"),
        "--scale",
        "0.001",
        "--unit",
        "g",
        "--rate",
        "25600",
        "--period",
        "10",
        "--rpm",
        rpm,
        "--orders",
        "5.611,7.389,3.589,0.4316",
    ]))
}

/// Each snapshot has two channels, so it gives an event for each of two measuring points.
#[test]
fn all_751_snapshots_of_femto_2_4_reach_judgement() {
    let name = "all_751_snapshots_of_femto_2_4_reach_judgement";
    let Some((summary, text)) = femto(name, "Bearing2_4_acc.npy.gz", "1650") else { return };
    let all = 2 * 751;
    assert_eq!(
        (summary.measured, summary.published, summary.stored, summary.judged),
        (all, all, all, all),
        "{text}"
    );
    assert!(summary.notified <= 6, "{text}");
}

/// R-EDGE-6, R-AGENT-10
#[test]
fn femto_1_1_is_told_to_staff_before_its_end() {
    let name = "femto_1_1_is_told_to_staff_before_its_end";
    let Some((summary, text)) = femto(name, "Bearing1_1_acc.npy.gz", "1800") else { return };
    let all = 2 * 2803;
    assert_eq!(
        (summary.measured, summary.published, summary.stored, summary.judged),
        (all, all, all, all),
        "{text}"
    );
    // R-AGENT-10: at most six messages a failure, and one episode
    let told = text.lines().filter(|line| line.starts_with('▶')).count();
    assert!((1..=6).contains(&told), "{text}");
}

#[test]
fn a_missing_recording_is_named_and_ends_with_66() {
    let output = Command::new(binary("pdm"))
        .args(["demo", "--exit", "--recording", "nowhere.npy", "--rate", "1000"])
        .args(["--rpm", "1800", "--orders", "5.611,7.389,3.589,0.4316"])
        .output()
        .expect("pdm starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(66), "{errors}");
    assert!(errors.contains("nowhere.npy"), "{errors}");
}

/// The demo has no configuration in which a token or a user could be set, so its pages stay on
/// loopback.
#[test]
fn pages_beyond_this_machine_are_refused_as_an_argument_before_anything_starts() {
    let done = Command::new(binary("pdm"))
        .args(["demo", "--exit", "--pages", "0.0.0.0:0"])
        .output()
        .expect("pdm starts");
    let told = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(64), "{told}");
    assert!(told.contains("--pages is 0.0.0.0:0") && told.contains("127.0.0.1"), "{told}");
    assert!(done.stdout.is_empty(), "nothing was begun");
}
