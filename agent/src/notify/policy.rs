//! The policy of notifications: a risk that rises, one that stands unacknowledged, one that is
//! over.
//!
//! The episode of a bearing (`pdm-episode`) decides what is told, and when. This module words it,
//! chooses the channels that hear it, and sets when it is repeated. An acknowledgement ends the
//! repetitions of its level.

use std::sync::Arc;

use pdm_episode::EpisodeStep;
use pdm_shared::delivery::{NOTIFICATION_SCHEMA, Notification, NotificationReason};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::episode::Transition;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use pdm_shared::topic::{BearingTopic, Prefix, Topic};
use pdm_store::{Alarm, Announcement, EpisodeChange, EpisodeRecord, Outgoing, Payload};
use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

use super::directory::{Directory, Heard};
use super::{MQTT_LANE, wording};
use crate::settings::NotifySettings;

pub(crate) use judged::{Followed, JudgedWindow};
pub(crate) use near::{NAMED_AFTER_S, beside_for_longest_s, ended_beside};

mod beside;
mod elsewhere;
mod gateway;
mod judged;
mod near;
mod routed;
#[cfg(test)]
mod tests;

/// Seconds between the repeats of an alarm that has been repeated often.
const A_DAY_S: f64 = 86_400.0;

/// The rules of telling.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    settings: NotifySettings,
    prefix: Prefix,
    directory: Arc<Directory>,
}

/// The subject of one notification.
struct Subject<'a> {
    key: &'a BearingKey,
    event_id: Option<EventId>,
    risk: RiskLevel,
    /// The level that decides which channels hear it.
    loudness: RiskLevel,
    reason: NotificationReason,
    title: Text,
    body: Text,
}

impl Policy {
    pub(crate) fn new(settings: NotifySettings, prefix: Prefix) -> Self {
        let directory = Arc::new(Directory::of(&settings));
        Self { settings, prefix, directory }
    }

    /// The zone of the plant's clock, by which messages tell times.
    pub(crate) const fn zone(&self) -> pdm_routes::Zone {
        self.settings.zone
    }

    /// Seconds after which an alarm that nobody acknowledged is repeated; `None` never.
    pub(crate) fn repeat_every_s(&self) -> Option<f64> {
        let hours = self.settings.repeat_after_h;
        (hours > 0.0).then_some(hours * 3600.0)
    }

    /// The longest time from one repetition to the next.
    pub(crate) fn longest_repeat_s(&self) -> Option<f64> {
        self.repeat_every_s().map(|every_s| every_s.max(A_DAY_S))
    }

    /// The alarm with the time of its repetition put right, where a clock that was ahead wrote one
    /// that lies too far away: nobody hears it twice because a clock was set back.
    pub(crate) fn put_right(
        &self,
        key: &BearingKey,
        record: &EpisodeRecord,
        alarm: &Alarm,
        now: Timestamp,
    ) -> Option<EpisodeChange> {
        alarm.repeat_at.filter(|at| *at > now)?;
        let right = self.in_time(alarm, now)?;
        let mut episode = record.episode.clone();
        (episode.sequence, episode.changed_at) = (episode.sequence + 1, now);
        let mut change = self.change(key, Some(record), EpisodeStep { episode, tell: None });
        change.alarm = Some(Box::new(right));
        Some(change)
    }

    /// The repetition of an alarm that nobody acknowledged.
    pub(crate) fn repeated(
        &self,
        key: &BearingKey,
        record: &EpisodeRecord,
        alarm: &Alarm,
        now: Timestamp,
    ) -> Announcement {
        let before = &alarm.notification;
        let repeats = alarm.repeats + 1;
        let subject = Subject {
            key,
            event_id: before.event_id,
            risk: alarm.risk,
            loudness: alarm.risk,
            reason: NotificationReason::Repeated,
            title: wording::repeated(&before.title, repeats),
            body: wording::without_life(&wording::as_told(
                &before.body,
                before.created_at,
                self.settings.zone,
            )),
        };
        let mut episode = record.episode.clone();
        (episode.sequence, episode.changed_at) = (episode.sequence + 1, now);
        episode.transition = Transition::Repeated;
        let step = EpisodeStep { episode, tell: None };
        let mut announcement = self.told(&subject, Some(record), step, now);
        announcement.notification.related.clone_from(&before.related);
        if let Some(change) = &mut announcement.episode {
            // repeats repeat the first title, not the last repetition's
            let title = before.title.clone();
            let notification = Notification { title, ..announcement.notification.clone() };
            let repeat_at = self.repeat_at(alarm.risk, repeats, now);
            let telling = self.directory.again(key, alarm, now).telling;
            let alarm = Alarm { risk: alarm.risk, repeats, repeat_at, notification, telling };
            change.alarm = Some(Box::new(alarm));
        }
        announcement
    }

