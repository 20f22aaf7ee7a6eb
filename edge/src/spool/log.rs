//! Log lines and metrics of the spool.
//!
//! One function an occurrence, which logs *and* counts, so that a log line and its metric cannot
//! drift apart. Metric names (`pdm_edge_…`) and log fields are part of the interface.

use std::path::Path;

use metrics::{counter, gauge};

use super::{Covered, SpoolError, Tally};

/// The contents of the spool changed.
pub(super) fn level(tally: &Tally) {
    gauge!("pdm_edge_spool_waiting_events").set(tally.waiting as f64);
    gauge!("pdm_edge_spool_acknowledged_events").set(tally.acknowledged as f64);
    gauge!("pdm_edge_spool_parked_events").set(tally.parked as f64);
    gauge!("pdm_edge_spool_bytes").set(tally.bytes as f64);
    gauge!("pdm_edge_spool_dropped_events").set(tally.dropped as f64);
    gauge!("pdm_edge_spool_unconfirmed_events").set(tally.unconfirmed as f64);
    gauge!("pdm_edge_last_sequence").set(tally.last_sequence as f64);
    gauge!("pdm_edge_stored_through").set(tally.stored_through as f64);
}

/// The spool is at a cap, and events were deleted or refused.
pub(super) fn cap_reached(cap: &'static str, unconfirmed: u64, dropped: u64) {
    counter!("pdm_edge_spool_losses_total", "cap" => cap, "kind" => "dropped").increment(dropped);
    counter!("pdm_edge_spool_losses_total", "cap" => cap, "kind" => "unconfirmed")
        .increment(unconfirmed);
    if dropped > 0 {
        tracing::error!(cap, dropped, unconfirmed, "spool is at its cap, events are lost");
    } else {
        tracing::warn!(cap, unconfirmed, "spool is at its cap, acknowledged events let go");
    }
}

/// The spool was damaged, and a new file was made from the readable rows.
pub(super) fn salvaged(why: &SpoolError, aside: &Path, events: usize, next: u64) {
    counter!("pdm_edge_spool_repairs_total").increment(1);
    tracing::error!(
        reason = %why, aside = %aside.display(), events, next_sequence = next,
        "damaged spool set aside, going on with what could be read"
    );
}

/// A receipt names another gateway or has a schema of another version.
pub(super) fn receipt_refused(schema: &str, gateway: &str) {
    counter!("pdm_edge_receipts_total", "outcome" => "refused").increment(1);
    tracing::warn!(schema, gateway, "receipt refused");
}

/// A receipt was applied.
pub(super) fn receipt_applied(covered: &Covered, stored_through: u64) {
    counter!("pdm_edge_receipts_total", "outcome" => "applied").increment(1);
    counter!("pdm_edge_received_events_total").increment(covered.deleted);
    counter!("pdm_edge_called_back_events_total").increment(covered.called_back);
    if covered.called_back > 0 || covered.gone > 0 {
        tracing::warn!(
            stored_through,
            called_back = covered.called_back,
            gone = covered.gone,
            "receipt asks for events again"
        );
    } else {
        tracing::debug!(stored_through, deleted = covered.deleted, "receipt applied");
    }
}

/// A receipt cannot be true, and nothing was done.
pub(super) fn receipt_implausible(outcome: &'static str, why: &impl std::fmt::Display) {
    counter!("pdm_edge_receipts_total", "outcome" => outcome).increment(1);
    tracing::debug!(%why, "receipt refused");
}

/// A receipt belongs to a count of sequence numbers that this spool does not have.
pub(super) fn receipt_of_another_count() {
    counter!("pdm_edge_receipts_total", "outcome" => "another_count").increment(1);
    tracing::debug!("receipt of another count of sequence numbers, the status is published again");
}

/// A receipt says less than the one before. It deletes nothing.
pub(super) fn receipt_fell(from: u64, to: u64) {
    counter!("pdm_edge_receipts_total", "outcome" => "fell").increment(1);
    tracing::error!(
        from,
        to,
        "receipt says less than before: the agent has lost events or its receipts are false; \
         nothing is deleted"
    );
}

/// The count of sequence numbers could not be true and was repaired.
pub(super) fn count_healed(next: f64, stored_through: f64, now: u64) {
    counter!("pdm_edge_spool_repairs_total").increment(1);
    tracing::error!(
        next,
        stored_through,
        next_sequence = now,
        "the spool's count of sequence numbers was moved by a false receipt; it goes on after the \
         last event that was committed"
    );
}

/// The file had no name any more, and was written anew under its name.
pub(super) fn written_anew(path: &std::path::Path, waiting: u64) {
    counter!("pdm_edge_spool_repairs_total").increment(1);
    tracing::error!(
        path = %path.display(),
        waiting,
        "the spool's file was moved or removed while it was open; it is written anew, nothing is \
         lost"
    );
}

/// A row cannot be read, and is parked.
pub(super) fn row_not_readable(sequence: u64) {
    counter!("pdm_edge_unreadable_rows_total").increment(1);
    tracing::error!(sequence, "a spooled event cannot be read, it is set aside");
}

/// An operation on the spool failed. The caller repeats the operation.
pub(crate) fn failed(error: &SpoolError) {
    counter!("pdm_edge_spool_failures_total").increment(1);
    let cause = std::error::Error::source(error).map(ToString::to_string);
    tracing::error!(%error, cause, "spool failed, holding and trying again");
}
