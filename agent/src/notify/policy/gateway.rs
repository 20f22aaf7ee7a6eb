//! Episodes of gateways, and what is suppressed because of them.

use pdm_episode::{
    EndCause, Episode, EpisodeRules, EpisodeStep, Finding, Observation, Tell, follow,
};
use pdm_shared::delivery::NotificationReason;
use pdm_shared::episode::{AcknowledgementState, Suppression, Transition};
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use pdm_store::{Alarm, Announcement, EpisodeChange, EpisodeRecord};

use super::{Policy, Subject, new_id};

impl Policy {
    /// A gateway went silent.
    pub(crate) fn silent(
        &self,
        key: &BearingKey,
        risk: RiskLevel,
        (title, body): (Text, Text),
        others: &[BearingKey],
        now: Timestamp,
    ) -> Option<Announcement> {
        let step = self.gateway(None, risk, None, now)?;
        let reason = NotificationReason::Silent;
        let subject = Subject { key, event_id: None, risk, loudness: risk, reason, title, body };
        Some(with_related(self.told(&subject, None, step, now), others))
    }

    /// An alarm of a gateway once more, since it says more than before.
    pub(crate) fn told_again(
        &self,
        key: &BearingKey,
        record: &EpisodeRecord,
        (title, body): (Text, Text),
        others: &[BearingKey],
        now: Timestamp,
    ) -> Announcement {
        let risk = record.alarm.as_ref().map_or(RiskLevel::Warning, |alarm| alarm.risk);
        self.told_again_at(risk, key, record, (title, body), others, now)
    }

    /// Tells an alarm of a gateway once more, at this level.
    pub(crate) fn told_again_at(
        &self,
        risk: RiskLevel,
        key: &BearingKey,
        record: &EpisodeRecord,
        (title, body): (Text, Text),
        others: &[BearingKey],
        now: Timestamp,
    ) -> Announcement {
        let mut episode = record.episode.clone();
        (episode.sequence, episode.changed_at) = (episode.sequence + 1, now);
        episode.transition = Transition::Repeated;
        // whoever acknowledged has not seen what joined
        episode.acknowledgement = AcknowledgementState::Unacknowledged;
        let reason = NotificationReason::Silent;
        let subject = Subject { key, event_id: None, risk, loudness: risk, reason, title, body };
        let step = EpisodeStep { episode, tell: Some(Tell::Raised(risk)) };
        with_related(self.told(&subject, Some(record), step, now), others)
    }

    /// Lets an alarm of a gateway stand for fewer than before, of which staff is not told.
    pub(crate) fn names_fewer(
        &self,
        key: &BearingKey,
        record: &EpisodeRecord,
        alarm: &Alarm,
        others: &[BearingKey],
        now: Timestamp,
    ) -> EpisodeChange {
        let mut episode = record.episode.clone();
        (episode.sequence, episode.changed_at) = (episode.sequence + 1, now);
        let mut change = self.change(key, Some(record), EpisodeStep { episode, tell: None });
        let mut alarm = alarm.clone();
        alarm.notification.related = others.iter().map(BearingKey::to_string).collect();
        change.alarm = Some(Box::new(alarm));
        change
    }

    /// A gateway is back.
    pub(crate) fn heard(
        &self,
        key: &BearingKey,
        record: &EpisodeRecord,
        (title, body): (Text, Text),
        others: &[BearingKey],
        now: Timestamp,
    ) -> Option<Announcement> {
        let episode = freed(record);
        let heard = Some(EndCause::Heard);
        let mut step = self.gateway(Some(&episode), RiskLevel::Normal, heard, now)?;
        // told although this gateway's silence was told with another's
        step.tell = step.tell.or(Some(Tell::Cleared(RiskLevel::Warning)));
        let loudness = record.alarm.as_ref().map_or(RiskLevel::Warning, |alarm| alarm.risk);
        let subject = Subject {
            key,
            event_id: None,
            risk: RiskLevel::Normal,
            loudness,
            reason: NotificationReason::Cleared,
            title,
            body,
        };
        let mut told = self.told(&subject, Some(record), step, now);
        if let Some(change) = &mut told.episode {
            change.suppresses = true;
        }
        Some(with_related(told, others))
    }

