//! Previews what staff would be told of events: runs the expert and the policy of telling on the
//! events' own clock, without a store, tools or documents.
//!
//! For `pdm-agent notify preview`, for the back-test and for the figures of the episodes.
//! Invariant: the same expert, the same machine of episodes and the same policy as in service;
//! nothing is decided here. [`Preview::advance`] is the watch of the service ([`crate::notify`]) on
//! a virtual clock.

use std::collections::BTreeMap;

use pdm_episode::Episode;
use pdm_expert::case::{Case, Memory};
use pdm_expert::rules::Rules;
use pdm_routes::ToldLately;
use pdm_shared::delivery::{Notification, NotificationReason};
use pdm_shared::episode::Suppression;
use pdm_shared::event::Event;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_shared::topic::Prefix;
use pdm_store::{Announcement, EpisodeChange, EpisodeRecord};

use crate::notify::policy::{Followed, JudgedWindow, Policy};
use crate::settings::NotifySettings;

mod watch;

/// A bearing while its events are played.
#[derive(Debug, Default)]
struct Bearing {
    memory: Memory,
    record: Option<EpisodeRecord>,
    episodes: usize,
    /// The episodes before the one of the record, as they ended.
    past: Vec<Episode>,
}

/// Plays events and says what staff would be told.
#[derive(Debug)]
pub struct Preview {
    policy: Policy,
    rules: Rules,
    bearings: BTreeMap<BearingKey, Bearing>,
    told: Vec<Notification>,
    ways: Vec<Way>,
    lately: Vec<ToldLately>,
    /// The virtual clock: the latest time that was played or passed.
    at: Timestamp,
}

/// How a notification leaves, beside the broker's topic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Way {
    /// The channels' lanes; empty while quiet hours hold it back, or where no channel hears it.
    pub lanes: Vec<String>,
    /// The name of the message with which it leaves a lane; `None` without a lane.
    pub message: Option<String>,
    /// When it leaves; `None` without a lane.
    pub leaves_at: Option<Timestamp>,
}

/// The notifications of staff, and their ways.
#[derive(Debug, Default)]
struct ToldNotifications(Vec<(Notification, Way)>);

impl Preview {
    /// A plant of which nothing is known, whose staff is told by these settings.
    pub fn new(settings: NotifySettings, rules: Rules) -> Self {
        Self {
            policy: Policy::new(settings, Prefix::default()),
            rules,
            bearings: BTreeMap::new(),
            told: Vec::new(),
            ways: Vec::new(),
            lately: Vec::new(),
            at: Timestamp::EPOCH,
        }
    }

    /// Plays an event at the time of its measurement; the risk of its bearing after it.
    pub fn play(&mut self, event: &Event) -> RiskLevel {
        let (key, now) = (event.key(), event.measured_at);
        self.pass(&key, now);
        let bearing = self.bearings.entry(key.clone()).or_default();
        let (judgement, point) = {
            let case = Case { event, memory: &bearing.memory, now };
            (pdm_expert::judge(&case, &self.rules), case.point().to_owned())
        };
        let is_repaired = judgement.state.repaired_at != bearing.memory.state.repaired_at;
        bearing.memory.recall(event, &judgement);
        let window = JudgedWindow { event, judgement: &judgement, point: &point, is_repaired };
        self.follow(&window, now);
        judgement.state.risk()
    }

    /// Moves the episode of a judged window's bearing, and tells what follows.
    pub(crate) fn follow(&mut self, window: &JudgedWindow<'_>, now: Timestamp) {
        self.at = self.at.max(now);
        let key = window.event.key();
        let bearing = self.bearings.entry(key.clone()).or_default();
        let followed = self.policy.judged(&key, window, bearing.record.as_ref(), now);
        let followed = match followed {
            Some(Followed::Told(told))
                if told.notification.reason == NotificationReason::Raised =>
            {
                let within_s = self.policy.related_within_s();
                self.lately.retain(|one| now.seconds_since(one.at) <= within_s);
                let record = bearing.record.as_ref();
                let followed = self.policy.of_one_cause(window, record, told, &self.lately, now);
                if let Followed::Told(told) = &followed {
                    let mine = Policy::told_lately(&key, window.event, told);
                    self.lately.retain(|one| one.key != key);
                    self.lately.extend(mine);
                }
                Some(followed)
            }
            followed => followed,
        };
        let was_told = matches!(followed, Some(Followed::Told(_)));
        let mut told = ToldNotifications::default();
        bearing.take(followed, &mut told);
        if !was_told && let Some(announcement) = self.policy.beside_risk(&key, window, now) {
            told.take(announcement);
        }
        self.note(told);
    }

