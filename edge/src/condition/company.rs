//! Compares a point with the other measuring points of its machine, as of the window before: did
//! all of its bearings take a step together, or did two channels change places?
//!
//! A load, a speed or a process moves every bearing of a machine; damage moves one bearing, and its
//! neighbours less. So a step of one bearing while the others stand still is no operating state.
//! Invariant: nothing is concluded from a neighbour that has not learnt its levels yet.

use std::collections::BTreeMap;
use std::sync::Arc;

use pdm_dsp::robust::median;
use pdm_shared::id::BearingId;

use super::changes::ToldLoad;

/// Windows by which a step may seem earlier or later at a neighbour, whose latest window is not
/// known yet.
const APART: usize = 2;

/// Least step of a neighbour that counts as the same, natural logarithm. Chosen: 8 %, four times
/// the error of the median of six windows that stray by 5 % each.
const LEAST_STEP: f64 = 0.08;

/// A neighbour whose levels have risen by this share of the step has taken it, though its own
/// scatter hides the step.
const SHARED: f64 = 0.5;

/// How near a level must lie to the healthy one of the neighbour for the channels to have been
/// swapped, and what two bearings must differ by at least for that to be told, natural logarithm.
/// Chosen: the medians of six windows stray by 3 %; [`super::MonitorSettings::level_ratio`] is what
/// counts as a change.
const SWAPPED_NEAR: f64 = 0.12;
const SWAPPED_APART: f64 = 0.26;

/// A step upwards among the latest windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rise {
    /// Windows since the step.
    pub(super) windows: usize,
    /// Its height, natural logarithm.
    pub(super) height: f64,
}

/// A level, natural logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SeenLevel {
    pub(super) healthy: f64,
    pub(super) latest: f64,
    /// The level of fewer windows, which a change reaches first.
    pub(super) now: f64,
}

/// A monitor as its neighbours see it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seen {
    /// The levels by feature; empty while nothing is learnt.
    pub(super) levels: BTreeMap<String, SeenLevel>,
    pub(super) rise: Option<Rise>,
    /// An operating change of the machine was told lately, or will be with the next event.
    pub(super) has_told: bool,
    /// The last operating change of the machine that this point has told.
    pub(super) told_load: Option<ToldLoad>,
}

/// A measuring point beside the one that is judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbour {
    /// Its bearing and what it saw, shared among the points of the machine.
    pub point: Arc<(BearingId, Seen)>,
    /// It is of the same bearing as the one that is judged.
    pub is_same_bearing: bool,
}

impl Neighbour {
    pub(super) fn bearing(&self) -> &BearingId {
        &self.point.0
    }

    pub(super) fn seen(&self) -> &Seen {
        &self.point.1
    }
}

/// The behaviour of the neighbours at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Company {
    /// No other bearing can tell, or none says it clearly.
    Alone,
    /// All of the machine's bearings took the step.
    Together,
    /// Another bearing stood still.
    Apart,
}

impl Seen {
    /// Returns how far the latest levels lie above the healthy ones: the median of them.
    pub(super) fn above(&self) -> Option<f64> {
        let above: Vec<f64> = self.levels.values().map(|l| l.latest - l.healthy).collect();
        median(&above)
    }

    /// Median distance of two healthy levels, and of the present ones from the other's healthy
    /// ones.
    fn distances_to(&self, other: &Self, present: fn(&SeenLevel) -> f64) -> Option<(f64, f64)> {
        let pairs = || {
            let pair = |(key, own): (&String, &SeenLevel)| Some((*own, *other.levels.get(key)?));
            self.levels.iter().filter_map(pair)
        };
        let apart: Vec<f64> =
            pairs().map(|(own, there)| (own.healthy - there.healthy).abs()).collect();
        let near =
            pairs().map(|(own, there)| (present(&own) - there.healthy).abs()).reduce(f64::max)?;
        Some((median(&apart)?, near))
    }
}

