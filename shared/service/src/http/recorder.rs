//! The metrics of this process as Prometheus text.

use std::sync::OnceLock;

use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

/// Media type of the text of [`PrometheusHandle::render`].
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4";

/// The metrics recorder of the process. The first call installs it; two programs in one process
/// share one recorder.
///
/// `None` if another recorder was installed before; a warning is logged once.
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