    fn note(&mut self, told: ToldNotifications) {
        for (notification, way) in told.0 {
            self.told.push(notification);
            self.ways.push(way);
        }
    }

    /// Forgets a bearing, which begins anew: it was replaced, and its baseline is learnt again.
    pub fn forget(&mut self, key: &BearingKey) {
        self.bearings.remove(key);
    }

    /// Lets staff acknowledge the standing alarm of a bearing.
    pub fn acknowledge(&mut self, key: &BearingKey, by: &str, now: Timestamp) {
        let Some(bearing) = self.bearings.get_mut(key) else { return };
        let Some(record) = &mut bearing.record else { return };
        if let Some(step) = record.episode.acknowledge(by, None, now) {
            record.episode = step.episode;
        }
    }

    /// Puts a bearing under a suppression.
    pub fn suppress(&mut self, key: &BearingKey, suppression: Suppression, now: Timestamp) {
        let bearing = self.bearings.entry(key.clone()).or_default();
        let open = bearing.record.take().filter(EpisodeRecord::is_open);
        let mut record = open.unwrap_or_else(|| EpisodeRecord {
            episode: pdm_episode::Episode::new(pdm_shared::id::EventId::at(now.unix_ms()).0, now),
            alarm: None,
            beside: None,
        });
        record.beside = None;
        record.episode = record.episode.suppress(suppression, now).episode;
        bearing.record = Some(record);
    }

    /// Returns the notifications so far, in their order.
    pub fn told(&self) -> &[Notification] {
        &self.told
    }

    /// Returns how the notification of this place leaves.
    pub fn way(&self, place: usize) -> Way {
        self.ways.get(place).cloned().unwrap_or_default()
    }

    /// Returns the notifications since the last call, with their ways.
    pub(crate) fn take_told(&mut self) -> Vec<(Notification, Way)> {
        std::mem::take(&mut self.told).into_iter().zip(std::mem::take(&mut self.ways)).collect()
    }

    /// The episodes of a bearing in their order, the last one as it stands.
    pub(crate) fn episodes_of(&self, key: &BearingKey) -> Vec<Episode> {
        let Some(bearing) = self.bearings.get(key) else { return Vec::new() };
        let last = bearing.record.iter().map(|record| &record.episode);
        bearing.past.iter().chain(last).cloned().collect()
    }

    /// Returns how many episodes began.
    pub fn episodes(&self) -> usize {
        self.bearings.values().map(|bearing| bearing.episodes).sum()
    }
}

impl ToldNotifications {
    /// Takes what an announcement tells; its episode, if it has one.
    fn take(&mut self, announcement: Announcement) -> Option<Box<EpisodeChange>> {
        let mut way = Way::default();
        for row in announcement.outgoing.into_iter().filter(|row| row.topic.is_none()) {
            way.lanes.push(row.lane);
            way.message = row.group;
            way.leaves_at = Some(row.due_at);
        }
        self.0.push((announcement.notification, way));
        announcement.episode
    }
}

impl Bearing {
    fn take(&mut self, followed: Option<Followed>, told: &mut ToldNotifications) {
        let change = match followed {
            None => return,
            Some(Followed::Quiet(change)) => Some(change),
            Some(Followed::Told(announcement)) => told.take(*announcement),
        };
        if let Some(change) = change {
            self.change(*change);
        }
    }

    fn change(&mut self, change: EpisodeChange) {
        let was = self.record.take();
        let is_new = was.as_ref().is_none_or(|one| one.episode.id != change.episode.id);
        self.episodes += usize::from(is_new);
        self.past.extend(was.iter().filter(|_| is_new).map(|one| one.episode.clone()));
        self.record = Some(EpisodeRecord::after(was, change));
    }
}

#[cfg(test)]
mod tests;
