//! Judgements read as a person reads them: no sentence contradicts another.

use std::path::Path;
use std::process::Command;

use pdm_harness::binary;
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_tests::judgements::{against_the_event, contradictions};

/// Issue 35, point 12: eight simulated runs through the real edge, event by event (800 judgements
/// in both languages).
#[test]
fn no_judgement_of_the_simulated_runs_contradicts_itself() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/scenarios/edge");
    let files = std::fs::read_dir(folder).expect("scenarios").flatten().map(|entry| entry.path());
    let runs: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|one| one == "jsonl")).collect();
    let mut read = 0;
    for run in &runs {
        let judged = Command::new(binary("pdm-agent"))
            .args(["judge", "--jsonl", "--json"])
            .arg(run)
            .output()
            .expect("pdm-agent runs");
        let said = String::from_utf8_lossy(&judged.stderr);
        assert!(judged.status.success(), "{}: {said}", run.display());
        let events = std::fs::read_to_string(run).expect("events");
        let judged = String::from_utf8_lossy(&judged.stdout).into_owned();
        for (number, (line, event)) in (1..).zip(judged.lines().zip(events.lines())) {
            let diagnosis: Diagnosis = serde_json::from_str(line).expect("a diagnosis");
            let event: Event = serde_json::from_str(event).expect("an event");
            assert_eq!(contradictions(&diagnosis), [], "{}, line {number}", run.display());
            let beside = against_the_event(&diagnosis, &event);
            assert_eq!(beside, [], "{}, line {number}", run.display());
            read += 1;
        }
    }
    assert!(read >= 800, "{read} judgements of {} runs", runs.len());
}
