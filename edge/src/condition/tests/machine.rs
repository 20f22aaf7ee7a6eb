//! The promises of monitors beside each other: operating changes, replaced bearings, swapped
//! channels; and of a monitor whose clock or period changes.

use std::sync::Arc;

use pdm_shared::event::{Change, ChangeKind};

use super::*;

/// An hourly window of bearing `number`, at a level.
fn hourly(n: i64, number: i64, level: f64, kurtosis: f64) -> Observation {
    let noisy = |of: i64, scatter: f64| 1.0 + scatter * noise(97 * number + 3 * n + of);
    window(
        6 * n,
        "default",
        &[
            ("rms_g", level * noisy(0, 0.03)),
            ("envelope_rms_g", 0.4 * level * noisy(1, 0.04)),
            ("kurtosis", kurtosis * noisy(2, 0.05)),
        ],
    )
}

/// Returns the changes that were told of a machine's bearings at these hours, and the hours with an
/// alarm by bearing. `at`: level and kurtosis of a bearing at an hour; `None`: the machine stands.
fn watched(
    bearings: usize,
    hours: std::ops::Range<i64>,
    at: impl Fn(usize, i64) -> Option<(f64, f64)>,
) -> (Vec<(usize, i64, Change)>, Vec<usize>) {
    let mut monitors = vec![Monitor::new(MonitorSettings::default()); bearings];
    let (mut told, mut alarmed) = (Vec::new(), vec![0; bearings]);
    for n in hours {
        let seen: Vec<_> = monitors
            .iter()
            .enumerate()
            .map(|(i, m)| Arc::new((format!("B{i}").parse().expect("name"), m.seen())))
            .collect();
        for (i, monitor) in monitors.iter_mut().enumerate() {
            let Some((level, kurtosis)) = at(i, n) else { continue };
            let others = seen.iter().enumerate().filter(|(other, _)| *other != i);
            let neighbours: Vec<Neighbour> = others
                .map(|(_, seen)| Neighbour { point: Arc::clone(seen), is_same_bearing: false })
                .collect();
            let number = i64::try_from(i).expect("a few bearings");
            let observation = hourly(n, number, level, kurtosis);
            let judgement = monitor.observe_beside(&observation, &neighbours);
            told.extend(judgement.change.map(|change| (i, n, change)));
            alarmed[i] += usize::from(judgement.anomaly_detected);
        }
    }
    (told, alarmed)
}

/// A load that moves all bearings, the high frequencies of one of them more than the rest, is one
/// change of the machine; the first window that tells it names all bearings.
#[test]
fn a_step_of_all_bearings_is_told_once_as_an_operating_change() {
    let load = |i: usize, n: i64| if n >= 200 { [1.5, 1.4, 1.7][i] } else { 1.0 };
    let (told, alarmed) = watched(3, 0..500, |i, n| Some((load(i, n), 3.0)));
    assert_eq!(alarmed, [0, 0, 0]);
    let mut hours: Vec<i64> = told.iter().map(|(_, n, _)| *n).collect();
    hours.dedup();
    // within one window the pipeline leaves the first
    assert_eq!(hours.len(), 1, "{told:?}");
    let change = &told[0].2;
    assert_eq!(change.kind, ChangeKind::Operating);
    assert_eq!(change.bearings.len(), 2);
    assert!((1.3..1.8).contains(&change.level_ratio), "{change:?}");
}

/// A machine with one bearing has nobody else to tell it: the level is 1.5 times that of before, no
/// alarm, and it was said nowhere.
#[test]
fn a_step_of_the_only_bearing_is_told_once_as_an_operating_change() {
    let (told, alarmed) = watched(1, 0..500, |_, n| Some((if n >= 200 { 1.5 } else { 1.0 }, 3.0)));
    assert_eq!(alarmed, [0]);
    let [(0, 200..230, change)] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!((change.kind, change.bearings.len()), (ChangeKind::Operating, 0));
    assert!((change.level_ratio / 1.5 - 1.0).abs() < 0.1, "{change:?}");
}

