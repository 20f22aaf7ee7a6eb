//! Claims about the simulator: rate of impacts, growing damage, the same samples for the same seed.

use std::f64::consts::TAU;

use pdm_dsp::DefectOrders;
use pdm_shared::fault::Fault;
use pdm_shared::units::{M_S2_PER_G, Order, Rpm, SampleRate};

use super::*;

fn order(value: f64) -> Order {
    Order::new(value).expect("valid")
}

/// SKF 6205 as CWRU publishes it.
fn orders() -> DefectOrders {
    DefectOrders {
        bpfo: order(3.5848),
        bpfi: order(5.4152),
        bsf: order(2.3567),
        ftf: order(0.3983),
    }
}

fn settings(fault: Option<Fault>, course: Course) -> SimulatorSettings {
    let rate = SampleRate::new(20_480.0).expect("valid");
    let speed = Rpm::new(1797.0).expect("valid");
    let snapshots = 60;
    SimulatorSettings { fault, course, snapshots, ..SimulatorSettings::new(rate, speed, orders()) }
}

fn snapshot(settings: &SimulatorSettings, index: u64) -> Vec<f64> {
    let mut source = Simulator::new(settings.clone()).expect("valid");
    source.skip_blocks(index).expect("never fails");
    let block = source.next_block().expect("never fails").expect("there");
    assert_eq!(block.index, index);
    block.accel_m_s2.row(0).to_vec()
}

fn rms(samples: &[f64]) -> f64 {
    (samples.iter().map(|x| x * x).sum::<f64>() / samples.len() as f64).sqrt()
}

fn kurtosis(samples: &[f64]) -> f64 {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let moment = |k: i32| samples.iter().map(|x| (x - mean).powi(k)).sum::<f64>() / n;
    moment(4) / moment(2).powi(2)
}

/// Magnitude of the squared signal's Fourier component at a frequency (naive definition).
fn envelope_line(samples: &[f64], frequency_hz: f64, rate_hz: f64) -> f64 {
    let mean = samples.iter().map(|x| x * x).sum::<f64>() / samples.len() as f64;
    let (mut re, mut im) = (0.0, 0.0);
    for (n, x) in samples.iter().enumerate() {
        let angle = TAU * frequency_hz * n as f64 / rate_hz;
        re += (x * x - mean) * angle.cos();
        im += (x * x - mean) * angle.sin();
    }
    re.hypot(im) / samples.len() as f64
}

/// R-EDGE-1. The strongest line of the squared signal between 60 and 200 Hz is at the defect
/// order within slip and wander (1 %).
#[test]
fn impacts_come_at_the_defect_order() {
    let fr = 1797.0 / 60.0;
    for (fault, expected) in [(Fault::OuterRace, 3.5848), (Fault::InnerRace, 5.4152)] {
        let samples = snapshot(&settings(Some(fault), Course::Constant { severity: 0.3 }), 0);
        let strongest = (240..800)
            .map(|k| f64::from(k) * 0.25)
            .max_by(|a, b| {
                let at = |f: &f64| envelope_line(&samples, *f, 20_480.0);
                at(a).total_cmp(&at(b))
            })
            .expect("frequencies");
        let order = strongest / fr;
        assert!((order / expected - 1.0).abs() < 0.01, "{fault}: {order}");
    }
}

#[test]
fn a_healthy_bearing_has_the_kurtosis_of_noise() {
    let samples = snapshot(&settings(None, Course::run_to_failure()), 0);
    // standard error of the kurtosis of 20,480 Gaussian samples: √(24 / n) = 0.034
    assert!((kurtosis(&samples) - 3.0).abs() < 0.15, "{}", kurtosis(&samples));
    let level = rms(&samples) / M_S2_PER_G;
    assert!((0.06..0.12).contains(&level), "{level} g");
}

#[test]
fn a_bearing_of_which_nothing_fails_is_as_quiet_at_the_end_as_at_the_beginning() {
    let run = settings(None, Course::run_to_failure());
    let (first, last) = (rms(&snapshot(&run, 0)), rms(&snapshot(&run, 59)));
    // standard error of the RMS of 20,480 samples of noise: 0.5 %
    assert!((last / first - 1.0).abs() < 0.03, "{first} … {last}");
}

#[test]
fn a_run_to_failure_ends_loud_and_kurtosis_falls_back() {
    for fault in Fault::ALL {
        let run = settings(Some(fault), Course::run_to_failure());
        let levels: Vec<f64> = (36..60).step_by(4).map(|i| rms(&snapshot(&run, i))).collect();
        let is_rising = levels.windows(2).all(|pair| pair[1] > 0.98 * pair[0]);
        let (first, last) = (rms(&snapshot(&run, 0)), rms(&snapshot(&run, 59)));
        assert!(is_rising && last > 4.0 * first, "{fault}: {first} … {levels:?} … {last}");
        let highest = (30..59).map(|i| kurtosis(&snapshot(&run, i))).fold(0.0, f64::max);
        let end = kurtosis(&snapshot(&run, 59));
        assert!(highest > 4.0 && end < 0.8 * highest, "{fault}: {highest} then {end}");
    }
}

#[test]
fn the_same_seed_gives_the_same_samples_wherever_one_begins() {
    let run = settings(Some(Fault::Ball), Course::run_to_failure());
    let mut source = Simulator::new(run.clone()).expect("valid");
    for index in 0..4 {
        let block = source.next_block().expect("never fails").expect("there");
        assert_eq!(block.accel_m_s2.row(0).to_vec(), snapshot(&run, index));
    }
    let other = SimulatorSettings { seed: 2, ..run.clone() };
    assert_ne!(snapshot(&run, 0), snapshot(&other, 0));
    assert_ne!(snapshot(&run, 0), snapshot(&run, 1));
}

#[test]
fn a_second_sensor_feels_less() {
    let run = SimulatorSettings {
        channels: 2,
        ..settings(Some(Fault::OuterRace), Course::Constant { severity: 0.4 })
    };
    let block = Simulator::new(run).expect("valid").next_block().expect("ok").expect("there");
    let level = |channel: usize| rms(&block.accel_m_s2.row(channel).to_vec());
    assert!(level(1) < 0.8 * level(0));
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let base = settings(None, Course::Constant { severity: 1.5 });
    let error = Simulator::new(base.clone()).expect_err("severity").to_string();
    assert_eq!(error, "severity is 1.5, allowed is 0 to 1");
    let course = Course::Constant { severity: 0.0 };
    for snapshot_s in [0.0, -1.0, f64::NAN, 1e12] {
        assert!(Simulator::new(SimulatorSettings { course, snapshot_s, ..base.clone() }).is_err());
    }
}
