//! Requests to a running service to learn a bearing anew, after the bearing was replaced or its
//! machine rebuilt.
//!
//! The admin listener makes a request. The thread that measures the bearing's points takes the
//! request up before its next batch and forgets baseline, alarm, trend and verdict; the emptied
//! memory is committed with that batch. Invariant: each point of a known bearing takes a request
//! exactly once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The bearings of a service, as `equipment/bearing`, and the number of requests for each. Clones
/// share the counts.
#[derive(Debug, Clone, Default)]
pub struct Relearning(Arc<Mutex<BTreeMap<String, u64>>>);

impl Relearning {
    /// Requests for these bearings, named `equipment/bearing`, can be made.
    pub fn of(bearings: impl IntoIterator<Item = String>) -> Self {
        Self(Arc::new(Mutex::new(bearings.into_iter().map(|bearing| (bearing, 0)).collect())))
    }

    /// Requests that a bearing is learnt anew; false if the service does not measure the bearing.
    pub fn ask(&self, bearing: &str) -> bool {
        self.counts().get_mut(bearing).map(|times| *times += 1).is_some()
    }

    /// Number of requests for a bearing since the service started.
    pub fn times(&self, bearing: &str) -> u64 {
        self.counts().get(bearing).copied().unwrap_or(0)
    }

    /// The bearings that the service measures.
    pub fn bearings(&self) -> Vec<String> {
        self.counts().keys().cloned().collect()
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        // a count changes in one statement, so a panic elsewhere cannot leave a half-made one
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bearing_that_is_measured_can_be_asked_for() {
        let relearning = Relearning::of(["P-101/DE".to_owned()]);
        assert!(!relearning.ask("P-101/NDE"));
        assert!(relearning.clone().ask("P-101/DE"));
        assert_eq!((relearning.times("P-101/DE"), relearning.times("P-101/NDE")), (1, 0));
        assert_eq!(relearning.bearings(), ["P-101/DE"]);
    }
}
