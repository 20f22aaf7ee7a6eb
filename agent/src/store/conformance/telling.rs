//! Notifications as the store gets them from the policy of telling, without its choices: a level above
//! the highest told is told to the broker and to one web hook, and is repeated every [`REPEAT_S`].

use pdm_shared::delivery::{NOTIFICATION_SCHEMA, Notification, NotificationReason};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use uuid::Uuid;

use super::key;
use crate::store::{Alarm, AlarmChange, Announcement, MQTT_LANE, Outgoing, Payload, webhook_lane};

/// From one repetition of an alarm to the next, s.
pub(super) const REPEAT_S: f64 = 8.0 * 3600.0;

fn notification(
    key: &BearingKey,
    risk: RiskLevel,
    reason: NotificationReason,
    now: Timestamp,
) -> Notification {
    Notification {
        schema: NOTIFICATION_SCHEMA.to_owned(),
        notification_id: EventId::at(now.unix_ms()).0,
        event_id: None,
        site: key.site.clone(),
        equipment_id: key.equipment.clone(),
        bearing_id: key.bearing.clone(),
        risk_level: risk,
        reason,
        title: Text::new("제목", "title"),
        body: Text::new("본문", "body"),
        created_at: now,
    }
}

fn row(lane: &str, notification_id: Option<Uuid>, payload: Payload, now: Timestamp) -> Outgoing {
    Outgoing {
        key: EventId::at(now.unix_ms()).0,
        lane: lane.to_owned(),
        topic: Some("topic".to_owned()).filter(|_| lane == MQTT_LANE),
        retain: notification_id.is_none(),
        notification_id,
        group: None,
        payload,
        due_at: now,
    }
}

fn rows(notification: &Notification) -> Vec<Outgoing> {
    let payload = serde_json::to_string(notification).expect("json");
    let to = |lane: &str| {
        let payload = Payload::Text(payload.clone());
        row(lane, Some(notification.notification_id), payload, notification.created_at)
    };
    vec![to(MQTT_LANE), to(&webhook_lane("ops"))]
}

fn stands(notification: Notification, repeats: u32) -> Announcement {
    let alarm = Alarm {
        risk: notification.risk_level,
        repeats,
        repeat_at: Some(notification.created_at.plus_seconds(REPEAT_S)),
        acknowledged: false,
        notification: notification.clone(),
    };
    let alarm = AlarmChange::Stands(Box::new(alarm));
    Announcement { outgoing: rows(&notification), alarm, notification }
}

/// The announcement of a judgement above Normal and above the highest level told.
pub(super) fn raised(
    key: &BearingKey,
    diagnosis: &Diagnosis,
    alarm: Option<&Alarm>,
    now: Timestamp,
) -> Option<Announcement> {
    let told = alarm.map_or(RiskLevel::Normal, |alarm| alarm.risk);
    let risk = diagnosis.risk_level;
    (risk > told).then(|| stands(notification(key, risk, NotificationReason::Raised, now), 0))
}

/// The repetition of an alarm.
pub(super) fn repeated(alarm: &Alarm, now: Timestamp) -> Announcement {
    let told = notification(&key(), alarm.risk, NotificationReason::Repeated, now);
    stands(told, alarm.repeats + 1)
}

/// A message to staff that belongs to no alarm.
pub(super) fn message(words: Text, now: Timestamp) -> (Notification, Vec<Outgoing>) {
    let told = notification(&key(), RiskLevel::Critical, NotificationReason::Message, now);
    let told = Notification { body: words, ..told };
    let rows = rows(&told);
    (told, rows)
}

/// The publication of a diagnosis.
pub(super) fn publication(diagnosis: &Diagnosis) -> Outgoing {
    row(MQTT_LANE, None, Payload::Judgement(diagnosis.event_id), diagnosis.judged_at)
}
