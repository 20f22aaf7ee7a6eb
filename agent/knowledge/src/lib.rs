//! The knowledge base: what the agent looks up when a judgement needs grounds.
//!
//! ```text
//! file ─► document ─► chunks ─► words (sparse) + embedding (dense) ─► store ─► hits with their source
//! ```
//!
//! [`Knowledge`] is the whole of it for the rest of the agent: it ingests files, searches three
//! [`Collection`]s by meaning and by word at once, looks sections up by number and documents by
//! title, and remembers judgements. The store ([`store::VectorStore`]) and the embedding
//! ([`embed::Embedder`]) stand behind traits.
//!
//! Invariants: what is ingested twice is stored once (by content hash); every hit names its source;
//! a document that cannot be read changes nothing.

pub mod about;
pub mod chunk;
pub mod document;
pub mod embed;
pub mod glossary;
pub mod ingest;
pub mod judgement;
pub mod keeper;
pub mod lookup;
pub mod pdf;
pub mod section;
pub mod settings;
pub mod shipped;
pub mod store;
pub mod words;

use std::sync::Arc;

use pdm_shared::diagnosis::Diagnosis;

pub use about::{Collection, DocType};
pub use chunk::Chunk;
pub use section::Section;
pub use settings::{KnowledgeFile, KnowledgeSettings};
pub use store::{Filter, Hit};

use embed::breaker::Breaker;
use embed::{EmbedError, Embedder, Passage};
use store::{Point, Query, StoreError, VectorStore};

/// Hits that a search returns where nobody says otherwise (the seed's top-k).
pub const DEFAULT_TOP_K: usize = 3;

/// Most hits of one search.
pub const MAX_TOP_K: usize = 50;

/// The knowledge base cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum KnowledgeError {
    /// A file is no document: show it, go on with the next.
    #[error(transparent)]
    Document(#[from] document::DocumentError),
    /// The store is away or refuses: try again later.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The embedding failed: try again later, or search by word alone.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// A secret of the settings cannot be had.
    #[error("knowledge: {key}: {source}")]
    Secret {
        /// Whose secret.
        key: &'static str,
        /// Why.
        #[source]
        source: pdm_service::secret::SecretError,
    },
    /// The question holds nothing that can be searched for.
    #[error("the query {query:?} has no word to search for")]
    EmptyQuery {
        /// What was asked.
        query: String,
    },
}

impl KnowledgeError {
    /// Whether the same may work later: a store or an embedding endpoint is away.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Store(StoreError::Unavailable { .. })
                | Self::Embed(EmbedError::Unavailable { .. })
        )
    }
}

/// Which of the two searches answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Words and meaning, fused by reciprocal rank.
    #[default]
    Fused,
    /// Words alone.
    Keyword,
    /// Meaning alone.
    Vector,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// The best chunks, best first.
    pub hits: Vec<Hit>,
    /// Why they were found by words alone, if they were: there was no vector of the question.
    pub by_words_alone: Option<String>,
}

/// The knowledge base, shared by cloning.
#[derive(Debug, Clone)]
pub struct Knowledge {
    store: Arc<dyn VectorStore>,
    embedder: Arc<dyn Embedder>,
}

impl Knowledge {
    /// Opens the store and makes the embedder that `settings` name; creates the collections.
    ///
    /// # Errors
    /// [`KnowledgeError::Store`] if it cannot be opened, [`KnowledgeError::Secret`].
    pub async fn open(settings: &KnowledgeSettings) -> Result<Self, KnowledgeError> {
        let knowledge = Self::connect(settings).await?;
        knowledge.store.prepare().await?;
        Ok(knowledge)
    }

    /// As [`Knowledge::open`], but a server that is away is no error yet: its collections are made
    /// by [`keeper::Keeper`] when it is there.
    ///
    /// # Errors
    /// As [`Knowledge::open`], for what no waiting heals.
    pub async fn connect(settings: &KnowledgeSettings) -> Result<Self, KnowledgeError> {
        let embedder: Arc<dyn Embedder> = Arc::new(Breaker::new(settings.embedder()?));
        let store = settings.store(embedder.dimensions()).await?;
        Ok(Self { store, embedder })
    }

    /// A knowledge base on a store and an embedder that exist; creates the collections.
    ///
    /// # Errors
    /// [`KnowledgeError::Store`].
    pub async fn new(
        store: Arc<dyn VectorStore>,
        embedder: Arc<dyn Embedder>,
    ) -> Result<Self, KnowledgeError> {
        store.prepare().await?;
        Ok(Self { store, embedder: Arc::new(Breaker::new(embedder)) })
    }

    /// The `top_k` chunks of `collection` that answer `query` best, best first; by words alone while
    /// the embedding is away.
    ///
    /// # Errors
    /// [`KnowledgeError::EmptyQuery`], or the store.
    pub async fn search(
        &self,
        collection: Collection,
        query: &str,
        filter: &Filter,
        top_k: usize,
    ) -> Result<Vec<Hit>, KnowledgeError> {
        Ok(self.find(Mode::Fused, collection, query, filter, top_k).await?.hits)
    }

