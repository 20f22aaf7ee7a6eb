//! What the agent keeps: events, judgements, episodes, the outbox, refused messages.
//!
//! The contract is one trait for each task that uses the store (`roles`); [`Store`] joins them.
//! [`SqlStore`] fulfils it on a SQLite file or a PostgreSQL server: `sql` holds the statements, which
//! are written once, `database` sends them to either database, `sqlite` and `postgres` hold what
//! differs. The suite in `conformance` runs on both.
//!
//! Invariants:
//! - every method is one transaction; a batch is stored whole or not at all
//! - a judgement and everything that leaves because of it are written together
//! - an `event_id` is stored once and judged once
//! - an unfinished run has one checkpoint, written together with the steps that led to it

pub mod admission;
#[cfg(test)]
pub(crate) mod conformance;
mod database;
pub(crate) mod due;
mod encoding;
mod episode;
mod error;
mod fingerprint;
pub(crate) mod gateway_alarm;
mod intake;
mod judgement;
mod log;
mod opinion;
mod outbox;
mod postgres;
mod retention;
mod roles;
mod room;
mod sequence;
mod shown;
mod sql;
mod sqlite;
mod trouble;

pub use pdm_service::postgres::WayError;

pub use admission::{IntakeTerms, Refusal, RefusalCause};
pub use episode::{Alarm, Beside, EpisodeChange, EpisodeRecord, EpisodeVersion, ShelveOutcome};
pub use error::{StoreError, Unfit};
pub use intake::{Backlog, GatewayState, Incoming, Pulse, RefusedEvents, Stored};
pub use judgement::{
    Announcement, BearingJudged, Checkpoint, Finished, FollowUp, Judged, Recall, Reported,
    Unjudged, WorkCounts,
};
pub use opinion::{
    BehindHeld, HeldAnswer, HeldJudgement, MAX_WAITING_OPINIONS, OpinionAsked, OpinionCounts,
    OpinionEnded,
};
pub use outbox::{
    Claimed, Delivery, HeldBack, Outgoing, Payload, SendOutcome, ToldInHour, WayState,
};
pub(crate) use outbox::{
    DEAD_LETTER_LANE, EMAIL_LANE, MQTT_LANE, VECTORS_LANE, person_lane, webhook_lane,
};
pub use pdm_shared::follow_up::FollowUpState;
pub use retention::{Forget, Forgotten, RoomMade, RoomStage, StoreSize};
pub use roles::{
    CaptureNote, CaptureRoom, CaptureStore, CeilingStore, ChannelStore, DeskStore, EpisodeStore,
    FollowUpStore, GatewayStore, GraphStore, HeldStore, History, HistoryStore, IntakeStore,
    JudgementStore, LifecycleStore, MessageStore, OpinionStore, OutboxStore, PageStore,
    PhotoBounds, PhotoNoted, PhotoStore, PlantPart, RecollectionStore, Removal, RemovalStore,
    RetentionStore, ReviseAssets, SeriesStore, StatusStore, Store, TakenOut,
};
pub(crate) use room::Room;
pub use sql::{SqlStore, connect, open};
pub use sqlite::{RecoveredTable, Recovery, recover};
pub use trouble::StoreTrouble;

/// Gaps of a gateway that one receipt names; the next receipt names the rest. A gap takes up to 44
/// bytes as JSON (two numbers of 20 digits), so a receipt stays below 4 KiB.
pub const MAX_GAPS_IN_RECEIPT: i64 = 64;
/// Refused messages that are kept one by one; further ones are counted by their reason. Each holds at
/// most 4 KiB of its payload, so the table stays at about 40 MB.
pub const MAX_DEAD_LETTERS: i64 = 10_000;
