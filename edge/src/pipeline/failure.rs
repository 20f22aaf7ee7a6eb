//! The first failure of a part of the edge while the edge ran.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::log;

/// A part of a running edge, as it is named in errors and logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EdgePart {
    /// The thread that reads a source, with the source's name.
    Reading(String),
    /// The thread that measures a source, with the source's name.
    Measuring(String),
    /// The task that commits events to the spool.
    Committing,
    /// The task that sends events to the broker.
    Publishing,
    /// The thread that captures waveforms.
    Capturing,
    /// The task that starts and stops the others.
    Service,
}

impl fmt::Display for EdgePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reading(source) => write!(f, "source {source}"),
            Self::Measuring(source) => write!(f, "measure {source}"),
            Self::Committing => f.write_str("commit"),
            Self::Publishing => f.write_str("publish"),
            Self::Capturing => f.write_str("capture"),
            Self::Service => f.write_str("service"),
        }
    }
}

/// A part of the edge failed while the edge ran.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the edge's part {part} failed: {reason}")]
pub struct ServiceError {
    /// The part.
    pub part: EdgePart,
    /// The part's error as text.
    pub reason: String,
}

/// The first failure of any part. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Failure(Arc<Mutex<Option<ServiceError>>>);

impl Failure {
    /// Logs a failure, and keeps it if it is the first: later ones mostly follow from the first.
    pub(super) fn note(&self, part: EdgePart, reason: impl Into<String>) {
        let error = ServiceError { part, reason: reason.into() };
        log::part_failed(&error);
        self.held().get_or_insert(error);
    }

    pub(super) fn first(&self) -> Option<ServiceError> {
        self.held().clone()
    }

    pub(super) fn has_any(&self) -> bool {
        self.held().is_some()
    }

    fn held(&self) -> MutexGuard<'_, Option<ServiceError>> {
        // the value is replaced in one statement, so a panic elsewhere cannot leave it half-made
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
