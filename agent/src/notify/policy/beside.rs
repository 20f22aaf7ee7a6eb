//! Notifications about a bearing beside its risk: failed sensors, changes of the machine,
//! documents, messages from tools.

use pdm_expert::case::BearingState;
use pdm_knowledge::SetAside;
use pdm_routes::Audience;
use pdm_shared::delivery::{Notification, NotificationReason};
use pdm_shared::diagnosis::{Diagnosis, SecondOpinion};
use pdm_shared::event::{Change, ChangeKind, Event};
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use pdm_store::{Announcement, Outgoing};

use super::{JudgedWindow, Policy, Subject, id_of, notification};
use crate::notify::directory::Heard;
use crate::notify::{MQTT_LANE, wording};
use crate::vitals::Blindness;
use crate::workflow::documents::Written;

/// How loud that is which is no risk.
const BESIDE: RiskLevel = RiskLevel::Warning;

/// Levels that change by less than this factor wait for the day's message. Chosen: a load between
/// half and full moves levels less, and a machine whose levels have doubled is looked at on the day
/// it happens.
const WAITS_BELOW: f64 = 2.0;

/// Whether a change is one of the machine's operation and a small one.
fn is_of_operation(change: &Change) -> bool {
    let ratio = change.level_ratio;
    let is_small = (WAITS_BELOW.recip()..WAITS_BELOW).contains(&ratio);
    change.kind == ChangeKind::Operating && is_small
}

impl Policy {
    /// Returns the message of a window with which no risk is told: a failed sensor, a change of the
    /// machine, the gateway's times or a sensor's return.
    pub(crate) fn beside_risk(
        &self,
        key: &BearingKey,
        window: &JudgedWindow<'_>,
        now: Timestamp,
    ) -> Option<Announcement> {
        let state = &window.judgement.state;
        self.sensor_failed(key, window.point, state, now)
            .or_else(|| self.changed(key, window.change(), now))
            .or_else(|| self.timing(window.event, now))
            .or_else(|| self.sensor_back(key, window.point, state, now))
    }

    /// A sensor whose windows have been invalid for too long, told once.
    pub(super) fn sensor_failed(
        &self,
        key: &BearingKey,
        point: &str,
        state: &BearingState,
        now: Timestamp,
    ) -> Option<Announcement> {
        let wait_s = 3600.0 * self.settings.sensor_after_h;
        let sensor = &state.points.get(point)?.sensor;
        let fails = wait_s > 0.0 && sensor.fails_after(wait_s);
        let words = wording::sensor_failed(key, point, sensor, self.settings.zone);
        fails.then(|| self.beside(key, NotificationReason::Silent, words, now))
    }

    /// The return of a sensor that staff was told of. Nobody has to act on it, so it waits for the
    /// day's message.
    pub(super) fn sensor_back(
        &self,
        key: &BearingKey,
        point: &str,
        state: &BearingState,
        now: Timestamp,
    ) -> Option<Announcement> {
        let wait_s = 3600.0 * self.settings.sensor_after_h;
        let sensor = &state.points.get(point)?.sensor;
        let is_back = wait_s > 0.0 && sensor.is_back_after(wait_s);
        let words = wording::sensor_back(key, point);
        let heard = self.in_the_days_message(key, true, now);
        is_back.then(|| self.beside_to(&heard, key, NotificationReason::Message, words, now))
    }

    /// A change of the machine or its mounting that the edge found: told once, it is no risk.
    /// Changes of operation are told together.
    pub(super) fn changed(
        &self,
        key: &BearingKey,
        change: Option<&Change>,
        now: Timestamp,
    ) -> Option<Announcement> {
        let change = change?;
        let words = wording::changed(key, change, self.settings.zone);
        let heard = self.in_the_days_message(key, is_of_operation(change), now);
        Some(self.beside_to(&heard, key, NotificationReason::Message, words, now))
    }

    /// Returns who hears, at once or in the message of the day.
    fn in_the_days_message(&self, key: &BearingKey, may_wait: bool, now: Timestamp) -> Heard {
        let at = self.settings.changes_at.filter(|_| may_wait);
        let not_before = at.map(|at| at.next(self.settings.zone, now));
        Heard {
            // whoever is on duty then
            lanes: self.directory.once(key, BESIDE, not_before.unwrap_or(now)),
            not_before,
            is_shared: at.is_some(),
            ..Heard::default()
        }
    }

