//! A wall clock for one program that can jump: Debian's `libfaketime`, preloaded.
//!
//! Only the wall clock jumps; the monotonic clock, by which programs measure waits, continues.

use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use crate::needs::not_run;

const LIBRARY: &str = "faketime/libfaketime.so.1";

/// The wall clock of the programs it is applied to.
#[derive(Debug)]
pub struct WallClock {
    library: PathBuf,
    folder: TempDir,
}

impl WallClock {
    /// A clock with the right time, or a note that libfaketime is not installed.
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

    /// Makes `command` use this clock.
    pub fn apply(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAKETIME_TIMESTAMP_FILE", self.file())
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env("FAKETIME_CACHE_DURATION", "1")
            // memory that libfaketime shares between processes would outlive a kill
            .env("FAKETIME_DISABLE_SHM", "1");
    }

    /// Sets the clock off by `seconds` from now on (programs notice it within a second).
    ///
    /// # Panics
    /// If the temporary folder is gone.
    pub fn set(&self, seconds: i64) {
        // replaced in one step, because a program may read the file at any time
        let draft = self.folder.path().join("draft");
        std::fs::write(&draft, format!("{seconds:+}\n")).expect("writes");
        std::fs::rename(draft, self.file()).expect("renames");
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("offset")
    }
}
