//! Judgements that wait for a language model, as a role of the store.

use async_trait::async_trait;
use pdm_shared::diagnosis::SecondOpinion;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::time::Timestamp;

use crate::store::{BehindHeld, Checkpoint, HeldAnswer, HeldJudgement, StoreError};

/// Putting judgements aside until a language model has answered; used by the judging task, and by the
/// lane of opinions, which answers.
#[async_trait]
pub trait HeldStore: Send + Sync + std::fmt::Debug {
    /// Puts a judgement by rules aside until a language model has answered, with its run. No event of
    /// its bearing is read until then. False if the judgement is not to wait: too many do, or the event
    /// was judged meanwhile.
    async fn hold(&self, key: &BearingKey, held: &HeldJudgement) -> Result<bool, StoreError>;

    /// Ends the wait of the judgement that wait until `now` or earlier, or that of all whose model this
    /// replica asks; tells how many these are.
    async fn end_waits(&self, now: Timestamp, all_own: bool) -> Result<u64, StoreError>;

    /// Ends the wait of one judgement.
    async fn end_wait(&self, event_id: EventId) -> Result<(), StoreError>;

    /// The events behind held judgements of their bearings that arrived after `after`, at most `limit`,
    /// in the order of arrival; and the place up to which there is no other.
    async fn behind_held(
        &self,
        after: i64,
        limit: u32,
    ) -> Result<(Vec<BehindHeld>, i64), StoreError>;

    /// The run of a judgement that waits.
    async fn held_run(&self, event_id: EventId) -> Result<Option<Checkpoint>, StoreError>;

    /// What a judgement that has waited is to take in; none if nothing came in time.
    async fn heard(&self, event_id: EventId) -> Result<Option<SecondOpinion>, StoreError>;

    /// Answers a judgement that waits, which then goes on. False if it waits no longer: its wait was over,
    /// or it was answered before.
    async fn answer_held(&self, answer: &HeldAnswer) -> Result<bool, StoreError>;
}
