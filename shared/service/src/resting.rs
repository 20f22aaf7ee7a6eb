//! What is left alone for a while after a failure: a server, a tool, a bearing.
//!
//! Whoever would ask it finds that it rests and goes on at once, so that a server that hangs costs
//! one wait and not one a caller.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long a rest takes. No data chose it: one slow attempt a minute while the other side is away,
/// against at most a minute without it after its return.
pub const REST: Duration = Duration::from_mins(1);

/// Those that rest now, by key. `Resting<()>` is the rest of one.
#[derive(Debug)]
pub struct Resting<K>(Mutex<BTreeMap<K, Rest>>);

#[derive(Debug)]
struct Rest {
    until: Instant,
    reason: String,
}

impl<K> Default for Resting<K> {
    fn default() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }
}

impl<K: Ord + Clone> Resting<K> {
    /// Lets one rest for [`REST`] from now on.
    pub fn begin(&self, key: K, reason: &str) {
        let rest = Rest { until: Instant::now() + REST, reason: reason.to_owned() };
        self.current().insert(key, rest);
    }

    /// Ends the rest of one, after it has answered.
    pub fn end(&self, key: &K) {
        self.current().remove(key);
    }

    /// Whether one rests.
    pub fn rests(&self, key: &K) -> bool {
        self.current().contains_key(key)
    }

    /// Returns why one rests; `None` if it does not.
    pub fn reason(&self, key: &K) -> Option<String> {
        self.current().get(key).map(|rest| rest.reason.clone())
    }

    /// Returns all that rest, in their order.
    pub fn keys(&self) -> Vec<K> {
        self.current().keys().cloned().collect()
    }

    /// Those whose rest is not over.
    fn current(&self) -> MutexGuard<'_, BTreeMap<K, Rest>> {
        let mut resting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        resting.retain(|_, rest| rest.until > Instant::now());
        resting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_rest_takes_a_minute_or_until_it_is_ended() {
        let resting = Resting::default();
        resting.begin("a", "no answer");
        resting.begin("b", "refused");
        assert_eq!(resting.reason(&"a").as_deref(), Some("no answer"));
        resting.end(&"b");
        assert_eq!((resting.rests(&"b"), resting.keys()), (false, vec!["a"]));
        tokio::time::advance(REST).await;
        assert!(!resting.rests(&"a"));
    }
}
