//! The lanes behind people and channels, and who hears of what by the table of routes.

use std::collections::BTreeMap;
use std::path::Path;

use pdm_episode::Tell;
use pdm_routes::{Audience, RouteTable, Subject, Telling};
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use pdm_store::Alarm;

use super::{EMAIL_LANE, log, person_lane, webhook_lane};
use crate::settings::{EMAIL, NotifySettings};

/// A lane, and the lowest level that is sent by it.
#[derive(Debug, Clone, PartialEq)]
struct Reach {
    lane: String,
    from: RiskLevel,
}

/// The people and channels, and how each is reached.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) table: RouteTable,
    /// Channels that stand for themselves; people, where there is no such channel.
    everybody: Vec<Reach>,
    /// People and channels by name.
    named: BTreeMap<String, Vec<Reach>>,
}

/// The lanes that hear of a step.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) lanes: Vec<String>,
    /// How far it has been told afterwards.
    pub(super) telling: Option<Telling>,
    /// Not before this time: the end of the quiet hours, the time of the day's changes.
    pub(super) not_before: Option<Timestamp>,
    /// Whether it leaves with the messages of other machines at that time, in one message.
    pub(super) is_shared: bool,
}

/// The lanes that hear of a step of an alarm.
#[derive(Debug)]
pub(super) struct HeardBy {
    pub(super) lanes: Vec<String>,
    /// It is everybody, because the step says so or because nobody of it hears this level.
    pub(super) is_everybody: bool,
}

impl Directory {
    pub(super) fn of(settings: &NotifySettings) -> Self {
        // paths of templates have been resolved when the settings were read
        let table = settings.table(Path::new(""));
        let mut named: BTreeMap<String, Vec<Reach>> = BTreeMap::new();
        let mut everybody = Vec::new();
        let email = settings.email.iter().filter(|email| !email.to.is_empty());
        for email in email {
            let reach = Reach { lane: EMAIL_LANE.to_owned(), from: email.from };
            everybody.push(reach.clone());
            named.insert(EMAIL.to_owned(), vec![reach]);
        }
        for hook in settings.webhook.iter().filter(|hook| hook.stands_alone(Path::new(""))) {
            let reach = Reach { lane: webhook_lane(&hook.name), from: hook.from };
            everybody.push(reach.clone());
            named.insert(hook.name.clone(), vec![reach]);
        }
        let mut people = Vec::new();
        for one in &settings.recipient {
            let mail = one.email.iter();
            let mail = mail.map(|_| (person_lane(&one.name, EMAIL), one.email_from));
            let hooks = one.hooks.iter();
            let hooks = hooks.map(|hook| (person_lane(&one.name, &hook.hook), hook.from));
            let reach = mail.chain(hooks).map(|(lane, from)| Reach { lane, from });
            let reach: Vec<Reach> = reach.collect();
            people.extend(reach.iter().cloned());
            named.insert(one.name.clone(), reach);
        }
        if everybody.is_empty() {
            everybody = people;
        }
        Self { table, everybody, named }
    }

    /// The lanes of an audience by which this level is sent, each once.
    pub(super) fn lanes(&self, audience: &Audience, loudness: RiskLevel) -> Vec<String> {
        let reach: Vec<&Reach> = match audience {
            Audience::Everybody => self.everybody.iter().collect(),
            Audience::These(names) => {
                names.iter().filter_map(|name| self.named.get(name)).flatten().collect()
            }
        };
        let reach = reach.into_iter().filter(|reach| loudness >= reach.from);
        let mut lanes: Vec<String> = Vec::new();
        for reach in reach {
            if !lanes.contains(&reach.lane) {
                lanes.push(reach.lane.clone());
            }
        }
        lanes
    }

