//! Incoming messages, what storing them changed, and the state of gateways.

use std::collections::{BTreeMap, BTreeSet};

use pdm_shared::delivery::{Acknowledgement, DeadLetter, GatewayStatus, Presence};
use pdm_shared::episode::Shelve;
use pdm_shared::event::Event;
use pdm_shared::follow_up::FollowUpReport;
use pdm_shared::id::{BearingKey, GatewayId, GatewayKey, SiteId};
use pdm_shared::time::Timestamp;

use super::{Refusal, RefusalCause};

/// A message that came in; it is stored before it is acknowledged.
#[derive(Debug, Clone)]
pub enum Incoming {
    /// A valid event, with its text as received.
    Event {
        /// The event.
        event: Box<Event>,
        /// The text as received.
        payload: String,
        /// Whether the topic named the gateway, so that the broker's access rules vouch for it.
        proven: bool,
    },
    /// The status of a gateway: online or offline.
    Status {
        /// The gateway's site, from the topic.
        site: SiteId,
        /// The status.
        status: GatewayStatus,
    },
    /// An acknowledgement: staff has seen an alarm.
    Ack {
        /// The bearing (or gateway) of the alarm.
        key: BearingKey,
        /// Who acknowledged it, and when.
        ack: Acknowledgement,
        /// The topic on which the episode is retained.
        topic: String,
    },
    /// A request of staff to be told nothing of a bearing for a time.
    Shelve {
        /// The bearing.
        key: BearingKey,
        /// The end and the reason.
        shelve: Shelve,
        /// The topic on which the episode is retained.
        topic: String,
    },
    /// A report of staff on the work that a judgement asked for.
    FollowUp {
        /// The bearing.
        key: BearingKey,
        /// The work that was done and its findings.
        report: FollowUpReport,
    },
    /// A message that is refused.
    Refused(RefusedMessage),
}

/// A message that is refused.
#[derive(Debug, Clone)]
pub struct RefusedMessage {
    /// What is kept of it.
    pub letter: DeadLetter,
    /// Whose event it was to be, where it came under the topic of a bearing's events.
    pub event_of: Option<UnreadEvent>,
}

/// An event that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadEvent {
    /// The bearing of its topic.
    pub bearing: BearingKey,
    /// The gateway that its topic names.
    pub of_topic: Option<GatewayId>,
    /// The gateway that its text names, as far as that can be told.
    pub of_text: Option<GatewayId>,
}

impl From<DeadLetter> for RefusedMessage {
    fn from(letter: DeadLetter) -> Self {
        Self { letter, event_of: None }
    }
}

/// Counts of what a stored batch changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stored {
    /// New events.
    pub events: u64,
    /// Events that were stored before.
    pub duplicates: u64,
    /// Refused messages, repeated ones included.
    pub refused: u64,
    /// Refused messages that leave on the dead-letter topic: those not seen before.
    pub letters: u64,
    /// Events that were refused because of their gateway, bearing or sequence number; they count in
    /// `refused` too.
    pub refusals: Vec<Refusal>,
    /// New events whose number was neither missing nor above the highest of their gateway.
    pub uncounted: u64,
    /// Gateways of which such events came: two may use one name.
    pub twins: BTreeSet<GatewayKey>,
    /// Events that their gateway no longer has, counted as lost.
    pub lost: u64,
    /// Statuses of gateways of which no event is stored, that are not kept because there are many.
    pub strangers: u64,
    /// Events by gateway, new or not: each of these gateways is owed a receipt.
    pub gateways: BTreeMap<GatewayKey, u64>,
}

impl Stored {
    /// Counts another batch in.
    pub fn add(&mut self, other: Self) {
        self.events += other.events;
        self.duplicates += other.duplicates;
        self.refused += other.refused;
        self.letters += other.letters;
        self.refusals.extend(other.refusals);
        self.uncounted += other.uncounted;
        self.twins.extend(other.twins);
        self.lost += other.lost;
        self.strangers += other.strangers;
        for (gateway, count) in other.gateways {
            *self.gateways.entry(gateway).or_default() += count;
        }
    }
}

/// Events of one gateway for one bearing that are refused for one cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedEvents {
    /// The gateway that they name.
    pub gateway: GatewayKey,
    /// The bearing that they name.
    pub bearing: BearingKey,
    /// Why they are refused.
    pub cause: RefusalCause,
    /// Field, expectation and value of the last one.
    pub reason: String,
    /// The number of events.
    pub count: u64,
    /// When the first one came.
    pub first_at: Timestamp,
    /// When the last one came.
    pub last_at: Timestamp,
    /// When staff was told of them.
    pub told_at: Option<Timestamp>,
}

/// Events of a gateway that have been missing for long and are still asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldGaps {
    /// The gateway.
    pub gateway: GatewayKey,
    /// How many events are missing.
    pub events: u64,
    /// When the first of them was noticed.
    pub since: Timestamp,
}

/// The state of a gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayState {
    /// The gateway.
    pub gateway: GatewayKey,
    /// Highest sequence number stored.
    pub highest_sequence: u64,
    /// Whether its events come under a topic that names it.
    pub proven: bool,
    /// When the last event of the gateway came in.
    pub last_event_at: Option<Timestamp>,
    /// Online or offline, and since when.
    pub presence: Option<(Presence, Timestamp)>,
    /// Events that the gateway was asked for and never sent.
    pub lost_events: u64,
    /// The lost events among them of which staff has been told.
    pub lost_told: u64,
    /// The fault that keeps the gateway from measuring or keeping its events, and since when it
    /// reports it.
    pub trouble: Option<(String, Timestamp)>,
    /// When something last said that two gateways use this name.
    pub twin_at: Option<Timestamp>,
}

/// The answer of the store to a write that checks whether it works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulse {
    /// The arrival of the oldest event that waits for a judgement and may be judged now. One whose
    /// judgement waits for a language model may not.
    pub oldest_waiting: Option<i64>,
    /// Rows of this run that a server no longer has.
    pub missing: Option<MissingRows>,
}

/// Rows that the agent has written and that its store no longer has: the file or database was
/// removed, emptied or put back from a backup, its log was removed, or a server that was behind has
/// taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingRows {
    /// The file, or the address of the server.
    pub place: String,
    /// Whether it is a server.
    pub is_server: bool,
    /// When the agent last wrote into it.
    pub written_at: Timestamp,
    /// The time of the newest such row that is there; `None` in a store that is new or has none.
    pub found_at: Option<Timestamp>,
}

/// How much waits, for metrics and for programs that wait until the agent is idle.
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
