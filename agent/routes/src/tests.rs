//! Claims about tables, rotas and clocks; `properties` holds them for random ones.

use std::collections::BTreeSet;

use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use pdm_shared::time::Timestamp;
use serde::Deserialize;

use crate::{Audience, Group, Hours, Rota, Route, RouteTable, Subject, TimeOfDay, Zone};

mod properties;

/// A table as a configuration would hold it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    zone: Zone,
    #[serde(default)]
    route: Vec<Route>,
    #[serde(default)]
    rota: Vec<Rota>,
    #[serde(default)]
    group: Vec<Group>,
    #[serde(default)]
    quiet: Vec<Hours>,
}

const NAMES: [&str; 5] = ["kim", "lee", "park", "choi", "room"];

fn read(text: &str) -> Result<RouteTable, toml::de::Error> {
    let file: File = toml::from_str(text)?;
    Ok(RouteTable {
        zone: file.zone,
        routes: file.route,
        rotas: file.rota,
        groups: file.group,
        quiet: file.quiet,
        names: NAMES.map(str::to_owned).into(),
    })
}

fn table(text: &str) -> RouteTable {
    let table = read(text).expect("a table");
    table.check().expect("a right one");
    table
}

fn at(text: &str) -> Timestamp {
    serde_json::from_value(serde_json::json!(text)).expect("a time")
}

fn key() -> BearingKey {
    BearingKey::parse("ulsan-1", "P-101", "DE").expect("names")
}

fn these(names: &[&str]) -> Audience {
    Audience::These(names.iter().map(|name| (*name).to_owned()).collect())
}

const PLANT: &str = r#"
zone = "Asia/Seoul"
[[rota]]
name = "mechanics"
[[rota.shift]]
days = ["mon", "tue", "wed", "thu", "fri"]
from = "08:00"
to = "20:00"
who = ["kim"]
[[rota.shift]]
from = "20:00"
to = "08:00"
who = ["lee"]
[[rota.override]]
from = "2026-11-25 20:00"
to = "2026-11-26 08:00"
who = ["park"]
[[route]]
name = "pumps"
sites = ["ulsan-*"]
equipment = ["P-*"]
from = "Watch"
[[route.step]]
to = ["mechanics"]
[[route.step]]
after_minutes = 30
to = ["choi"]
[[quiet]]
from = "22:00"
to = "07:00"
"#;

/// 2026-11-24 is a Tuesday; Seoul is nine hours ahead.
#[test]
fn whoever_is_on_duty_hears_first_and_the_next_step_while_nobody_acknowledges() {
    let (table, key) = (table(PLANT), key());
    let subject = Subject { key: &key, level: RiskLevel::Warning };
    let begun = table.begin(&subject, at("2026-11-24T01:00:00Z"));
    assert_eq!(begun.tell, Some(these(&["kim"])));
    assert_eq!(begun.telling.next, Some(at("2026-11-24T01:30:00Z")));
    let early = table.due(&subject, &begun.telling, at("2026-11-24T01:29:00Z"));
    assert_eq!(early.tell, None);
    let due = table.due(&subject, &begun.telling, at("2026-11-24T01:30:00Z"));
    assert_eq!((due.tell, due.telling.next), (Some(these(&["choi"])), None));
    assert_eq!(due.telling.over(), Some(these(&["choi", "kim"])));
}

/// R-AGENT-10: a person whom no message reaches is passed over at once, and the step after is still
/// due at its time.
#[test]
fn the_next_step_comes_before_its_time_where_nobody_of_this_one_is_reached() {
    let (table, key) = (table(PLANT), key());
    let subject = Subject { key: &key, level: RiskLevel::Warning };
    let now = at("2026-11-24T01:00:00Z");
    let begun = table.begin(&subject, now).telling;
    let (further, people) = table.further(&begun, now).expect("a second step");
    assert_eq!(people, ["choi".to_owned()].into());
    assert_eq!((further.steps, further.next), (2, None));
    assert_eq!(further.over(), Some(these(&["choi", "kim"])));
    assert_eq!(table.further(&further, now), None, "nobody is left");
    assert_eq!(table.due(&subject, &further, at("2026-11-24T02:00:00Z")).tell, None);
}

