//! Follow-ups: the outcome of the work that a judgement asked for, and the finding on the machine
//! (`pdm.follow_up/1`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::bounds::{self, LINE_PATTERN, MAX_LINE, MAX_NOTE};
use crate::delivery::{FieldError, bounded};
use crate::fault::Fault;
use crate::id::EventId;
use crate::time::Timestamp;

/// The value of `schema` in a follow-up.
pub const FOLLOW_UP_SCHEMA: &str = "pdm.follow_up/1";

/// The state of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FollowUpState {
    /// The action waits to be done.
    Open,
    /// The action was done.
    Done,
    /// The action will not be done.
    Dropped,
    /// A later judgement of the bearing asks for other work in its place. Only the agent sets it.
    Superseded,
}

impl FollowUpState {
    /// All states.
    pub const ALL: [Self; 4] = [Self::Open, Self::Done, Self::Dropped, Self::Superseded];

    /// The word in documents and stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Done => "done",
            Self::Dropped => "dropped",
            Self::Superseded => "superseded",
        }
    }
}

/// Whether the judgement was right, by what was found on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The element was at fault as named, or the bearing was damaged where none was named.
    Right,
    /// Nothing was wrong.
    Wrong,
    /// Something else was wrong: another element, or another part of the machine.
    OtherCause,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Self; 3] = [Self::Right, Self::Wrong, Self::OtherCause];

    /// The word in documents and stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::OtherCause => "other_cause",
        }
    }
}

/// What was found on the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Found")]
pub struct WorkFound {
    /// Whether the judgement was right.
    pub verdict: Verdict,
    /// The element that was damaged, if one was.
    #[serde(default)]
    pub element: Option<Fault>,
    /// The cause in a few words.
    #[serde(default)]
    #[schemars(length(max = MAX_LINE), regex(pattern = LINE_PATTERN))]
    pub cause: Option<String>,
}

/// A report by staff on the work that a judgement asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FollowUpReport {
    /// Always [`FOLLOW_UP_SCHEMA`].
    pub schema: String,
    /// The identity of the report: the same one again changes nothing. If absent, reports with the
    /// same content are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_id: Option<Uuid>,
    /// The event whose judgement asked for the work; if absent, the bearing's last one that asked
    /// for any.
    #[serde(default)]
    pub event_id: Option<EventId>,
    /// The number of the action, from 1; if absent, the work of the bearing that is open: where
    /// that of several judgements is, the report is kept and sets none of it. Where a later
    /// judgement has replaced the action, the report sets the open one that asks for the same.
    #[serde(default)]
    pub number: Option<u32>,
    /// The new state: open, done or dropped.
    pub state: FollowUpState,
    /// The person who reports.
    #[schemars(length(max = MAX_LINE), regex(pattern = LINE_PATTERN))]
    pub by: String,
    /// Time of the report.
    pub at: Timestamp,
    /// The person's note.
    #[serde(default)]
    #[schemars(length(max = MAX_NOTE))]
    pub note: Option<String>,
    /// Whether the bearing was repaired or replaced. Together with a baseline that is learnt anew
    /// (`relearn` at the edge) this ends the bearing's episode.
    #[serde(default)]
    pub repaired: bool,
    /// What was found on the machine.
    #[serde(default)]
    pub found: Option<WorkFound>,
}

impl FollowUpReport {
    /// Checks the rules that the types cannot express.
    ///
    /// # Errors
    /// [`FieldError`] of the first field beyond its bound.
    pub fn check(&self) -> Result<(), FieldError> {
        bounded("by", bounds::line(&self.by, MAX_LINE))?;
        bounded("note", bounds::lines(self.note.as_deref().unwrap_or_default(), MAX_NOTE))?;
        let cause = self.found.as_ref().and_then(|found| found.cause.as_deref());
        bounded("found.cause", bounds::line(cause.unwrap_or_default(), MAX_LINE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-AGENT-9: the shipped example is what the types read and write.
    #[test]
    fn the_contracts_example_is_read_and_written_back_unchanged() {
        let text = include_str!("../../config/examples/follow_up.json");
        let before: serde_json::Value = serde_json::from_str(text).expect("json");
        let report: FollowUpReport = serde_json::from_str(text).expect("follow-up");
        assert_eq!(report.check(), Ok(()));
        assert_eq!(before, serde_json::to_value(&report).expect("json"));
    }

    #[test]
    fn a_cause_beyond_its_bound_is_refused() {
        let text = include_str!("../../config/examples/follow_up.json");
        let mut report: FollowUpReport = serde_json::from_str(text).expect("follow-up");
        report.found.as_mut().expect("found").cause = Some("a\nb".to_owned());
        assert_eq!(report.check().map_err(|error| error.field), Err("found.cause"));
    }
}
