//! Decides who is on duty: shifts of the week, over one week or several, and overrides of some
//! days.

use chrono::{Datelike, NaiveDate, NaiveDateTime};
use pdm_shared::time::Timestamp;
use serde::Deserialize;

use crate::hours::{Hours, Zone, local};

/// A Monday: weeks are counted from here where a rota names no other.
const FIRST_MONDAY: NaiveDate = match NaiveDate::from_ymd_opt(2024, 1, 1) {
    Some(day) => day,
    None => NaiveDate::MIN,
};

/// A rota.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rota {
    /// Its name in routes.
    pub name: String,
    /// The clock of its shifts; without it that of the table.
    #[serde(default)]
    pub zone: Option<Zone>,
    /// After how many weeks the shifts begin anew.
    #[serde(default = "one")]
    pub weeks: u32,
    /// A day of the first week.
    #[serde(default)]
    pub since: Option<NaiveDate>,
    /// The shifts.
    #[serde(default)]
    pub shift: Vec<Shift>,
    /// Who stands in for some days; the later of two counts.
    #[serde(default, rename = "override")]
    pub overrides: Vec<Override>,
}

const fn one() -> u32 {
    1
}

/// A shift.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Shift {
    /// Its hours.
    #[serde(flatten)]
    pub hours: Hours,
    /// The week in which it is, from 1; without it every week.
    #[serde(default)]
    pub week: Option<u32>,
    /// Who is on duty.
    pub who: Vec<String>,
}

/// Who stands in from one local time to another.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Override {
    /// The begin.
    #[serde(deserialize_with = "local")]
    pub from: NaiveDateTime,
    /// The end.
    #[serde(deserialize_with = "local")]
    pub to: NaiveDateTime,
    /// Who is on duty; never nobody.
    pub who: Vec<String>,
}

/// A time in which nobody is on duty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Its first minute.
    pub from: Timestamp,
    /// The first minute after it.
    pub to: Timestamp,
}

impl Rota {
    /// Returns who is on duty, each once.
    pub fn on_duty(&self, zone: Zone, at: Timestamp) -> Vec<&str> {
        let zone = self.zone.unwrap_or(zone);
        let stands_in = |one: &&Override| {
            let from = zone.instant(one.from);
            let to = zone.instant(one.to);
            from.is_some_and(|from| from <= at) && to.is_some_and(|to| at < to)
        };
        if let Some(one) = self.overrides.iter().rev().find(stands_in) {
            return one.who.iter().map(String::as_str).collect();
        }
        let local = zone.local(at);
        let mut who: Vec<&str> = Vec::new();
        for shift in self.shift.iter().filter(|shift| self.is_on(shift, local)) {
            for name in &shift.who {
                if !who.contains(&name.as_str()) {
                    who.push(name);
                }
            }
        }
        who
    }

    fn is_on(&self, shift: &Shift, local: NaiveDateTime) -> bool {
        let Some(begun) = shift.hours.begun(local) else { return false };
        shift.week.is_none_or(|week| week == self.week_of(begun))
    }

    /// The week of the rota that a day lies in, from 1.
    fn week_of(&self, day: NaiveDate) -> u32 {
        let monday = |day: NaiveDate| {
            i64::from(day.num_days_from_ce()) - i64::from(day.weekday().num_days_from_monday())
        };
        let weeks = (monday(day) - monday(self.since.unwrap_or(FIRST_MONDAY))) / 7;
        let of = weeks.rem_euclid(i64::from(self.weeks.max(1)));
        u32::try_from(of).unwrap_or(0) + 1
    }

    /// The instants within the next `days` at which other people come on duty, by the minute:
    /// shifts begin and end at whole minutes of their clock.
    pub fn changes(
        &self,
        zone: Zone,
        from: Timestamp,
        days: u32,
    ) -> impl Iterator<Item = Timestamp> {
        let minute = from.plus_seconds(-(from.unix_ms().rem_euclid(60_000) as f64) / 1000.0);
        let mut current = self.on_duty(zone, from);
        (1..=days * 24 * 60).filter_map(move |minutes| {
            let at = minute.plus_seconds(f64::from(minutes) * 60.0);
            let then = self.on_duty(zone, at);
            let is_change = then != current;
            current = then;
            is_change.then_some(at)
        })
    }

    /// The times within the next `days` in which nobody is on duty, to the minute.
    pub fn gaps(&self, zone: Zone, from: Timestamp, days: u32) -> Vec<Gap> {
        const MINUTE_S: f64 = 60.0;
        let mut gaps: Vec<Gap> = Vec::new();
        for minute in 0..days * 24 * 60 {
            let at = from.plus_seconds(f64::from(minute) * MINUTE_S);
            if !self.on_duty(zone, at).is_empty() {
                continue;
            }
            let to = at.plus_seconds(MINUTE_S);
            match gaps.last_mut().filter(|last| last.to == at) {
                Some(last) => last.to = to,
                None => gaps.push(Gap { from: at, to }),
            }
        }
        gaps
    }
}