    /// A clock that was moved, or windows at another period: told once for its gateway, it is no
    /// risk.
    pub(super) fn timing(&self, event: &Event, now: Timestamp) -> Option<Announcement> {
        let words = wording::timing(event, event.timing.as_ref()?, self.settings.zone)?;
        let key = pdm_store::gateway_alarm::silence_alarm(&event.site, &event.gateway_id);
        let key = key.unwrap_or_else(|| event.key());
        Some(self.beside(&key, NotificationReason::Message, words, now))
    }

    /// Documents of a judgement that could not be written, although its alarm named them. The
    /// identities follow from the event's, so that the same again is told once.
    pub(crate) fn not_written(
        &self,
        key: &BearingKey,
        diagnosis: &Diagnosis,
        missing: &[Written],
        now: Timestamp,
    ) -> Option<(Notification, Vec<Outgoing>)> {
        let risk = diagnosis.risk_level;
        if risk < self.settings.from || missing.is_empty() {
            return None;
        }
        let (title, body) = wording::not_written(key, diagnosis.event_id, missing);
        let subject = Subject {
            key,
            event_id: Some(diagnosis.event_id),
            risk,
            loudness: risk,
            reason: NotificationReason::Message,
            title,
            body,
        };
        let event = diagnosis.event_id.to_string();
        let mut notification = notification(&subject, now);
        notification.notification_id = id_of(&["documents", &event]);
        let mut outgoing = self.outgoing(&subject, &notification, now);
        for row in &mut outgoing {
            row.key = id_of(&["documents", &event, &row.lane]);
        }
        Some((notification, outgoing))
    }

    /// A language model sees a higher risk than the rules. It is told beside the alarm, as loud as
    /// that risk: so no acknowledgement of it silences the alarm of the rules. The identities
    /// follow from the event's.
    pub(crate) fn opined(
        &self,
        key: &BearingKey,
        diagnosis: &Diagnosis,
        opinion: &SecondOpinion,
        now: Timestamp,
    ) -> Option<(Notification, Vec<Outgoing>)> {
        let risk = opinion.risk_level.filter(|risk| *risk >= self.settings.from)?;
        let (title, body) = wording::opined(key, risk, diagnosis, opinion);
        let reason = NotificationReason::Message;
        let event_id = Some(diagnosis.event_id);
        let subject = Subject { key, event_id, risk, loudness: risk, reason, title, body };
        let event = diagnosis.event_id.to_string();
        let mut notification = notification(&subject, now);
        notification.notification_id = id_of(&["opinion", &event]);
        let mut outgoing = self.outgoing(&subject, &notification, now);
        for row in &mut outgoing {
            row.key = id_of(&["opinion", &event, &row.lane]);
        }
        Some((notification, outgoing))
    }

    /// A file of derived data was damaged and set aside. The identities follow from where it lies
    /// now.
    pub(crate) fn file_set_aside(
        &self,
        file: &SetAside,
        now: Timestamp,
    ) -> Option<(Notification, Vec<Outgoing>)> {
        let key = &BearingKey::parse("pdm", "agent", "knowledge").ok()?;
        let (title, body) = wording::file_set_aside(file);
        let (risk, reason) = (RiskLevel::Watch, NotificationReason::Message);
        let subject = Subject { key, event_id: None, risk, loudness: risk, reason, title, body };
        let aside = file.aside.display().to_string();
        let mut notification = notification(&subject, now);
        notification.notification_id = id_of(&["aside", &aside]);
        let mut outgoing = self.outgoing(&subject, &notification, now);
        for row in &mut outgoing {
            row.key = id_of(&["aside", &aside, &row.lane]);
        }
        Some((notification, outgoing))
    }

    /// The agent is blind since `since`. The identity follows from that time.
    pub(crate) fn blind(
        since: Timestamp,
        now: Timestamp,
        blindness: &Blindness,
    ) -> Option<Notification> {
        let words = wording::words_of_blindness(since, blindness);
        Self::of_store("away", NotificationReason::Silent, words, since, now)
    }

