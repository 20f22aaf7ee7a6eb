//! Tells alarms elsewhere that a way to staff does not take: the next step of the alarm's route
//! hears at once, or everybody where there is none, and at last every way that the configuration
//! has.
//!
//! The same notification leaves on further lanes, so no lane gets it twice and the chain ends.
//! Whoever has it on another way needs no other message. A way that has not tried it for as long as
//! an alarm may wait counts as one that fails. An alarm that no way takes is counted until one
//! does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use pdm_service::clock::SharedClock;
use pdm_shared::delivery::{Notification, NotificationReason};
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_store::{EpisodeRecord, Store, StoreError, WayState};
use uuid::Uuid;

use super::policy::Policy;
use super::sending::ELSEWHERE_AFTER_S;
use super::{MQTT_LANE, log};
use crate::progress::Reporter;

/// Most notifications that are remembered as told to nobody; more of them are one state.
const MOST: usize = 1000;

/// Whether somebody has a notification, or will on a way that has not failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reached {
    /// Somebody.
    Somebody,
    /// No way takes it.
    Nobody,
}

/// Tells elsewhere what a lane does not take.
#[derive(Debug)]
pub(crate) struct Elsewhere {
    store: Store,
    clock: SharedClock,
    policy: Policy,
    reporter: Reporter,
    /// Notifications that no way takes, and whether only the broker's topic has said so: a
    /// notification that a person's way or a hook refuses is not told by a topic that takes it.
    untold: Mutex<BTreeMap<Uuid, bool>>,
}

impl Elsewhere {
    pub(crate) fn new(
        store: Store,
        clock: SharedClock,
        policy: Policy,
        reporter: Reporter,
    ) -> Self {
        Self { store, clock, policy, reporter, untold: Mutex::default() }
    }

    /// Tells elsewhere what `lane` does not take. The same call again tells nobody twice.
    pub(crate) async fn tell_further(
        &self,
        lane: &str,
        why: &str,
        notification: &Notification,
    ) -> Result<Reached, StoreError> {
        if notification.reason == NotificationReason::Cleared {
            return Ok(Reached::Somebody);
        }
        let key = key_of(notification);
        let record = self.store.episodes().episode(&key).await?.filter(|record| {
            record.is_open() && notification.episode_id == Some(record.episode.id)
        });
        if record.as_ref().is_some_and(|one| one.episode.acknowledgement.is_acknowledged()) {
            self.delivered(std::slice::from_ref(notification));
            return Ok(Reached::Somebody);
        }
        let late = self.clock.now().plus_seconds(-ELSEWHERE_AFTER_S);
        let ways = self.store.outbox().ways(notification.notification_id, late).await?;
        if is_with_somebody(&ways, lane) {
            return Ok(Reached::Somebody);
        }
        if let Some(record) = &record
            && self.next_step(lane, why, notification, record, &ways).await?
        {
            return Ok(Reached::Somebody);
        }
        for lanes in [self.policy.everybody(notification.risk_level), self.policy.every_lane()] {
            if self.spread(lane, why, notification, lanes, &ways).await? {
                return Ok(Reached::Somebody);
            }
        }
        self.nobody(lane, why, notification, &key);
        Ok(Reached::Nobody)
    }

    /// Whether a way leads to staff beside the broker's topic.
    pub(crate) fn has_ways(&self) -> bool {
        !self.policy.every_lane().is_empty()
    }

    /// Handles an alarm that the broker has taken and nobody subscribes to, where no other way
    /// leads to staff: it counts as told to nobody while it stands.
    pub(crate) async fn unheard(
        &self,
        why: &str,
        notification: &Notification,
    ) -> Result<Reached, StoreError> {
        let is_alarm = notification.reason != NotificationReason::Cleared
            && notification.risk_level >= RiskLevel::Warning;
        let key = key_of(notification);
        let record = if is_alarm { self.store.episodes().episode(&key).await? } else { None };
        let stands = record.as_ref().is_some_and(|record| {
            record.is_open()
                && notification.episode_id == Some(record.episode.id)
                && !record.episode.acknowledgement.is_acknowledged()
        });
        if !stands {
            self.delivered(std::slice::from_ref(notification));
            return Ok(Reached::Somebody);
        }
        self.nobody(MQTT_LANE, why, notification, &key);
        Ok(Reached::Nobody)
    }

