//! A full disk: windows are held, no event is lost, and the service continues when there is room.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use pdm_edge::pipeline::Edge;
use pdm_harness::{free_port, not_run};
use pdm_service::clock::SystemClock;

use crate::service::{events, settings};

/// A small file system in memory, unmounted when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(test: &str, folder: &Path, kib: u32) -> Option<Self> {
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={kib}k"), "tmpfs"])
            .arg(folder)
            .output()
            .is_ok_and(|output| output.status.success());
        if !mounted {
            not_run(test, "no right to mount a small file system");
            return None;
        }
        Some(Self(folder.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _gone = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_holds_the_run_and_loses_nothing() {
    let folder = tempfile::tempdir().expect("folder");
    let Some(disk) = SmallDisk::mount("a_full_disk_holds_the_run", folder.path(), 1024) else {
        return;
    };
    let ballast = disk.0.join("ballast");
    std::fs::write(&ballast, vec![0; 700 << 10]).expect("fits");
    let settings = settings(folder.path(), free_port(), 100);
    let edge = Edge::start(settings, Arc::new(SystemClock)).await.expect("starts");
    tokio::time::sleep(Duration::from_secs(3)).await;
    let held = *edge.progress().borrow();
    assert!(held.spooled < 200 && !held.failed, "the disk was not full: {held:?}");
    std::fs::remove_file(&ballast).expect("room again");
    Command::new("mount")
        .args(["-o", "remount,size=64m"])
        .arg(&disk.0)
        .status()
        .expect("more room");
    tokio::time::timeout(Duration::from_secs(30), edge.ended()).await.expect("goes on");
    let done = edge.stop().await.expect("no part failed");
    assert_eq!((done.measured, done.spooled, done.dropped), (200, 200, 0));
    let sequences: Vec<u64> =
        events(folder.path()).await.iter().map(|event| event.sequence).collect();
    assert_eq!(sequences, (1..=200).collect::<Vec<_>>());
}
