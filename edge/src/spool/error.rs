//! Errors of the spool, and what the caller does about each.

use std::path::{Path, PathBuf};

use pdm_shared::id::GatewayId;

/// The action of a caller after an error of the spool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// Keep the data that was to be written and try again after a pause.
    Retry,
    /// Call [`super::Spool::repair`], then try again.
    Repair,
    /// Stop: trying again cannot help.
    Fatal,
}

/// An operation on the spool failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpoolError {
    /// The folder cannot be created. Stop.
    #[error("cannot make the spool's folder {}", path.display())]
    Folder {
        /// The path.
        path: PathBuf,
        /// The operating system's error.
        #[source]
        source: std::io::Error,
    },
    /// A file beside the spool cannot be read or written. Try again.
    #[error("cannot write {}", path.display())]
    Beside {
        /// The path.
        path: PathBuf,
        /// The operating system's error.
        #[source]
        source: std::io::Error,
    },
    /// Another program uses the spool. Stop.
    #[error("the spool {} is in use by another program (lock {})", path.display(), lock.display())]
    Locked {
        /// The spool.
        path: PathBuf,
        /// Its lock file.
        lock: PathBuf,
    },
    /// The spool belongs to another gateway, which has sequence numbers of its own. Stop.
    #[error("the spool {} belongs to gateway {got}, expected {expected}", path.display())]
    Foreign {
        /// The path.
        path: PathBuf,
        /// The configured gateway.
        expected: GatewayId,
        /// The gateway in the file.
        got: String,
    },
    /// A later version of this program wrote the spool. Stop.
    #[error("the spool {} was written by a later version of this program: {reason}",
        path.display())]
    Newer {
        /// The path.
        path: PathBuf,
        /// The error of the migrations.
        reason: String,
    },
    /// The disk is full or cannot be written. Keep the data and try again.
    #[error("no room to write the spool {}", path.display())]
    Full {
        /// The path.
        path: PathBuf,
        /// SQLite's error.
        #[source]
        source: sqlx::Error,
    },
    /// The file is damaged. Repair, then try again.
    #[error("the spool {} is damaged: {reason}", path.display())]
    Damaged {
        /// The path.
        path: PathBuf,
        /// SQLite's description of the damage.
        reason: String,
    },
    /// The file was moved, removed or replaced while the gateway had it open: what is written goes
    /// to a file that no name leads to. Repair, then try again.
    #[error("the spool {} was {what} while it was open", path.display())]
    Moved {
        /// The path.
        path: PathBuf,
        /// The change of the file.
        what: &'static str,
    },
    /// A task ended in the middle of its work. Try again.
    #[error("an operation of the spool was interrupted")]
    Interrupted(#[from] tokio::task::JoinError),
    /// An event cannot be encoded as JSON, which is a bug. Stop.
    #[error("an event cannot be written as JSON")]
    Json(#[source] serde_json::Error),
    /// Any other error of SQLite. Try again.
    #[error("the spool {} cannot be used", path.display())]
    Database {
        /// The path.
        path: PathBuf,
        /// SQLite's error.
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
    /// The action of the caller.
    pub const fn disposition(&self) -> Disposition {
        match self {
            Self::Beside { .. }
            | Self::Full { .. }
            | Self::Database { .. }
            | Self::Interrupted(_) => Disposition::Retry,
            Self::Damaged { .. } | Self::Moved { .. } => Disposition::Repair,
            Self::Folder { .. }
            | Self::Locked { .. }
            | Self::Foreign { .. }
            | Self::Newer { .. }
            | Self::Json(_) => Disposition::Fatal,
        }
    }

    /// The variant for an error of SQLite.
    pub(super) fn sqlite(path: &Path, source: sqlx::Error) -> Self {
        let path = path.to_owned();
        match code(&source) {
            // a write that fails because of the disk (SQLITE_IOERR_WRITE, _FSYNC) counts as full:
            // for both the data is kept and the write repeated
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