    /// One row for each channel that hears of something that no alarm stands behind.
    fn outgoing(
        &self,
        subject: &Subject<'_>,
        notification: &Notification,
        now: Timestamp,
    ) -> Vec<Outgoing> {
        let lanes = self.directory.once(subject.key, subject.loudness, now);
        let heard = Heard { lanes, ..Heard::default() };
        self.rows(subject, notification, &heard, now)
    }

    /// One row for the broker, and one for each lane that hears.
    fn rows(
        &self,
        subject: &Subject<'_>,
        notification: &Notification,
        heard: &Heard,
        now: Timestamp,
    ) -> Vec<Outgoing> {
        let Ok(payload) = serde_json::to_string(notification) else { return Vec::new() };
        let wait_s =
            if subject.risk == RiskLevel::Critical { 0.0 } else { self.settings.group_wait_s };
        let due_at = end_of_interval(now, wait_s).max(heard.not_before.unwrap_or(now));
        // who leaves together is settled here, whatever fails or crashes until it has left
        let (site, machine) = (&subject.key.site, &subject.key.equipment);
        let whose =
            if heard.is_shared { "changes".to_owned() } else { format!("{site}/{machine}") };
        let group = format!("{whose}@{}", due_at.unix_ms());
        let row = |lane: String| Outgoing {
            key: new_id(now),
            lane,
            topic: None,
            retain: false,
            notification_id: Some(notification.notification_id),
            group: Some(group.clone()),
            payload: Payload::Text(payload.clone()),
            due_at,
        };
        let mut rows = Vec::new();
        if self.settings.mqtt {
            let topic = topic_of(subject.key, BearingTopic::Notification).under(&self.prefix);
            rows.push(Outgoing { topic: Some(topic), due_at: now, ..row(MQTT_LANE.to_owned()) });
        }
        rows.extend(heard.lanes.iter().cloned().map(row));
        rows
    }

    /// The publication of a diagnosis.
    pub(crate) fn publication(&self, key: &BearingKey, diagnosis: &Diagnosis) -> Outgoing {
        Outgoing {
            key: new_id(diagnosis.judged_at),
            lane: MQTT_LANE.to_owned(),
            topic: Some(topic_of(key, BearingTopic::Diagnosis).under(&self.prefix)),
            retain: true,
            notification_id: None,
            group: None,
            payload: Payload::Judgement(diagnosis.event_id),
            due_at: diagnosis.judged_at,
        }
    }
}

fn topic_of(key: &BearingKey, what: BearingTopic) -> Topic {
    Topic::Bearing { key: key.clone(), what }
}

/// The end of the interval of `length_s` that `now` lies in, counted from 1970: the same instant
/// for all that happens in it.
fn end_of_interval(now: Timestamp, length_s: f64) -> Timestamp {
    let length_ms = (length_s * 1000.0).round() as i64;
    if length_ms <= 0 {
        return now;
    }
    let left_ms = length_ms - now.unix_ms().rem_euclid(length_ms);
    now.plus_seconds(left_ms as f64 / 1000.0)
}

fn new_id(now: Timestamp) -> Uuid {
    EventId::at(now.unix_ms()).0
}

/// Copies a changed notification into the rows that carry it.
fn retold(announcement: &mut Announcement) {
    let Ok(payload) = serde_json::to_string(&announcement.notification) else { return };
    for row in &mut announcement.outgoing {
        row.payload = Payload::Text(payload.clone());
    }
}

/// An identity made of names: the same names, the same identity.
pub(super) fn id_of(names: &[&str]) -> Uuid {
    let mut hash = Sha256::new();
    for name in names {
        // the length keeps ("ab", "c") and ("a", "bc") apart
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name);
    }
    let digest: [u8; 32] = hash.finalize().into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    Builder::from_custom_bytes(bytes).into_uuid()
}

fn notification(subject: &Subject<'_>, now: Timestamp) -> Notification {
    Notification {
        schema: NOTIFICATION_SCHEMA.to_owned(),
        notification_id: new_id(now),
        event_id: subject.event_id,
        site: subject.key.site.clone(),
        equipment_id: subject.key.equipment.clone(),
        bearing_id: subject.key.bearing.clone(),
        risk_level: subject.risk,
        reason: subject.reason,
        title: subject.title.clone(),
        body: subject.body.clone(),
        created_at: now,
        episode_id: None,
        episode_sequence: None,
        transition: None,
        episode_state: None,
        related: Vec::new(),
        ack_url: None,
    }
}
