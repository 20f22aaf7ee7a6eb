//! What a store says when it did not do what it was asked.

use pdm_service::postgres::WayError;

/// The store did not do it. Nothing of the call is stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Away, busy, full or broken: try again; leave messages unacknowledged.
    #[error("the store is unavailable")]
    Unavailable(#[source] sqlx::Error),
    /// Cannot be opened or created: a matter of configuration.
    #[error("cannot open the store {place}")]
    Open {
        /// Which file or server.
        place: String,
        /// Why.
        #[source]
        source: sqlx::Error,
    },
    /// The way to the server is not as it can be: a matter of configuration.
    #[error("store.postgres.{0}")]
    Way(WayError),
    /// The schema cannot be installed.
    #[error("cannot bring the store's schema up to date")]
    Migrate(#[source] sqlx::migrate::MigrateError),
    /// A row that this program did not write this way: a newer version or a damaged file.
    #[error("{what} in the store cannot be read: {reason}")]
    Content {
        /// Which value.
        what: &'static str,
        /// Why not.
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
            // the row itself is refused, and would be for ever
            Some(error) if is_of_the_row(error) => {
                Self::Content { what: "a row", reason: error.to_string() }
            }
            Some(_) | None => Self::Unavailable(source),
        }
    }
}

/// A constraint, or in PostgreSQL a value that the server does not take: classes 22 (data exception)
/// and 54 (program limit exceeded).
fn is_of_the_row(error: &dyn sqlx::error::DatabaseError) -> bool {
    let is_of_class =
        |class: &str| error.code().is_some_and(|code| code.len() == 5 && code.starts_with(class));
    error.kind() != sqlx::error::ErrorKind::Other || is_of_class("22") || is_of_class("54")
}
