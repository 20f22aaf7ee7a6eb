//! Compares the notifications due to staff, by the judgements and the policy's rules, with those
//! received.

use std::collections::{BTreeMap, BTreeSet};

use pdm_shared::delivery::{Notification, NotificationReason};
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;

use super::{Evidence, Verdict};
use crate::faults::receiver::Posted;
use crate::faults::store::{Judged, Kept};

pub(super) fn judgements(kept: &Kept, verdict: &mut Verdict) {
    let mut judged: BTreeMap<EventId, usize> = BTreeMap::new();
    for (_, judgement) in &kept.judgements {
        *judged.entry(judgement.event_id).or_default() += 1;
    }
    for (id, count) in judged.iter().filter(|(_, count)| **count > 1) {
        verdict.duplicated.push(format!("{count} judgements of {id}"));
    }
    for event in &kept.events {
        let id = uuid::Uuid::from_slice(&event.event_id).map(EventId);
        if !id.is_ok_and(|id| judged.contains_key(&id)) {
            verdict.unjudged.push(format!("{} of {}", event.sequence, event.gateway));
        }
    }
}

/// Checks the notifications that follow from the judgements alone: a level of Watch or above that
/// is higher than the last notified one, and the return below Watch.
pub(super) fn due(kept: &Kept, verdict: &mut Verdict) {
    let mut told: BTreeMap<&str, RiskLevel> = BTreeMap::new();
    let mut due = BTreeSet::new();
    for (bearing, Judged { event_id, risk_level: risk }) in &kept.judgements {
        let before = told.get(bearing.as_str()).copied();
        if *risk >= RiskLevel::Watch && before.is_none_or(|before| *risk > before) {
            told.insert(bearing, *risk);
            due.insert((*event_id, "raised"));
        } else if *risk < RiskLevel::Watch && before.is_some() {
            told.remove(bearing.as_str());
            due.insert((*event_id, "cleared"));
        }
    }
    for notification in &kept.notifications {
        let reason = match notification.reason {
            NotificationReason::Raised => "raised",
            NotificationReason::Cleared if notification.event_id.is_some() => "cleared",
            NotificationReason::Cleared
            | NotificationReason::Repeated
            | NotificationReason::Message
            | NotificationReason::Silent => continue,
        };
        if !notification.event_id.is_some_and(|id| due.remove(&(id, reason))) {
            let id = notification.notification_id;
            verdict.told_twice.push(format!("{id} ({reason}): nothing asked for it"));
        }
    }
    verdict.untold.extend(due.iter().map(|(id, reason)| format!("{reason} by {id}: not written")));
}

pub(super) fn received(kept: &Kept, posted: &Posted, verdict: &mut Verdict) {
    let mut got: BTreeMap<uuid::Uuid, usize> = BTreeMap::new();
    for body in posted.taken.values() {
        match notifications(body) {
            Some(all) => {
                for one in all {
                    *got.entry(one.notification_id).or_default() += 1;
                }
            }
            None => verdict.mishaps.push(format!("a post that nobody understands: {body}")),
        }
    }
    for notification in &kept.notifications {
        let id = notification.notification_id;
        match got.remove(&id) {
            None => verdict.untold.push(format!("{id}: written, not received")),
            Some(1) => {}
            Some(count) => verdict.told_twice.push(format!("{id}: {count} times")),
        }
    }
    verdict.told_twice.extend(got.keys().map(|id| format!("{id}: received, never written")));
    verdict
        .untold
        .extend(posted.reused.iter().map(|key| format!("key {key} came with other news")));
    let given_up = kept.outbox.get("given_up").copied().unwrap_or(0);
    if given_up > 0 {
        verdict.untold.push(format!("{given_up} given up"));
    }
}

/// Checks the notifications by MQTT. A notification may be repeated with the same identity; one
/// that the broker accepted and lost when it was killed cannot arrive.
pub(super) fn check_heard(evidence: &Evidence, verdict: &mut Verdict) {
    for notification in evidence.unheard() {
        if evidence.kills.get("broker").is_none_or(|kills| *kills == 0) {
            verdict.untold.push(format!("{notification}: written, not heard by MQTT"));
        }
    }
    let written: BTreeSet<_> =
        evidence.kept.notifications.iter().map(|one| one.notification_id).collect();
    let unknown = evidence.heard.taken.keys().filter(|id| !written.contains(id));
    verdict.told_twice.extend(unknown.map(|id| format!("{id}: heard by MQTT, never written")));
    verdict
        .told_twice
        .extend(evidence.heard.changed.iter().map(|id| format!("{id}: came with other words")));
}

fn notifications(body: &str) -> Option<Vec<Notification>> {
    #[derive(serde::Deserialize)]
    struct Together {
        notifications: Vec<Notification>,
    }
    serde_json::from_str::<Notification>(body).map(|one| vec![one]).ok().or_else(|| {
        serde_json::from_str::<Together>(body).map(|together| together.notifications).ok()
    })
}
