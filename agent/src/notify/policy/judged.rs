//! A judged window moves the episode of its bearing; what staff is told because of it.

use pdm_episode::{EndCause, EpisodeStep, Finding, Observation, Tell, follow};
use pdm_expert::{Judgement, hurries_parts};
use pdm_shared::delivery::NotificationReason;
use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::episode::{AcknowledgementState, FreezeCause, Suppression};
use pdm_shared::event::{Change, Event, QualityFlag};
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_shared::topic::BearingTopic;
use pdm_store::{Alarm, Announcement, EpisodeChange, EpisodeRecord};

use super::{Policy, Subject, id_of, topic_of, wording};
use crate::notify::wording::Ended;

/// A window that was judged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JudgedWindow<'a> {
    pub(crate) event: &'a Event,
    pub(crate) judgement: &'a Judgement,
    /// The measuring point of the window.
    pub(crate) point: &'a str,
    /// The window ends the former judgements by a repair.
    pub(crate) is_repaired: bool,
}

impl<'a> JudgedWindow<'a> {
    /// A change that the edge found; one of a late window is old news.
    pub(super) fn change(&self) -> Option<&'a Change> {
        self.event.change.as_ref().filter(|_| !self.judgement.late)
    }
}

/// The consequence of a window.
#[derive(Debug)]
pub(crate) enum Followed {
    /// Staff is told, and the episode changes.
    Told(Box<Announcement>),
    /// The episode changes, and staff is not told.
    Quiet(Box<EpisodeChange>),
}

impl Policy {
    /// Returns the consequence of a judged window, if it has one.
    pub(crate) fn judged(
        &self,
        key: &BearingKey,
        window: &JudgedWindow<'_>,
        record: Option<&EpisodeRecord>,
        now: Timestamp,
    ) -> Option<Followed> {
        let observation = observation(window, now)?;
        let episode = record.map(|record| &record.episode);
        // the same again after a crash is the same episode
        let event = window.event.event_id.to_string();
        let id = id_of(&["episode", &key.to_string(), &event]);
        let step = follow(episode, &observation, &self.settings.episodes(), id)?;
        Some(self.stepped(key, record, step, &window.judgement.diagnosis, window, now))
    }

    /// A step as the store writes it.
    fn stepped(
        &self,
        key: &BearingKey,
        record: Option<&EpisodeRecord>,
        step: EpisodeStep,
        diagnosis: &Diagnosis,
        window: &JudgedWindow<'_>,
        now: Timestamp,
    ) -> Followed {
        let Some(tell) = step.tell else {
            return Followed::Quiet(Box::new(self.change(key, record, step)));
        };
        let state = &window.judgement.state;
        let event_id = Some(diagnosis.event_id);
        let (reason, risk, (title, body)) = match tell {
            Tell::Raised(level) | Tell::Passed(level) => {
                let words = (
                    wording::title(key, diagnosis),
                    wording::body(diagnosis, state, self.settings.zone),
                );
                (NotificationReason::Raised, level, words)
            }
            Tell::Insisted(level) => {
                let title = wording::again(&wording::title(key, diagnosis));
                let words = (title, wording::body(diagnosis, state, self.settings.zone));
                (NotificationReason::Repeated, level, words)
            }
            Tell::Developed(level) => {
                let title = wording::developed(&wording::title(key, diagnosis));
                let before = record.and_then(|one| one.episode.course.told_finding.as_ref());
                let body = wording::body(diagnosis, state, self.settings.zone);
                let body = wording::since_told(body, before, finding_of(diagnosis));
                (NotificationReason::Repeated, level, (title, body))
            }
            Tell::Cleared(highest) => {
                let told_at = record.and_then(|one| one.alarm.as_ref());
                let told_at = told_at.map(|alarm| alarm.notification.created_at);
                let words = wording::cleared(key, diagnosis, highest, told_at, self.settings.zone);
                (NotificationReason::Cleared, diagnosis.risk_level, words)
            }
        };
        let body =
            wording::with_beside(body, key, window.event, window.change(), self.settings.zone);
        let loudness = loudness_of(tell);
        let subject = Subject { key, event_id, risk, loudness, reason, title, body };
        let mut told = self.told(&subject, record, step, now);
        if let (Tell::Developed(_), Some(change)) = (tell, &mut told.episode)
            && let Some(alarm) = &mut change.alarm
        {
            // what is told again has the title of an alarm, not of an update
            alarm.notification.title = wording::title(key, diagnosis);
        }
        Followed::Told(Box::new(told))
    }

