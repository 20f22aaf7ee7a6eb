//! Changes that are no damage: a step that opens an operating state, a bearing that was replaced, a
//! channel that was swapped with its neighbour. Each is told once, in the judgement of the window
//! that completes its evidence.
//!
//! Invariants: impacts and defect lines above their baseline are never explained away; a rise
//! beyond [`super::MonitorSettings::strong_ratio`] is damage, whatever the neighbours do, unless it
//! is the neighbour's own level.

use std::collections::BTreeMap;

use pdm_dsp::robust::median;
use pdm_shared::event::{Change, ChangeKind};
use pdm_shared::id::BearingId;
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::Monitor;
use super::company::{Company, Neighbour, Rise, Seen, SeenLevel, company, swapped_with};
use super::steps::{Changes, Together};
use super::surges::SURGE_WINDOWS;

/// Windows whose median is a level as it is now: those of the shortest rule.
const LATEST: usize = 6;

/// Windows for which a neighbour's operating change is still the same one: twice those of the
/// longest rule for levels.
const SAME_CHANGE_WINDOWS: u64 = 30;

/// Hours without a window in which a bearing can be replaced. Chosen: less than a shift.
const REPLACED_H: f64 = 1.0;

/// … and how many usual times between windows they are at least.
const GAPS_OF_WORK: f64 = 3.0;

/// How far all levels differ after a standstill for it to be told, natural logarithm: a quarter,
/// ISO 20816-1's criterion II.
const CHANGED: f64 = 0.223;

/// How near to the healthy level a bearing that alarmed comes back if it was replaced.
const REPAIRED: f64 = 0.14;

/// Time until a change of the levels is told again. Chosen: a machine that stops each night and
/// whose load differs each day must not write each morning; and its bearings find a load that comes
/// and goes on different days.
const TOLD_AGAIN_S: f64 = 7.0 * 86_400.0;

/// A standstill that the bearing may have been replaced in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Stop {
    /// Levels before it, natural logarithm.
    before: BTreeMap<String, f64>,
    was_alarmed: bool,
    /// Windows since.
    windows: usize,
}

/// The changes that were last told.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ToldChange {
    /// An operating change, at this window of the monitor.
    operating: Option<u64>,
    /// The last operating change that this point found, whoever told it.
    found_load: Option<Timestamp>,
    /// The last one that this point told.
    load: Option<ToldLoad>,
    /// Levels after a standstill.
    replaced: Option<Timestamp>,
}

/// An operating change that a point has told for its machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct ToldLoad {
    at: Timestamp,
    /// Natural logarithm of the ratio of the levels.
    height: f64,
}

impl ToldLoad {
    /// Whether a point that finds a change of this height now, and found the one before at `found`,
    /// finds the one that was told: it has found none since, and the levels go the same way.
    fn is_what_was_found(&self, at: Timestamp, height: f64, found: Option<Timestamp>) -> bool {
        let is_late = (0.0..=TOLD_AGAIN_S).contains(&at.seconds_since(self.at));
        is_late && found.is_none_or(|found| found < self.at) && height * self.height > 0.0
    }
}

impl Monitor {
    /// Returns the levels of this point that its neighbours use.
    pub fn seen(&self) -> Seen {
        let Some(here) = self.baselines.get(&self.steps.applying(&self.baselines)) else {
            return Seen::default();
        };
        let now = self.steps.latest(SURGE_WINDOWS);
        let level = |(key, latest): (String, f64)| {
            let healthy = here.normal(&key)?.log_centre()?;
            let now = now.get(&key).copied().unwrap_or(latest);
            Some((key, SeenLevel { healthy, latest, now }))
        };
        let latest = self.steps.latest(LATEST).into_iter();
        let told = self.told.operating;
        Seen {
            levels: latest.filter_map(level).collect(),
            rise: self.steps.rise(here),
            has_told: told.is_some_and(|at| self.windows - at <= SAME_CHANGE_WINDOWS),
            told_load: self.told.load,
        }
    }

    /// Opens a state for a step to a level that is kept, and takes the alarm back that it raised.
    pub(super) fn holds_as_state(
        &mut self,
        (state, announced): (&str, &str),
        neighbours: &[Neighbour],
    ) -> bool {
        if self.holds_as_swapped((state, announced), neighbours) {
            return true;
        }
        let baselines = self.baselines.get(state).zip(self.baselines.get(announced));
        let Some((here, first)) = baselines else { return false };
        let rise = self.steps.rise(here);
        let company = rise.map_or(Company::Alone, |rise| company(rise, neighbours));
        let together = match company {
            Company::Apart => return false,
            Company::Together => Together::Yes,
            Company::Alone => Together::Unknown,
        };
        let specific = self.detector.specific();
        let Some(changes) = self.steps.found((here, first), specific, together, &self.settings)
        else {
            return false;
        };
        if !self.opens_state((state, announced), &changes) {
            return false;
        }
        // of a machine with one bearing nobody else can tell it
        let is_lone = neighbours.iter().all(|n| n.is_same_bearing || n.seen().levels.is_empty());
        if let Some(Rise { windows, height }) = rise
            && (together == Together::Yes || is_lone)
        {
            self.tell_operating(windows, height, neighbours);
        }
        true
    }

