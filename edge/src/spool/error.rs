//! What can go wrong with the spool, and what the caller does then.

use std::path::{Path, PathBuf};

use pdm_shared::id::GatewayId;

/// What a caller does with an error of the spool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// Hold what was to be written and try again after a while.
    Retry,
    /// Call [`super::Spool::repair`], then try again.
    Repair,
    /// Stop: trying again cannot help.
    Fatal,
}

/// The spool cannot do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpoolError {
    /// The folder cannot be made. Stop.
    #[error("cannot make the spool's folder {}", path.display())]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file beside the spool cannot be read or written. Try again.
    #[error("cannot write {}", path.display())]
    Beside {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Another program has the spool. Stop.
    #[error("the spool {} is in use by another program (lock {})", path.display(), lock.display())]
    Locked {
        /// The spool.
        path: PathBuf,
        /// Its lock file.
        lock: PathBuf,
    },
    /// The spool belongs to another gateway: its sequence numbers are not ours. Stop.
    #[error("the spool {} belongs to gateway {got}, expected {expected}", path.display())]
    Foreign {
        /// Which.
        path: PathBuf,
        /// Whose it should be.
        expected: GatewayId,
        /// Whose it is.
        got: String,
    },
    /// A later version of this program wrote the spool. Stop.
    #[error("the spool {} was written by a later version of this program: {reason}", path.display())]
    Newer {
        /// Which.
        path: PathBuf,
        /// What the migrations say.
        reason: String,
    },
    /// No room on the disk. Hold and try again.
    #[error("no room to write the spool {}", path.display())]
    Full {
        /// Which.
        path: PathBuf,
        /// SQLite's words.
        #[source]
        source: sqlx::Error,
    },
    /// The file is damaged. Repair, then try again.
    #[error("the spool {} is damaged: {reason}", path.display())]
    Damaged {
        /// Which.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// A task ended in the middle of its work. Try again.
    #[error("an operation of the spool was interrupted")]
    Interrupted(#[from] tokio::task::JoinError),
    /// An event that cannot be written as JSON. A bug; the event is refused.
    #[error("an event cannot be written as JSON")]
    Json(#[source] serde_json::Error),
    /// Anything else SQLite says. Try again.
    #[error("the spool {} cannot be used", path.display())]
    Database {
        /// Which.
        path: PathBuf,
        /// SQLite's words.
        #[source]
        source: sqlx::Error,
    },
}

// SQLite's primary result codes, https://sqlite.org/rescode.html
const SQLITE_READONLY: i32 = 8;
const SQLITE_IOERR: i32 = 10;
const SQLITE_CORRUPT: i32 = 11;
const SQLITE_FULL: i32 = 13;
const SQLITE_CANTOPEN: i32 = 14;
const SQLITE_NOTADB: i32 = 26;

impl SpoolError {
    /// What the caller does.
    pub const fn disposition(&self) -> Disposition {
        match self {
            Self::Beside { .. }
            | Self::Full { .. }
            | Self::Database { .. }
            | Self::Interrupted(_) => Disposition::Retry,
            Self::Damaged { .. } => Disposition::Repair,
            Self::Folder { .. }
            | Self::Locked { .. }
            | Self::Foreign { .. }
            | Self::Newer { .. }
            | Self::Json(_) => Disposition::Fatal,
        }
    }

    /// Sorts an error of SQLite by what the caller does about it.
    pub(super) fn sqlite(path: &Path, source: sqlx::Error) -> Self {
        let path = path.to_owned();
        match code(&source) {
            // a write that fails for the disk's sake (SQLITE_IOERR_WRITE, _FSYNC) reads as "full":
            // holding and trying again is right for both
            Some(SQLITE_FULL | SQLITE_IOERR | SQLITE_READONLY | SQLITE_CANTOPEN) => {
                Self::Full { path, source }
            }
            Some(SQLITE_CORRUPT | SQLITE_NOTADB) => {
                Self::Damaged { path, reason: source.to_string() }
            }
            _ if matches!(source, sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_)) => {
                Self::Damaged { path, reason: source.to_string() }
            }
            _ => Self::Database { path, source },
        }
    }
}

/// The primary result code of an error that SQLite raised.
fn code(error: &sqlx::Error) -> Option<i32> {
    let extended: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(extended & 0xff)
}
