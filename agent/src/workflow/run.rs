//! The run of one event: its next node, its state, and the steps that are not stored yet.

use pdm_shared::time::Timestamp;
use pdm_shared::trace::TraceStep;
use pdm_store::Checkpoint;
use serde_json::Value;
use tracing::Span;

use super::node::{Node, UnknownNode};
use super::state::{STATE_SCHEMA, State};
use super::{Workflow, WorkflowError, documents, spans};

/// The run of one event.
#[derive(Debug, Clone)]
pub struct Run {
    /// The state.
    pub state: State,
    /// The node that comes next.
    pub node: Node,
    /// Steps that are not stored yet.
    pub steps: Vec<TraceStep>,
    pub(super) number: u32,
    /// The span for collectors of traces; it ends with the run.
    pub(super) span: Span,
}

impl Run {
    /// Whether the next node has an effect outside, so that the run has to be checkpointed before
    /// it.
    pub(super) fn leaves_the_fast_path(&self, workflow: &Workflow) -> bool {
        match self.node {
            Node::ToolExecutor => workflow.caller.is_some(),
            Node::GenerateReport | Node::GenerateWorkOrder => {
                workflow.documents.is_some() && documents::are_due(&self.state)
            }
            Node::ParseDiagnosis => self.waits_for_model(workflow),
            Node::LoadMemory | Node::Reasoning | Node::SaveMemory => false,
        }
    }

    /// Whether everything that staff is told of is decided and documents are left to be written or
    /// to be named: the judgement is saved and told first.
    pub(crate) fn owes_documents(&self, workflow: &Workflow) -> bool {
        let is_decided =
            matches!(self.node, Node::GenerateReport | Node::GenerateWorkOrder | Node::SaveMemory);
        is_decided && (self.leaves_the_fast_path(workflow) || !self.state.documents.is_empty())
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
    pub fn resumed(checkpoint: &Checkpoint, noted: u32) -> Result<Self, WorkflowError> {
        let bad = |reason: String| WorkflowError::Checkpoint(reason);
        let state: State =
            serde_json::from_str(&checkpoint.state).map_err(|error| bad(error.to_string()))?;
        if state.schema != STATE_SCHEMA {
            return Err(bad(format!("its form is {:?}, expected {STATE_SCHEMA:?}", state.schema)));
        }
        let node = checkpoint.node.parse().map_err(|error: UnknownNode| bad(error.to_string()))?;
        let span = spans::of_run(&state.event_payload, true);
        Ok(Self { state, node, steps: Vec::new(), number: noted, span })
    }

    /// The span of a node. Before the last node the run's own span gets its result.
    pub(crate) fn node_span(&self, node: Node) -> Span {
        if node == Node::SaveMemory {
            spans::conclude(&self.span, &self.state);
        }
        spans::of_node(&self.span, node)
    }

    /// Notes a step.
    pub(crate) fn note(&mut self, node: Node, at: Timestamp, detail: Value) {
        self.number += 1;
        let node = node.as_str().to_owned();
        self.steps.push(TraceStep { number: self.number, node, at, detail });
    }
}
