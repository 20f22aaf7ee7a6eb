//! Embeddings from an endpoint of the form of OpenAI's `POST {base_url}/embeddings`: OpenAI itself,
//! or a server in the plant.
//!
//! For documents, failures that may pass (no answer, 429, 5xx) are retried after 1, 2 and 4 s.
//! Questions are not retried, because a caller waits for them. Other failures are returned at once.
//! No error contains the key.

use std::time::Duration;

use async_trait::async_trait;
use pdm_service::backoff::REQUEST_PAUSES;
use pdm_service::bounded::{ERROR_BYTES, Head};
use pdm_service::error_chain::error_chain;
use pdm_service::secret::{LiveSecret, Secret, SecretSource};
use reqwest::StatusCode;
use serde::{Deserialize, Serialize};

use super::{EmbedError, Embedder, Passage, Roles, normalise};

/// Texts of one request: far below OpenAI's limits of 2,048 texts and 300,000 tokens (32 texts of
/// 5,000 characters have at most 240,000).
const BATCH: usize = 32;

/// Most characters of one text; the rest is left out. At up to 1.5 tokens a Hangul syllable, 5,000
/// characters are 7,500 of the allowed 8,191 tokens.
const MAX_CHARS: usize = 5000;

/// Longest wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// An endpoint and its model.
#[derive(Debug)]
pub struct OpenAiEmbedder {
    client: reqwest::Client,
    url: String,
    model: String,
    id: String,
    dimensions: usize,
    key: Option<LiveSecret>,
    pauses: [Duration; 3],
    prefix: Roles,
    input_type: Roles,
}

#[derive(Debug, Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    input_type: &'a str,
}

#[derive(Debug, Deserialize)]
struct EmbeddingAnswer {
    data: Vec<Item>,
}

#[derive(Debug, Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f32>,
}

impl OpenAiEmbedder {
    /// An endpoint at `base_url` (such as `https://api.openai.com/v1`) with `model`, whose vectors
    /// have length `dimensions`.
    ///
    /// # Errors
    /// [`EmbedError::Refused`] if no HTTP client can be made (TLS roots cannot be read).
    pub fn new(
        base_url: &str,
        model: &str,
        dimensions: usize,
        key: Option<Secret>,
    ) -> Result<Self, EmbedError> {
        // another part of the program may have installed a provider first, which then stays
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let url = format!("{}/embeddings", base_url.trim_end_matches('/'));
        let client = reqwest::Client::builder().timeout(TIMEOUT).build().map_err(|error| {
            EmbedError::Refused { url: url.clone(), reason: error_chain(&error) }
        })?;
        let id = format!("{model}/{dimensions}");
        let (prefix, input_type) = (Roles::default(), Roles::default());
        let (model, key) = (model.to_owned(), key.map(LiveSecret::from));
        Ok(Self {
            client,
            url,
            model,
            id,
            dimensions,
            key,
            pauses: REQUEST_PAUSES,
            prefix,
            input_type,
        })
    }

    /// The endpoint with texts before questions and passages, and with a field `input_type`.
    /// Passages that were embedded with others have another [`Embedder::id`].
    #[must_use]
    pub fn with_roles(self, prefix: Roles, input_type: Roles) -> Self {
        let said = [prefix.passage.trim(), input_type.passage.trim()].concat();
        let id = if said.is_empty() { self.id } else { format!("{}/{said}", self.id) };
        Self { id, prefix, input_type, ..self }
    }

