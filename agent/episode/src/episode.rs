//! An episode with its three axes, and what a step of it tells.

use pdm_shared::episode::{
    AcknowledgementState, Condition, EPISODE_SCHEMA, EpisodeDocument, EpisodeState, Suppression,
    Transition,
};
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use uuid::Uuid;

use crate::course::{Course, EndCause};

/// An episode of a bearing.
#[derive(Debug, Clone, PartialEq)]
pub struct Episode {
    /// The identity.
    pub id: Uuid,
    /// Counts its changes.
    pub sequence: u64,
    /// When it began.
    pub opened_at: Timestamp,
    /// When it changed last.
    pub changed_at: Timestamp,
    /// When it was closed.
    pub closed_at: Option<Timestamp>,
    /// The last change.
    pub transition: Transition,
    /// The condition, with its past.
    pub course: Course,
    /// Whether staff has seen it.
    pub acknowledgement: AcknowledgementState,
    /// Whether and why staff is not told.
    pub suppression: Suppression,
}

/// An episode after a change, and what staff is told because of it.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeStep {
    /// The episode afterwards.
    pub episode: Episode,
    /// The message to staff.
    pub tell: Option<Tell>,
}

/// The messages to staff on an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tell {
    /// A level that stands.
    Raised(RiskLevel),
    /// A level that stands and was told twice in 24 hours already.
    Insisted(RiskLevel),
    /// A level that was reached and left while staff was told nothing.
    Passed(RiskLevel),
    /// At a level that was told the damage has gone on: its stage rose, its element was named, or
    /// its parts are to be hurried.
    Developed(RiskLevel),
    /// The bearing is below every level told; the highest that stood.
    Cleared(RiskLevel),
}

impl Tell {
    /// Returns the level that is told to stand, or to have stood unseen; `None` where nothing
    /// stands, or staff knows the level.
    pub const fn level(self) -> Option<RiskLevel> {
        match self {
            Self::Raised(level) | Self::Insisted(level) | Self::Passed(level) => Some(level),
            Self::Developed(_) | Self::Cleared(_) => None,
        }
    }
}

impl Episode {
    /// A new episode of a bearing that stands below every level.
    pub fn new(id: Uuid, at: Timestamp) -> Self {
        Self {
            id,
            sequence: 0,
            opened_at: at,
            changed_at: at,
            closed_at: None,
            transition: Transition::Opened,
            course: Course::normal(at),
            acknowledgement: AcknowledgementState::Unacknowledged,
            suppression: Suppression::None,
        }
    }

    /// Whether nothing is left of it: it was told and acknowledged or told nothing, the hold is
    /// over, and no suppression holds it.
    pub fn is_done(&self) -> bool {
        let course = &self.course;
        let is_over = course.over_at.is_some() || course.levels.is_empty();
        let is_normal = matches!(course.condition, Condition::Normal { .. });
        let is_seen = self.acknowledgement.is_acknowledged()
            || course.told.is_none()
            || course.ended.is_some();
        is_over
            && is_normal
            && is_seen
            && self.suppression == Suppression::None
            && course.withheld.is_none()
    }

    /// Returns the step of an acknowledgement up to the highest level told; `None` if nothing was
    /// told, if the bearing stands above it (behind a shelf), or if the episode is closed.
    pub fn acknowledge(&self, by: &str, via: Option<&str>, at: Timestamp) -> Option<EpisodeStep> {
        let is_open = self.closed_at.is_none();
        let stands = self.course.condition.level();
        let level = self.course.told.filter(|told| is_open && *told >= stands)?;
        let mut episode = self.clone();
        episode.acknowledgement = AcknowledgementState::Acknowledged {
            level,
            by: by.to_owned(),
            at,
            via: via.map(str::to_owned),
        };
        Some(episode.changed(Transition::Acknowledged, None, at))
    }

    /// Returns the step that takes an acknowledgement back, after which the alarm is unseen as
    /// before; `None` if nobody has acknowledged it, or if the episode is closed.
    pub fn unacknowledge(&self, at: Timestamp) -> Option<EpisodeStep> {
        if self.closed_at.is_some() || !self.acknowledgement.is_acknowledged() {
            return None;
        }
        let mut episode = self.clone();
        episode.acknowledgement = AcknowledgementState::Unacknowledged;
        Some(episode.changed(Transition::Changed, None, at))
    }

    /// The end of an episode whose bearing or gateway is gone, or has another name: nothing is left
    /// to be told of it under this one.
    #[must_use]
    pub fn removed(&self, at: Timestamp) -> Self {
        let mut episode = self.clone();
        let course = &mut episode.course;
        course.condition = Condition::Normal { since: at };
        (course.withheld, course.told_with, course.is_announced) = (None, None, false);
        course.over_at = course.over_at.or(Some(at));
        course.ended = Some(EndCause::Removed);
        episode.suppression = Suppression::None;
        episode.closed_at = Some(at);
        (episode.sequence, episode.changed_at) = (episode.sequence + 1, at);
        episode.transition = Transition::Closed;
        episode
    }

    /// The episode after a change: closed if nothing is left of it.
    pub(crate) fn changed(
        mut self,
        transition: Transition,
        tell: Option<Tell>,
        at: Timestamp,
    ) -> EpisodeStep {
        self.sequence += 1;
        self.changed_at = at;
        self.transition = transition;
        if self.closed_at.is_none() && self.is_done() {
            self.closed_at = Some(at);
            if tell.is_none() && transition != Transition::Acknowledged {
                self.transition = Transition::Closed;
            }
        }
        EpisodeStep { episode: self, tell }
    }

    /// The three axes in one word.
    pub fn state(&self) -> EpisodeState {
        if self.closed_at.is_some() {
            return EpisodeState::Closed;
        }
        match &self.suppression {
            Suppression::Shelved { .. } => return EpisodeState::Shelved,
            Suppression::ByDesign { .. } => return EpisodeState::SuppressedByDesign,
            Suppression::OutOfService { .. } => return EpisodeState::OutOfService,
            Suppression::None => {}
        }
        let is_active = self.course.condition.level() > RiskLevel::Normal;
        match (is_active, self.acknowledgement.is_acknowledged()) {
            (true, false) => EpisodeState::UnacknowledgedActive,
            (true, true) => EpisodeState::AcknowledgedActive,
            (false, false) => EpisodeState::UnacknowledgedNormal,
            (false, true) => EpisodeState::AcknowledgedNormal,
        }
    }

    /// The episode as the broker keeps it.
    pub fn document(&self, key: &BearingKey) -> EpisodeDocument {
        EpisodeDocument {
            schema: EPISODE_SCHEMA.to_owned(),
            episode_id: self.id,
            episode_sequence: self.sequence,
            site: key.site.clone(),
            equipment_id: key.equipment.clone(),
            bearing_id: key.bearing.clone(),
            episode_state: self.state(),
            transition: self.transition,
            condition: self.course.condition,
            acknowledgement: self.acknowledgement.clone(),
            suppression: self.suppression.clone(),
            fault_type: self.course.fault,
            told: self.course.told,
            opened_at: self.opened_at,
            changed_at: self.changed_at,
            closed_at: self.closed_at,
        }
    }
}
