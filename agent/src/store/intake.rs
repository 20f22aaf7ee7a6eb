//! What comes in and is stored before it is acknowledged, and what is known of who sends it.

use std::collections::BTreeMap;

use pdm_shared::delivery::{Acknowledgement, DeadLetter, GatewayStatus, Presence};
use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, GatewayId, SiteId};
use pdm_shared::time::Timestamp;

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
