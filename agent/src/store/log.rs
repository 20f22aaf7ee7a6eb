//! Log lines of the store.

use pdm_shared::id::GatewayId;

/// A gateway's numbers have started again, as after the loss of its spool.
pub(super) fn sequence_restarted(gateway: &GatewayId, number: i64) {
    tracing::warn!(%gateway, number, "gateway counts from a new start, following it");
}

/// A gateway was asked for events and did not send them in time.
pub(super) fn events_lost(gateway: &str, count: i64) {
    tracing::warn!(gateway, count, "events were asked for and never came, counted as lost");
}

/// A partition of `events` was made.
pub(super) fn partition_made(table: &str) {
    tracing::info!(table, "partition of a week was made");
}

/// A partition of `events` was dropped with about so many rows.
pub(super) fn partition_dropped(table: &str, rows: i64) {
    tracing::info!(table, rows, "partition of a week that is no longer kept was dropped");
}
