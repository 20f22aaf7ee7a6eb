//! A window of a bearing moves the condition of its episode.

use pdm_shared::episode::{AcknowledgementState, Condition, FreezeCause, Suppression, Transition};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use uuid::Uuid;

use crate::course::{Arrival, Course, EndCause};
use crate::episode::{Episode, EpisodeStep, Tell};
use crate::finding::Finding;
use crate::hold::EpisodeRules;

/// The observation of a bearing in one window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// When it was measured.
    pub at: Timestamp,
    /// The time at which it is judged: suppressions end by it.
    pub now: Timestamp,
    /// The risk of the bearing.
    pub level: RiskLevel,
    /// The finding of damage.
    pub finding: Finding,
    /// Why the window says nothing new, if it does not.
    pub frozen: Option<FreezeCause>,
    /// The window is older than the bearing's last, or of a clock that was ahead: it can raise a
    /// level, and does nothing else.
    pub is_out_of_order: bool,
    /// The gateway had kept the window back, so it tells of a time before what came meanwhile. One
    /// that is out of order and was not kept back is of now, by a clock that was set.
    pub is_replayed: bool,
    /// The cause that ends the episode with this window, if it is below the lowest level.
    pub ended: Option<EndCause>,
}

/// Follows a window. `episode` is the bearing's last one, which may be closed; `id` is for a new
/// one. Nothing comes out if nothing changes.
pub fn follow(
    episode: Option<&Episode>,
    window: &Observation,
    rules: &EpisodeRules,
    id: Uuid,
) -> Option<EpisodeStep> {
    let level = if window.level >= rules.from { window.level } else { RiskLevel::Normal };
    let window = Observation { level, ..*window };
    match episode.filter(|episode| goes_on(episode, &window, rules)) {
        Some(episode) => on(episode.clone(), &window, rules),
        None if level == RiskLevel::Normal || window.frozen.is_some() => None,
        None => {
            let mut episode = Episode::new(id, window.at);
            episode.course.reach(level, window.at, rules);
            Some(stands(episode, &window, Transition::Opened, Some(Tell::Raised(level))))
        }
    }
}

/// Whether an episode is the one that a window belongs to: it is open, or was closed so lately that
/// the bearing's return is its return.
fn goes_on(episode: &Episode, window: &Observation, rules: &EpisodeRules) -> bool {
    episode.closed_at.is_none()
        || (episode.course.ended.is_none()
            && window.level > RiskLevel::Normal
            && window.at.seconds_since(episode.course.at) < rules.reopen_within_s)
}

fn on(episode: Episode, window: &Observation, rules: &EpisodeRules) -> Option<EpisodeStep> {
    if window.is_out_of_order {
        return out_of_order(episode, window, rules);
    }
    if let Some(cause) = window.frozen {
        return frozen(episode, cause, window.at);
    }
    let mut episode = episode;
    let was = episode.course.condition;
    if let Condition::Frozen { since, .. } = was {
        episode.course.thaw(since, window.at);
    }
    episode.course.at = window.at.max(episode.course.at);
    if window.level == RiskLevel::Normal {
        below(episode, window, was, rules)
    } else {
        at_level(episode, window, was, rules)
    }
}

/// A window whose time is not that of the bearing's last raises what was never told. One that was
/// not kept back is of now: it also raises what was told and left, as one in order would, measured
/// by the bearing's last window.
fn out_of_order(
    mut episode: Episode,
    window: &Observation,
    rules: &EpisodeRules,
) -> Option<EpisodeStep> {
    let (level, was) = (window.level, episode.course.condition);
    if window.frozen.is_some() || level == RiskLevel::Normal {
        return None;
    }
    if episode.course.told.is_some_and(|told| level <= told) {
        if window.is_replayed || level <= was.level() {
            return None;
        }
        let window = Observation { at: episode.course.at, ..*window };
        return at_level(episode, &window, was, rules);
    }
    if episode.waits_for_the_end(level, window.now) {
        return None;
    }
    let at = episode.course.at;
    episode.course.reach(window.level, at, rules);
    let window = Observation { at, ..*window };
    Some(stands(episode, &window, Transition::Rose, Some(Tell::Raised(window.level))))
}

