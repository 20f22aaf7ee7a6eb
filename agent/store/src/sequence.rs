//! A gateway's sequence: the highest number seen and what is missing below it, without a database.
//!
//! A number below the highest that lies in no gap changes nothing: only the gateway's status can
//! begin a new count ([`super::admission`]), so events cannot set a receipt back. Invariant: gaps
//! do not overlap and lie below the highest number.

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
    /// The first numbers of stored gaps that are filled or have changed.
    pub(super) removed: Vec<i64>,
    /// Gaps that are new or have changed.
    pub(super) added: Vec<Gap>,
    /// Events that counted as lost and came.
    pub(super) found: i64,
}

impl Sequence {
    /// A sequence as it is stored. `gaps` has to hold at least the gaps that the numbers to come
    /// may lie in.
    pub(super) fn new(highest: i64, gaps: impl IntoIterator<Item = Gap>) -> Self {
        let gaps: BTreeMap<i64, Gap> = gaps.into_iter().map(|gap| (gap.first, gap)).collect();
        Self { highest, read: gaps.clone(), gaps, changes: Changes::default() }
    }

    /// Follows the number of a stored event. False if the number was neither missing nor above the
    /// highest.
    pub(super) fn follow(&mut self, number: i64, now_ms: i64) -> bool {
        if number > self.highest {
            self.add(self.highest.saturating_add(1), number.saturating_sub(1), now_ms, false);
            self.highest = number;
            return true;
        }
        self.fill(number)
    }

    /// Takes a number out of the gap that it lies in, if there is one.
    fn fill(&mut self, number: i64) -> bool {
        let holding = self.gaps.range(..=number).next_back().map(|(_, gap)| *gap);
        let Some(gap) = holding.filter(|gap| gap.last >= number) else { return false };
        self.gaps.remove(&gap.first);
        self.add(gap.first, number.saturating_sub(1), gap.noticed_at_ms, gap.lost);
        self.add(number.saturating_add(1), gap.last, gap.noticed_at_ms, gap.lost);
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
        let (before, after) = (read, gaps);
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
        for first in changes.removed {
            assert!(stored.remove(&first).is_some(), "only what is stored is removed");
        }
        for gap in changes.added {
            assert!(stored.insert(gap.first, gap).is_none(), "a gap is written once");
        }
    }

    #[test]
    fn a_number_that_is_neither_missing_nor_new_changes_nothing() {
        let gap = Gap { first: 2, last: 3, noticed_at_ms: 0, lost: false };
        let mut sequence = Sequence::new(5, [gap]);
        for number in [1, 4, 5] {
            assert!(!sequence.follow(number, 7));
        }
        assert_eq!(sequence.finish(), (5, Changes::default()));
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
