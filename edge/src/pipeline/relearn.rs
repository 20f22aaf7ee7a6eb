//! Asking a running service to learn a bearing anew, after it was replaced or its machine rebuilt.
//!
//! The admin listener asks, the thread that measures the bearing's points notices before its next
//! batch and forgets baseline, alarm, trend and verdict; the new memory is committed with that batch.
//! Invariant: a request for a known bearing is taken exactly once by each of its points.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use pdm_shared::id::{BearingId, EquipmentId};

/// The bearings of a service and how often each was to be learnt anew.
#[derive(Debug, Clone, Default)]
pub struct Relearning(Arc<Mutex<BTreeMap<String, u64>>>);

/// The name under which a bearing is asked for: `equipment/bearing`.
pub(crate) fn name(equipment: &EquipmentId, bearing: &BearingId) -> String {
    format!("{equipment}/{bearing}")
}

/// The key under which a point's condition is remembered in the spool.
pub(crate) fn memory_key(source: &str, channel: usize) -> String {
    format!("point/{source}/{channel}")
}

impl Relearning {
    /// Knows these bearings, named `equipment/bearing`.
    pub fn of(bearings: impl IntoIterator<Item = String>) -> Self {
        Self(Arc::new(Mutex::new(bearings.into_iter().map(|bearing| (bearing, 0)).collect())))
    }

    /// Asks; false if no such bearing is measured here.
    pub fn ask(&self, bearing: &str) -> bool {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        asked.get_mut(bearing).map(|times| *times += 1).is_some()
    }

    /// How often a bearing was asked for.
    pub fn times(&self, bearing: &str) -> u64 {
        let asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        asked.get(bearing).copied().unwrap_or(0)
    }

    /// The bearings that are known.
    pub fn bearings(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
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
