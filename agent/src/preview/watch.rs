//! Acts on the passing of time, on a virtual clock: the end of a shelf, the next step of a route,
//! repetitions, and the messages that an alarm owes to the episodes that are told with it.
//!
//! The service looks every two seconds and asks its store for what is due; here the next instant at
//! which something is due follows from the episodes, and the clock is set to it. The policy decides
//! what is done then.

use std::collections::BTreeMap;

use pdm_shared::episode::{AcknowledgementState, Suppression};
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_store::EpisodeRecord;
use pdm_store::due::{DueAlarm, LONGEST_STEP_S};

use super::{Preview, ToldNotifications};
use crate::notify::policy::{Followed, NAMED_AFTER_S, beside_for_longest_s, ended_beside};

/// Something that is due.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Timestamp,
    what: What,
    key: BearingKey,
}

/// A thing that is due, in the order in which one look of the service does it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// A suppression that is over.
    Suppression,
    /// The alarm with which an episode is told is over, or has stood for too long.
    Beside,
    /// The bearings that rose beside an alarm are named.
    Naming,
    /// Somebody acknowledges, where that is assumed.
    Acknowledgement,
    /// The next step of a route.
    Step,
    /// A repetition.
    Repetition,
}

impl Preview {
    /// Does everything that is due up to this instant, of all bearings, each at its own time.
    pub(crate) fn advance(&mut self, now: Timestamp, acknowledged_after_s: Option<f64>) {
        while let Some(due) = self.next_due(acknowledged_after_s).filter(|due| due.at <= now) {
            self.at = due.at;
            self.act(&due);
        }
        self.at = self.at.max(now);
    }

    /// Returns when something is due next.
    #[cfg(test)]
    pub(crate) fn next_at(&self, acknowledged_after_s: Option<f64>) -> Option<Timestamp> {
        self.next_due(acknowledged_after_s).map(|due| due.at)
    }

    /// Does what is due up to this instant for one bearing: the end of a shelf, the next step of a
    /// route, repetitions.
    pub fn pass(&mut self, key: &BearingKey, now: Timestamp) {
        self.at = self.at.max(now);
        let is_due = |due: &Due| due.at <= now && due.what != What::Naming;
        if let Some(due) = self.due_of(key, None).into_iter().filter(is_due).min() {
            self.act(&Due { at: now, ..due });
        }
    }

    fn next_due(&self, acknowledged_after_s: Option<f64>) -> Option<Due> {
        let of_bearings =
            self.bearings.keys().flat_map(|key| self.due_of(key, acknowledged_after_s)).min();
        of_bearings.into_iter().chain(self.namings()).min().map(|due| {
            // what was due while the clock went on is done now
            Due { at: due.at.max(self.at), ..due }
        })
    }

    fn record(&self, key: &BearingKey) -> Option<&EpisodeRecord> {
        self.bearings.get(key).and_then(|one| one.record.as_ref()).filter(|one| one.is_open())
    }

    /// Returns the things that are due of one bearing, and when.
    fn due_of(&self, key: &BearingKey, acknowledged_after_s: Option<f64>) -> Vec<Due> {
        let Some(record) = self.record(key) else { return Vec::new() };
        let due = |at: Timestamp, what: What| Due { at, what, key: key.clone() };
        if let Some(beside) = &record.beside {
            let longest = record.episode.course.told_with;
            let longest = longest.map(|one| one.since.plus_seconds(beside_for_longest_s()));
            let source = self.record(&beside.source);
            let is_over = ended_beside(record, source, self.at).is_some();
            let at = if is_over { Some(self.at) } else { longest };
            return at.map(|at| due(at, What::Beside)).into_iter().collect();
        }
        let suppression = &record.episode.suppression;
        if let Some(until) = suppression.until() {
            let at = if record.episode.owes_a_rise() { self.at } else { until };
            return vec![due(at, What::Suppression)];
        }
        if *suppression != Suppression::None {
            return Vec::new();
        }
        if record.episode.owes_a_rise() {
            return vec![due(self.at, What::Suppression)];
        }
        let is_unseen = record.episode.acknowledgement == AcknowledgementState::Unacknowledged;
        let stands = record.episode.course.condition.level() > RiskLevel::Normal;
        let Some(alarm) = record.alarm.as_ref().filter(|_| is_unseen) else { return Vec::new() };
        let told_at = alarm.notification.created_at;
        let seen = acknowledged_after_s.map(|after_s| told_at.plus_seconds(after_s));
        let step = alarm.telling.as_ref().and_then(|telling| telling.next).filter(|_| stands);
        let step = step.map(|at| self.come(at, LONGEST_STEP_S));
        let again = alarm.repeat_at.filter(|_| stands);
        let again = again.zip(self.policy.longest_repeat_s());
        let again = again.map(|(at, longest_s)| self.come(at, longest_s));
        let all = [(seen, What::Acknowledgement), (step, What::Step), (again, What::Repetition)];
        all.into_iter().filter_map(|(at, what)| Some(due(at?, what))).collect()
    }

