//! `generate_report` and `generate_work_order`: who writes the documents, and when they are due.
//!
//! Documents are due at Warning and Critical where the judgement is worse or other than the last:
//! a bearing that keeps standing at Warning keeps the documents it has, so that nobody gets a work
//! order for each window. Below that a short status stands, which is the judgement itself.

use async_trait::async_trait;
use pdm_report::files::DocumentKind;
use pdm_shared::risk::RiskLevel;
use serde::{Deserialize, Serialize};

use super::state::State;

/// A document that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// What it is.
    pub kind: DocumentKind,
    /// Where it stands: a path or an address.
    pub place: String,
}

/// What writing came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What was written.
    pub written: Vec<Written>,
    /// Figures of its texts that stand in none of their sources; empty when all is well.
    pub ungrounded: Vec<String>,
}

/// A document could not be written. The judgement goes on without it and says so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot write the {kind:?}: {reason}")]
pub struct DocumentError {
    /// Which.
    pub kind: DocumentKind,
    /// Why not.
    pub reason: String,
}

/// Who writes documents. The same state gives the same document in the same place, so that one
/// that is written again after a crash replaces itself.
#[async_trait]
pub trait Documents: Send + Sync + std::fmt::Debug {
    /// Writes one kind of document.
    ///
    /// # Errors
    /// [`DocumentError`].
    async fn write(&self, kind: DocumentKind, state: &State) -> Result<Outcome, DocumentError>;
}

/// Whether documents are due.
pub(super) fn are_due(state: &State) -> bool {
    state.risk() >= RiskLevel::Warning && state.is_news()
}
