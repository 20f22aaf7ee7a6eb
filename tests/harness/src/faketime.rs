//! A wall clock that jumps, for one program: Debian's `libfaketime`, preloaded.
//!
//! Only the wall clock jumps; the monotonic clock, which programs measure waiting by, goes on.

use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use crate::needs::not_run;

const LIBRARY: &str = "faketime/libfaketime.so.1";

/// The clock of the programs that it is applied to.
#[derive(Debug)]
pub struct WallClock {
    library: PathBuf,
    folder: TempDir,
}

impl WallClock {
    /// A clock that tells the right time, or a note that libfaketime is not installed.
    ///
    /// # Panics
    /// If there is no temporary folder.
    pub fn new(test: &str) -> Option<Self> {
        let found = std::fs::read_dir("/usr/lib").ok().and_then(|entries| {
            entries.flatten().map(|entry| entry.path().join(LIBRARY)).find(|path| path.is_file())
        });
        let Some(library) = found else {
            not_run(test, "libfaketime is not installed");
            return None;
        };
        let clock = Self { library, folder: tempfile::tempdir().expect("a temporary folder") };
        clock.set(0);
        Some(clock)
    }

    /// Makes `command` live by this clock.
    pub fn apply(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAKETIME_TIMESTAMP_FILE", self.file())
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("FAKETIME_CACHE_DURATION", "1")
            // what it shares between processes would outlive a kill
            .env("FAKETIME_DISABLE_SHM", "1");
    }

    /// Lets the clock be off by `seconds` from now on (noticed within a second).
    ///
    /// # Panics
    /// If the temporary folder is gone.
    pub fn set(&self, seconds: i64) {
        // whole or not at all: a program may read it at any time
        let draft = self.folder.path().join("draft");
        std::fs::write(&draft, format!("{seconds:+}\n")).expect("writes");
        std::fs::rename(draft, self.file()).expect("renames");
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("offset")
    }
}
