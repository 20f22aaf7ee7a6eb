//! Notifications as the store gets them from the policy of telling, without its choices: a level
//! above the highest told is told to the broker and to one web hook, and is repeated every
//! [`REPEAT_S`].

use pdm_episode::{EndCause, Episode, EpisodeRules, EpisodeStep, Finding, Observation, follow};
use pdm_shared::delivery::{NOTIFICATION_SCHEMA, Notification, NotificationReason};
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::id::{BearingKey, EventId};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use uuid::Uuid;

use super::key;
use crate::{
    Alarm, Announcement, EpisodeChange, EpisodeRecord, MQTT_LANE, Outgoing, Payload, webhook_lane,
};

/// The time from one repetition of an alarm to the next, s.
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
        episode_id: None,
        episode_sequence: None,
        transition: None,
        episode_state: None,
        related: Vec::new(),
        ack_url: None,
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

/// The topic on which the episodes of this suite are retained.
pub(super) const EPISODE_TOPIC: &str = "episode";

fn window(level: RiskLevel, now: Timestamp, ended: Option<EndCause>) -> Observation {
    Observation {
        at: now,
        now,
        level,
        finding: Finding::default(),
        frozen: None,
        is_out_of_order: false,
        is_replayed: false,
        ended,
    }
}

fn change(step: &EpisodeStep, alarm: Option<Alarm>) -> EpisodeChange {
    EpisodeChange {
        episode: step.episode.clone(),
        resets_acknowledgement: alarm.as_ref().is_some_and(|alarm| alarm.repeats == 0),
        suppresses: false,
        beside: None,
        alarm: alarm.map(Box::new),
        topic: EPISODE_TOPIC.to_owned(),
    }
}

fn told(notification: Notification, step: &EpisodeStep, repeats: u32) -> Announcement {
    let alarm = Alarm {
        telling: None,
        risk: notification.risk_level,
        repeats,
        repeat_at: Some(notification.created_at.plus_seconds(REPEAT_S)),
        notification: notification.clone(),
    };
    let episode = Some(Box::new(change(step, Some(alarm))));
    Announcement { outgoing: rows(&notification), notification, episode }
}

/// The announcement of a judgement above Normal and above the highest level told.
pub(super) fn raised(
    key: &BearingKey,
    diagnosis: &Diagnosis,
    record: Option<&EpisodeRecord>,
    now: Timestamp,
) -> Option<Announcement> {
    let episode = record.map(|record| &record.episode);
    risen(key, diagnosis.risk_level, episode, now)
}

/// The announcement of a level that rises.
pub(super) fn risen(
    key: &BearingKey,
    risk: RiskLevel,
    episode: Option<&Episode>,
    now: Timestamp,
) -> Option<Announcement> {
    let id = EventId::at(now.unix_ms()).0;
    let step = follow(episode, &window(risk, now, None), &EpisodeRules::default(), id)?;
    step.tell?;
    Some(told(notification(key, risk, NotificationReason::Raised, now), &step, 0))
}

/// The end of an episode by a repair.
pub(super) fn over(record: &EpisodeRecord, now: Timestamp) -> Announcement {
    let end = window(RiskLevel::Normal, now, Some(EndCause::Repair));
    let rules = EpisodeRules::default();
    let step = follow(Some(&record.episode), &end, &rules, uuid::Uuid::nil()).expect("it ends");
    let notification = notification(&key(), RiskLevel::Normal, NotificationReason::Cleared, now);
    let episode = Some(Box::new(change(&step, None)));
    Announcement { outgoing: rows(&notification), notification, episode }
}

/// The repetition of an alarm.
pub(super) fn repeated(record: &EpisodeRecord, now: Timestamp) -> Announcement {
    let alarm = record.alarm.as_ref().expect("it was told");
    let repetition = notification(&key(), alarm.risk, NotificationReason::Repeated, now);
    let step = EpisodeStep { episode: record.episode.clone(), tell: None };
    told(repetition, &step, alarm.repeats + 1)
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

/// A window that says nothing new, decided on what was read.
pub(super) fn frozen(record: &EpisodeRecord, now: Timestamp) -> EpisodeChange {
    let frozen = Some(pdm_shared::episode::FreezeCause::Sensor);
    let window = Observation { frozen, ..window(RiskLevel::Warning, now, None) };
    let rules = EpisodeRules::default();
    let step = follow(Some(&record.episode), &window, &rules, uuid::Uuid::nil()).expect("freezes");
    change(&step, None)
}
