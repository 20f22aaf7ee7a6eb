//! An episode of a bearing on the wire (`pdm.episode/1`), and the request to shelve it
//! (`pdm.shelve/1`).
//!
//! Three axes that do not depend on each other, as ISA-18.2 and OPC UA Part 9 have them: the
//! condition, the acknowledgement, the suppression. The rules by which they change stand in
//! `pdm-episode`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::bounds::{self, LINE_PATTERN, MAX_LINE, MAX_WORD};
use crate::fault::Fault;
use crate::id::{BearingId, EquipmentId, SiteId};
use crate::risk::RiskLevel;
use crate::time::Timestamp;

/// The value of `schema` in an episode.
pub const EPISODE_SCHEMA: &str = "pdm.episode/1";
/// The value of `schema` in a request to shelve.
pub const SHELVE_SCHEMA: &str = "pdm.shelve/1";

/// The condition of a bearing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Condition {
    /// Below the lowest level that staff is told of.
    Normal {
        /// The first window there.
        since: Timestamp,
    },
    /// At a level that staff is told of.
    Active {
        /// The level.
        level: RiskLevel,
        /// The first window at it.
        since: Timestamp,
    },
    /// Nothing new is known: the level of before stands, whatever time passes.
    Frozen {
        /// The level of before.
        level: RiskLevel,
        /// Why nothing is known.
        cause: FreezeCause,
        /// The first window that told nothing.
        since: Timestamp,
    },
}

impl Condition {
    /// The level that stands; Normal below the lowest level that staff is told of.
    pub const fn level(&self) -> RiskLevel {
        match self {
            Self::Normal { .. } => RiskLevel::Normal,
            Self::Active { level, .. } | Self::Frozen { level, .. } => *level,
        }
    }

    /// The word of the state.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Normal { .. } => "normal",
            Self::Active { .. } => "active",
            Self::Frozen { .. } => "frozen",
        }
    }
}

/// Why nothing new is known of a bearing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FreezeCause {
    /// The windows of its sensor cannot be judged.
    Sensor,
    /// The machine stands.
    Standstill,
}

/// Whether staff has seen an episode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum AcknowledgementState {
    /// Nobody has.
    Unacknowledged,
    /// Somebody has, up to a level: a higher one is unacknowledged again.
    Acknowledged {
        /// The level that was acknowledged.
        level: RiskLevel,
        /// The person.
        by: String,
        /// When.
        at: Timestamp,
        /// The way that the acknowledgement took: `mqtt`, `page`, `api`, `link`, `cli`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        via: Option<String>,
    },
}

impl AcknowledgementState {
    /// Whether somebody has seen it.
    pub const fn is_acknowledged(&self) -> bool {
        matches!(self, Self::Acknowledged { .. })
    }
}

/// Whether and why staff is not told of an episode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Suppression {
    /// Staff is told.
    None,
    /// A person has put it off.
    Shelved {
        /// Until when.
        until: Timestamp,
        /// The person.
        by: String,
        /// The reason.
        reason: String,
    },
    /// The cause is told elsewhere: a gateway was lost, a neighbour is damaged.
    ByDesign {
        /// The cause.
        reason: String,
    },
    /// The machine is being worked on.
    OutOfService {
        /// Until when, at the latest.
        until: Timestamp,
        /// The person.
        by: String,
        /// The reason.
        reason: String,
        /// The work order.
        work_order: Option<String>,
    },
}

impl Suppression {
    /// The word of the state.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Shelved { .. } => "shelved",
            Self::ByDesign { .. } => "by_design",
            Self::OutOfService { .. } => "out_of_service",
        }
    }

    /// Returns when it ends by itself.
    pub const fn until(&self) -> Option<Timestamp> {
        match self {
            Self::None | Self::ByDesign { .. } => None,
            Self::Shelved { until, .. } | Self::OutOfService { until, .. } => Some(*until),
        }
    }

    /// Whether staff is not told at this instant.
    pub fn holds(&self, now: Timestamp) -> bool {
        match self {
            Self::None => false,
            Self::ByDesign { .. } => true,
            Self::Shelved { until, .. } | Self::OutOfService { until, .. } => now < *until,
        }
    }
}

