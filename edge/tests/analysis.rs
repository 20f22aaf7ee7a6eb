//! Judging one recording without state, as `pdm-edge analyze` and the Python package do.

use pdm_dsp::{DefectOrders, DiagnoseError};
use pdm_edge::analysis::{Machine, ReadChannel, RecordingNames, baseline, judge};
use pdm_shared::event::{SpeedBasis, SpeedSource};
use pdm_shared::id::{BearingId, EquipmentId, MeasuringPoint};
use pdm_shared::time::Timestamp;
use pdm_shared::units::{Rpm, SampleRate};

fn machine() -> Machine {
    Machine {
        speed: Rpm::new(1500.0).expect("a speed"),
        speed_tolerance: 0.05,
        orders: DefectOrders::new(3.585, 5.415, 2.357, 0.398).expect("orders"),
        order_tolerance: 0.02,
        estimate: None,
    }
}

fn channel(samples: usize, rate_hz: f64) -> ReadChannel {
    // the sum of four even numbers has tails, so that its highest samples look like no converter's
    // limit
    let mut state = 12_345_u32;
    let mut even = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24) - 0.5
    };
    let rate = SampleRate::new(rate_hz).expect("a rate");
    let accel_m_s2 = (0..samples).map(|_| 10.0 * (even() + even() + even() + even())).collect();
    ReadChannel { accel_m_s2, rate, input: None }
}

fn names() -> RecordingNames {
    RecordingNames {
        equipment: EquipmentId::from_any("m"),
        bearing: BearingId::from_any("b"),
        measuring_point: MeasuringPoint::from_any("channel-0"),
        measured_at: Timestamp::from_unix_ms(1_700_000_000_000).expect("a time"),
    }
}

#[test]
fn a_recording_that_cannot_be_judged_gives_an_event_that_says_why() {
    let mut short = channel(100, 12_000.0);
    let judged = judge(&short, &machine(), None, names()).expect("an event");
    assert!(judged.findings.is_none());
    let why = judged.event.frequency_domain.undetermined.expect("a reason");
    assert!(why.starts_with("the signal cannot be judged: ") && why.contains("too short"), "{why}");
    short.accel_m_s2.resize(12_000, f64::NAN);
    let judged = judge(&short, &machine(), None, names()).expect("an event");
    let why = judged.event.frequency_domain.undetermined.expect("a reason");
    assert!(why.contains("no numbers"), "{why}");
}

#[test]
fn a_slower_baseline_is_refused_with_both_rates() {
    let rate = SampleRate::new(12_000.0).expect("a rate");
    let error = baseline(&channel(20_000, 8000.0), &machine(), rate).expect_err("slower");
    assert!(error.to_string().contains("8000 Hz") && error.to_string().contains("12000 Hz"));
}

#[test]
fn a_rate_below_the_defect_lines_is_an_error() {
    let error = judge(&channel(2000, 300.0), &machine(), None, names()).expect_err("too slow");
    assert!(matches!(error, DiagnoseError::RateTooLow { .. }), "{error}");
}

/// Issue 35, point 2: as in the service, a sound recording teaches the speed that was not stated,
/// and a recording that shows its own speed keeps it.
#[test]
fn a_sound_recording_teaches_the_speed_of_one_that_shows_none() {
    let shaft = |hz: f64| {
        let mut channel = channel(60_000, 6400.0);
        for (i, value) in channel.accel_m_s2.iter_mut().enumerate() {
            let turns = hz * i as f64 / 6400.0;
            let tone =
                |k: &u32| (std::f64::consts::TAU * f64::from(*k) * turns + f64::from(*k)).sin();
            *value += [1, 2, 3, 4, 6].iter().map(tone).sum::<f64>();
        }
        channel
    };
    let silent = channel(60_000, 6400.0);
    let sound = baseline(&shaft(24.25), &machine(), silent.rate).expect("a baseline");
    let learnt = sound.learnt_speed.expect("another speed stands");
    assert!((learnt.get() - 1455.0).abs() < 3.0, "{learnt:?}");
    assert!(sound.note.as_ref().is_some_and(|note| note.contains("in place of the stated 1500")));
    let operating = |channel: &ReadChannel| {
        judge(channel, &machine(), Some(&sound), names()).expect("judged").event.operating
    };
    let taught = operating(&silent);
    assert_eq!(taught.speed_basis, Some(SpeedBasis::Learnt));
    assert_eq!(taught.speed_source, SpeedSource::Estimated);
    assert_eq!(taught.stated_speed_rpm, Some(1500.0));
    assert!(taught.shaft_speed_rpm.is_some_and(|rpm| (rpm - learnt.get()).abs() < 3.0));
    let own = operating(&shaft(25.0));
    assert_eq!((own.speed_basis, own.stated_speed_rpm), (None, None));
    assert!(own.shaft_speed_rpm.is_some_and(|rpm| (rpm - 1500.0).abs() < 3.0), "{own:?}");
    let fits = baseline(&shaft(25.0), &machine(), silent.rate).expect("a baseline");
    assert_eq!((fits.learnt_speed, fits.note), (None, None));
}
