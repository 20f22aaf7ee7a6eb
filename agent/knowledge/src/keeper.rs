//! Fills the knowledge base when the agent starts: collections, then documents. The keeper repeats
//! this until the store and the embedding endpoint are available.
//!
//! Invariant: a second run changes nothing (documents are compared by content hash).

use std::path::PathBuf;
use std::time::Duration;

use pdm_service::backoff::{Backoff, Pauses};

use super::about::Collection;
use super::ingest::Ingested;
use super::{Knowledge, KnowledgeError, shipped};

/// Pauses between attempts, from the shortest to the longest.
const PAUSES: Pauses = Pauses::new(Duration::from_secs(1), Duration::from_mins(1));

/// The keeper of one knowledge base.
#[derive(Debug, Clone)]
pub struct Keeper {
    knowledge: Knowledge,
    documents: Option<PathBuf>,
}

/// Numbers of documents of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filled {
    /// Documents in the knowledge base.
    pub documents: usize,
    /// New or changed documents among these.
    pub changed: usize,
    /// Files that are not documents.
    pub refused: usize,
}

/// The counts of a store's contents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct There {
    /// Chunks of documents.
    pub documents: u64,
    /// Judgements.
    pub judgements: u64,
}

impl Keeper {
    /// A keeper that fills `knowledge` with the documents of this folder, or with those that come
    /// with the program.
    pub fn new(knowledge: Knowledge, documents: Option<PathBuf>) -> Self {
        Self { knowledge, documents }
    }

    /// Runs once.
    ///
    /// # Errors
    /// [`KnowledgeError`]; a transient one is worth another attempt.
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

    /// Counts the contents of the store; creates the collections that it lacks.
    ///
    /// # Errors
    /// [`KnowledgeError`] of a store that does not answer.
    pub async fn look(&self) -> Result<There, KnowledgeError> {
        let knowledge = &self.knowledge;
        knowledge.store.prepare().await?;
        let manuals = knowledge.count(Collection::EquipmentManual).await?;
        let history = knowledge.count(Collection::MaintenanceHistory).await?;
        let judgements = knowledge.count(Collection::AnalysisHistory).await?;
        Ok(There { documents: manuals + history, judgements })
    }

    /// Repeats the run until it succeeds.
    ///
    /// # Errors
    /// [`KnowledgeError`] that no waiting corrects.
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
