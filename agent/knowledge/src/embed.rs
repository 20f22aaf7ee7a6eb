//! Embeddings: a text as a direction, so that what means the same points the same way.
//!
//! [`local::LocalEmbedder`] needs no network and no model; [`openai::OpenAiEmbedder`] asks any
//! endpoint that speaks OpenAI's `/embeddings`. Vectors have length 1 or are all zero.

pub mod breaker;
pub mod local;
pub mod openai;

use async_trait::async_trait;

/// A text to be stored: what names it and what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Titles and keywords.
    pub head: String,
    /// Everything else.
    pub body: String,
}

/// No vector could be made.
#[derive(Debug, thiserror::Error)]

pub enum EmbedError {
    /// The endpoint is away or busy, after all retries: try later, or search by word.
    #[error("embedding endpoint {url} does not answer: {reason}")]
    Unavailable {
        /// Which.
        url: String,
        /// Its last words.
        reason: String,
    },
    /// The endpoint refuses: key, model or request is wrong. Retrying does not help.
    #[error("embedding endpoint {url} refuses: {reason}")]
    Refused {
        /// Which.
        url: String,
        /// Its words.
        reason: String,
    },
    /// The endpoint's answer is not what was asked for.
    #[error("embedding endpoint {url} answers with {got}, expected {expected}")]
    Answer {
        /// Which.
        url: String,
        /// What was asked.
        expected: String,
        /// What came.
        got: String,
    },
}

/// Makes vectors of texts.
#[async_trait]
pub trait Embedder: Send + Sync + std::fmt::Debug {
    /// Names model and version: vectors of different ids are not compared.
    fn id(&self) -> &str;

    /// Length of its vectors.
    fn dimensions(&self) -> usize;

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

/// Scales to length 1; zero stays zero, what is not finite becomes zero.
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
