//! Spans of OpenTelemetry's semantic conventions for generative AI, for collectors of traces:
//! `invoke_agent` for an opinion or an answer, below it `chat` for each question to the model and
//! `execute_tool` for each call.
//!
//! A span holds identities, names and counts, never measured values or texts. Without a collector
//! no span is made.

use tracing::Span;
use tracing::field::Empty;

use crate::budget::Spent;
use crate::wire::ChatRequest;

/// The target of spans: a filter by this name passes them and no log line.
pub const TARGET: &str = "pdm_agent::spans";

/// The span of an opinion or of an answer of the chat, by the agent's name; `about` is the event or
/// bearing.
pub fn of_agent(agent: &str, model: Option<&str>, about: &str) -> Span {
    tracing::debug_span!(
        target: TARGET,
        parent: None,
        "invoke_agent",
        otel.name = format!("invoke_agent {agent}"),
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = agent,
        gen_ai.provider.name = model.map(|_| "openai"),
        gen_ai.request.model = model,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        pdm.about = about,
        pdm.cost_usd = Empty,
        pdm.outcome = Empty,
        error.r#type = Empty,
        otel.status_code = Empty,
    )
}

/// Notes in the span of an opinion or answer what it has spent and how it ended.
pub fn conclude(agent: &Span, spent: &Spent, outcome: &str, has_failed: bool) {
    agent.record("gen_ai.usage.input_tokens", spent.prompt_tokens);
    agent.record("gen_ai.usage.output_tokens", spent.completion_tokens);
    agent.record("pdm.cost_usd", spent.usd);
    agent.record("pdm.outcome", outcome);
    if has_failed {
        agent.record("error.type", outcome);
        agent.record("otel.status_code", "ERROR");
    }
}

/// The span of a question to the model.
pub(crate) fn of_chat(model: &str, request: &ChatRequest) -> Span {
    tracing::debug_span!(
        target: TARGET,
        "chat",
        otel.name = format!("chat {model}"),
        otel.kind = "client",
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = "openai",
        gen_ai.request.model = model,
        gen_ai.request.max_tokens = request.max_tokens,
        gen_ai.request.temperature = request.temperature,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.response.finish_reasons = Empty,
        error.r#type = Empty,
        otel.status_code = Empty,
    )
}

/// The span of a tool's call, below what makes it.
pub fn of_call(tool: &str, id: &str) -> Span {
    tracing::debug_span!(
        target: TARGET,
        "execute_tool",
        otel.name = format!("execute_tool {tool}"),
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = tool,
        gen_ai.tool.r#type = "function",
        gen_ai.tool.call.id = id,
        error.r#type = Empty,
        otel.status_code = Empty,
        otel.status_message = Empty,
    )
}

/// Notes in its span that a call failed, with the kind of failure and the reason.
pub fn fail(call: &Span, kind: &str, reason: &str) {
    call.record("error.type", kind);
    call.record("otel.status_code", "ERROR");
    call.record("otel.status_message", reason);
}
