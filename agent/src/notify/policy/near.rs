//! Alarms of one cause are told once: the first stands for the others, whose episodes are suppressed by
//! design until they are worse than it or it is over.

use pdm_episode::{Episode, Observation, Step, follow};
use pdm_routes::ToldLately;
use pdm_shared::episode::Suppression;
use pdm_shared::event::Event;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use uuid::Uuid;

use super::{Followed, JudgedWindow, Policy};
use crate::notify::wording;
use crate::store::{Announcement, Beside, EpisodeRecord};

impl Policy {
    /// How long after an alarm those of the same cause are told with it, s; 0 never.
    pub(crate) fn related_within_s(&self) -> f64 {
        60.0 * self.settings.related_within_min
    }

    /// The alarm that a window raises, for comparison with others.
    pub(crate) fn told_lately(
        key: &BearingKey,
        event: &Event,
        announcement: &Announcement,
        fault: Option<pdm_shared::fault::Fault>,
    ) -> Option<ToldLately> {
        let change = announcement.episode.as_ref()?;
        let level = change.alarm.as_ref()?.risk;
        let frequency_hz = fault.and_then(|fault| event.frequency_domain.line(fault).frequency_hz);
        Some(ToldLately {
            key: key.clone(),
            level,
            at: announcement.notification.created_at,
            gateway: Some(event.gateway_id.clone()),
            frequency_hz,
        })
    }

    /// The same window where another alarm of its cause was told lately: quiet if that one is as bad,
    /// with the milder ones named if this one is worse.
    pub(crate) fn of_one_cause(
        &self,
        window: &JudgedWindow<'_>,
        record: Option<&EpisodeRecord>,
        told: Box<Announcement>,
        lately: &[ToldLately],
        now: Timestamp,
    ) -> Followed {
        let key = &window.event.key();
        let fault = window.judgement.diagnosis.fault_type;
        let Some(mine) = Self::told_lately(key, window.event, &told, fault) else {
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
    ) -> Option<Step> {
        let reason = format!("one cause with {} at {}", source.key, source.level.as_str());
        let id: Uuid = told.episode.as_ref()?.episode.id;
        let open = record.filter(|record| record.is_open()).map(|record| record.episode.clone());
        let episode = open.unwrap_or_else(|| Episode::new(id, now));
        let suppressed = episode.suppress(Suppression::ByDesign { reason }, now).episode;
        follow(Some(&suppressed), observation, &self.settings.episodes(), id)
    }
}

/// The episode of a window that is worse than the alarm with which it was told: told from now on.
pub(super) fn freed_if_worse(
    record: &EpisodeRecord,
    level: RiskLevel,
    now: Timestamp,
) -> Option<Episode> {
    let beside = record.beside.as_ref()?;
    (level > beside.level).then(|| record.episode.unsuppress(now).episode)
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
