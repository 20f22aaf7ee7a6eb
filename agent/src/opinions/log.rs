//! The log events and metrics of the lane of second opinions.

use pdm_reasoner::opinion::OpinionFailure;
use pdm_shared::diagnosis::{OpinionStance, SecondOpinion};
use pdm_shared::id::EventId;
use pdm_store::StoreError;

pub(super) fn store_failed(error: &StoreError) {
    tracing::warn!(%error, "second opinions: the store does not answer, trying again");
}

pub(super) fn lost(event_id: EventId) {
    tracing::warn!(%event_id, "a second opinion is another agent's by now, or its judgement is \
        gone");
}

pub(super) fn resumed(event_id: EventId, messages: usize) {
    tracing::info!(%event_id, messages, "a second opinion goes on where it was");
}

pub(super) fn no_opinion(event_id: EventId, failure: &OpinionFailure) {
    tracing::warn!(%event_id, %failure, "the language model gave no opinion");
}

pub(super) fn ended(event_id: EventId, opinion: &SecondOpinion, after_s: f64) {
    let stance = opinion.stance.map_or("failed", OpinionStance::as_str);
    metrics::counter!("pdm_agent_opinions_total", "stance" => stance).increment(1);
    metrics::histogram!("pdm_agent_opinion_seconds", "stance" => stance).record(after_s.max(0.0));
    tracing::info!(
        %event_id, stance, calls = opinion.calls,
        tokens = opinion.prompt_tokens + opinion.completion_tokens, "second opinion"
    );
}
