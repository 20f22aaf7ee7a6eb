//! What a judgement starts from, and everything that is written because of it.

use pdm_expert::case::{BearingState, Memory, Remembered};
use pdm_shared::clock::Timestamp;
use pdm_shared::delivery::Notification;
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use serde::{Deserialize, Serialize};

use super::outbox::Outgoing;
use crate::progress::BearingKey;

/// An event that waits for its judgement.
#[derive(Debug, Clone)]
pub struct Unjudged {
    /// Its place in the order of arrival.
    pub arrival: i64,
    /// The event.
    pub event: Event,
    /// Where its run stood when the process that judged it ended, if it had begun.
    pub checkpoint: Option<Checkpoint>,
}

/// A window of a bearing's past.
#[derive(Debug, Clone, PartialEq)]
pub struct PastEvent {
    /// The event, without its spectra.
    pub event: Event,
    /// What was judged of it, if it was.
    pub judged: Option<Remembered>,
}

/// Where a run stands that is not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The node that comes next.
    pub node: String,
    /// The state of the run, JSON.
    pub state: String,
    /// Since when.
    pub at: Timestamp,
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceStep {
    /// Its place in the run, from 1.
    pub number: u32,
    /// The node that was done.
    pub node: String,
    /// When it was done.
    pub at: Timestamp,
    /// What it did, as the node tells it.
    pub detail: serde_json::Value,
}

/// Something to be done because of a judgement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowUp {
    /// What.
    pub action: Text,
    /// Until when, if the judgement says so.
    pub due_at: Option<Timestamp>,
    /// Where it stands.
    pub state: FollowUpState,
    /// Who said so last; nobody while it is open.
    pub by: Option<String>,
    /// When it was said.
    pub at: Option<Timestamp>,
    /// In which words.
    pub note: Option<String>,
}

/// Where something to be done stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FollowUpState {
    /// Nobody has taken it.
    Open,
    /// It is done.
    Done,
    /// It will not be done.
    Dropped,
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
    /// It stands as before, or nothing stands: staff is told of something beside it.
    Kept,
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
    /// What leaves because of it, apart from what staff is told: its publication, its vectors.
    pub outgoing: Vec<Outgoing>,
    /// What staff is told because of it.
    pub announcement: Option<Announcement>,
    /// What is to be done because of it.
    pub follow_up: Vec<FollowUp>,
    /// Steps of its run that are not stored yet.
    pub trace: Vec<TraceStep>,
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
