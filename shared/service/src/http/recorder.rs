//! The metrics of this process as Prometheus text.

use std::sync::OnceLock;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

/// The media type of [`PrometheusHandle::render`]'s text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4";

/// The process's recorder; the first call installs it, so that two programs in one process share
/// one.
///
/// `None` where a recorder of somebody else was installed before; the log says so once.
pub fn recorder() -> Option<&'static PrometheusHandle> {
    static RECORDER: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
    RECORDER
        .get_or_init(|| {
            PrometheusBuilder::new()
                .install_recorder()
                .inspect_err(|error| tracing::warn!(%error, "another recorder has the metrics"))
                .ok()
        })
        .as_ref()
}
