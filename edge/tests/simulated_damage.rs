//! Tests the thorough path on simulated damage that no recording at hand shows: a cage, two
//! elements at once, a bearing other than the configured one.

use pdm_dsp::diagnose::{Against, Past, diagnose_against, past_of};
use pdm_dsp::{DefectOrders, Findings, Geometry, Request, Undetermined, diagnose};
use pdm_edge::source::Source;
use pdm_edge::source::simulator::{Course, Simulator, SimulatorSettings};
use pdm_shared::fault::Fault;
use pdm_shared::units::{Rpm, SampleRate};

/// Elements, element and pitch diameter (mm) of a 6205 and a 6203.
const DRIVE_END: (u32, f64, f64) = (9, 7.94, 39.04);
const FAN_END: (u32, f64, f64) = (8, 6.746, 28.5);

fn orders((elements, diameter, pitch): (u32, f64, f64)) -> DefectOrders {
    Geometry::new(elements, diameter, pitch, 0.0).expect("a bearing").orders()
}

/// Returns a record of `seconds` seconds at 1797 rpm.
fn record(
    fault: impl Into<Option<Fault>>,
    orders: DefectOrders,
    severity: f64,
    seconds: f64,
    seed: u64,
) -> Vec<f64> {
    let rate = SampleRate::new(20_000.0).expect("valid");
    let mut settings = SimulatorSettings::new(rate, Rpm::new(1797.0).expect("valid"), orders);
    settings.fault = fault.into();
    settings.course = Course::Constant { severity };
    settings.snapshots = 1;
    settings.snapshot_s = seconds;
    settings.seed = seed;
    settings.rig.speed_wander_ratio = 0.0005;
    let block = Simulator::new(settings).expect("valid").next_block().expect("simulates");
    block.expect("one snapshot").accel_m_s2.row(0).to_vec()
}

fn request(orders: DefectOrders) -> Request {
    let rate = SampleRate::new(20_000.0).expect("valid");
    Request::new(rate, Rpm::new(1797.0).expect("valid"), orders)
}

fn judged(accel_m_s2: &[f64], orders: DefectOrders) -> Findings {
    diagnose(accel_m_s2, &request(orders)).expect("measurable")
}

/// R-EDGE-4. Impacts of the cage with slip, in windows of eight seconds (240 turns). No recording
/// of a damaged cage is at hand, and every real one that shows such a comb is a damaged rolling
/// element's: one record tells the comb and names nothing.
#[test]
fn a_cage_that_strikes_is_told_and_never_named_from_one_record() {
    let orders = orders(DRIVE_END);
    let findings: Vec<Findings> = (0..10)
        .map(|seed| judged(&record(Fault::Cage, orders, 0.3, 8.0, 700 + seed), orders))
        .collect();
    let told = findings.iter().filter(|f| f.undetermined == Some(Undetermined::CageLines)).count();
    assert!(told >= 8, "{told} of 10");
    assert!(findings.iter().all(|f| f.dominant.is_none()));
}

/// R-EDGE-4. The same comb that is new since a sound record of the point is a rolling element's, or
/// the cage's own; one that stood already is told as no news.
#[test]
fn a_comb_of_the_cage_that_is_new_since_the_baseline_names_the_rolling_element() {
    let orders = orders(DRIVE_END);
    let request = request(orders);
    let past = |accel: &[f64]| {
        let (_, past) = past_of(accel, request.rate, &request).expect("measurable");
        past.expect("a record of 240 turns")
    };
    let judged = |accel: &[f64], past: &Past| {
        diagnose_against(accel, &request, Against::Past(past)).expect("measurable").0
    };
    let (sound, comb) =
        (record(None, orders, 0.3, 8.0, 600), record(Some(Fault::Cage), orders, 0.3, 8.0, 700));
    let new = judged(&comb, &past(&sound));
    assert_eq!(new.dominant, Some(Fault::Ball), "{:?}", new.undetermined);
    assert!(new.new_comb_db.is_some_and(|db| db >= 7.0), "{:?}", new.new_comb_db);
    assert!(new.stood.is_empty());
    let stood = judged(&record(Some(Fault::Cage), orders, 0.3, 8.0, 701), &past(&comb));
    assert_eq!((stood.dominant, stood.new_comb_db), (None, None));
    assert!(stood.stood.iter().any(|(fault, _)| *fault == Fault::Cage), "{:?}", stood.stood);
    assert_eq!(judged(&sound, &past(&sound)).dominant, None);
}

/// R-EDGE-4. Both races damaged: both are told, and neither where one alone is.
#[test]
fn two_damaged_races_are_told_as_two() {
    let orders = orders(DRIVE_END);
    let mut told = 0;
    for seed in 0..5 {
        let outer = record(Fault::OuterRace, orders, 0.35, 5.0, 800 + seed);
        let inner = record(Fault::InnerRace, orders, 0.45, 5.0, 900 + seed);
        let both: Vec<f64> = outer.iter().zip(&inner).map(|(a, b)| a + b).collect();
        let findings = judged(&both, orders);
        let mut named = vec![findings.dominant, findings.second.map(|(fault, _)| fault)];
        named.sort_by_key(|fault| fault.map(Fault::as_str));
        told += usize::from(named == [Some(Fault::InnerRace), Some(Fault::OuterRace)]);
        for (alone, fault) in [(&outer, Fault::OuterRace), (&inner, Fault::InnerRace)] {
            let findings = judged(alone, orders);
            assert!(findings.dominant.is_none_or(|named| named == fault), "seed {seed}");
            assert_eq!(findings.second, None, "seed {seed}: {fault:?} alone");
        }
    }
    assert!(told >= 4, "{told} of 5");
}

/// A wrong bearing in the configuration: a hint with the order of the lines, and no name.
#[test]
fn lines_of_another_bearing_are_a_hint_and_no_name() {
    let (own, other) = (orders(DRIVE_END), orders(FAN_END));
    let mut hinted = 0;
    for seed in 0..5 {
        let accel = record(Fault::OuterRace, other, 0.4, 5.0, 950 + seed);
        assert_eq!(judged(&accel, other).dominant, Some(Fault::OuterRace), "seed {seed}");
        let findings = judged(&accel, own);
        assert_eq!(findings.dominant, None, "seed {seed}");
        let is_told =
            findings.stranger.is_some_and(|order| (order / other.bpfo.get() - 1.0).abs() < 0.015);
        hinted += usize::from(is_told);
    }
    assert!(hinted >= 4, "{hinted} of 5");
}
