//! The marker that tells when the agent last wrote into its store: beside a file, and in the
//! agent's own folder where the store is a server.
//!
//! A file that was removed, emptied or put back from a backup, or whose log (`-wal`) was removed,
//! opens without an error: SQLite takes it as it is. A server takes a backup that is put back as it
//! takes any other rows. The agent's row of `heartbeats` is then missing or older than the marker.
//! Invariant: the marker is written after the row that it tells of, so it is never ahead of a whole
//! store.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};

/// The time between two writes of the marker, ms: a loss within it is not noticed.
const EVERY_MS: u64 = 5000;

/// The marker of an open store.
#[derive(Debug)]
pub(crate) struct LastWrite {
    path: PathBuf,
    /// The time that the marker was last written with.
    noted_ms: AtomicI64,
}

impl LastWrite {
    /// The marker `FILE.last`.
    pub(crate) fn beside(file: &Path) -> Self {
        let mut name = file.as_os_str().to_owned();
        name.push(".last");
        Self { path: name.into(), noted_ms: AtomicI64::new(i64::MIN) }
    }

    /// Returns when the agent last wrote, by the marker; `None` if there is no marker, or no
    /// readable one.
    pub(crate) fn read_ms(&self) -> Option<i64> {
        std::fs::read_to_string(&self.path).ok()?.trim().parse().ok()
    }

    /// Notes that a row of this time is in the file. A disk that refuses the marker takes no row
    /// either, which is told, so a failure is not.
    pub(crate) fn note(&self, at_ms: i64) {
        let noted_ms = self.noted_ms.load(Ordering::Relaxed);
        // a clock that was set back is noted at once: the row is older than the marker otherwise
        if at_ms >= noted_ms && at_ms.abs_diff(noted_ms) < EVERY_MS {
            return;
        }
        if self.write(at_ms).is_ok() {
            self.noted_ms.store(at_ms, Ordering::Relaxed);
        }
    }

    /// Written aside and renamed, so that no reader finds half of it.
    fn write(&self, at_ms: i64) -> io::Result<()> {
        let mut aside = self.path.as_os_str().to_owned();
        aside.push(".new");
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        // as the store itself: its owner's alone, whatever the umask is
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&aside)?.write_all(format!("{at_ms}\n").as_bytes())?;
        std::fs::rename(&aside, &self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-AGENT-12: with umask 000 everybody could read it.
    #[cfg(unix)]
    #[test]
    fn the_marker_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("folder");
        let marker = LastWrite::beside(&folder.path().join("agent.db"));
        marker.note(1_000_000);
        let mode = std::fs::metadata(&marker.path).expect("written").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn the_marker_tells_the_last_write_and_follows_a_clock_that_is_set_back() {
        let folder = tempfile::tempdir().expect("folder");
        let marker = LastWrite::beside(&folder.path().join("agent.db"));
        assert_eq!(marker.read_ms(), None);
        for (at_ms, told) in
            [(1_000_000, 1_000_000), (1_001_000, 1_000_000), (1_006_000, 1_006_000)]
        {
            marker.note(at_ms);
            assert_eq!(marker.read_ms(), Some(told));
        }
        marker.note(500);
        assert_eq!(marker.read_ms(), Some(500));
        std::fs::write(folder.path().join("agent.db.last"), "half").expect("written");
        assert_eq!(marker.read_ms(), None);
    }
}
