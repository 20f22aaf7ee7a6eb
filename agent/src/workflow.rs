//! The judgement of one event as an explicit state machine (R-AGENT-3).
//!
//! [`node`] holds nodes and edges as a pure function, [`state`] the state of a run, [`expert`] the
//! reasoners, [`tools`] the calls of tools, [`documents`] the interface to the documents,
//! [`RunState`] where a run stands between memory and store; this file does the work of each node
//! and notes it in the trace. The judging task drives the runs.
//!
//! A run begins on the fast path, in memory: `load_memory` and the first `reasoning`. Most runs end
//! there (nothing is wrong, or nothing is new) and are written with their trace in one transaction
//! a batch; after a crash before that transaction they begin again, and have had no effect outside.
//! A run that wants tools or documents leaves the fast path: from then on its state is checkpointed
//! after every node, and a process that finds the checkpoint continues at that node. In both cases
//! an effect outside happens once.
//!
//! No document delays an alarm: the judgement and everything that leaves because of it are written
//! before `generate_report`, in one transaction with the checkpoint of the rest of the run. That
//! rest, the documents and `save_memory`, which tells staff where they are, runs beside the
//! judging.
//!
//! With a language model in the loop a judgement is held before `parse_diagnosis` ([`held`]): the
//! judging task puts its run aside, and goes on with the bearings of others.
//!
//! `parse_diagnosis` checks every reasoner's judgement against the contract: five thoughts in their
//! order, and no figure that stands in none of its sources. If a reasoner fails, the expert's
//! judgement is used and says so.

use std::sync::Arc;

use pdm_expert::grounding::{self, Grounds};
use pdm_service::clock::SharedClock;
use pdm_shared::diagnosis::ThoughtTitle;
use pdm_shared::event::Event;
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use serde_json::Value;
use tracing::Instrument as _;

pub mod documents;
pub mod expert;
pub(crate) mod held;
pub mod node;
pub mod state;
pub mod tools;

mod log;
mod run;
pub mod spans;
mod trace;

pub use expert::{Expert, Reasoner};
pub(crate) use log::figures_withheld;
pub use node::{NextAction, Node};
pub use run::{Run, RunState};
pub use state::State;

use pdm_expert::Judgement;
use pdm_expert::case::Memory;
use pdm_expert::rules::Rules;
use pdm_report::files::DocumentKind;

use documents::{Documents, Written};
use expert::{Turn, Want};
use held::HoldTerms;
use state::Message;
use tools::{Caller, Tools};

/// A step of a run failed; each variant says what the caller does.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkflowError {
    /// The reasoner failed. The expert's judgement is used in its place.
    #[error("the reasoner failed: {0}")]
    Reasoner(String),
    /// The checkpoint was written by another version. The event's run begins again.
    #[error("the checkpoint cannot be resumed: {0}")]
    Checkpoint(String),
}

/// How far a run is in a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The node's work has not begun.
    Entered,
    /// The node's work is done and not in the store.
    Done,
    /// The store holds the node's step.
    Noted,
}

/// Hears every point of a run: for tests that stop a process at a certain point, and for metrics of
/// another program.
pub trait Observer: Send + Sync + std::fmt::Debug {
    /// A run has come to this point.
    fn reached(&self, event: EventId, node: Node, phase: Phase);
}

/// Runs events through the nodes.
#[derive(Debug, Clone)]
pub struct Workflow {
    reasoner: Arc<dyn Reasoner>,
    expert: Expert,
    caller: Option<Arc<Caller>>,
    documents: Option<Arc<dyn Documents>>,
    observer: Option<Arc<dyn Observer>>,
    /// Which judgements are held for a language model; `None` without one.
    holds: Option<HoldTerms>,
    clock: SharedClock,
}

impl Workflow {
    /// The workflow with the expert as its reasoner, without tools and documents.
    pub fn new(expert: Expert, clock: SharedClock) -> Self {
        Self {
            reasoner: Arc::new(expert.clone()),
            expert,
            caller: None,
            documents: None,
            observer: None,
            holds: None,
            clock,
        }
    }

