//! The choice of the rows to send next: the backlog of an outage, at its configured rate, and the
//! events measured since then, in the configured order. No I/O here.

use tokio::time::Instant;

use crate::settings::DrainOrder;
use crate::spool::Lane;

/// The two lanes, and the next number of each.
#[derive(Debug)]
pub(super) struct Lanes {
    order: DrainOrder,
    /// Next number of the backlog.
    backlog: u64,
    /// First number measured since this connection began. The backlog ends before it.
    live_from: u64,
    /// Next number of the events measured since this connection began.
    live: u64,
    budget: Option<Budget>,
    /// Number of calls to [`Lanes::call_back`].
    revision: u64,
}

/// The lane of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LaneKind {
    Backlog,
    Live,
}

impl Lanes {
    /// Lanes of a new connection; `last_sequence` is the highest number given out so far.
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

    /// The lane to read next and the number of its rows that may be sent, at most `room`;
    /// `last_sequence` is the highest number given out. `None`: no row may be sent now.
    pub(super) fn next(
        &mut self,
        last_sequence: u64,
        room: usize,
        now: Instant,
    ) -> Option<(LaneKind, Lane, usize)> {
        if room == 0 {
            return None;
        }
        let backlog = Lane { first: self.backlog, end: self.live_from };
        let live = Lane { first: self.live, end: u64::MAX };
        let has_backlog = backlog.first < backlog.end;
        let has_live = live.first <= last_sequence;
        let allowed = self.budget.as_mut().map_or(room, |budget| budget.take_up_to(room, now));
        let live_now = Some((LaneKind::Live, live, room));
        if has_live && (self.order == DrainOrder::LiveFirst || !has_backlog) {
            live_now
        } else if has_backlog && allowed > 0 {
            Some((LaneKind::Backlog, backlog, allowed))
        } else {
            None
        }
    }

    /// Rows of a lane were read up to `last`; `None`: the lane had no more rows.
    pub(super) fn advance(&mut self, which: LaneKind, last: Option<u64>, handed_over: usize) {
        match which {
            LaneKind::Backlog => {
                self.backlog = last.map_or(self.live_from, |last| last + 1);
                if let Some(budget) = &mut self.budget {
                    budget.spend(handed_over);
                }
            }
            LaneKind::Live => self.live = last.map_or(self.live, |last| last + 1),
        }
    }

    /// A row must be sent again, and becomes part of the backlog.
    pub(super) fn call_back(&mut self, sequence: u64) {
        self.revision += 1;
        let is_done = self.backlog >= self.live_from;
        self.backlog = if is_done { sequence } else { self.backlog.min(sequence) };
        self.live_from = self.live_from.max(self.live);
    }

    /// Number of calls to [`Self::call_back`]. The result of a query from before a change is
    /// outdated.
    pub(super) const fn revision(&self) -> u64 {
        self.revision
    }

    /// A lane had no rows up to `last_sequence`.
    pub(super) fn skip_to(&mut self, which: LaneKind, last_sequence: u64) {
        if which == LaneKind::Live {
            self.live = self.live.max(last_sequence + 1);
        }
    }

    /// Whether no row is left to read.
    pub(super) const fn are_empty(&self, last_sequence: u64) -> bool {
        self.backlog >= self.live_from && self.live > last_sequence
    }

    /// Whether the rate holds rows of the backlog back.
    pub(super) const fn is_throttled(&self) -> bool {
        self.budget.is_some() && self.backlog < self.live_from
    }
}

/// A token bucket that holds the rows of a tenth of a second, so that a pause is not followed by a
/// burst that the rate should prevent.
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
        assert_eq!(
            lanes.next(12, 5, now),
            Some((LaneKind::Backlog, Lane { first: 0, end: 11 }, 5))
        );
        lanes.advance(LaneKind::Backlog, Some(8), 5);
        assert_eq!(lanes.next(12, 5, now).map(|next| next.1.first), Some(9));
        lanes.advance(LaneKind::Backlog, None, 0);
        assert_eq!(
            lanes.next(12, 5, now).map(|next| (next.0, next.1.first)),
            Some((LaneKind::Live, 11))
        );
        lanes.advance(LaneKind::Live, Some(12), 2);
        assert_eq!(lanes.next(12, 5, now), None);
    }

    #[test]
    fn live_first_sends_what_is_new_before_the_backlog() {
        let now = Instant::now();
        let mut lanes = Lanes::new(DrainOrder::LiveFirst, None, 10, now);
        assert_eq!(lanes.next(10, 5, now).map(|next| next.0), Some(LaneKind::Backlog));
        assert_eq!(lanes.next(11, 5, now).map(|next| next.0), Some(LaneKind::Live));
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
        assert_eq!(lanes.next(1001, 256, start).map(|next| next.0), Some(LaneKind::Live));
    }

    #[test]
    fn what_is_called_back_is_sent_again() {
        let now = Instant::now();
        let mut lanes = Lanes::new(DrainOrder::OldestFirst, None, 0, now);
        lanes.advance(LaneKind::Backlog, None, 0);
        lanes.advance(LaneKind::Live, Some(9), 9);
        assert_eq!(lanes.next(9, 5, now), None);
        lanes.call_back(4);
        assert_eq!(lanes.next(9, 5, now), Some((LaneKind::Backlog, Lane { first: 4, end: 10 }, 5)));
    }
}
