//! Embeds questions without long waits: an endpoint that is away causes one short wait, and none
//! until the pause after it has passed.
//!
//! The guard stands between the knowledge base and its [`Embedder`]. During the pause questions
//! fail at once, and the caller searches by words alone. Documents are embedded with the embedder's
//! own retries; the first success ends the pause.

use std::sync::Arc;

use async_trait::async_trait;

use super::{EmbedError, Embedder, Passage};
use crate::breaker::{ANSWER, Breaker};

/// An embedder with a short wait for questions.
#[derive(Debug)]
pub struct GuardedEmbedder {
    embedder: Arc<dyn Embedder>,
    breaker: Breaker,
}

impl GuardedEmbedder {
    /// A breaker in front of `embedder`.
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder, breaker: Breaker::new("embedding") }
    }

    fn away(&self, reason: String) -> EmbedError {
        EmbedError::Unavailable { url: self.embedder.id().to_owned(), reason }
    }
}

#[async_trait]
impl Embedder for GuardedEmbedder {
    fn id(&self) -> &str {
        self.embedder.id()
    }

    fn dimensions(&self) -> usize {
        self.embedder.dimensions()
    }

    fn is_model(&self) -> bool {
        self.embedder.is_model()
    }

    async fn embed_passages(&self, passages: &[Passage]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vectors = self.embedder.embed_passages(passages).await?;
        self.breaker.is_there();
        Ok(vectors)
    }

    async fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        let request = self.embedder.embed_query(query);
        let was_away = |error: &EmbedError| matches!(error, EmbedError::Unavailable { .. });
        self.breaker.ask(ANSWER, request, |reason| self.away(reason), was_away).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use pdm_service::resting::REST;

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
        let breaker = GuardedEmbedder::new(Arc::<Hanging>::clone(&embedder));
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
        let breaker = GuardedEmbedder::new(Arc::<Hanging>::clone(&embedder));
        breaker.embed_query("가").await.expect_err("it hangs");
        *embedder.hangs.lock().expect("whole") = false;
        breaker.embed_query("가").await.expect_err("it rests");
        breaker.embed_passages(&[]).await.expect("vectors");
        breaker.embed_query("가").await.expect("it is there");
    }
}
