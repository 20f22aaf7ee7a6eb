//! Carries the records of a folder's measured files from the reader to the commit.
//!
//! The reader notes what it read of a file; the measurer takes the notes over with the blocks that
//! they belong to, so that they are committed in the transaction of the events of these blocks.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The notes that are not taken yet. Clones share them. The queue of blocks bounds the notes: the
/// reader notes a few for each block, and one for each file that was renamed.
#[derive(Debug, Clone, Default)]
pub struct FolderLedger(Arc<Mutex<VecDeque<Note>>>);

#[derive(Debug)]
struct Note {
    /// The note holds once all blocks with a lower index are measured.
    after: u64,
    key: String,
    value: Vec<u8>,
}

impl FolderLedger {
    /// Notes a value that holds once all blocks with an index below `after` are measured. An empty
    /// value deletes the key.
    pub(super) fn note(&self, after: u64, key: String, value: Vec<u8>) {
        self.lock().push_back(Note { after, key, value });
    }

    /// Takes the notes that hold once the blocks with an index below `measured` are measured.
    pub(crate) fn take(&self, measured: u64) -> BTreeMap<String, Vec<u8>> {
        let mut notes = self.lock();
        let count = notes.iter().take_while(|note| note.after <= measured).count();
        notes.drain(..count).map(|note| (note.key, note.value)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Note>> {
        // a note is added or taken in one statement, so a panic elsewhere leaves whole notes
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_taken_with_its_block_and_the_later_value_of_a_key_counts() {
        let ledger = FolderLedger::default();
        ledger.note(1, "a".to_owned(), vec![1]);
        ledger.note(2, "a".to_owned(), vec![2]);
        ledger.note(3, "b".to_owned(), vec![3]);
        assert!(ledger.take(0).is_empty());
        assert_eq!(ledger.take(2), BTreeMap::from([("a".to_owned(), vec![2])]));
        assert_eq!(ledger.take(9).len(), 1);
    }
}