    /// Returns when something is due that comes within `longest_s`: a time beyond that was written
    /// by a clock that was ahead.
    fn come(&self, at: Timestamp, longest_s: f64) -> Timestamp {
        if at > DueAlarm::at(self.at, longest_s).latest { self.at } else { at }
    }

    /// Alarms that have to name those that rose beside them.
    fn namings(&self) -> impl Iterator<Item = Due> + '_ {
        let mut first: BTreeMap<&BearingKey, Timestamp> = BTreeMap::new();
        for (_, record, since) in self.unnamed() {
            let Some(beside) = &record.beside else { continue };
            let known = first.entry(&beside.source).or_insert(since);
            *known = since.min(*known);
        }
        first.into_iter().map(|(key, since)| Due {
            at: since.plus_seconds(NAMED_AFTER_S),
            what: What::Naming,
            key: key.clone(),
        })
    }

    /// Episodes that are told with an alarm that stands and does not name them yet, with the time
    /// since when.
    fn unnamed(&self) -> impl Iterator<Item = (&BearingKey, &EpisodeRecord, Timestamp)> {
        self.bearings.keys().filter_map(|key| {
            let record = self.record(key)?;
            let source = self.record(&record.beside.as_ref()?.source);
            let told_with = record.episode.course.told_with.filter(|one| !one.is_named)?;
            source?.alarm.as_ref()?;
            let goes_on = ended_beside(record, source, self.at).is_none();
            goes_on.then_some((key, record, told_with.since))
        })
    }

    fn act(&mut self, due: &Due) {
        let Due { at, what, key } = due;
        let Some(record) = self.record(key).cloned() else { return };
        let followed = match what {
            What::Suppression => Some(self.policy.unsuppressed(key, &record, *at)),
            What::Beside => {
                let source = record.beside.as_ref().and_then(|one| self.record(&one.source));
                let ended = ended_beside(&record, source, *at);
                ended.map(|ended| self.policy.freed(key, &record, ended, *at))
            }
            What::Naming => return self.name(key, &record, *at),
            What::Acknowledgement => return self.seen(key, &record, *at),
            What::Step => self.policy.told_on(key, &record, *at),
            What::Repetition => record.alarm.as_ref().map(|alarm| {
                let again = self.policy.repeated(key, &record, alarm, *at);
                Followed::Told(Box::new(again))
            }),
        };
        let mut told = ToldNotifications::default();
        if let Some(bearing) = self.bearings.get_mut(key) {
            bearing.take(followed, &mut told);
        }
        self.note(told);
    }

    /// Tells an alarm once more with the bearings that rose beside it.
    fn name(&mut self, source: &BearingKey, record: &EpisodeRecord, now: Timestamp) {
        let Some(alarm) = &record.alarm else { return };
        let is_mine =
            |of: &EpisodeRecord| of.beside.as_ref().is_some_and(|one| one.source == *source);
        let others: Vec<(BearingKey, EpisodeRecord)> = self
            .unnamed()
            .filter(|(_, of, _)| is_mine(of))
            .map(|(key, of, _)| (key.clone(), of.clone()))
            .collect();
        let named: Vec<(BearingKey, RiskLevel)> = others
            .iter()
            .filter_map(|(key, of)| Some((key.clone(), of.episode.course.told_with?.level)))
            .collect();
        let mut told = ToldNotifications::default();
        let announcement = self.policy.naming(source, record, alarm, &named, now);
        if let Some(bearing) = self.bearings.get_mut(source) {
            bearing.take(Some(Followed::Told(Box::new(announcement))), &mut told);
        }
        for (key, of) in &others {
            let change = self.policy.named(key, of, now);
            if let Some((bearing, change)) = self.bearings.get_mut(key).zip(change) {
                bearing.change(change);
            }
        }
        self.note(told);
    }

    /// Lets somebody acknowledge the standing alarm. One that cannot be acknowledged now is not
    /// looked at again.
    fn seen(&mut self, key: &BearingKey, record: &EpisodeRecord, now: Timestamp) {
        self.acknowledge(key, "assumed", now);
        let is_unchanged = self.record(key).is_some_and(|one| one.version() == record.version());
        let alarm = self.bearings.get_mut(key).and_then(|one| one.record.as_mut());
        if let Some(alarm) = alarm.filter(|_| is_unchanged).and_then(|one| one.alarm.as_mut()) {
            alarm.notification.created_at = now;
        }
    }
}
