//! Decides who hears of an alarm that a way to staff does not take, and in which words.

use pdm_episode::EpisodeStep;
use pdm_routes::Audience;
use pdm_shared::delivery::{Notification, NotificationReason};
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use pdm_store::{Alarm, EpisodeChange, EpisodeRecord, Outgoing, Payload, RemovedAlarm};

use super::{Policy, Subject, id_of, new_id};
use crate::notify::wording;

/// The lanes that hear next of an alarm, and how far it has been told then.
#[derive(Debug)]
pub(crate) struct Further {
    pub(crate) lanes: Vec<String>,
    pub(crate) change: EpisodeChange,
}

impl Policy {
    /// Returns the lanes behind the next step of the alarm's route that a way leads to, before its
    /// time; those of everybody where there is no such step. `None` for an alarm without a route.
    pub(crate) fn further(
        &self,
        key: &BearingKey,
        record: &EpisodeRecord,
        now: Timestamp,
    ) -> Option<Further> {
        let alarm = record.alarm.as_ref()?;
        let mut telling = alarm.telling.clone()?;
        let mut lanes = Vec::new();
        while let Some((after, people)) = self.directory.table.further(&telling, now) {
            telling = after;
            lanes = self.directory.lanes(&Audience::These(people), alarm.risk);
            if !lanes.is_empty() {
                break;
            }
        }
        if lanes.is_empty() {
            (telling.everybody, telling.next) = (true, None);
            lanes = self.everybody(alarm.risk);
        }
        let mut episode = record.episode.clone();
        (episode.sequence, episode.changed_at) = (episode.sequence + 1, now);
        let mut change = self.change(key, Some(record), EpisodeStep { episode, tell: None });
        change.alarm = Some(Box::new(Alarm { telling: Some(telling), ..alarm.clone() }));
        Some(Further { lanes, change })
    }

    /// A remark on gateways and broker: once a day for each subject, as loud as a Warning.
    pub(crate) fn remark(
        &self,
        key: &BearingKey,
        what: &str,
        words: (Text, Text),
        now: Timestamp,
    ) -> (Notification, Vec<Outgoing>) {
        self.remark_at(RiskLevel::Warning, key, what, words, now)
    }

    /// Makes a remark as [`Self::remark`] does, as loud as this level.
    pub(crate) fn remark_at(
        &self,
        risk: RiskLevel,
        key: &BearingKey,
        what: &str,
        (title, body): (Text, Text),
        now: Timestamp,
    ) -> (Notification, Vec<Outgoing>) {
        let reason = NotificationReason::Message;
        let subject = Subject { key, event_id: None, risk, loudness: risk, reason, title, body };
        let day = now.date_time().format("%Y-%m-%d").to_string();
        let mut told = super::notification(&subject, now);
        told.notification_id = id_of(&["remark", what, &key.to_string(), &day]);
        let mut rows = self.outgoing(&subject, &told, now);
        for row in &mut rows {
            row.key = id_of(&["remark", what, &key.to_string(), &day, &row.lane]);
        }
        (told, rows)
    }

    /// The message that an alarm ends because its bearing was taken out or renamed, as loud as the
    /// alarm. `how` is the person and the reason.
    pub(crate) fn removed(
        &self,
        gone: &RemovedAlarm,
        how: (&str, &str),
        now: Timestamp,
    ) -> Option<(Notification, Vec<Outgoing>)> {
        let risk = gone.record.alarm.as_ref()?.risk;
        let key = gone.new.as_ref().filter(|_| gone.moves).unwrap_or(&gone.key);
        let what = format!("removed {} {}", gone.key, now.unix_ms());
        Some(self.remark_at(risk, key, &what, wording::removed(gone, how)?, now))
    }

    /// The lanes of everybody by which this level is sent.
    pub(crate) fn everybody(&self, level: RiskLevel) -> Vec<String> {
        self.directory.lanes(&Audience::Everybody, level)
    }

    /// Every lane, whatever level it asks for: better a message that was not asked for than none.
    pub(crate) fn every_lane(&self) -> Vec<String> {
        self.directory.every_lane()
    }

    /// The rows by which a notification leaves on further lanes, which say whose way did not take
    /// it.
    pub(crate) fn elsewhere(
        refused: &str,
        notification: &Notification,
        lanes: &[String],
        now: Timestamp,
    ) -> Vec<Outgoing> {
        let mut told = notification.clone();
        told.body = wording::elsewhere(&notification.body, refused);
        let Ok(payload) = serde_json::to_string(&told) else { return Vec::new() };
        let row = |lane: &String| Outgoing {
            key: new_id(now),
            lane: lane.clone(),
            topic: None,
            retain: false,
            notification_id: Some(notification.notification_id),
            group: None,
            payload: Payload::Text(payload.clone()),
            due_at: now,
        };
        lanes.iter().map(row).collect()
    }
}