    /// The lanes of an audience of an alarm. People all of whose ways are for higher levels are
    /// nobody on duty: everybody hears.
    pub(super) fn heard_by(
        &self,
        key: &BearingKey,
        audience: &Audience,
        level: RiskLevel,
        route: Option<&str>,
    ) -> HeardBy {
        let lanes = self.lanes(audience, level);
        let of_all = self.lanes(&Audience::Everybody, level);
        // a level that no way of the configuration asks for is told to nobody on purpose
        if !lanes.is_empty() || *audience == Audience::Everybody || of_all.is_empty() {
            return HeardBy { lanes, is_everybody: *audience == Audience::Everybody };
        }
        log::nobody_on_duty(key, route);
        HeardBy { lanes: of_all, is_everybody: true }
    }

    /// The lanes of a later step. The step before has been told, so people who ask for higher
    /// levels alone are left in peace.
    pub(super) fn heard_later(&self, audience: &Audience, level: RiskLevel) -> HeardBy {
        let is_everybody = *audience == Audience::Everybody;
        HeardBy { lanes: self.lanes(audience, level), is_everybody }
    }

    /// Every lane, whatever level it asks for.
    pub(super) fn every_lane(&self) -> Vec<String> {
        let all = self.everybody.iter().chain(self.named.values().flatten());
        let mut lanes: Vec<String> = Vec::new();
        for reach in all {
            if !lanes.contains(&reach.lane) {
                lanes.push(reach.lane.clone());
            }
        }
        lanes
    }

    /// Returns who hears of something that no alarm stands behind.
    pub(super) fn once(&self, key: &BearingKey, level: RiskLevel, now: Timestamp) -> Vec<String> {
        let audience = if self.table.is_plain() {
            Audience::Everybody
        } else {
            self.table.once(&Subject { key, level }, now)
        };
        self.heard_by(key, &audience, level, None).lanes
    }

    /// Returns who hears of a step of an episode.
    pub(super) fn heard(
        &self,
        key: &BearingKey,
        level: RiskLevel,
        before: Option<&Alarm>,
        tell: Option<Tell>,
        now: Timestamp,
    ) -> Heard {
        if self.table.is_plain() {
            return Heard { lanes: self.once(key, level, now), ..Heard::default() };
        }
        if matches!(tell, Some(Tell::Developed(_))) {
            return match before {
                Some(alarm) => self.developed(key, level, alarm, now),
                None => Heard { lanes: self.once(key, level, now), ..Heard::default() },
            };
        }
        match (tell.map(Tell::level), before) {
            (Some(Some(_)), before) => self.begun(key, level, before, now),
            (Some(None), before) => self.over(key, level, before, now),
            (None, Some(alarm)) => self.again(key, alarm, now),
            (None, None) => Heard { lanes: self.once(key, level, now), ..Heard::default() },
        }
    }

    /// Returns who hears of an alarm that rises.
    fn begun(
        &self,
        key: &BearingKey,
        level: RiskLevel,
        before: Option<&Alarm>,
        now: Timestamp,
    ) -> Heard {
        let begun = self.table.begin(&Subject { key, level }, now);
        let mut telling = begun.telling;
        if telling.everybody && telling.route.is_some() {
            log::nobody_on_duty(key, telling.route.as_deref());
        }
        // whoever heard of a lower level hears that it is over
        if let Some(earlier) = before.and_then(|alarm| alarm.telling.as_ref()) {
            telling.heard.extend(earlier.heard.iter().cloned());
            telling.everybody |= earlier.everybody;
        }
        let mut lanes = Vec::new();
        if let Some(audience) = begun.tell {
            let heard = self.heard_by(key, &audience, level, telling.route.as_deref());
            telling.everybody |= heard.is_everybody;
            lanes = heard.lanes;
        }
        Heard { lanes, telling: Some(telling), ..Heard::default() }
    }

    /// Returns who hears that it is over; a Watch within quiet hours leaves when they end.
    fn over(
        &self,
        key: &BearingKey,
        level: RiskLevel,
        before: Option<&Alarm>,
        now: Timestamp,
    ) -> Heard {
        let is_quiet = self.table.is_quiet(level, now);
        let not_before = is_quiet.then(|| self.table.quiet_until(now));
        let lanes = match before.and_then(|alarm| alarm.telling.as_ref()) {
            Some(telling) => {
                let over = telling.over();
                over.map(|audience| self.lanes(&audience, level)).unwrap_or_default()
            }
            None => self.once(key, level, now),
        };
        Heard { lanes, not_before, ..Heard::default() }
    }

