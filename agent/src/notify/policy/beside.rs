//! Notifications about a bearing beside its risk: failed sensors, documents, messages from tools.

use pdm_expert::case::BearingState;
use pdm_shared::delivery::{Notification, NotificationReason};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;

use super::{Policy, Subject, id_of, notification};
use crate::notify::wording;
use crate::store::{AlarmChange, Announcement, Outgoing};

impl Policy {
    /// A sensor whose windows have been invalid for too long, told once.
    pub(crate) fn sensor_failed(
        &self,
        key: &BearingKey,
        point: &str,
        state: &BearingState,
        now: Timestamp,
    ) -> Option<Announcement> {
        let wait_s = 3600.0 * self.settings.sensor_after_h;
        let sensor = &state.points.get(point)?.sensor;
        let fails = wait_s > 0.0 && sensor.fails_after(wait_s);
        let words = wording::sensor_failed(key, point, sensor);
        fails.then(|| self.beside(key, NotificationReason::Silent, words, now))
    }

    /// The return of a sensor that staff was told of.
    pub(crate) fn sensor_back(
        &self,
        key: &BearingKey,
        point: &str,
        state: &BearingState,
        now: Timestamp,
    ) -> Option<Announcement> {
        let wait_s = 3600.0 * self.settings.sensor_after_h;
        let sensor = &state.points.get(point)?.sensor;
        let is_back = wait_s > 0.0 && sensor.is_back_after(wait_s);
        let words = wording::sensor_back(key, point);
        is_back.then(|| self.beside(key, NotificationReason::Message, words, now))
    }

    /// Documents that were written of a bearing whose risk has been told already.
    pub(crate) fn written(
        &self,
        key: &BearingKey,
        diagnosis: &Diagnosis,
        now: Timestamp,
    ) -> Option<Announcement> {
        let risk = diagnosis.risk_level;
        let subject = Subject {
            key,
            event_id: Some(diagnosis.event_id),
            risk,
            loudness: risk,
            reason: NotificationReason::Message,
            title: wording::title(key, diagnosis),
            body: diagnosis.recommendation.clone(),
        };
        (risk >= self.settings.from).then(|| self.kept(&subject, now))
    }

    /// Something about a bearing that is no risk of it: as loud as a Warning.
    fn beside(
        &self,
        key: &BearingKey,
        reason: NotificationReason,
        (title, body): (Text, Text),
        now: Timestamp,
    ) -> Announcement {
        let risk = RiskLevel::Warning;
        let subject = Subject { key, event_id: None, risk, loudness: risk, reason, title, body };
        self.kept(&subject, now)
    }

    fn kept(&self, subject: &Subject<'_>, now: Timestamp) -> Announcement {
        Announcement { alarm: AlarmChange::Kept, ..self.over(subject, now) }
    }

    /// A message to staff about a bearing. `call_id` makes its identity, so the same call
    /// again is the same notification. Without a row no channel hears this level.
    pub(crate) fn message(
        &self,
        call_id: &str,
        key: &BearingKey,
        risk: RiskLevel,
        words: Text,
        now: Timestamp,
    ) -> (Notification, Vec<Outgoing>) {
        let reason = NotificationReason::Message;
        let title = wording::message(key, risk);
        let subject =
            Subject { key, event_id: None, risk, loudness: risk, reason, title, body: words };
        let mut notification = notification(&subject, now);
        notification.notification_id = id_of(&[call_id]);
        if risk < self.settings.from {
            return (notification, Vec::new());
        }
        let mut rows = self.outgoing(&subject, &notification, now);
        for row in &mut rows {
            row.key = id_of(&[call_id, &row.lane]);
        }
        (notification, rows)
    }
}
