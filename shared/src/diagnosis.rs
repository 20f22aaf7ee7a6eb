//! The diagnosis (`pdm.diagnosis/1`): what the agent says of an event, in five thoughts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fault::Fault;
use crate::id::{BearingId, EquipmentId, EventId, SiteId};
use crate::risk::RiskLevel;
use crate::text::Text;
use crate::time::Timestamp;

/// The value of `schema` that this program writes.
pub const DIAGNOSIS_SCHEMA: &str = "pdm.diagnosis/1";

/// A judgement of one event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Diagnosis {
    /// Always [`DIAGNOSIS_SCHEMA`].
    pub schema: String,
    /// The event that was judged.
    pub event_id: EventId,
    /// Site of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<SiteId>,
    /// Machine.
    pub equipment_id: EquipmentId,
    /// Bearing.
    pub bearing_id: BearingId,
    /// When it was judged.
    pub judged_at: Timestamp,
    /// Who judged.
    pub reasoner: Reasoner,
    /// The element at fault, or none.
    pub fault_type: Option<Fault>,
    /// 0 no sign of damage; 1–4 stage on the P–F curve.
    pub fault_stage: u8,
    /// How fast it gets worse.
    pub degradation: Degradation,
    /// What the remaining life means for planning.
    pub rul_assessment: RulAssessment,
    /// The risk.
    pub risk_level: RiskLevel,
    /// What to do.
    pub recommendation: Text,
    /// How sure, and why not surer.
    pub uncertainty: Uncertainty,
    /// Screening, P–F stage, degradation, remaining life, overall risk.
    pub thoughts: Vec<Thought>,
    /// Tools that were called.
    #[serde(default)]
    pub tools: Vec<ToolUse>,
    /// What was remembered of this bearing.
    #[serde(default)]
    pub memory: MemoryUse,
    /// Where two reasoners differ, and how.
    #[serde(default)]
    pub disagreement: Option<Text>,
}

/// Who judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reasoner {
    /// Deterministic rules.
    Expert,
    /// A language model, held to the expert's safety floor.
    Llm,
}

/// How fast the damage grows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Degradation {
    /// The word for it.
    pub speed: DegradationSpeed,
    /// JSON path of what it rests on.
    pub evidence: String,
}

/// How fast the damage grows.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum DegradationSpeed {
    /// Not at all.
    None,
    /// Rising, with time to plan.
    Slow,
    /// Rising clearly.
    Moderate,
    /// Accelerating.
    Rapid,
}

/// What the remaining life means for planning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RulAssessment {
    /// Hours to plan with.
    pub hours: Option<f64>,
    /// Which field of `rul` was taken.
    pub basis: Option<String>,
    /// The lower bound was taken on purpose.
    pub conservative: bool,
    /// Why there is no figure.
    pub unknown: Option<String>,
}

/// How sure a judgement is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Uncertainty {
    /// Low, medium or high.
    pub level: UncertaintyLevel,
    /// Why not surer.
    pub causes: Vec<Text>,
}

/// How unsure a judgement is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum UncertaintyLevel {
    /// Evidence is plentiful and agrees.
    Low,
    /// Some of it is missing or weak.
    Medium,
    /// Hardly more than a suspicion.
    High,
}

/// One of the five thoughts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thought {
    /// `initial_screening`, `pf_stage`, `degradation`, `rul` or `overall_risk`.
    pub title: ThoughtTitle,
    /// What it comes to.
    pub conclusion: Text,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
}

/// The five thoughts, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThoughtTitle {
    /// Is there anything, and which element?
    InitialScreening,
    /// How far along the P–F curve?
    PfStage,
    /// How fast?
    Degradation,
    /// How long?
    Rul,
    /// So what?
    OverallRisk,
}

/// One fact that a thought rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// Where it stands: a JSON path of the event, or `config.…`, `memory.…`.
    pub path: String,
    /// The value as it stands there.
    pub value: Value,
    /// The rule that used it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The document it comes from, where it is not of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolUse {
    /// Its name.
    pub name: String,
    /// What it was asked.
    pub arguments: Value,
    /// What it found.
    #[serde(default)]
    pub result_ids: Vec<String>,
    /// Round of research, from 1.
    #[serde(default)]
    pub round: u32,
    /// Why it gave no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// What was remembered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryUse {
    /// How many earlier judgements were looked at.
    pub used: u32,
    /// Told in a sentence.
    pub summary: Text,
}

impl Default for MemoryUse {
    fn default() -> Self {
        Self { used: 0, summary: Text::new("이전 판정 이력 없음", "No earlier judgement") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contracts_example_is_read_and_written_back_unchanged() {
        let text = include_str!("../../config/examples/diagnosis.json");
        let before: Value = serde_json::from_str(text).expect("json");
        let diagnosis: Diagnosis = serde_json::from_str(text).expect("diagnosis");
        assert_eq!(before, serde_json::to_value(&diagnosis).expect("json"));
    }
}