#[test]
fn an_override_takes_the_shift_and_the_night_belongs_to_the_day_it_began() {
    let table = table(PLANT);
    let rota = &table.rotas[0];
    let on_duty = |text: &str| rota.on_duty(table.zone, at(text)).join(",");
    assert_eq!(on_duty("2026-11-25T10:59:00Z"), "kim", "19:59");
    assert_eq!(on_duty("2026-11-25T11:00:00Z"), "park", "20:00");
    assert_eq!(on_duty("2026-11-25T22:59:00Z"), "park", "07:59");
    assert_eq!(on_duty("2026-11-25T23:00:00Z"), "kim", "08:00");
    assert_eq!(on_duty("2026-11-26T11:00:00Z"), "lee");
    assert_eq!(on_duty("2026-11-28T01:00:00Z"), "", "Saturday, 10:00");
    let mut changes = rota.changes(table.zone, at("2026-11-25T10:30:20Z"), 1);
    let next = [changes.next(), changes.next()];
    let told = ["2026-11-25T11:00:00Z", "2026-11-25T23:00:00Z"].map(|text| Some(at(text)));
    assert_eq!(next, told, "to the minute");
}

#[test]
fn nobody_on_duty_passes_an_alarm_to_the_next_step_at_once() {
    let (table, key) = (table(PLANT), key());
    let subject = Subject { key: &key, level: RiskLevel::Critical };
    let begun = table.begin(&subject, at("2026-11-28T01:00:00Z"));
    assert_eq!((begun.tell, begun.telling.next), (Some(these(&["choi"])), None));
}

#[test]
fn what_no_route_takes_is_told_to_everybody() {
    let table = table(PLANT);
    let key = BearingKey::parse("busan-1", "P-101", "DE").expect("names");
    let subject = Subject { key: &key, level: RiskLevel::Warning };
    let begun = table.begin(&subject, at("2026-11-24T01:00:00Z"));
    assert_eq!((begun.tell, begun.telling.next), (Some(Audience::Everybody), None));
}

#[test]
fn quiet_hours_hold_a_watch_back_until_they_end() {
    let (table, key) = (table(PLANT), key());
    let night = at("2026-11-24T15:00:30Z");
    let watch = Subject { key: &key, level: RiskLevel::Watch };
    let begun = table.begin(&watch, night);
    assert_eq!((begun.tell, begun.telling.is_held()), (None, true));
    assert_eq!(begun.telling.next, Some(at("2026-11-24T22:00:00Z")), "07:00");
    assert_eq!(begun.telling.over(), None, "nobody hears that it is over");
    let due = table.due(&watch, &begun.telling, at("2026-11-24T22:00:00Z"));
    assert_eq!(due.tell, Some(these(&["lee"])));
    let warning = Subject { level: RiskLevel::Warning, ..watch };
    assert_eq!(table.begin(&warning, night).tell, Some(these(&["lee"])));
}

#[test]
fn weeks_take_turns_from_their_first_day() {
    let table = table(
        "[[rota]]\nname = \"duty\"\nweeks = 2\nsince = \"2026-11-25\"\n\
         shift = [{ week = 1, who = [\"kim\"] }, { week = 2, who = [\"lee\"] }]\n",
    );
    let on_duty = |text: &str| table.rotas[0].on_duty(table.zone, at(text)).join(",");
    // the first week is that of the day, from its Monday
    assert_eq!(on_duty("2026-11-23T00:00:00Z"), "kim");
    assert_eq!(on_duty("2026-11-29T23:59:00Z"), "kim");
    assert_eq!(on_duty("2026-11-30T00:00:00Z"), "lee");
    assert_eq!(on_duty("2026-11-22T12:00:00Z"), "lee");
}

