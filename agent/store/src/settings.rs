//! `[store]`: the database, and how long it keeps what.

use std::fmt;
use std::path::{Path, PathBuf};

use pdm_service::config::ConfigError;
use serde::Deserialize;

use pdm_service::postgres::PostgresSettings;

/// `[store]`: `sqlite = "agent.db"`, or `[store.postgres]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Typed")]
pub struct StoreSettings {
    /// The database.
    pub place: StorePlace,
    /// How long rows are kept.
    pub retention: RetentionSettings,
    /// Bytes that the store may use; 0: without a ceiling.
    pub max_bytes: u64,
    /// This agent's name among those that share the store: its client identity at the broker.
    pub replica: String,
    /// A folder of the agent's own for the marker of its last write to a server; without one a
    /// database that was put back is noticed while the agent runs alone.
    pub marker_folder: Option<PathBuf>,
}

/// The database.
#[derive(Debug, Clone, PartialEq)]
pub enum StorePlace {
    /// One file, for one agent.
    Sqlite(PathBuf),
    /// A server, for one agent or several replicas.
    Postgres(Box<PostgresSettings>),
}

/// The section as it is typed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Typed {
    sqlite: Option<PathBuf>,
    postgres: Option<PostgresSettings>,
    #[serde(default)]
    retention: RetentionSettings,
    #[serde(default)]
    max_bytes: u64,
}

/// The smallest ceiling: an empty store has a third of it, and the windows of a day of some
/// bearings have to fit.
const LEAST_BYTES: u64 = 16 << 20;

impl TryFrom<Typed> for StoreSettings {
    type Error = &'static str;

    fn try_from(typed: Typed) -> Result<Self, Self::Error> {
        let place = match (typed.sqlite, typed.postgres) {
            (Some(file), None) => StorePlace::Sqlite(file),
            (None, Some(server)) => StorePlace::Postgres(Box::new(server)),
            (Some(_), Some(_)) => return Err("either sqlite or postgres, not both"),
            (None, None) => return Err("sqlite = \"agent.db\" or [store.postgres] is missing"),
        };
        if (1..LEAST_BYTES).contains(&typed.max_bytes) {
            return Err("max_bytes is below 16777216 (16 MiB); 0 is without a ceiling");
        }
        let (retention, max_bytes) = (typed.retention, typed.max_bytes);
        Ok(Self { place, retention, max_bytes, replica: String::new(), marker_folder: None })
    }
}

/// `[store.retention]`: in days on which an agent ran; 0 keeps for ever. A row that waits for a
/// judgement or has still to leave stays whatever its age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetentionSettings {
    /// Events as they came.
    pub events_days: u32,
    /// Judgements, with the steps of their runs.
    pub judgements_days: u32,
    /// Notifications and acknowledgements.
    pub told_days: u32,
    /// Refused messages.
    pub refused_days: u32,
}

impl Default for RetentionSettings {
    fn default() -> Self {
        Self { events_days: 90, judgements_days: 0, told_days: 730, refused_days: 90 }
    }
}

impl StoreSettings {
    /// A SQLite file with the default retention.
    pub fn sqlite(file: impl Into<PathBuf>) -> Self {
        Self {
            place: StorePlace::Sqlite(file.into()),
            retention: RetentionSettings::default(),
            max_bytes: 0,
            replica: String::new(),
            marker_folder: None,
        }
    }

    /// Returns the folder of a SQLite file, the default place for other files of the agent; `None`
    /// for a server.
    pub fn folder(&self) -> Option<&Path> {
        match &self.place {
            StorePlace::Sqlite(file) => Some(file.parent().unwrap_or(Path::new(""))),
            StorePlace::Postgres(_) => None,
        }
    }

    /// Whether the settings of a server can be used; `path` is the file that errors name.
    ///
    /// # Errors
    /// [`ConfigError`] with the key that is wrong.
    pub fn check(&self, path: &Path) -> Result<(), ConfigError> {
        match &self.place {
            StorePlace::Sqlite(_) => Ok(()),
            StorePlace::Postgres(server) => server.check(path, "store.postgres"),
        }
    }

    /// Returns the same settings with relative paths taken from `folder`.
    #[must_use]
    pub fn rooted(mut self, folder: &Path) -> Self {
        match &mut self.place {
            StorePlace::Sqlite(file) => *file = folder.join(&file),
            StorePlace::Postgres(server) => server.root(folder),
        }
        self
    }
}

impl fmt::Display for StoreSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            StorePlace::Sqlite(file) => file.display().fmt(f),
            StorePlace::Postgres(server) => f.write_str(&server.url),
        }
    }
}
