//! What is sent next: the backlog of an outage and what is measured now, in the order that the
//! configuration asks for, the backlog at its rate. No I/O here.

use crate::settings::DrainOrder;
use crate::spool::Lane;
use tokio::time::Instant;

/// The two lanes and how far each has been handed over.
#[derive(Debug)]
pub(super) struct Lanes {
    order: DrainOrder,
    /// Next number of the backlog.
    backlog: u64,
    /// First number measured since this connection began: the backlog ends before it.
    live_from: u64,
    /// Next number of what is measured now.
    live: u64,
    budget: Option<Budget>,
    /// How often rows were called back.
    revision: u64,
}

/// Which lane rows came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Backlog,
    Live,
}

impl Lanes {
    /// Lanes of a new connection when `last_sequence` was given out last.
    pub(super) fn new(
        order: DrainOrder,
        per_s: Option<u32>,
        last_sequence: u64,
        now: Instant,
    ) -> Self {
        let live_from = last_sequence + 1;
        let budget = per_s.map(|per_s| Budget::new(f64::from(per_s), now));
        Self { order, backlog: 0, live_from, live: live_from, budget, revision: 0 }
    }

    /// The lane to read next and how many rows of it may be sent, at most `room`; `last_sequence`
    /// is the highest number given out. `None`: nothing to send, or not yet.
    pub(super) fn next(
        &mut self,
        last_sequence: u64,
        room: usize,
        now: Instant,
    ) -> Option<(Which, Lane, usize)> {
        if room == 0 {
            return None;
        }
        let backlog = Lane { first: self.backlog, end: self.live_from };
        let live = Lane { first: self.live, end: u64::MAX };
        let has_backlog = backlog.first < backlog.end;
        let has_live = live.first <= last_sequence;
        let allowed = self.budget.as_mut().map_or(room, |budget| budget.take_up_to(room, now));
        let live_now = Some((Which::Live, live, room));
        if has_live && (self.order == DrainOrder::LiveFirst || !has_backlog) {
            live_now
        } else if has_backlog && allowed > 0 {
            Some((Which::Backlog, backlog, allowed))
        } else {
            None
        }
    }

    /// Rows of a lane were handed over up to `last`, or, with `None`, there were no more.
    pub(super) fn advance(&mut self, which: Which, last: Option<u64>, handed_over: usize) {
        match which {
            Which::Backlog => {
                self.backlog = last.map_or(self.live_from, |last| last + 1);
                if let Some(budget) = &mut self.budget {
                    budget.spend(handed_over);
                }
            }
            Which::Live => self.live = last.map_or(self.live, |last| last + 1),
        }
    }

    /// A row must be sent again: it joins the backlog.
    pub(super) fn call_back(&mut self, sequence: u64) {
        self.revision += 1;
        let is_done = self.backlog >= self.live_from;
        self.backlog = if is_done { sequence } else { self.backlog.min(sequence) };
        self.live_from = self.live_from.max(self.live);
    }

    /// Changes when rows are called back: what was asked before is then out of date.
    pub(super) const fn revision(&self) -> u64 {
        self.revision
    }

    /// A lane had no rows up to `last_sequence`.
    pub(super) fn skip_to(&mut self, which: Which, last_sequence: u64) {
        if which == Which::Live {
            self.live = self.live.max(last_sequence + 1);
        }
    }

    /// Nothing is left to hand over.
    pub(super) const fn are_empty(&self, last_sequence: u64) -> bool {
        self.backlog >= self.live_from && self.live > last_sequence
    }

    /// The backlog waits for its rate.
    pub(super) const fn is_throttled(&self) -> bool {
        self.budget.is_some() && self.backlog < self.live_from
    }
}

/// A token bucket of a tenth of a second.
#[derive(Debug)]
struct Budget {
    per_s: f64,
    tokens: f64,
    filled: Instant,
}

impl Budget {
    const fn new(per_s: f64, now: Instant) -> Self {
        Self { per_s, tokens: 1.0, filled: now }
    }

    fn take_up_to(&mut self, room: usize, now: Instant) -> usize {
        let gained = now.duration_since(self.filled).as_secs_f64() * self.per_s;
        self.tokens = (self.tokens + gained).min((self.per_s / 10.0).max(1.0));
        self.filled = now;
        room.min(self.tokens as usize)
    }

    fn spend(&mut self, rows: usize) {
        self.tokens = (self.tokens - rows as f64).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn oldest_first_sends_the_backlog_before_what_is_new() {
        let now = Instant::now();
        let mut lanes = Lanes::new(DrainOrder::OldestFirst, None, 10, now);
        assert_eq!(lanes.next(12, 5, now), Some((Which::Backlog, Lane { first: 0, end: 11 }, 5)));
        lanes.advance(Which::Backlog, Some(8), 5);
        assert_eq!(lanes.next(12, 5, now).map(|next| next.1.first), Some(9));
        lanes.advance(Which::Backlog, None, 0);
        assert_eq!(
            lanes.next(12, 5, now).map(|next| (next.0, next.1.first)),
            Some((Which::Live, 11))
        );
        lanes.advance(Which::Live, Some(12), 2);
        assert_eq!(lanes.next(12, 5, now), None);
    }

    #[test]
    fn live_first_sends_what_is_new_before_the_backlog() {
        let now = Instant::now();
        let mut lanes = Lanes::new(DrainOrder::LiveFirst, None, 10, now);
        assert_eq!(lanes.next(10, 5, now).map(|next| next.0), Some(Which::Backlog));
        assert_eq!(lanes.next(11, 5, now).map(|next| next.0), Some(Which::Live));
    }

    #[test]
    fn the_rate_holds_the_backlog_back_and_not_what_is_new() {
        let start = Instant::now();
        let mut lanes = Lanes::new(DrainOrder::LiveFirst, Some(100), 1000, start);
        let mut sent = 0;
        for ms in 0..1000 {
            let now = start + Duration::from_millis(ms);
            if let Some((which, lane, count)) = lanes.next(1000, 256, now) {
                sent += count;
                lanes.advance(which, Some(lane.first + count as u64), count);
            }
        }
        assert!((99..=102).contains(&sent), "{sent} in one second at 100/s");
        assert!(lanes.is_throttled());
        assert_eq!(lanes.next(1001, 256, start).map(|next| next.0), Some(Which::Live));
    }

    #[test]
    fn what_is_called_back_is_sent_again() {
        let now = Instant::now();
        let mut lanes = Lanes::new(DrainOrder::OldestFirst, None, 0, now);
        lanes.advance(Which::Backlog, None, 0);
        lanes.advance(Which::Live, Some(9), 9);
        assert_eq!(lanes.next(9, 5, now), None);
        lanes.call_back(4);
        assert_eq!(lanes.next(9, 5, now), Some((Which::Backlog, Lane { first: 4, end: 10 }, 5)));
    }
}