    /// A change that staff is not told of.
    pub(super) fn change(
        &self,
        key: &BearingKey,
        record: Option<&EpisodeRecord>,
        step: EpisodeStep,
    ) -> EpisodeChange {
        let before = record.map(|record| &record.episode);
        let was_seen = before.is_some_and(|one| one.acknowledgement.is_acknowledged());
        let is_unseen = step.episode.acknowledgement == AcknowledgementState::Unacknowledged;
        let suppresses = before.is_some_and(|one| one.suppression != step.episode.suppression);
        EpisodeChange {
            resets_acknowledgement: was_seen && is_unseen,
            suppresses,
            beside: None,
            alarm: None,
            topic: topic_of(key, BearingTopic::Episode).under(&self.prefix),
            episode: step.episode,
        }
    }

    /// A change that staff is told of.
    pub(super) fn told(
        &self,
        subject: &Subject<'_>,
        record: Option<&EpisodeRecord>,
        step: EpisodeStep,
        now: Timestamp,
    ) -> Announcement {
        let mut notification = super::notification(subject, now);
        let episode = &step.episode;
        notification.episode_id = Some(episode.id);
        notification.episode_sequence = Some(episode.sequence);
        notification.transition = Some(episode.transition);
        notification.episode_state = Some(episode.state());
        notification.ack_url = self.page_of(subject.key);
        let mut change = self.change(subject.key, record, step.clone());
        let before = record.and_then(|record| record.alarm.as_ref());
        let heard = self.directory.heard(subject.key, subject.loudness, before, step.tell, now);
        if let (Some(Tell::Developed(_)), Some(before)) = (step.tell, before) {
            // the steps of its route go on as they were; what is told again says what is known now
            let notification = notification.clone();
            let telling = heard.telling.clone().or_else(|| before.telling.clone());
            change.alarm = Some(Box::new(Alarm { notification, telling, ..before.clone() }));
        }
        if let Some(level) = step.tell.and_then(Tell::level) {
            change.resets_acknowledgement = true;
            change.alarm = Some(Box::new(Alarm {
                risk: change.episode.course.told.unwrap_or(level),
                repeats: 0,
                repeat_at: self.repeat_at(level, 0, now),
                notification: notification.clone(),
                telling: heard.telling.clone(),
            }));
        }
        Announcement {
            outgoing: self.rows(subject, &notification, &heard, now),
            notification,
            episode: Some(Box::new(change)),
        }
    }

    /// The end of a suppression by its own kind, with what it tells of the time meanwhile.
    pub(crate) fn unsuppressed(
        &self,
        key: &BearingKey,
        record: &EpisodeRecord,
        now: Timestamp,
    ) -> Followed {
        let ended = match (&record.beside, &record.episode.suppression) {
            (Some(beside), Suppression::ByDesign { .. }) => Ended::Cause(&beside.source),
            (None, Suppression::ByDesign { .. }) => Ended::GatewayLost,
            (_, Suppression::OutOfService { .. }) => Ended::Work,
            (_, Suppression::Shelved { .. } | Suppression::None) => Ended::Shelf,
        };
        self.freed(key, record, ended, now)
    }

