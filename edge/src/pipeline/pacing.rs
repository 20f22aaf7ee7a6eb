//! Decides which windows of a source are measured, where not every one is (`every_s`).
//!
//! A sensor whose bursts come with the period that is configured never keeps it to the millisecond,
//! so a burst may be early by a share of the period. Windows of a stream follow each other, so the
//! one that is nearest is there, and half a window is allowed.

use pdm_shared::time::Timestamp;

/// Share of the period by which a burst may be early. Chosen: a sensor that wakes by its own clock
/// every 5 s strays by some tenths of a second to either side, and half of the period would measure
/// twice as often as is configured.
const EARLY: f64 = 0.25;
/// Windows whose starts lie this many lengths apart, or further, are bursts.
const APART: f64 = 1.5;

/// Chooses the windows that are measured.
#[derive(Debug)]
pub(super) struct Pacing {
    /// Time from the start of one window to that of the next, s; 0: every window is measured.
    every_s: f64,
    measured: Option<Timestamp>,
    /// Start of the window before, whether it was measured or not.
    before: Option<Timestamp>,
}

impl Pacing {
    pub(super) const fn new(every_s: f64) -> Self {
        Self { every_s, measured: None, before: None }
    }

    /// Whether the window that begins at this time is measured.
    pub(super) fn is_wanted(&mut self, at: Timestamp, length_s: f64) -> bool {
        let before = self.before.replace(at);
        let is_burst = before.is_some_and(|before| at.seconds_since(before) >= APART * length_s);
        let early_s = if is_burst {
            EARLY * self.every_s
        } else {
            (0.5 * length_s).min(EARLY * self.every_s)
        };
        let wanted = self.every_s <= 0.0
            || self.measured.is_none_or(|last| {
                !(0.0..self.every_s - early_s).contains(&at.seconds_since(last))
            });
        if wanted {
            self.measured = Some(at);
        }
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of windows of a second that are measured of those that begin at these times, s.
    fn measured(every_s: f64, starts_s: impl Iterator<Item = f64>) -> usize {
        let mut pacing = Pacing::new(every_s);
        let at = |s: f64| Timestamp::from_unix_ms((1e12 + 1e3 * s) as i64).expect("a time");
        starts_s.filter(|s| pacing.is_wanted(at(*s), 1.0)).count()
    }

    #[test]
    fn every_burst_of_a_sensor_with_the_configured_period_is_measured() {
        let jitter = |n: u32| [0.3, -0.3, 0.1, -0.2, 0.0][n as usize % 5];
        for every_s in [5.0, 10.0, 60.0] {
            let starts = (0..20).map(|n| f64::from(n) * every_s + jitter(n));
            assert_eq!(measured(every_s, starts), 20, "every {every_s} s");
        }
    }

    #[test]
    fn the_windows_of_a_stream_keep_the_period() {
        let seconds = || (0..101).map(f64::from);
        assert_eq!(measured(10.0, seconds()), 11);
        assert_eq!(measured(2.0, seconds()), 51);
        assert_eq!(measured(0.0, seconds()), 101);
        // bursts that come twice as often
        assert_eq!(measured(10.0, (0..20).map(|n| 5.0 * f64::from(n))), 10);
    }
}
