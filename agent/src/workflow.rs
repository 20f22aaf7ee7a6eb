//! The judgement of one event as an explicit state machine (R-AGENT-3).
//!
//! `load_memory → reasoning → (continue_reasoning → reasoning) → parse_diagnosis → save_memory`.
//! A [`Reasoner`] sits at `reasoning`; the expert is the first. `parse_diagnosis` holds every
//! reasoner to the contract: five thoughts in their order, and no figure that stands in none of its
//! sources. Loading and saving are the caller's, who does them for a whole batch in one transaction.

use async_trait::async_trait;
use pdm_expert::case::{Case, Memory};
use pdm_expert::rules::Rules;
use pdm_expert::{Judgement, grounding, judge};
use pdm_shared::clock::Timestamp;
use pdm_shared::diagnosis::ThoughtTitle;
use pdm_shared::event::Event;

/// Steps of reasoning after which a diagnosis is asked for. The seed's `tool_calls_count > 10`.
const MAX_STEPS: u32 = 10;

/// Where an event is in its judgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    /// The last judgements of the bearing are recalled.
    LoadMemory,
    /// The reasoner thinks.
    Reasoning,
    /// Its result is held to the contract.
    ParseDiagnosis,
    /// The judgement is handed on to be stored.
    SaveMemory,
}

/// What the reasoner wants next.
#[derive(Debug, Clone, PartialEq)]
pub enum NextAction {
    /// Another round of thinking.
    ContinueReasoning,
    /// It has come to a judgement.
    Conclude(Box<Judgement>),
}

/// The state of one run, with the seed's fields.
#[derive(Debug, Clone)]
pub struct State<'a> {
    /// The event.
    pub event_payload: &'a Event,
    /// What is remembered of its bearing.
    pub memory_context: &'a Memory,
    /// The present moment, one for the whole run.
    pub now: Timestamp,
    /// Rounds of reasoning so far.
    pub rounds: u32,
    /// The judgement, once there is one.
    pub diagnosis_result: Option<Box<Judgement>>,
}

/// A run that did not end in a judgement. The event stays unjudged and is tried again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkflowError {
    /// The reasoner failed.
    #[error("the reasoner failed: {0}")]
    Reasoner(String),
    /// It never came to a judgement.
    #[error("no judgement after {MAX_STEPS} rounds")]
    NoJudgement,
    /// Its judgement is not of the contract.
    #[error("the judgement has the thoughts {got:?}")]
    Thoughts {
        /// What it has.
        got: Vec<ThoughtTitle>,
    },
}

/// Who judges.
#[async_trait]
pub trait Reasoner: Send + Sync + std::fmt::Debug {
    /// One round of thinking over the state.
    async fn reason(&self, state: &State<'_>) -> Result<NextAction, WorkflowError>;
}

/// The deterministic rules.
#[derive(Debug, Clone)]
pub struct Expert {
    rules: Rules,
}

impl Expert {
    /// An expert with these rules.
    pub const fn new(rules: Rules) -> Self {
        Self { rules }
    }
}

#[async_trait]
impl Reasoner for Expert {
    async fn reason(&self, state: &State<'_>) -> Result<NextAction, WorkflowError> {
        let case =
            Case { event: state.event_payload, memory: state.memory_context, now: state.now };
        Ok(NextAction::Conclude(Box::new(judge(&case, &self.rules))))
    }
}

/// A finished run.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The judgement.
    pub judgement: Box<Judgement>,
    /// Figures in its words that stand in none of its sources; empty when all is well.
    pub ungrounded: Vec<String>,
}

/// Runs one event from memory to judgement.
///
/// # Errors
/// [`WorkflowError`] if no judgement of the contract's form comes out.
pub async fn run(
    reasoner: &dyn Reasoner,
    event: &Event,
    memory: &Memory,
    now: Timestamp,
) -> Result<Finished, WorkflowError> {
    let mut state = State {
        event_payload: event,
        memory_context: memory,
        now,
        rounds: 0,
        diagnosis_result: None,
    };
    let mut node = Node::LoadMemory;
    loop {
        node = match node {
            Node::LoadMemory => Node::Reasoning,
            Node::Reasoning if state.rounds >= MAX_STEPS => return Err(WorkflowError::NoJudgement),
            Node::Reasoning => {
                state.rounds += 1;
                match reasoner.reason(&state).await? {
                    NextAction::ContinueReasoning => Node::Reasoning,
                    NextAction::Conclude(judgement) => {
                        state.diagnosis_result = Some(judgement);
                        Node::ParseDiagnosis
                    }
                }
            }
            Node::ParseDiagnosis => {
                check(state.diagnosis_result.as_deref())?;
                Node::SaveMemory
            }
            Node::SaveMemory => break,
        }
    }
    let judgement = state.diagnosis_result.ok_or(WorkflowError::NoJudgement)?;
    let ungrounded = grounding::ungrounded(&judgement.diagnosis, event, memory);
    Ok(Finished { judgement, ungrounded })
}

fn check(judgement: Option<&Judgement>) -> Result<(), WorkflowError> {
    use ThoughtTitle::{Degradation, InitialScreening, OverallRisk, PfStage, Rul};
    let judgement = judgement.ok_or(WorkflowError::NoJudgement)?;
    let got: Vec<ThoughtTitle> =
        judgement.diagnosis.thoughts.iter().map(|thought| thought.title).collect();
    if got == [InitialScreening, PfStage, Degradation, Rul, OverallRisk] {
        Ok(())
    } else {
        Err(WorkflowError::Thoughts { got })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Undecided;

    #[async_trait]
    impl Reasoner for Undecided {
        async fn reason(&self, _: &State<'_>) -> Result<NextAction, WorkflowError> {
            Ok(NextAction::ContinueReasoning)
        }
    }

    fn event() -> Event {
        serde_json::from_str(include_str!("../../config/examples/event.json")).expect("event")
    }

    #[tokio::test]
    async fn a_reasoner_that_never_concludes_is_stopped() {
        let event = event();
        let end = run(&Undecided, &event, &Memory::default(), event.measured_at).await;
        assert!(matches!(end, Err(WorkflowError::NoJudgement)), "{end:?}");
    }

    #[tokio::test]
    async fn the_expert_concludes_in_one_round_with_grounded_words() {
        let event = event();
        let expert = Expert::new(Rules::default());
        let end = run(&expert, &event, &Memory::default(), event.measured_at).await.expect("ends");
        assert_eq!(end.ungrounded, Vec::<String>::new());
        assert_eq!(end.judgement.diagnosis.thoughts.len(), 5);
    }
}
