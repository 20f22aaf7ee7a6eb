//! The file that is being read: when its snapshots were taken, and what is said of their reading.

use std::path::PathBuf;
use std::sync::Arc;

use pdm_shared::time::Timestamp;

use super::ahead::with_notes;
use super::file_time::FileTime;
use crate::source::{Block, Interpretation, RecordingOptions, Source};

/// The file that is being read.
pub(super) struct Current {
    pub(super) number: u64,
    pub(super) path: PathBuf,
    pub(super) dated: FileTime,
    /// Length of the part that was measured before the file grew, s.
    pub(super) grown_s: f64,
    pub(super) source: Box<dyn Source>,
    /// Length of the snapshots so far, s.
    pub(super) elapsed_s: f64,
    /// The place of each channel in the file, if it is another one than in the folder.
    pub(super) order: Option<Vec<usize>>,
}

impl Current {
    /// Returns the instant of the next snapshot, where `measured` snapshots of the folder were
    /// measured before; counts its length.
    pub(super) fn started_at(
        &mut self,
        block: &Block,
        options: &RecordingOptions,
        measured: u64,
    ) -> Timestamp {
        let length_s = block.accel_m_s2.ncols() as f64 / self.source.format().sample_rate.get();
        let since_s =
            options.period_s.map_or(self.elapsed_s, |period_s| period_s * block.index as f64);
        self.elapsed_s += length_s;
        // the last change is that of the new part
        let before_s = if self.dated.is_of_name { self.grown_s } else { 0.0 };
        let at = self.dated.at.plus_seconds(since_s + options.start_s + before_s);
        match (options.started_at, options.period_s) {
            (Some(first), Some(period_s)) => first.plus_seconds(period_s * measured as f64),
            (None, _) => block.started_at.unwrap_or(at),
            (Some(_), None) => at,
        }
    }

    /// Returns how the snapshot was read, with what dated it.
    pub(super) fn input(
        &self,
        block: &Block,
        options: &RecordingOptions,
        ahead: Option<String>,
    ) -> Option<Arc<Interpretation>> {
        let is_dated_here = block.started_at.is_none() && options.started_at.is_none();
        let dated = is_dated_here.then(|| self.dated.note.clone());
        let grown = (self.grown_s > 0.0).then(|| {
            format!("the file has grown: its first {:.3} s were measured before", self.grown_s)
        });
        with_notes(block.input.as_ref(), dated.into_iter().chain(ahead).chain(grown))
    }
}
