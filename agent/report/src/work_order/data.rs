//! The work order as data (`pdm.work_order/1`), for people and for a maintenance system (CMMS).

use pdm_shared::fault::Fault;
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::data::{Passage, Subject};
use crate::waveform::Waveform;

/// The value of `schema` in a work order.
pub const WORK_ORDER_SCHEMA: &str = "pdm.work_order/1";

/// The work on a bearing: tasks, people, parts, times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkOrder {
    /// Always [`WORK_ORDER_SCHEMA`].
    pub schema: String,
    /// Number of the order, the same for the same event.
    pub number: String,
    /// Numbers of open orders of this bearing that this one replaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<String>,
    /// The event behind the order.
    pub event_id: EventId,
    /// The bearing.
    pub subject: Subject,
    /// Time at which the order was written.
    pub created_at: Timestamp,
    /// Kind of work: replace or inspect.
    pub kind: WorkKind,
    /// The title.
    pub title: Text,
    /// The priority.
    pub priority: Priority,
    /// The risk behind the priority.
    pub risk_level: RiskLevel,
    /// The faulty element; `null` if none is named.
    pub fault_type: Option<Fault>,
    /// Stage on the P–F curve, 0–4.
    pub fault_stage: u8,
    /// The reason for the work.
    pub reason: Text,
    /// The recommendation of the judgement.
    pub recommendation: Text,
    /// The dates of the work.
    pub schedule: Schedule,
    /// Safety measures before any other step.
    pub safety: Vec<Passage>,
    /// Preparation of the work.
    pub preparation: Vec<Passage>,
    /// Steps of the work, in order.
    pub procedure: Vec<Passage>,
    /// Acceptance checks after the work.
    pub acceptance: Vec<Passage>,
    /// Parts to fit.
    pub parts: Vec<Part>,
    /// Tools to use.
    pub tools: Vec<Text>,
    /// Number of people.
    pub people: Resource,
    /// Hours of work.
    pub hours: Resource,
    /// Documents that the order quotes.
    pub sources: Vec<String>,
    /// Roles that sign.
    pub sign_off: Vec<Text>,
    /// The waveform; absent where the agent takes no captures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waveform: Option<Waveform>,
}

/// The kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkKind {
    /// Replace the bearing.
    Replace,
    /// Find the cause.
    Inspect,
}

/// The priority of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// The work is done at once.
    Emergency,
    /// The work comes before planned work.
    Urgent,
    /// The work is done in the next planned stop.
    Planned,
}

/// The dates of the work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Schedule {
    /// Whether the work is done as soon as the machine can be stopped safely.
    pub at_once: bool,
    /// Latest end of the work.
    pub finish_by: Option<Timestamp>,
    /// Latest order of the parts.
    pub order_by: Option<Timestamp>,
    /// The basis of the dates.
    pub basis: Text,
}

/// A part to fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// Name of the part.
    pub name: Text,
    /// The part's designation, if it is known.
    pub designation: Option<String>,
    /// Note for the fitter.
    pub note: Text,
}

/// An amount that is known or has to be planned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Resource {
    /// The amount; `null` if it has to be planned.
    pub amount: Option<f64>,
    /// The amount for people, with its basis.
    pub text: Text,
    /// Source of the amount: the configuration, or a document.
    pub source: Option<String>,
}