/// A load that comes and goes is found by each bearing at a time of its own, days apart: the
/// machine tells it once. A further load is news.
#[test]
fn a_load_that_bearings_find_on_different_days_is_told_once() {
    let second = |n: i64| n >= 600 && (n / 30) % 2 == 1;
    let mut all = Vec::new();
    for (one, other) in [(1.32, 1.22), (1.45, 1.25), (1.6, 1.3)] {
        let load = |i: usize, n: i64| if second(n) { [one, other][i] } else { 1.0 };
        let (mut told, alarmed) = watched(2, 0..1200, |i, n| Some((load(i, n), 3.0)));
        told.dedup_by_key(|(_, n, _)| *n);
        assert!(told.len() <= 1, "{told:?}");
        assert!(alarmed.iter().all(|hours| *hours < 60), "{alarmed:?}");
        all.extend(told);
    }
    assert!(!all.is_empty(), "a load is told at all");
    let further = |_, n: i64| {
        Some((
            if n < 200 {
                1.0
            } else if n < 300 {
                1.3
            } else {
                1.75
            },
            3.0,
        ))
    };
    let (mut told, _) = watched(2, 0..400, further);
    told.dedup_by_key(|(_, n, _)| *n);
    assert_eq!(told.len(), 2, "a further load is news: {told:?}");
}

/// A change of one bearing alone is no load, however flat.
#[test]
fn a_step_of_one_bearing_alone_is_an_anomaly() {
    let level = |i: usize, n: i64| if i == 1 && n >= 200 { 1.5 } else { 1.0 };
    let (told, alarmed) = watched(3, 0..300, |i, n| Some((level(i, n), 3.0)));
    assert!(told.is_empty(), "{told:?}");
    assert!(alarmed[1] > 80 && alarmed[0] + alarmed[2] == 0, "{alarmed:?}");
}

/// Neighbours that shake with a failing bearing do not make its damage a load.
#[test]
fn a_bearing_that_fails_shakes_the_machine_and_is_told() {
    let damage = |n: i64| if n < 200 { 0.0 } else { 0.1 * (0.04 * (n - 200) as f64).exp() };
    let level = |i: usize, n: i64| 1.0 + damage(n) * if i == 0 { 1.0 } else { 0.4 };
    let (told, alarmed) = watched(3, 0..320, |i, n| Some((level(i, n), 3.0 + damage(n).min(2.0))));
    assert!(told.iter().all(|(_, _, change)| change.kind != ChangeKind::Operating), "{told:?}");
    assert!(alarmed[0] > 60, "{alarmed:?}");
}

/// Another bearing, four hours of work, no `relearn`: louder or quieter, it is said and no alarm.
#[test]
fn a_bearing_replaced_without_relearn_is_said() {
    for other in [0.7, 1.45] {
        let at = |i: usize, n: i64| {
            let stands = (300..304).contains(&n);
            (!stands).then_some((if i == 0 && n >= 304 { other } else { 1.0 }, 3.0))
        };
        let (told, alarmed) = watched(2, 0..400, at);
        assert_eq!(alarmed, [0, 0], "× {other}");
        let [(0, 304..312, change)] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!(change.kind, ChangeKind::Replaced);
        assert!((change.level_ratio / other - 1.0).abs() < 0.1, "{change:?}");
    }
    // a damaged one that comes back sound
    let at = |i: usize, n: i64| {
        let damage = if i == 0 && (200..300).contains(&n) { 0.02 * (n - 200) as f64 } else { 0.0 };
        (!(300..304).contains(&n)).then_some((1.0 + damage, 3.0 + damage))
    };
    let (told, alarmed) = watched(2, 0..400, at);
    assert!(told.len() == 1 && told[0].2.kind == ChangeKind::Replaced, "{told:?}");
    assert!(alarmed[0] > 50);
}

