//! Rows of the outbox as they are written, claimed and settled, and the lanes they leave by.

use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use uuid::Uuid;

/// The lane of publications to the broker.
pub const MQTT_LANE: &str = "mqtt";
/// The lane of refused messages to the broker: behind everything that staff or a program waits for.
pub const DEAD_LETTER_LANE: &str = "dead_letters";
/// Rows of [`DEAD_LETTER_LANE`] that wait at most; a refused message above it stays in its table,
/// is counted, and is not published. Chosen: they leave within some seconds once nothing else has
/// to.
pub(super) const MAX_LETTERS_WAITING: i64 = 1000;
/// The lane of e-mail.
pub const EMAIL_LANE: &str = "email";
/// The lane of judgements into the knowledge base (`analysis_history`).
pub const VECTORS_LANE: &str = "vectors";

/// The lane of a web hook.
pub fn webhook_lane(name: &str) -> String {
    format!("webhook:{name}")
}

/// The lane of a person behind a channel.
pub fn person_lane(person: &str, channel: &str) -> String {
    format!("to:{person}:{channel}")
}

/// Where a row of the outbox stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutboxState {
    /// The row has to leave; a new row is in this state by the default of its column.
    Waiting,
    /// The notification was delivered.
    Delivered,
    /// The row is not tried again.
    GivenUp,
    /// The notification is above its lane's ceiling and leaves with the next summary.
    Held,
}

impl OutboxState {
    /// The word in the column `state`.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::GivenUp => "given_up",
            Self::Held => "held",
        }
    }
}

impl std::fmt::Display for OutboxState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The state of a notification on one lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The lane.
    pub lane: String,
    /// `waiting`, `delivered`, `given_up` or `held`.
    pub state: String,
    /// How often it was tried in vain.
    pub attempts: u32,
    /// When it leaves, or was to leave.
    pub due_at: Timestamp,
    /// When it was delivered, given up or held.
    pub settled_at: Option<Timestamp>,
    /// The last failure.
    pub error: Option<String>,
}

/// A row of the outbox to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The idempotency key, the same on every try.
    pub key: Uuid,
    /// `mqtt`, `dead_letters`, `email`, `vectors`, `webhook:<name>` or `to:<person>:<channel>`.
    pub lane: String,
    /// The topic, in the lanes of the broker.
    pub topic: Option<String>,
    /// Whether the broker retains the message, in the lanes of the broker.
    pub retain: bool,
    /// The notification that the row carries, if it does.
    pub notification_id: Option<Uuid>,
    /// Rows of one lane and group may leave together.
    pub group: Option<String>,
    /// The content.
    pub payload: Payload,
    /// The row does not leave before.
    pub due_at: Timestamp,
}

/// The content of a row of the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// This text, JSON.
    Text(String),
    /// The stored judgement of this event: it is written once, however many rows carry it, and is
    /// not deleted before they have left.
    Judgement(EventId),
}

impl Payload {
    /// The text of the row; empty where the row names a judgement.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Judgement(_) => "",
        }
    }

    /// The event whose judgement the row names.
    pub(super) fn judgement_of(&self) -> Option<EventId> {
        match self {
            Self::Text(_) => None,
            Self::Judgement(event) => Some(*event),
        }
    }
}

/// A row of the outbox that was claimed for sending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// The row's number.
    pub id: i64,
    /// The idempotency key.
    pub key: Uuid,
    /// The topic, in the lane `mqtt`.
    pub topic: Option<String>,
    /// Whether the broker retains the message, in the lane `mqtt`.
    pub retain: bool,
    /// Rows of one group may leave together.
    pub group: Option<String>,
    /// The content, JSON.
    pub payload: String,
    /// Tries before this one.
    pub attempts: u32,
    /// When the row was written.
    pub created_at: Timestamp,
}

/// The outcome of sending a claimed row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendOutcome {
    /// The receiver has confirmed the row.
    Delivered,
    /// The row is tried again.
    Retry {
        /// Not before this time.
        at: Timestamp,
        /// Why the try failed.
        error: String,
    },
    /// The row is not tried again; it stays in the outbox and is counted.
    GivenUp {
        /// Why the last try failed.
        error: String,
    },
    /// Some of the lane's recipients have it; the others refuse it for good. The row is delivered,
    /// and a copy of it that is given up says who refuses.
    Partly {
        /// Who refuses, and why.
        error: String,
    },
    /// The row leaves with the next summary of its lane.
    Held,
}

impl SendOutcome {
    /// Whether somebody behind the lane has it.
    pub const fn is_told(&self) -> bool {
        matches!(self, Self::Delivered | Self::Partly { .. })
    }
}

/// How far a notification has come on one lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WayState {
    /// The receiver has it.
    Delivered,
    /// It has not been tried yet, or leaves with a summary.
    Ahead,
    /// It was tried in vain and is tried again.
    Failing,
    /// It is not tried again.
    GivenUp,
}

/// The counts of a lane's deliveries in an hour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToldInHour {
    /// Messages; notifications that left together are one.
    pub messages: u32,
    /// Summaries.
    pub summaries: u32,
}

/// The rows of a lane above its ceiling.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeldBack {
    /// How many of each level, the worst first.
    pub levels: Vec<(RiskLevel, u64)>,
    /// Bearings of the worst level: every one up to `through` where that is Critical, else at most
    /// 20.
    pub worst: Vec<BearingKey>,
    /// The last row that the figures are of.
    pub through: i64,
    /// Rows of Criticals behind `through`, which the next summary names.
    pub criticals_behind: u64,
}
