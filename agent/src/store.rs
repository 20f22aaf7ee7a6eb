//! What the agent keeps: events, judgements, alarms, the outbox, refused messages.
//!
//! [`Store`] is the one contract; each database is one implementation of it and passes the suite in
//! `conformance`. Invariants: every method is one transaction; a batch is stored whole or not at
//! all; a judgement and everything that leaves because of it are written together; an `event_id`
//! is stored once and judged once.

use std::collections::BTreeMap;

use async_trait::async_trait;
use pdm_expert::case::{BearingState, Memory};
use pdm_shared::clock::Timestamp;
use pdm_shared::delivery::{
    Acknowledgement, DeadLetter, GatewayStatus, Notification, Presence, Receipt,
};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::id::{EventId, GatewayId, SiteId};
use pdm_shared::risk::RiskLevel;
use uuid::Uuid;

use crate::progress::BearingKey;

#[cfg(test)]
mod conformance;
pub mod sqlite;

mod fingerprint;

/// Gaps of a gateway that one receipt names. Chosen: a receipt stays below 4 KiB; the next one
/// names the rest.
pub const MAX_GAPS_IN_RECEIPT: i64 = 64;
/// Refused messages that are kept one by one; beyond it they are counted by their reason.
pub const MAX_DEAD_LETTERS: i64 = 10_000;

/// The store did not do it. Nothing of the call is stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Away, busy, full or broken: try again; leave messages unacknowledged.
    #[error("the store is unavailable")]
    Unavailable(#[source] sqlx::Error),
    /// Cannot be opened or created: a matter of configuration.
    #[error("cannot open the store {place}")]
    Open {
        /// Which file or server.
        place: String,
        /// Why.
        #[source]
        source: sqlx::Error,
    },
    /// The schema cannot be installed.
    #[error("cannot bring the store's schema up to date")]
    Migrate(#[source] sqlx::migrate::MigrateError),
    /// A row that this program did not write this way: a newer version or a damaged file.
    #[error("{what} in the store cannot be read: {reason}")]
    Content {
        /// Which value.
        what: &'static str,
        /// Why not.
        reason: String,
    },
}

impl From<sqlx::Error> for StoreError {
    fn from(source: sqlx::Error) -> Self {
        match source.as_database_error() {
            // the row itself is refused, and would be for ever
            Some(error) if error.kind() != sqlx::error::ErrorKind::Other => {
                Self::Content { what: "a row", reason: error.to_string() }
            }
            Some(_) | None => Self::Unavailable(source),
        }
    }
}

/// Something that came in and is stored before it is acknowledged.
#[derive(Debug, Clone)]
pub enum Incoming {
    /// A valid event, with its text as it came.
    Event {
        /// The event.
        event: Box<Event>,
        /// Its text.
        payload: String,
    },
    /// A gateway says whether it is there.
    Status {
        /// Its site, from the topic.
        site: SiteId,
        /// What it says.
        status: GatewayStatus,
    },
    /// Staff has seen an alarm.
    Ack {
        /// Which bearing (or gateway).
        key: BearingKey,
        /// By whom, when.
        ack: Acknowledgement,
    },
    /// A message that is refused.
    Refused(DeadLetter),
}

/// What a stored batch changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stored {
    /// New events.
    pub events: u64,
    /// Events that were there already.
    pub duplicates: u64,
    /// Refused messages, repeated ones included.
    pub refused: u64,
    /// Refused messages that leave on the dead-letter topic: those not seen before.
    pub letters: u64,
    /// Events that came, by gateway: who is owed a receipt.
    pub gateways: BTreeMap<GatewayId, u64>,
}

/// An event that waits for its judgement.
#[derive(Debug, Clone)]
pub struct Unjudged {
    /// Its place in the order of arrival.
    pub arrival: i64,
    /// The event.
    pub event: Event,
}

/// What is recalled of a bearing before it is judged.
#[derive(Debug, Clone, Default)]
pub struct Recall {
    /// For the expert.
    pub memory: Memory,
    /// What staff was told and has not been cleared.
    pub alarm: Option<Alarm>,
}

/// What staff was told of a bearing.
#[derive(Debug, Clone, PartialEq)]
pub struct Alarm {
    /// The highest level told.
    pub risk: RiskLevel,
    /// How often it was repeated.
    pub repeats: u32,
    /// When it is repeated next.
    pub repeat_at: Option<Timestamp>,
    /// Staff has seen it.
    pub acknowledged: bool,
    /// The last notification.
    pub notification: Notification,
}