    /// The end of a suppression, with what it tells of the time meanwhile.
    pub(crate) fn freed(
        &self,
        key: &BearingKey,
        record: &EpisodeRecord,
        ended: Ended<'_>,
        now: Timestamp,
    ) -> Followed {
        let until = record.episode.suppression.until().unwrap_or(now);
        let step = record.episode.unsuppress(now);
        let Some(tell) = step.tell else {
            return Followed::Quiet(Box::new(self.change(key, Some(record), step)));
        };
        let stands = step.episode.course.condition.level();
        let (title, body) =
            wording::meanwhile(key, tell, stands, (until, ended), self.settings.zone);
        let (reason, risk) = match tell {
            Tell::Raised(level)
            | Tell::Insisted(level)
            | Tell::Passed(level)
            | Tell::Developed(level) => (NotificationReason::Raised, level),
            Tell::Cleared(_) => (NotificationReason::Cleared, RiskLevel::Normal),
        };
        let loudness = loudness_of(tell);
        let subject = Subject { key, event_id: None, risk, loudness, reason, title, body };
        Followed::Told(Box::new(self.told(&subject, Some(record), step, now)))
    }

    /// Returns when an alarm of this level is repeated, after `repeats` repetitions.
    pub(super) fn repeat_at(
        &self,
        level: RiskLevel,
        repeats: u32,
        now: Timestamp,
    ) -> Option<Timestamp> {
        if level < self.settings.repeat_from {
            return None;
        }
        let late = repeats >= self.settings.repeat_limit;
        let every_s = self.repeat_every_s()?;
        Some(now.plus_seconds(if late { every_s.max(super::A_DAY_S) } else { every_s }))
    }

    /// The page of a bearing, on which its alarm can be acknowledged.
    fn page_of(&self, key: &BearingKey) -> Option<String> {
        let base = self.settings.page_url.as_deref()?.trim_end_matches('/');
        Some(format!("{base}{}", pdm_web::bearing_path(key)))
    }
}

const fn loudness_of(tell: Tell) -> RiskLevel {
    match tell {
        Tell::Raised(level)
        | Tell::Insisted(level)
        | Tell::Passed(level)
        | Tell::Developed(level)
        | Tell::Cleared(level) => level,
    }
}

/// Returns the judgement's finding of damage. Where the machine is to be checked, no bearing is
/// damaged.
fn finding_of(diagnosis: &Diagnosis) -> Finding {
    if diagnosis.is_of_machine() {
        return Finding::default();
    }
    let (stage, fault) = (diagnosis.fault_stage, diagnosis.fault_type);
    Finding { stage, fault, is_urgent: hurries_parts(diagnosis) }
}

/// Returns the observation of the bearing in a window; `None` if its sensor measures nothing and
/// another point of the bearing does.
pub(super) fn observation(window: &JudgedWindow<'_>, now: Timestamp) -> Option<Observation> {
    let JudgedWindow { event, judgement, point, is_repaired } = *window;
    let (diagnosis, state) = (&judgement.diagnosis, &judgement.state);
    let quality = &event.signal_quality;
    let stands = !event.operating.running || quality.flags.contains(&QualityFlag::MachineOff);
    let frozen = match (stands, quality.valid) {
        (true, _) => Some(FreezeCause::Standstill),
        (false, false) => Some(FreezeCause::Sensor),
        (false, true) => None,
    };
    let others = || state.points.iter().filter(|(name, _)| name.as_str() != point);
    let is_seen_by_others = others().any(|(_, point)| point.sensor.invalid_since.is_none());
    if frozen == Some(FreezeCause::Sensor) && is_seen_by_others {
        return None;
    }
    let is_out_of_order = judgement.late || judgement.ahead;
    Some(Observation {
        at: event.measured_at,
        now,
        level: if is_out_of_order { diagnosis.risk_level } else { state.risk() },
        finding: finding_of(diagnosis),
        frozen,
        is_out_of_order,
        is_replayed: event.replayed || event.delayed_s > 0.0,
        ended: (is_repaired && !is_out_of_order).then_some(EndCause::Repair),
    })
}