    /// Returns the same workflow with another reasoner; where that fails, the expert's judgement is
    /// used.
    #[must_use]
    pub fn with_reasoner(self, reasoner: Arc<dyn Reasoner>) -> Self {
        Self { reasoner, ..self }
    }

    /// Returns the same workflow with tools.
    #[must_use]
    pub fn with_tools(self, tools: Arc<dyn Tools>) -> Self {
        Self { caller: Some(Arc::new(Caller::new(tools))), ..self }
    }

    /// Returns the same workflow with documents.
    #[must_use]
    pub fn with_documents(self, documents: Arc<dyn Documents>) -> Self {
        Self { documents: Some(documents), ..self }
    }

    /// Returns the same workflow, in which judgements are held for a language model by these terms.
    #[must_use]
    pub(crate) fn with_holds(self, holds: Option<HoldTerms>) -> Self {
        Self { holds, ..self }
    }

    /// The rules of the expert.
    pub(crate) const fn rules(&self) -> &Rules {
        self.expert.rules()
    }

    /// Whether the workflow writes documents.
    pub(crate) const fn has_documents(&self) -> bool {
        self.documents.is_some()
    }

    /// Returns the documents that will be written of a judgement; empty if none are due.
    pub(crate) fn promised(&self, state: &State) -> Vec<Written> {
        let Some(documents) = self.documents.as_ref().filter(|_| documents::are_due(state)) else {
            return Vec::new();
        };
        let kinds = [DocumentKind::Report, DocumentKind::WorkOrder];
        kinds.into_iter().flat_map(|kind| documents.places(kind, state)).collect()
    }

    /// Returns the same workflow with an observer of its runs.
    #[must_use]
    pub fn with_observer(self, observer: Arc<dyn Observer>) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// Begins the run of an event.
    pub fn begin(&self, event: Event, memory: Memory) -> Run {
        let span = spans::of_run(&event, false);
        let state = State::new(event, memory, self.clock.now());
        let (node, run_state) = (Node::LoadMemory, RunState::Fast);
        Run { state, node, run_state, steps: Vec::new(), number: 0, span }
    }

    /// Runs in memory until the run waits to be saved or leaves the fast path.
    pub(crate) async fn run_ahead(&self, run: &mut Run) {
        run.run_state = run.ahead_of_store(self);
        while run.run_state == RunState::Fast {
            self.step(run).await;
            run.run_state = run.ahead_of_store(self);
        }
    }

    /// Does the work of the next node and moves on to the node after it.
    pub(crate) async fn step(&self, run: &mut Run) {
        let span = run.node_span(run.node);
        self.work(run).instrument(span).await;
    }

    async fn work(&self, run: &mut Run) {
        let node = run.node;
        let started = std::time::Instant::now();
        self.reached(run, node, Phase::Entered);
        let detail = match node {
            Node::LoadMemory => trace::recalled(&run.state),
            Node::Reasoning => self.reasoning(&mut run.state).await,
            Node::ToolExecutor => self.tool_executor(&mut run.state).await,
            Node::ParseDiagnosis => self.parse_diagnosis(&mut run.state),
            Node::GenerateReport => self.document(DocumentKind::Report, &mut run.state).await,
            Node::GenerateWorkOrder => self.document(DocumentKind::WorkOrder, &mut run.state).await,
            // the caller saves, in its own transaction
            Node::SaveMemory => return,
        };
        self.reached(run, node, Phase::Done);
        run.move_on(self.clock.now(), detail);
        log::node_done(run.state.event_payload.event_id, node, run.node, started.elapsed());
    }

    /// Tells the observer.
    pub(crate) fn reached(&self, run: &Run, node: Node, phase: Phase) {
        if let Some(observer) = &self.observer {
            observer.reached(run.state.event_payload.event_id, node, phase);
        }
    }

