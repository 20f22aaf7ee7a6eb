//! What the agent keeps: events, judgements, alarms, the outbox, refused messages.
//!
//! [`Store`] is the one contract; each database is one implementation of it and passes the suite in
//! `conformance`. Invariants: every method is one transaction; a batch is stored whole or not at
//! all; a judgement and everything that leaves because of it are written together; an `event_id`
//! is stored once and judged once; a run that is not finished has one checkpoint, written together
//! with the steps that led to it.

use async_trait::async_trait;
use pdm_shared::delivery::{Notification, Receipt};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EquipmentId, EventId, GatewayId, SiteId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use uuid::Uuid;

#[cfg(test)]
mod conformance;
pub(crate) mod due;
mod encoding;
mod error;
mod fingerprint;
mod intake;
mod judgement;
mod outbox;
pub mod postgres;
mod retention;
mod sequence;
pub mod sqlite;

pub use pdm_expert::case::PastEvent;
pub use pdm_service::postgres::WayError;
pub use pdm_shared::trace::TraceStep;

pub use error::StoreError;
pub use intake::{Backlog, GatewayState, Incoming, Stored};
pub use judgement::{
    Alarm, AlarmChange, Announcement, BearingJudged, Checkpoint, FollowUp, FollowUpState, Judged,
    Recall, Unjudged,
};
pub use outbox::{Claimed, Outcome, Outgoing, Payload};
pub use retention::{Forget, Forgotten};

/// Gaps of a gateway that one receipt names. Chosen: a receipt stays below 4 KiB; the next one
/// names the rest.
pub const MAX_GAPS_IN_RECEIPT: i64 = 64;
/// Refused messages that are kept one by one; beyond it they are counted by their reason.
pub const MAX_DEAD_LETTERS: i64 = 10_000;

/// What the agent keeps, whatever the database.
#[async_trait]
pub trait Store: Send + Sync + std::fmt::Debug {
    /// Installs or updates the schema.
    async fn migrate(&self) -> Result<(), StoreError>;

    /// This agent goes on where its predecessor of the same name ended: what that had claimed is
    /// free.
    async fn take_over(&self) -> Result<(), StoreError>;

    /// What this agent has claimed of a lane is free: it did not hear of the claim.
    async fn let_go(&self, lane: &str) -> Result<(), StoreError>;

    /// The store answers.
    async fn ping(&self) -> Result<(), StoreError>;

    /// Stores a batch; only after it returns may its messages be acknowledged. A refused message
    /// that is new leaves on `dead_letter_topic`.
    async fn store(
        &self,
        batch: &[Incoming],
        now: Timestamp,
        dead_letter_topic: &str,
    ) -> Result<Stored, StoreError>;

    /// What each gateway may forget and must send again.
    async fn receipts(
        &self,
        gateways: &[GatewayId],
        now: Timestamp,
    ) -> Result<Vec<(SiteId, Receipt)>, StoreError>;

    /// Gaps noticed before `before` count as lost; tells how many events that are.
    async fn lose_gaps(&self, before: Timestamp) -> Result<u64, StoreError>;

    /// Every gateway ever heard of.
    async fn gateways(&self) -> Result<Vec<GatewayState>, StoreError>;

    /// The next events to be judged, in the order of arrival. Their bearings are this agent's until it
    /// asks again: no other replica is handed an event of them meanwhile.
    async fn unjudged(&self, limit: u32) -> Result<Vec<Unjudged>, StoreError>;

    /// What is known of a bearing.
    async fn recall(&self, key: &BearingKey) -> Result<Recall, StoreError>;

    /// Writes judgements with everything that leaves because of them; their steps stay, their
    /// checkpoints go.
    async fn save(&self, judged: &[BearingJudged]) -> Result<(), StoreError>;

    /// The stored judgement of an event.
    async fn diagnosis(&self, event_id: EventId) -> Result<Option<Diagnosis>, StoreError>;

    /// A stored event.
    async fn event(&self, event_id: EventId) -> Result<Option<Event>, StoreError>;

    /// A bearing's windows measured no later than `until`, oldest first: the last `limit` of them,
    /// without their spectra.
    async fn history(
        &self,
        key: &BearingKey,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<PastEvent>, StoreError>;

    /// Notes where a run stands that is not finished, together with the `steps` that led there.
    /// A step that is stored already stays as it is.
    async fn checkpoint(
        &self,
        event_id: EventId,
        checkpoint: &Checkpoint,
        steps: &[TraceStep],
    ) -> Result<(), StoreError>;

    /// The steps of an event's run, in their order.
    async fn trace(&self, event_id: EventId) -> Result<Vec<TraceStep>, StoreError>;

    /// What is to be done because of a judgement; none if there is no judgement of this event.
    async fn follow_up(&self, event_id: EventId) -> Result<Vec<FollowUp>, StoreError>;

    /// Replaces what is to be done because of a judgement. False if there is no such judgement.
    async fn follow(&self, event_id: EventId, actions: &[FollowUp]) -> Result<bool, StoreError>;

    /// Alarms whose repetition is due, of those that are repeated every `every_s` seconds.
    async fn alarms_to_repeat(
        &self,
        now: Timestamp,
        every_s: f64,
        limit: u32,
    ) -> Result<Vec<(BearingKey, Alarm)>, StoreError>;

    /// What staff was told of a bearing or gateway and has not been cleared.
    async fn alarm(&self, key: &BearingKey) -> Result<Option<Alarm>, StoreError>;

    /// Writes a notification that no event caused, unless the alarm is no longer the one it was
    /// decided on (`expected`: its last notification, or none). Tells whether it was written.
    async fn announce(
        &self,
        key: &BearingKey,
        expected: Option<Uuid>,
        announcement: &Announcement,
    ) -> Result<bool, StoreError>;

    /// The bearings of a machine, on whatever site, and how each stands; one that waits for its
    /// first judgement is Normal.
    async fn bearings_of(
        &self,
        equipment: &EquipmentId,
    ) -> Result<Vec<(BearingKey, RiskLevel)>, StoreError>;

    /// Writes a notification that belongs to no alarm. The same `notification_id` again changes
    /// nothing. Tells whether it was written.
    async fn tell(
        &self,
        notification: &Notification,
        outgoing: &[Outgoing],
    ) -> Result<bool, StoreError>;

    /// Claims due rows of a lane in their order; a claim ends by [`Store::settle`] or by itself.
    async fn claim(
        &self,
        lane: &str,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Claimed>, StoreError>;

    /// Notes what became of claimed rows.
    async fn settle(&self, outcomes: &[(i64, Outcome)], now: Timestamp) -> Result<(), StoreError>;

    /// Forgets what is older than it is kept, a bounded amount at a time; makes room for what comes.
    async fn forget(&self, forget: &Forget, now: Timestamp) -> Result<Forgotten, StoreError>;

    /// How much waits.
    async fn backlog(&self) -> Result<Backlog, StoreError>;

    /// Writes what is buffered and closes.
    async fn close(&self);
}