    /// The agent sees again after it was blind from `since` on.
    pub(crate) fn sighted(
        since: Timestamp,
        now: Timestamp,
        blindness: &Blindness,
    ) -> Option<Notification> {
        let words = wording::sighted(since, blindness);
        Self::of_store("back", NotificationReason::Cleared, words, since, now)
    }

    fn of_store(
        what: &str,
        reason: NotificationReason,
        (title, body): (Text, Text),
        since: Timestamp,
        now: Timestamp,
    ) -> Option<Notification> {
        let key = &BearingKey::parse("pdm", "agent", "store").ok()?;
        let risk = RiskLevel::Warning;
        let subject = Subject { key, event_id: None, risk, loudness: risk, reason, title, body };
        let mut told = notification(&subject, now);
        told.notification_id = id_of(&["store", what, &since.to_string()]);
        Some(told)
    }

    /// A message that tries a channel out, and says so.
    pub(crate) fn trial(now: Timestamp) -> Notification {
        let key = &BearingKey::parse("pdm", "agent", "test").expect("three words are names");
        let (title, body) = wording::trial();
        let (risk, reason) = (RiskLevel::Normal, NotificationReason::Message);
        let subject = Subject { key, event_id: None, risk, loudness: risk, reason, title, body };
        notification(&subject, now)
    }

    /// Returns the lanes of a route's steps, of a person or of a channel at this time; empty for a
    /// name that nothing has. Without a name: the lanes of everybody and of every person.
    pub(crate) fn lanes_of(&self, name: Option<&str>, now: Timestamp) -> Vec<String> {
        let table = &self.directory.table;
        let route = table.routes.iter().find(|route| Some(route.name.as_str()) == name);
        let names: Vec<String> = match (route, name) {
            (Some(route), _) => route.step.iter().flat_map(|step| step.to.clone()).collect(),
            (None, Some(name)) => vec![name.to_owned()],
            (None, None) => table.names.iter().cloned().collect(),
        };
        let people = table.people(&names, now);
        self.directory.lanes(&Audience::These(people), RiskLevel::Critical)
    }

    /// Whether a lane's recipients hear of something as loud as this.
    pub(crate) fn hears(&self, lane: &str, loudness: RiskLevel) -> bool {
        if lane == MQTT_LANE {
            return self.settings.mqtt;
        }
        self.directory.lanes(&Audience::Everybody, loudness).iter().any(|one| one == lane)
    }

    /// Returns the announcement of something about a bearing that is no risk of it.
    fn beside(
        &self,
        key: &BearingKey,
        reason: NotificationReason,
        words: (Text, Text),
        now: Timestamp,
    ) -> Announcement {
        let lanes = self.directory.once(key, BESIDE, now);
        let heard = Heard { lanes, ..Heard::default() };
        self.beside_to(&heard, key, reason, words, now)
    }

    fn beside_to(
        &self,
        heard: &Heard,
        key: &BearingKey,
        reason: NotificationReason,
        (title, body): (Text, Text),
        now: Timestamp,
    ) -> Announcement {
        let (risk, loudness) = (BESIDE, BESIDE);
        let subject = Subject { key, event_id: None, risk, loudness, reason, title, body };
        let notification = notification(&subject, now);
        let outgoing = self.rows(&subject, &notification, heard, now);
        Announcement { outgoing, notification, episode: None }
    }

    /// A message to staff about a bearing. `call_id` makes its identity, so the same call
    /// again is the same notification. Without a row no channel hears this level.
    pub(crate) fn message(
        &self,
        call_id: &str,
        key: &BearingKey,
        risk: RiskLevel,
        words: Text,
        now: Timestamp,
    ) -> (Notification, Vec<Outgoing>) {
        let reason = NotificationReason::Message;
        let title = wording::message(key, risk);
        let subject =
            Subject { key, event_id: None, risk, loudness: risk, reason, title, body: words };
        let mut notification = notification(&subject, now);
        notification.notification_id = id_of(&[call_id]);
        if risk < self.settings.from {
            return (notification, Vec::new());
        }
        let mut rows = self.outgoing(&subject, &notification, now);
        for row in &mut rows {
            row.key = id_of(&[call_id, &row.lane]);
        }
        (notification, rows)
    }
}
