//! Log lines and metrics of raw frames: one function an occurrence, which logs *and* counts.

use metrics::counter;

/// A byte or a sample was lost in raw frames.
pub(super) fn misplaced(source: &str, skipped_bytes: usize, sample_bytes: usize) {
    counter!("pdm_edge_stream_gaps_total", "source" => source.to_owned(), "cause" => "misplaced")
        .increment(1);
    let what = if skipped_bytes.is_multiple_of(sample_bytes) { "samples" } else { "bytes" };
    tracing::warn!(
        source,
        skipped_bytes,
        "{what} were lost in raw frames, the channels changed places: a block is dropped and what \
         follows is put right; the form pdm.frames/1 loses none in silence"
    );
}

/// A sender has paused in the middle of a block, so the samples before the pause are not measured.
pub(super) fn rest_of_burst(name: &str, samples: u64) {
    metrics::counter!("pdm_edge_stream_lost_frames_total", "source" => name.to_owned())
        .increment(samples);
    tracing::warn!(source = name, samples, "samples before a pause made no whole block");
}
