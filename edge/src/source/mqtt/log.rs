//! Log lines and metrics of a topic: one function an occurrence, which logs *and* counts.

use metrics::counter;

use crate::source::sparkplug::Refusal;

/// A message is not of the configured form. Only the first of a row is logged.
pub(super) fn message_refused(source: &str, refusal: &Refusal, is_told: bool) {
    let Refusal { cause, why } = refusal;
    counter!("pdm_edge_messages_refused_total", "source" => source.to_owned(), "cause" => *cause)
        .increment(1);
    if !is_told {
        tracing::error!(source, why, "messages of the topic are refused");
    }
}
