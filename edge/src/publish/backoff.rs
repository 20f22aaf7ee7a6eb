//! Waiting longer after every failure, each gateway a little differently.

use std::time::Duration;

use rand::RngExt as _;

/// Doubles from the shortest to the longest wait; each wait is drawn from its upper half, so that
/// gateways that lost the same broker do not return in step.
#[derive(Debug)]
pub(super) struct Backoff {
    shortest: Duration,
    longest: Duration,
    failures: u32,
}

impl Backoff {
    pub(super) const fn new(shortest: Duration, longest: Duration) -> Self {
        Self { shortest, longest, failures: 0 }
    }

    /// The next wait.
    pub(super) fn next(&mut self) -> Duration {
        let doubled = self.shortest.saturating_mul(1 << self.failures.min(20));
        self.failures += 1;
        let most = doubled.min(self.longest);
        most.mul_f64(rand::rng().random_range(0.5..=1.0))
    }

    /// All is well again.
    pub(super) const fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_start_over_after_a_reset() {
        let (shortest, longest) = (Duration::from_millis(100), Duration::from_secs(2));
        let mut backoff = Backoff::new(shortest, longest);
        for most_ms in [100, 200, 400, 800, 1600, 2000, 2000] {
            let most = Duration::from_millis(most_ms);
            let wait = backoff.next();
            assert!(most / 2 <= wait && wait <= most, "{wait:?} for {most:?}");
        }
        backoff.reset();
        assert!(backoff.next() <= shortest);
    }
}
