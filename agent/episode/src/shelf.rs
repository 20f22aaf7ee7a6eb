//! The axis of the suppression: staff is told nothing for a time, and at its end once of what rose or
//! resolved meanwhile.

use pdm_shared::episode::{AcknowledgementState, Suppression, Transition};
use pdm_shared::time::Timestamp;

use crate::episode::{Episode, Step, Tell};

impl Episode {
    /// The episode under a suppression, in place of the one that held before.
    pub fn suppress(&self, suppression: Suppression, at: Timestamp) -> Step {
        let mut episode = self.clone();
        episode.closed_at = None;
        episode.suppression = suppression;
        episode.changed(Transition::Suppressed, None, at)
    }

    /// The end of the suppression: staff is told once of what rose or resolved meanwhile.
    pub fn unsuppress(&self, at: Timestamp) -> Step {
        let mut episode = self.clone();
        episode.suppression = Suppression::None;
        let tell = meanwhile(&mut episode, at);
        if let Some(Tell::Raised(_) | Tell::Passed(_) | Tell::Insisted(_)) = tell {
            episode.acknowledgement = AcknowledgementState::Unacknowledged;
        }
        episode.changed(Transition::Unsuppressed, tell, at)
    }
}

/// What is told at the end of a suppression.
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
