//! `[store]`: where everything is kept.

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// `[store]`: `sqlite = "agent.db"`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum StoreSettings {
    /// One file, for one agent.
    Sqlite(PathBuf),
}

impl StoreSettings {
    /// With relative paths taken from `folder`.
    pub(super) fn rooted(self, folder: &Path) -> Self {
        match self {
            Self::Sqlite(file) => Self::Sqlite(folder.join(file)),
        }
    }

    /// The folder of the file, where the store is one: what has no place of its own goes there.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Sqlite(file) => Some(file.parent().unwrap_or(Path::new(""))),
        }
    }
}
