//! Tells faults of a source's times: that the gateway's clock was moved, that windows come at
//! another period. Each is told once: a clock by one of the live sources, a period by the first
//! point of a window.

use std::sync::{Arc, Mutex, PoisonError};

use pdm_service::clock::{JUMP_S, JumpWatch, SharedClock};
use pdm_shared::event::{Event, Timing};
use pdm_shared::time::Timestamp;

/// Notices that the clock of this gateway was moved; clones share it, so that one source tells.
///
/// Windows before a restart count as well: a clock that stands before them was set back.
#[derive(Debug, Clone)]
pub(super) struct ClockWatch(Arc<Mutex<Watch>>);

#[derive(Debug)]
struct Watch {
    jumps: JumpWatch,
    /// The latest window of runs before; `None` after the first look.
    remembered: Option<Timestamp>,
}

impl ClockWatch {
    /// A watch that begins now.
    pub(super) fn new(clock: &SharedClock) -> Self {
        let jumps = JumpWatch::new(Arc::clone(clock));
        Self(Arc::new(Mutex::new(Watch { jumps, remembered: None })))
    }

    /// A point of a live source had measured this window in a run before.
    pub(super) fn remember(&self, window: Option<Timestamp>) {
        let mut watch = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watch.remembered = watch.remembered.max(window);
    }

    /// Returns by how much the clock was moved since the last look, s.
    pub(super) fn moved_s(&self, now: Timestamp) -> Option<f64> {
        let mut watch = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // a gateway that was off moves no clock ahead, but time never runs back
        let since_s = watch.remembered.take().map(|at| now.seconds_since(at));
        let back_s = since_s.filter(|since_s| *since_s < -JUMP_S);
        watch.jumps.moved_s().or(back_s)
    }
}

/// Tells a moved clock in the first of a source's events.
pub(super) fn tell_moved(events: &mut [Event], moved_s: Option<f64>) {
    if let (Some(event), Some(_)) = (events.first_mut(), moved_s) {
        let period = event.timing.take().and_then(|timing| timing.period);
        event.timing = Some(Timing { clock_moved_s: moved_s, period });
    }
}

/// Delay of a window's samples at the gateway above which the event says so, s: the messages of a
/// burst over a slow radio take less.
const LATE_S: f64 = 60.0;

/// Marks the events of samples that waited on their way to the gateway.
pub(super) fn tell_delay(events: &mut [Event], now: Timestamp) {
    for event in events {
        let ended_at = event.measured_at.plus_seconds(event.window.duration_s);
        let delayed_s = now.seconds_since(ended_at);
        if delayed_s > LATE_S {
            event.replayed = true;
            event.delayed_s = delayed_s;
        }
    }
}

/// Leaves another period in the first of the events of one window that tell it.
pub(super) fn tell_period_once(events: &mut [Event]) {
    let mut told = None;
    for event in events.iter_mut().filter(|event| event.timing.is_some()) {
        if told.replace(event.measured_at) == Some(event.measured_at) {
            event.timing = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use pdm_service::clock::SystemClock;

    use super::*;

    #[test]
    fn a_clock_that_was_set_back_while_the_edge_was_stopped_is_noticed() {
        let clock: SharedClock = Arc::new(SystemClock);
        let now = clock.now();
        let watch = ClockWatch::new(&clock);
        watch.remember(Some(now.plus_seconds(4000.0)));
        watch.remember(None);
        let moved_s = watch.moved_s(now);
        assert!(moved_s.is_some_and(|moved_s| (-4001.0..-3999.0).contains(&moved_s)));
        assert_eq!(watch.clone().moved_s(now), None, "told once");
        let stopped = ClockWatch::new(&clock);
        stopped.remember(Some(now.plus_seconds(-4000.0)));
        assert_eq!(stopped.moved_s(now), None, "an edge that was stopped for an hour");
    }
}
