//! Log lines of the service's command: one function an occurrence.

use std::path::Path;

use crate::pipeline::StartError;
use crate::progress::Progress;

/// The edge has started.
pub(super) fn measuring() {
    tracing::info!("measuring");
}

/// The edge has stopped with these counters.
pub(super) fn stopped(done: &Progress) {
    tracing::info!(
        measured = done.measured,
        spooled = done.spooled,
        published = done.published,
        acknowledged = done.acknowledged,
        received = done.received,
        waiting = done.waiting,
        dropped = done.dropped,
        "stopped"
    );
}

/// A SIGHUP came, and the configuration is valid.
pub(super) fn configuration_renewed(path: &Path) {
    tracing::info!(path = %path.display(), "configuration read again");
}

/// The edge does not start with the configuration that was read again.
pub(super) fn configuration_given_up(error: &StartError) {
    tracing::error!(
        %error,
        "the edge does not start with the new configuration, the one of before stays"
    );
}

/// A SIGHUP came, and the configuration is not valid.
pub(super) fn configuration_refused(why: &str) {
    tracing::error!(error = why, "configuration not taken over, going on with the old one");
}
