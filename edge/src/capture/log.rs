//! Log lines and metrics of captures: one function an occurrence, which logs *and* counts.

use metrics::{counter, gauge};
use pdm_shared::capture::CaptureReason;

use super::folder::{CaptureError, StoredCapture};

/// A capture is on disk.
pub(super) fn capture_kept(capture: &StoredCapture) {
    let document = &capture.document;
    for trigger in &document.triggers {
        counter!("pdm_edge_captures_total", "reason" => trigger.reason.as_str()).increment(1);
    }
    let (bearing, samples) = (document.within_site(), document.samples);
    let reason = document.triggers.first().map_or("", |trigger| trigger.reason.as_str());
    tracing::info!(%bearing, reason, samples, file = document.file.name, "waveform captured");
}

/// Why a trigger made no capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// The point had its captures of the hour.
    Storm,
    /// The samples were no longer in memory.
    Gone,
    /// The disk did not take it, or all on it is kept.
    Disk,
}

impl Refused {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Storm => "storm",
            Self::Gone => "gone",
            Self::Disk => "disk",
        }
    }
}

/// A trigger made no capture; `is_first`: since the last that did.
pub(super) fn refused(bearing: &str, reason: CaptureReason, why: Refused, is_first: bool) {
    counter!("pdm_edge_captures_refused_total", "cause" => why.as_str()).increment(1);
    if is_first {
        let cause = why.as_str();
        tracing::warn!(bearing, reason = reason.as_str(), cause, "no waveform captured");
    }
}

/// The disk did not take a capture.
pub(super) fn not_written(bearing: &str, error: &CaptureError) {
    tracing::error!(bearing, %error, "waveform not kept, events go on");
}

/// A capture was removed for a newer one.
pub(super) fn removed(capture: &StoredCapture) {
    counter!("pdm_edge_captures_removed_total").increment(1);
    tracing::info!(file = capture.document.file.name, "oldest waveform removed for a newer one");
}

/// Sets the gauge of the bytes of captures on disk.
pub(super) fn held_on_disk(bytes: u64, count: usize) {
    gauge!("pdm_edge_capture_disk_bytes").set(bytes as f64);
    tracing::debug!(bytes, count, "captures on disk");
}

/// Sets the gauges of the rings in memory: bytes, and the seconds of the point that has least.
pub(super) fn ring(bytes: usize, shortest_s: f64) {
    gauge!("pdm_edge_capture_ring_bytes").set(bytes as f64);
    gauge!("pdm_edge_capture_ring_seconds").set(shortest_s);
}

/// Samples did not come into the ring, because it could not follow; `is_first`: of these in a row.
pub(super) fn not_followed(source: &str, samples: u64, is_first: bool) {
    counter!("pdm_edge_capture_lost_samples_total", "source" => source.to_owned())
        .increment(samples);
    if is_first {
        tracing::warn!(source, samples, "samples are missing in captures, which cannot follow");
    }
}

/// A document in the folder cannot be read; it stays.
pub(super) fn not_read(error: &CaptureError) {
    tracing::warn!(%error, "a file among the captures is left alone");
}

/// A capture was being written when the program ended.
pub(super) fn unfinished(files: usize) {
    tracing::info!(files, "what was left of captures at the end of the last run is put right");
}

/// A capture is with the agent.
pub(super) fn uploaded(file: &str, bytes: u64) {
    counter!("pdm_edge_captures_uploaded_total").increment(1);
    tracing::info!(file, bytes, "waveform sent to the agent");
}

/// The agent never takes a capture.
pub(super) fn upload_refused(file: &str, reason: &str) {
    counter!("pdm_edge_capture_uploads_refused_total").increment(1);
    tracing::warn!(file, reason, "the agent does not take a waveform, it is kept here");
}

/// Captures cannot be sent; `failures`: before, in a row.
pub(super) fn upload_failed(reason: &str, failures: u32) {
    counter!("pdm_edge_capture_upload_failures_total").increment(1);
    // the first and every doubling: an agent that is away for days does not fill the log
    if (failures + 1).is_power_of_two() {
        tracing::warn!(reason, "waveforms are not sent, they are kept here");
    }
}

/// Captures that wait to be sent.
pub(super) fn waiting_uploads(count: usize) {
    gauge!("pdm_edge_capture_uploads_waiting").set(count as f64);
}

/// The folder cannot be used: nothing is captured.
pub(super) fn no_folder(error: &CaptureError) {
    counter!("pdm_edge_captures_refused_total", "cause" => "disk").increment(1);
    tracing::error!(%error, "nothing is captured until the next start, events go on");
}
