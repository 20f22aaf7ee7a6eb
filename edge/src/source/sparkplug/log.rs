//! Log lines, metrics and remarks of a Sparkplug source: one function an occurrence.

use metrics::counter;

use crate::source::SourceHost;

/// Messages of the node are missing by its count.
pub(super) fn messages_missing(host: &SourceHost, missing: u64, maybe_reborn: bool) {
    let name = host.name.clone();
    counter!("pdm_edge_sparkplug_lost_messages_total", "source" => name.clone()).increment(missing);
    counter!("pdm_edge_stream_gaps_total", "source" => name, "cause" => "missing").increment(1);
    tracing::warn!(
        source = host.name,
        missing,
        maybe_reborn,
        "messages of the Sparkplug node are missing; nothing is measured across the gap"
    );
}

/// Values are missing between the single values of two messages.
pub(super) fn values_missing(host: &SourceHost) {
    counter!("pdm_edge_stream_gaps_total", "source" => host.name.clone(), "cause" => "missing")
        .increment(1);
    tracing::warn!(
        source = host.name,
        "the time stamps of single values do not go on at rate_hz: values are missing, as when a \
         node reports by exception; nothing is measured across the gap"
    );
}

/// The node leaves the number of its messages out.
pub(super) fn not_counted(host: &SourceHost) {
    tracing::warn!(
        source = host.name,
        "the Sparkplug node sends no seq: messages that are lost cannot be noticed"
    );
}

/// The node is asked for its births.
pub(super) fn rebirth_requested(host: &SourceHost, topic: &str) {
    counter!("pdm_edge_sparkplug_rebirths_requested_total", "source" => host.name.clone())
        .increment(1);
    tracing::info!(source = host.name, topic, "the Sparkplug node is asked for its births");
}

/// The node or the device has said that it has gone.
pub(super) fn gone(host: &SourceHost, why: &str) {
    counter!("pdm_edge_sparkplug_deaths_total", "source" => host.name.clone()).increment(1);
    host.remarks.set(&host.name, "death", why.to_owned());
}

/// The death of an earlier session came after the birth of this one.
pub(super) fn earlier_death(host: &SourceHost) {
    tracing::info!(source = host.name, "a death of an earlier session (bdSeq) is passed over");
}

/// A birth was read.
pub(super) fn born(host: &SourceHost) {
    host.remarks.withdraw(&host.name, "death");
    tracing::info!(source = host.name, "the birth of the Sparkplug metrics has come");
}
