//! `generate_report` and `generate_work_order`: the interface to the documents, and when they are
//! due.
//!
//! Documents are due at Warning and Critical if the judgement is worse or other than the bearing's
//! last: a bearing that stays at Warning keeps the documents it has, so that staff does not get a
//! work order for each window. Below Warning the judgement itself is the short status.

use async_trait::async_trait;
use pdm_report::files::DocumentKind;
use pdm_shared::risk::RiskLevel;
use serde::{Deserialize, Serialize};

use super::state::State;

/// A document that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// The kind of the document.
    pub kind: DocumentKind,
    /// The place of the document: a path or an address.
    pub place: String,
}

/// The result of writing one kind of document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentOutcome {
    /// The files that were written.
    pub written: Vec<Written>,
    /// Figures of the texts that stand in none of their sources; empty when all is well.
    pub ungrounded: Vec<String>,
}

/// A document could not be written. The judgement goes on without the document and says so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot write the {kind:?}: {reason}")]
pub struct DocumentError {
    /// The kind of the document.
    pub kind: DocumentKind,
    /// Why the document could not be written.
    pub reason: String,
}

/// Writes documents. The same state gives the same document in the same place, so that a document
/// that is written again after a crash replaces itself.
#[async_trait]
pub trait Documents: Send + Sync + std::fmt::Debug {
    /// Returns the places of the documents that [`Documents::write`] will write, before it does;
    /// empty if they are not known. Staff is told of them with the alarm.
    fn places(&self, _kind: DocumentKind, _state: &State) -> Vec<Written> {
        Vec::new()
    }

    /// Writes one kind of document.
    ///
    /// # Errors
    /// [`DocumentError`].
    async fn write(
        &self,
        kind: DocumentKind,
        state: &State,
    ) -> Result<DocumentOutcome, DocumentError>;
}

/// Whether documents are due.
pub(super) fn are_due(state: &State) -> bool {
    state.risk() >= RiskLevel::Warning && state.is_news()
}
