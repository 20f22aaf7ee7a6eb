//! The reasons for which an edge does not start.

use crate::admin::AdminError;
use crate::source::SourceError;
use crate::spool::SpoolError;

/// The edge did not start. The caller shows the error and ends with its exit code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The spool cannot be opened.
    #[error(transparent)]
    Spool(#[from] SpoolError),
    /// A source cannot be opened.
    #[error("source {name}: {source}")]
    Source {
        /// The source's name in the configuration.
        name: String,
        /// The source's error.
        #[source]
        source: SourceError,
    },
    /// A source does not fit its settings.
    #[error("source {name}: {reason}")]
    Unfit {
        /// The source's name in the configuration.
        name: String,
        /// The setting that does not fit, with the figures.
        reason: String,
    },
    /// Health and metrics cannot be served.
    #[error(transparent)]
    Admin(#[from] AdminError),
}
