//! One bearing whose judgement the store cannot read or write holds up no other.
//!
//! A batch that the store refuses for its content is judged again bearing by bearing, so that the one at
//! fault is known; that one rests for a minute and its events stay where they are, so the watch over the
//! agent's work finds that they wait and tells staff. Everything else goes on.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pdm_shared::id::BearingKey;
use pdm_store::{StoreError, Unjudged};
use tokio::time::Instant;

use super::{BATCH, Judging, log};

/// How long a bearing rests.
const REST: Duration = Duration::from_mins(1);
/// Batches that are read at most to find events of other bearings behind those that rest: 4,096 events.
const BATCHES: u32 = 16;

/// What is judged apart.
#[derive(Debug, Default)]
pub(super) struct Apart(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    resting: BTreeMap<BearingKey, Instant>,
    /// Batches that hold one bearing each.
    narrow: usize,
}

impl Apart {
    /// The bearings that rest now.
    fn resting(&self) -> Vec<BearingKey> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.resting.retain(|_, until| *until > Instant::now());
        state.resting.keys().cloned().collect()
    }

    /// Lets a bearing rest.
    fn rest(&self, key: &BearingKey) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.resting.insert(key.clone(), Instant::now() + REST);
    }

    /// The next batches hold one bearing each.
    fn narrow(&self, batches: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).narrow = batches;
    }

    /// Whether this batch holds one bearing.
    fn is_narrow(&self) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_narrow = state.narrow > 0;
        state.narrow = state.narrow.saturating_sub(1);
        is_narrow
    }
}

impl Judging {
    /// The next events to be judged, by bearing, without those that rest.
    pub(super) async fn next_events(
        &self,
    ) -> Result<BTreeMap<BearingKey, Vec<Unjudged>>, StoreError> {
        let resting = self.apart.resting();
        let batches = u32::try_from(resting.len() + 1).unwrap_or(BATCHES).min(BATCHES);
        let mut events = self.store.unjudged(BATCH * batches).await?;
        events.retain(|event| !resting.contains(&event.event.key()));
        events.truncate(BATCH as usize);
        let mut by_bearing: BTreeMap<BearingKey, Vec<Unjudged>> = BTreeMap::new();
        for event in events {
            by_bearing.entry(event.event.key()).or_default().push(event);
        }
        if self.apart.is_narrow() {
            by_bearing = by_bearing.pop_first().into_iter().collect();
        }
        Ok(by_bearing)
    }

    /// Notes that the store refuses the content of these bearings' judgements; another failure is none of
    /// theirs.
    pub(super) fn set_apart(&self, bearings: &[BearingKey], error: &StoreError) {
        if !matches!(error, StoreError::Content { .. }) {
            return;
        }
        match bearings {
            [one] => {
                log::bearing_put_off(one, error);
                self.apart.rest(one);
            }
            several => self.apart.narrow(several.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_bearing_rests_for_a_minute_and_a_refused_batch_is_taken_apart() {
        let apart = Apart::default();
        let key = BearingKey::parse("ulsan-1", "P-101", "DE").expect("names");
        apart.rest(&key);
        assert_eq!(apart.resting(), [key]);
        tokio::time::advance(REST).await;
        assert!(apart.resting().is_empty());
        apart.narrow(2);
        assert_eq!([apart.is_narrow(), apart.is_narrow(), apart.is_narrow()], [true, true, false]);
    }
}
