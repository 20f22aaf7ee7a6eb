//! An alarm beside those that were told lately: one cause is told once.

use std::sync::PoisonError;

use pdm_routes::ToldLately;
use pdm_shared::delivery::NotificationReason;
use pdm_shared::id::BearingKey;
use pdm_shared::time::Timestamp;
use pdm_store::{Announcement, EpisodeRecord};

use super::{Judging, log};
use crate::notify::policy::{Followed, JudgedWindow, Policy};

/// Most alarms of a site that are compared.
const MOST: u32 = 500;

impl Judging {
    /// Returns what follows from a window for staff and for the episode; `None` if nothing changes.
    pub(super) async fn followed(
        &self,
        key: &BearingKey,
        window: &JudgedWindow<'_>,
        record: Option<&EpisodeRecord>,
        now: Timestamp,
    ) -> Option<Followed> {
        match self.policy.judged(key, window, record, now) {
            Some(Followed::Told(told)) => Some(self.of_one_cause(window, record, told, now).await),
            followed => followed,
        }
    }

    /// Changes the consequence of a window where another alarm of its cause was told lately.
    async fn of_one_cause(
        &self,
        window: &JudgedWindow<'_>,
        record: Option<&EpisodeRecord>,
        told: Box<Announcement>,
        now: Timestamp,
    ) -> Followed {
        let within_s = self.policy.related_within_s();
        if within_s <= 0.0 || told.notification.reason != NotificationReason::Raised {
            return Followed::Told(told);
        }
        let since = now.plus_seconds(-within_s);
        let stored = self.store.told_lately(&window.event.site, since, MOST).await;
        let mut lately = stored.unwrap_or_else(|error| {
            // a second alarm of one cause does less harm than one that is not told
            log::neighbours_unknown(&error);
            Vec::new()
        });
        {
            let mut own = self.lately.lock().unwrap_or_else(PoisonError::into_inner);
            own.retain(|one| one.at >= since);
            lately.retain(|stored| !own.iter().any(|one| one.key == stored.key));
            lately.extend(own.iter().cloned());
        }
        let followed = self.policy.of_one_cause(window, record, told, &lately, now);
        if let Followed::Told(announcement) = &followed {
            let key = window.event.key();
            let mine = Policy::told_lately(&key, window.event, announcement);
            self.note_told(mine);
        }
        followed
    }

    fn note_told(&self, mine: Option<ToldLately>) {
        let Some(mine) = mine else { return };
        let mut own = self.lately.lock().unwrap_or_else(PoisonError::into_inner);
        own.retain(|one| one.key != mine.key);
        own.push(mine);
    }
}