    /// The endpoint whose key is read from `source` again for each request, so that it can be
    /// rotated without a restart.
    #[must_use]
    pub fn renewing(self, source: Option<SecretSource>) -> Self {
        let key = self.key.map(|key| LiveSecret::with(source, key.current()));
        Self { key, ..self }
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut all = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            all.extend(self.batch(batch).await?);
        }
        Ok(all)
    }

    async fn batch(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        for pause in self.pauses {
            match self.ask(texts, &self.input_type.passage).await {
                Err(EmbedError::Unavailable { .. }) => {
                    tokio::time::sleep(pause).await;
                }
                answer => return answer,
            }
        }
        self.ask(texts, &self.input_type.passage).await
    }

    async fn ask(&self, texts: &[String], input_type: &str) -> Result<Vec<Vec<f32>>, EmbedError> {
        let away = |reason| EmbedError::Unavailable { url: self.url.clone(), reason };
        let (model, encoding_format) = (self.model.as_str(), "float");
        let request = Request { model, input: texts, encoding_format, input_type };
        let mut call = self.client.post(&self.url).json(&request);
        if let Some(key) = &self.key {
            call = call.bearer_auth(key.current().expose());
        }
        let mut answer = call.send().await.map_err(|error| away(error_chain(&error)))?;
        let status = answer.status();
        let is_good = status.is_success();
        let mut head = Head::of(if is_good { self.most_bytes(texts.len()) } else { ERROR_BYTES });
        let ended = read(&mut answer, &mut head).await;
        if !is_good {
            let reason = format!("{status}: {}", head.told(300));
            let passing = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
            return Err(if passing {
                away(reason)
            } else {
                EmbedError::Refused { url: self.url.clone(), reason }
            });
        }
        ended.map_err(|error| away(error_chain(&error)))?;
        let bytes = head.whole().ok_or_else(|| self.odd("an answer that is longer".to_owned()))?;
        let answer: EmbeddingAnswer =
            serde_json::from_slice(&bytes).map_err(|error| self.odd(error.to_string()))?;
        self.ordered(answer, texts.len())
    }

    /// Most bytes of an answer: 32 for each number, which has at most 25 digits and signs, and as
    /// many for the rest as an error page has.
    const fn most_bytes(&self, texts: usize) -> usize {
        ERROR_BYTES.saturating_add(texts.saturating_mul(self.dimensions).saturating_mul(32))
    }

    fn ordered(
        &self,
        answer: EmbeddingAnswer,
        expected: usize,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut items = answer.data;
        items.sort_by_key(|item| item.index);
        if !items.iter().map(|item| item.index).eq(0..expected) {
            return Err(self.odd(format!("{} vectors for {expected} texts", items.len())));
        }
        let odd = items.iter().find(|item| item.embedding.len() != self.dimensions);
        if let Some(item) = odd {
            return Err(self.odd(format!("{} dimensions", item.embedding.len())));
        }
        Ok(items.into_iter().map(|item| normalise(item.embedding)).collect())
    }

    fn odd(&self, got: String) -> EmbedError {
        let expected = format!("vectors of {} dimensions", self.dimensions);
        EmbedError::Answer { url: self.url.clone(), expected, got }
    }
}

/// Reads an answer to its end or until the head is full.
async fn read(answer: &mut reqwest::Response, head: &mut Head) -> Result<(), reqwest::Error> {
    while let Some(chunk) = answer.chunk().await? {
        if !head.take(&chunk) {
            break;
        }
    }
    Ok(())
}

#[async_trait]
impl Embedder for OpenAiEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    async fn embed_passages(&self, passages: &[Passage]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let whole = |passage: &Passage| {
            let Passage { head, body } = passage;
            let joint = if body.is_empty() { "" } else { "\n" };
            let text = format!("{}{head}{joint}{body}", self.prefix.passage);
            text.chars().take(MAX_CHARS).collect()
        };
        self.embed(passages.iter().map(whole).collect()).await
    }

    async fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        let query = format!("{}{query}", self.prefix.query).chars().take(MAX_CHARS).collect();
        let vectors = self.ask(&[query], &self.input_type.query).await?;
        vectors.into_iter().next().ok_or_else(|| self.odd("no vector".to_owned()))
    }
}

#[cfg(test)]
#[path = "openai_tests.rs"]
mod tests;
