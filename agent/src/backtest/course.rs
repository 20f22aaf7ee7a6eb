//! The course of a bearing while it is played: its times, its gateways, and a bounded picture of
//! its level.
//!
//! Invariant: bounded, whatever the number of windows. The picture holds [`MOST_POINTS`] stretches
//! of one length; when they are full, two become one.

use pdm_shared::event::Event;
use pdm_shared::id::GatewayId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::played::Hole;

/// Stretches of a picture: a plot of a page's width shows no more.
const MOST_POINTS: usize = 480;
/// Times from window to window by which the usual one is found.
const INTERVALS: usize = 101;
/// Times without a window that are kept. A bearing has a few holes; what has more has no period.
const MOST_HOLES: usize = 500;
/// A hole is longer than this (chosen: shorter ones are stops of an evening), s …
const HOLE_S: f64 = 6.0 * 3600.0;
/// … and than this many periods (chosen).
const HOLE_PERIODS: f64 = 10.0;

/// A stretch of a bearing's course.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    /// Its first window.
    pub(crate) at: Timestamp,
    /// The highest ratio of the level to its baseline; `None` while no baseline is learnt.
    pub(crate) ratio: Option<f64>,
    /// The worst risk under each configuration.
    pub(crate) risks: Vec<RiskLevel>,
}

/// The course so far.
#[derive(Debug, Default)]
pub(super) struct Course {
    points: Vec<Point>,
    stretch_s: f64,
    begun: Option<Timestamp>,
    last: Option<Timestamp>,
    intervals_s: Vec<f64>,
    gaps: Vec<Hole>,
    gateways: Vec<(GatewayId, Timestamp)>,
    windows: u64,
    late: u64,
}

/// The totals of a course at its end.
pub(super) struct Ended {
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
    pub(super) period_s: Option<f64>,
    pub(super) holes: Vec<Hole>,
    pub(super) gateways: Vec<(GatewayId, Timestamp)>,
    pub(super) points: Vec<Point>,
    pub(super) windows: u64,
    pub(super) late: u64,
}

impl Course {
    pub(super) fn take(&mut self, event: &Event, is_late: bool, risks: &[RiskLevel]) {
        self.windows += 1;
        self.late += u64::from(is_late);
        let at = event.measured_at;
        if !self.gateways.iter().any(|(known, _)| *known == event.gateway_id) {
            self.gateways.push((event.gateway_id.clone(), at));
        }
        let Some(last) = self.last else {
            (self.begun, self.last) = (Some(at), Some(at));
            self.push(event, risks);
            return;
        };
        let interval_s = at.seconds_since(last);
        if interval_s <= 0.0 {
            return;
        }
        self.last = Some(at);
        if self.intervals_s.len() < INTERVALS {
            self.intervals_s.push(interval_s);
        }
        if interval_s > HOLE_S {
            self.add_gap(Hole { from: last, until: at });
        }
        self.push(event, risks);
    }

    /// Keeps the longest: the shortest of many is a period rather than a hole.
    fn add_gap(&mut self, gap: Hole) {
        self.gaps.push(gap);
        if self.gaps.len() <= MOST_HOLES {
            return;
        }
        let length_s = |gap: &Hole| gap.until.seconds_since(gap.from);
        let gaps = self.gaps.iter().enumerate();
        let shortest = gaps.min_by(|(_, a), (_, b)| length_s(a).total_cmp(&length_s(b)));
        if let Some(place) = shortest.map(|(place, _)| place) {
            self.gaps.remove(place);
        }
    }

    fn push(&mut self, event: &Event, risks: &[RiskLevel]) {
        let point = Point {
            at: event.measured_at,
            ratio: event.anomaly.level_ratio,
            risks: risks.to_vec(),
        };
        let is_of_last =
            |last: &Point| self.stretch_s > 0.0 && self.stretch(last.at) == self.stretch(point.at);
        match self.points.last() {
            Some(last) if is_of_last(last) => {
                if let Some(last) = self.points.last_mut() {
                    last.join(&point);
                }
            }
            _ => self.points.push(point),
        }
        if self.points.len() > MOST_POINTS {
            self.thin();
        }
    }

    /// The number of the stretch in which an instant lies, counted from the first window.
    fn stretch(&self, at: Timestamp) -> i64 {
        let begun = self.begun.unwrap_or(at);
        (at.seconds_since(begun) / self.stretch_s).floor() as i64
    }

    /// Makes the stretches twice as long.
    fn thin(&mut self) {
        if self.stretch_s <= 0.0 {
            let (Some(first), Some(last)) = (self.points.first(), self.points.last()) else {
                return;
            };
            self.stretch_s = last.at.seconds_since(first.at) / MOST_POINTS as f64;
        }
        while self.points.len() > MOST_POINTS / 2 {
            self.stretch_s *= 2.0;
            let mut joined: Vec<Point> = Vec::with_capacity(MOST_POINTS);
            for point in std::mem::take(&mut self.points) {
                match joined.last_mut() {
                    Some(last) if self.stretch(last.at) == self.stretch(point.at) => {
                        last.join(&point);
                    }
                    _ => joined.push(point),
                }
            }
            self.points = joined;
        }
    }

    /// Returns the course at its end; `None` if it has no window.
    pub(super) fn end(mut self) -> Option<Ended> {
        self.intervals_s.sort_by(f64::total_cmp);
        let period_s = self.intervals_s.get(self.intervals_s.len() / 2).copied();
        let least_s = HOLE_S.max(HOLE_PERIODS * period_s.unwrap_or(0.0));
        self.gaps.retain(|gap| gap.until.seconds_since(gap.from) > least_s);
        Some(Ended {
            first: self.begun?,
            last: self.last?,
            period_s,
            holes: self.gaps,
            gateways: self.gateways,
            points: self.points,
            windows: self.windows,
            late: self.late,
        })
    }
}

impl Point {
    fn join(&mut self, other: &Self) {
        self.ratio = match (self.ratio, other.ratio) {
            (Some(one), Some(another)) => Some(one.max(another)),
            (one, another) => one.or(another),
        };
        for (mine, theirs) in self.risks.iter_mut().zip(&other.risks) {
            *mine = (*mine).max(*theirs);
        }
    }
}
