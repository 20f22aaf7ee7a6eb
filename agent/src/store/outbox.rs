//! What has to leave: a row of the outbox as it is written, claimed and settled.

use pdm_shared::id::EventId;
use pdm_shared::time::Timestamp;
use uuid::Uuid;

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
    /// What to say.
    pub payload: Payload,
    /// Not before.
    pub due_at: Timestamp,
}

/// What a row of the outbox says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// These words, JSON.
    Text(String),
    /// The judgement of this event as it is stored: written once, however many rows carry it. It is
    /// not forgotten before they have left.
    Judgement(EventId),
}

impl Payload {
    /// Its own words; a judgement's stand elsewhere.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Judgement(_) => "",
        }
    }

    /// The event whose judgement it is.
    pub(super) fn judgement_of(&self) -> Option<EventId> {
        match self {
            Self::Text(_) => None,
            Self::Judgement(event) => Some(*event),
        }
    }
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
