//! Log lines and metrics of the pipeline: one function an occurrence, which logs *and* counts.

use metrics::{counter, gauge};
use pdm_dsp::diagnose::DiagnoseError;
use pdm_dsp::order::OrderError;
use pdm_shared::units::Rpm;

use super::ServiceError;
use crate::catalogue::Estimate;
use crate::source::{SourceError, SourceFormat};

/// A live source failed, and is opened again.
pub(super) fn source_lost(name: &str, error: &SourceError) {
    counter!("pdm_edge_source_failures_total", "source" => name.to_owned()).increment(1);
    tracing::error!(source = name, %error, "source failed, opening it again");
}

/// No recording of a folder can be read, so its source is not measured until the next start.
pub(super) fn source_left_out(name: &str, error: &SourceError) {
    counter!("pdm_edge_source_failures_total", "source" => name.to_owned()).increment(1);
    tracing::error!(source = name, %error, "source left out");
}

/// Logs how the files of a source are read: channels, units, rate, and where each comes from.
pub(super) fn input_read(name: &str, input: &str) {
    tracing::info!(source = name, input, "recordings are read so");
}

/// The defect orders of some bearings of a source are estimates of the catalogue.
pub(super) fn orders_estimated<'a>(name: &str, estimates: impl Iterator<Item = &'a Estimate>) {
    let mut count = 0_u32;
    for Estimate { bearing, order_tolerance } in estimates {
        count += 1;
        let percent = 100.0 * order_tolerance;
        tracing::warn!(source = name, bearing, percent, "defect orders are an estimate");
    }
    gauge!("pdm_edge_estimated_bearings", "source" => name.to_owned()).set(f64::from(count));
}

/// A live source was opened again and has another format.
pub(super) fn source_changed(name: &str, format: &SourceFormat) {
    counter!("pdm_edge_source_failures_total", "source" => name.to_owned()).increment(1);
    tracing::error!(source = name, ?format, "source has another format now, a restart is needed");
}

/// Measuring is slower than a live source delivers.
pub(super) fn blocks_missed(name: &str, count: u64) {
    counter!("pdm_edge_missed_blocks_total", "source" => name.to_owned()).increment(count);
    tracing::warn!(source = name, count, "blocks dropped, measuring cannot follow");
}

/// Windows cannot be dated, since the gateway's clock is not set. Only the first are logged.
pub(super) fn windows_without_time(name: &str, count: usize, is_told: bool) {
    counter!("pdm_edge_windows_without_time_total", "source" => name.to_owned())
        .increment(count as u64);
    if !is_told {
        tracing::error!(
            source = name,
            "the gateway's clock stands before 2020, nothing is measured until it is set"
        );
    }
}

/// The gateway's clock was set.
pub(super) fn clock_is_right(name: &str) {
    tracing::info!(source = name, "the gateway's clock is set, measuring");
}

/// A part of the pipeline's memory in the spool cannot be decoded.
pub(super) fn memory_lost(error: &dyn std::error::Error) {
    counter!("pdm_edge_memories_lost_total").increment(1);
    tracing::error!(%error, "beginning anew where the spool's memory cannot be understood");
}

/// The edge stops while the disk cannot be written.
pub(super) fn windows_abandoned(count: usize) {
    counter!("pdm_edge_abandoned_windows_total").increment(count as u64);
    tracing::error!(count, "stopping with windows that could not be written");
}

/// A part of the edge failed.
pub(super) fn part_failed(error: &ServiceError) {
    tracing::error!(%error, "a part of the edge failed");
}

/// A point took up a request to learn its bearing anew.
pub(super) fn relearnt(bearing: &str) {
    tracing::info!(%bearing, "learnt anew from here");
}

/// What was learnt of a bearing is forgotten on disk too, as the agent asked.
pub(super) fn relearnt_on_disk(bearing: &str) {
    tracing::info!(bearing, "the bearing is learnt anew, as was asked over the broker");
}

/// A point learnt in an operating state that its shaft turns at another speed than the stated one.
pub(super) fn speed_learnt(
    (bearing, state): (&str, &str),
    (stated_rpm, learnt_rpm): (f64, f64),
    windows: u32,
) {
    counter!("pdm_edge_speeds_learnt_total").increment(1);
    tracing::warn!(
        bearing,
        state,
        stated_rpm,
        learnt_rpm = (learnt_rpm * 10.0).round() / 10.0,
        windows,
        "the shaft does not turn at the stated speed; the learnt one is used from here. Correct \
         rpm, or the tag, and learn the bearing anew"
    );
}

/// The tachometer's channel gives no shaft angle in a window.
pub(super) fn no_shaft_angle(source: &str, reason: &OrderError) {
    tracing::debug!(%source, %reason, "no shaft angle");
}

/// The thorough path refused a window.
pub(super) fn not_looked_at(reason: &DiagnoseError, speed: Rpm) {
    tracing::debug!(%reason, %speed, "window not looked at thoroughly");
}

/// A sensor repeats its samples.
pub(super) fn sensor_frozen(name: &str, text: &str) {
    counter!("pdm_edge_frozen_sensors_total", "source" => name.to_owned()).increment(1);
    tracing::error!(source = name, "{text}");
}
