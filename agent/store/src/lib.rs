//! Stores the agent's data: events, judgements, episodes, the outbox, refused messages.
//!
//! [`Store`] opens, migrates and closes a SQLite file or a PostgreSQL server and gives a handle for
//! each task ([`Store::intake`], [`Store::judging`], [`Store::pages`], ...): `sql` holds one file
//! for each, with its statements, which are written once; `database` sends them to either database,
//! `sql::sqlite` and `sql::postgres` hold what differs. The suite in `conformance` runs on both.
//!
//! Invariants:
//! - every method is one transaction; a batch is stored whole or not at all
//! - a judgement and everything that leaves because of it are written together
//! - an `event_id` is stored once and judged once
//! - an unfinished run has one checkpoint, written together with the steps that led to it

pub mod admission;
#[cfg(test)]
mod conformance;
mod database;
pub mod due;
mod encoding;
mod episode;
mod error;
mod fingerprint;
pub mod gateway_alarm;
mod held;
mod intake;
mod judgement;
mod log;
mod opinion;
mod outbox;
mod owners;
mod removal;
mod retention;
mod room;
mod sequence;
pub mod settings;
mod shown;
mod sql;
mod store;
mod suspicion;
mod trouble;

pub use pdm_service::postgres::WayError;

pub use admission::{IntakeTerms, Refusal, RefusalCause};
pub use episode::{Alarm, Beside, EpisodeChange, EpisodeRecord, EpisodeVersion, ShelveOutcome};
pub use error::{StoreError, Unfit};
pub use held::{EventAfterHeld, HeldAnswer, HeldJudgement};
pub use intake::{
    Backlog, GatewayState, Incoming, MissingRows, OldGaps, Pulse, RefusedEvents, RefusedMessage,
    Stored, UnreadEvent,
};
pub use judgement::{
    Announcement, BearingJudged, Checkpoint, Finished, FollowUp, Judged, Recall, Reported,
    Unjudged, WorkCounts,
};
pub use opinion::{MAX_WAITING_OPINIONS, OpinionAsked, OpinionCounts, OpinionEnded};
pub use outbox::{
    Claimed, DEAD_LETTER_LANE, Delivery, EMAIL_LANE, HeldBack, MQTT_LANE, Outgoing, Payload,
    SendOutcome, ToldInHour, VECTORS_LANE, WayState, person_lane, webhook_lane,
};
pub use owners::{BearingOwners, BearingPattern, GatewaySettings, PatternError, TopicRule};
pub use pdm_shared::follow_up::FollowUpState;
pub use removal::{
    History, PlantPart, Removal, RemovalMessage, RemovalWording, RemovedAlarm, TakenOut,
};
pub use retention::{Forget, Forgotten, GatewayPart, RoomMade, RoomStage, StoreSize};
pub use room::Room;
pub use sql::{
    BearingPause, CaptureDemandNote, CaptureNote, CaptureRoom, CaptureStore, CeilingStore,
    DeskStore, EpisodeStore, FollowUpStore, GatewayStore, GraphStore, HeardBearing, HistoryStore,
    IntakeStore, JudgementStore, MessageStore, OpinionStore, OutboxStore, PageStore, PhotoBounds,
    PhotoNoted, PhotoStore, RecoveredTable, Recovery, RemovalStore, RetentionStore, ReviseAssets,
    SeriesStore, StoredAccounts, UnsentAlarm, recover,
};
pub use store::{Store, connect, open};
pub use trouble::StoreTrouble;

/// Gaps of a gateway that one receipt names; the next receipt names the rest. A gap takes up to 44
/// bytes as JSON (two numbers of 20 digits), so a receipt stays below 4 KiB.
pub const MAX_GAPS_IN_RECEIPT: i64 = 64;
/// Refused messages that are kept one by one; further ones are counted by their reason. Each holds
/// at most 4 KiB of its payload, so the table stays at about 40 MB.
pub const MAX_DEAD_LETTERS: i64 = 10_000;
