//! The stores of chunks and vectors: one trait, two implementations.
//!
//! [`embedded::EmbeddedStore`] is a SQLite file with exact search in memory;
//! [`qdrant::QdrantStore`] is a Qdrant server, which runs the hybrid query itself. Both pass the
//! suite in `tests/knowledge_store.rs`, which defines the behaviour of a store.

pub mod embedded;
pub mod guarded;
mod index;
pub mod qdrant;

use async_trait::async_trait;
use pdm_shared::fault::Fault;

use super::about::{Collection, DocType};
use super::chunk::Chunk;
use super::words::Sparse;

/// Least number of candidates that either search gives to the fusion: below rank 50 a chunk adds
/// less than the difference between the first two ranks of the other list.
pub(crate) const CANDIDATES: usize = 50;

/// A request that the store cannot fulfil.
#[derive(Debug, thiserror::Error)]

pub enum StoreError {
    /// The file cannot be opened or is damaged, or the server is away: no look-up is possible.
    #[error("knowledge store {place}: {reason}")]
    Unavailable {
        /// File or address of the store.
        place: String,
        /// The store's error.
        reason: String,
    },
    /// The file is damaged. The agent sets it aside and fills a new one when it opens it.
    #[error(
        "knowledge store {place} is damaged: {reason}; the agent sets it aside at its next start"
    )]
    Damaged {
        /// File of the store.
        place: String,
        /// The message of SQLite, or the fault of the rows.
        reason: String,
    },
    /// The store holds vectors of another length. The operator fills a new store.
    #[error(
        "knowledge store {place}: {collection} holds vectors of {stored} dimensions, the embedding \
         makes {asked}; ingest into a new file or under another prefix"
    )]
    Dimensions {
        /// File or address of the store.
        place: String,
        /// The collection.
        collection: String,
        /// Length of the stored vectors.
        stored: u64,
        /// Length of the vectors of the configured embedding.
        asked: u64,
    },
}

/// The chunks that a search may find. An empty filter allows all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The machine of the chunk.
    pub equipment: Option<String>,
    /// The bearing of the chunk.
    pub bearing: Option<String>,
    /// The kind of the chunk.
    pub doc_type: Option<DocType>,
    /// The fault of the chunk.
    pub fault_type: Option<Fault>,
    /// The document of the chunk.
    pub document: Option<String>,
    /// Documents to leave out, because a case must not be judged by its own report.
    pub without: Vec<String>,
}

impl Filter {
    /// A filter for the chunks of one document.
    pub fn document(id: &str) -> Self {
        Self { document: Some(id.to_owned()), ..Self::default() }
    }

    /// Whether the filter allows a chunk.
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
    /// The chunk.
    pub chunk: Chunk,
    /// The chunk's embedding, of length 1.
    pub dense: Vec<f32>,
    /// The chunk's words.
    pub sparse: Sparse,
    /// Identity of the embedder that made `dense`.
    pub embedder: String,
}

/// A search: by meaning, by words, or by both fused.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// Embedding of the question.
    pub dense: Option<Vec<f32>>,
    /// Words of the question.
    pub sparse: Option<Sparse>,
    /// The chunks that may be found.
    pub filter: Filter,
    /// Most hits.
    pub top_k: usize,
}

impl Query {
    /// Number of candidates that either search gives to the fusion.
    pub(crate) fn candidates(&self) -> usize {
        CANDIDATES.max(self.top_k)
    }
}

/// A chunk that a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The chunk.
    pub chunk: Chunk,
    /// Score, higher is better; comparable within one kind of search only.
    pub score: f32,
}

/// A stored chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The chunk.
    pub chunk: Chunk,
    /// Identity of the embedder that made its vector.
    pub embedder: String,
}

/// Stores chunks and finds them.
#[async_trait]
pub trait VectorStore: Send + Sync + std::fmt::Debug {
    /// Creates missing tables, collections and payload indexes. A repeated call changes nothing.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], [`StoreError::Dimensions`].
    async fn prepare(&self) -> Result<(), StoreError>;

    /// Whether the store answers and takes this agent's key, for reading and for writing. Makes and
    /// changes nothing.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    async fn probe(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Stores `points` and removes all other chunks of `documents`.
    ///
    /// # Errors
    /// [`StoreError`]. A later search may then find the documents' old chunks, or (Qdrant) none.
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

    /// All chunks that the filter allows, ordered by id.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn list(
        &self,
        collection: Collection,
        filter: &Filter,
    ) -> Result<Vec<Stored>, StoreError>;

    /// Number of chunks of a collection.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn count(&self, collection: Collection) -> Result<u64, StoreError>;
}
