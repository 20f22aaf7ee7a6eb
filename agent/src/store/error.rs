//! Failures of the store.

use pdm_service::postgres::WayError;

/// A call of the store failed, and nothing of the call is stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database is away, busy, full or broken. The caller tries again and leaves messages
    /// unacknowledged.
    #[error("the store is unavailable")]
    Unavailable(#[source] sqlx::Error),
    /// The file cannot be opened or created, or the server refuses. The configuration has to change.
    #[error("cannot open the store {place}")]
    Open {
        /// The file or server.
        place: String,
        /// Why.
        #[source]
        source: sqlx::Error,
    },
    /// The settings of the server cannot be used. The configuration has to change.
    #[error("store.postgres.{0}")]
    Way(WayError),
    /// The schema cannot be installed or updated.
    #[error("cannot bring the store's schema up to date")]
    Migrate(#[source] sqlx::migrate::MigrateError),
    /// A value cannot be read or written: another version wrote it, the file is damaged, or the database
    /// refuses it. Trying again does not help.
    #[error("{what} in the store cannot be read: {reason}")]
    Content {
        /// The value.
        what: &'static str,
        /// Why it cannot be read or written.
        reason: String,
    },
}

impl From<WayError> for StoreError {
    fn from(way: WayError) -> Self {
        Self::Way(way)
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(source: sqlx::Error) -> Self {
        match source.as_database_error() {
            // the database refuses the row itself and would refuse it again
            Some(error) if is_of_the_row(error) => {
                Self::Content { what: "a row", reason: error.to_string() }
            }
            Some(_) | None => Self::Unavailable(source),
        }
    }
}

/// Whether the database refuses the row: a constraint, or in PostgreSQL an error of class 22 (data
/// exception) or 54 (program limit exceeded).
fn is_of_the_row(error: &dyn sqlx::error::DatabaseError) -> bool {
    let is_of_class =
        |class: &str| error.code().is_some_and(|code| code.len() == 5 && code.starts_with(class));
    error.kind() != sqlx::error::ErrorKind::Other || is_of_class("22") || is_of_class("54")
}
