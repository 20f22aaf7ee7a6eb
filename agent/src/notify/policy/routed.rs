//! An alarm that nobody has acknowledged goes on along its route: the next step hears of it, and whoever
//! quiet hours spared.

use pdm_episode::Step;
use pdm_routes::{Subject as Routed, Telling};
use pdm_shared::delivery::NotificationReason;
use pdm_shared::episode::Transition;
use pdm_shared::id::BearingKey;
use pdm_shared::time::Timestamp;
use pdm_store::due::{DueAlarm, LONGEST_STEP_S};
use pdm_store::{Alarm, Announcement, EpisodeChange, EpisodeRecord};

use super::{Followed, Policy, Subject, new_id};
use crate::notify::directory::Heard;
use crate::notify::{log, wording};

impl Policy {
    /// The next step of an alarm, if one is due.
    pub(crate) fn told_on(
        &self,
        key: &BearingKey,
        record: &EpisodeRecord,
        now: Timestamp,
    ) -> Option<Followed> {
        let alarm = record.alarm.as_ref()?;
        let before = looked_at(alarm.telling.as_ref()?, now)?;
        let routed = Routed { key, level: alarm.risk };
        let due = self.directory.table.due(&routed, &before, now);
        let mut after = Alarm { telling: Some(due.telling.clone()), ..alarm.clone() };
        let Some(audience) = due.tell else {
            return Some(Followed::Quiet(Box::new(self.stepped_on(key, record, after, now))));
        };
        let by = if before.is_held() {
            let route = due.telling.route.as_deref();
            self.directory.heard_by(key, &audience, alarm.risk, route)
        } else {
            self.directory.heard_later(&audience, alarm.risk)
        };
        if let Some(telling) = &mut after.telling {
            telling.everybody |= by.is_everybody;
        }
        let heard = Heard { lanes: by.lanes, ..Heard::default() };
        if before.is_held() {
            return Some(self.held_back(key, record, after, &heard, now));
        }
        log::escalated(key, due.telling.route.as_deref(), due.telling.steps);
        let minutes = before.begun.map_or(0.0, |begun| now.seconds_since(begun) / 60.0);
        let told = &alarm.notification;
        let body = wording::as_told(&told.body, told.created_at, self.settings.zone);
        let (title, body) = wording::escalated(&told.title, &body, minutes);
        let subject = Subject {
            key,
            event_id: told.event_id,
            risk: alarm.risk,
            loudness: alarm.risk,
            reason: NotificationReason::Repeated,
            title,
            body,
        };
        let mut change = self.stepped_on(key, record, after, now);
        change.episode.transition = Transition::Repeated;
        let mut notification = told.clone();
        notification.notification_id = new_id(now);
        notification.reason = subject.reason;
        notification.title.clone_from(&subject.title);
        notification.body.clone_from(&subject.body);
        notification.created_at = now;
        notification.episode_sequence = Some(change.episode.sequence);
        notification.transition = Some(Transition::Repeated);
        notification.episode_state = Some(change.episode.state());
        Some(Followed::Told(Box::new(Announcement {
            outgoing: self.rows(&subject, &notification, &heard, now),
            notification,
            episode: Some(Box::new(change)),
        })))
    }

    /// The first message of an alarm that quiet hours held back: the same notification, which the broker
    /// has already.
    fn held_back(
        &self,
        key: &BearingKey,
        record: &EpisodeRecord,
        after: Alarm,
        heard: &Heard,
        now: Timestamp,
    ) -> Followed {
        let notification = after.notification.clone();
        let subject = Subject {
            key,
            event_id: notification.event_id,
            risk: after.risk,
            loudness: after.risk,
            reason: notification.reason,
            title: notification.title.clone(),
            body: notification.body.clone(),
        };
        let mut outgoing = self.rows(&subject, &notification, heard, now);
        outgoing.retain(|row| row.topic.is_none());
        let change = self.stepped_on(key, record, after, now);
        let episode = Some(Box::new(change));
        Followed::Told(Box::new(Announcement { notification, outgoing, episode }))
    }

    /// The episode with its alarm one step further.
    fn stepped_on(
        &self,
        key: &BearingKey,
        record: &EpisodeRecord,
        after: Alarm,
        now: Timestamp,
    ) -> EpisodeChange {
        let mut episode = record.episode.clone();
        (episode.sequence, episode.changed_at) = (episode.sequence + 1, now);
        let mut change = self.change(key, Some(record), Step { episode, tell: None });
        change.alarm = Some(Box::new(after));
        change
    }
}

/// Returns how far an alarm has been told, if its next step is due. A step that lies beyond all
/// steps was dated by a clock that was ahead, as was the first message: both count from now on.
fn looked_at(telling: &Telling, now: Timestamp) -> Option<Telling> {
    let (next, due) = (telling.next?, DueAlarm::at(now, LONGEST_STEP_S));
    if next > due.latest {
        let begun = telling.begun.map(|begun| begun.min(now));
        return Some(Telling { begun, next: Some(now), ..telling.clone() });
    }
    (next <= due.now).then(|| telling.clone())
}
