//! Embeds questions without long waits: an endpoint that is away causes one short wait, and none
//! until the pause after it has passed.
//!
//! The breaker stands between the knowledge base and its [`Embedder`]. During the pause questions
//! fail at once, and the caller searches by words alone. Documents are embedded with the embedder's
//! own retries; the first success ends the pause.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use super::{EmbedError, Embedder, Passage};

/// Longest wait of a question for its vector. No data chose it: an endpoint usually answers one
/// text within some tenths of a second, and the notification of staff waits for the judgement and
/// its sources.
const ANSWER: Duration = Duration::from_secs(2);
/// Pause after a failure in which the endpoint is not asked. No data chose it: one slow question a
/// minute while the endpoint is away, against at most a minute of search by words after its return.
const REST: Duration = Duration::from_mins(1);

/// An embedder with a short wait for questions.
#[derive(Debug)]
pub struct Breaker {
    embedder: Arc<dyn Embedder>,
    resting: Mutex<Option<Rest>>,
}

#[derive(Debug)]
struct Rest {
    until: Instant,
    reason: String,
}

impl Breaker {
    /// A breaker in front of `embedder`.
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder, resting: Mutex::default() }
    }

    fn away(&self, reason: String) -> EmbedError {
        EmbedError::Unavailable { url: self.embedder.id().to_owned(), reason }
    }

    /// The reason of the pause, while it lasts.
    fn rests(&self) -> Option<String> {
        let resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = resting.as_ref().filter(|rest| rest.until > Instant::now())?;
        Some(format!("not asked again yet: {}", rest.reason))
    }

    fn is_there(&self) {
        *self.resting.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn is_away(&self, error: &EmbedError) {
        tracing::warn!(%error, rest = ?REST, "Questions are searched by words alone for a while.");
        metrics::counter!("pdm_agent_embedding_rests_total").increment(1);
        let rest = Rest { until: Instant::now() + REST, reason: error.to_string() };
        *self.resting.lock().unwrap_or_else(PoisonError::into_inner) = Some(rest);
    }
}

#[async_trait]
impl Embedder for Breaker {
    fn id(&self) -> &str {
        self.embedder.id()
    }

    fn dimensions(&self) -> usize {
        self.embedder.dimensions()
    }

    async fn embed_passages(&self, passages: &[Passage]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vectors = self.embedder.embed_passages(passages).await?;
        self.is_there();
        Ok(vectors)
    }

    async fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        if let Some(reason) = self.rests() {
            return Err(self.away(reason));
        }
        let asked = tokio::time::timeout(ANSWER, self.embedder.embed_query(query)).await;
        let answer = asked.unwrap_or_else(|_elapsed| {
            Err(self.away(format!("no answer within {} s", ANSWER.as_secs())))
        });
        match &answer {
            Ok(_) => self.is_there(),
            Err(error @ EmbedError::Unavailable { .. }) => self.is_away(error),
            // the endpoint is there but the settings or the model are wrong: waiting does not help
            Err(EmbedError::Refused { .. } | EmbedError::Answer { .. }) => {}
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// An embedder that hangs until it is released.
    #[derive(Debug, Default)]
    struct Hanging {
        asked: AtomicUsize,
        hangs: Mutex<bool>,
    }

    #[async_trait]
    impl Embedder for Hanging {
        fn id(&self) -> &'static str {
            "hanging"
        }

        fn dimensions(&self) -> usize {
            1
        }

        async fn embed_passages(&self, _: &[Passage]) -> Result<Vec<Vec<f32>>, EmbedError> {
            Ok(vec![vec![1.0]])
        }

        async fn embed_query(&self, _: &str) -> Result<Vec<f32>, EmbedError> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let hangs = *self.hangs.lock().expect("whole");
            if hangs {
                std::future::pending::<()>().await;
            }
            Ok(vec![1.0])
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_endpoint_that_hangs_is_waited_for_once_and_asked_again_after_a_rest() {
        let embedder = Arc::new(Hanging { hangs: Mutex::new(true), ..Hanging::default() });
        let breaker = Breaker::new(Arc::<Hanging>::clone(&embedder));
        for _ in 0..3 {
            let error = breaker.embed_query("가").await.expect_err("it hangs");
            assert!(error.to_string().contains("no answer within 2 s"), "{error}");
        }
        assert_eq!(embedder.asked.load(Ordering::SeqCst), 1);
        *embedder.hangs.lock().expect("whole") = false;
        tokio::time::advance(REST).await;
        assert_eq!(breaker.embed_query("가").await.expect("it is there"), [1.0]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_document_that_gets_its_vector_ends_the_rest() {
        let embedder = Arc::new(Hanging { hangs: Mutex::new(true), ..Hanging::default() });
        let breaker = Breaker::new(Arc::<Hanging>::clone(&embedder));
        breaker.embed_query("가").await.expect_err("it hangs");
        *embedder.hangs.lock().expect("whole") = false;
        breaker.embed_query("가").await.expect_err("it rests");
        breaker.embed_passages(&[]).await.expect("vectors");
        breaker.embed_query("가").await.expect("it is there");
    }
}
