//! `[captures]`: where waveforms of gateways are kept, and how many.

use std::path::{Path, PathBuf};

use pdm_service::config::ConfigError;
use serde::Deserialize;

/// Bytes of all captures: some 2,000 of 12 s at 25.6 kHz.
const MAX_MB: f64 = 2048.0;
/// Bytes of one: the longest that a gateway makes, 120 s, at 51.2 kHz is 25 MB.
const MAX_FILE_MB: f64 = 64.0;

/// `[captures]`; without the table no gateway may send any.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CapturesSettings {
    /// Folder of the files; `captures` beside the store where none is named.
    pub dir: Option<PathBuf>,
    /// Megabytes of all captures. The oldest leave first, never those of an open alarm.
    pub max_mb: f64,
    /// Megabytes of one capture.
    pub max_file_mb: f64,
}

impl Default for CapturesSettings {
    fn default() -> Self {
        Self { dir: None, max_mb: MAX_MB, max_file_mb: MAX_FILE_MB }
    }
}

impl CapturesSettings {
    pub(super) fn check(&self, path: &Path) -> Result<(), ConfigError> {
        if !(1.0..=1e8).contains(&self.max_mb) {
            return Err(ConfigError::value(path, "captures.max_mb", self.max_mb, "1 to 1e8 MB"));
        }
        // a file is read into memory to be drawn
        if !(0.1..=512.0).contains(&self.max_file_mb) || self.max_file_mb > self.max_mb {
            let allowed = "0.1 to 512 MB, and at most captures.max_mb";
            return Err(ConfigError::value(
                path,
                "captures.max_file_mb",
                self.max_file_mb,
                allowed,
            ));
        }
        Ok(())
    }

    /// The settings with the folder resolved against that of the configuration, or beside the
    /// store.
    pub(super) fn rooted(self, folder: &Path, store: Option<&Path>) -> Self {
        let beside = || store.unwrap_or(folder).join("captures");
        let dir = self.dir.as_ref().map_or_else(beside, |dir| folder.join(dir));
        Self { dir: Some(dir), ..self }
    }

    /// Bytes of all captures.
    pub const fn most_bytes(&self) -> u64 {
        (self.max_mb * 1e6) as u64
    }

    /// Bytes of one capture.
    pub const fn most_file_bytes(&self) -> u64 {
        (self.max_file_mb * 1e6) as u64
    }
}