/// A stop that changes nothing says nothing, nor does one of a machine whose load differs after it.
#[test]
fn a_stop_by_itself_is_no_news() {
    let at = |_, n: i64| (!(300..304).contains(&n)).then_some((1.0, 3.0));
    assert_eq!(watched(2, 0..400, at), (Vec::new(), vec![0, 0]));
    let lighter =
        |_, n: i64| (!(300..304).contains(&n)).then_some((if n < 300 { 1.0 } else { 0.7 }, 3.0));
    let (told, alarmed) = watched(2, 0..400, lighter);
    assert!(told.iter().all(|(_, _, change)| change.kind == ChangeKind::Operating), "{told:?}");
    assert_eq!(alarmed, [0, 0]);
}

#[test]
fn a_channel_swapped_with_its_neighbour_is_said_and_is_no_anomaly() {
    let level = |i: usize, n: i64| if (n >= 200) == (i == 0) { 2.6 } else { 1.0 };
    let (told, alarmed) = watched(2, 0..300, |i, n| Some((level(i, n), 3.0)));
    assert_eq!(alarmed, [0, 0]);
    let [(0, 200..215, change)] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(change.kind, ChangeKind::Swapped);
    assert_eq!(change.bearings, ["B1".parse().expect("name")]);
}

/// A minute-long window each `period_s` seconds, from `begin_s` on.
fn at_s(seconds: i64, n: i64, level: f64) -> Observation {
    let at = Timestamp::from_unix_ms(1_795_238_000_000 + 1000 * seconds).expect("in range");
    Observation { at, ..hourly(n, 0, level, 3.0) }
}

/// Windows each 10 s, then each 10 min, then once a day: nothing is told of a sound bearing, and
/// the damage of one that fails is.
#[test]
fn a_period_that_changes_tells_nothing_wrong() {
    let run = |level: &dyn Fn(i64) -> f64| {
        let mut monitor = Monitor::new(MonitorSettings::default());
        let (mut seconds, mut told) = (0, Vec::new());
        for n in 0..1500 {
            seconds += if n < 500 {
                10
            } else if n < 1000 {
                600
            } else {
                86_400
            };
            let judgement = monitor.observe(&at_s(seconds, n, level(n)));
            assert_eq!(judgement.change, None, "window {n}");
            told.extend((judgement.anomaly_detected).then_some(n));
        }
        told
    };
    assert!(run(&|_| 1.0).is_empty());
    let late = run(&|n| if n < 1200 { 1.0 } else { (0.02 * (n - 1200) as f64).exp() });
    assert!(late.first().is_some_and(|n| (1200..1250).contains(n)), "{:?}", late.first());
    assert_eq!(late.last(), Some(&1499));
}

/// A clock that jumps ahead by a year and is set right again, and one that is set back by a day.
#[test]
fn a_clock_that_jumps_tells_nothing_wrong() {
    let year_s = 365 * 86_400;
    let jump = |n: i64| match n {
        400..450 => year_s,
        800.. => -86_400,
        _ => 0,
    };
    let run = |level: &dyn Fn(i64) -> f64| {
        let mut monitor = Monitor::new(MonitorSettings::default());
        let judged = (0..1400).map(|n| {
            let judgement = monitor.observe(&at_s(600 * n + jump(n), n, level(n)));
            assert_eq!(judgement.change, None, "window {n}");
            assert!(judgement.rul.hours.is_none_or(|hours| hours < 2000.0), "{:?}", judgement.rul);
            judgement.anomaly_detected
        });
        judged.collect::<Vec<_>>()
    };
    assert!(run(&|_| 1.0).iter().all(|alarmed| !alarmed));
    let fails = run(&|n| 1.0 + 0.02 * (0.008 * (n - 700) as f64).exp());
    assert!(fails.last().is_some_and(|alarmed| *alarmed), "the end is told");
    assert!(fails[..700].iter().all(|alarmed| !alarmed));
}
