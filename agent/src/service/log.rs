//! Log lines of the start and the stop.

use pdm_knowledge::KnowledgeError;
use pdm_store::{MissingRows, StoreError};

use super::StartError;
use crate::vitals::{Ailment, Blindness};
use pdm_tools::Problem;

/// A task did not end within the grace period and is aborted.
pub(super) fn task_still_busy(part: &'static str) {
    tracing::warn!(part, "still busy at the end of the grace period, aborted");
}

/// Nothing is served over HTTP from now on: the threads of the server did not start, or ended.
pub(super) fn http_ended(error: &std::io::Error) {
    tracing::error!(%error, "the HTTP server ended: pages, health and tools are away until a \
        restart");
}

/// The agent does not watch the machines from now on.
pub(super) fn log_blindness(blindness: &Blindness) {
    metrics::counter!("pdm_agent_store_outages_total").increment(1);
    metrics::gauge!("pdm_agent_blind").set(1.0);
    tracing::error!("blind: {blindness}");
}

/// The agent watches the machines again.
pub(super) fn sighted(after: std::time::Duration) {
    metrics::gauge!("pdm_agent_blind").set(0.0);
    tracing::warn!(after_s = after.as_secs(), "rows are written and events are judged again");
}

/// The store lacks what the agent wrote last.
pub(super) fn rows_missing(missing: &MissingRows) {
    let MissingRows { place, written_at, found_at, .. } = missing;
    metrics::gauge!("pdm_agent_store_rows_missing").set(1.0);
    tracing::error!(
        place,
        %written_at,
        found_at = found_at.map(|at| at.to_string()),
        "the store lacks what the agent wrote last: it was removed, emptied or put back, or its \
         log (-wal) was removed"
    );
}

/// By how much the machine's clock and that of the database's server are apart; 0 where they agree.
pub(super) fn clock_apart(apart_s: Option<f64>) {
    metrics::gauge!("pdm_agent_clock_apart_seconds").set(apart_s.unwrap_or(0.0));
    if let Some(apart_s) = apart_s {
        tracing::warn!(
            apart_s,
            "the clocks of this machine and of the database's server are apart, due times go by \
             the server's"
        );
    }
}

/// A configuration that was read again is refused; whoever read it logs why.
pub(super) fn configuration_refused() {
    metrics::counter!("pdm_agent_configurations_refused_total").increment(1);
    metrics::gauge!("pdm_agent_configuration_refused").set(1.0);
}

/// The agent starts: what was said of the one before is over.
pub(super) fn starting() {
    metrics::gauge!("pdm_agent_configuration_refused").set(0.0);
    metrics::gauge!("pdm_agent_store_rows_missing").set(0.0);
}

/// The agent starts without its store or a secret, and waits.
pub(super) fn waits_for_start(ailment: Option<&Ailment>) {
    if let Some(ailment) = ailment {
        log_blindness(&ailment.blindness);
        tracing::error!("the start waits, and goes on as soon as this is mended");
    }
}

/// Staff could not be told of a damaged file that was set aside.
pub(super) fn file_not_told(error: &StoreError) {
    tracing::error!(%error, "staff is not told of the damaged file that was set aside");
}

/// A channel cannot be made while the start waits.
pub(super) fn channel_left_out(error: &StartError) {
    let error = pdm_service::error_chain::error_chain(error);
    tracing::warn!(error, "a way to staff cannot be used while the start waits");
}

/// The store was lost while the agent started; the start begins again.
pub(super) fn store_lost_at_start(error: &StartError) {
    tracing::error!(%error, "the store was lost during the start, which begins again");
}

/// A file of the tools' folder is no valid tool; the others are served.
pub(super) fn tool_refused(problem: &Problem) {
    tracing::error!(%problem, "Tool refused");
}

/// The tools' folder cannot be watched.
pub(super) fn tools_not_watched(error: &dyn std::fmt::Display) {
    tracing::warn!(%error, "tools are not reloaded while running");
}

/// The knowledge base holds its documents.
pub(super) fn knowledge_ready(filled: &dyn std::fmt::Debug) {
    tracing::info!(?filled, "the knowledge base is ready");
}

/// The knowledge base is away at the start; it is filled when it answers.
pub(super) fn knowledge_not_ready(error: &KnowledgeError) {
    tracing::warn!(%error, "the knowledge base is not ready yet");
}

/// The start does not wait longer for the knowledge base.
pub(super) fn knowledge_still_filling() {
    tracing::warn!("the knowledge base is still being filled");
}

/// A server of the knowledge base came back without its documents.
pub(super) fn knowledge_empty() {
    metrics::counter!("pdm_agent_knowledge_refills_total").increment(1);
    tracing::warn!("the knowledge base has no document, filling it again");
}

/// The knowledge base has no judgement: those of the store are sent again.
pub(super) fn judgements_sent_again(rows: u64) {
    tracing::warn!(rows, "the knowledge base has no judgement, sending those of the store again");
}

/// The store did not give its judgements; they are sent again later.
pub(super) fn judgements_not_sent_again(error: &StoreError) {
    tracing::warn!(%error, "cannot send judgements to the knowledge base again");
}

/// The knowledge base refuses its documents.
pub(super) fn knowledge_not_filled(error: &KnowledgeError) {
    tracing::error!(%error, "the knowledge base cannot be filled");
}

/// There is no place for the lock by which two agents on one file know of each other.
pub(super) fn no_lock(path: &std::path::Path, error: &std::io::Error) {
    tracing::warn!(path = %path.display(), %error, "cannot lock the store: another agent on the \
        same file would not be noticed");
}