    /// The episode of a gateway that is silent, or sends again.
    fn gateway(
        &self,
        episode: Option<&Episode>,
        level: RiskLevel,
        ended: Option<EndCause>,
        now: Timestamp,
    ) -> Option<EpisodeStep> {
        let rules = EpisodeRules { from: RiskLevel::Watch, ..self.settings.episodes() };
        let window = Observation {
            at: now,
            now,
            level,
            finding: Finding::default(),
            frozen: None,
            is_out_of_order: false,
            is_replayed: false,
            ended,
        };
        follow(episode, &window, &rules, new_id(now))
    }

    /// The episode of a gateway whose silence is told with another's.
    pub(crate) fn silent_beside(
        &self,
        key: &BearingKey,
        risk: RiskLevel,
        reason: String,
        now: Timestamp,
    ) -> Option<EpisodeChange> {
        let episode = Episode::new(new_id(now), now).beside(reason, risk, now).episode;
        let step = self.gateway(Some(&episode), risk, None, now)?;
        Some(EpisodeChange { suppresses: true, ..self.change(key, None, step) })
    }

    /// The end of such an episode.
    pub(crate) fn heard_beside(
        &self,
        key: &BearingKey,
        record: &EpisodeRecord,
        now: Timestamp,
    ) -> Option<EpisodeChange> {
        let heard = Some(EndCause::Heard);
        let step = self.gateway(Some(&freed(record)), RiskLevel::Normal, heard, now)?;
        Some(EpisodeChange { suppresses: true, ..self.change(key, Some(record), step) })
    }

    /// An episode that staff is not told of, because its cause is told elsewhere.
    pub(crate) fn suppressed_by_design(
        &self,
        key: &BearingKey,
        record: &EpisodeRecord,
        reason: String,
        now: Timestamp,
    ) -> EpisodeChange {
        let step = record.episode.suppress(Suppression::ByDesign { reason }, now);
        EpisodeChange { suppresses: true, ..self.change(key, Some(record), step) }
    }

    /// A gateway that is still silent takes the place of the one that its silence was told with: it
    /// was told, and is repeated from now on.
    pub(crate) fn leads(
        &self,
        key: &BearingKey,
        record: &EpisodeRecord,
        risk: RiskLevel,
        now: Timestamp,
    ) -> EpisodeChange {
        let step = record.episode.unsuppress(now);
        let mut change = self.change(key, Some(record), EpisodeStep { tell: None, ..step });
        change.suppresses = true;
        let Ok(gateway) = pdm_shared::id::GatewayId::new(key.bearing.as_str()) else {
            return change;
        };
        let (title, body) = super::wording::silent(&gateway, None, None, self.settings.zone);
        let reason = NotificationReason::Silent;
        let subject = Subject { key, event_id: None, risk, loudness: risk, reason, title, body };
        let notification = super::notification(&subject, now);
        let repeat_at = self.repeat_at(risk, 0, now);
        let telling = self.directory.led(key, risk, now);
        let alarm = pdm_store::Alarm { risk, repeats: 0, repeat_at, notification, telling };
        change.alarm = Some(Box::new(alarm));
        change
    }
}

/// Returns the same announcement with the others that it tells of too.
pub(super) fn with_related(mut announcement: Announcement, others: &[BearingKey]) -> Announcement {
    if others.is_empty() {
        return announcement;
    }
    let notification = &mut announcement.notification;
    notification.related = others.iter().map(BearingKey::to_string).collect();
    let related = notification.related.clone();
    super::retold(&mut announcement);
    let change = announcement.episode.as_mut();
    if let Some(alarm) = change.and_then(|change| change.alarm.as_mut()) {
        alarm.notification.related = related;
    }
    announcement
}

/// The episode of a gateway without its suppression.
fn freed(record: &EpisodeRecord) -> Episode {
    let mut episode = record.episode.clone();
    episode.suppression = Suppression::None;
    episode.course.withheld = None;
    episode
}
