//! Where chunks and their vectors are kept and searched: one trait, two stores.
//!
//! [`embedded::EmbeddedStore`] is a SQLite file with exact search in memory; [`qdrant::QdrantStore`]
//! is a Qdrant server that does the hybrid query itself. Both pass the suite in
//! `tests/knowledge_store.rs`, which says what a store has to do.

pub mod embedded;
mod index;
pub mod qdrant;

use async_trait::async_trait;
use pdm_shared::fault::Fault;

use super::about::{Collection, DocType};
use super::chunk::Chunk;
use super::words::Sparse;

/// Reciprocal rank fusion adds `1 / (RRF_K + rank)`, rank from 0 (Cormack, Clarke & Büttcher 2009,
/// doi:10.1145/1571941.1572114, with their k = 60 counted from rank 1). Both stores use it.
pub(crate) const RRF_K: u32 = 61;

/// Candidates that either search hands to the fusion, at least. Chosen: below rank 50 a chunk adds
/// less than the difference between the first two ranks of the other list.
pub(crate) const CANDIDATES: usize = 50;

/// The store does not do what was asked.
#[derive(Debug, thiserror::Error)]

pub enum StoreError {
    /// The file cannot be opened or is damaged: nothing can be looked up.
    #[error("knowledge store {place}: {reason}")]
    Unavailable {
        /// File or address.
        place: String,
        /// Its words.
        reason: String,
    },
    /// Vectors of one length are asked of a store that holds others: fill a new one.
    #[error(
        "knowledge store {place}: {collection} holds vectors of {stored} dimensions, the embedding \
         makes {asked}; ingest into a new file or under another prefix"
    )]
    Dimensions {
        /// File or address.
        place: String,
        /// Where.
        collection: String,
        /// What it holds.
        stored: u64,
        /// What was asked.
        asked: u64,
    },
}

/// Which chunks may be found. Empty finds all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// About this machine.
    pub equipment: Option<String>,
    /// About this bearing.
    pub bearing: Option<String>,
    /// Of this kind.
    pub doc_type: Option<DocType>,
    /// About this fault.
    pub fault_type: Option<Fault>,
    /// Of this document.
    pub document: Option<String>,
    /// Not of these documents: a case is not judged by its own report.
    pub without: Vec<String>,
}

impl Filter {
    /// The chunks of one document.
    pub fn document(id: &str) -> Self {
        Self { document: Some(id.to_owned()), ..Self::default() }
    }

    /// Whether a chunk may be found.
    pub fn passes(&self, chunk: &Chunk) -> bool {
        let same = |asked: &Option<String>, is: Option<&str>| {
            asked.as_deref().is_none_or(|asked| is == Some(asked))
        };
        same(&self.equipment, chunk.about.equipment.as_deref())
            && same(&self.bearing, chunk.about.bearing.as_deref())
            && same(&self.document, Some(&chunk.document))
            && self.doc_type.is_none_or(|asked| asked == chunk.about.doc_type)
            && self.fault_type.is_none_or(|asked| chunk.about.fault_type == Some(asked))
            && !self.without.contains(&chunk.document)
    }
}

/// A chunk with its vectors, to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// What is found.
    pub chunk: Chunk,
    /// Its embedding, length 1.
    pub dense: Vec<f32>,
    /// Its words.
    pub sparse: Sparse,
    /// Whose embedding it is.
    pub embedder: String,
}

/// A search: by meaning, by words, or by both fused.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// Embedding of the question.
    pub dense: Option<Vec<f32>>,
    /// Words of the question.
    pub sparse: Option<Sparse>,
    /// Which chunks may be found.
    pub filter: Filter,
    /// Most hits.
    pub top_k: usize,
}

impl Query {
    /// Candidates that either search hands to the fusion.
    pub(crate) fn candidates(&self) -> usize {
        CANDIDATES.max(self.top_k)
    }
}

/// A chunk that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// What was found.
    pub chunk: Chunk,
    /// Higher is better; comparable within one kind of search only.
    pub score: f32,
}

/// A chunk as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// What is stored.
    pub chunk: Chunk,
    /// Whose embedding it has.
    pub embedder: String,
}

/// Keeps chunks and finds them.
#[async_trait]
pub trait VectorStore: Send + Sync + std::fmt::Debug {
    /// Makes what is missing: tables, collections, payload indexes. May be called again.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], [`StoreError::Dimensions`].
    async fn prepare(&self) -> Result<(), StoreError>;

    /// Stores `points` in place of everything that `documents` had.
    ///
    /// # Errors
    /// [`StoreError`]; then a later search may find the documents' old chunks, or (Qdrant) none.
    async fn replace(
        &self,
        collection: Collection,
        documents: &[String],
        points: Vec<Point>,
    ) -> Result<(), StoreError>;

    /// The best chunks, best first; equal scores by id.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn search(&self, collection: Collection, query: &Query) -> Result<Vec<Hit>, StoreError>;

    /// All chunks that pass, by id.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn list(
        &self,
        collection: Collection,
        filter: &Filter,
    ) -> Result<Vec<Stored>, StoreError>;

    /// How many chunks there are.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn count(&self, collection: Collection) -> Result<u64, StoreError>;
}
