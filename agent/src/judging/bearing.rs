//! A bearing while its events are judged: what is remembered of it, and what waits to be saved.

use pdm_expert::case::Memory;
use pdm_shared::event::Event;

use crate::progress::BearingKey;
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
    pub(super) fn heard(&mut self, announcement: &Announcement) {
        match &announcement.alarm {
            AlarmChange::Stands(alarm) => self.alarm = Some(alarm.as_ref().clone()),
            AlarmChange::Over => self.alarm = None,
            AlarmChange::Kept => {}
        }
    }

    /// What waits to be saved, with where the bearing stands.
    pub(super) fn taken(&mut self) -> BearingJudged {
        BearingJudged {
            key: self.key.clone(),
            judgements: std::mem::take(&mut self.waiting),
            state: self.memory.state.clone(),
        }
    }
}

pub(super) fn key_of(event: &Event) -> BearingKey {
    BearingKey {
        site: event.site.clone(),
        equipment: event.equipment_id.clone(),
        bearing: event.bearing_id.clone(),
    }
}
