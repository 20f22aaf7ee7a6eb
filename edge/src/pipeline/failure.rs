//! What is known of a part that failed while the edge ran.

use std::sync::{Arc, Mutex, PoisonError};

/// A part of the edge failed while it ran.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the edge's part {part} failed: {reason}")]
pub struct ServiceError {
    /// Which part.
    pub part: String,
    /// What it said.
    pub reason: String,
}

/// The first failure of any part.
#[derive(Debug, Clone, Default)]
pub(super) struct Failure(Arc<Mutex<Option<ServiceError>>>);

impl Failure {
    pub(super) fn note(&self, part: impl Into<String>, reason: impl Into<String>) {
        let error = ServiceError { part: part.into(), reason: reason.into() };
        tracing::error!(%error, "a part of the edge failed");
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    pub(super) fn first(&self) -> Option<ServiceError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
