//! The promises of a monitor over many windows.

use proptest::prelude::*;

use pdm_shared::event::TrendDirection;

use super::*;

mod machine;
mod presence;

fn window(n: i64, state: &str, features: &[(&str, f64)]) -> Observation {
    Observation {
        at: Timestamp::from_unix_ms(n * 600_000).expect("in range"),
        state: state.to_owned(),
        usable: true,
        turns_per_h: None,
        features: features.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect(),
    }
}

/// Reproducible noise of about one standard deviation.
fn noise(n: i64) -> f64 {
    let hash = (n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let unit = |bits: u64| (bits & 0xFFFF) as f64 / 65_536.0 - 0.5;
    2.0 * (unit(hash >> 16) + unit(hash >> 32) + unit(hash >> 48))
}

fn rms(n: i64, level: f64) -> Observation {
    window(n, "default", &[("rms_g", level * (1.0 + 0.03 * noise(n)))])
}

/// R-EDGE-6.
#[test]
fn a_step_that_stays_is_an_anomaly_and_a_spike_is_not() {
    let mut monitor = Monitor::new(MonitorSettings::default());
    let completed = (0..100).filter(|&n| monitor.observe(&rms(n, 1.0)).baseline_completed).count();
    assert_eq!(completed, 1);
    assert!(!monitor.observe(&rms(100, 9.0)).anomaly_detected);
    assert!((101..140).all(|n| !monitor.observe(&rms(n, 1.0)).anomaly_detected));
    let last = (140..160).map(|n| monitor.observe(&rms(n, 3.0))).last().expect("one");
    assert!(last.anomaly_detected);
    assert_eq!(last.anomaly.contributors, ["rms_g"]);
    assert!(last.anomaly.score.is_some_and(|score| score > 0.5));
}

/// The limit that is told is the one that windows are counted by, of levels and of velocities, of
/// which a change has to matter.
#[test]
fn a_window_counts_above_the_limit_that_is_told_and_not_below() {
    for key in ["rms_g", "velocity_rms_mm_s"] {
        let one = |n: i64, value: f64| window(n, "default", &[(key, value)]);
        let healthy = |n| one(n, 0.2 * (1.0 + 0.03 * noise(n)));
        let counted = |times: f64| {
            let mut monitor = Monitor::new(MonitorSettings::default());
            assert_eq!(monitor.observe(&healthy(0)).trend.baseline_limit, None, "not learnt");
            let learnt = (1..200).map(|n| monitor.observe(&healthy(n))).last().expect("one").trend;
            let limit = learnt.baseline_limit.expect("learnt");
            assert_eq!(learnt.feature, key);
            assert!(learnt.baseline_level.is_some_and(|level| (0.19..0.21).contains(&level)));
            monitor.observe(&one(200, times * limit)).anomaly.persistence.k
        };
        assert_eq!((counted(0.999), counted(1.001)), (0, 1), "{key}");
    }
}

#[test]
fn ten_thousand_healthy_windows_raise_nothing() {
    let mut monitor = Monitor::new(MonitorSettings::default());
    assert!((0..10_000).all(|n| !monitor.observe(&rms(n, 1.0)).anomaly_detected));
}

#[test]
fn a_change_of_operating_state_is_no_anomaly() {
    let mut monitor = Monitor::new(MonitorSettings::default());
    let judged: Vec<Judgement> = (0..600)
        .map(|n| {
            let (state, level) = if n / 150 % 2 == 0 { ("slow", 1.0) } else { ("fast", 2.5) };
            monitor.observe(&window(n, state, &[("rms_g", level * (1.0 + 0.03 * noise(n)))]))
        })
        .collect();
    assert!(judged.iter().all(|judgement| !judgement.anomaly_detected));
    assert_eq!(judged.iter().filter(|judgement| judgement.baseline_completed).count(), 2);
    assert_eq!(judged[599].trend.trend_direction, TrendDirection::Stable);
}

#[test]
fn the_baseline_waits_for_the_end_of_the_run_in() {
    let mut monitor = Monitor::new(MonitorSettings::default());
    let run_in = |n: i64| 1.0 + (-(n as f64) / 40.0).exp();
    let ready = (0..200).position(|n| monitor.observe(&rms(n, run_in(n))).baseline_completed);
    assert!(ready.is_some_and(|n| n > 80), "{ready:?}");
    // 45 % above the settled level, 25 % below the first windows'
    let last = (200..230).map(|n| monitor.observe(&rms(n, 1.45))).last().expect("one");
    assert!(last.anomaly_detected);
}

/// A level below the least ratio is no alarm, however little it strays.
#[test]
fn a_level_a_fifth_above_its_baseline_is_none_of_staffs_business() {
    let mut monitor = Monitor::new(MonitorSettings::default());
    (0..100).for_each(|n| drop(monitor.observe(&rms(n, 1.0))));
    assert!((100..400).all(|n| !monitor.observe(&rms(n, 1.2)).anomaly_detected));
}

/// A historian's level below the least effect is no alarm, however little it strays: seven weeks of
/// NASA/IMS test 3 alarmed at 1.06 to 1.08. What is no level is judged by its own scatter, and so
/// is a level whose bearing is singled out by others.
#[test]
fn a_historians_level_alarms_from_an_effect_on_that_somebody_would_act_on() {
    let alarms = |key: &str, ratio: f64, is_singled_out: bool| {
        let mut monitor = Monitor::new(MonitorSettings::default());
        monitor.single_out(is_singled_out);
        let one =
            |n: i64, level: f64| window(n, "default", &[(key, level * (1.0 + 0.005 * noise(n)))]);
        (0..100).for_each(|n| drop(monitor.observe(&one(n, 1.0))));
        (100..400).any(|n| monitor.observe(&one(n, ratio)).anomaly_detected)
    };
    assert!(!alarms("DE_overall", 1.2, false) && alarms("DE_overall", 1.3, false));
    assert!(
        !alarms("DE_energy", 1.5, false) && alarms("DE_energy", 1.6, false),
        "the square of it"
    );
    assert!(alarms("DE_overall", 1.1, true), "the bearing's own lines alarm");
    assert!(alarms("DE_temperature", 1.1, false) && alarms("DE_env_bpfo_energy", 1.3, false));
}

/// NASA/IMS test 1: the machine stood for six days and came back a fifth louder for good.
#[test]
fn levels_after_a_long_standstill_are_learnt_anew_within_reach_of_the_first() {
    let raised = |gap: i64, level: f64| {
        let mut monitor = Monitor::new(MonitorSettings::default());
        let column = |n, level: f64| {
            window(n, "default", &[("bearing_1", level * (1.0 + 0.006 * noise(n)))])
        };
        (0..150).for_each(|n| drop(monitor.observe(&column(n, 1.0))));
        let after = 150 + gap..650 + gap;
        after.filter(|&n| monitor.observe(&column(n, level)).anomaly_detected).count()
    };
    // windows every ten minutes: 1,000 are a week
    assert_eq!(raised(1000, 1.28), 0);
    assert!(raised(1000, 1.4) > 400, "strong evidence alarms in the hold-back, too");
    assert!(raised(10, 1.28) > 400, "a stop of two hours changes no bearing");
}

/// A load that comes for the first time after a standstill and goes again: learnt in one block with
/// the levels without it, its spread hid a damage until it had grown to five times the healthy
/// level.
#[test]
fn a_load_that_comes_and_goes_after_a_standstill_is_not_learnt_as_scatter() {
    let mut monitor = Monitor::new(MonitorSettings::default());
    let level = |n: i64| {
        let load = if n >= 260 && (n - 260) / 14 % 2 == 0 { 1.6 } else { 1.0 };
        load * (1.0 + 0.1 * (0.02 * (n - 320) as f64).exp())
    };
    let alarmed: Vec<i64> = (0..460)
        .filter(|n| !(200..260).contains(n))
        .filter(|&n| monitor.observe(&full(n, level(n), 3.0)).anomaly_detected)
        .collect();
    // the damage alone is 0.5 of the healthy level at hour 400, 1.1 at hour 440
    let first = alarmed.first().copied().expect("told");
    assert!((300..430).contains(&first), "{first}");
    assert_eq!(alarmed.last(), Some(&459), "{alarmed:?}");
}

/// Levels that are learnt anew after a standstill may hold damage: they raise no alarm, but hide
/// nothing of the level once an alarm stands.
#[test]
fn after_a_standstill_the_level_is_told_against_the_first_one() {
    let mut monitor = Monitor::new(MonitorSettings::default());
    (0..150).for_each(|n| drop(monitor.observe(&rms(n, 1.0))));
    assert!((1150..1350).all(|n| !monitor.observe(&rms(n, 1.25)).anomaly_detected));
    let last = (1350..1380).map(|n| monitor.observe(&rms(n, 2.2))).last().expect("one");
    let ratio = last.anomaly.level_ratio.expect("told");
    assert!(last.anomaly_detected && (2.1..2.3).contains(&ratio), "{ratio}");
}

/// Seasons move a level by a fifth in a hundred days; damage is ten times as fast.
#[test]
fn a_season_is_followed_and_damage_is_not() {
    let raised = |per_day: f64| {
        let mut monitor = Monitor::new(MonitorSettings::default());
        (0..100 * 24).any(|hour| {
            let level = (per_day * hour as f64 / 24.0).exp() * (1.0 + 0.03 * noise(hour));
            monitor.observe(&window(6 * hour, "default", &[("rms_g", level)])).anomaly_detected
        })
    };
    assert!(!raised(0.002));
    assert!(raised(0.02));
}

#[test]
fn a_window_that_is_not_usable_changes_neither_alarm_nor_baseline() {
    let mut monitor = Monitor::new(MonitorSettings::default());
    let bad = |n| Observation { usable: false, ..rms(n, 50.0) };
    for n in 0..40 {
        assert_eq!(monitor.observe(&bad(n)).anomaly.baseline.windows, 0);
    }
    (40..120).for_each(|n| assert!(!monitor.observe(&rms(n, 1.0)).anomaly_detected));
    (120..160).for_each(|n| assert!(!monitor.observe(&bad(n)).anomaly_detected));
    (160..180).for_each(|n| drop(monitor.observe(&rms(n, 2.0))));
    let judgement = monitor.observe(&bad(180));
    assert!(judgement.anomaly_detected && judgement.anomaly.score.is_none());
    assert!(judgement.rul.unknown.is_some());
}

/// A window each hour with all the levels and shapes of the contract.
fn full(n: i64, level: f64, kurtosis: f64) -> Observation {
    let noisy = |of: i64, scatter: f64| 1.0 + scatter * noise(3 * n + of);
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

/// Hours with an alarm while a load comes for 20 h and goes for 20 h from hour 200 on.
fn alarmed_hours(level: impl Fn(i64) -> f64, kurtosis: impl Fn(i64) -> f64) -> usize {
    let mut monitor = Monitor::new(MonitorSettings::default());
    (0..900).filter(|&n| monitor.observe(&full(n, level(n), kurtosis(n))).anomaly_detected).count()
}

fn loaded(n: i64) -> f64 {
    if n >= 200 && n / 20 % 2 == 0 { 1.5 } else { 1.0 }
}

/// R-EDGE-6: a machine whose load changes moves its levels at once and brings them back.
#[test]
fn a_load_that_no_key_announces_is_a_state_of_its_own() {
    assert_eq!(alarmed_hours(loaded, |_| 3.0), 0);
}

/// The level of the second load is no excuse for a level that creeps up to it.
#[test]
fn damage_is_found_in_a_machine_whose_load_changes() {
    let growth = |n: i64| if n < 600 { 1.0 } else { (0.003 * (n - 600) as f64).exp() };
    assert!(alarmed_hours(|n| loaded(n) * growth(n), |_| 3.0) > 100);
    assert!(alarmed_hours(growth, |_| 3.0) > 100);
}

/// A step that comes with impacts is damage: a spall breaks out within one window, too.
#[test]
fn a_step_with_impacts_is_an_anomaly() {
    let broken = |before: f64, after: f64| move |n: i64| if n < 200 { before } else { after };
    assert!(alarmed_hours(broken(1.0, 1.5), broken(3.0, 4.5)) > 600);
    assert_eq!(alarmed_hours(broken(1.0, 1.5), |_| 3.0), 0);
    assert!(alarmed_hours(broken(1.0, 2.2), |_| 3.0) > 600, "6 dB are no load");
}

/// A load that the machine has not run before is no cover for a bearing that fails under it.
#[test]
fn a_level_that_doubles_while_its_state_is_learnt_is_an_anomaly() {
    let hours = |growth: f64| {
        let mut monitor = Monitor::new(MonitorSettings::default());
        let state = |n: i64| if n < 100 { "light" } else { "heavy" };
        let level = |n: i64| if n < 100 { 1.0 } else { 2.5 * (growth * (n - 100) as f64).exp() };
        let one = |n: i64| Observation { state: state(n).to_owned(), ..full(n, level(n), 3.0) };
        (0..140).filter(|&n| monitor.observe(&one(n)).anomaly_detected).count()
    };
    assert_eq!(hours(0.0), 0);
    assert!(hours(0.08) > 20);
}

/// A level that grows in a state that has no baseline yet is told as a multiple of the state's
/// first windows: without it the risk could not follow the growth.
#[test]
fn the_growth_in_a_state_that_is_learnt_is_told_as_its_level() {
    let mut monitor = Monitor::new(MonitorSettings::default());
    let one = |n: i64| {
        let (state, level) =
            if n < 100 { ("light", 1.0) } else { ("heavy", 2.5 * (0.08 * (n - 100) as f64).exp()) };
        Observation { state: state.to_owned(), ..full(n, level, 3.0) }
    };
    let ratios: Vec<(bool, Option<f64>)> = (0..124)
        .map(|n| monitor.observe(&one(n)))
        .map(|judgement| (judgement.anomaly_detected, judgement.anomaly.level_ratio))
        .collect();
    // 2.5 is no growth: nothing compares one state's level with another's
    assert!(ratios[100..].iter().all(|(alarmed, ratio)| *alarmed == ratio.is_some()), "{ratios:?}");
    assert!(ratios[123].1.is_some_and(|ratio| (4.5..6.5).contains(&ratio)), "{:?}", ratios[123]);
    let unusable = monitor.observe(&Observation { usable: false, ..one(124) });
    assert!(unusable.anomaly_detected && unusable.anomaly.level_ratio.is_none());
}

/// A bearing that seizes within hours is told before the run rules have their windows.
#[test]
fn a_level_that_doubles_within_three_hourly_windows_is_told() {
    let surge = |n: i64| 1.6_f64.powi((n - 300).clamp(0, 6) as i32);
    let mut monitor = Monitor::new(MonitorSettings::default());
    let told = (0..310).find(|&n| monitor.observe(&full(n, surge(n), 3.0)).anomaly_detected);
    assert!(told.is_some_and(|n| (302..304).contains(&n)), "{told:?}");
}

/// The condition is time and turns of the shaft, not a count of windows.
#[test]
fn a_level_that_has_doubled_is_told_within_a_minute_or_its_turns_whatever_the_period() {
    let told_after = |period_s: i64, turns_per_h: f64| {
        let mut monitor = Monitor::new(MonitorSettings::default());
        let one = |n: i64| {
            let at = Timestamp::from_unix_ms(1_795_238_000_000 + 1000 * period_s * n);
            let level = if n < 100 { 1.0 } else { 2.4 };
            let at = at.expect("in range");
            Observation { at, turns_per_h: Some(turns_per_h), ..full(n, level, 3.0) }
        };
        (0..400).find(|&n| monitor.observe(&one(n)).anomaly_detected).map(|n| n - 99)
    };
    let fast = 60.0 * 1500.0;
    assert_eq!(told_after(10, fast), Some(6), "the shortest run rule is a minute");
    assert_eq!(told_after(60, fast), Some(3));
    assert_eq!(told_after(3600, fast), Some(3));
    // 10 rpm: 500 turns take 50 minutes
    assert!(told_after(60, 600.0).is_some_and(|windows| windows >= 50));
}

/// R-EDGE-8: φ 1 g, growth 0.02 per window of ten minutes, failure at five times the baseline.
#[test]
fn an_exponential_life_is_told_once_it_grows_and_not_before() {
    let mut monitor = Monitor::new(MonitorSettings::default());
    let level = |n: i64| 1.0 + 0.01 * (0.02 * (n - 200) as f64).exp();
    let end = 200.0 + (400.0_f64).ln() / 0.02;
    let mut told = Vec::new();
    for n in 0..490 {
        let judgement = monitor.observe(&rms(n, level(n)));
        if let Some(hours) = judgement.rul.hours {
            let bounds = judgement.rul.ci_low_hours.zip(judgement.rul.ci_high_hours);
            let (low, high) = bounds.expect("bounds");
            told.push((n, (end - n as f64) / 6.0, low, hours, high));
        }
    }
    assert!(told.first().is_some_and(|first| first.0 > 300), "{:?}", told.first());
    assert!(told.len() > 50, "{}", told.len());
    let covered = told.iter().filter(|(_, left, low, _, high)| low <= left && left <= high);
    assert!(covered.count() * 10 >= told.len() * 8, "{told:?}");
}

#[test]
fn the_state_stays_below_64_kib_whatever_comes() {
    let mut monitor = Monitor::new(MonitorSettings::default());
    for n in 0..4_000 {
        let keys: Vec<String> = (0..40).map(|key| format!("feature_{key}_{}", n % 3)).collect();
        let features: Vec<(&str, f64)> =
            keys.iter().map(|key| (key.as_str(), 1.0 + 0.03 * noise(n))).collect();
        monitor.observe(&window(n, &format!("state {}", n % 11), &features));
    }
    let size = serde_json::to_string(&monitor).expect("writes").len();
    assert!(size < 65_536, "{size} bytes");
}

/// The memory of a monitor of an earlier version is continued.
#[test]
fn a_state_without_the_newer_fields_is_read_and_goes_on() {
    let mut monitor = Monitor::new(MonitorSettings::default());
    (0..80).for_each(|n| drop(monitor.observe(&rms(n, 1.0))));
    (80..100).for_each(|n| drop(monitor.observe(&rms(n, 3.0))));
    let mut old = serde_json::to_value(&monitor).expect("writes");
    let mut forget = |place: &str, keys: &[&str]| {
        let fields = old.pointer_mut(place).and_then(|value| value.as_object_mut());
        let fields = fields.expect("an object");
        for key in keys {
            assert!(fields.remove(*key).is_some(), "{place}/{key}");
        }
    };
    forget("", &["last_usable", "usual_gap_h"]);
    forget("/detector", &["hours", "held_since_h"]);
    forget("/detector/alarm", &["raised"]);
    forget("/baselines/default", &["resettling", "block_since_h"]);
    forget(
        "/settings",
        &["level_ratio", "strong_ratio", "least_turns", "standstill_h", "drift_per_day"],
    );
    let mut read: Monitor = serde_json::from_value(old).expect("reads");
    assert!((100..120).all(|n| read.observe(&rms(n, 3.0)).anomaly_detected));
    assert!(!(120..200).map(|n| read.observe(&rms(n, 1.0)).anomaly_detected).last().expect("one"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// R-EDGE-7: survives restarts.
    #[test]
    fn a_monitor_that_was_written_and_read_continues_as_if_nothing_had_happened(
        restarts in prop::collection::vec(0_i64..400, 1..4), growth in 0.0_f64..0.02
    ) {
        let mut through = Monitor::new(MonitorSettings::default());
        let mut restarted = through.clone();
        for n in 0..400 {
            let level = 1.0 + 0.05 * (growth * n as f64).exp();
            let observation = window(n, "default", &[
                ("rms_g", level * (1.0 + 0.03 * noise(n))),
                ("kurtosis", 3.0 + 0.1 * noise(n + 7)),
            ]);
            prop_assert_eq!(through.observe(&observation), restarted.observe(&observation));
            if restarts.contains(&n) {
                let text = serde_json::to_string(&restarted).expect("writes");
                restarted = serde_json::from_str(&text).expect("reads");
            }
        }
    }

    #[test]
    fn no_values_at_all_make_it_panic_or_say_what_is_no_number(
        values in prop::collection::vec((any::<f64>(), any::<f64>(), any::<bool>()), 0..300)
    ) {
        let mut monitor = Monitor::new(MonitorSettings::default());
        for (n, (a, b, usable)) in (0_i64..).zip(&values) {
            let observation = window(n, "default", &[("rms_g", *a), ("x", *b)]);
            let judgement = monitor.observe(&Observation { usable: *usable, ..observation });
            prop_assert!(judgement.anomaly.score.is_none_or(|s| (0.0..=1.0).contains(&s)));
            prop_assert!(judgement.trend.slope.is_none_or(f64::is_finite));
            prop_assert!(judgement.rul.hours.is_none_or(f64::is_finite));
        }
    }
}
