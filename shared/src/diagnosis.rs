//! The diagnosis (`pdm.diagnosis/1`): the agent's judgement of an event, in five thoughts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fault::Fault;
use crate::id::{BearingId, EquipmentId, EventId, SiteId};
use crate::risk::RiskLevel;
use crate::text::Text;
use crate::time::Timestamp;

mod opinion;
mod research;

pub use opinion::{OpinionStance, SecondOpinion, ThoughtWords};
pub use research::{
    ComparedCase, ResearchChange, ResearchEffect, ResearchEnd, ResearchSummary, Sign, SignSide,
};

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
    /// The machine.
    pub equipment_id: EquipmentId,
    /// The bearing.
    pub bearing_id: BearingId,
    /// Time of the judgement.
    pub judged_at: Timestamp,
    /// The reasoner that judged.
    pub reasoner: Reasoner,
    /// The faulty element; `null` if none is named.
    pub fault_type: Option<Fault>,
    /// Stage on the P–F curve, 1–4; 0 without a sign of damage.
    pub fault_stage: u8,
    /// Speed at which the damage grows.
    pub degradation: Degradation,
    /// The remaining life to plan with.
    pub rul_assessment: RulAssessment,
    /// The risk level.
    pub risk_level: RiskLevel,
    /// The recommended action.
    pub recommendation: Text,
    /// The uncertainty of the judgement, with its causes.
    pub uncertainty: Uncertainty,
    /// The five thoughts: screening, P–F stage, degradation, remaining life, overall risk.
    pub thoughts: Vec<Thought>,
    /// The calls of tools.
    #[serde(default)]
    pub tools: Vec<ToolUse>,
    /// The earlier judgements of this bearing that were used.
    #[serde(default)]
    pub memory: MemoryUse,
    /// The difference between two reasoners, where there is one.
    #[serde(default)]
    pub disagreement: Option<Text>,
    /// What research compared and what it changed; absent where none was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub research: Option<ResearchSummary>,
    /// The opinion of a language model, once there is one; it never lowers the risk. With
    /// `reasoner` `llm` it was part of the judgement, otherwise it came beside or after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_opinion: Option<SecondOpinion>,
    /// What staff was told because of this judgement; absent where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notification: Option<ToldMessage>,
    /// What was found on the machine afterwards, once staff has reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<crate::follow_up::WorkFound>,
}

impl Diagnosis {
    /// The time for parts and planning that was configured when it judged, h, as its evidence
    /// quotes it.
    pub fn lead_time_h(&self) -> Option<f64> {
        let evidence = self.thoughts.iter().flat_map(|thought| &thought.evidence);
        evidence
            .filter(|fact| fact.path == "config.lead_time_h")
            .find_map(|fact| fact.value.as_f64())
    }

    /// Whether nothing that stands speaks of the bearing, so that the machine is to be checked and
    /// no bearing to be ordered.
    pub const fn is_of_machine(&self) -> bool {
        self.fault_type.is_none() && self.fault_stage == 0
    }

    /// Takes in the opinion of a language model: its words go to the thoughts that they belong to.
    /// Risk, fault, stage and conclusions stay as they are.
    pub fn take_opinion(&mut self, mut opinion: SecondOpinion, disagreement: Option<Text>) {
        for words in std::mem::take(&mut opinion.thoughts) {
            let thought = self.thoughts.iter_mut().find(|thought| thought.title == words.title);
            if let Some(thought) = thought {
                thought.model_words = Some(words.words);
            }
        }
        self.disagreement = disagreement;
        self.second_opinion = Some(opinion);
    }
}

/// What staff was told because of a judgement. The message leaves by the outbox that is written
/// with the judgement, so a record of it means that the message exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Told")]
pub struct ToldMessage {
    /// The notification.
    pub notification_id: uuid::Uuid,
    /// The reason.
    pub reason: crate::delivery::NotificationReason,
    /// The ways it leaves by: `mqtt`, `email`, `webhook:…`.
    pub channels: Vec<String>,
}

/// The kind of reasoner that judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reasoner {
    /// Deterministic rules.
    Expert,
    /// A language model, held to the expert's safety floor.
    Llm,
}

/// Growth of the damage, with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Degradation {
    /// Class of the growth.
    pub speed: DegradationSpeed,
    /// JSON path of the evidence.
    pub evidence: String,
}

/// Class of the growth of damage.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum DegradationSpeed {
    /// No growth.
    None,
    /// Rising slowly, with time to plan.
    Slow,
    /// Rising clearly.
    Moderate,
    /// Accelerating.
    Rapid,
}

/// The remaining life to plan with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RulAssessment {
    /// Hours to plan with.
    pub hours: Option<f64>,
    /// The field of `rul` that `hours` was taken from.
    pub basis: Option<String>,
    /// Whether the lower bound was taken on purpose.
    pub conservative: bool,
    /// The reason why there is no figure.
    pub unknown: Option<String>,
}

/// The uncertainty of a judgement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Uncertainty {
    /// The level: low, medium or high.
    pub level: UncertaintyLevel,
    /// The causes of the uncertainty.
    pub causes: Vec<Text>,
}

/// Level of the uncertainty of a judgement.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum UncertaintyLevel {
    /// Evidence is plentiful and agrees.
    Low,
    /// Some evidence is missing or weak.
    Medium,
    /// The evidence supports only a suspicion.
    High,
}

/// One of the five thoughts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thought {
    /// The title: `initial_screening`, `pf_stage`, `degradation`, `rul` or `overall_risk`.
    pub title: ThoughtTitle,
    /// The conclusion.
    pub conclusion: Text,
    /// The evidence for the conclusion.
    pub evidence: Vec<Evidence>,
    /// What a language model in the loop says in this thought, with the event's figures; absent
    /// where it said nothing. The conclusion is always the expert's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_words: Option<Text>,
}

/// The titles of the five thoughts, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThoughtTitle {
    /// Whether anything is wrong, and with which element.
    InitialScreening,
    /// The stage on the P–F curve.
    PfStage,
    /// The speed of the degradation.
    Degradation,
    /// The remaining life.
    Rul,
    /// The overall risk.
    OverallRisk,
}

/// One fact that a thought rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// Place of the fact: a JSON path of the event, or `config.…`, `memory.…`.
    pub path: String,
    /// The value at that place.
    pub value: Value,
    /// The rule that used the fact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The document that holds the fact, if it is not part of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolUse {
    /// The tool's name.
    pub name: String,
    /// The arguments of the call.
    pub arguments: Value,
    /// Identities of the results.
    #[serde(default)]
    pub result_ids: Vec<String>,
    /// Round of research, counted from 1.
    #[serde(default)]
    pub round: u32,
    /// The reason why the call gave no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// The memory that a judgement used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryUse {
    /// Number of earlier judgements that were read.
    pub used: u32,
    /// Summary of the earlier judgements, in a sentence.
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
