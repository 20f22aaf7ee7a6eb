//! Second opinions of a language model, as a role of the store.

use async_trait::async_trait;
use pdm_reasoner::budget::Spent;
use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;

use crate::store::{OpinionAsked, OpinionCounts, OpinionEnded, StoreError};

/// Second opinions of a language model and what the model has cost; used by the lane of opinions and by
/// the chat.
#[async_trait]
pub trait OpinionStore: Send + Sync + std::fmt::Debug {
    /// Claims judgements that wait for an opinion, oldest first, at most `limit`. A claim ends by
    /// [`OpinionStore::end_opinion`] or at `until`.
    async fn claim_opinions(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<OpinionAsked>, StoreError>;

    /// Writes the state of an unfinished run and holds the claim until then. False if the claim is
    /// another's by now.
    async fn note_opinion(
        &self,
        event_id: EventId,
        checkpoint: &str,
        until: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Puts a run off until then, because the model does not answer.
    async fn put_off_opinion(&self, event_id: EventId, until: Timestamp) -> Result<(), StoreError>;

    /// Ends an opinion: into the diagnosis, and out to staff and listeners. False if it had ended
    /// before.
    async fn end_opinion(&self, ended: &OpinionEnded) -> Result<bool, StoreError>;

    /// Counts of all opinions that are kept.
    async fn opinion_counts(&self) -> Result<OpinionCounts, StoreError>;

    /// What the model has cost on the day (UTC) of this time.
    async fn model_usage(&self, on: Timestamp) -> Result<Spent, StoreError>;

    /// Adds to what the model has cost on the day (UTC) of this time, by who asked.
    async fn add_model_usage(
        &self,
        purpose: &str,
        spent: &Spent,
        at: Timestamp,
    ) -> Result<(), StoreError>;
}
