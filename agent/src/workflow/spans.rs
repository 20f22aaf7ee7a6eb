//! Spans of a run for collectors of traces (R-AGENT-12): one for the run, below it one for each
//! node, below `tool_executor` one for each call.
//!
//! Names and attributes are those of OpenTelemetry's semantic conventions for generative AI
//! (`invoke_agent`, `execute_tool`); attributes of our own begin with `pdm.`. Without a collector
//! no span is made. A span holds identities, names and results, never measured values or quoted
//! texts.

pub use pdm_reasoner::spans::TARGET;
pub(super) use pdm_reasoner::spans::{fail, of_call};
use pdm_shared::event::Event;
use tracing::Span;
use tracing::field::Empty;

use super::node::Node;
use super::state::State;

/// The span of a run.
pub(super) fn of_run(event: &Event, is_resumed: bool) -> Span {
    tracing::debug_span!(
        target: TARGET,
        parent: None,
        "invoke_agent",
        otel.name = "invoke_agent pdm-agent",
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = "pdm-agent",
        pdm.event_id = %event.event_id,
        pdm.site = %event.site,
        pdm.equipment_id = %event.equipment_id,
        pdm.bearing_id = %event.bearing_id,
        pdm.resumed = is_resumed,
        pdm.risk_level = Empty,
        pdm.tool_calls = Empty,
    )
}

/// The span of a node of a run.
pub(super) fn of_node(run: &Span, node: Node) -> Span {
    let name = node.as_str();
    tracing::debug_span!(target: TARGET, parent: run, "node", otel.name = name, pdm.node = name)
}

/// Notes the result of a run in its span.
pub(super) fn conclude(run: &Span, state: &State) {
    run.record("pdm.risk_level", tracing::field::display(state.risk()));
    run.record("pdm.tool_calls", state.tool_calls_count);
}
