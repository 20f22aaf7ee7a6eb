//! The run of one event: its next node, its state, and where it stands between memory and store.
//!
//! ```text
//! event ──────► Fast ──► Batched ──────────────────────────────► END, saved with the batch
//!                │ the next node acts outside, or the judgement is to be held
//!                ├────► Leaving ── first checkpoint ──► Acting ─┐
//!                └────► Holding                                 │ a checkpoint after every node
//!                                                               │
//! checkpoint ──► Acting, Holding, Returned, Unwritten, Decided  │
//!                                                               │
//! Acting ──┬───────────────────────────────────────────► Acting ◄┘
//!          ├─► Holding ──┬─► Held ─► END, the bearing waits; its checkpoint comes back as Returned
//!          │             └─► Acting, if the store holds too many
//!          ├─► Unwritten ─► END, saved with a checkpoint; the documents follow beside the judging
//!          └─► Decided ───► END, saved at once
//! Returned ─► Acting, with the answer or the reason why there is none
//! ```
//!
//! [`Run::after_node`] and [`Run::ahead_of_store`] hold the edges; the judging task does what a
//! state asks for and saves. Invariant: an effect outside comes after the first checkpoint, so a
//! killed process continues the run and does not begin it again.

use pdm_shared::time::Timestamp;
use pdm_shared::trace::TraceStep;
use pdm_store::Checkpoint;
use serde_json::Value;
use tracing::Span;

use super::node::{self, Node, UnknownNode};
use super::state::{STATE_SCHEMA, State};
use super::{Workflow, WorkflowError, documents, spans};

/// Where a run stands between memory and store. The head of this module draws the edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// The run is in memory alone and has had no effect outside.
    Fast,
    /// The run ended on the fast path: its judgement is saved with the batch.
    Batched,
    /// The next node acts outside, and the store has no checkpoint yet.
    Leaving,
    /// The run acts outside, with a checkpoint after every node.
    Acting,
    /// The judgement is to be held for a language model.
    Holding,
    /// The judgement is held: the store has the run, and the bearing waits.
    Held,
    /// The judgement was held and goes on: its answer is in the store.
    Returned,
    /// The judgement is made and documents are left: it is saved with a checkpoint of the rest.
    Unwritten,
    /// The judgement is made after the run has acted: it is saved at once.
    Decided,
}

impl RunState {
    /// Whether the store has to hold the earlier judgements of the bearing before the run goes on.
    pub(crate) const fn is_off_the_fast_path(self) -> bool {
        !matches!(self, Self::Fast | Self::Batched)
    }
}

/// The run of one event.
#[derive(Debug, Clone)]
pub struct Run {
    /// The state.
    pub state: State,
    /// The node that comes next.
    pub node: Node,
    /// Where the run stands between memory and store.
    pub run_state: RunState,
    /// Steps that are not stored yet.
    pub steps: Vec<TraceStep>,
    pub(super) number: u32,
    /// The span for collectors of traces; it ends with the run.
    pub(super) span: Span,
}

impl Run {
    /// Returns where a run stands that has had no effect outside.
    pub(super) fn ahead_of_store(&self, workflow: &Workflow) -> RunState {
        if self.is_to_be_held(workflow) {
            RunState::Holding
        } else if self.acts_next(workflow) {
            RunState::Leaving
        } else if self.node == Node::SaveMemory {
            RunState::Batched
        } else {
            RunState::Fast
        }
    }

    /// Returns where a run stands whose checkpoint is in the store.
    pub(crate) fn after_node(&self, workflow: &Workflow) -> RunState {
        if self.has_returned() {
            RunState::Returned
        } else if self.is_to_be_held(workflow) {
            RunState::Holding
        } else if self.has_documents_left(workflow) {
            RunState::Unwritten
        } else if self.node == Node::SaveMemory {
            RunState::Decided
        } else {
            RunState::Acting
        }
    }

    /// Whether the next node has an effect outside, so that the run has to be checkpointed before
    /// it.
    fn acts_next(&self, workflow: &Workflow) -> bool {
        match self.node {
            Node::ToolExecutor => workflow.caller.is_some(),
            Node::GenerateReport | Node::GenerateWorkOrder => {
                workflow.documents.is_some() && documents::are_due(&self.state)
            }
            Node::LoadMemory | Node::Reasoning | Node::ParseDiagnosis | Node::SaveMemory => false,
        }
    }

    /// Whether everything that staff is told of is decided and documents are left to be written or
    /// to be named: the judgement is saved and told first.
    fn has_documents_left(&self, workflow: &Workflow) -> bool {
        let is_decided =
            matches!(self.node, Node::GenerateReport | Node::GenerateWorkOrder | Node::SaveMemory);
        is_decided && (self.acts_next(workflow) || !self.state.documents.is_empty())
    }

    /// The run as the store keeps it.
    pub(crate) fn checkpoint(&self, at: Timestamp) -> Result<Checkpoint, WorkflowError> {
        let state = serde_json::to_string(&self.state)
            .map_err(|error| WorkflowError::Checkpoint(error.to_string()))?;
        Ok(Checkpoint { node: self.node.as_str().to_owned(), state, at })
    }

    /// The run of a checkpoint, of which `noted` steps are stored.
    ///
    /// # Errors
    /// [`WorkflowError::Checkpoint`] if another version wrote it.
    pub fn resumed(
        checkpoint: &Checkpoint,
        noted: u32,
        workflow: &Workflow,
    ) -> Result<Self, WorkflowError> {
        let bad = |reason: String| WorkflowError::Checkpoint(reason);
        let state: State =
            serde_json::from_str(&checkpoint.state).map_err(|error| bad(error.to_string()))?;
        if state.schema != STATE_SCHEMA {
            return Err(bad(format!("its form is {:?}, expected {STATE_SCHEMA:?}", state.schema)));
        }
        let node = checkpoint.node.parse().map_err(|error: UnknownNode| bad(error.to_string()))?;
        let span = spans::of_run(&state.event_payload, true);
        let run_state = RunState::Acting;
        let run = Self { state, node, run_state, steps: Vec::new(), number: noted, span };
        Ok(Self { run_state: run.after_node(workflow), ..run })
    }

    /// The span of a node. Before the last node the run's own span gets its result.
    pub(crate) fn node_span(&self, node: Node) -> Span {
        if node == Node::SaveMemory {
            spans::conclude(&self.span, &self.state);
        }
        spans::of_node(&self.span, node)
    }

    /// Notes the node that is done and moves on to the node after it.
    pub(super) fn move_on(&mut self, at: Timestamp, detail: Value) {
        self.note(self.node, at, detail);
        if let Some(after) = node::next(self.node, &self.state) {
            self.node = after;
        }
    }

    /// Notes a step.
    pub(crate) fn note(&mut self, node: Node, at: Timestamp, detail: Value) {
        self.number += 1;
        let node = node.as_str().to_owned();
        self.steps.push(TraceStep { number: self.number, node, at, detail });
    }
}
