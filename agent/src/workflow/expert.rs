//! The reasoners of the node `reasoning`. [`Expert`] judges by rules alone.
//!
//! The expert judges again in every round (the same event gives the same judgement), asks for the
//! sources that [`pdm_expert::research`] finds missing, and concludes when no question is left.

use async_trait::async_trait;
use pdm_expert::case::Case;
use pdm_expert::research::{self, Question};
use pdm_expert::rules::Rules;
use pdm_expert::{Judgement, judge, judge_raised};
use pdm_shared::risk::RiskLevel;

use super::WorkflowError;
use super::node::MAX_TOOL_CALLS;
use super::state::State;

/// The result of one round of reasoning.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The thought, for the trace.
    pub thought: String,
    /// The next step that the reasoner asks for.
    pub want: Want,
}

/// A next step that a reasoner asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Want {
    /// Another round.
    Continue,
    /// Answers of tools.
    Call(Vec<Question>),
    /// The end of the reasoning, with this judgement.
    Conclude(Box<Judgement>),
}

/// Judges an event in rounds.
#[async_trait]
pub trait Reasoner: Send + Sync + std::fmt::Debug {
    /// Reasons for one round over the state. `has_tools` says whether tools can be called.
    ///
    /// # Errors
    /// [`WorkflowError::Reasoner`]; the caller then uses the expert's judgement.
    async fn reason(&self, state: &State, has_tools: bool) -> Result<Turn, WorkflowError>;
}

/// The reasoner of deterministic rules.
#[derive(Debug, Clone)]
pub struct Expert {
    rules: Rules,
}

impl Expert {
    /// An expert with these rules.
    pub const fn new(rules: Rules) -> Self {
        Self { rules }
    }

    /// The rules by which the expert judges.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The expert's judgement with what the research has found so far.
    pub fn judgement(&self, state: &State) -> Judgement {
        Self::told(state, |case| judge(case, &self.rules))
    }

    /// Returns the judgement where a language model asks for this risk.
    pub fn judgement_raised(&self, state: &State, asked: RiskLevel) -> Judgement {
        Self::told(state, |case| judge_raised(case, &self.rules, asked))
    }

    fn told(state: &State, judge: impl Fn(&Case<'_>) -> Judgement) -> Judgement {
        let case =
            Case { event: &state.event_payload, memory: &state.memory_context, now: state.now };
        let mut judgement = judge(&case);
        research::tell_research(&mut judgement.diagnosis, &case, &state.inquiry);
        judgement
    }
}

#[async_trait]
impl Reasoner for Expert {
    async fn reason(&self, state: &State, has_tools: bool) -> Result<Turn, WorkflowError> {
        let judgement = self.judgement(state);
        let case =
            Case { event: &state.event_payload, memory: &state.memory_context, now: state.now };
        let diagnosis = &judgement.diagnosis;
        let mut questions = if has_tools && diagnosis.risk_level > RiskLevel::Normal {
            research::ask(diagnosis, &case, &state.inquiry)
        } else {
            Vec::new()
        };
        let left = MAX_TOOL_CALLS.saturating_sub(state.tool_calls_count);
        questions.truncate(left as usize);
        let conclusion = diagnosis.thoughts.last().map(|thought| thought.conclusion.ko.clone());
        let want = if questions.is_empty() {
            Want::Conclude(Box::new(judgement))
        } else {
            Want::Call(questions)
        };
        Ok(Turn { thought: conclusion.unwrap_or_default(), want })
    }
}
