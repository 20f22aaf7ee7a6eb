//! Alarms of one cause are told once: the first stands for the others and names them, and their
//! episodes are suppressed by design until they are worse than it says, it is over, or a bound has
//! passed.

use pdm_episode::{Episode, EpisodeStep, Observation, follow};
use pdm_routes::ToldLately;
use pdm_shared::delivery::NotificationReason;
use pdm_shared::episode::Transition;
use pdm_shared::event::Event;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use pdm_store::{Alarm, Announcement, Beside, EpisodeChange, EpisodeRecord};
use uuid::Uuid;

use super::{Followed, JudgedWindow, Policy, Subject};
use crate::notify::wording::{self, Ended};

/// How long a bearing is told with another's alarm, s; then it is told by itself. Chosen: a shift,
/// which is as long as an alarm stands until it is repeated by default.
const LONGEST_S: f64 = 8.0 * 3600.0;

/// How long an alarm gathers those that rise beside it until it names them, s. Chosen: the windows
/// of one machine's bearings come within one period, usually seconds apart.
pub(crate) const NAMED_AFTER_S: f64 = 30.0;

/// Returns how long a bearing is told with another's alarm, s.
pub(crate) const fn beside_for_longest_s() -> f64 {
    LONGEST_S
}

/// Returns why an episode is no longer told with another's alarm: that alarm is over, or the bound
/// is reached. `None` while it goes on.
pub(crate) fn ended_beside<'a>(
    record: &'a EpisodeRecord,
    source: Option<&EpisodeRecord>,
    now: Timestamp,
) -> Option<Ended<'a>> {
    let beside = record.beside.as_ref()?;
    if !source.is_some_and(EpisodeRecord::is_source) {
        return Some(Ended::Cause(&beside.source));
    }
    let is_bound = is_beside_for_too_long(record, now) || record.episode.owes_a_rise();
    is_bound.then_some(Ended::Bound(&beside.source))
}

impl Policy {
    /// Returns the time after an alarm within which those of the same cause are told with it, s; 0
    /// never.
    pub(crate) fn related_within_s(&self) -> f64 {
        60.0 * self.settings.related_within_min
    }

    /// The alarm that a window raises, for comparison with others.
    pub(crate) fn told_lately(
        key: &BearingKey,
        event: &Event,
        announcement: &Announcement,
    ) -> Option<ToldLately> {
        let change = announcement.episode.as_ref()?;
        let level = change.alarm.as_ref()?.risk;
        Some(ToldLately {
            key: key.clone(),
            level,
            at: announcement.notification.created_at,
            gateway: Some(event.gateway_id.clone()),
        })
    }

    /// Changes the consequence of a window where another alarm of its cause was told lately: quiet
    /// if that one is as bad, with the milder ones named if this one is worse.
    pub(crate) fn of_one_cause(
        &self,
        window: &JudgedWindow<'_>,
        record: Option<&EpisodeRecord>,
        told: Box<Announcement>,
        lately: &[ToldLately],
        now: Timestamp,
    ) -> Followed {
        let key = &window.event.key();
        let Some(mine) = Self::told_lately(key, window.event, &told) else {
            return Followed::Told(told);
        };
        let within_s = self.related_within_s();
        if let Some(source) = mine.source(lately, within_s)
            && let Some(observation) = super::judged::observation(window, now)
            && let Some(step) = self.withheld(record, source, &observation, &told, now)
        {
            let mut change = self.change(key, record, step);
            change.suppresses = true;
            change.beside = Some(Beside { source: source.key.clone(), level: source.level });
            return Followed::Quiet(Box::new(change));
        }
        let milder: Vec<BearingKey> =
            mine.milder(lately, within_s).map(|one| one.key.clone()).collect();
        Followed::Told(Box::new(with_milder(*told, &milder)))
    }

    /// The step of an episode that is told with another's.
    fn withheld(
        &self,
        record: Option<&EpisodeRecord>,
        source: &ToldLately,
        observation: &Observation,
        told: &Announcement,
        now: Timestamp,
    ) -> Option<EpisodeStep> {
        let reason = format!("one cause with {} at {}", source.key, source.level.as_str());
        let id: Uuid = told.episode.as_ref()?.episode.id;
        let open = record.filter(|record| record.is_open()).map(|record| record.episode.clone());
        let episode = open.unwrap_or_else(|| Episode::new(id, now));
        let suppressed = episode.beside(reason, observation.level, now).episode;
        follow(Some(&suppressed), observation, &self.settings.episodes(), id)
    }
}

/// Whether a bearing has been told with another's alarm for too long.
fn is_beside_for_too_long(record: &EpisodeRecord, now: Timestamp) -> bool {
    // an episode of an earlier version does not know since when
    let since = record.episode.course.told_with.map(|one| one.since);
    since.is_none_or(|since| !(0.0..LONGEST_S).contains(&now.seconds_since(since)))
}

impl Policy {
    /// The alarm of a bearing once more, which names those that are told with it.
    pub(crate) fn naming(
        &self,
        key: &BearingKey,
        record: &EpisodeRecord,
        alarm: &Alarm,
        others: &[(BearingKey, RiskLevel)],
        now: Timestamp,
    ) -> Announcement {
        let before = &alarm.notification;
        let words = wording::told_with(others);
        let with = |text: &Text| {
            Text::new(format!("{}\n{}", text.ko, words.ko), format!("{}\n{}", text.en, words.en))
        };
        let subject = Subject {
            key,
            event_id: before.event_id,
            risk: alarm.risk,
            loudness: alarm.risk,
            reason: NotificationReason::Repeated,
            title: wording::and_others(&before.title, others),
            body: with(&before.body),
        };
        let mut episode = record.episode.clone();
        (episode.sequence, episode.changed_at) = (episode.sequence + 1, now);
        episode.transition = Transition::Repeated;
        let mut told = self.told(&subject, Some(record), EpisodeStep { episode, tell: None }, now);
        let mut alarm = alarm.clone();
        let named = others.iter().map(|(key, _)| key.to_string());
        let kept = &mut alarm.notification;
        kept.related.extend(named.filter(|name| !before.related.contains(name)));
        kept.body = subject.body.clone();
        told.notification.related.clone_from(&kept.related);
        super::retold(&mut told);
        if let Some(change) = &mut told.episode {
            change.alarm = Some(Box::new(alarm));
        }
        told
    }

    /// The episode of a bearing after the alarm that it is told with has named it.
    pub(crate) fn named(
        &self,
        key: &BearingKey,
        record: &EpisodeRecord,
        now: Timestamp,
    ) -> Option<EpisodeChange> {
        Some(self.change(key, Some(record), record.episode.named(now)?))
    }
}

/// The announcement with the milder alarms of its cause, which were told before.
fn with_milder(mut announcement: Announcement, milder: &[BearingKey]) -> Announcement {
    if milder.is_empty() {
        return announcement;
    }
    let words: Text = wording::likely_source(milder);
    let body = &mut announcement.notification.body;
    *body = Text::new(format!("{}\n{}", body.ko, words.ko), format!("{}\n{}", body.en, words.en));
    if let Some(alarm) = announcement.episode.as_mut().and_then(|change| change.alarm.as_mut()) {
        alarm.notification.body = body.clone();
    }
    super::gateway::with_related(announcement, milder)
}