    /// [`Knowledge::search`] over all collections: the best of each, by their fused score.
    ///
    /// # Errors
    /// As [`Knowledge::search`].
    pub async fn search_all(
        &self,
        query: &str,
        filter: &Filter,
        top_k: usize,
    ) -> Result<Vec<Hit>, KnowledgeError> {
        let mut hits = Vec::new();
        for collection in Collection::ALL {
            hits.extend(self.search(collection, query, filter, top_k).await?);
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.chunk.id.cmp(&b.chunk.id)));
        hits.truncate(top_k.clamp(1, MAX_TOP_K));
        Ok(hits)
    }

    /// As [`Knowledge::search`], by words alone or by meaning alone where `mode` says so.
    ///
    /// # Errors
    /// As [`Knowledge::search`]; by meaning alone the embedding's, too.
    pub async fn search_by(
        &self,
        mode: Mode,
        collection: Collection,
        query: &str,
        filter: &Filter,
        top_k: usize,
    ) -> Result<Vec<Hit>, KnowledgeError> {
        Ok(self.find(mode, collection, query, filter, top_k).await?.hits)
    }

    /// As [`Knowledge::search_by`], and whether the question's meaning could be compared.
    ///
    /// # Errors
    /// As [`Knowledge::search_by`].
    pub async fn find(
        &self,
        mode: Mode,
        collection: Collection,
        query: &str,
        filter: &Filter,
        top_k: usize,
    ) -> Result<Findings, KnowledgeError> {
        let sparse = words::query_vector(query);
        if sparse.is_empty() {
            return Err(KnowledgeError::EmptyQuery { query: query.to_owned() });
        }
        let dense = match mode {
            Mode::Keyword => Ok(None),
            Mode::Fused | Mode::Vector => self.embedder.embed_query(query).await.map(Some),
        };
        let (dense, by_words_alone) = match dense {
            Err(error) if mode == Mode::Fused => (None, Some(error.to_string())),
            other => (other?, None),
        };
        let query = Query {
            dense,
            sparse: (mode != Mode::Vector).then_some(sparse),
            filter: filter.clone(),
            top_k: top_k.clamp(1, MAX_TOP_K),
        };
        let hits = self.store.search(collection, &query).await?;
        Ok(Findings { hits, by_words_alone })
    }

    /// Stores a judgement in `analysis_history`. Returns false if it stood there already.
    ///
    /// # Errors
    /// Store and embedding.
    pub async fn add_judgement(&self, diagnosis: &Diagnosis) -> Result<bool, KnowledgeError> {
        self.put(vec![judgement::chunk(diagnosis)]).await
    }

    /// Stores judgements in `analysis_history`, all or none; one that stood there is replaced.
    ///
    /// # Errors
    /// Store and embedding.
    pub async fn add_judgements(&self, diagnoses: &[Diagnosis]) -> Result<(), KnowledgeError> {
        // judged twice in one batch: the later judgement holds
        let chunks: std::collections::BTreeMap<String, Chunk> = diagnoses
            .iter()
            .map(|diagnosis| {
                let chunk = judgement::chunk(diagnosis);
                (chunk.document.clone(), chunk)
            })
            .collect();
        let documents: Vec<String> = chunks.keys().cloned().collect();
        let points = self.points(chunks.into_values().collect()).await?;
        Ok(self.store.replace(Collection::AnalysisHistory, &documents, points).await?)
    }

    /// How many chunks a collection holds.
    ///
    /// # Errors
    /// [`KnowledgeError::Store`].
    pub async fn count(&self, collection: Collection) -> Result<u64, KnowledgeError> {
        Ok(self.store.count(collection).await?)
    }

    /// Stores the chunks of ONE document in place of those it had. Returns false, and does nothing,
    /// if the same content is stored already under the same embedding.
    async fn put(&self, chunks: Vec<Chunk>) -> Result<bool, KnowledgeError> {
        let Some(first) = chunks.first() else { return Ok(false) };
        let (collection, document) = (first.about.collection, first.document.clone());
        let stored = self.store.list(collection, &Filter::document(&document)).await?;
        let same = stored.len() == chunks.len()
            && stored.iter().all(|old| {
                old.embedder == self.embedder.id() && old.chunk.about.hash == first.about.hash
            });
        if same {
            return Ok(false);
        }
        let points = self.points(chunks).await?;
        self.store.replace(collection, &[document], points).await?;
        Ok(true)
    }

    async fn points(&self, chunks: Vec<Chunk>) -> Result<Vec<Point>, KnowledgeError> {
        let passages: Vec<Passage> =
            chunks.iter().map(|chunk| Passage { head: chunk.head(), body: chunk.body() }).collect();
        let vectors = self.embedder.embed_passages(&passages).await?;
        let embedder = self.embedder.id().to_owned();
        // counting words is work: off the reactor
        let made = tokio::task::spawn_blocking(move || {
            let rows = chunks.into_iter().zip(passages).zip(vectors);
            rows.map(|((chunk, passage), dense)| {
                let sparse = words::passage_vector(&passage.head, &passage.body);
                Point { chunk, dense, sparse, embedder: embedder.clone() }
            })
            .collect()
        });
        made.await.map_err(|error| {
            let place = "counting words".to_owned();
            StoreError::Unavailable { place, reason: error.to_string() }.into()
        })
    }
}
