//! Log lines and metrics of an audio interface: one function an occurrence, which logs *and*
//! counts.

use metrics::counter;

/// The device had no room for its samples, or slept; an unknown number of them is lost. Only the
/// first of a row is logged.
pub(super) fn overrun(source: &str, is_told: bool) {
    counter!("pdm_edge_stream_gaps_total", "source" => source.to_owned(), "cause" => "overrun")
        .increment(1);
    if !is_told {
        tracing::warn!(
            source,
            "samples were lost at the audio interface: its buffer was full, or it slept; the next \
             window begins after the gap"
        );
    }
}
