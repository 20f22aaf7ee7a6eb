//! Hours of the week on a plant's own clock.
//!
//! Whether an instant lies in them follows from its local time alone. So the hour that a clock
//! shows twice belongs to them both times, and one that it leaves out is missed by nobody.

use std::str::FromStr;

use chrono::{
    Datelike, Days, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone as _, Weekday,
};
use chrono_tz::Tz;
use pdm_shared::time::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Minutes of eight days: every hour of a week has come by then, whatever a clock does.
const EIGHT_DAYS_MIN: i64 = 8 * 24 * 60;
const MINUTE_MS: i64 = 60_000;

/// A time zone of the IANA database, such as `Asia/Seoul`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone(Tz);

impl Default for Zone {
    fn default() -> Self {
        Self(Tz::UTC)
    }
}

impl std::str::FromStr for Zone {
    type Err = chrono_tz::ParseError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        name.parse().map(Self)
    }
}

impl<'de> Deserialize<'de> for Zone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let allowed = "allowed are names of the IANA database such as Asia/Seoul";
        name.parse()
            .map(Self)
            .map_err(|_error| D::Error::custom(format!("{name:?} is no time zone, {allowed}")))
    }
}

impl Zone {
    /// Returns the time on the clock of the zone.
    pub fn local(self, at: Timestamp) -> NaiveDateTime {
        let utc = chrono::DateTime::from_timestamp_millis(at.unix_ms()).unwrap_or_default();
        utc.with_timezone(&self.0).naive_local()
    }

    /// Returns the time on the clock of the zone, written as an instant of UTC.
    pub fn local_as_utc(self, at: Timestamp) -> Timestamp {
        Timestamp::from_unix_ms(self.local(at).and_utc().timestamp_millis()).unwrap_or(at)
    }

    /// An instant as people of the zone read it, with the zone's abbreviation: `2026-11-20 09:30
    /// KST`.
    pub fn in_words(self, at: Timestamp) -> String {
        format!("{} {}", self.local(at).format("%Y-%m-%d %H:%M"), self.abbreviation(at))
    }

    /// Returns the usual abbreviation of the zone's clock at an instant: `KST`, `CEST`; `UTC-03`
    /// where it has no name.
    pub fn abbreviation(self, at: Timestamp) -> String {
        let utc = chrono::DateTime::from_timestamp_millis(at.unix_ms()).unwrap_or_default();
        let name = utc.with_timezone(&self.0).format("%Z").to_string();
        if name.starts_with(['+', '-']) { format!("UTC{name}") } else { name }
    }

    /// The zone's name in the IANA database.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// A local time that a browser's field writes (`2026-11-30T07:00`), as an instant.
    pub fn written(self, text: &str) -> Option<Timestamp> {
        let local = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"].into_iter();
        let mut local = local.filter_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
        self.instant(local.next()?)
    }

    /// An hour of the next day of the clock, or of its next Monday, as an instant; a Monday whose
    /// hour has not come yet is the next one.
    pub fn morning(self, after: Timestamp, hour: u32, is_monday: bool) -> Option<Timestamp> {
        let today = self.local(after).date();
        let mut days = (u64::from(!is_monday)..9).filter_map(|days| {
            let day = today.checked_add_days(Days::new(days))?;
            (!is_monday || day.weekday() == Weekday::Mon).then_some(day)
        });
        days.find_map(|day| self.instant(day.and_hms_opt(hour, 0, 0)?).filter(|at| *at > after))
    }

    /// The first instant at which the clock shows this time; after a time that it leaves out, the
    /// first that it shows.
    pub fn instant(self, local: NaiveDateTime) -> Option<Timestamp> {
        // the longest time that a clock has left out is the day that Samoa skipped in 2011
        (0..=25 * 60).find_map(|minutes| {
            let local = local.checked_add_signed(TimeDelta::minutes(minutes))?;
            let at = self.0.from_local_datetime(&local).earliest()?;
            Timestamp::from_unix_ms(at.timestamp_millis())
        })
    }
}

