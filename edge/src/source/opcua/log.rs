//! Log lines, metrics and remarks of an OPC UA source: one function an occurrence.

use metrics::counter;

use crate::source::SourceHost;

/// The matter of remarks on values and arrays.
const VALUES: &str = "values";

/// A value is not used, or the connection is lost. Only the first of a row is logged.
pub(super) fn not_used(host: &SourceHost, cause: &'static str, why: &str, is_told: bool) {
    let source = &host.name;
    counter!("pdm_edge_opcua_failures_total", "source" => source.clone(), "cause" => cause)
        .increment(1);
    host.remarks.set(source, VALUES, why.to_owned());
    if !is_told {
        tracing::error!(source, why, "values of the OPC UA server are not used");
    }
}

/// All values are used again.
pub(super) fn used_again(host: &SourceHost, was_told: bool) {
    // a remark of the connection before does not hold any more either
    host.remarks.withdraw(&host.name, VALUES);
    if was_told {
        tracing::info!(source = host.name, "all values of the OPC UA server are used again");
    }
}

/// Values came and went before they were taken: the server's queue, or this gateway's, was full.
pub(super) fn values_lost(host: &SourceHost, place: &'static str) {
    let source = &host.name;
    counter!("pdm_edge_opcua_lost_values_total", "source" => source.clone(), "queue" => place)
        .increment(1);
    tracing::warn!(
        source,
        queue = place,
        "arrays of the OPC UA server are lost: they come faster than they are fetched"
    );
}

/// The server announces another address than the one that is configured.
pub(super) fn other_address(host: &SourceHost, configured: &str, announced: &str) {
    tracing::info!(
        source = host.name,
        configured,
        announced,
        "the OPC UA server announces another address; the configured one is used"
    );
}

/// A node is named by the index of its namespace.
pub(super) fn named_by_index(host: &SourceHost, node: &str, uri: &str) {
    tracing::warn!(
        source = host.name,
        node,
        namespace = uri,
        "a node is named by the index of its namespace, which may change when the server starts \
         anew; nsu=URI in place of ns=INDEX keeps to it"
    );
}

/// The connection stands.
pub(super) fn connected(host: &SourceHost, endpoint: &str, security: &str) {
    tracing::info!(source = host.name, endpoint, security, "connected to the OPC UA server");
}

/// Logs the times that the server granted for those that the subscription asked for.
pub(super) fn subscribed(host: &SourceHost, sampling_ms: f64, queue: u32) {
    tracing::info!(
        source = host.name,
        sampling_ms,
        queue,
        "subscribed; arrays that come faster than the sampling interval are lost unseen where the \
         server samples its nodes"
    );
}
