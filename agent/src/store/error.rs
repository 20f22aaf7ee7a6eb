//! What a store says when it did not do what it was asked.

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

impl From<sqlx::Error> for StoreError {
    fn from(source: sqlx::Error) -> Self {
        match source.as_database_error() {
            // the row itself is refused, and would be for ever
            Some(error) if error.kind() != sqlx::error::ErrorKind::Other => {
                Self::Content { what: "a row", reason: error.to_string() }
            }
            Some(_) | None => Self::Unavailable(source),
        }
    }
}
