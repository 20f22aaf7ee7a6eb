//! Log lines of the admin listener: one function an occurrence.

use std::net::SocketAddr;

use crate::spool::SpoolError;

/// The listener is bound.
pub(super) fn listening(listen: SocketAddr) {
    tracing::info!(%listen, "health and metrics");
}

/// A request asks to learn a bearing anew.
pub(super) fn relearning_asked(bearing: &str) {
    tracing::info!(%bearing, "asked to learn anew");
}

/// A request asks for a waveform.
pub(super) fn capture_asked(bearing: &str) {
    tracing::info!(%bearing, "asked for a waveform");
}

/// A request asks for a waveform and gets none.
pub(super) fn capture_refused(bearing: &str, reason: &str) {
    tracing::warn!(%bearing, reason, "demand for a waveform not taken");
}

/// The spool cannot be read, so the gateway is not ready.
pub(super) fn not_ready(error: &SpoolError) {
    tracing::warn!(%error, "not ready");
}