/// A time of day, the same on every day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeOfDay(NaiveTime);

impl TimeOfDay {
    /// This time in whole hours, for defaults; midnight where there is no such hour.
    pub fn at_hour(hour: u32) -> Self {
        Self(NaiveTime::from_hms_opt(hour, 0, 0).unwrap_or_default())
    }

    /// The first instant after `after` at which a clock of the zone shows this time. On a day on
    /// which the clock leaves it out, the first time that it shows after it.
    pub fn next(self, zone: Zone, after: Timestamp) -> Timestamp {
        let today = zone.local(after).date();
        let of_day = |days| zone.instant(today.checked_add_days(Days::new(days))?.and_time(self.0));
        // a clock may leave out a whole day
        (0..3).filter_map(of_day).find(|at| *at > after).unwrap_or(after)
    }
}

impl FromStr for TimeOfDay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "24:00" {
            return Ok(Self(NaiveTime::MIN));
        }
        let is_whole = text.len() == 5;
        NaiveTime::parse_from_str(text, "%H:%M")
            .ok()
            .filter(|_time| is_whole)
            .map(Self)
            .ok_or_else(|| format!("{text:?} is no time, allowed is HH:MM from 00:00 to 24:00"))
    }
}

/// Hours of some days of the week.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hours {
    /// The days on which they begin; without them every day.
    #[serde(default, deserialize_with = "days")]
    pub days: Vec<Weekday>,
    /// When they begin.
    #[serde(default, deserialize_with = "time")]
    pub from: NaiveTime,
    /// When they end; at or before `from` is on the next day.
    #[serde(default, deserialize_with = "time")]
    pub to: NaiveTime,
}

impl Hours {
    /// The day on which the hours began that hold at this local time, if they do.
    pub fn begun(&self, local: NaiveDateTime) -> Option<NaiveDate> {
        let (day, time) = (local.date(), local.time());
        let is_of = |day: NaiveDate| self.days.is_empty() || self.days.contains(&day.weekday());
        if self.from < self.to {
            return (is_of(day) && (self.from..self.to).contains(&time)).then_some(day);
        }
        if time >= self.from {
            return is_of(day).then_some(day);
        }
        let before = day.checked_sub_days(Days::new(1))?;
        (time < self.to && is_of(before)).then_some(before)
    }

    /// Whether they hold at this instant.
    pub fn hold(&self, zone: Zone, at: Timestamp) -> bool {
        self.begun(zone.local(at)).is_some()
    }
}

/// The first whole minute after `at` for which `is` holds, within eight days.
pub(crate) fn next_minute(at: Timestamp, is: impl Fn(Timestamp) -> bool) -> Option<Timestamp> {
    let first = at.unix_ms().div_euclid(MINUTE_MS) + 1;
    (first..=first + EIGHT_DAYS_MIN).find_map(|minute| {
        let at = Timestamp::from_unix_ms(minute * MINUTE_MS)?;
        is(at).then_some(at)
    })
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NaiveTime, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map(|TimeOfDay(time)| time).map_err(D::Error::custom)
}

fn days<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Weekday>, D::Error> {
    const NAMES: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let names = Vec::<String>::deserialize(deserializer)?;
    let day = |name: &String| {
        let place = NAMES.iter().position(|day| day == name);
        let day = place.and_then(|place| Weekday::try_from(u8::try_from(place).ok()?).ok());
        day.ok_or_else(|| {
            D::Error::custom(format!("{name:?} is no day, allowed are {}", NAMES.join(", ")))
        })
    };
    names.iter().map(day).collect()
}

/// A local date with its time.
pub(crate) fn local<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NaiveDateTime, D::Error> {
    let text = String::deserialize(deserializer)?;
    let forms = ["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"];
    let read = |form: &&str| NaiveDateTime::parse_from_str(&text, form).ok();
    forms.iter().find_map(read).ok_or_else(|| {
        D::Error::custom(format!("{text:?} is no local time, allowed is \"YYYY-MM-DD HH:MM\""))
    })
}
