//! The axis of the suppression: staff is told nothing for a time, and at its end once of what
//! passed or resolved meanwhile.
//!
//! One rule for all suppressions: **a level above what staff was told of this bearing ends the
//! suppression and is told.** What staff was told is the highest level told of the bearing itself,
//! or the level at which another bearing's alarm names it. The one exception is work on the
//! machine, which shakes its bearings: it lets a Critical through alone, and ends within a week.

use pdm_shared::episode::{AcknowledgementState, Suppression, Transition};
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;

use crate::course::ToldWith;
use crate::episode::{Episode, EpisodeStep, Tell};

impl Episode {
    /// The episode under a suppression, in place of the one that held before.
    pub fn suppress(&self, suppression: Suppression, at: Timestamp) -> EpisodeStep {
        let mut episode = self.clone();
        episode.closed_at = None;
        episode.suppression = suppression;
        episode.changed(Transition::Suppressed, None, at)
    }

    /// Whether a level is above what staff was told of this bearing, and ends the suppression.
    pub(crate) fn is_a_rise(&self, level: RiskLevel) -> bool {
        let known = self.course.told.max(self.course.told_with.map(|one| one.level));
        let is_above = known.is_none_or(|known| level > known);
        match self.suppression {
            Suppression::OutOfService { .. } => is_above && level == RiskLevel::Critical,
            Suppression::None | Suppression::Shelved { .. } | Suppression::ByDesign { .. } => {
                is_above
            }
        }
    }

    /// Whether a level above every level told is withheld already, until the suppression ends.
    pub(crate) fn waits_for_the_end(&self, level: RiskLevel, now: Timestamp) -> bool {
        let peak = self.course.withheld.and_then(|one| one.peak);
        let is_withheld = peak.is_some_and(|peak| level <= peak);
        is_withheld && self.suppression.holds(now) && !self.is_a_rise(level)
    }

    /// Whether the suppression withholds more than it may: a level that stands above what staff was
    /// told, or a level that was withheld by a suppression which is gone. Episodes of earlier
    /// versions stand so, and those whose suppression ended while a window was judged.
    pub fn owes_a_rise(&self) -> bool {
        let stands = self.course.condition.level();
        match self.suppression {
            Suppression::None => self.course.withheld.is_some(),
            Suppression::Shelved { .. }
            | Suppression::ByDesign { .. }
            | Suppression::OutOfService { .. } => {
                stands > RiskLevel::Normal && self.is_a_rise(stands)
            }
        }
    }

    /// The episode, told with the alarm of another bearing at this level from now on.
    pub fn beside(&self, reason: String, level: RiskLevel, at: Timestamp) -> EpisodeStep {
        let mut episode = self.clone();
        episode.course.told_with = Some(ToldWith { level, since: at, is_named: false });
        episode.suppress(Suppression::ByDesign { reason }, at)
    }

    /// Returns the step after the other bearing's alarm has named it; `None` if it is told by
    /// itself.
    pub fn named(&self, at: Timestamp) -> Option<EpisodeStep> {
        let mut episode = self.clone();
        episode.course.told_with.as_mut()?.is_named = true;
        Some(episode.changed(Transition::Repeated, None, at))
    }

    /// The end of the suppression: staff is told once of what rose or resolved meanwhile.
    pub fn unsuppress(&self, at: Timestamp) -> EpisodeStep {
        let mut episode = self.clone();
        episode.suppression = Suppression::None;
        episode.course.told_with = None;
        let tell = meanwhile(&mut episode, at);
        if let Some(Tell::Raised(_) | Tell::Passed(_) | Tell::Insisted(_)) = tell {
            episode.acknowledgement = AcknowledgementState::Unacknowledged;
        }
        episode.changed(Transition::Unsuppressed, tell, at)
    }
}

/// Returns the message at the end of a suppression.
fn meanwhile(episode: &mut Episode, at: Timestamp) -> Option<Tell> {
    let course = &mut episode.course;
    let withheld = course.withheld.take()?;
    let level = course.condition.level();
    let highest = course.told.max(withheld.peak);
    if withheld.is_resolved {
        // it is over: nobody has to act, and whatever rose comes with it
        course.is_announced = false;
        return highest.map(Tell::Cleared);
    }
    let peak = withheld.peak?;
    if level >= peak {
        course.tell(level, at);
        return Some(Tell::Raised(level));
    }
    course.tell(peak, at);
    Some(Tell::Passed(peak))
}
