//! Whose turn a thorough look is.
//!
//! A look takes twenty times the time and twice the memory of the fast path, and points that began
//! together want theirs together: at the first window, when the baseline is complete, an hour later.
//! A live source would stand still meanwhile and its blocks pile up. So looks at live sources are
//! taken one at a time in a process, and of each source at most one a second; who finds no turn asks
//! again with the next window. Looks at recordings wait for nobody, so that a recording gives the same
//! events every time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Time of the machine for each look, s. Chosen: a look at a second of 25.6 kHz takes 0.1 s of a
/// desktop's core and about half a second of a small gateway's.
const EVERY_S: f64 = 1.0;

/// What one look at a time holds; clones are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Turn(Arc<Mutex<()>>);

/// The looks of one source; clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Looks {
    live: Option<Arc<Live>>,
}

#[derive(Debug)]
struct Live {
    turn: Turn,
    /// Time for which no look was taken yet, s.
    saved_s: Mutex<f64>,
}

impl Looks {
    /// Looks at a live source.
    pub(super) fn live(turn: &Turn) -> Self {
        let live = Live { turn: turn.clone(), saved_s: Mutex::new(EVERY_S) };
        Self { live: Some(Arc::new(live)) }
    }

    /// Windows that stand for `machine_s` seconds of the machine are measured next. What an earlier
    /// time was not used for does not pile up beyond one look.
    pub(super) fn pass(&self, machine_s: f64) {
        if let Some(live) = &self.live {
            let mut saved_s = lock(&live.saved_s);
            *saved_s = (*saved_s + machine_s).min(machine_s.max(EVERY_S));
        }
    }

    /// True if a look may be taken now; it then counts as taken.
    pub(super) fn may_begin(&self) -> bool {
        let Some(live) = &self.live else { return true };
        let mut saved_s = lock(&live.saved_s);
        let may = *saved_s >= EVERY_S;
        if may {
            *saved_s -= EVERY_S;
        }
        may
    }

    /// Waits until no other look is taken; `None` where none is waited for.
    pub(super) fn turn(&self) -> Option<MutexGuard<'_, ()>> {
        self.live.as_ref().map(|live| lock(&live.turn.0))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // a number is whole whatever panicked beside it
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of eight points that all want to look may do so.
    fn taken(looks: &Looks) -> usize {
        (0..8).filter(|_| looks.may_begin()).count()
    }

    #[test]
    fn a_live_source_takes_one_look_a_second() {
        let looks = Looks::live(&Turn::default());
        assert_eq!(taken(&looks), 1, "the first window");
        looks.pass(1.0);
        assert_eq!(taken(&looks), 1);
        let short: Vec<usize> = (0..8)
            .map(|_| {
                looks.pass(0.25);
                taken(&looks)
            })
            .collect();
        assert_eq!(short, [0, 0, 0, 1, 0, 0, 0, 1], "four windows a second");
    }

    #[test]
    fn a_measurement_every_ten_minutes_has_time_for_all_looks() {
        let looks = Looks::live(&Turn::default());
        looks.pass(600.0);
        assert_eq!(taken(&looks), 8);
        // an hour without a look does not become sixty at once
        (0..3600).for_each(|_| looks.pass(1.0));
        assert_eq!(taken(&looks), 1);
    }

    #[test]
    fn a_recording_waits_for_nobody() {
        let looks = Looks::default();
        assert!(looks.turn().is_none());
        assert_eq!(taken(&looks), 8);
    }
}
