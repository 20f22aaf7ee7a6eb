//! Pauses between attempts that grow after every failure.
//!
//! [`Pauses`] gives the pause after a number of failures; [`Backoff`] counts the failures of one
//! caller. Neither sleeps, so both can be used with any clock.

use std::time::Duration;

use rand::RngExt as _;

/// Pauses before the second, third and fourth attempt of a request to a server, unless the server
/// names its own: 1, 2 and 4 s, as the tool document says (`retry`).
pub const REQUEST_PAUSES: [Duration; 3] =
    [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];

/// Doublings beyond which a pause no longer grows: 2^20 times the shortest is above every longest
/// pause in use, and the factor still fits a `u32`.
const MOST_DOUBLINGS: u32 = 20;

/// Largest difference of a pause from its nominal length. Jitter keeps callers that failed together
/// from trying again together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Jitter {
    /// The nominal pause, for a caller without rivals.
    None,
    /// A pause between half of the nominal pause and all of it.
    UpperHalf,
    /// Shorter or longer by at most this share of the nominal pause, 0 to 1.
    Around(f64),
}

/// The lengths of pauses: the shortest one doubles with every failure up to the longest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pauses {
    /// The nominal pause after the first failure.
    pub shortest: Duration,
    /// The longest nominal pause.
    pub longest: Duration,
    /// Largest difference of a pause from its nominal length.
    pub jitter: Jitter,
}

impl Pauses {
    /// Pauses without jitter.
    pub const fn new(shortest: Duration, longest: Duration) -> Self {
        Self { shortest, longest, jitter: Jitter::None }
    }

    /// Returns the same pauses with jitter.
    #[must_use]
    pub const fn with_jitter(self, jitter: Jitter) -> Self {
        Self { jitter, ..self }
    }

    /// The pause after `failures` earlier failures: 0 gives the shortest.
    pub fn after(&self, failures: u32) -> Duration {
        self.jittered(self.doubled(failures).min(self.longest))
    }

    const fn doubled(&self, failures: u32) -> Duration {
        let doublings = if failures < MOST_DOUBLINGS { failures } else { MOST_DOUBLINGS };
        self.shortest.saturating_mul(1 << doublings)
    }

    fn jittered(&self, nominal: Duration) -> Duration {
        match self.jitter {
            Jitter::None => nominal,
            Jitter::UpperHalf => nominal.mul_f64(rand::rng().random_range(0.5..=1.0)),
            Jitter::Around(share) => {
                let share = share.clamp(0.0, 1.0);
                nominal.mul_f64(rand::rng().random_range(1.0 - share..=1.0 + share))
            }
        }
    }
}

/// The failures of one caller and the pauses that follow from them.
#[derive(Debug, Clone)]
pub struct Backoff {
    pauses: Pauses,
    failures: u32,
}

impl Backoff {
    /// A count of no failures.
    pub const fn new(pauses: Pauses) -> Self {
        Self { pauses, failures: 0 }
    }

    /// Counts a failure and gives the pause before the next attempt.
    pub fn next_pause(&mut self) -> Duration {
        let pause = self.pauses.after(self.failures);
        self.failures = self.failures.saturating_add(1);
        pause
    }

    /// Does the same as [`Backoff::next_pause`], with a nominal pause of at most `longest` this
    /// time; later pauses grow from there.
    pub fn next_pause_up_to(&mut self, longest: Duration) -> Duration {
        let capped = Pauses { longest: longest.min(self.pauses.longest), ..self.pauses };
        let mut failures = self.failures.min(MOST_DOUBLINGS);
        while failures > 0 && capped.doubled(failures - 1) >= capped.longest {
            failures -= 1;
        }
        self.failures = failures + 1;
        capped.after(failures)
    }

    /// Forgets the failures, after an attempt that succeeded.
    pub const fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSES: Pauses = Pauses::new(Duration::from_millis(100), Duration::from_secs(2));
    const NOMINAL_MS: [u64; 7] = [100, 200, 400, 800, 1600, 2000, 2000];

    #[test]
    fn pauses_double_up_to_the_longest_and_start_over_after_a_success() {
        let mut backoff = Backoff::new(PAUSES);
        for nominal_ms in NOMINAL_MS {
            assert_eq!(backoff.next_pause(), Duration::from_millis(nominal_ms));
        }
        backoff.reset();
        assert_eq!(backoff.next_pause(), PAUSES.shortest);
    }

    #[test]
    fn after_a_capped_pause_the_next_ones_grow_from_the_cap() {
        let mut backoff = Backoff::new(PAUSES);
        for _ in 0..10 {
            backoff.next_pause();
        }
        let cap = Duration::from_millis(400);
        assert_eq!(backoff.next_pause_up_to(cap), cap);
        assert_eq!(backoff.next_pause_up_to(cap), cap);
        assert_eq!(backoff.next_pause(), 2 * cap);
    }

    #[test]
    fn jitter_stays_within_its_bounds() {
        for (jitter, least, most) in
            [(Jitter::UpperHalf, 0.5, 1.0), (Jitter::Around(0.2), 0.8, 1.2)]
        {
            let mut backoff = Backoff::new(PAUSES.with_jitter(jitter));
            for nominal_ms in NOMINAL_MS {
                let ratio = backoff.next_pause().as_secs_f64() * 1e3 / nominal_ms as f64;
                assert!((least - 1e-6..=most + 1e-6).contains(&ratio), "{jitter:?}: {ratio}");
            }
        }
    }

    #[test]
    fn no_count_of_failures_overflows() {
        assert_eq!(PAUSES.after(u32::MAX), PAUSES.longest);
        let huge = Pauses::new(Duration::MAX, Duration::MAX);
        assert_eq!(huge.after(3), Duration::MAX);
    }
}
