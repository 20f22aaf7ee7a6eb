//! The table: routes with the names that they use, checked as a whole.

use std::collections::BTreeSet;

use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use serde::Deserialize;

use crate::hours::{Hours, Zone, next_minute};
use crate::rota::Rota;
use crate::route::Route;

/// The most steps of a route, and the most minutes to one: a week.
const MOST_STEPS: usize = 20;
const MOST_MINUTES: u32 = 7 * 24 * 60;

/// Several people or channels under one name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// Names of people, channels and rotas.
    pub members: Vec<String>,
}

/// Routes with everything that they name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RouteTable {
    /// The clock where none is named.
    pub zone: Zone,
    /// The routes, the first that takes an alarm decides.
    pub routes: Vec<Route>,
    /// The rotas.
    pub rotas: Vec<Rota>,
    /// The groups.
    pub groups: Vec<Group>,
    /// Hours in which Watch waits.
    pub quiet: Vec<Hours>,
    /// The names of people and channels.
    pub names: BTreeSet<String>,
}

/// The subject of an alarm.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The bearing or gateway.
    pub key: &'a BearingKey,
    /// The level.
    pub level: RiskLevel,
}

/// A value that a table does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} is {value}, allowed is {allowed}")]
pub struct Problem {
    /// The key, below `notify`.
    pub key: String,
    /// The value.
    pub value: String,
    /// The allowed values.
    pub allowed: String,
}

impl RouteTable {
    /// Whether there is nothing to route: everybody hears everything.
    pub fn is_plain(&self) -> bool {
        self.routes.is_empty() && self.quiet.is_empty()
    }

    /// Returns the route of an alarm; `None` means everybody.
    pub fn route(&self, subject: &Subject<'_>, at: Timestamp) -> Option<&Route> {
        self.routes.iter().find(|one| one.takes(subject.key, subject.level, self.zone, at))
    }

    /// Whether an alarm waits for the end of the quiet hours.
    pub fn is_quiet(&self, level: RiskLevel, at: Timestamp) -> bool {
        level <= RiskLevel::Watch && self.quiet.iter().any(|hours| hours.hold(self.zone, at))
    }

    /// The end of the quiet hours that hold at `at`.
    pub fn quiet_until(&self, at: Timestamp) -> Timestamp {
        // a table whose quiet hours never end is refused; one that is used unchecked tells at once
        next_minute(at, |at| !self.is_quiet(RiskLevel::Watch, at)).unwrap_or(at)
    }

    /// The people and channels behind names at this time.
    pub fn people(&self, names: &[String], at: Timestamp) -> BTreeSet<String> {
        let mut people = BTreeSet::new();
        for name in names {
            self.add(name, at, 0, &mut people);
        }
        people
    }

    fn add(&self, name: &str, at: Timestamp, depth: usize, people: &mut BTreeSet<String>) {
        if let Some(rota) = self.rotas.iter().find(|rota| rota.name == name) {
            let on_duty = rota.on_duty(self.zone, at);
            // a rota may name a group, which may name no rota again: two levels are enough
            on_duty
                .iter()
                .filter(|_| depth < 3)
                .for_each(|one| self.add(one, at, depth + 1, people));
        } else if let Some(group) = self.groups.iter().find(|group| group.name == name) {
            let members = group.members.iter().filter(|_| depth < 3);
            members.for_each(|one| self.add(one, at, depth + 1, people));
        } else if self.names.contains(name) {
            people.insert(name.to_owned());
        }
    }

