//! The plant's documents in the knowledge base: listed, brought and taken out by a page.
//!
//! The agent implements [`Library`] beside its route for programs, so both have the same limits.

use async_trait::async_trait;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;

use crate::plant::PlantError;

/// A document that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldDocument {
    /// Its identity, such as `EM-06`.
    pub id: String,
    /// Its title.
    pub title: Text,
    /// Its kind, such as `procedure`.
    pub kind: String,
    /// The passages that a search finds it by.
    pub passages: usize,
    /// Whether it comes with the program; then it stays.
    pub is_shipped: bool,
    /// Who brought it, where somebody did.
    pub added: Option<Brought>,
}

/// Who brought a document, when, and by which way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brought {
    /// The name.
    pub by: String,
    /// The way, such as `page`.
    pub via: String,
    /// When.
    pub at: Timestamp,
}

/// A file that a person brings.
#[derive(Debug, Clone)]
pub struct NewDocument<'a> {
    /// The file's name, whose ending says its kind.
    pub name: &'a str,
    /// Its content.
    pub content: &'a [u8],
    /// Whether it tells past cases; else it is a manual or a rule.
    pub is_history: bool,
    /// Who brings it.
    pub by: &'a str,
}

/// A document that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadDocument {
    /// Its identity.
    pub id: String,
    /// Whether it was new or changed.
    pub is_changed: bool,
}

/// Why a document is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentRefusal {
    /// The same person sends others. The page asks to wait.
    #[error("uploads of yours are still on their way: send this one when they have arrived")]
    Busy,
    /// The file is no document. The text says why and what is allowed.
    #[error("{0}")]
    Unfit(String),
    /// The store or the embedding does not answer. Trying again may help.
    #[error("the knowledge base does not answer at the moment")]
    Away,
}

/// What became of the wish to take a document out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentRemoved {
    /// It is out.
    Yes,
    /// There is none of this identity.
    Unknown,
    /// It comes with the program.
    Shipped,
}

/// A place of an upload; it is free again where this is dropped.
pub struct UploadPlace(
    #[expect(dead_code, reason = "what it holds is given back where it is dropped")]
    Box<dyn Send + Sync>,
);

impl std::fmt::Debug for UploadPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UploadPlace").finish_non_exhaustive()
    }
}

impl UploadPlace {
    /// Makes a place that holds `held`.
    pub fn new(held: impl Send + Sync + 'static) -> Self {
        Self(Box::new(held))
    }
}

/// The documents of the knowledge base.
#[async_trait]
pub trait Library: Send + Sync + std::fmt::Debug {
    /// Every document but the agent's own judgements, by identity.
    ///
    /// # Errors
    /// [`PlantError`] if the store cannot be asked.
    async fn documents(&self) -> Result<Vec<HeldDocument>, PlantError>;

    /// Most bytes of a document of any kind.
    fn most_bytes(&self) -> usize;

    /// A place for an upload of `asker` with at most so many bytes; waits until there is room.
    ///
    /// # Errors
    /// [`DocumentRefusal::Busy`] if the asker has its share, [`DocumentRefusal::Away`] if the agent
    /// stops.
    async fn place(&self, asker: &str, bytes: usize) -> Result<UploadPlace, DocumentRefusal>;

    /// Reads a document and keeps it in place of an earlier one of its identity.
    ///
    /// # Errors
    /// [`DocumentRefusal`].
    async fn keep(&self, document: NewDocument<'_>) -> Result<ReadDocument, DocumentRefusal>;

    /// Takes a document out.
    ///
    /// # Errors
    /// [`PlantError`] if the store cannot be asked.
    async fn remove(&self, id: &str) -> Result<DocumentRemoved, PlantError>;
}