    /// Opens a state for a channel that has a neighbour's level while that one has this point's,
    /// and tells that the two are swapped.
    fn holds_as_swapped(
        &mut self,
        (state, announced): (&str, &str),
        neighbours: &[Neighbour],
    ) -> bool {
        let own = self.seen();
        let Some(neighbour) = swapped_with(&own, neighbours) else { return false };
        let bearings = vec![neighbour.bearing().clone()];
        let Some(here) = self.baselines.get(state) else { return false };
        let changes = self.steps.changes(here, LATEST);
        if !self.opens_state((state, announced), &changes) {
            return false;
        }
        self.tell(ChangeKind::Swapped, LATEST, own.above().unwrap_or(0.0), bearings);
        true
    }

    fn opens_state(&mut self, (state, announced): (&str, &str), changes: &Changes) -> bool {
        let Some(here) = self.baselines.get(state) else { return false };
        let stepped = here.stepped(changes);
        let Some(name) = self.steps.open(announced, &self.baselines) else { return false };
        self.make_room_for(&name);
        self.baselines.insert(name, stepped);
        self.detector.withdraw();
        true
    }

    /// Tells an operating change of the machine, unless a neighbour has told it: at the same time,
    /// or days ago because it found a load that comes and goes sooner.
    fn tell_operating(&mut self, windows: usize, height: f64, neighbours: &[Neighbour]) {
        let Some(at) = self.last_usable else { return };
        let found = self.told.found_load.replace(at);
        self.told.operating = Some(self.windows);
        let is_told = |seen: &Seen| {
            let told = seen.told_load;
            seen.has_told || told.is_some_and(|told| told.is_what_was_found(at, height, found))
        };
        if neighbours.iter().any(|neighbour| is_told(neighbour.seen())) {
            return;
        }
        self.told.load = Some(ToldLoad { at, height });
        let others = neighbours.iter().filter(|n| !n.is_same_bearing && n.seen().above().is_some());
        let mut bearings: Vec<BearingId> = others.map(|n| n.bearing().clone()).collect();
        bearings.dedup();
        self.tell(ChangeKind::Operating, windows, height, bearings);
    }

    fn tell(
        &mut self,
        kind: ChangeKind,
        windows: usize,
        height: f64,
        mut bearings: Vec<BearingId>,
    ) {
        bearings.truncate(pdm_shared::bounds::MAX_CHANGED);
        let Some(since) = self.history.at_back(windows).or(self.last_usable) else { return };
        self.change = Some(Change { kind, since, level_ratio: height.exp(), bearings });
    }

    /// Notices that the machine stood for long enough for a bearing to be replaced.
    pub(super) fn notice_stop(&mut self, gap_h: f64, usual_h: f64) {
        if gap_h >= REPLACED_H.max(GAPS_OF_WORK * usual_h) {
            let before = self.steps.before_latest(LATEST);
            let was_alarmed = self.detector.alarmed();
            self.stop = Some(Stop { before, was_alarmed, windows: 0 });
        }
    }

    /// Compares the levels a few windows after a standstill with the healthy ones. True if they
    /// opened a state.
    pub(super) fn settles_otherwise(
        &mut self,
        at: Timestamp,
        (state, announced): (&str, &str),
        neighbours: &[Neighbour],
    ) -> bool {
        let Some(stop) = &mut self.stop else { return false };
        stop.windows += 1;
        if stop.windows < LATEST {
            return false;
        }
        let Some(stop) = self.stop.take() else { return false };
        let is_suspected = stop.was_alarmed || self.detector.alarmed();
        if !is_suspected && self.holds_as_swapped((state, announced), neighbours) {
            return true;
        }
        let own = self.seen();
        let Some(above) = own.above().filter(|_| own.levels.len() > 1) else { return false };
        let all = |is: &dyn Fn(f64) -> bool| own.levels.values().all(|l| is(l.latest - l.healthy));
        let fell = above <= -CHANGED && all(&|by| by < 0.0);
        let rose = !is_suspected
            && above >= CHANGED
            && all(&|by| by > 0.0 && by < self.settings.strong_ratio.ln())
            && self.steps.is_level_kept(LATEST)
            && !super::steps::speaks_for_a_bearing(self.detector.specific(), LATEST);
        let is_repaired = || {
            let before =
                own.levels.iter().filter_map(|(k, l)| Some(stop.before.get(k)? - l.healthy));
            let before = median(&before.collect::<Vec<_>>()).unwrap_or(0.0);
            stop.was_alarmed && before >= self.settings.level_ratio.ln() && above.abs() <= REPAIRED
        };
        if !(fell || rose || is_repaired()) {
            return false;
        }
        let others = || neighbours.iter().filter(|n| !n.is_same_bearing);
        let moved = |by: f64| by.signum() == above.signum() && by.abs() >= 0.5 * CHANGED;
        let know = others().filter_map(|n| n.seen().above()).count();
        let together = know > 0 && others().filter_map(|n| n.seen().above()).all(moved);
        let changes = self.baselines.get(state).map(|here| self.steps.changes(here, LATEST));
        let opened =
            rose && changes.is_some_and(|changes| self.opens_state((state, announced), &changes));
        if together && (fell || rose) {
            self.tell_operating(LATEST, above, neighbours);
        } else if self.told.replaced.is_none_or(|told| at.seconds_since(told) >= TOLD_AGAIN_S) {
            self.told.replaced = Some(at);
            self.tell(ChangeKind::Replaced, LATEST, above, Vec::new());
        }
        opened
    }
}