fn frozen(mut episode: Episode, cause: FreezeCause, at: Timestamp) -> Option<EpisodeStep> {
    let was = episode.course.condition;
    let since = match was {
        Condition::Frozen { cause: before, .. } if before == cause => return None,
        Condition::Frozen { since, .. } => since,
        Condition::Normal { .. } | Condition::Active { .. } => at,
    };
    episode.course.condition = Condition::Frozen { level: was.level(), cause, since };
    Some(episode.changed(Transition::Frozen, None, at))
}

/// A window at a level that staff is told of.
fn at_level(
    mut episode: Episode,
    window: &Observation,
    was: Condition,
    rules: &EpisodeRules,
) -> Option<EpisodeStep> {
    let (level, at) = (window.level, window.at);
    let was_over = episode.course.over_at.is_some() || episode.closed_at.is_some();
    let arrival = episode.course.reach(level, at, rules);
    let is_above = episode.course.told.is_none_or(|told| level > told);
    if is_above && !episode.waits_for_the_end(level, window.now) {
        return Some(stands(episode, window, Transition::Rose, Some(Tell::Raised(level))));
    }
    let course = &mut episode.course;
    let is_enough = course.is_told_enough(level, at);
    let is_return = arrival == Arrival::AfterHold;
    let is_owed = course.levels.get(&level).is_some_and(|one| one.is_owed) && !is_enough;
    if (is_return && !is_enough) || is_owed {
        return Some(stands(episode, window, Transition::Returned, Some(Tell::Raised(level))));
    }
    if is_return && level == RiskLevel::Critical {
        let tell = Some(Tell::Insisted(level));
        return Some(stands(episode, window, Transition::Returned, tell));
    }
    if is_return && let Some(one) = course.levels.get_mut(&level) {
        one.is_owed = true;
    }
    // what an earlier version told of the damage is not known: what is found now counts as told
    let is_unknown = episode.course.told.is_some() && episode.course.told_finding.is_none();
    if is_unknown {
        episode.course.tell_finding(window.finding);
    }
    let is_held = episode.suppression.holds(window.now);
    if !is_held && episode.course.has_developed(level, window.finding, at) {
        let tell = Some(Tell::Developed(level));
        return Some(stands(episode, window, Transition::Changed, tell));
    }
    let transition = match was {
        Condition::Active { level: before, .. } if before == level && !was_over => {
            return is_unknown.then(|| stands(episode, window, Transition::Changed, None));
        }
        Condition::Active { level: before, .. } if before > level => Transition::Changed,
        Condition::Frozen { .. } => Transition::Thawed,
        Condition::Active { .. } | Condition::Normal { .. } => Transition::Reopened,
    };
    Some(stands(episode, window, transition, None))
}

/// The episode at the level of a window, with what staff is told of it or what is withheld.
fn stands(
    mut episode: Episode,
    window: &Observation,
    transition: Transition,
    tell: Option<Tell>,
) -> EpisodeStep {
    let (level, at) = (window.level, window.at);
    let since = match episode.course.condition {
        Condition::Active { level: before, since } if before == level => since,
        Condition::Normal { .. } | Condition::Active { .. } | Condition::Frozen { .. } => at,
    };
    episode.course.condition = Condition::Active { level, since };
    episode.course.fault = window.finding.fault.or(episode.course.fault);
    episode.closed_at = None;
    if let AcknowledgementState::Acknowledged { level: seen, .. } = &episode.acknowledgement
        && level > *seen
    {
        episode.acknowledgement = AcknowledgementState::Unacknowledged;
    }
    let tell = told(&mut episode, tell, window);
    episode.changed(transition, tell, window.now)
}

