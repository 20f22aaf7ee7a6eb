//! The inputs of a judgement, and everything that is written with it.

use pdm_expert::case::{BearingState, Memory, Remembered};
use pdm_shared::delivery::Notification;
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::follow_up::{FollowUpState, WorkFound};
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use pdm_shared::trace::TraceStep;
use serde::{Deserialize, Serialize};

use super::episode::{EpisodeChange, EpisodeRecord};
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
    /// The due time, if the judgement sets one.
    pub due_at: Option<Timestamp>,
    /// The work order that asks for it, if one was written: its place.
    #[serde(default)]
    pub work_order: Option<String>,
    /// The state of the action.
    pub state: FollowUpState,
    /// Who set the state; `None` while the action is open.
    pub by: Option<String>,
    /// When the state was set.
    pub at: Option<Timestamp>,
    /// A note with the state.
    pub note: Option<String>,
    /// Whether the bearing was repaired or replaced.
    #[serde(default)]
    pub repaired: bool,
    /// The finding on the machine.
    #[serde(default)]
    pub found: Option<WorkFound>,
}

/// The outcome of a report of staff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reported {
    /// The report was kept, and is of the work of this judgement.
    Taken(EventId),
    /// The report was kept as a finding of the bearing; no judgement was inspected.
    Kept,
    /// The report was kept and names no action, and several judgements have open work: it has set
    /// none.
    Undecided,
    /// The bearing is not known, or has no such work.
    Unknown,
}

/// Counts of the work that judgements asked for, and of what staff found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct WorkCounts {
    /// Actions that wait.
    pub open: u32,
    /// Actions among them whose time is over.
    pub overdue: u32,
    /// Actions that were done.
    pub done: u32,
    /// Actions that will not be done.
    pub dropped: u32,
    /// Actions that later judgements have replaced.
    pub superseded: u32,
    /// Judgements that were right by what was found.
    pub right: u32,
    /// Judgements where nothing was wrong.
    pub wrong: u32,
    /// Judgements where another cause was found.
    pub other_cause: u32,
}

impl WorkCounts {
    /// Returns the share of inspected judgements that were right, 0…1; `None` while none was
    /// inspected.
    pub fn precision(&self) -> Option<f64> {
        let inspected = self.right + self.wrong + self.other_cause;
        (inspected > 0).then(|| f64::from(self.right) / f64::from(inspected))
    }
}

/// The stored inputs of a bearing's judgement.
#[derive(Debug, Clone, Default)]
pub struct Recall {
    /// The memory for the expert.
    pub memory: Memory,
    /// The bearing's last episode.
    pub episode: Option<EpisodeRecord>,
}

/// A notification with everything that is written because of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Announcement {
    /// The notification.
    pub notification: Notification,
    /// The rows of the outbox that carry it.
    pub outgoing: Vec<Outgoing>,
    /// The episode afterwards; `None` where staff is told of something besides the episode.
    pub episode: Option<Box<EpisodeChange>>,
}

impl Announcement {
    /// Rows of the outbox that are written with it: those that carry it, and the episode's
    /// publication.
    pub fn rows(&self) -> usize {
        self.outgoing.len() + usize::from(self.episode.is_some())
    }
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
    /// A change of the episode that staff is not told of.
    pub quiet: Option<Box<EpisodeChange>>,
    /// The actions that follow from the judgement.
    pub follow_up: Vec<FollowUp>,
    /// The open work of earlier judgements is superseded although this one asks for none: the
    /// bearing's episode has ended.
    pub supersedes: bool,
    /// Steps of the run that are not stored yet.
    pub trace: Vec<TraceStep>,
    /// The rest of the run, if documents are left to be written.
    pub unwritten: Option<Checkpoint>,
    /// A second opinion is asked for; this is the bearing's memory as the expert had it.
    pub opinion_on: Option<Box<Memory>>,
    /// The judgement has waited for a language model.
    pub was_held: bool,
}

/// The end of a run whose judgement was saved before.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The event.
    pub event_id: EventId,
    /// Steps of the run that are not stored yet.
    pub steps: Vec<TraceStep>,
    /// The message to staff about documents that could not be written, and the rows of the outbox
    /// that carry it.
    pub missing: Option<(Notification, Vec<Outgoing>)>,
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
    /// The bearing's last judgements after them, newest first.
    pub recent: Vec<Remembered>,
}