/// The three axes in one word, as ISA-18.2 names the states of an alarm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EpisodeState {
    /// Active, and nobody has seen it.
    UnacknowledgedActive,
    /// Active, and somebody has seen it.
    AcknowledgedActive,
    /// Back to normal, and nobody has seen it.
    UnacknowledgedNormal,
    /// Back to normal, and somebody has seen it; it closes when the hold is over.
    AcknowledgedNormal,
    /// Put off by a person.
    Shelved,
    /// Told elsewhere.
    SuppressedByDesign,
    /// The machine is being worked on.
    OutOfService,
    /// Over.
    Closed,
}

impl EpisodeState {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnacknowledgedActive => "unacknowledged_active",
            Self::AcknowledgedActive => "acknowledged_active",
            Self::UnacknowledgedNormal => "unacknowledged_normal",
            Self::AcknowledgedNormal => "acknowledged_normal",
            Self::Shelved => "shelved",
            Self::SuppressedByDesign => "suppressed_by_design",
            Self::OutOfService => "out_of_service",
            Self::Closed => "closed",
        }
    }
}

/// What changed an episode last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transition {
    /// It began.
    Opened,
    /// The level rose above every level told.
    Rose,
    /// A level came back after its hold.
    Returned,
    /// A level came back within its hold, quietly.
    Reopened,
    /// The level changed, and staff is not told; or the damage went on at a level that was told,
    /// and staff is.
    Changed,
    /// Nothing new is known.
    Frozen,
    /// Windows can be judged again.
    Thawed,
    /// The level fell below the lowest that staff is told of; the hold has begun.
    Fell,
    /// The hold is over.
    Resolved,
    /// Nobody has acknowledged it, and staff is told again.
    Repeated,
    /// Somebody has seen it.
    Acknowledged,
    /// Somebody has put it off, or the machine is being worked on.
    Suppressed,
    /// Staff is told again from now on.
    Unsuppressed,
    /// It is over.
    Closed,
}

impl Transition {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Rose => "rose",
            Self::Returned => "returned",
            Self::Reopened => "reopened",
            Self::Changed => "changed",
            Self::Frozen => "frozen",
            Self::Thawed => "thawed",
            Self::Fell => "fell",
            Self::Resolved => "resolved",
            Self::Repeated => "repeated",
            Self::Acknowledged => "acknowledged",
            Self::Suppressed => "suppressed",
            Self::Unsuppressed => "unsuppressed",
            Self::Closed => "closed",
        }
    }
}

/// The last episode of a bearing, retained per bearing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EpisodeDocument {
    /// Always [`EPISODE_SCHEMA`].
    pub schema: String,
    /// The episode.
    pub episode_id: Uuid,
    /// Counts the changes of the episode.
    pub episode_sequence: u64,
    /// Site of the bearing.
    pub site: SiteId,
    /// Machine of the bearing.
    pub equipment_id: EquipmentId,
    /// The bearing.
    pub bearing_id: BearingId,
    /// The three axes in one word.
    pub episode_state: EpisodeState,
    /// What changed it last.
    pub transition: Transition,
    /// The condition.
    pub condition: Condition,
    /// Whether staff has seen it.
    pub acknowledgement: AcknowledgementState,
    /// Whether and why staff is not told.
    pub suppression: Suppression,
    /// The element that was named last.
    pub fault_type: Option<Fault>,
    /// The highest level that staff was told.
    pub told: Option<RiskLevel>,
    /// When it began.
    pub opened_at: Timestamp,
    /// When it changed last.
    pub changed_at: Timestamp,
    /// When it was closed.
    pub closed_at: Option<Timestamp>,
}

/// A request of staff to be told nothing of a bearing for a time, or to be told again. Published
/// without the retain flag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shelve {
    /// Always [`SHELVE_SCHEMA`].
    pub schema: String,
    /// What is asked for.
    pub action: ShelveAction,
    /// Until when staff is told nothing; needed to shelve, and at most a week ahead. What rose or
    /// resolved meanwhile is told then.
    #[serde(default)]
    pub until: Option<Timestamp>,
    /// The person who asks.
    #[schemars(length(max = MAX_LINE), regex(pattern = LINE_PATTERN))]
    pub by: String,
    /// Why.
    #[serde(default)]
    #[schemars(length(max = MAX_LINE), regex(pattern = LINE_PATTERN))]
    pub reason: String,
    /// The work order, where the machine is out of service.
    #[serde(default)]
    #[schemars(length(max = MAX_WORD), regex(pattern = LINE_PATTERN))]
    pub work_order: Option<String>,
    /// Time of the request.
    pub at: Timestamp,
}

