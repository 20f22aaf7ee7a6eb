//! The axis of the condition: where a bearing stands, which levels it has reached and left, what
//! was told of them and what was withheld.

use std::collections::BTreeMap;

use pdm_shared::episode::Condition;
use pdm_shared::fault::Fault;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::finding::{Finding, ToldFinding};
use crate::hold::{EpisodeRules, TELLINGS, TELLINGS_S};

/// The course of an episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Course {
    /// Where the bearing stands.
    pub condition: Condition,
    /// The last window that counted.
    pub at: Timestamp,
    /// The element that was named last.
    #[serde(default)]
    pub fault: Option<Fault>,
    /// The damage that staff was told of; `None` where an earlier version told it, or nobody was
    /// told.
    #[serde(default)]
    pub told_finding: Option<ToldFinding>,
    /// The levels that the bearing has reached.
    #[serde(default)]
    pub levels: BTreeMap<RiskLevel, LevelCourse>,
    /// The highest level that staff was told.
    #[serde(default)]
    pub told: Option<RiskLevel>,
    /// Staff was last told that it stands, and not that it is over.
    #[serde(default)]
    pub is_announced: bool,
    /// The level and state that a suppression has kept from staff.
    #[serde(default)]
    pub withheld: Option<Withheld>,
    /// The level with which another bearing's alarm tells of this one, while that suppresses it.
    #[serde(default)]
    pub told_with: Option<ToldWith>,
    /// When the hold after the fall below the lowest level was over.
    #[serde(default)]
    pub over_at: Option<Timestamp>,
    /// The cause that ended it for good, if it has ended.
    #[serde(default)]
    pub ended: Option<EndCause>,
}

/// One level within an episode.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LevelCourse {
    /// The time since which the bearing is known to be below; `None` while it is at the level or
    /// above.
    pub below_since: Option<Timestamp>,
    /// How often it came back.
    pub returns: u32,
    /// The last times at which staff was told of exactly this level, oldest first.
    pub tellings: Vec<Timestamp>,
    /// The level came back after its hold and was told too often to be told again.
    pub is_owed: bool,
}

/// The level and state that a suppression has kept from staff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withheld {
    /// The highest level that was to be told.
    pub peak: Option<RiskLevel>,
    /// The bearing is below the lowest level for longer than the hold since.
    pub is_resolved: bool,
}

/// The telling of a bearing by another bearing's alarm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ToldWith {
    /// The level of this bearing that the other's alarm covers: a higher one is told by itself.
    pub level: RiskLevel,
    /// The time since which it is told so.
    pub since: Timestamp,
    /// The other's alarm names this bearing.
    pub is_named: bool,
}

/// The causes that end an episode for good: the knowledge before such a cause says nothing about
/// the time after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndCause {
    /// The bearing was repaired or replaced.
    Repair,
    /// A silent gateway sends again.
    Heard,
    /// The bearing, its machine or the gateway was taken out of the plant or got another name.
    Removed,
}

/// A level as a window finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The level is reached for the first time, or was not left.
    Stands,
    /// The level came back within its hold.
    WithinHold,
    /// The level came back after its hold.
    AfterHold,
}

impl Course {
    /// The course of a bearing that stands below every level.
    pub fn normal(at: Timestamp) -> Self {
        Self {
            condition: Condition::Normal { since: at },
            at,
            fault: None,
            told_finding: None,
            levels: BTreeMap::new(),
            told: None,
            is_announced: false,
            withheld: None,
            told_with: None,
            over_at: None,
            ended: None,
        }
    }

    /// Takes the level of a window: notes which levels were reached and left. Says how the bearing
    /// arrived at `level`.
    pub(crate) fn reach(
        &mut self,
        level: RiskLevel,
        at: Timestamp,
        rules: &EpisodeRules,
    ) -> Arrival {
        let mut arrival = Arrival::Stands;
        let told_of =
            RiskLevel::ALL.into_iter().filter(|one| *one >= rules.from && *one > RiskLevel::Normal);
        for one in told_of {
            if one > level {
                if let Some(course) = self.levels.get_mut(&one) {
                    course.below_since.get_or_insert(at);
                }
                continue;
            }
            let course = self.levels.entry(one).or_default();
            let Some(left) = course.below_since.take() else { continue };
            let is_after = at.seconds_since(left) >= rules.hold_of(one, course.returns);
            course.returns = course.returns.saturating_add(1);
            if one == level {
                arrival = if is_after { Arrival::AfterHold } else { Arrival::WithinHold };
            }
        }
        self.over_at = None;
        arrival
    }

    /// Whether this level was told as often as it may be within the time up to `at`.
    pub(crate) fn is_told_enough(&self, level: RiskLevel, at: Timestamp) -> bool {
        let Some(course) = self.levels.get(&level) else { return false };
        let recent =
            course.tellings.iter().filter(|told| at.seconds_since(**told) < TELLINGS_S).count();
        recent >= TELLINGS
    }

    /// Notes that staff is told of a level.
    pub(crate) fn tell(&mut self, level: RiskLevel, at: Timestamp) {
        self.told = self.told.max(Some(level));
        self.is_announced = true;
        let course = self.levels.entry(level).or_default();
        course.is_owed = false;
        course.tellings.push(at);
        if course.tellings.len() > TELLINGS {
            course.tellings.remove(0);
        }
    }

    /// Notes what a suppression keeps from staff: a level, or that it is over.
    pub(crate) fn withhold(&mut self, level: Option<RiskLevel>) {
        let peak = level.max(self.withheld.and_then(|one| one.peak));
        let is_resolved = self.over_at.is_some() && (self.is_announced || peak.is_some());
        self.withheld = (peak.is_some() || is_resolved).then_some(Withheld { peak, is_resolved });
    }

    /// The time for which nothing was known counts for no hold.
    pub(crate) fn thaw(&mut self, frozen_since: Timestamp, at: Timestamp) {
        let frozen_s = at.seconds_since(frozen_since).max(0.0);
        for course in self.levels.values_mut() {
            course.below_since =
                course.below_since.map(|since| since.plus_seconds(frozen_s).min(at));
        }
    }

    /// Notes what staff is told of the damage with a level.
    pub(crate) fn tell_finding(&mut self, finding: Finding) {
        self.told_finding.get_or_insert_default().take(finding);
    }

    /// Notes that staff is told of the damage alone.
    pub(crate) fn tell_development(&mut self, finding: Finding, at: Timestamp) {
        let told = self.told_finding.get_or_insert_default();
        told.take(finding);
        told.note_telling(at);
    }

    /// Whether the damage has gone on at the level that staff was told, and may be told now. At
    /// Critical staff was told to stop, and no stage and no name changes that.
    pub(crate) fn has_developed(&self, level: RiskLevel, finding: Finding, at: Timestamp) -> bool {
        let is_level = self.is_announced && self.told == Some(level) && level < RiskLevel::Critical;
        let told = self.told_finding.as_ref();
        is_level
            && told.is_some_and(|told| told.is_exceeded_by(&finding) && !told.is_told_enough(at))
    }
}
