//! The invariants of the crate, over random tables, instants and zones whose clocks change.

use proptest::prelude::*;

use super::*;
use crate::{RouteStep, Shift, Telling};

const ZONES: [&str; 5] =
    ["Asia/Seoul", "America/New_York", "Europe/London", "Australia/Lord_Howe", "Africa/Casablanca"];

fn zone() -> impl Strategy<Value = Zone> {
    prop::sample::select(ZONES.to_vec())
        .prop_map(|name| serde_json::from_value(serde_json::json!(name)).expect("a zone"))
}

/// Within two years, to the second.
fn instant() -> impl Strategy<Value = Timestamp> {
    (1_795_000_000_i64..1_858_000_000).prop_map(|s| Timestamp::from_unix_ms(s * 1000).expect("in"))
}

fn hours() -> impl Strategy<Value = Hours> {
    (prop::collection::vec(0..7_u8, 0..4), 0..24_u32, 0..4_u32, 0..24_u32).prop_map(
        |(days, from, quarter, to)| {
            let time =
                |hour, minute| chrono::NaiveTime::from_hms_opt(hour, minute, 0).expect("time");
            let day = |day: u8| chrono::Weekday::try_from(day).expect("a day");
            Hours {
                days: days.into_iter().map(day).collect(),
                from: time(from, 15 * quarter),
                to: time(to, 0),
            }
        },
    )
}

fn names() -> impl Strategy<Value = Vec<String>> {
    let all: Vec<String> = NAMES.iter().map(|name| (*name).to_owned()).collect();
    prop::sample::subsequence(all, 0..3)
}

fn rota() -> impl Strategy<Value = Rota> {
    let shift = (hours(), prop::option::of(1..3_u32), names());
    let shift = shift.prop_map(|(hours, week, who)| Shift { hours, week, who });
    (prop::collection::vec(shift, 0..4), prop::option::of(zone())).prop_map(|(shift, zone)| Rota {
        name: "duty".to_owned(),
        zone,
        weeks: 2,
        since: None,
        shift,
        overrides: Vec::new(),
    })
}

fn route() -> impl Strategy<Value = Route> {
    let step = (0..120_u32, prop::bool::ANY, names()).prop_map(|(after, is_duty, mut to)| {
        to.extend(is_duty.then(|| "duty".to_owned()));
        RouteStep { after_minutes: after, to }
    });
    let steps = prop::collection::vec(step, 1..4).prop_map(|mut steps| {
        steps.sort_by_key(|step| step.after_minutes);
        steps[0].after_minutes = 0;
        steps
    });
    (steps, prop::collection::vec(hours(), 0..2), prop::bool::ANY).prop_map(
        |(step, hours, is_watch)| Route {
            name: "r".to_owned(),
            sites: Vec::new(),
            equipment: Vec::new(),
            from: is_watch.then_some(RiskLevel::Watch),
            to: None,
            hours,
            zone: None,
            step,
        },
    )
}

fn tables() -> impl Strategy<Value = RouteTable> {
    let quiet = prop::collection::vec(hours(), 0..2);
    let tables = (zone(), prop::option::of(route()), rota(), quiet);
    let tables = tables.prop_map(|(zone, route, rota, quiet)| RouteTable {
        zone,
        routes: route.into_iter().collect(),
        rotas: vec![rota],
        groups: Vec::new(),
        quiet,
        names: NAMES.map(str::to_owned).into(),
    });
    tables.prop_filter("quiet hours end", |table| {
        let quiet = RouteTable { routes: Vec::new(), rotas: Vec::new(), ..table.clone() };
        quiet.check().is_ok()
    })
}

fn level() -> impl Strategy<Value = RiskLevel> {
    prop::sample::select(vec![RiskLevel::Watch, RiskLevel::Warning, RiskLevel::Critical])
}

fn is_somebody(audience: Option<&Audience>) -> bool {
    match audience {
        Some(Audience::Everybody) => true,
        Some(Audience::These(people)) => !people.is_empty(),
        None => false,
    }
}

