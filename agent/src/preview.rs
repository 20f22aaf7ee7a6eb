//! What staff would be told of events: the expert and the policy of telling on the events' own clock,
//! without a store, tools or documents.
//!
//! For `pdm-agent notify preview` and for the figures of the episodes. Invariant: the same expert, the
//! same machine of episodes and the same policy as in service; nothing is decided here.

use std::collections::BTreeMap;

use pdm_expert::case::{Case, Memory};
use pdm_expert::rules::Rules;
use pdm_routes::ToldLately;
use pdm_shared::delivery::{Notification, NotificationReason};
use pdm_shared::episode::{AcknowledgementState, Suppression};
use pdm_shared::event::Event;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_shared::topic::Prefix;

use crate::notify::policy::{Followed, JudgedWindow, Policy, is_beside_for_too_long};
use crate::settings::NotifySettings;
use crate::store::{Announcement, EpisodeChange, EpisodeRecord};

/// A bearing while its events are played.
#[derive(Debug, Default)]
struct Bearing {
    memory: Memory,
    record: Option<EpisodeRecord>,
    episodes: usize,
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
}

/// How a notification leaves, beside the broker's topic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Way {
    /// The channels' lanes; none while quiet hours hold it back, or where no channel hears it.
    pub lanes: Vec<String>,
    /// What leaves by a lane in one message has the same name here; none without a lane.
    pub message: Option<String>,
    /// When it leaves; none without a lane.
    pub leaves_at: Option<Timestamp>,
}

/// What staff was told, and how.
#[derive(Debug, Default)]
struct Told(Vec<(Notification, Way)>);

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
        let followed = self.policy.judged(&key, &window, bearing.record.as_ref(), now);
        let followed = match followed {
            Some(Followed::Told(told))
                if told.notification.reason == NotificationReason::Raised =>
            {
                let within_s = self.policy.related_within_s();
                self.lately.retain(|one| now.seconds_since(one.at) <= within_s);
                let record = bearing.record.as_ref();
                let followed = self.policy.of_one_cause(&window, record, told, &self.lately, now);
                if let Followed::Told(told) = &followed {
                    let mine = Policy::told_lately(&key, event, told);
                    self.lately.retain(|one| one.key != key);
                    self.lately.extend(mine);
                }
                Some(followed)
            }
            followed => followed,
        };
        let was_told = matches!(followed, Some(Followed::Told(_)));
        let mut told = Told::default();
        bearing.take(followed, &mut told);
        if !was_told && let Some(announcement) = self.policy.beside_risk(&key, &window, now) {
            told.take(announcement);
        }
        self.note(told);
        judgement.state.risk()
    }

    fn note(&mut self, told: Told) {
        for (notification, way) in told.0 {
            self.told.push(notification);
            self.ways.push(way);
        }
    }

    /// Forgets a bearing, which begins anew: it was replaced, and its baseline is learnt again.
    pub fn forget(&mut self, key: &BearingKey) {
        self.bearings.remove(key);
    }

    /// What time brings about up to this instant: the end of a shelf, the next step of a route,
    /// repetitions.
    pub fn pass(&mut self, key: &BearingKey, now: Timestamp) {
        let mut told = Told::default();
        self.passed(key, now, &mut told);
        self.note(told);
    }

    /// Whether the alarm with which an episode is told stands no longer.
    fn is_source_over(&self, record: &EpisodeRecord, now: Timestamp) -> bool {
        let Some(beside) = &record.beside else { return false };
        let source = self.bearings.get(&beside.source).and_then(|one| one.record.as_ref());
        !source.is_some_and(EpisodeRecord::is_source) || is_beside_for_too_long(record, now)
    }

    fn passed(&mut self, key: &BearingKey, now: Timestamp, told: &mut Told) {
        let record = self.bearings.get(key).and_then(|one| one.record.as_ref());
        let is_free = record.is_some_and(|one| self.is_source_over(one, now));
        let Some(bearing) = self.bearings.get_mut(key) else { return };
        let Some(record) = bearing.record.clone().filter(EpisodeRecord::is_open) else { return };
        let suppression = &record.episode.suppression;
        if is_free || *suppression != Suppression::None && !suppression.holds(now) {
            let followed = self.policy.unsuppressed(key, &record, now);
            bearing.take(Some(followed), told);
            return;
        }
        let is_unseen = record.episode.acknowledgement == AcknowledgementState::Unacknowledged;
        let stands = record.episode.course.condition.level() > RiskLevel::Normal;
        let is_told = is_unseen && stands && !suppression.holds(now);
        let next = || self.policy.told_on(key, &record, now);
        if let Some(followed) = is_told.then(next).flatten() {
            bearing.take(Some(followed), told);
            return;
        }
        let due = record.alarm.as_ref().filter(|_| is_told);
        let due = due.filter(|alarm| alarm.repeat_at.is_some_and(|at| at <= now));
        if let Some(alarm) = due {
            let again = self.policy.repeated(key, &record, alarm, now);
            bearing.take(Some(Followed::Told(Box::new(again))), told);
        }
    }

    /// Staff acknowledges what stands of a bearing.
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

    /// What staff was told so far, in its order.
    pub fn told(&self) -> &[Notification] {
        &self.told
    }

    /// How the notification of this place leaves.
    pub fn way(&self, place: usize) -> Way {
        self.ways.get(place).cloned().unwrap_or_default()
    }

    /// How many episodes began.
    pub fn episodes(&self) -> usize {
        self.bearings.values().map(|bearing| bearing.episodes).sum()
    }
}

impl Told {
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
    fn take(&mut self, followed: Option<Followed>, told: &mut Told) {
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
        self.record = Some(EpisodeRecord::after(was, change));
    }
}

#[cfg(test)]
mod tests;
