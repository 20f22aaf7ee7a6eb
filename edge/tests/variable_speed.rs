//! R-EDGE-1, R-EDGE-6: a machine whose speed changes, from the samples to the events.

use std::f64::consts::TAU;
use std::path::Path;
use std::sync::Arc;

use ndarray::{Array2, Axis};
use pdm_dsp::DefectOrders;
use pdm_edge::condition::MonitorSettings;
use pdm_edge::pipeline::measure_all;
use pdm_edge::settings::{EdgeSettings, Pace, PointSettings, SourceSettings, Tachometer, Timing};
use pdm_edge::source::{AccelUnit, Calibration, RecordingOptions, SourceInput};
use pdm_service::clock::SystemClock;
use pdm_shared::event::{BaselineState, Event, SpeedSource};
use pdm_shared::fault::Fault;
use pdm_shared::units::{Rpm, SampleRate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const RATE_HZ: f64 = 20_000.0;
const BPFO: f64 = 3.585;

/// One window of a bearing with a damaged outer race, m/s²: channel 0 the vibration, channel 1 a
/// tachometer with two pulses a turn. The speed changes evenly between the two given, Hz.
fn window(seed: u64, (from_hz, to_hz): (f64, f64), seconds: f64) -> Array2<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let samples = (seconds * RATE_HZ) as usize;
    let turns = |t: f64| from_hz * t + 0.5 * (to_hz - from_hz) / seconds * t * t;
    let (mut strikes, mut since) = (0.0, 1.0);
    Array2::from_shape_fn((2, samples), |(channel, i)| {
        let t = i as f64 / RATE_HZ;
        if channel == 1 {
            return if (2.0 * turns(t)).fract() < 0.2 { 5.0 } else { 0.0 };
        }
        since += 1.0 / RATE_HZ;
        if turns(t) * BPFO >= strikes {
            strikes += 1.0;
            since = 0.0;
        }
        let ring = 6.0 * (-900.0 * since).exp() * (TAU * 4200.0 * since).sin();
        let noise: f64 = (0..6).map(|_| random.random_range(-0.5..0.5)).sum();
        ring + noise
    })
}

/// A recording of one window for each pair of speeds.
fn recorded(file: &Path, speeds_hz: &[(f64, f64)], seconds: f64) -> SourceInput {
    let windows: Vec<Array2<f64>> =
        (0..).zip(speeds_hz).map(|(seed, speeds)| window(seed, *speeds, seconds)).collect();
    let views: Vec<_> = windows.iter().map(|window| window.view()).collect();
    let snapshots = ndarray::stack(Axis(0), &views).expect("all of one shape");
    ndarray_npy::write_npy(file, &snapshots).expect("written");
    let calibration = Calibration::new(AccelUnit::MetrePerSecondSquared, 1.0, 0.0);
    let options = RecordingOptions {
        sample_rate: SampleRate::new(RATE_HZ).ok(),
        calibrations: vec![calibration.expect("valid")],
        ..RecordingOptions::default()
    };
    SourceInput::Recording { files: vec![file.to_owned()], options: Box::new(options) }
}

fn measured(
    speeds_hz: Vec<(f64, f64)>,
    seconds: f64,
    tachometer: Option<Tachometer>,
    bins_rpm: &[f64],
) -> Vec<Event> {
    let folder = tempfile::tempdir().expect("folder");
    let point = PointSettings {
        channel: 0,
        equipment: "P-101".parse().expect("name"),
        bearing: "DE".parse().expect("name"),
        measuring_point: None,
        orders: DefectOrders::new(BPFO, 5.415, 2.357, 0.398).expect("valid"),
        order_tolerance: 0.02,
        estimate: None,
        speed: Rpm::from_shaft_hz(25.0).expect("valid"),
        speed_tolerance: 0.02,
        tachometer_ratio: 1.0,
        speed_bins: bins_rpm.iter().map(|rpm| Rpm::new(*rpm).expect("valid")).collect(),
        envelope_band: None,
        zones: None,
        monitor: MonitorSettings { baseline_windows: 10, ..MonitorSettings::default() },
    };
    let source = SourceSettings {
        name: "rig".to_owned(),
        input: recorded(&folder.path().join("rig.npy"), &speeds_hz, seconds),
        pace: Pace::AsFastAsItGoes,
        timing: Timing { started_at: None, period_s: Some(7200.0) },
        points: vec![point],
        window: None,
        every: None,
        tachometer,
        speed_tag: None,
    };
    let (gateway, site) = ("gw".parse().expect("name"), "site".parse().expect("name"));
    let settings = EdgeSettings::embedded(gateway, site, "", 0, "", vec![source]);
    let mut events = Vec::new();
    let mut each = |event: &Event, _expected: Option<u64>| {
        events.push(event.clone());
        Ok(())
    };
    measure_all(&settings, Arc::new(SystemClock), &mut each).expect("measures to its end");
    events
}

/// From 20 to 30 Hz within the window: without the angle the lines smear over a third of their
/// frequency.
#[test]
fn a_fault_is_named_on_a_ramp_by_the_tachometer_and_not_without_it() {
    let ramp = vec![(20.0, 30.0)];
    let tachometer = Some(Tachometer { channel: 1, pulses_per_turn: 2 });
    let with = &measured(ramp.clone(), 4.0, tachometer, &[])[0];
    assert_eq!(with.operating.speed_source, SpeedSource::Tachometer);
    let rpm = with.operating.shaft_speed_rpm.expect("runs");
    assert!((rpm - 1500.0).abs() < 3.0, "{rpm}");
    assert_eq!(with.frequency_domain.dominant_fault, Some(Fault::OuterRace), "{with:#?}");
    let found = with.frequency_domain.bpfo.order.expect("found");
    assert!((found / BPFO - 1.0).abs() < 0.003, "{found}");
    let without = &measured(ramp, 4.0, None, &[])[0];
    assert_ne!(without.frequency_domain.dominant_fault, Some(Fault::OuterRace));
}

/// R-EDGE-6: each speed has its own baseline, and a change between them is no anomaly.
#[test]
fn speeds_of_different_bins_have_baselines_of_their_own() {
    let speeds = (0..60).map(|n| if n / 5 % 2 == 0 { (15.0, 15.0) } else { (27.0, 27.0) });
    let tachometer = Some(Tachometer { channel: 1, pulses_per_turn: 2 });
    let events = measured(speeds.collect(), 0.7, tachometer, &[1200.0]);
    let states: Vec<&str> = events.iter().map(|event| event.operating.state.as_str()).collect();
    assert_eq!((states[0], states[5]), ("below 1200 rpm", "1200 rpm and above"));
    assert!(events.iter().all(|event| !event.anomaly_detected));
    for event in &events[50..] {
        assert_eq!(event.anomaly.baseline.state, BaselineState::Ready);
        assert!(event.anomaly.baseline.windows < 40, "{:?}", event.anomaly.baseline);
    }
}
