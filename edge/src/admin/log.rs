//! Log lines of the admin listener: one function an occurrence.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use crate::spool::SpoolError;

/// The listener is bound.
pub(super) fn listening(listen: SocketAddr) {
    tracing::info!(%listen, "health and metrics");
}

/// A request asks to learn a bearing anew.
pub(super) fn relearning_asked(bearing: &str) {
    tracing::info!(%bearing, "asked to learn anew");
}

/// The spool cannot be read, so the gateway is not ready.
pub(super) fn not_ready(error: &SpoolError) {
    tracing::warn!(%error, "not ready");
}

/// A connection cannot be accepted.
pub(super) fn not_accepted(error: &io::Error) {
    tracing::warn!(%error, "a connection for health or metrics could not be taken");
}

/// Answers were not finished within the grace period.
pub(super) fn cut_off(grace: Duration) {
    tracing::warn!(grace_s = grace.as_secs(), "requests for health or metrics were cut off");
}
