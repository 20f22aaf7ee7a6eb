//! Connections that the broker ends again and again soon after it took them. No I/O here.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// The length from which a connection counts as sound. Chosen: a client of the same name that waits
/// up to its longest pause of 30 s comes back within it.
pub(super) const SOUND: Duration = Duration::from_mins(1);
/// The time in which losses are counted.
const WINDOW: Duration = Duration::from_mins(5);
/// The number of losses from which they are no accident of a network: a broker that restarts, or a
/// link that is bad for a minute, costs one or two.
const OFTEN: usize = 5;

/// The losses of connections that had been made.
#[derive(Debug, Default)]
pub(super) struct Unsteady {
    lost: VecDeque<Instant>,
}

impl Unsteady {
    /// Notes that a connection ended after it had stood for `stood`; returns true if that has come
    /// too often.
    pub(super) fn ended(&mut self, stood: Duration, now: Instant) -> bool {
        if stood >= SOUND {
            self.lost.clear();
            return false;
        }
        while self.lost.front().is_some_and(|at| now.duration_since(*at) > WINDOW) {
            self.lost.pop_front();
        }
        self.lost.push_back(now);
        if self.lost.len() > OFTEN {
            self.lost.pop_front();
        }
        self.lost.len() >= OFTEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-EDGE-10
    #[test]
    fn five_short_connections_in_five_minutes_are_no_accident() {
        let (mut unsteady, begin) = (Unsteady::default(), Instant::now());
        let at = |s| begin + Duration::from_secs(s);
        let short = Duration::from_secs(3);
        for s in [0, 10, 20, 30] {
            assert!(!unsteady.ended(short, at(s)));
        }
        assert!(unsteady.ended(short, at(40)));
        assert!(!unsteady.ended(SOUND, at(120)), "it stood");
        for s in [200, 300, 400, 500] {
            assert!(!unsteady.ended(short, at(s)));
        }
        assert!(!unsteady.ended(short, at(700)), "too far apart");
    }
}
