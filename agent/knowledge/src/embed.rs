//! Embeddings: a text as a vector; texts of similar meaning have similar directions.
//!
//! [`local::LocalEmbedder`] needs no network and no model; [`openai::OpenAiEmbedder`] uses any
//! endpoint of the form of OpenAI's `/embeddings`. Vectors have length 1 or are all zero.

pub mod guarded;
pub mod local;
pub mod openai;

use async_trait::async_trait;
use serde::Deserialize;

/// A text to be stored, in two parts of different weight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Titles and keywords.
    pub head: String,
    /// The rest of the text.
    pub body: String,
}

/// A text for questions and one for passages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Roles {
    /// The text for a question.
    pub query: String,
    /// The text for a passage.
    pub passage: String,
}

/// No vector could be made.
#[derive(Debug, thiserror::Error)]

pub enum EmbedError {
    /// The endpoint is away or busy, after all retries. The caller tries later, or searches by
    /// words.
    #[error("embedding endpoint {url} does not answer: {reason}")]
    Unavailable {
        /// The endpoint's address.
        url: String,
        /// The last error.
        reason: String,
    },
    /// The endpoint refuses the key, the model or the request. Retrying does not help.
    #[error("embedding endpoint {url} refuses: {reason}")]
    Refused {
        /// The endpoint's address.
        url: String,
        /// The endpoint's message.
        reason: String,
    },
    /// The endpoint's answer does not match the request.
    #[error("embedding endpoint {url} answers with {got}, expected {expected}")]
    Answer {
        /// The endpoint's address.
        url: String,
        /// The requested answer.
        expected: String,
        /// The answer that arrived.
        got: String,
    },
}

/// Makes vectors from texts.
#[async_trait]
pub trait Embedder: Send + Sync + std::fmt::Debug {
    /// Identity of model and version: vectors of different ids are not compared.
    fn id(&self) -> &str;

    /// Length of the vectors.
    fn dimensions(&self) -> usize;

    /// Whether a trained model makes the vectors, so that nearness in them is evidence beside the
    /// words.
    fn is_model(&self) -> bool {
        true
    }

    /// One vector for each passage, in their order.
    ///
    /// # Errors
    /// [`EmbedError`].
    async fn embed_passages(&self, passages: &[Passage]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// The vector of a question.
    ///
    /// # Errors
    /// [`EmbedError`].
    async fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError>;
}

/// Scales a vector to length 1; a zero vector and one that is not finite become zero.
pub(super) fn normalise(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|v| f64::from(*v) * f64::from(*v)).sum::<f64>().sqrt();
    if !length.is_finite() || length <= f64::from(f32::MIN_POSITIVE) {
        vector.fill(0.0);
    } else {
        for value in &mut vector {
            *value = (f64::from(*value) / length) as f32;
        }
    }
    vector
}
