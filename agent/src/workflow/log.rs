//! The log events of a run, each as one function that logs and counts.

use std::time::Duration;

use pdm_shared::id::EventId;

use super::documents::DocumentError;
use super::{Node, WorkflowError};

/// A node was done; `next` follows.
pub(super) fn node_done(event_id: EventId, node: Node, next: Node, took: Duration) {
    metrics::histogram!("pdm_agent_node_seconds", "node" => node.as_str())
        .record(took.as_secs_f64());
    tracing::debug!(%event_id, node = node.as_str(), next = next.as_str(), ?took, "node done");
}

/// The reasoner failed; the expert's judgement is used.
pub(super) fn reasoner_failed(event_id: EventId, error: &WorkflowError) {
    metrics::counter!("pdm_agent_reasoner_failures_total").increment(1);
    tracing::error!(%error, %event_id, "the reasoner failed, the expert's judgement is used");
}

/// A document could not be written; the judgement goes on without it.
pub(super) fn document_failed(event_id: EventId, error: &DocumentError) {
    metrics::counter!("pdm_agent_document_failures_total").increment(1);
    tracing::error!(%error, %event_id, "a document is missing");
}

/// A tool did not answer and is not called for a while.
pub(super) fn tool_away(tool: &str) {
    metrics::counter!("pdm_agent_tools_away_total", "tool" => tool.to_owned()).increment(1);
}

/// Figures that stand in none of their sources were withheld.
pub(crate) fn figures_withheld(withheld: &[String], event_id: EventId) {
    if withheld.is_empty() {
        return;
    }
    metrics::counter!("pdm_agent_ungrounded_figures_total").increment(withheld.len() as u64);
    tracing::error!(figures = ?withheld, %event_id, "figures without a source were withheld");
}