    /// Returns who hears that the damage has gone on: whoever hears a repetition; within quiet
    /// hours whoever has heard of the alarm, when they end. Where quiet hours hold the alarm
    /// itself, it leaves as it stands then.
    fn developed(
        &self,
        key: &BearingKey,
        level: RiskLevel,
        alarm: &Alarm,
        now: Timestamp,
    ) -> Heard {
        let is_held = alarm.telling.as_ref().is_some_and(Telling::is_held);
        if is_held || !self.table.is_quiet(level, now) {
            return self.again(key, alarm, now);
        }
        let telling = alarm.telling.clone();
        Heard { telling, ..self.over(key, level, Some(alarm), now) }
    }

    /// Returns who hears that an alarm is repeated.
    pub(super) fn again(&self, key: &BearingKey, alarm: &Alarm, now: Timestamp) -> Heard {
        let Some(telling) = alarm.telling.as_ref().filter(|_| !self.table.is_plain()) else {
            let lanes = self.once(key, alarm.risk, now);
            return Heard { lanes, telling: alarm.telling.clone(), ..Heard::default() };
        };
        let mut telling = telling.clone();
        let again = self.table.again(&telling, alarm.risk, now);
        if let Some(Audience::These(people)) = &again {
            telling.heard.extend(people.iter().cloned());
        }
        let lanes = again.map(|audience| self.lanes(&audience, alarm.risk)).unwrap_or_default();
        Heard { lanes, telling: Some(telling), ..Heard::default() }
    }

    /// Returns how far an alarm has been told that was told with another's.
    pub(super) fn led(
        &self,
        key: &BearingKey,
        level: RiskLevel,
        now: Timestamp,
    ) -> Option<Telling> {
        let is_routed = !self.table.is_plain();
        is_routed.then(|| self.table.begin(&Subject { key, level }, now).telling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::AgentSettings;

    const TEXT: &str = r#"
[store]
sqlite = "agent.db"

[broker]
addresses = ["127.0.0.1:1883"]

[notify.email]
host = "mail.plant.example"
from_address = "pdm@plant.example"

[[notify.webhook]]
name = "office"
url = "https://office.plant.example/hook"

[[notify.recipient]]
name = "kim"
email = "kim@plant.example"
email_from = "Critical"

[[notify.route]]
name = "pumps"
equipment = ["P-*"]
[[notify.route.step]]
to = ["kim"]
"#;

    #[test]
    fn people_all_of_whose_ways_are_for_higher_levels_are_nobody_on_duty() {
        let settings = AgentSettings::parse(Path::new("agent.toml"), TEXT).expect("settings");
        let directory = Directory::of(&settings.notify);
        let key = BearingKey::parse("ulsan-1", "P-101", "DE").expect("names");
        let heard = |level| directory.begun(&key, level, None, Timestamp::EPOCH);
        assert_eq!(heard(RiskLevel::Critical).lanes, [person_lane("kim", EMAIL)]);
        let warning = heard(RiskLevel::Warning);
        assert_eq!(warning.lanes, [webhook_lane("office")], "everybody who hears that level");
        assert!(warning.telling.expect("told").everybody, "and everybody hears that it is over");
        let beside = directory.once(&key, RiskLevel::Warning, Timestamp::EPOCH);
        assert_eq!(beside, [webhook_lane("office")], "what no alarm stands behind, too");
        let kim = Audience::These(["kim".to_owned()].into());
        let step = directory.heard_by(&key, &kim, RiskLevel::Warning, Some("pumps"));
        assert!(
            step.is_everybody && step.lanes == [webhook_lane("office")],
            "quiet hours held it back"
        );
        let later = directory.heard_later(&kim, RiskLevel::Warning);
        assert!(later.lanes.is_empty() && !later.is_everybody, "the step before has been told");
    }
}