/// A change of what staff was told.
#[derive(Debug, Clone, PartialEq)]
pub enum AlarmChange {
    /// It stands like this now.
    Stands(Box<Alarm>),
    /// It is over.
    Over,
}

/// One thing that has to leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The same on every try.
    pub key: Uuid,
    /// `mqtt`, `email` or `webhook:<name>`.
    pub lane: String,
    /// For the lane `mqtt`: where to.
    pub topic: Option<String>,
    /// For the lane `mqtt`: retained.
    pub retain: bool,
    /// The notification that it carries, if it does.
    pub notification_id: Option<Uuid>,
    /// Rows of one lane and group may leave together.
    pub group: Option<String>,
    /// What to say, JSON.
    pub payload: String,
    /// Not before.
    pub due_at: Timestamp,
}

/// A notification with everything that is written because of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Announcement {
    /// What staff is told.
    pub notification: Notification,
    /// On which ways.
    pub outgoing: Vec<Outgoing>,
    /// What stands afterwards.
    pub alarm: AlarmChange,
}

/// One judgement to be written.
#[derive(Debug, Clone)]
pub struct Judged {
    /// Whose turn it was in the order of arrival.
    pub arrival: i64,
    /// When the window was measured.
    pub measured_at: Timestamp,
    /// The event was older than its measuring point's last.
    pub late: bool,
    /// The judgement.
    pub diagnosis: Diagnosis,
    /// Its publication.
    pub publication: Outgoing,
    /// What staff is told because of it.
    pub announcement: Option<Announcement>,
}

/// The judgements of one bearing, in their order, and where it stands after them.
#[derive(Debug, Clone)]
pub struct BearingJudged {
    /// Which bearing.
    pub key: BearingKey,
    /// The judgements.
    pub judgements: Vec<Judged>,
    /// Where it stands.
    pub state: BearingState,
}

/// A row of the outbox that has been claimed for sending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// The row.
    pub id: i64,
    /// The idempotency key.
    pub key: Uuid,
    /// Where to, for the lane `mqtt`.
    pub topic: Option<String>,
    /// Retained, for the lane `mqtt`.
    pub retain: bool,
    /// Rows of one group may leave together.
    pub group: Option<String>,
    /// What to say.
    pub payload: String,
    /// Tries before this one.
    pub attempts: u32,
    /// When it was written.
    pub created_at: Timestamp,
}

/// What became of a claimed row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It left and was confirmed.
    Delivered,
    /// Not yet.
    Retry {
        /// Not before.
        at: Timestamp,
        /// Why.
        error: String,
    },
    /// It will not be tried again; it stays visible.
    GivenUp {
        /// Why.
        error: String,
    },
}

/// What is known of a gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayState {
    /// Its site.
    pub site: SiteId,
    /// Which.
    pub gateway: GatewayId,
    /// When its last event came in.
    pub last_event_at: Option<Timestamp>,
    /// What it last said of itself, and when that came in.
    pub presence: Option<(Presence, Timestamp)>,
    /// Events that were asked for and never came.
    pub lost_events: u64,
}

/// How much waits, for metrics and for whoever wants to know whether the agent is idle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Events without a judgement.
    pub unjudged: u64,
    /// Rows of the outbox that wait.
    pub unsent: u64,
    /// Rows of the outbox that were given up.
    pub given_up: u64,
    /// Refused messages that are kept.
    pub dead_letters: u64,
}

/// What the agent keeps, whatever the database.
#[async_trait]
pub trait Store: Send + Sync + std::fmt::Debug {
    /// Installs or updates the schema.
    async fn migrate(&self) -> Result<(), StoreError>;

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

    /// The next events to be judged, in the order of arrival.
    async fn unjudged(&self, limit: u32) -> Result<Vec<Unjudged>, StoreError>;

    /// What is known of a bearing.
    async fn recall(&self, key: &BearingKey) -> Result<Recall, StoreError>;

    /// Writes judgements with everything that leaves because of them.
    async fn save(&self, judged: &[BearingJudged]) -> Result<(), StoreError>;

    /// The stored judgement of an event.
    async fn diagnosis(&self, event_id: EventId) -> Result<Option<Diagnosis>, StoreError>;

    /// Alarms whose repetition is due.
    async fn alarms_to_repeat(
        &self,
        now: Timestamp,
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

    /// How much waits.
    async fn backlog(&self) -> Result<Backlog, StoreError>;

    /// Writes what is buffered and closes.
    async fn close(&self);
}
