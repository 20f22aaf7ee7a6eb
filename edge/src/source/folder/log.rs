//! Log lines and metrics of a watched folder: one function an occurrence, which logs *and* counts.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use metrics::counter;
use pdm_shared::units::SampleRate;

use crate::source::SourceError;

/// A file cannot be measured.
pub(super) fn set_aside(source: &str, error: &SourceError) {
    counter!("pdm_edge_recordings_set_aside_total").increment(1);
    tracing::warn!(source, %error, "a recording is set aside");
}

/// A link leads out of the watched folder. Each is told once, of as many as are remembered.
pub(super) fn link_outside(path: &Path) {
    static TOLD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    const REMEMBERED: usize = 256;
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if told.len() < REMEMBERED && told.insert(path.to_owned()) {
        counter!("pdm_edge_recordings_set_aside_total").increment(1);
        let path = path.display();
        tracing::warn!(%path, "a link leads out of the watched folder, it is not followed: name \
                               the file itself in files");
    }
}

/// The folder cannot be listed.
pub(super) fn folder_away(source: &str, error: &SourceError) {
    counter!("pdm_edge_source_failures_total", "source" => source.to_owned()).increment(1);
    tracing::error!(source, %error, "the watched folder cannot be listed, looking again");
}

/// Another content stands where a measured file stood.
pub(super) fn file_replaced(source: &str, path: &Path) {
    counter!("pdm_edge_recordings_replaced_total", "source" => source.to_owned()).increment(1);
    let path = path.display();
    tracing::info!(source, %path, "a recording was replaced or has grown, it is measured anew");
}

/// A file cannot be opened at the moment.
pub(super) fn unreadable(source: &str, path: &Path, error: &io::Error) {
    counter!("pdm_edge_source_failures_total", "source" => source.to_owned()).increment(1);
    tracing::warn!(source, path = %path.display(), %error, "a recording cannot be opened, looking \
        again");
}

/// Most files of the folder have another form now.
pub(super) fn form_changed(source: &str, (channels, rate): (usize, SampleRate)) {
    counter!("pdm_edge_folder_forms_changed_total", "source" => source.to_owned()).increment(1);
    tracing::warn!(source, channels, %rate, "most files of the folder have another form now");
}

/// A file went before it was measured. Only the first is logged at WARN.
pub(super) fn file_lost(source: &str, path: &Path, is_told: bool) {
    counter!("pdm_edge_recordings_lost_total", "source" => source.to_owned()).increment(1);
    let path = path.display();
    if is_told {
        tracing::debug!(source, %path, "a recording went before it was measured");
    } else {
        tracing::warn!(source, %path, "a recording went before it was measured");
    }
}

/// A file changes at every look, so it is never measured.
pub(super) fn file_changing(source: &str, path: &Path) {
    let path = path.display();
    tracing::warn!(source, %path, "a recording changes at every look and is not measured");
}

/// A file has its channels in another order than those before.
pub(super) fn other_order(source: &str, path: &Path) {
    let path = path.display();
    tracing::warn!(source, %path, "the channels have another order in this file, they are taken by \
        name");
}

/// A recording is dated ahead of the gateway's clock.
pub(super) fn dated_ahead(source: &str, path: &Path, ahead: &str) {
    let path = path.display();
    tracing::warn!(source, %path, ahead, "a recording is dated ahead of this gateway's clock");
}

/// A recording that was measured has grown.
pub(super) fn file_grown(source: &str, path: &Path, samples: u64) {
    counter!("pdm_edge_recordings_replaced_total", "source" => source.to_owned()).increment(1);
    let path = path.display();
    tracing::info!(source, %path, samples, "a recording has grown, what is behind these samples is \
        measured");
}

/// A recording that was measured was packed.
pub(super) fn packed_copy(source: &str, path: &Path) {
    let path = path.display();
    tracing::info!(source, %path, "a packed recording was measured before it was packed");
}

/// Nothing states the unit of a recording, which is read as g.
pub(super) fn unit_assumed(source: &str, path: &Path) {
    let path = path.display();
    tracing::warn!(source, %path, "nothing states the unit of the recordings, g is assumed; unit \
        decides");
}
