//! The reasons why a query was not answered.

use crate::source::SourceError;

/// Why a query was not answered. Each message names the construct, the function, the variable or
/// the limit that stopped it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The text is not openCypher: the query has to be corrected.
    #[error("the query cannot be read: {0}")]
    Syntax(String),
    /// The text is openCypher, and this engine does not run it: writing, calling, or a construct
    /// that is not supported.
    #[error("{construct} is not allowed: {why}")]
    Refused {
        /// The construct, as it is written in a query.
        construct: String,
        /// Why it is not allowed.
        why: &'static str,
    },
    /// The query means nothing: an unknown variable, a wrong type, an aggregate in the wrong place.
    #[error("{code}: {message}")]
    Invalid {
        /// openCypher's name of the error.
        code: &'static str,
        /// The fault, with the names.
        message: String,
    },
    /// The query ran into a limit.
    #[error("the query was stopped: {0}")]
    Limit(String),
    /// The graph could not be read: the same query may succeed later.
    #[error("the graph cannot be read: {0}")]
    Source(#[from] SourceError),
}

impl QueryError {
    pub(crate) fn invalid(code: &'static str, message: impl Into<String>) -> Self {
        Self::Invalid { code, message: message.into() }
    }

    pub(crate) fn type_error(message: impl Into<String>) -> Self {
        Self::invalid("InvalidArgumentType", message)
    }

    pub(crate) fn unsupported(construct: impl Into<String>) -> Self {
        Self::Refused { construct: construct.into(), why: "this engine does not support it" }
    }

    /// Whether the same query may succeed at another time.
    pub const fn is_transient(&self) -> bool {
        matches!(self, Self::Source(_))
    }
}

pub(crate) type Result<T> = std::result::Result<T, QueryError>;
