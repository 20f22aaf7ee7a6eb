//! The knowledge base: the documents in which the agent looks up support for a judgement.
//!
//! ```text
//! file ─► document ─► chunks ─► words (sparse) + embedding (dense) ─► store ─► candidates
//! question ─► words + embedding ─► candidates ─► relevance ─► hits with their source, or nothing
//! ```
//!
//! [`Knowledge`] is the interface for the rest of the agent: it ingests files, searches three
//! [`Collection`]s by meaning and by words at once, looks up sections by number and documents by
//! title, and stores judgements. The store ([`store::VectorStore`]) and the embedding
//! ([`embed::Embedder`]) are traits.
//!
//! Invariants: a document that is ingested twice is stored once (by content hash); every hit names
//! its source; a document that cannot be read changes nothing.

pub mod about;
mod breaker;
pub mod chunk;
pub mod document;
pub mod embed;
pub mod glossary;
pub mod ingest;
pub mod judgement;
pub mod keeper;
pub mod lookup;
pub mod passages;
pub mod pdf;
mod questions;
pub mod relevance;
pub mod section;
pub mod settings;
pub mod shipped;
pub mod store;
pub mod words;

use std::sync::Arc;

use pdm_shared::diagnosis::Diagnosis;

pub use about::{Added, Collection, DocType};
pub use chunk::Chunk;
pub use pdf::PdfReader;
pub use section::Section;
pub use settings::{KnowledgeFile, KnowledgeSettings};
pub use store::embedded::SetAside;
pub use store::{Filter, Hit};

use embed::guarded::GuardedEmbedder;
use embed::{EmbedError, Embedder, Passage};
use questions::Questions;
use relevance::{ByModel, CUT_OFF, LEAST, Relevance};
use store::guarded::GuardedStore;
use store::{Point, Query, StoreError, VectorStore};

/// Number of hits of a search if the caller sets none (the seed's top-k).
pub const DEFAULT_TOP_K: usize = 3;

/// Most hits of one search.
pub const MAX_TOP_K: usize = 50;

/// Candidates whose relevance is judged, at least: all of the shipped collections, and of a larger
/// one what both searches rank highest.
const JUDGED: usize = 24;

/// A request that the knowledge base cannot fulfil.
#[derive(Debug, thiserror::Error)]
pub enum KnowledgeError {
    /// A file is not a document. The caller shows the error and continues with the next file.
    #[error(transparent)]
    Document(#[from] document::DocumentError),
    /// The store is away or refuses. The caller tries again later.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The embedding failed. The caller tries again later, or searches by words alone.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// A secret of the settings cannot be read.
    #[error("knowledge: {key}: {source}")]
    Secret {
        /// The key of the secret.
        key: &'static str,
        /// The error of the read.
        #[source]
        source: pdm_service::secret::SecretError,
    },
    /// The plant's files of words cannot be read.
    #[error("knowledge: {0}")]
    Words(#[from] pdm_service::config::ConfigError),
    /// Words of a text were used before the plant's words were read: a mistake of the program.
    #[error("knowledge: words: the glossary is in use already with other words")]
    WordsSettled,
    /// The question has no searchable word.
    #[error("the query {query:?} has no word to search for")]
    EmptyQuery {
        /// The question.
        query: String,
    },
}

impl KnowledgeError {
    /// Whether the same request may succeed later, because a store or an embedding endpoint is
    /// away.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Store(StoreError::Unavailable { .. })
                | Self::Embed(EmbedError::Unavailable { .. })
        )
    }
}

/// The kind of search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Searches by words and by meaning, fused by reciprocal rank, then judged: in the order of the
    /// probability that a chunk answers, and empty where none does.
    #[default]
    Fused,
    /// Fused, without being judged: always the nearest, however far.
    Nearest,
    /// Searches by words alone.
    Keyword,
    /// Searches by meaning alone.
    Vector,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// The chunks, best first.
    pub hits: Vec<Hit>,
    /// The reason why the search was by words alone, if there was no vector of the question.
    pub by_words_alone: Option<String>,
    /// The probability that any candidate answers, where they were judged. Below
    /// [`relevance::CUT_OFF`] there are no hits.
    pub answered: Option<f32>,
}