/// Night of 2026-03-08 in New York: the clock goes from 01:59 to 03:00.
#[test]
fn a_gap_is_as_long_as_the_clock_makes_it() {
    let table = table(
        "zone = \"America/New_York\"\n[[rota]]\nname = \"duty\"\n\
         shift = [{ from = \"03:00\", to = \"01:00\", who = [\"kim\"] }]\n",
    );
    let gaps = table.rotas[0].gaps(table.zone, at("2026-03-07T12:00:00Z"), 2);
    let hours: Vec<f64> = gaps.iter().map(|gap| gap.to.seconds_since(gap.from) / 3600.0).collect();
    assert_eq!(hours, [1.0, 2.0], "{gaps:?}");
    let autumn = table.rotas[0].gaps(table.zone, at("2026-10-31T12:00:00Z"), 1);
    let hours: Vec<f64> =
        autumn.iter().map(|gap| gap.to.seconds_since(gap.from) / 3600.0).collect();
    assert_eq!(hours, [3.0], "01:00 comes twice: {autumn:?}");
}

#[test]
fn an_override_that_begins_in_a_time_that_the_clock_leaves_out_begins_after_it() {
    let table = table(
        "zone = \"America/New_York\"\n[[rota]]\nname = \"duty\"\nshift = [{ who = [\"kim\"] }]\n\
         override = [{ from = \"2026-03-08 02:30\", to = \"2026-03-08 04:00\", who = [\"lee\"] \
         }]\n",
    );
    let on_duty = |text: &str| table.rotas[0].on_duty(table.zone, at(text)).join(",");
    assert_eq!(on_duty("2026-03-08T06:59:00Z"), "kim", "01:59");
    assert_eq!(on_duty("2026-03-08T07:00:00Z"), "lee", "03:00");
    assert_eq!(on_duty("2026-03-08T08:00:00Z"), "kim", "04:00");
}

fn wrong(text: &str) -> String {
    match read(text) {
        Ok(table) => table.check().expect_err("refused").to_string(),
        Err(error) => error.message().to_owned(),
    }
}

#[test]
fn a_wrong_table_is_told_with_key_value_and_what_is_allowed() {
    let route = |step: &str| format!("[[route]]\nname = \"r\"\nstep = [{step}]\n");
    let told = wrong(&route("{ to = [\"kmi\"] }"));
    assert_eq!(told, "route.r.step.to is kmi, allowed is choi, kim, lee, park, room");
    let told = wrong(&route("{ after_minutes = 5, to = [\"kim\"] }"));
    assert!(
        told.starts_with("route.r.step.after_minutes is 5, allowed is 0 in the first"),
        "{told}"
    );
    let told = wrong(&route(
        "{ to = [\"kim\"] }, { after_minutes = 9, to = [\"kim\"] }, \
                             { after_minutes = 3, to = [\"kim\"] }",
    ));
    assert_eq!(told, "route.r.step.after_minutes is 3, allowed is 9 to 10080, in order");
    assert!(wrong(&route("")).contains("step is 0, allowed is 1 to 20 steps"));
    let told = wrong("[[rota]]\nname = \"kim\"\n");
    assert!(told.starts_with("rota.name is kim, allowed is a name that no other"), "{told}");
    let told = wrong("[[quiet]]\n");
    assert_eq!(told, "quiet is the whole week, allowed is hours that end");
    assert!(wrong("zone = \"Seoul\"\n").contains("allowed are names of the IANA database"));
    assert!(wrong("[[quiet]]\nfrom = \"7:00\"\n").contains("allowed is HH:MM"));
    assert!(wrong("[[quiet]]\ndays = [\"monday\"]\n").contains("allowed are mon, tue"));
    let told = wrong(
        "[[rota]]\nname = \"d\"\n[[rota.override]]\nfrom = \"2026-01-02 00:00\"\n\
                      to = \"2026-01-01 00:00\"\nwho = [\"kim\"]\n",
    );
    assert!(told.contains("allowed is after `from`"), "{told}");
    // R-AGENT-10: it was taken, and the night had nobody on duty
    let told = wrong(
        "[[rota]]\nname = \"d\"\n[[rota.override]]\nfrom = \"2026-01-01 00:00\"\n\
                      to = \"2026-01-02 00:00\"\nwho = []\n",
    );
    assert!(told.starts_with("rota.d.override.who is empty, allowed is at least one"), "{told}");
    let told = wrong("[[rota]]\nname = \"d\"\nshift = [{ week = 2, who = [\"kim\"] }]\n");
    assert_eq!(told, "rota.d.shift.week is 2, allowed is 1 to 1");
    let told = wrong("[[rota]]\nname = \"d\"\nshift = [{ who = [\"kmi\"] }]\n");
    assert!(told.starts_with("rota.d.shift.who is kmi, allowed is choi, kim"), "no rota: {told}");
}

