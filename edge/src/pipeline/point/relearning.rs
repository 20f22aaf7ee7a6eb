//! A point that learns its bearing anew.

use uuid::Uuid;

use super::Point;

impl Point {
    /// Empties the memory, after the bearing was replaced or its machine rebuilt.
    pub fn relearn(&mut self) {
        self.memory.monitor.relearn();
        self.memory.look = None;
        self.memory.spectra_at = None;
        self.memory.alarmed = false;
        self.memory.owed = false;
        self.memory.speeds.clear();
        self.pasts.forget();
    }

    /// Remembers the request by which the memory is emptied; false if it is the one of before, as
    /// after a restart.
    pub(crate) fn note_request(&mut self, id: Uuid) -> bool {
        self.memory.emptied_by.replace(id) != Some(id)
    }
}
