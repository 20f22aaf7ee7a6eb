//! The messages between a person and the chat: the question with its conversation, the steps, the
//! answer.

use pdm_shared::id::BearingKey;
use pdm_shared::text::Language;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who said a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The person.
    User,
    /// The program.
    Assistant,
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said {
    /// Who said it.
    pub role: Speaker,
    /// The text.
    pub content: String,
}

/// A question with the conversation before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The question.
    pub message: String,
    /// The conversation before the question, oldest first.
    pub history: Vec<Said>,
    /// The bearing that the conversation is about.
    pub about: Option<BearingKey>,
    /// Language of the answer.
    pub language: Language,
}

/// A call in a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepCall {
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
}

/// One step of an answer, as it is told.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerStep {
    /// Its number, from 1.
    pub step_number: u32,
    /// A program that the model has written; absent where it calls tools by name.
    pub code: Option<String>,
    /// The results that the step observed.
    pub observations: Option<String>,
    /// The calls of tools.
    pub tool_calls: Vec<StepCall>,
    /// Why the step failed.
    pub error: Option<String>,
}

/// Where an answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// The language model.
    Model,
    /// Extraction from records and documents, without a model.
    Extraction,
    /// The last observation, because the model gave no answer.
    Observation,
    /// No source: an apology.
    Apology,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChatAnswer {
    /// The text.
    pub answer: String,
    /// Where it comes from.
    pub by: AnsweredBy,
    /// The bearing that it is about.
    pub about: Option<BearingKey>,
    /// Tokens of the questions.
    pub prompt_tokens: u64,
    /// Tokens of the answers.
    pub completion_tokens: u64,
    /// Cost, US dollars, by the configured prices.
    pub cost_usd: f64,
    /// Why the model gave no answer, in the word of metrics.
    pub model_failure: Option<&'static str>,
}

/// Hears every step as it is made.
pub trait Listener: Send + Sync {
    /// A step was made.
    fn step(&self, step: &AnswerStep);
}
