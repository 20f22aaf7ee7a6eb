//! A bearing while its events are judged: its memory, its alarm, and the judgements not saved yet.

use pdm_expert::case::Memory;
use pdm_shared::id::BearingKey;

use crate::store::{Alarm, AlarmChange, Announcement, BearingJudged, Judged};

/// A bearing while its events are judged.
pub(super) struct Bearing {
    pub(super) key: BearingKey,
    pub(super) memory: Memory,
    pub(super) alarm: Option<Alarm>,
    /// Judgements that are not saved yet.
    pub(super) waiting: Vec<Judged>,
}

impl Bearing {
    /// Follows the alarm as an announcement leaves it, for the next event of the batch.
    pub(super) fn heard(&mut self, announcement: &Announcement) {
        match &announcement.alarm {
            AlarmChange::Stands(alarm) => self.alarm = Some(alarm.as_ref().clone()),
            AlarmChange::Over => self.alarm = None,
            AlarmChange::Kept => {}
        }
    }

    /// Takes the judgements that are not saved yet, with the bearing's state after them.
    pub(super) fn taken(&mut self) -> BearingJudged {
        BearingJudged {
            key: self.key.clone(),
            judgements: std::mem::take(&mut self.waiting),
            state: self.memory.state.clone(),
            recent: self.memory.recent.clone(),
        }
    }
}
