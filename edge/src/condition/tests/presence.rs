//! Windows that show no machine in service: standstills and dead sensors.

use super::*;

/// A window of a machine in service at `level` times its usual one, or of one that stands.
fn of(n: i64, level: f64) -> Observation {
    let strayed = 1.0 + 0.03 * noise(n);
    let (rms, velocity) = (0.21 * level * strayed, 1.4 * level.min(2.0) * strayed);
    let features = [("rms_g", rms), ("envelope_rms_g", 0.6 * rms), ("velocity_rms_mm_s", velocity)];
    window(n, "default", &features)
}

/// The level of the sensor's noise, as a share of the usual one.
const STANDS: f64 = 0.004;

/// Takes windows as a point does: what shows no service is not usable.
fn take(monitor: &mut Monitor, mut observation: Observation) -> (bool, Judgement) {
    let is_absent = monitor.shows_no_service("default", &observation.features);
    observation.usable = !is_absent;
    (is_absent, monitor.observe(&observation))
}

/// Three windows on and three off: the damage grew to sixty times its level, and nothing was told
/// of it.
#[test]
fn a_rise_is_told_although_the_machine_stands_in_half_of_the_windows() {
    let mut monitor = Monitor::new(MonitorSettings::default());
    let mut told = None;
    for n in 0..420 {
        let level = match n {
            _ if n / 3 % 2 == 1 => STANDS,
            0..240 => 1.0,
            _ => (0.02 * (n - 240) as f64).exp(),
        };
        let (is_absent, judged) = take(&mut monitor, of(n, level));
        // the first windows of all may be learnt from until others show that they were a standstill
        assert_eq!(is_absent, level == STANDS, "window {n}");
        if judged.anomaly_detected {
            told.get_or_insert(n);
        } else {
            assert!(judged.anomaly.level_ratio.is_none_or(|ratio| ratio < 8.0), "window {n}");
        }
    }
    assert!(told.is_some_and(|n| (240..330).contains(&n)), "{told:?}");
}

#[test]
fn a_baseline_that_began_over_a_standstill_is_that_of_the_machine_in_service() {
    let mut monitor = Monitor::new(MonitorSettings::default());
    for n in 0..12 {
        take(&mut monitor, of(n, STANDS));
    }
    let last = (12..120).map(|n| take(&mut monitor, of(n, 1.0)).1).last().expect("one");
    assert!(!last.anomaly_detected);
    assert!(last.anomaly.level_ratio.is_some_and(|ratio| (0.9..1.1).contains(&ratio)), "{last:?}");
}

/// A sensor whose sensitivity fades is not followed down into its noise.
#[test]
fn a_sensor_that_fades_to_its_noise_shows_no_service_and_its_baseline_stays() {
    let mut monitor = Monitor::new(MonitorSettings::default());
    (0..100).for_each(|n| assert!(!take(&mut monitor, of(n, 1.0)).0));
    (100..160).for_each(|n| drop(take(&mut monitor, of(n, 0.9_f64.powi((n - 99) as i32)))));
    assert!((160..400).all(|n| take(&mut monitor, of(n, STANDS)).0));
}

#[test]
fn a_lighter_load_is_judged_as_before() {
    let mut monitor = Monitor::new(MonitorSettings::default());
    (0..100).for_each(|n| drop(take(&mut monitor, of(n, 1.0))));
    assert!((100..200).all(|n| !take(&mut monitor, of(n, 0.2)).0));
}

/// A rise of a twentieth over days is how sound machines wander.
#[test]
fn a_rise_within_a_tenth_of_the_level_is_no_trend() {
    let direction = |rise: f64| {
        let mut monitor = Monitor::new(MonitorSettings::default());
        let level = |n: i64| 1.0 + rise * (n - 300).max(0) as f64 / 100.0;
        let judged = (0..400).map(|n| monitor.observe(&of(n, level(n)))).last();
        judged.expect("one").trend.trend_direction
    };
    assert_eq!(direction(0.05), TrendDirection::Stable);
    assert_eq!(direction(0.5), TrendDirection::Rising);
}
