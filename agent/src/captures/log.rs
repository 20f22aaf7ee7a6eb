//! Log lines and metrics of captures: one function an occurrence, which logs *and* counts.

use metrics::{counter, gauge};
use pdm_shared::capture::CaptureDocument;
use pdm_shared::id::GatewayKey;
use uuid::Uuid;

use super::upload::Refusal;

/// A capture is whole and kept.
pub(super) fn capture_kept(document: &CaptureDocument) {
    counter!("pdm_agent_captures_total").increment(1);
    let (id, bearing) = (document.capture_id, document.key());
    tracing::info!(capture = %id, %bearing, bytes = document.file.bytes, "a waveform came in");
}

/// A part or a document of a capture was refused.
pub(super) fn refused(gateway: &GatewayKey, id: Uuid, refusal: &Refusal) {
    let cause = refusal.cause.as_str();
    counter!("pdm_agent_captures_refused_total", "cause" => cause).increment(1);
    tracing::warn!(%gateway, capture = %id, cause, reason = refusal.told, "a waveform was refused");
}

/// Bytes of a part are on disk.
pub(super) fn taken(bytes: u64) {
    counter!("pdm_agent_capture_upload_bytes_total").increment(bytes);
}

/// Captures were removed for a newer one.
pub(super) fn removed(ids: &[Uuid]) {
    counter!("pdm_agent_captures_removed_total").increment(ids.len() as u64);
    for id in ids {
        tracing::info!(capture = %id, "the oldest waveform was removed for a newer one");
    }
}

/// Sets the gauges of the captures that are kept.
pub(super) fn captures_held(count: u64, bytes: u64) {
    gauge!("pdm_agent_captures_held").set(count as f64);
    gauge!("pdm_agent_capture_bytes").set(bytes as f64);
}

/// The file of a capture is gone or cannot be read.
pub(super) fn not_read(id: Uuid, error: &std::io::Error) {
    tracing::warn!(capture = %id, %error, "the file of a waveform cannot be read");
}

/// The file of a capture cannot be deleted; the next sweep tries again.
pub(super) fn not_deleted(error: &std::io::Error) {
    tracing::warn!(%error, "the file of a waveform cannot be deleted");
}

/// Uploads that did not go on were given up.
pub(super) fn given_up(count: usize) {
    if count > 0 {
        tracing::info!(count, "waveforms that came in part are given up");
    }
}
