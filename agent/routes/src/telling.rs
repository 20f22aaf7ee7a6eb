//! Follows how far an alarm has been told: to whom, and when the next step is due.

use std::collections::BTreeSet;

use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::route::Route;
use crate::table::{RouteTable, Subject};

/// Who hears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audience {
    /// Every channel that stands for itself.
    Everybody,
    /// These people and channels.
    These(BTreeSet<String>),
}

/// How far an alarm has been told. The caller stores it with the episode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telling {
    /// The route; `None` means everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<String>,
    /// The time of the first message; `None` while quiet hours hold it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun: Option<Timestamp>,
    /// How many steps have been told.
    #[serde(default)]
    pub steps: usize,
    /// Who has heard of it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub heard: BTreeSet<String>,
    /// Whether everybody has.
    #[serde(default)]
    pub everybody: bool,
    /// When it is looked at next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Timestamp>,
}

/// The result of a look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// How far it has been told by now.
    pub telling: Telling,
    /// Who hears of it now; nobody if nothing is due or it is held back.
    pub tell: Option<Audience>,
}

impl RouteTable {
    /// Begins the telling of an alarm that rises.
    pub fn begin(&self, subject: &Subject<'_>, now: Timestamp) -> Begun {
        self.due(subject, &self.fresh(subject, now), now)
    }

    fn fresh(&self, subject: &Subject<'_>, now: Timestamp) -> Telling {
        Telling {
            route: self.route(subject, now).map(|route| route.name.clone()),
            begun: None,
            steps: 0,
            heard: BTreeSet::new(),
            everybody: false,
            next: Some(now),
        }
    }

    /// Returns the next telling of an alarm that stands and that nobody has acknowledged.
    pub fn due(&self, subject: &Subject<'_>, telling: &Telling, now: Timestamp) -> Begun {
        self.told(telling, now, self.is_quiet(subject.level, now))
    }

    fn told(&self, telling: &Telling, now: Timestamp, is_quiet: bool) -> Begun {
        let mut telling = telling.clone();
        if telling.next.is_none_or(|next| now < next) {
            return Begun { telling, tell: None };
        }
        if is_quiet {
            telling.next = Some(self.quiet_until(now));
            return Begun { telling, tell: None };
        }
        // the end of quiet hours begins it, also for whoever looks later
        let due_at = telling.next.unwrap_or(now);
        let begun = *telling.begun.get_or_insert(due_at);
        let known = telling.route.as_ref();
        let known = known.and_then(|name| self.routes.iter().find(|route| route.name == *name));
        let tell = match known {
            // the configuration has changed meanwhile, or no route takes it
            None => Some(everybody(&mut telling)),
            Some(route) => self.steps(route, &mut telling, begun, now),
        };
        Begun { telling, tell }
    }

    /// The steps that are due; where nobody is behind them, the next one with somebody.
    fn steps(
        &self,
        route: &Route,
        telling: &mut Telling,
        begun: Timestamp,
        now: Timestamp,
    ) -> Option<Audience> {
        let at = |n: usize| {
            let after = route.step.get(n)?.after_minutes;
            Some(begun.plus_seconds(60.0 * f64::from(after)))
        };
        let mut people = BTreeSet::new();
        let has_heard = !telling.heard.is_empty() || telling.everybody;
        while let Some(due) = at(telling.steps) {
            let is_empty = people.is_empty() && !has_heard;
            if now < due && !is_empty {
                break;
            }
            people.extend(self.people(&route.step[telling.steps].to, now));
            telling.steps += 1;
        }
        telling.next = at(telling.steps);
        if people.is_empty() {
            // an alarm is never told to nobody; a later step without anybody is passed over
            return (!has_heard).then(|| everybody(telling));
        }
        telling.heard.extend(people.iter().cloned());
        Some(Audience::These(people))
    }

    /// The next step before its time, for an alarm that a step's people could not be told of:
    /// whoever is behind it and has not heard, and how far it has been told then. None if no
    /// further step has anybody.
    pub fn further(
        &self,
        telling: &Telling,
        now: Timestamp,
    ) -> Option<(Telling, BTreeSet<String>)> {
        let (name, begun) = (telling.route.as_ref()?, telling.begun?);
        let route = self.routes.iter().find(|route| route.name == *name)?;
        let mut telling = telling.clone();
        while let Some(step) = route.step.get(telling.steps) {
            telling.steps += 1;
            let mut people = self.people(&step.to, now);
            people.retain(|one| !telling.heard.contains(one));
            if !people.is_empty() {
                let next = route.step.get(telling.steps);
                telling.next =
                    next.map(|next| begun.plus_seconds(60.0 * f64::from(next.after_minutes)));
                telling.heard.extend(people.iter().cloned());
                return Some((telling, people));
            }
        }
        None
    }

    /// Returns who hears that an alarm is repeated: whoever is behind the steps told so far.
    pub fn again(&self, telling: &Telling, level: RiskLevel, now: Timestamp) -> Option<Audience> {
        if telling.begun.is_none() || self.is_quiet(level, now) {
            return None;
        }
        let route = telling.route.as_ref();
        let route = route.and_then(|name| self.routes.iter().find(|route| route.name == *name));
        let mut people = BTreeSet::new();
        for step in route.into_iter().flat_map(|route| route.step.iter().take(telling.steps)) {
            people.extend(self.people(&step.to, now));
        }
        Some(if telling.everybody || people.is_empty() {
            Audience::Everybody
        } else {
            Audience::These(people)
        })
    }

    /// Returns who hears of something that no alarm stands behind: the first step of its route.
    pub fn once(&self, subject: &Subject<'_>, now: Timestamp) -> Audience {
        let told = self.told(&self.fresh(subject, now), now, false);
        told.tell.unwrap_or(Audience::Everybody)
    }
}

impl Telling {
    /// Returns who hears that the alarm is over: everybody who has heard of it; `None` if nobody
    /// has.
    pub fn over(&self) -> Option<Audience> {
        if self.everybody {
            return Some(Audience::Everybody);
        }
        (!self.heard.is_empty()).then(|| Audience::These(self.heard.clone()))
    }

    /// Whether quiet hours hold the first message back.
    pub const fn is_held(&self) -> bool {
        self.begun.is_none()
    }
}

fn everybody(telling: &mut Telling) -> Audience {
    telling.everybody = true;
    telling.next = None;
    Audience::Everybody
}