    /// Refuses names that nobody has, names that two have, steps out of order, rotas and quiet
    /// hours that cannot be.
    ///
    /// # Errors
    /// The first [`Problem`].
    pub fn check(&self) -> Result<(), Problem> {
        let mut known: BTreeSet<&str> = self.names.iter().map(String::as_str).collect();
        let rotas = self.rotas.iter().map(|rota| ("rota.name", rota.name.as_str()));
        let groups = self.groups.iter().map(|group| ("group.name", group.name.as_str()));
        for (key, name) in rotas.chain(groups) {
            if name.is_empty() || !known.insert(name) {
                let allowed = "a name that no other recipient, channel, group or rota has";
                return Err(problem(key, name, allowed));
            }
        }
        let is_known = |key: String, names: &[String]| {
            let unknown = names.iter().find(|name| !known.contains(name.as_str()));
            unknown.map_or(Ok(()), |name| {
                // a rota has no rotas in it
                let is_rota = |name: &str| self.rotas.iter().any(|rota| rota.name == name);
                let is_of_rota = key.starts_with("rota.");
                let fitting = known.iter().copied().filter(|name| !(is_of_rota && is_rota(name)));
                let allowed = fitting.collect::<Vec<_>>().join(", ");
                Err(problem(&key, name, &allowed))
            })
        };
        for group in &self.groups {
            is_known(format!("group.{}.members", group.name), &group.members)?;
            let is_itself =
                group.members.iter().find(|one| self.groups.iter().any(|g| g.name == **one));
            if let Some(name) = is_itself {
                let key = format!("group.{}.members", group.name);
                return Err(problem(&key, name, "people, channels and rotas, no groups"));
            }
        }
        for rota in &self.rotas {
            self.check_rota(rota, &is_known)?;
        }
        for route in &self.routes {
            self.check_route(route, &is_known)?;
        }
        self.check_quiet()
    }

    fn check_rota(
        &self,
        rota: &Rota,
        is_known: &impl Fn(String, &[String]) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let key = |key: &str| format!("rota.{}.{key}", rota.name);
        if !(1..=52).contains(&rota.weeks) {
            return Err(problem(&key("weeks"), &rota.weeks.to_string(), "1 to 52"));
        }
        for shift in &rota.shift {
            is_known(key("shift.who"), &shift.who)?;
            if let Some(week) = shift.week.filter(|week| !(1..=rota.weeks).contains(week)) {
                let allowed = format!("1 to {}", rota.weeks);
                return Err(problem(&key("shift.week"), &week.to_string(), &allowed));
            }
        }
        for one in &rota.overrides {
            // left empty by mistake it would take everybody off duty, and no step would be told to
            // anybody
            if one.who.is_empty() {
                let allowed = "at least one name; a time without anybody is one without a shift";
                return Err(problem(&key("override.who"), "empty", allowed));
            }
            is_known(key("override.who"), &one.who)?;
            if one.to <= one.from {
                return Err(problem(&key("override.to"), &one.to.to_string(), "after `from`"));
            }
        }
        let mut named = rota.shift.iter().flat_map(|shift| &shift.who);
        let named = named.find(|name| self.rotas.iter().any(|rota| rota.name == **name));
        named.map_or(Ok(()), |name| Err(problem(&key("shift.who"), name, "people and groups")))
    }

    fn check_route(
        &self,
        route: &Route,
        is_known: &impl Fn(String, &[String]) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let key = |key: &str| format!("route.{}.{key}", route.name);
        if self.routes.iter().filter(|other| other.name == route.name).count() > 1 {
            return Err(problem("route.name", &route.name, "unique names"));
        }
        if !(1..=MOST_STEPS).contains(&route.step.len()) {
            let allowed = format!("1 to {MOST_STEPS} steps");
            return Err(problem(&key("step"), &route.step.len().to_string(), &allowed));
        }
        let mut before = 0;
        for step in &route.step {
            is_known(key("step.to"), &step.to)?;
            if step.to.is_empty() {
                return Err(problem(&key("step.to"), "[]", "one name or more"));
            }
            let after = step.after_minutes;
            if !(before..=MOST_MINUTES).contains(&after) {
                let allowed = format!("{before} to {MOST_MINUTES}, in order");
                return Err(problem(&key("step.after_minutes"), &after.to_string(), &allowed));
            }
            before = after;
        }
        let first = route.step.first().map_or(0, |step| step.after_minutes);
        if first > 0 {
            let allowed = "0 in the first step: somebody hears of an alarm at once";
            return Err(problem(&key("step.after_minutes"), &first.to_string(), allowed));
        }
        Ok(())
    }

    fn check_quiet(&self) -> Result<(), Problem> {
        let Some(start) = Timestamp::from_unix_ms(0) else { return Ok(()) };
        let ends = next_minute(start, |at| !self.is_quiet(RiskLevel::Watch, at)).is_some();
        if ends { Ok(()) } else { Err(problem("quiet", "the whole week", "hours that end")) }
    }
}

fn problem(key: &str, value: &str, allowed: &str) -> Problem {
    Problem { key: key.to_owned(), value: value.to_owned(), allowed: allowed.to_owned() }
}
