//! Scheduling of thorough looks, so that live sources are not held up.
//!
//! A look takes twenty times the time and twice the memory of the fast path. Points that began
//! together become due together: at the first window, when the baseline is complete, an hour later.
//! If they all looked at once, measuring would pause and the blocks of a live source would pile up.
//! So a process takes one look at a live source at a time, and each live source at most one a
//! second; a point that is refused asks again with its next window. Looks at recordings are never
//! refused, so that a recording gives the same events every time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Machine time between two looks at a live source, s. A look at one second of 25.6 kHz takes 0.1 s
/// of a desktop's core and about 0.5 s of a small gateway's, so looks take half of one core at
/// most.
const EVERY_S: f64 = 1.0;

/// The lock that a look at a live source holds; clones share it.
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
    /// Machine time since the last look that no look has used, s.
    saved_s: Mutex<f64>,
}

impl Looks {
    /// The looks of a live source.
    pub(super) fn live(turn: &Turn) -> Self {
        let live = Live { turn: turn.clone(), saved_s: Mutex::new(EVERY_S) };
        Self { live: Some(Arc::new(live)) }
    }

    /// Windows that stand for `machine_s` seconds of the machine are measured next. Unused time
    /// of earlier windows counts for one look at most.
    pub(super) fn pass(&self, machine_s: f64) {
        if let Some(live) = &self.live {
            let mut saved_s = lock(&live.saved_s);
            *saved_s = (*saved_s + machine_s).min(machine_s.max(EVERY_S));
        }
    }

    /// Whether a look may be taken now. The look then counts as taken.
    pub(super) fn may_begin(&self) -> bool {
        let Some(live) = &self.live else { return true };
        let mut saved_s = lock(&live.saved_s);
        let may = *saved_s >= EVERY_S;
        if may {
            *saved_s -= EVERY_S;
        }
        may
    }

    /// Waits until no other look at a live source is under way; `None` for a recording, whose
    /// looks do not wait.
    pub(super) fn turn(&self) -> Option<MutexGuard<'_, ()>> {
        self.live.as_ref().map(|live| lock(&live.turn.0))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // a number is written in one step, so a panic elsewhere cannot leave it half-written
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of looks that eight points get which are all due.
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