/// The knowledge base; clones share one store.
#[derive(Debug, Clone)]
pub struct Knowledge {
    store: Arc<dyn VectorStore>,
    embedder: Arc<dyn Embedder>,
    pdf_reader: PdfReader,
    relevance: Arc<Relevance>,
    questions: Questions,
    set_aside: Option<SetAside>,
}

impl Knowledge {
    /// Opens the store and makes the embedder of `settings`; creates the collections.
    ///
    /// # Errors
    /// [`KnowledgeError::Store`] if the store cannot be opened, [`KnowledgeError::Secret`].
    pub async fn open(settings: &KnowledgeSettings) -> Result<Self, KnowledgeError> {
        let knowledge = Self::connect(settings).await?;
        knowledge.store.prepare().await?;
        Ok(knowledge)
    }

    /// Opens the knowledge base as [`Knowledge::open`] does, but a missing server is not an error:
    /// [`keeper::Keeper`] creates its collections when the server is there.
    ///
    /// # Errors
    /// The errors of [`Knowledge::open`] that no waiting corrects.
    pub async fn connect(settings: &KnowledgeSettings) -> Result<Self, KnowledgeError> {
        if let Some(words) = &settings.words
            && !glossary::install(glossary::PlantFiles::read_from(words)?)
        {
            return Err(KnowledgeError::WordsSettled);
        }
        let embedder: Arc<dyn Embedder> = Arc::new(GuardedEmbedder::new(settings.embedder()?));
        let (store, set_aside) = settings.healed_store(embedder.dimensions()).await?;
        let store = Arc::new(GuardedStore::new(store));
        let pdf_reader = PdfReader::new(settings.pdf_reader.as_deref());
        Ok(Self { pdf_reader, set_aside, ..Self::of(store, embedder) })
    }

    /// Whether the store answers and takes this agent's key, for reading and for writing. Nothing
    /// is made or changed.
    ///
    /// # Errors
    /// [`KnowledgeError::Store`], [`KnowledgeError::Secret`].
    pub async fn probe(settings: &KnowledgeSettings) -> Result<(), KnowledgeError> {
        let embedder = settings.embedder()?;
        Ok(settings.store(embedder.dimensions()).await?.probe().await?)
    }

    /// A knowledge base on an existing store and embedder; creates the collections.
    ///
    /// # Errors
    /// [`KnowledgeError::Store`].
    pub async fn new(
        store: Arc<dyn VectorStore>,
        embedder: Arc<dyn Embedder>,
    ) -> Result<Self, KnowledgeError> {
        store.prepare().await?;
        let store = Arc::new(GuardedStore::new(store));
        let embedder = Arc::new(GuardedEmbedder::new(embedder));
        Ok(Self::of(store, embedder))
    }

    fn of(store: Arc<dyn VectorStore>, embedder: Arc<dyn Embedder>) -> Self {
        let (relevance, questions) = (Arc::default(), Questions::default());
        let pdf_reader = PdfReader::new(None);
        Self { store, embedder, pdf_reader, relevance, questions, set_aside: None }
    }

    /// The damaged file that was set aside when the knowledge base was opened, if it was.
    pub const fn set_aside(&self) -> Option<&SetAside> {
        self.set_aside.as_ref()
    }

    /// The embedding, for texts that are searched beside the knowledge base ([`passages`]).
    pub fn embedder(&self) -> &Arc<dyn Embedder> {
        &self.embedder
    }

    /// The best `top_k` chunks of `collection` for `query`, best first; found by words alone while
    /// the embedding is away.
    ///
    /// # Errors
    /// [`KnowledgeError::EmptyQuery`], or an error of the store.
    pub async fn search(
        &self,
        collection: Collection,
        query: &str,
        filter: &Filter,
        top_k: usize,
    ) -> Result<Vec<Hit>, KnowledgeError> {
        Ok(self.find(Mode::Fused, collection, query, filter, top_k).await?.hits)
    }