/// Everything that is told when the caller looks at these minutes after the start.
fn course(
    table: &RouteTable,
    level: RiskLevel,
    start: Timestamp,
    looks: &[u32],
) -> (Vec<Audience>, Telling) {
    let key = key();
    let subject = Subject { key: &key, level };
    let begun = table.begin(&subject, start);
    let (mut told, mut telling): (Vec<_>, _) = (begun.tell.into_iter().collect(), begun.telling);
    for minute in looks {
        // what is stored and read again goes on as if it had stayed in memory
        let text = serde_json::to_string(&telling).expect("JSON");
        telling = serde_json::from_str(&text).expect("the same");
        let now = start.plus_seconds(60.0 * f64::from(*minute));
        let due = table.due(&subject, &telling, now);
        told.extend(due.tell);
        telling = due.telling;
    }
    (told, telling)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// An alarm is told to somebody at once, or it is a Watch within quiet hours and is told to
    /// somebody when they end.
    #[test]
    fn no_alarm_is_told_to_nobody(table in tables(), level in level(), now in instant()) {
        let key = key();
        let subject = Subject { key: &key, level };
        let begun = table.begin(&subject, now);
        if begun.telling.is_held() {
            prop_assert_eq!(level, RiskLevel::Watch);
            prop_assert!(table.is_quiet(level, now) && begun.tell.is_none());
            let end = begun.telling.next.expect("an end");
            prop_assert!(end > now && end.seconds_since(now) <= 8.0 * 86_400.0);
            prop_assert!(!table.is_quiet(level, end));
            let due = table.due(&subject, &begun.telling, end);
            prop_assert!(is_somebody(due.tell.as_ref()));
            let again = table.due(&subject, &due.telling, end);
            prop_assert!(again.tell.is_none(), "once");
        } else {
            prop_assert!(is_somebody(begun.tell.as_ref()));
        }
    }

    /// Whoever looks every minute tells the same people as one who looks now and then and last at
    /// the end, and in no more messages than the route has steps.
    #[test]
    fn what_is_told_does_not_hang_on_how_often_one_looks(
        table in tables(), level in level(), now in instant(),
        mut rarely in prop::collection::vec(1..3000_u32, 0..6),
    ) {
        // people change with the hour at which a step is looked at: everybody of the table is
        // always on
        let mut table = table;
        table.rotas[0].shift = vec![Shift {
            hours: Hours { days: Vec::new(), from: chrono::NaiveTime::MIN,
                to: chrono::NaiveTime::MIN },
            week: None,
            who: vec!["kim".to_owned()],
        }];
        rarely.sort_unstable();
        rarely.push(14_000);
        let often: Vec<u32> = (1..=14_000).step_by(7).chain([14_000]).collect();
        let end = now.plus_seconds(60.0 * 14_000.0);
        // whoever looks at the end alone tells nothing while quiet hours hold it back
        prop_assume!(!table.is_quiet(level, end));
        let (told_often, after_often) = course(&table, level, now, &often);
        let (told_rarely, after_rarely) = course(&table, level, now, &rarely);
        prop_assert_eq!(&after_often.heard, &after_rarely.heard);
        prop_assert_eq!(after_often.everybody, after_rarely.everybody);
        prop_assert_eq!(after_often.next, None);
        let steps = table.routes.first().map_or(1, |route| route.step.len());
        prop_assert!(told_often.len() <= steps && told_rarely.len() <= told_often.len());
    }

    /// Shifts that hold at every time of a clock leave no gap when the clock changes, and hours
    /// that are split at any time hold at one of the parts.
    #[test]
    fn no_change_of_a_clock_opens_a_gap(zone in zone(), now in instant(), hour in 0..24_u32) {
        let time = chrono::NaiveTime::from_hms_opt(hour, 30, 0).expect("a time");
        let shift = |from, to, who: &str| Shift {
            hours: Hours { days: Vec::new(), from, to },
            week: None,
            who: vec![who.to_owned()],
        };
        let noon = chrono::NaiveTime::from_hms_opt(12, 0, 0).expect("noon");
        let rota = Rota {
            name: "duty".to_owned(),
            zone: Some(zone),
            weeks: 1,
            since: None,
            shift: vec![shift(time, noon, "kim"), shift(noon, time, "lee")],
            overrides: Vec::new(),
        };
        for half_day in 0..1500 {
            let at = now.plus_seconds(f64::from(half_day) * 43_200.0 + f64::from(half_day));
            prop_assert_eq!(rota.on_duty(zone, at).len(), 1, "{:?}", at);
        }
        prop_assert!(rota.gaps(zone, now, 2).is_empty());
    }

    /// A local time becomes an instant at which the clock shows it, or the first that it shows
    /// after it.
    #[test]
    fn an_instant_of_a_local_time_shows_it(zone in zone(), at in instant()) {
        let local = zone.local(at);
        let back = zone.instant(local).expect("an instant");
        prop_assert!(zone.local(back) == local && back <= at);
    }
}
