//! A folder for the time of one command, deleted when dropped.

use std::path::{Path, PathBuf};

/// A folder in the system's place for temporary files.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Makes an empty folder.
    ///
    /// # Errors
    /// The error of the file system.
    pub(super) fn new() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("pdm-agent-{}", uuid::Uuid::now_v7()));
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, folder = %self.0.display(), "a folder is left behind");
        }
    }
}
