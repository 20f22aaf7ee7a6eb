//! What a judgement starts from, and everything that is written with it.

use pdm_expert::case::{BearingState, Memory};
use pdm_shared::delivery::Notification;
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use pdm_shared::trace::TraceStep;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::outbox::Outgoing;

/// An event that waits for its judgement.
#[derive(Debug, Clone)]
pub struct Unjudged {
    /// The event's place in the order of arrival.
    pub arrival: i64,
    /// The event.
    pub event: Event,
    /// The state of its run, if an earlier process had begun to judge it.
    pub checkpoint: Option<Checkpoint>,
}

/// The state of an unfinished run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The node that comes next.
    pub node: String,
    /// The state of the run, JSON.
    pub state: String,
    /// When the checkpoint was written.
    pub at: Timestamp,
}

/// An action that follows from a judgement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowUp {
    /// The action.
    pub action: Text,
    /// Until when, if the judgement sets a time.
    pub due_at: Option<Timestamp>,
    /// The state of the action.
    pub state: FollowUpState,
    /// Who set the state; none while the action is open.
    pub by: Option<String>,
    /// When the state was set.
    pub at: Option<Timestamp>,
    /// A note with the state.
    pub note: Option<String>,
}

/// The state of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FollowUpState {
    /// The action waits to be done.
    Open,
    /// The action was done.
    Done,
    /// The action will not be done.
    Dropped,
}

/// What a judgement of a bearing starts from.
#[derive(Debug, Clone, Default)]
pub struct Recall {
    /// The memory for the expert.
    pub memory: Memory,
    /// The standing alarm.
    pub alarm: Option<Alarm>,
}

/// An alarm of a bearing or gateway that staff was told of.
#[derive(Debug, Clone, PartialEq)]
pub struct Alarm {
    /// The highest level told.
    pub risk: RiskLevel,
    /// How often the alarm was repeated.
    pub repeats: u32,
    /// When the alarm is repeated next.
    pub repeat_at: Option<Timestamp>,
    /// Staff has acknowledged the alarm.
    pub acknowledged: bool,
    /// The last notification.
    pub notification: Notification,
}

/// A change of an alarm.
#[derive(Debug, Clone, PartialEq)]
pub enum AlarmChange {
    /// The alarm is raised, repeated or raised further.
    Stands(Box<Alarm>),
    /// The alarm is cleared.
    Over,
    /// It stands as before, or nothing stands: staff is told of something beside it.
    Kept,
}

/// A notification with everything that is written because of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Announcement {
    /// The notification.
    pub notification: Notification,
    /// The rows of the outbox that carry it.
    pub outgoing: Vec<Outgoing>,
    /// The alarm afterwards.
    pub alarm: AlarmChange,
}

/// One judgement to be written.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The event's place in the order of arrival.
    pub arrival: i64,
    /// When the window was measured.
    pub measured_at: Timestamp,
    /// The event was older than its measuring point's last.
    pub late: bool,
    /// The judgement.
    pub diagnosis: Diagnosis,
    /// Rows of the outbox beside the announcement: the publication, the row for the knowledge base.
    pub outgoing: Vec<Outgoing>,
    /// The notification that follows from the judgement.
    pub announcement: Option<Announcement>,
    /// The actions that follow from the judgement.
    pub follow_up: Vec<FollowUp>,
    /// Steps of the run that are not stored yet.
    pub trace: Vec<TraceStep>,
    /// The rest of the run, if documents are left to be written.
    pub unwritten: Option<Checkpoint>,
}

/// The end of a run whose judgement was saved before.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The event.
    pub event_id: EventId,
    /// Steps of the run that are not stored yet.
    pub steps: Vec<TraceStep>,
    /// What staff is told of the documents; none if none was written or nobody is told.
    pub linked: Option<Linked>,
}

/// The documents of a judgement, told and linked to its alarm.
#[derive(Debug, Clone)]
pub struct Linked {
    /// The message to staff.
    pub notification: Notification,
    /// The rows of the outbox that carry it.
    pub outgoing: Vec<Outgoing>,
    /// The notification of the alarm that was told before; repeats of it name the documents.
    pub alarm: Option<Uuid>,
    /// The lines that name the documents.
    pub lines: Text,
}

/// The judgements of one bearing, in their order, and the bearing's state after them.
#[derive(Debug, Clone)]
pub struct BearingJudged {
    /// The bearing.
    pub key: BearingKey,
    /// The judgements.
    pub judgements: Vec<Judged>,
    /// The bearing's state after them.
    pub state: BearingState,
}
