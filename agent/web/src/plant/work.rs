//! The work that judgements ask for, reports on it, and the documents of it.

use pdm_shared::follow_up::{FollowUpState, WorkFound};
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

/// An action that a judgement asks for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WorkRow {
    /// The judged event.
    pub event_id: EventId,
    /// The number of the action, from 1.
    pub number: u32,
    /// Site, machine and bearing.
    #[serde(flatten)]
    pub key: BearingKey,
    /// The action.
    pub action: Text,
    /// When it was asked for.
    pub asked_at: Timestamp,
    /// Until when it is to be done.
    pub due_at: Option<Timestamp>,
    /// The work order that asks for it, if one was written: its place.
    pub work_order: Option<String>,
    /// Its state.
    pub state: FollowUpState,
    /// Who set the state.
    pub by: Option<String>,
    /// When.
    pub at: Option<Timestamp>,
    /// A note with the state.
    pub note: Option<String>,
    /// The bearing was repaired or replaced.
    pub repaired: bool,
    /// What was found on the machine.
    pub found: Option<WorkFound>,
}

/// The time for which a report can be taken back, s.
pub const UNDO_S: f64 = 600.0;

/// A report of a person on the work of a bearing, as it was recorded.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReportRow {
    /// The report.
    pub report_id: Uuid,
    /// Site, machine and bearing.
    #[serde(flatten)]
    pub key: BearingKey,
    /// The judgement that was inspected; none for a finding of the bearing.
    pub event_id: Option<EventId>,
    /// The state that the report gives to the work.
    pub state: FollowUpState,
    /// The person.
    pub by: String,
    /// When, as the person says.
    pub at: Timestamp,
    /// When the report was stored.
    pub received_at: Timestamp,
    /// The person's note.
    pub note: Option<String>,
    /// The bearing was repaired or replaced.
    pub repaired: bool,
    /// What was found on the machine.
    pub found: Option<WorkFound>,
    /// How many open actions it set; none is a finding of the bearing.
    pub actions: u32,
    /// When it was taken back.
    pub withdrawn_at: Option<Timestamp>,
    /// Who took it back.
    pub withdrawn_by: Option<String>,
}

/// A repair that was reported and that the gateway has not learnt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RepairRow {
    /// Site, machine and bearing.
    #[serde(flatten)]
    pub key: BearingKey,
    /// The person who reported it.
    pub by: String,
    /// When it was done, as the person says.
    pub at: Timestamp,
}

/// The work of a plant in figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct WorkFigures {
    /// Actions that wait.
    pub open: u32,
    /// Those of them whose time is over.
    pub overdue: u32,
    /// Actions that were done within the time that is looked at.
    pub done: u32,
    /// Median time from the asking to the doing of those, hours; none where none was done.
    pub median_hours: Option<f64>,
    /// Inspected judgements that were right, of all time.
    pub right: u32,
    /// Those where nothing was wrong.
    pub wrong: u32,
    /// Those where something else was.
    pub other_cause: u32,
}

/// The outcome of taking a report back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Withdrawn {
    /// It is taken back, and its work stands as before.
    Yes(BearingKey),
    /// It is older than [`UNDO_S`].
    Late(BearingKey),
    /// There is no such report.
    Unknown,
}

/// A document that is written of a judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// The report.
    Report,
    /// The work order.
    WorkOrder,
}

impl DocumentKind {
    /// The key of its name in the texts of the pages.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Report => "report_document",
            Self::WorkOrder => "work_order",
        }
    }
}

/// A file of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DocumentRow {
    /// The name of the file, which follows from its event.
    pub name: String,
    /// The document.
    pub kind: DocumentKind,
    /// Its language, `ko` or `en`; none for data.
    pub language: Option<String>,
    /// `pdf`, `html` or `json`.
    pub format: String,
}

/// A file of a document with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentFile {
    /// The file.
    pub row: DocumentRow,
    /// Its content.
    pub bytes: Vec<u8>,
}
