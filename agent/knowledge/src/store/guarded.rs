//! A store behind a [`Breaker`]: questions to a server that hangs are waited for once, and fail at
//! once until a pause has passed. Writes wait as long as the store does, because nobody waits for
//! them; the first success ends the pause.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{Filter, Hit, Point, Query, StoreError, Stored, VectorStore};
use crate::about::Collection;
use crate::breaker::{ANSWER, Breaker};

/// Longest wait for a list, which may have many pages. Chosen: a hundred pages of a server in the
/// plant.
const LIST: Duration = Duration::from_secs(5);

/// A store with short waits for questions.
#[derive(Debug)]
pub struct GuardedStore {
    store: Arc<dyn VectorStore>,
    breaker: Breaker,
}

impl GuardedStore {
    /// A breaker in front of `store`.
    pub fn new(store: Arc<dyn VectorStore>) -> Self {
        Self { store, breaker: Breaker::new("store") }
    }

    async fn ask<T>(
        &self,
        wait: Duration,
        request: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let away = |reason| StoreError::Unavailable { place: "of this agent".to_owned(), reason };
        let was_away = |error: &StoreError| matches!(error, StoreError::Unavailable { .. });
        self.breaker.ask(wait, request, away, was_away).await
    }

    /// Notes a write's outcome: a success ends the pause, a failure begins no pause.
    fn written(&self, outcome: Result<(), StoreError>) -> Result<(), StoreError> {
        if outcome.is_ok() {
            self.breaker.is_there();
        }
        outcome
    }
}

#[async_trait]
impl VectorStore for GuardedStore {
    async fn prepare(&self) -> Result<(), StoreError> {
        self.written(self.store.prepare().await)
    }

    async fn probe(&self) -> Result<(), StoreError> {
        self.store.probe().await
    }

    async fn replace(
        &self,
        collection: Collection,
        documents: &[String],
        points: Vec<Point>,
    ) -> Result<(), StoreError> {
        self.written(self.store.replace(collection, documents, points).await)
    }

    async fn search(&self, collection: Collection, query: &Query) -> Result<Vec<Hit>, StoreError> {
        self.ask(ANSWER, self.store.search(collection, query)).await
    }

    async fn list(
        &self,
        collection: Collection,
        filter: &Filter,
    ) -> Result<Vec<Stored>, StoreError> {
        self.ask(LIST, self.store.list(collection, filter)).await
    }

    async fn count(&self, collection: Collection) -> Result<u64, StoreError> {
        self.ask(ANSWER, self.store.count(collection)).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use pdm_service::resting::REST;

    use super::*;

    /// A store that hangs until it is released.
    #[derive(Debug, Default)]
    struct Hanging {
        asked: AtomicUsize,
        answers: AtomicBool,
    }

    #[async_trait]
    impl VectorStore for Hanging {
        async fn prepare(&self) -> Result<(), StoreError> {
            Ok(())
        }

        async fn replace(
            &self,
            _: Collection,
            _: &[String],
            _: Vec<Point>,
        ) -> Result<(), StoreError> {
            Ok(())
        }

        async fn search(&self, _: Collection, _: &Query) -> Result<Vec<Hit>, StoreError> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            if !self.answers.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            Ok(Vec::new())
        }

        async fn list(&self, _: Collection, _: &Filter) -> Result<Vec<Stored>, StoreError> {
            std::future::pending().await
        }

        async fn count(&self, _: Collection) -> Result<u64, StoreError> {
            std::future::pending().await
        }
    }

    fn query() -> Query {
        Query { dense: None, sparse: None, filter: Filter::default(), top_k: 3 }
    }

    /// All look-ups of a judgement together wait once for a store that hangs, and those of the next
    /// judgements not at all.
    #[tokio::test(start_paused = true)]
    async fn a_store_that_hangs_is_waited_for_once() {
        let hanging = Arc::new(Hanging::default());
        let store = GuardedStore::new(Arc::<Hanging>::clone(&hanging));
        let begun = tokio::time::Instant::now();
        for _ in 0..10 {
            let asked = store.search(Collection::EquipmentManual, &query()).await;
            let error = asked.expect_err("it hangs").to_string();
            assert!(error.contains("no answer within 2 s"), "{error}");
            store.list(Collection::EquipmentManual, &Filter::default()).await.expect_err("rests");
            store.count(Collection::EquipmentManual).await.expect_err("rests");
        }
        assert_eq!(begun.elapsed(), ANSWER, "one wait in all");
        assert_eq!(hanging.asked.load(Ordering::SeqCst), 1);
        hanging.answers.store(true, Ordering::SeqCst);
        tokio::time::advance(REST).await;
        store.search(Collection::EquipmentManual, &query()).await.expect("it is there");
    }

    #[tokio::test(start_paused = true)]
    async fn a_write_that_succeeds_ends_the_rest() {
        let hanging = Arc::new(Hanging::default());
        let store = GuardedStore::new(Arc::<Hanging>::clone(&hanging));
        store.search(Collection::EquipmentManual, &query()).await.expect_err("it hangs");
        hanging.answers.store(true, Ordering::SeqCst);
        store.search(Collection::EquipmentManual, &query()).await.expect_err("it rests");
        store.replace(Collection::EquipmentManual, &[], Vec::new()).await.expect("written");
        store.search(Collection::EquipmentManual, &query()).await.expect("it is there");
    }
}
