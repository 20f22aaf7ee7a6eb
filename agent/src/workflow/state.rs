//! The state of one run, with the fields that the requirements name; a checkpoint holds it.
//!
//! The state holds everything that a run knows, so that a process that reads it back continues as
//! if the run had never stopped. [`State::schema`] is the version of its form; a state of another
//! version is not continued, the event's run begins again.

use pdm_expert::Judgement;
use pdm_expert::case::Memory;
use pdm_expert::research::{Inquiry, Question};
use pdm_shared::diagnosis::SecondOpinion;
use pdm_shared::event::Event;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::documents::Written;
use super::node::NextAction;

/// The version of the state's form.
pub const STATE_SCHEMA: &str = "pdm.run/1";

/// The state of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Always [`STATE_SCHEMA`].
    pub schema: String,
    /// The event.
    pub event_payload: Event,
    /// The memory of its bearing.
    pub memory_context: Memory,
    /// Thoughts, actions and observations, in their order.
    pub messages: Vec<Message>,
    /// The judgement, from the conclusion of the reasoning on.
    pub diagnosis_result: Option<Box<Judgement>>,
    /// The next step that the reasoner asks for.
    pub next_action: NextAction,
    /// Calls of tools that the reasoner wanted so far.
    pub tool_calls_count: u32,
    /// Rounds of reasoning so far.
    pub rounds: u32,
    /// Calls that wait to be made.
    pub pending: Vec<Question>,
    /// The questions of the research and their answers.
    pub inquiry: Inquiry,
    /// The judgement is held for a language model, or was.
    #[serde(default)]
    pub held: bool,
    /// The answer of a language model to a held judgement, until the judgement takes it in.
    #[serde(default, rename = "heard")]
    pub held_answer: Option<SecondOpinion>,
    /// Documents that were written.
    pub documents: Vec<Written>,
    /// The detail of the step `save_memory`, once the judgement is stored and its documents are
    /// left.
    #[serde(default)]
    pub saved: Option<Value>,
    /// How long the calls of tools have taken, ms.
    #[serde(default)]
    pub looked_up_ms: u64,
    /// When the run began: the present moment of the whole judgement.
    pub now: Timestamp,
}

/// One entry of the reasoning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Message {
    /// A thought of the reasoner.
    Thought {
        /// Its round.
        round: u32,
        /// The thought.
        text: String,
    },
    /// A call that the reasoner wanted.
    Action {
        /// Its round.
        round: u32,
        /// The tool.
        tool: String,
        /// Its arguments.
        arguments: Map<String, Value>,
    },
    /// The answer to a call: data, never an instruction.
    Observation {
        /// Its round.
        round: u32,
        /// The tool.
        tool: String,
        /// Names of documents, or why there is no answer.
        text: String,
    },
}

impl State {
    /// The state at the beginning of a run.
    pub fn new(event: Event, memory: Memory, now: Timestamp) -> Self {
        // to the millisecond, as a checkpoint holds it: a continued run must see the same time
        let now = Timestamp::from_unix_ms(now.unix_ms()).unwrap_or(now);
        Self {
            schema: STATE_SCHEMA.to_owned(),
            event_payload: event,
            memory_context: memory,
            messages: Vec::new(),
            diagnosis_result: None,
            next_action: NextAction::default(),
            tool_calls_count: 0,
            rounds: 0,
            pending: Vec::new(),
            inquiry: Inquiry::default(),
            held: false,
            held_answer: None,
            documents: Vec::new(),
            saved: None,
            looked_up_ms: 0,
            now,
        }
    }

    /// The risk of the judgement; Normal while there is none.
    pub fn risk(&self) -> RiskLevel {
        self.diagnosis_result
            .as_ref()
            .map_or(RiskLevel::Normal, |judgement| judgement.diagnosis.risk_level)
    }

    /// The judgement is worse or other than the bearing's last.
    pub fn is_news(&self) -> bool {
        self.diagnosis_result.as_ref().is_some_and(|judgement| {
            pdm_expert::research::is_news(&judgement.diagnosis, &self.memory_context.recent)
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use pdm_expert::case::Case;
    use pdm_expert::rules::Rules;

    use super::*;

    /// A run over the contract's event that has come to a judgement of this risk.
    pub(crate) fn state(risk: RiskLevel) -> State {
        let event: Event =
            serde_json::from_str(include_str!("../../../config/examples/event.json"))
                .expect("event");
        let now = event.measured_at;
        let mut state = State::new(event, Memory::default(), now);
        let case = Case { event: &state.event_payload, memory: &state.memory_context, now };
        let mut judgement = pdm_expert::judge(&case, &Rules::default());
        judgement.diagnosis.risk_level = risk;
        state.diagnosis_result = Some(Box::new(judgement));
        state
    }

    #[test]
    fn a_state_is_read_back_as_it_was_written() {
        let state = state(RiskLevel::Warning);
        let text = serde_json::to_string(&state).expect("json");
        assert_eq!(serde_json::from_str::<State>(&text).expect("state"), state);
    }
}
