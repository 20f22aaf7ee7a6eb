//! The reasons why a program stops before its end.

use thiserror::Error;

/// An error that a program may catch, with the name that Python has for its kind.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{kind}: {message}")]
pub(crate) struct Fault {
    /// The kind, such as `TypeError`.
    pub(crate) kind: String,
    /// The fault.
    pub(crate) message: String,
}

/// The reason why a program stops.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum Stop {
    /// An error of the program.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// A limit, which no program can catch.
    #[error("{0}")]
    Limit(String),
    /// `final_answer` was called.
    #[error("final answer")]
    Answer(String),
}

/// The result of an operation.
pub(crate) type Outcome<T> = Result<T, Stop>;

/// An error of this kind.
pub(crate) fn fault<T>(kind: &str, message: impl Into<String>) -> Outcome<T> {
    Err(Stop::Fault(Fault { kind: kind.to_owned(), message: message.into() }))
}

/// A value has a type that the operation cannot work with.
pub(crate) fn type_error<T>(message: impl Into<String>) -> Outcome<T> {
    fault("TypeError", message)
}

/// A value that the operation cannot work with.
pub(crate) fn value_error<T>(message: impl Into<String>) -> Outcome<T> {
    fault("ValueError", message)
}
