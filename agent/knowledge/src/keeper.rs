//! Fills the knowledge base when the agent starts: collections, then documents, again and again
//! until the store and the embedding endpoint are there.
//!
//! Invariant: filling twice is filling once (documents are compared by content hash).

use std::path::PathBuf;
use std::time::Duration;

use pdm_service::backoff::{Backoff, Pauses};

use super::about::Collection;
use super::ingest::Ingested;
use super::{Knowledge, KnowledgeError, shipped};

/// First and longest pause between attempts.
const PAUSES: Pauses = Pauses::new(Duration::from_secs(1), Duration::from_mins(1));

/// Fills a knowledge base.
#[derive(Debug, Clone)]
pub struct Keeper {
    knowledge: Knowledge,
    documents: Option<PathBuf>,
}

/// How much was filled in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filled {
    /// Documents that are there.
    pub documents: usize,
    /// Of these, new or changed ones.
    pub changed: usize,
    /// Files that are no documents.
    pub refused: usize,
}

impl Keeper {
    /// Fills `knowledge` with the documents of this folder, or with those that come with the
    /// program.
    pub fn new(knowledge: Knowledge, documents: Option<PathBuf>) -> Self {
        Self { knowledge, documents }
    }

    /// Fills once.
    ///
    /// # Errors
    /// [`KnowledgeError`]: what is transient is worth another attempt.
    pub async fn fill(&self) -> Result<Filled, KnowledgeError> {
        self.knowledge.store.prepare().await?;
        let mut outcomes = Vec::new();
        if let Some(folder) = &self.documents {
            let files = self.knowledge.ingest(folder, Collection::EquipmentManual).await?;
            outcomes.extend(files.into_iter().map(|Ingested { outcome, .. }| outcome));
        } else {
            for document in shipped::documents()? {
                outcomes.push(self.knowledge.ingest_document(&document).await);
            }
        }
        let mut filled = Filled::default();
        for outcome in outcomes {
            match outcome {
                Ok(outcome) => {
                    filled.documents += 1;
                    filled.changed += usize::from(outcome.is_changed);
                }
                Err(KnowledgeError::Document(_)) => filled.refused += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    /// Fills until it is done.
    ///
    /// # Errors
    /// [`KnowledgeError`] that no waiting heals.
    pub async fn fill_until_done(&self) -> Result<Filled, KnowledgeError> {
        let mut backoff = Backoff::new(PAUSES);
        loop {
            match self.fill().await {
                Err(error) if error.is_transient() => {
                    let pause = backoff.next_pause();
                    tracing::warn!(%error, ?pause, "the knowledge base is away, trying on");
                    tokio::time::sleep(pause).await;
                }
                done => return done,
            }
        }
    }
}
