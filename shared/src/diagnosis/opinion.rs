//! The second opinion of a language model on an event, beside the expert.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DegradationSpeed, Evidence, ThoughtTitle, ToolUse, UncertaintyLevel};
use crate::fault::Fault;
use crate::risk::RiskLevel;
use crate::text::Text;
use crate::time::Timestamp;

/// The opinion of a language model. It is made by the program out of what the model named: figures
/// in its texts stand in the event, and its risk never lowers what staff is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SecondOpinion {
    /// Name of the model.
    pub model: String,
    /// Time of the opinion.
    pub given_at: Timestamp,
    /// How it stands to the expert's judgement; `null` if the model gave no valid opinion.
    pub stance: Option<OpinionStance>,
    /// Why there is no opinion; `null` where there is one.
    pub failure: Option<Text>,
    /// The risk that the model sees.
    pub risk_level: Option<RiskLevel>,
    /// The element that the model names.
    pub fault_type: Option<Fault>,
    /// The stage on the P–F curve that the model sees.
    pub fault_stage: Option<u8>,
    /// The speed of the degradation that the model sees.
    pub degradation: Option<DegradationSpeed>,
    /// How uncertain the model is.
    pub uncertainty: Option<UncertaintyLevel>,
    /// Its reason.
    pub reason: Option<Text>,
    /// What it recommends.
    pub recommendation: Option<Text>,
    /// The evidence that it named, with the event's values.
    #[serde(default)]
    pub evidence: Vec<Evidence>,
    /// Its words by thought, until the diagnosis takes them into its own thoughts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thoughts: Vec<ThoughtWords>,
    /// The calls of tools.
    #[serde(default)]
    pub tools: Vec<ToolUse>,
    /// Requests to the model.
    pub calls: u64,
    /// Answers that had to be repaired.
    pub repairs: u32,
    /// Tokens of the questions.
    pub prompt_tokens: u64,
    /// Tokens of the answers.
    pub completion_tokens: u64,
    /// Cost, US dollars, by the configured prices.
    pub cost_usd: f64,
}

/// What a language model says in one of the five thoughts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThoughtWords {
    /// The thought.
    pub title: ThoughtTitle,
    /// The words, with the event's figures.
    pub words: Text,
}

/// How a second opinion stands to the judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OpinionStance {
    /// The same risk.
    Agrees,
    /// A higher risk: staff is told.
    Raises,
    /// A lower risk: it is shown as a disagreement, and nothing is lowered.
    Lowers,
}

impl OpinionStance {
    /// Returns how a risk stands to the judgement's.
    pub fn of(judgement: RiskLevel, opinion: RiskLevel) -> Self {
        match opinion.cmp(&judgement) {
            std::cmp::Ordering::Equal => Self::Agrees,
            std::cmp::Ordering::Greater => Self::Raises,
            std::cmp::Ordering::Less => Self::Lowers,
        }
    }

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Raises => "raises",
            Self::Lowers => "lowers",
        }
    }
}
