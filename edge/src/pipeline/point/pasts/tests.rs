//! Claims about what a point keeps of the time in which its baseline was learnt.

use pdm_dsp::{DefectOrders, Request};
use pdm_shared::units::Rpm;

use super::*;
use crate::condition::MonitorSettings;

fn settings() -> PointSettings {
    PointSettings {
        channel: 0,
        equipment: "P-101".parse().expect("name"),
        bearing: "DE".parse().expect("name"),
        measuring_point: None,
        orders: DefectOrders::new(3.585, 5.415, 2.357, 0.398).expect("valid"),
        order_tolerance: 0.015,
        estimate: None,
        speed: Rpm::new(1797.0).expect("valid"),
        speed_tolerance: 0.05,
        tachometer_ratio: 1.0,
        speed_bins: Vec::new(),
        envelope_band: None,
        zones: None,
        monitor: MonitorSettings::default(),
    }
}

fn rate(hz: f64) -> SampleRate {
    SampleRate::new(hz).expect("valid")
}

/// A look at four seconds of noise.
fn look(seed: u64, against: Against<'_>) -> (Findings, Option<Past>) {
    let mut state = seed * 7919 + 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as f64 / u64::MAX as f64 - 0.5
    };
    let noise: Vec<f64> = (0..25_600).map(|_| (0..6).map(|_| next()).sum()).collect();
    let request = Request::new(rate(6400.0), settings().speed, settings().orders);
    pdm_dsp::diagnose::diagnose_against(&noise, &request, against).expect("measurable")
}

fn learnt(looks: u64) -> Pasts {
    let mut pasts = Pasts::new(rate(6400.0), &settings());
    for seed in 0..looks {
        let (findings, shown) = look(seed, pasts.against("default", Stage::Learning, rate(6400.0)));
        pasts.learn("default", shown, &findings);
    }
    pasts
}

/// A learnt past survives a restart, below 25 kB a state, and does not apply to another bearing.
#[test]
fn a_past_is_restored_for_the_same_bearing_and_rate_alone() {
    let mut pasts = learnt(3);
    let kept = pasts.changed().expect("something was learnt");
    assert_eq!(pasts.changed(), None, "it is written once");
    assert!(kept.len() <= 25_000, "{} bytes", kept.len());
    let restored = |rate, settings: &PointSettings| {
        let mut restored = Pasts::new(rate, settings);
        restored.restore(&kept).expect("its own form");
        restored.of_state
    };
    assert_eq!(restored(rate(6400.0), &settings()), pasts.of_state);
    assert!(restored(rate(12_800.0), &settings()).is_empty());
    let orders = DefectOrders::new(3.054, 4.946, 1.997, 0.382).expect("valid");
    assert!(restored(rate(6400.0), &PointSettings { orders, ..settings() }).is_empty());
    assert!(Pasts::new(rate(6400.0), &settings()).restore(b"{}").is_err());
}

#[test]
fn a_look_is_held_against_the_past_once_the_baseline_is_complete() {
    let pasts = learnt(2);
    let against = |state, stage, hz| pasts.against(state, stage, rate(hz));
    assert!(
        matches!(against("default", Stage::Judging, 6400.0), Against::Past(p) if p.looks() == 2)
    );
    assert!(matches!(against("default", Stage::Learning, 6400.0), Against::Learning));
    assert!(matches!(against("default", Stage::Judging, 25_600.0), Against::Nothing));
    assert!(matches!(against("another", Stage::Judging, 6400.0), Against::Nothing));
}

/// Issue of a bearing that was damaged when the sensor was mounted: its lines are not taken for its
/// health.
#[test]
fn a_part_that_is_named_while_the_baseline_is_learnt_stays_named() {
    let mut pasts = learnt(1);
    let (findings, shown) = look(9, Against::Learning);
    let named = Findings { dominant: Some(pdm_shared::fault::Fault::OuterRace), ..findings };
    pasts.learn("default", shown.clone(), &named);
    assert!(matches!(pasts.against("default", Stage::Judging, rate(6400.0)), Against::Nothing));
    let sound = Findings { dominant: None, ..named };
    pasts.learn("default", shown, &sound);
    assert!(matches!(pasts.against("default", Stage::Learning, rate(6400.0)), Against::Nothing));
    let mut restored = Pasts::new(rate(6400.0), &settings());
    restored.restore(&pasts.changed().expect("it changed")).expect("its own form");
    assert_eq!(restored.of_state, pasts.of_state);
}

#[test]
fn what_was_learnt_is_forgotten_with_the_baselines() {
    let mut pasts = learnt(1);
    pasts.forget();
    let kept = pasts.changed().expect("an empty one is written");
    let mut restored = learnt(1);
    restored.restore(&kept).expect("its own form");
    assert!(restored.of_state.is_empty());
}
