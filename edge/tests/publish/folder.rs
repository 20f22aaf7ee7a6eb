//! A watched folder under the real program, which is killed again and again while files come, change
//! their names and go: each file has one event.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use pdm_harness::{Mosquitto, Persistence};
use pdm_shared::event::Event;

use crate::agent::Agent;
use crate::stage::GATEWAY;

fn configuration(folder: &Path, port: u16) -> std::path::PathBuf {
    let text = format!(
        "gateway_id = \"{GATEWAY}\"\nsite = \"s\"\n[broker]\naddresses = [\"127.0.0.1:{port}\"]\n\
         reconnect_min_s = 0.02\nreconnect_max_s = 0.2\n[spool]\npath = \"spool.db\"\n\
         [[source]]\nname = \"folder\"\nkind = \"recording\"\nfiles = [\"in\"]\nwatch_s = 0.05\n\
         rate_hz = 6400.0\n[[source.channel]]\nequipment = \"P\"\nbearing = \"DE\"\n\
         bearing_type = \"6205\"\nrpm = 1797.0\n"
    );
    let path = folder.join("edge.toml");
    std::fs::write(&path, text).expect("writes");
    path
}

fn edge(configuration: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pdm-edge"));
    command.arg("run").arg("--config").arg(configuration).env("PDM_LOG", "warn");
    command
}

/// Writes recording number `n` beside the folder and renames it into place.
fn drop_in(folder: &Path, n: u32) {
    let mut text = String::new();
    for at in 0..3840u32 {
        let noise = f64::from(at.wrapping_mul(2_654_435_761).wrapping_add(n) >> 16) / 65_536.0;
        let _infallible = writeln!(text, "{:.4}", noise - 0.5);
    }
    let part = folder.join("in").join(format!("{n}.part"));
    std::fs::write(&part, text).expect("writes");
    // names that sort before and after those that are there
    let name = format!("{}_20260101T00{:02}{:02}Z.csv", n * 7919 % 1000, n / 60, n % 60);
    std::fs::rename(part, folder.join("in").join(name)).expect("renames");
}

/// R-EDGE-1, R-EDGE-10.
#[tokio::test(flavor = "multi_thread")]
async fn files_of_a_folder_have_one_event_each_over_kills() {
    let name = "files_of_a_folder_have_one_event_each_over_kills";
    let Some(broker) = Mosquitto::start(name, Persistence::Memory) else { return };
    let folder = tempfile::tempdir().expect("folder");
    std::fs::create_dir(folder.path().join("in")).expect("folder");
    let configuration = configuration(folder.path(), broker.port());
    let agent = Agent::listen(broker.port(), true).await;
    let mut written = 0;
    for kill in 0..6_u64 {
        let mut child = edge(&configuration).spawn().expect("starts");
        for _ in 0..10 {
            drop_in(folder.path(), written);
            written += 1;
        }
        tokio::time::sleep(Duration::from_millis(150 + kill * 130 % 400)).await;
        child.kill().expect("kill -9");
        child.wait().expect("is gone");
        let entries = std::fs::read_dir(folder.path().join("in")).expect("lists");
        let path = entries.flatten().next().expect("a file").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        std::fs::rename(&path, path.with_file_name(format!("r{name}"))).expect("renames");
    }
    let mut child = edge(&configuration).arg("--until-done").spawn().expect("starts");
    agent.until("every file", |stored| stored.events.len() as u32 == written).await;
    let code = tokio::task::spawn_blocking(move || child.wait()).await.expect("waits");
    assert!(code.expect("ends").success());
    agent.with(|stored| {
        let times: BTreeSet<_> = stored
            .events
            .values()
            .map(|(_, bytes)| serde_json::from_slice::<Event>(bytes).expect("an event"))
            .map(|event| event.measured_at.to_string())
            .collect();
        let expected: BTreeSet<_> = (0..written)
            .map(|n| format!("2026-01-01T00:{:02}:{:02}.000Z", n / 60, n % 60))
            .collect();
        assert_eq!(times, expected, "each file once, at the time of its name");
    });
}
