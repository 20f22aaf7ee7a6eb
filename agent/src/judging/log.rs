//! The log events of judging, each as one function that logs and counts.

use pdm_service::error_chain::error_chain;
use pdm_shared::diagnosis::{Diagnosis, OpinionStance, SecondOpinion};
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_store::{BearingJudged, StoreError};

use super::JudgingError;
use crate::workflow::{Node, WorkflowError};

/// A batch could not be judged or saved; it is tried again.
pub(super) fn failed(error: &JudgingError) {
    metrics::counter!("pdm_agent_judging_errors_total").increment(1);
    tracing::error!(error = %error_chain(error), "cannot judge, trying again");
}

/// The judgements of one bearing could not be saved; those of the others were.
pub(super) fn bearing_not_saved(bearings: &[BearingJudged], error: &StoreError) {
    metrics::counter!("pdm_agent_judging_errors_total").increment(1);
    for bearing in bearings {
        tracing::error!(bearing = %bearing.key, %error, "cannot save judgements, trying again");
    }
}

/// The store refuses what a bearing's judgement holds, or cannot give it; the others go on.
pub(super) fn bearing_put_off(key: &BearingKey, error: &StoreError) {
    metrics::counter!("pdm_agent_bearings_put_off_total").increment(1);
    tracing::error!(bearing = %key, %error, "judgements of this bearing cannot be written, it \
        rests for a minute and the others go on");
}

/// The store does not say what was told lately: an alarm is told although its cause may have been
/// told.
pub(super) fn neighbours_unknown(error: &StoreError) {
    tracing::warn!(%error, "cannot look for other alarms of the same cause");
}

/// A run continues at the node where an earlier process stopped.
pub(super) fn run_resumed(event_id: EventId, node: Node) {
    metrics::counter!("pdm_agent_runs_resumed_total").increment(1);
    tracing::info!(%event_id, node = node.as_str(), "run continues where an earlier process \
        stopped");
}

/// The checkpoint of a run cannot be used.
pub(super) fn run_begun_again(event_id: EventId, error: &WorkflowError) {
    tracing::warn!(%error, %event_id, "run begins again");
}

/// Documents of judgements that staff was told of could not be finished; they are tried again.
pub(super) fn documents_failed(error: &JudgingError) {
    metrics::counter!("pdm_agent_judging_errors_total").increment(1);
    tracing::error!(error = %error_chain(error), "cannot finish documents, trying again");
}

/// Staff is told that documents are missing.
pub(super) fn missing_documents_told() {
    metrics::counter!("pdm_agent_notifications_total").increment(1);
}

/// The documents of a judgement are not written.
pub(super) fn documents_given_up(event_id: EventId, error: &WorkflowError) {
    tracing::warn!(%error, %event_id, "documents are not written; `pdm-agent report` writes them");
}

/// An event lies ahead of the clock: it is judged and marked, and moves no memory.
pub(super) fn event_ahead(key: &BearingKey, measured_at: Timestamp) {
    metrics::counter!("pdm_agent_events_ahead_total").increment(1);
    tracing::debug!(bearing = %key, %measured_at, "event is ahead of the clock, its memory is not \
        moved");
}

/// Judgements were saved, with the notifications and calls of tools that belong to them.
pub(super) fn saved(judgements: u64, notifications: usize, tool_uses: usize) {
    metrics::counter!("pdm_agent_events_judged_total").increment(judgements);
    metrics::counter!("pdm_agent_notifications_total").increment(notifications as u64);
    metrics::counter!("pdm_agent_judgement_tool_uses_total").increment(tool_uses as u64);
}

/// A judgement was made: whether research was due and made, and what the tools cost.
pub(super) fn judged(diagnosis: &Diagnosis) {
    metrics::histogram!("pdm_agent_tool_calls_per_judgement").record(diagnosis.tools.len() as f64);
    if pdm_expert::research::is_due(diagnosis) {
        metrics::counter!("pdm_agent_research_due_total").increment(1);
    }
    let Some(research) = &diagnosis.research else { return };
    metrics::counter!("pdm_agent_researched_total").increment(1);
    metrics::counter!("pdm_agent_research_questions_total")
        .increment(u64::from(research.questions));
    if !research.changes.is_empty() {
        metrics::counter!("pdm_agent_research_changed_total").increment(1);
    }
}

/// Records that a bearing became Critical, this many hours after it was first Watch.
pub(super) fn lead_time(hours: f64) {
    metrics::histogram!("pdm_agent_lead_time_hours").record(hours);
}

/// A judgement is held for the language model.
pub(super) fn log_held(event_id: EventId, judged: RiskLevel) {
    metrics::counter!("pdm_agent_judgements_held_total").increment(1);
    tracing::info!(%event_id, risk = judged.as_str(), "judgement waits for the language model");
}

/// A judgement that was held goes on.
pub(super) fn hold_ended(event_id: EventId, answer: Option<&SecondOpinion>) {
    let stance = answer.and_then(|answer| answer.stance).map_or("none", OpinionStance::as_str);
    metrics::counter!("pdm_agent_judgements_heard_total", "stance" => stance).increment(1);
    tracing::info!(%event_id, stance, "judgement goes on");
}

/// Judgements were held long enough: those by rules stand.
pub(super) fn holds_over(count: u64) {
    metrics::counter!("pdm_agent_judgement_waits_over_total").increment(count);
    tracing::warn!(count, "judgements go on without an answer of the language model");
}

/// A window that is told at once waits after a held judgement: that one is held no longer.
pub(super) fn hold_cut_short(held: EventId, behind: EventId) {
    metrics::counter!("pdm_agent_judgement_waits_over_total").increment(1);
    tracing::warn!(%held, %behind, "a window behind it is told at once: the judgement goes on \
        without the model");
}
