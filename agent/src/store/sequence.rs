//! A gateway's sequence: the highest number seen and what is missing below it, without a database.
//!
//! A number below the highest that lies in no gap, with a new event id, means that the gateway counts
//! from a new start (its spool was lost or replaced): the sequence is then followed from there. An event
//! that was stored, deleted after its days and received once more looks the same; the stored events that
//! come again then fill the gaps that this has made. Invariant: gaps do not overlap and lie below the
//! highest number.

use std::collections::BTreeMap;

/// A range of missing numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) noticed_at_ms: i64,
    /// The gateway is no longer asked for these events.
    pub(super) lost: bool,
}

/// A sequence while a batch is followed, and what has changed since it was read.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    highest: i64,
    gaps: BTreeMap<i64, Gap>,
    read: BTreeMap<i64, Gap>,
    changes: Changes,
}

/// The changes of a sequence that have to be written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// Every stored gap is void.
    pub(super) anew: bool,
    /// The first numbers of stored gaps that are filled or have changed.
    pub(super) removed: Vec<i64>,
    /// Gaps that are new or have changed.
    pub(super) added: Vec<Gap>,
    /// Events that counted as lost and came.
    pub(super) found: i64,
}

impl Sequence {
    /// A sequence as it is stored. `gaps` has to hold at least the gaps that the numbers to come may lie
    /// in.
    pub(super) fn new(highest: i64, gaps: impl IntoIterator<Item = Gap>) -> Self {
        let gaps: BTreeMap<i64, Gap> = gaps.into_iter().map(|gap| (gap.first, gap)).collect();
        Self { highest, read: gaps.clone(), gaps, changes: Changes::default() }
    }

    /// Follows the number of a new event. False if the gateway counts from a new start at this number.
    pub(super) fn follow(&mut self, number: i64, now_ms: i64) -> bool {
        if number > self.highest {
            self.add(self.highest + 1, number - 1, now_ms, false);
            self.highest = number;
            return true;
        }
        if self.fill(number) {
            return true;
        }
        self.gaps.clear();
        self.changes.anew = true;
        self.add(1, number - 1, now_ms, false);
        self.highest = number;
        false
    }

    /// Follows the number of an event that is stored already, so it is not missing. True if the number lay
    /// in a gap.
    pub(super) fn fill(&mut self, number: i64) -> bool {
        let holding = self.gaps.range(..=number).next_back().map(|(_, gap)| *gap);
        let Some(gap) = holding.filter(|gap| gap.last >= number) else { return false };
        self.gaps.remove(&gap.first);
        self.add(gap.first, number - 1, gap.noticed_at_ms, gap.lost);
        self.add(number + 1, gap.last, gap.noticed_at_ms, gap.lost);
        self.changes.found += i64::from(gap.lost);
        true
    }

    fn add(&mut self, first: i64, last: i64, noticed_at_ms: i64, lost: bool) {
        if first <= last {
            self.gaps.insert(first, Gap { first, last, noticed_at_ms, lost });
        }
    }

    /// The highest number, and the changes that have to be written.
    pub(super) fn finish(self) -> (i64, Changes) {
        let Self { highest, gaps, read, mut changes } = self;
        let (before, after) = (if changes.anew { BTreeMap::new() } else { read }, gaps);
        let differ = |of: &BTreeMap<i64, Gap>, other: &BTreeMap<i64, Gap>| -> Vec<Gap> {
            of.iter()
                .filter(|(first, gap)| other.get(first) != Some(gap))
                .map(|(_, gap)| *gap)
                .collect()
        };
        changes.removed = differ(&before, &after).iter().map(|gap| gap.first).collect();
        changes.added = differ(&after, &before);
        (highest, changes)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Applies changes as a database does.
    fn write(stored: &mut BTreeMap<i64, Gap>, changes: Changes) {
        if changes.anew {
            stored.clear();
        }
        for first in changes.removed {
            assert!(stored.remove(&first).is_some(), "only what is stored is removed");
        }
        for gap in changes.added {
            assert!(stored.insert(gap.first, gap).is_none(), "a gap is written once");
        }
    }

    #[test]
    fn a_number_that_is_no_gap_begins_a_new_count() {
        let mut sequence = Sequence::new(5, []);
        assert!(!sequence.follow(3, 7));
        let gap = Gap { first: 1, last: 2, noticed_at_ms: 7, lost: false };
        let changes = Changes { anew: true, added: vec![gap], ..Changes::default() };
        assert_eq!(sequence.finish(), (3, changes));
    }

    /// An event was deleted after its days, and the gateway had not heard that it was stored.
    #[test]
    fn what_is_stored_fills_the_gaps_that_a_forgotten_event_has_torn() {
        let mut sequence = Sequence::new(5, []);
        assert!(!sequence.follow(2, 7));
        assert!(sequence.fill(1), "stored, so not missing");
        assert!(!sequence.fill(4), "above the highest: the numbers to come tell");
        assert!(sequence.follow(6, 8));
        assert!(sequence.fill(3) && sequence.fill(4) && sequence.fill(5));
        let (highest, changes) = sequence.finish();
        assert_eq!((highest, changes.added, changes.found), (6, vec![], 0));
    }

    #[test]
    fn a_lost_event_that_comes_is_found() {
        let lost = Gap { first: 2, last: 4, noticed_at_ms: 0, lost: true };
        let mut sequence = Sequence::new(5, [lost]);
        assert!(sequence.follow(4, 9));
        let (_, changes) = sequence.finish();
        assert_eq!((changes.found, changes.removed), (1, vec![2]));
        assert_eq!(changes.added, [Gap { last: 3, ..lost }]);
    }

    proptest! {
        /// The gaps are the same for every order of the numbers and every cut into batches.
        #[test]
        fn gaps_are_the_numbers_that_never_came(
            numbers in prop::collection::btree_set(1_i64..60, 1..40)
                .prop_map(|set| set.into_iter().collect::<Vec<_>>()).prop_shuffle(),
            batch in 1_usize..10,
        ) {
            let mut stored = BTreeMap::new();
            let mut highest = 0;
            for batch in numbers.chunks(batch) {
                let mut sequence = Sequence::new(highest, stored.values().copied());
                for number in batch {
                    prop_assert!(sequence.follow(*number, 0));
                }
                let (now, changes) = sequence.finish();
                highest = now;
                write(&mut stored, changes);
            }
            let came: BTreeSet<i64> = numbers.iter().copied().collect();
            prop_assert_eq!(Some(&highest), came.last());
            let missing: Vec<i64> = (1..=highest).filter(|number| !came.contains(number)).collect();
            let gaps: Vec<i64> = stored.values().flat_map(|gap| gap.first..=gap.last).collect();
            prop_assert_eq!(gaps, missing);
        }
    }
}
