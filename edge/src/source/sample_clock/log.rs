//! Log lines and metrics of a live source's clock: one function an occurrence, which logs *and*
//! counts.

use metrics::counter;
use pdm_shared::units::SampleRate;

/// Frames are missing by the times at which the others arrive.
pub(super) fn frames_missing(source: &str, seconds: f64) {
    counter!("pdm_edge_stream_gaps_total", "source" => source.to_owned(), "cause" => "late")
        .increment(1);
    tracing::warn!(source, seconds, "frames were lost: the others arrive late for good");
}

/// The true rate is too far from the configured one.
pub(super) fn rate_off(source: &str, measured: SampleRate, nominal: SampleRate, tolerance: f64) {
    counter!("pdm_edge_rate_faults_total", "source" => source.to_owned()).increment(1);
    let tolerance_percent = 100.0 * tolerance;
    tracing::error!(
        source,
        %measured,
        %nominal,
        tolerance_percent,
        "samples arrive at another rate than rate_hz states, their windows are not judged"
    );
}
