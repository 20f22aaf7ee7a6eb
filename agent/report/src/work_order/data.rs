//! The work order as data (`pdm.work_order/1`), for people and for a maintenance system (CMMS).

use pdm_shared::fault::Fault;
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::data::{Passage, Subject};

/// The value of `schema` in a work order.
pub const WORK_ORDER_SCHEMA: &str = "pdm.work_order/1";

/// What is to be done to a bearing, by whom, with what, until when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkOrder {
    /// Always [`WORK_ORDER_SCHEMA`].
    pub schema: String,
    /// Its number: the same for the same event.
    pub number: String,
    /// The event that it rests on.
    pub event_id: EventId,
    /// Which bearing.
    pub subject: Subject,
    /// When it was written.
    pub created_at: Timestamp,
    /// Replace or inspect.
    pub kind: WorkKind,
    /// What it is about.
    pub title: Text,
    /// How urgent.
    pub priority: Priority,
    /// The risk behind the priority.
    pub risk_level: RiskLevel,
    /// The element at fault, or none.
    pub fault_type: Option<Fault>,
    /// 0–4, stage on the P–F curve.
    pub fault_stage: u8,
    /// Why.
    pub reason: Text,
    /// What the judgement recommends.
    pub recommendation: Text,
    /// When.
    pub schedule: Schedule,
    /// Before anything else.
    pub safety: Vec<Passage>,
    /// What to have ready.
    pub preparation: Vec<Passage>,
    /// The work, in its order.
    pub procedure: Vec<Passage>,
    /// After the work.
    pub acceptance: Vec<Passage>,
    /// What is fitted.
    pub parts: Vec<Part>,
    /// What is used.
    pub tools: Vec<Text>,
    /// By how many people.
    pub people: Resource,
    /// For how long.
    pub hours: Resource,
    /// Documents that it quotes.
    pub sources: Vec<String>,
    /// Who signs.
    pub sign_off: Vec<Text>,
}

/// What kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkKind {
    /// Replace the bearing.
    Replace,
    /// Find out what it is.
    Inspect,
}

/// How urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// At once.
    Emergency,
    /// Before what is planned.
    Urgent,
    /// In the next planned stop.
    Planned,
}

/// When.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Schedule {
    /// As soon as the machine can be stopped safely.
    pub at_once: bool,
    /// To be finished until then.
    pub finish_by: Option<Timestamp>,
    /// Parts to be ordered until then.
    pub order_by: Option<Timestamp>,
    /// What the times rest on.
    pub basis: Text,
}

/// Something that is fitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// What.
    pub name: Text,
    /// Its designation, where it is known.
    pub designation: Option<String>,
    /// What to mind.
    pub note: Text,
}

/// An amount that was planned, or that has to be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Resource {
    /// How much; `null` if it has to be planned.
    pub amount: Option<f64>,
    /// The same for people, with what it rests on.
    pub text: Text,
    /// Where it stands: the configuration, or a document.
    pub source: Option<String>,
}