/// Returns the behaviour of the neighbours at a step that this point took.
pub(super) fn company(step: Rise, neighbours: &[Neighbour]) -> Company {
    let known: Vec<&Neighbour> =
        neighbours.iter().filter(|n| !n.seen().levels.is_empty()).collect();
    if known.iter().all(|neighbour| neighbour.is_same_bearing) {
        return Company::Alone;
    }
    let rose_with = |seen: &Seen| {
        seen.rise.is_some_and(|rise| {
            rise.windows.abs_diff(step.windows) <= APART && rise.height >= LEAST_STEP
        })
    };
    let above = |seen: &Seen| seen.above().unwrap_or(0.0);
    let took = |n: &&Neighbour| rose_with(n.seen()) || above(n.seen()) >= SHARED * step.height;
    let stood = |n: &&Neighbour| !rose_with(n.seen()) && above(n.seen()) < LEAST_STEP;
    if known.iter().all(took) {
        Company::Together
    } else if known.iter().any(stood) {
        Company::Apart
    } else {
        Company::Alone
    }
}

/// The neighbour whose levels this point has now while that one has this point's.
pub(super) fn swapped_with<'a>(own: &Seen, neighbours: &'a [Neighbour]) -> Option<&'a Neighbour> {
    neighbours.iter().find(|neighbour| {
        have_each_others(own, neighbour.seen(), |level| level.latest, SWAPPED_NEAR)
    })
}

/// Whether the first windows after a change look as if two channels were swapped: then more of them
/// have to decide.
pub(super) fn may_be_swapped(own: &Seen, neighbours: &[Neighbour]) -> bool {
    // so few windows stray by twice as much
    let near = 2.0 * SWAPPED_NEAR;
    neighbours.iter().any(|one| have_each_others(own, one.seen(), |level| level.now, near))
}

fn have_each_others(one: &Seen, other: &Seen, present: fn(&SeenLevel) -> f64, near: f64) -> bool {
    let there = one.distances_to(other, present).zip(other.distances_to(one, present));
    there.is_some_and(|((apart, own_near), (_, other_near))| {
        one.levels.len() > 1 && apart >= SWAPPED_APART && own_near <= near && other_near <= near
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neighbour(healthy: f64, latest: f64, rise: Option<(usize, f64)>) -> Neighbour {
        let level = SeenLevel { healthy, latest, now: latest };
        let levels = ["rms_g", "envelope_rms_g"].map(|key| (key.to_owned(), level)).into();
        let rise = rise.map(|(windows, height)| Rise { windows, height });
        let seen = Seen { levels, rise, has_told: false, told_load: None };
        let point = Arc::new(("NDE".parse().expect("name"), seen));
        Neighbour { point, is_same_bearing: false }
    }

    #[test]
    fn a_step_is_the_machines_if_every_bearing_took_it() {
        let step = Rise { windows: 7, height: 0.4 };
        let took = neighbour(0.0, 0.3, Some((6, 0.3)));
        let stood = neighbour(0.0, 0.0, None);
        let unknown = Arc::new(("NDE".parse().expect("name"), Seen::default()));
        let learns = Neighbour { point: unknown, is_same_bearing: false };
        let own = Neighbour { is_same_bearing: true, ..stood.clone() };
        assert_eq!(company(step, &[took.clone(), learns.clone()]), Company::Together);
        assert_eq!(company(step, &[took.clone(), stood]), Company::Apart);
        assert_eq!(company(step, &[neighbour(0.0, 0.05, Some((20, 0.3)))]), Company::Apart);
        assert_eq!(company(step, &[neighbour(0.0, 0.3, None)]), Company::Together);
        assert_eq!(company(step, &[neighbour(0.0, 0.15, None)]), Company::Alone);
        assert_eq!(company(step, &[learns]), Company::Alone);
        assert_eq!(company(step, &[own]), Company::Alone);
    }

    #[test]
    fn channels_are_swapped_if_each_has_the_others_level() {
        let own = neighbour(0.0, 0.7, None);
        let own = own.seen();
        assert!(swapped_with(own, &[neighbour(0.7, 0.0, None)]).is_some());
        assert!(swapped_with(own, &[neighbour(0.7, 0.7, None)]).is_none());
        assert!(swapped_with(own, &[neighbour(0.7, 0.3, None)]).is_none());
        let alike = neighbour(0.0, 0.1, None);
        assert!(swapped_with(alike.seen(), &[neighbour(0.1, 0.0, None)]).is_none());
    }
}
