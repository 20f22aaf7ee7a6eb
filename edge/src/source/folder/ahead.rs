//! Recordings that are dated ahead of the gateway's clock: a zone that is not that of the logger, a
//! clock that is wrong, a name that is no time.
//!
//! Invariant: such a recording is measured with its time, and that is told in its events, in the
//! log and in `/healthz`.

use std::path::Path;
use std::sync::Arc;

use pdm_service::clock::SharedClock;
use pdm_shared::time::Timestamp;

use super::log;
use crate::remarks::Remarks;
use crate::source::Interpretation;
use crate::source::recording::duration_words;

/// Clocks of a plant are closer than this, s.
const AHEAD_S: f64 = 60.0;

/// Tells recordings from the future.
pub(super) struct Ahead {
    clock: SharedClock,
    remarks: Remarks,
    is_told: bool,
}

impl Ahead {
    pub(super) const fn new(clock: SharedClock, remarks: Remarks) -> Self {
        Self { clock, remarks, is_told: false }
    }

    /// A note on a recording that is dated ahead of the gateway's clock.
    pub(super) fn note_of_time(
        &mut self,
        source: &str,
        path: &Path,
        at: Timestamp,
    ) -> Option<String> {
        let ahead_s = at.seconds_since(self.clock.now());
        if ahead_s <= AHEAD_S {
            if std::mem::take(&mut self.is_told) {
                self.remarks.withdraw(source, "time ahead");
            }
            return None;
        }
        let ahead = duration_words(ahead_s);
        if !std::mem::replace(&mut self.is_told, true) {
            log::dated_ahead(source, path, &ahead);
        }
        let text = format!(
            "{} is dated {at}, {ahead} ahead of this gateway's clock: is the clock of the logger \
             right, and its zone (zone of the source decides)?",
            path.display()
        );
        self.remarks.set(source, "time ahead", text);
        Some(format!("its time is {ahead} ahead of the gateway's clock"))
    }
}

/// The interpretation of a recording with more notes.
pub(super) fn with_notes(
    input: Option<&Arc<Interpretation>>,
    notes: impl Iterator<Item = String>,
) -> Option<Arc<Interpretation>> {
    let notes: Vec<String> = notes.collect();
    let input = input?;
    // the reader has said it in its own words
    let has_ahead = input.notes.iter().any(|note| note.contains("ahead of this machine's clock"));
    let is_said =
        |note: &String| input.notes.contains(note) || has_ahead && note.contains("ahead of");
    let new: Vec<String> = notes.into_iter().filter(|note| !is_said(note)).collect();
    if new.is_empty() {
        return Some(Arc::clone(input));
    }
    let notes = [input.notes.clone(), new].concat();
    Some(Arc::new(Interpretation { notes, ..Interpretation::clone(input) }))
}
