//! The fault suite in its short form, on both stores. R-EDGE-10, R-AGENT-1, R-AGENT-10.
//!
//! The seeds are fixed, and so are the schedules; `tests/run faults` draws another one each time,
//! and `tests/run faults --long` is the long form.

use std::path::Path;
use std::process::{Command, Stdio};

use pdm_harness::{Child, SmallDisk, until};
use pdm_tests::faults::plan::StoreKind;
use pdm_tests::faults::{Options, Unwatched, run};

fn nothing_is_lost(test: &str, seed: u64, store: StoreKind) {
    let options = Options::short(seed, store);
    let Some(report) = run(test, &options, &mut Unwatched).expect("the suite works") else {
        return;
    };
    assert!(report.verdict().is_well(), "{report}");
}

#[test]
fn nothing_is_lost_or_done_twice_whatever_dies() {
    let name = "nothing_is_lost_or_done_twice_whatever_dies";
    nothing_is_lost(name, 20_261_121, StoreKind::Sqlite);
}

#[test]
fn nothing_is_lost_or_done_twice_when_the_database_server_dies() {
    let name = "nothing_is_lost_or_done_twice_when_the_database_server_dies";
    nothing_is_lost(name, 20_261_122, StoreKind::Postgres);
}

/// The processes with this folder in their command line.
fn running_in(folder: &Path) -> Vec<String> {
    let folder = folder.display().to_string();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    processes
        .flatten()
        .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(&folder))
        .collect()
}

fn mounts_in(folder: &Path) -> usize {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    mounts.matches(&folder.display().to_string()).count()
}

/// An interrupted run once left its programs running and its disks mounted.
#[test]
fn a_run_that_is_interrupted_leaves_no_process_no_disk_and_no_file() {
    let name = "a_run_that_is_interrupted_leaves_no_process_no_disk_and_no_file";
    if SmallDisk::mount(name, 1).is_none() || pdm_harness::program(name, "mosquitto").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    for signal in [Child::terminate, Child::interrupt] {
        let mut faults = Child::start(
            Command::new(env!("CARGO_BIN_EXE_faults"))
                .args(["--seed", "1"])
                .env("TMPDIR", folder.path())
                .stderr(Stdio::null())
                .stdout(Stdio::null()),
        );
        until("the programs and disks of a run", 60, || {
            let is_up = running_in(folder.path()).len() >= 3 && mounts_in(folder.path()) >= 3;
            is_up.then_some(())
        });
        assert_eq!(signal(&mut faults).code(), Some(130));
        assert_eq!(running_in(folder.path()), Vec::<String>::new());
        assert_eq!(mounts_in(folder.path()), 0);
        let left = std::fs::read_dir(folder.path()).expect("readable").flatten().count();
        assert_eq!(left, 0, "files in {}", folder.path().display());
    }
}