/// A group that names itself, and one that names a rota that names it, end.
#[test]
fn names_that_go_in_circles_are_refused_and_end() {
    let told = wrong("[[group]]\nname = \"a\"\nmembers = [\"a\"]\n");
    assert_eq!(told, "group.a.members is a, allowed is people, channels and rotas, no groups");
    let circle = read(
        "[[group]]\nname = \"a\"\nmembers = [\"d\", \"kim\"]\n\
         [[rota]]\nname = \"d\"\nshift = [{ who = [\"a\"] }]\n",
    )
    .expect("a table");
    let people = circle.people(&["a".to_owned()], at("2026-01-01T00:00:00Z"));
    assert_eq!(people, BTreeSet::from(["kim".to_owned()]));
}

/// The next time of day is later than now, whatever the clock leaves out or shows twice.
#[test]
fn a_time_of_day_comes_once_a_day_on_the_clock_of_its_zone() {
    let next = |zone: &str, time: &str, now: &str| {
        let zone: Zone = serde_json::from_value(serde_json::json!(zone)).expect("a zone");
        time.parse::<TimeOfDay>().expect("a time").next(zone, at(now))
    };
    for (zone, time, now, expected) in [
        ("Asia/Seoul", "08:00", "2026-11-24T22:59:59.999Z", "2026-11-24T23:00:00Z"),
        ("Asia/Seoul", "08:00", "2026-11-24T23:00:00Z", "2026-11-25T23:00:00Z"),
        ("UTC", "24:00", "2026-12-31T12:00:00Z", "2027-01-01T00:00:00Z"),
        // the hour from 02:00 is left out on this day
        ("Europe/Berlin", "02:30", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"),
        // 02:30 is shown twice, and told the first time
        ("Europe/Berlin", "02:30", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"),
        ("Europe/Berlin", "02:30", "2026-10-25T00:29:59Z", "2026-10-25T00:30:00Z"),
        // the whole 30th was left out: the first time shown after it is midnight of the 31st
        ("Pacific/Apia", "08:00", "2011-12-29T20:00:00Z", "2011-12-30T10:00:00Z"),
    ] {
        assert_eq!(next(zone, time, now), at(expected), "{zone} {time} {now}");
    }
    assert!("8:00".parse::<TimeOfDay>().is_err());
}

/// The ends of shelves that people name: the next morning and the next Monday of the plant's own
/// clock.
#[test]
fn the_next_morning_and_monday_are_those_of_the_plants_clock() {
    let zone: Zone = serde_json::from_value("Asia/Seoul".into()).expect("a zone");
    let at = |text: &str| Timestamp::parse(text).expect("a time");
    // Wednesday 19:35 in Seoul; what a page of hours asked for as 107
    let now = at("2026-11-25T10:35:00Z");
    assert_eq!(zone.morning(now, 7, false), Some(at("2026-11-25T22:00:00Z")), "tomorrow");
    assert_eq!(zone.morning(now, 7, true), Some(at("2026-11-29T22:00:00Z")), "Monday");
    // Monday 05:00 and Monday 07:00 in Seoul
    assert_eq!(zone.morning(at("2026-11-29T20:00:00Z"), 7, true), Some(at("2026-11-29T22:00:00Z")));
    assert_eq!(zone.morning(at("2026-11-29T22:00:00Z"), 7, true), Some(at("2026-12-06T22:00:00Z")));
    assert_eq!(zone.written("2026-11-30T07:00"), Some(at("2026-11-29T22:00:00Z")));
    for wrong in ["", "2026-11-30", "2026-02-30T07:00", "30.11.2026 07:00", "2026-11-30T07:00Z"] {
        assert_eq!(zone.written(wrong), None, "{wrong}");
    }
}