    async fn reasoning(&self, state: &mut State) -> Value {
        let turn = match self.reasoner.reason(state, self.caller.is_some()).await {
            Ok(turn) => turn,
            Err(error) => {
                log::reasoner_failed(state.event_payload.event_id, &error);
                let thought = error.to_string();
                Turn { thought, want: Want::Conclude(Box::new(self.stand_in(state))) }
            }
        };
        state.rounds += 1;
        let round = state.rounds;
        state.messages.push(Message::Thought { round, text: turn.thought.clone() });
        match &turn.want {
            Want::Continue => state.next_action = NextAction::ContinueReasoning,
            Want::Call(questions) => {
                state.next_action = NextAction::CallTool;
                let wanted = u32::try_from(questions.len()).unwrap_or(u32::MAX);
                state.tool_calls_count = state.tool_calls_count.saturating_add(wanted);
                state.pending.clone_from(questions);
                state.messages.extend(questions.iter().map(|question| Message::Action {
                    round,
                    tool: question.tool.clone(),
                    arguments: question.arguments.clone(),
                }));
            }
            Want::Conclude(judgement) => {
                let normal = judgement.diagnosis.risk_level == RiskLevel::Normal;
                state.next_action =
                    if normal { NextAction::End } else { NextAction::GenerateReport };
                state.diagnosis_result = Some(judgement.clone());
            }
        }
        trace::reasoned(state, &turn)
    }

    /// The expert's judgement in place of a reasoner that failed, with the failure among its causes
    /// of uncertainty.
    fn stand_in(&self, state: &State) -> Judgement {
        let mut judgement = self.expert.judgement(state);
        judgement.diagnosis.uncertainty.causes.push(Text::new(
            "추론기가 판정을 내지 못하여 규칙 기반 판정으로 대신함",
            "The reasoner gave no judgement: this one is by rules",
        ));
        judgement
    }

    async fn tool_executor(&self, state: &mut State) -> Value {
        let first = state.inquiry.answered.len();
        match &self.caller {
            Some(caller) => caller.execute(state).await,
            None => tools::without_tools(state),
        }
        trace::executed(state, first)
    }

    fn parse_diagnosis(&self, state: &mut State) -> Value {
        let mut note = None;
        let own = state.diagnosis_result.take().filter(|judgement| has_five_thoughts(judgement));
        let mut judgement = own.unwrap_or_else(|| {
            note = Some("no judgement of the contract's form: the expert's stands");
            Box::new(self.stand_in(state))
        });
        judgement = self.with_held_answer(state, judgement);
        let grounds = Grounds {
            event: &state.event_payload,
            memory: &state.memory_context,
            inquiry: &state.inquiry,
        };
        let withheld = grounding::withhold(&mut judgement.diagnosis, &grounds, self.expert.rules());
        figures_withheld(&withheld, state.event_payload.event_id);
        let normal = judgement.diagnosis.risk_level == RiskLevel::Normal;
        state.next_action = if normal { NextAction::End } else { NextAction::GenerateReport };
        state.diagnosis_result = Some(judgement);
        trace::parsed(state, &withheld, note)
    }

    async fn document(&self, kind: DocumentKind, state: &mut State) -> Value {
        if state.risk() < RiskLevel::Warning {
            return trace::not_written("Normal and Watch have a short status: the judgement");
        }
        let Some(documents) = self.documents.as_ref() else {
            return trace::not_written("this program writes no documents");
        };
        if !documents::are_due(state) {
            return trace::not_written("nothing new: the documents there are stand");
        }
        match documents.write(kind, state).await {
            Ok(outcome) => {
                let detail = trace::written(&outcome, state);
                state.documents.extend(outcome.written);
                detail
            }
            Err(error) => {
                log::document_failed(state.event_payload.event_id, &error);
                trace::not_written(&error.to_string())
            }
        }
    }
}

/// Whether a judgement has the five thoughts of the contract in their order.
fn has_five_thoughts(judgement: &Judgement) -> bool {
    use ThoughtTitle::{Degradation, InitialScreening, OverallRisk, PfStage, Rul};
    let titles = judgement.diagnosis.thoughts.iter().map(|thought| thought.title);
    titles.eq([InitialScreening, PfStage, Degradation, Rul, OverallRisk])
}

#[cfg(test)]
mod tests;
