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
}