    /// Tells the next step of the alarm's route before its time, or everybody behind the last one;
    /// false if no further way leads to them.
    async fn next_step(
        &self,
        lane: &str,
        why: &str,
        notification: &Notification,
        record: &EpisodeRecord,
        ways: &[(String, WayState)],
    ) -> Result<bool, StoreError> {
        let (key, now) = (key_of(notification), self.clock.now());
        let Some(further) = self.policy.further(&key, record, now) else { return Ok(false) };
        if !self.spread(lane, why, notification, further.lanes, ways).await? {
            return Ok(false);
        }
        // written after the rows: whoever is told and not remembered is told again, not never
        self.store.episodes().change(&key, Some(record.version()), &further.change).await?;
        Ok(true)
    }

    /// Writes rows for the lanes that the notification has none on; false if there is no such lane.
    async fn spread(
        &self,
        lane: &str,
        why: &str,
        notification: &Notification,
        lanes: Vec<String>,
        ways: &[(String, WayState)],
    ) -> Result<bool, StoreError> {
        let taken: BTreeSet<&str> = ways.iter().map(|(lane, _)| lane.as_str()).collect();
        let lanes: Vec<String> =
            lanes.into_iter().filter(|one| one != lane && !taken.contains(one.as_str())).collect();
        if lanes.is_empty() {
            return Ok(false);
        }
        let now = self.clock.now();
        let rows = Policy::elsewhere(lane, notification, &lanes, now);
        let written = self.store.outbox().spread(notification.notification_id, &rows, now).await?;
        self.reporter.update(|progress| progress.unsent += written);
        log::told_elsewhere(lane, why, &key_of(notification), &lanes);
        Ok(true)
    }

    fn nobody(&self, lane: &str, why: &str, notification: &Notification, key: &BearingKey) {
        if notification.risk_level < RiskLevel::Warning {
            return;
        }
        let mut untold = self.untold.lock().unwrap_or_else(PoisonError::into_inner);
        let is_topic = lane == MQTT_LANE;
        if let Some(is_topic_alone) = untold.get_mut(&notification.notification_id) {
            *is_topic_alone &= is_topic;
        } else if untold.len() < MOST {
            log::told_nobody(key, notification.risk_level, lane, why);
            untold.insert(notification.notification_id, is_topic);
        }
        self.count(&untold);
    }

    /// The broker's topic took this, which it had refused.
    pub(crate) fn published(&self, notification: &Notification) {
        let mut untold = self.untold.lock().unwrap_or_else(PoisonError::into_inner);
        if untold.get(&notification.notification_id) == Some(&true) {
            untold.remove(&notification.notification_id);
            self.count(&untold);
        }
    }

    /// A way took these, or somebody has acknowledged them.
    pub(crate) fn delivered(&self, notifications: &[Notification]) {
        self.have_reached(notifications.iter().map(|notification| notification.notification_id));
    }

    /// Somebody has heard of the notifications of these identities.
    pub(super) fn have_reached(&self, identities: impl Iterator<Item = Uuid>) {
        let mut untold = self.untold.lock().unwrap_or_else(PoisonError::into_inner);
        let before = untold.len();
        for identity in identities {
            untold.remove(&identity);
        }
        if untold.len() != before {
            self.count(&untold);
        }
    }

    fn count(&self, untold: &BTreeMap<Uuid, bool>) {
        metrics::gauge!("pdm_agent_notify_untold").set(untold.len() as f64);
        let count = untold.len() as u64;
        self.reporter.update(|progress| progress.untold = count);
    }
}

fn key_of(notification: &Notification) -> BearingKey {
    BearingKey {
        site: notification.site.clone(),
        equipment: notification.equipment_id.clone(),
        bearing: notification.bearing_id.clone(),
    }
}

/// Whether another lane has the notification, or has not been tried.
fn is_with_somebody(ways: &[(String, WayState)], lane: &str) -> bool {
    ways.iter().any(|(other, state)| {
        other != lane && matches!(state, WayState::Delivered | WayState::Ahead)
    })
}
