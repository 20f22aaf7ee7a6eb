//! What happens in service, each as one function that logs *and* counts, so that a log and its
//! metric cannot drift apart. Metric names are part of the interface (`pdm_edge_…`).

use std::path::Path;
use std::time::Duration;

use metrics::{counter, gauge};

use crate::publish::Down;
use crate::settings::BrokerAddress;
use crate::source::{SourceError, SourceFormat};
use crate::spool::{Covered, SpoolError, Tally};

/// What the spool holds changed.
pub(crate) fn spool_level(tally: &Tally) {
    gauge!("pdm_edge_spool_waiting_events").set(tally.waiting as f64);
    gauge!("pdm_edge_spool_acknowledged_events").set(tally.acknowledged as f64);
    gauge!("pdm_edge_spool_parked_events").set(tally.parked as f64);
    gauge!("pdm_edge_spool_bytes").set(tally.bytes as f64);
    gauge!("pdm_edge_spool_dropped_events").set(tally.dropped as f64);
    gauge!("pdm_edge_spool_unconfirmed_events").set(tally.unconfirmed as f64);
    gauge!("pdm_edge_last_sequence").set(tally.last_sequence as f64);
    gauge!("pdm_edge_stored_through").set(tally.stored_through as f64);
}

/// The spool is at a cap and lets events go.
pub(crate) fn spool_cap_reached(cap: &'static str, unconfirmed: u64, dropped: u64) {
    counter!("pdm_edge_spool_losses_total", "cap" => cap, "kind" => "dropped").increment(dropped);
    counter!("pdm_edge_spool_losses_total", "cap" => cap, "kind" => "unconfirmed")
        .increment(unconfirmed);
    if dropped > 0 {
        tracing::error!(cap, dropped, unconfirmed, "spool is at its cap, events are lost");
    } else {
        tracing::warn!(cap, unconfirmed, "spool is at its cap, acknowledged events let go");
    }
}

/// The spool was damaged and is made anew from what could be read.
pub(crate) fn spool_salvaged(why: &SpoolError, aside: &Path, events: usize, next: u64) {
    counter!("pdm_edge_spool_repairs_total").increment(1);
    tracing::error!(
        reason = %why, aside = %aside.display(), events, next_sequence = next,
        "damaged spool set aside, going on with what could be read"
    );
}

/// A receipt that is not for this gateway or not of a form we know.
pub(crate) fn receipt_refused(schema: &str, gateway: &str) {
    counter!("pdm_edge_receipts_total", "outcome" => "refused").increment(1);
    tracing::warn!(schema, gateway, "receipt refused");
}

/// A receipt was applied.
pub(crate) fn receipt_applied(covered: &Covered, stored_through: u64) {
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

/// The agent knows higher numbers than the spool.
pub(crate) fn sequence_raised(from: u64, to: u64) {
    tracing::error!(from, to, "receipt is ahead of the spool, sequence numbers go on above it");
}

/// The spool did not do what was asked; it is asked again.
pub(crate) fn spool_failed(error: &SpoolError) {
    counter!("pdm_edge_spool_failures_total").increment(1);
    let cause = std::error::Error::source(error).map(ToString::to_string);
    tracing::error!(%error, cause, "spool failed, holding and trying again");
}

/// The broker took the connection.
pub(crate) fn broker_connected(address: &BrokerAddress) {
    counter!("pdm_edge_broker_connections_total").increment(1);
    gauge!("pdm_edge_broker_connected").set(1.0);
    tracing::info!(%address, "connected to broker");
}

/// A connection went, or never came.
pub(crate) fn broker_lost(address: &BrokerAddress, down: &Down) {
    gauge!("pdm_edge_broker_connected").set(0.0);
    match down {
        Down::Lost(reason) => {
            counter!("pdm_edge_broker_losses_total", "kind" => "lost").increment(1);
            tracing::warn!(%address, reason, "no broker, events wait in the spool");
        }
        Down::Refused(reason) => {
            counter!("pdm_edge_broker_losses_total", "kind" => "refused").increment(1);
            tracing::error!(%address, reason, "broker refused, events wait in the spool");
        }
    }
}

/// Events left.
pub(crate) fn events_sent(count: u64) {
    counter!("pdm_edge_published_events_total").increment(count);
}

/// A row of the spool is not what was written: it is set aside.
pub(crate) fn row_not_readable(sequence: u64) {
    counter!("pdm_edge_unreadable_rows_total").increment(1);
    tracing::error!(sequence, "a spooled event cannot be read, it is set aside");
}

/// The broker took events.
pub(crate) fn events_acknowledged(count: u64) {
    counter!("pdm_edge_acknowledged_events_total").increment(count);
}

/// An event is larger than the broker takes.
pub(crate) fn event_too_large(sequence: u64, limit_bytes: usize, fits_without_spectra: bool) {
    counter!("pdm_edge_oversized_events_total").increment(1);
    if fits_without_spectra {
        tracing::warn!(sequence, limit_bytes, "event sent without its spectra, it was too large");
    } else {
        tracing::error!(sequence, limit_bytes, "event parked, it is larger than the broker takes");
    }
}

/// The broker said no to a publication.
pub(crate) fn publication_declined(reason: &str, wait: Duration) {
    counter!("pdm_edge_declined_publications_total").increment(1);
    tracing::error!(reason, ?wait, "broker declined a publication, trying again after a wait");
}

/// The broker does not let us read receipts.
pub(crate) fn receipts_not_subscribed(reason: &str) {
    counter!("pdm_edge_subscription_refusals_total").increment(1);
    tracing::error!(
        reason,
        "broker refuses the receipt topic, acknowledged events stay to the cap"
    );
}

/// A message on the receipt topic that is no receipt.
pub(crate) fn receipt_not_understood(topic: &str, error: &serde_json::Error) {
    counter!("pdm_edge_receipts_total", "outcome" => "not_understood").increment(1);
    tracing::warn!(topic, %error, "receipt not understood");
}

/// Receipts stand still; the end of the sequence is sent again.
pub(crate) fn tail_sent_again(sequence: u64, stored_through: u64) {
    counter!("pdm_edge_tail_repetitions_total").increment(1);
    tracing::debug!(sequence, stored_through, "receipts stand still, last event sent again");
}

/// A live source failed; it is opened again.
pub(crate) fn source_lost(name: &str, error: &SourceError) {
    counter!("pdm_edge_source_failures_total", "source" => name.to_owned()).increment(1);
    tracing::error!(source = name, %error, "source failed, opening it again");
}

/// A live source came back with another format.
pub(crate) fn source_changed(name: &str, format: &SourceFormat) {
    counter!("pdm_edge_source_failures_total", "source" => name.to_owned()).increment(1);
    tracing::error!(source = name, ?format, "source has another format now, a restart is needed");
}

/// Measuring cannot follow a live source.
pub(crate) fn blocks_missed(name: &str, count: u64) {
    counter!("pdm_edge_missed_blocks_total", "source" => name.to_owned()).increment(count);
    tracing::warn!(source = name, count, "blocks dropped, measuring cannot follow");
}

/// What the spool remembered cannot be understood.
pub(crate) fn memory_lost(error: &dyn std::error::Error) {
    counter!("pdm_edge_memories_lost_total").increment(1);
    tracing::error!(%error, "beginning anew where the spool's memory cannot be understood");
}

/// The edge stops while the disk takes nothing.
pub(crate) fn windows_abandoned(count: usize) {
    counter!("pdm_edge_abandoned_windows_total").increment(count as u64);
    tracing::error!(count, "stopping with windows that could not be written");
}