/// A window below every level that staff is told of.
fn below(
    mut episode: Episode,
    window: &Observation,
    was: Condition,
    rules: &EpisodeRules,
) -> Option<EpisodeStep> {
    let at = window.at;
    let over_at = episode.course.over_at;
    episode.course.reach(RiskLevel::Normal, at, rules);
    episode.course.over_at = over_at;
    if !matches!(was, Condition::Normal { .. }) {
        let since = match was {
            Condition::Frozen { level: RiskLevel::Normal, since, .. } => since,
            Condition::Normal { .. } | Condition::Active { .. } | Condition::Frozen { .. } => at,
        };
        episode.course.condition = Condition::Normal { since };
    }
    if let Some(cause) = window.ended.filter(|_| episode.course.ended.is_none()) {
        episode.course.ended = Some(cause);
        return Some(resolved(episode, window));
    }
    if let Some(over_at) = over_at {
        return linger(episode, over_at, was, window, rules);
    }
    if is_over(&episode, at, rules) {
        return Some(resolved(episode, window));
    }
    let transition = match was {
        Condition::Normal { .. } => return None,
        Condition::Frozen { level: RiskLevel::Normal, .. } => Transition::Thawed,
        Condition::Frozen { .. } | Condition::Active { .. } => Transition::Fell,
    };
    Some(episode.changed(transition, None, window.now))
}

/// Whether the hold of the lowest level is over. A level that staff was told of under other rules,
/// and is told of no more, has no hold.
fn is_over(episode: &Episode, at: Timestamp, rules: &EpisodeRules) -> bool {
    let levels = &episode.course.levels;
    match levels.get(&rules.from) {
        Some(lowest) => lowest.below_since.is_some_and(|since| {
            at.seconds_since(since) >= rules.hold_of(rules.from, lowest.returns)
        }),
        None => !levels.is_empty(),
    }
}

/// An episode that is over and that nobody has acknowledged closes in the end.
fn linger(
    mut episode: Episode,
    over_at: Timestamp,
    was: Condition,
    window: &Observation,
    rules: &EpisodeRules,
) -> Option<EpisodeStep> {
    let is_stale = window.at.seconds_since(over_at) >= rules.close_after_s;
    if is_stale && episode.suppression == Suppression::None {
        episode.closed_at = Some(window.now);
        return Some(episode.changed(Transition::Closed, None, window.now));
    }
    let is_thawed = matches!(was, Condition::Frozen { .. });
    is_thawed.then(|| episode.changed(Transition::Thawed, None, window.now))
}

fn resolved(mut episode: Episode, window: &Observation) -> EpisodeStep {
    episode.course.over_at = Some(episode.course.over_at.unwrap_or(window.at));
    for one in episode.course.levels.values_mut() {
        one.is_owed = false;
    }
    let tell = episode.course.told.filter(|_| episode.course.is_announced).map(Tell::Cleared);
    let tell = told(&mut episode, tell, window);
    episode.changed(Transition::Resolved, tell, window.now)
}

/// Returns the message to staff on an episode now. A suppression withholds it, unless it is a rise,
/// which ends the suppression.
fn told(episode: &mut Episode, tell: Option<Tell>, window: &Observation) -> Option<Tell> {
    if tell.and_then(Tell::level).is_some_and(|level| episode.is_a_rise(level)) {
        episode.suppression = Suppression::None;
        episode.course.told_with = None;
    }
    let course = &mut episode.course;
    if episode.suppression.holds(window.now) {
        course.withhold(tell.and_then(Tell::level));
        return None;
    }
    if episode.suppression == Suppression::None || tell.is_some_and(|tell| covers(tell, course)) {
        course.withheld = None;
    }
    if matches!(tell, Some(Tell::Cleared(_))) {
        course.is_announced = false;
    }
    if let Some(level) = tell.and_then(Tell::level) {
        course.tell(level, window.at);
        course.tell_finding(window.finding);
        episode.acknowledgement = AcknowledgementState::Unacknowledged;
    } else if matches!(tell, Some(Tell::Developed(_))) {
        course.tell_development(window.finding, window.at);
    }
    tell
}

/// Whether the message now covers all that was withheld, where a suppression is over and not ended
/// yet.
fn covers(tell: Tell, course: &Course) -> bool {
    let peak = course.withheld.and_then(|one| one.peak);
    tell.level().max(course.told) >= peak
}