/// What a request to shelve asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShelveAction {
    /// Tell nothing until a time.
    Shelve,
    /// Tell nothing while the machine is worked on, until a time at the latest.
    OutOfService,
    /// Tell again from now on.
    End,
}

/// The longest time for which staff may be told nothing, s: a week. Chosen: ISA-18.2 asks that
/// shelving is limited in time; a week is the longest usual wait for a planned stop, after which
/// the state of the bearing has to be looked at again.
pub const LONGEST_SHELF_S: f64 = 7.0 * 86_400.0;

impl Shelve {
    /// Checks the rules that the types cannot express, at the time at which the request came in.
    ///
    /// # Errors
    /// A text that names the field, its value and what is allowed.
    pub fn check(&self, now: Timestamp) -> Result<(), String> {
        self.texts()?;
        if self.by.trim().is_empty() {
            return Err("by is empty, expected the person who asks".to_owned());
        }
        match (self.action, self.until) {
            (ShelveAction::End, _) => Ok(()),
            (ShelveAction::Shelve | ShelveAction::OutOfService, None) => {
                Err("until is missing: a shelf ends at a time".to_owned())
            }
            (ShelveAction::Shelve | ShelveAction::OutOfService, Some(until)) => {
                let left_s = until.seconds_since(now);
                if left_s > 0.0 && left_s <= LONGEST_SHELF_S {
                    return Ok(());
                }
                let latest = now.plus_seconds(LONGEST_SHELF_S);
                Err(format!("until is {until}, expected after {now} and up to {latest}"))
            }
        }
    }

    fn texts(&self) -> Result<(), String> {
        let work_order = self.work_order.as_deref().unwrap_or_default();
        let texts = [
            ("by", self.by.as_str(), MAX_LINE),
            ("reason", self.reason.as_str(), MAX_LINE),
            ("work_order", work_order, MAX_WORD),
        ];
        for (field, text, most) in texts {
            bounds::line(text, most).map_err(|error| format!("{field} {error}"))?;
        }
        Ok(())
    }

    /// Returns the suppression that is asked for; [`Suppression::None`] if staff is to be told
    /// again.
    pub fn suppression(&self) -> Suppression {
        let (by, reason) = (self.by.clone(), self.reason.clone());
        match (self.action, self.until) {
            (ShelveAction::Shelve, Some(until)) => Suppression::Shelved { until, by, reason },
            (ShelveAction::OutOfService, Some(until)) => {
                let work_order = self.work_order.clone();
                Suppression::OutOfService { until, by, reason, work_order }
            }
            (ShelveAction::End | ShelveAction::Shelve | ShelveAction::OutOfService, _) => {
                Suppression::None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-AGENT-10: the shipped examples are what the types read and write.
    #[test]
    fn the_contracts_examples_are_read_and_written_back_unchanged() {
        let text = include_str!("../../config/examples/episode.json");
        let before: serde_json::Value = serde_json::from_str(text).expect("json");
        let read: EpisodeDocument = serde_json::from_str(text).expect("episode");
        assert_eq!(before, serde_json::to_value(&read).expect("json"));
        let text = include_str!("../../config/examples/shelve.json");
        let before: serde_json::Value = serde_json::from_str(text).expect("json");
        let read: Shelve = serde_json::from_str(text).expect("shelve");
        assert_eq!(read.check(read.at), Ok(()));
        assert_eq!(before, serde_json::to_value(&read).expect("json"));
    }

    #[test]
    fn a_shelf_without_an_end_or_beyond_a_week_is_refused() {
        let text = include_str!("../../config/examples/shelve.json");
        let shelve: Shelve = serde_json::from_str(text).expect("shelve");
        let until = |until| Shelve { until, ..shelve.clone() }.check(shelve.at);
        assert!(until(None).is_err_and(|error| error.contains("until is missing")));
        assert!(until(Some(shelve.at)).is_err(), "over before it begins");
        let beyond = shelve.at.plus_seconds(LONGEST_SHELF_S + 1.0);
        assert!(until(Some(beyond)).is_err_and(|error| error.contains("expected after")));
        let nobody = Shelve { by: " ".to_owned(), ..shelve.clone() };
        assert!(nobody.check(shelve.at).is_err());
        let end = Shelve { action: ShelveAction::End, until: None, ..shelve.clone() };
        assert_eq!(end.check(shelve.at), Ok(()));
        assert_eq!(end.suppression(), Suppression::None);
        assert!(shelve.suppression().holds(shelve.at));
        assert!(!shelve.suppression().holds(beyond));
    }
}
