//! Failures of the store.

use pdm_service::postgres::WayError;
use sqlx::migrate::{MigrateError, Migrator};

use crate::suspicion;

/// A call of the store failed, and nothing of the call is stored.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database is away, busy, full or broken. The caller tries again and leaves messages
    /// unacknowledged.
    #[error("the store is unavailable")]
    Unavailable(#[source] sqlx::Error),
    /// The file cannot be opened or created, or the server refuses. The configuration has to
    /// change.
    #[error("cannot open the store {place}")]
    Open {
        /// The file or server.
        place: String,
        /// The error of the database.
        #[source]
        source: sqlx::Error,
    },
    /// There is no such file, and whoever asks is not to make it. The caller says so.
    #[error("there is no store {place}: `pdm-agent run` and `pdm-agent migrate` make it")]
    Missing {
        /// The file.
        place: String,
    },
    /// The settings of the server cannot be used. The configuration has to change.
    #[error("store.postgres.{0}")]
    Way(WayError),
    /// The schema cannot be installed or updated.
    #[error("cannot bring the store's schema up to date")]
    Migrate(#[source] MigrateError),
    /// The server can be reached, and the store must not be used there as it is.
    #[error("the store {place} cannot be used: {unfit}")]
    Unfit {
        /// The server.
        place: String,
        /// The reason.
        unfit: Unfit,
    },
    /// A newer version of the program has written the store.
    #[error(
        "the store was written by a newer version of pdm-agent: its schema has version {found}, \
         this program knows versions up to {known}; install the newer version again, or restore a \
         backup of before the update"
    )]
    Newer {
        /// The schema's version.
        found: i64,
        /// The highest version that this program knows.
        known: i64,
    },
    /// The file was moved, removed or replaced while it was open: what is written goes to a file
    /// that no name leads to.
    #[error(
        "the store {place} was {what} while the agent had it open: what is stored since then is \
         lost when the agent stops"
    )]
    Moved {
        /// The file.
        place: String,
        /// The change of the file: "moved or removed", or "replaced by another file".
        what: &'static str,
    },
    /// The log of the file was moved, removed or replaced while it was open. An orderly stop still
    /// writes all of it into the file; a crash loses what is in it.
    #[error(
        "{place} was {what} while the agent had the store open: what is stored since then is lost \
         if the agent crashes, and kept if it is stopped in order"
    )]
    LogMoved {
        /// The log.
        place: String,
        /// The change of the log: "moved or removed", or "replaced by another file".
        what: &'static str,
    },
    /// The database took rows and does not have them: a trigger that returns nothing, a rule or row
    /// security swallows them.
    #[error(
        "the database swallows rows of table {table}: a trigger that does not return NEW, a rule \
         or row security"
    )]
    Swallowed {
        /// The table.
        table: &'static str,
    },
    /// A value cannot be read or written: another version wrote it, the file is damaged, or the
    /// database refuses it. Trying again does not help.
    #[error("{what} in the store cannot be read: {reason}")]
    Content {
        /// The value.
        what: &'static str,
        /// Why it cannot be read or written.
        reason: String,
    },
}

/// Why a server must not be used as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The encoding of the database does not hold every character. The configuration has to change.
    #[error(
        "server_encoding is {found}, allowed is UTF8: make a database with \"createdb \
         --encoding=UTF8 --template=template0\", move the rows with pg_dump and pg_restore, and \
         name it in store.postgres.url"
    )]
    Encoding {
        /// The encoding that the server reports.
        found: String,
    },
    /// A pooler gives another session of the server to each transaction; the locks on bearings
    /// belong to a session. The configuration has to change.
    #[error(
        "a connection pooler in transaction or statement mode (such as pgbouncer) stands before \
         the server ({sign}): name the server itself in store.postgres.url, or a pool in session \
         mode"
    )]
    Pooler {
        /// The observation that shows the pooler.
        sign: String,
    },
    /// The server is a standby. The caller waits until it is promoted or the address leads
    /// elsewhere.
    #[error(
        "the server is a standby that has not been promoted (pg_is_in_recovery), so nothing can be \
         written: promote it, or lead the address to the primary"
    )]
    Standby,
}

impl StoreError {
    /// The store has not answered yet.
    pub const fn no_answer() -> Self {
        Self::Unavailable(sqlx::Error::PoolTimedOut)
    }

    /// The error of a migration; `known` are those of this program.
    pub(super) fn of_migration(error: MigrateError, known: &Migrator) -> Self {
        let known = known.iter().map(|one| one.version).max().unwrap_or_default();
        if let MigrateError::VersionMissing(found) = error
            && found > known
        {
            return Self::Newer { found, known };
        }
        Self::Migrate(error)
    }
}

impl From<WayError> for StoreError {
    fn from(way: WayError) -> Self {
        Self::Way(way)
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(source: sqlx::Error) -> Self {
        let Some(error) = source.as_database_error() else { return Self::Unavailable(source) };
        // the database refuses the row itself and would refuse it again
        if is_of_the_row(error) {
            return Self::Content { what: "a row", reason: error.to_string() };
        }
        if suspicion::is_sign(&error.code().unwrap_or_default(), error.message()) {
            suspicion::raise();
        }
        Self::Unavailable(source)
    }
}

/// Whether the database refuses the row: a constraint, or in PostgreSQL an error of class 22 (data
/// exception) or 54 (program limit exceeded).
fn is_of_the_row(error: &dyn sqlx::error::DatabaseError) -> bool {
    let is_of_class =
        |class: &str| error.code().is_some_and(|code| code.len() == 5 && code.starts_with(class));
    error.kind() != sqlx::error::ErrorKind::Other || is_of_class("22") || is_of_class("54")
}
