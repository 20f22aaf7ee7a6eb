//! An alarm that nobody has acknowledged goes on along its route: the next step hears of it, and
//! whoever quiet hours spared.

use pdm_episode::EpisodeStep;
use pdm_routes::{Subject as Routed, Telling};
use pdm_shared::delivery::{Notification, NotificationReason};
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
        let stored = record.alarm.as_ref()?;
        let right = self.in_time(stored, now);
        let alarm = right.as_ref().unwrap_or(stored);
        let before = alarm.telling.clone()?;
        if before.next.is_none_or(|next| next > now) {
            let quiet = self.stepped_on(key, record, right?, now);
            return Some(Followed::Quiet(Box::new(quiet)));
        }
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
        let notification = escalation(told, &subject, &change, now);
        Some(Followed::Told(Box::new(Announcement {
            outgoing: self.rows(&subject, &notification, &heard, now),
            notification,
            episode: Some(Box::new(change)),
        })))
    }

    /// The first message of an alarm that quiet hours held back: the same notification, which the
    /// broker has already.
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
        let mut change = self.change(key, Some(record), EpisodeStep { episode, tell: None });
        change.alarm = Some(Box::new(after));
        change
    }
}

impl Policy {
    /// An alarm whose times a clock wrote that was ahead, with the times that lie right from `now`
    /// on: the pause to the next step and to the repetition stays, and begins now. None where they
    /// are right.
    pub(super) fn in_time(&self, alarm: &Alarm, now: Timestamp) -> Option<Alarm> {
        let mut right = alarm.clone();
        let told_at = alarm.notification.created_at;
        if let Some(telling) = &mut right.telling {
            set_right(telling, told_at, now);
        }
        let (latest, is_told_ahead) =
            (self.repeat_at(alarm.risk, alarm.repeats, now), DueAlarm::is_ahead(told_at, now));
        let is_late = |at: Timestamp| latest.is_some_and(|latest| DueAlarm::is_ahead(at, latest));
        if alarm.repeat_at.is_some_and(|at| is_told_ahead || is_late(at)) {
            right.repeat_at = latest;
        }
        if is_told_ahead {
            right.notification.created_at = now;
        }
        (right != *alarm).then_some(right)
    }
}

/// The notification of a further step.
fn escalation(
    told: &Notification,
    subject: &Subject<'_>,
    change: &EpisodeChange,
    now: Timestamp,
) -> Notification {
    Notification {
        notification_id: new_id(now),
        reason: subject.reason,
        title: subject.title.clone(),
        body: subject.body.clone(),
        created_at: now,
        episode_sequence: Some(change.episode.sequence),
        transition: Some(Transition::Repeated),
        episode_state: Some(change.episode.state()),
        ..told.clone()
    }
}

/// Puts the times of a telling right. A step that lies beyond all steps, and quiet hours of another
/// time, count from now on.
fn set_right(telling: &mut Telling, told_at: Timestamp, now: Timestamp) {
    let Some(next) = telling.next else { return };
    match telling.begun {
        Some(begun) if DueAlarm::is_ahead(begun, now) => {
            let ahead_s = begun.seconds_since(now);
            (telling.begun, telling.next) = (Some(now), Some(next.plus_seconds(-ahead_s)));
        }
        None if DueAlarm::is_ahead(told_at, now) => telling.next = Some(now),
        Some(_) | None => {}
    }
    let latest = DueAlarm::at(now, LONGEST_STEP_S).latest;
    telling.next = telling.next.map(|next| if next > latest { now } else { next });
}

#[cfg(test)]
mod tests;