    /// [`Knowledge::search`] in all collections: the best hits by their fused score.
    ///
    /// # Errors
    /// The errors of [`Knowledge::search`].
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

    /// [`Knowledge::search`] with the kind of search in `mode`.
    ///
    /// # Errors
    /// The errors of [`Knowledge::search`]; by meaning alone also those of the embedding.
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

    /// [`Knowledge::search_by`] that also tells whether the question had a vector.
    ///
    /// # Errors
    /// The errors of [`Knowledge::search_by`].
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
            Mode::Fused | Mode::Nearest | Mode::Vector => {
                self.embedder.embed_query(query).await.map(Some)
            }
        };
        let (dense, by_words_alone) = match dense {
            Err(error) if matches!(mode, Mode::Fused | Mode::Nearest) => {
                (None, Some(error.to_string()))
            }
            other => (other?, None),
        };
        let top_k = top_k.clamp(1, MAX_TOP_K);
        let asked = Query {
            dense,
            sparse: (mode != Mode::Vector).then_some(sparse),
            filter: filter.clone(),
            top_k: if mode == Mode::Fused { top_k.max(JUDGED) } else { top_k },
        };
        let found = self.store.search(collection, &asked).await?;
        if mode != Mode::Fused {
            return Ok(Findings { hits: found, by_words_alone, answered: None });
        }
        let by_model = self.by_model(collection, &asked, &found).await?;
        let (relevance, query) = (Arc::clone(&self.relevance), query.to_owned());
        // reading a chunk for the first time is computation: kept off the async threads
        let judge = move || relevance.judge(&query, found, by_model.as_ref());
        let judged = tokio::task::spawn_blocking(judge).await.map_err(|error| {
            let place = "relevance".to_owned();
            StoreError::Unavailable { place, reason: error.to_string() }
        })?;
        let mut hits = judged.hits;
        let least = if judged.answered < CUT_OFF { f32::INFINITY } else { LEAST };
        // the best one is what made the answer probable, however little it has alone
        let mut first = least.is_finite();
        hits.retain(|hit| std::mem::take(&mut first) || hit.score >= least);
        hits.truncate(top_k);
        Ok(Findings { hits, by_words_alone, answered: Some(judged.answered) })
    }

    /// The candidates of a question and the evidence for each, as the relevance judges them: for
    /// fitting its models.
    ///
    /// # Errors
    /// The errors of [`Knowledge::search`].
    pub async fn evidence(
        &self,
        collection: Collection,
        query: &str,
    ) -> Result<(Vec<Hit>, relevance::Evidence), KnowledgeError> {
        let dense = Some(self.embedder.embed_query(query).await?);
        let sparse = Some(words::query_vector(query));
        let asked = Query { dense, sparse, filter: Filter::default(), top_k: JUDGED };
        let found = self.store.search(collection, &asked).await?;
        let by_model = self.by_model(collection, &asked, &found).await?;
        let evidence = self.relevance.evidence(query, &found, by_model.as_ref());
        Ok((found, evidence))
    }

    /// Returns the nearness of each candidate by the embedding, if a model makes it; the local
    /// embedding says no more than the words do. `None` while the questions of a candidate are not
    /// learnt; their learning begins then.
    async fn by_model(
        &self,
        collection: Collection,
        asked: &Query,
        found: &[Hit],
    ) -> Result<Option<ByModel>, KnowledgeError> {
        let Some(dense) = asked.dense.as_ref().filter(|_| self.embedder.is_model()) else {
            return Ok(None);
        };
        let Some(of_questions) = self.questions.nearness(dense, found) else {
            self.questions.learn_later(found, &self.embedder);
            return Ok(None);
        };
        if found.is_empty() {
            return Ok(None);
        }
        let by_meaning = Query { sparse: None, top_k: asked.candidates(), ..asked.clone() };
        let near = self.store.search(collection, &by_meaning).await?;
        let lowest = near.iter().map(|hit| hit.score).fold(f32::INFINITY, f32::min);
        let cosine = |hit: &Hit| {
            let same = near.iter().find(|other| other.chunk.id == hit.chunk.id);
            same.map_or(lowest, |other| other.score)
        };
        Ok(Some(ByModel { cosines: found.iter().map(cosine).collect(), asked: of_questions }))
    }

    /// Learns the questions that the documents say they answer, where a model makes the embedding;
    /// a search begins it in the background otherwise.
    ///
    /// # Errors
    /// An error of the store or the embedding.
    pub async fn learn_questions(&self) -> Result<(), KnowledgeError> {
        if !self.embedder.is_model() {
            return Ok(());
        }
        // judgements name no questions
        for collection in [Collection::EquipmentManual, Collection::MaintenanceHistory] {
            let stored = self.store.list(collection, &Filter::default()).await?;
            let chunks: Vec<Chunk> = stored.into_iter().map(|stored| stored.chunk).collect();
            self.questions.learn(&chunks, self.embedder.as_ref()).await?;
        }
        Ok(())
    }

    /// Stores a judgement in `analysis_history`. Returns false if the same judgement was stored
    /// already.
    ///
    /// # Errors
    /// An error of the store or the embedding.
    pub async fn add_judgement(&self, diagnosis: &Diagnosis) -> Result<bool, KnowledgeError> {
        self.put(vec![judgement::chunk(diagnosis)]).await
    }

    /// Stores judgements in `analysis_history`, all or none. A stored judgement of the same event
    /// is replaced.
    ///
    /// # Errors
    /// An error of the store or the embedding.
    pub async fn add_judgements(&self, diagnoses: &[Diagnosis]) -> Result<(), KnowledgeError> {
        // of two judgements of one event in a batch the later one is stored
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

    /// Number of chunks of a collection.
    ///
    /// # Errors
    /// [`KnowledgeError::Store`].
    pub async fn count(&self, collection: Collection) -> Result<u64, KnowledgeError> {
        Ok(self.store.count(collection).await?)
    }

    /// Replaces the chunks of ONE document. Returns false, and writes nothing, if the same content
    /// is already stored with the same embedding.
    async fn put(&self, mut chunks: Vec<Chunk>) -> Result<bool, KnowledgeError> {
        let Some(first) = chunks.first() else { return Ok(false) };
        let (collection, document) = (first.about.collection, first.document.clone());
        let chunks_hash = first.about.hash.clone();
        let stored = self.store.list(collection, &Filter::document(&document)).await?;
        let same = stored.len() == chunks.len()
            && stored.iter().all(|old| {
                old.embedder == self.version() && old.chunk.about.hash == first.about.hash
            });
        if same {
            return Ok(false);
        }
        // the text that somebody brought stays theirs, also where it is embedded anew
        let earlier = stored.into_iter().map(|old| old.chunk.about);
        let mut earlier = earlier.filter(|old| old.hash == chunks_hash);
        if let Some(added) = earlier.find_map(|old| old.added) {
            for chunk in &mut chunks {
                chunk.about.added = Some(added.clone());
            }
        }
        let points = self.points(chunks).await?;
        self.store.replace(collection, &[document], points).await?;
        Ok(true)
    }

    /// Identity of how passages are embedded and their words counted.
    fn version(&self) -> String {
        format!("{}+words/{}{}", self.embedder.id(), words::VERSION, glossary::plant_digest())
    }

    async fn points(&self, chunks: Vec<Chunk>) -> Result<Vec<Point>, KnowledgeError> {
        let passages: Vec<Passage> = chunks
            .iter()
            .map(|chunk| Passage { head: chunk.head(), body: chunk.searched() })
            .collect();
        let vectors = self.embedder.embed_passages(&passages).await?;
        let embedder = self.version();
        // counting words is computation: kept off the async threads
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
