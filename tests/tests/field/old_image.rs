//! A gateway whose disk is put back to an older image: its spool counts numbers that the agent has
//! already. Issue 33, script 16 A.

use std::path::Path;

use pdm_harness::{free_port, until};

use crate::gateway_files::{Edge, configuration};
use crate::watched::{PATIENCE, Watched, metric_at};

/// Errors of the gateway's log that name this cause: they were ten, of another one.
const MOST_ERRORS: usize = 3;

fn spool_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let files = std::fs::read_dir(folder).expect("folder").flatten().map(|entry| entry.path());
    let is_spool = |path: &std::path::PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("spool"))
    };
    files.filter(is_spool).collect()
}

fn copy(from: &Path, to: &Path) {
    for file in spool_files(to) {
        std::fs::remove_file(file).expect("removed");
    }
    for file in spool_files(from) {
        let name = file.file_name().expect("a name").to_owned();
        std::fs::copy(&file, to.join(name)).expect("copied");
    }
}

#[test]
fn a_gateways_disk_that_is_put_back_loses_no_window_and_names_the_cause() {
    let test = "a_gateways_disk_that_is_put_back_loses_no_window_and_names_the_cause";
    let Some(mut plant) = Watched::new(test, "sqlite = \"agent.db\"", "") else { return };
    plant.start();
    plant.works();
    let (folder, image) = (tempfile::tempdir().expect("a"), tempfile::tempdir().expect("b"));
    let admin = free_port();
    let text = configuration(folder.path(), plant.broker_port(), admin);
    // the simulator begins anew with each start
    let text = text.replace("pace = 1.0", "pace = 120.0");
    let run_until = |windows: u64| {
        let edge = Edge::start(folder.path(), &text);
        let stored = || metric_at(admin, "pdm_edge_spool_waiting_events").is_some_and(|n| n == 0.0);
        until("windows", PATIENCE, || {
            let measured = metric_at(admin, "pdm_edge_measured_windows")?;
            (measured >= windows as f64 && stored()).then_some(())
        });
        edge
    };
    run_until(20).stop();
    copy(folder.path(), image.path());
    run_until(20).stop();
    let before = plant.metric("pdm_agent_events_stored_total").expect("counted");
    copy(image.path(), folder.path());
    let edge = run_until(40);
    edge.until_logged("older copy of its spool was put back", 1);
    let measured = metric_at(admin, "pdm_edge_measured_windows").expect("counted");
    until("every window of since then", PATIENCE, || {
        let stored = plant.metric("pdm_agent_events_stored_total")?;
        (stored - before >= measured).then_some(())
    });
    let log = edge.log();
    let errors = log.lines().filter(|line| line.contains("ERROR")).count();
    assert!(errors <= MOST_ERRORS, "{errors} errors: {log}");
    assert!(!log.contains("receipts are false"), "{log}");
    plant.hears("two gateways seem to use the name gw-09");
}
