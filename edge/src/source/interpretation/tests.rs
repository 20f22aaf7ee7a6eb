//! Claims about the interpretation: what is stated counts, what contradicts or is missing is
//! refused.

use super::*;
use crate::source::recording::{NumberEncoding, StatedChannel};
use crate::source::time_axis::TimeAxis;
use crate::source::{AccelUnit, Calibration};

fn named(name: &str, unit: Option<&str>) -> StatedChannel {
    StatedChannel {
        name: Some(name.to_owned()),
        unit: unit.map(str::to_owned),
        scale: None,
        factor: None,
        encoding: NumberEncoding::Real,
    }
}

fn chosen(channels: &[StatedChannel]) -> Result<Vec<usize>, String> {
    choose_channels(channels, None).map(|choice| choice.rows)
}

#[test]
fn accelerations_are_chosen_by_unit_and_name_and_others_never() {
    let channels = [named("rpm", None), named("acc_de", None), named("Current (A)", None)];
    assert_eq!(chosen(&channels), Ok(vec![1]));
    assert_eq!(chosen(&[named("DE", None), named("FE", None)]), Ok(vec![0, 1]));
    assert_eq!(chosen(&[named("DE", Some("g")), named("FE", Some("A"))]), Ok(vec![0]));
    let error = chosen(&[named("rpm", None), named("temperature", None)]).expect_err("none");
    assert!(error.contains("--variable") && error.contains("shaft speed"), "{error}");
}

#[test]
fn counts_without_a_scale_are_refused_with_the_option() {
    let encoding = NumberEncoding::Counts { bits: 16 };
    let counts = StatedChannel { encoding, ..StatedChannel::default() };
    let refused = decided_scale("channel 0", &counts, Calibration::default(), None);
    let error = refused.err().expect("refused");
    assert!(error.contains("16-bit counts cannot be g") && error.contains("--scale"), "{error}");
    let given = Calibration::stated(None, Some(0.001), 0.0).expect("valid");
    let read = decided_scale("channel 0", &counts, given, None).expect("stated");
    assert!((read.calibration.to_m_s2(1000.0) - 9.806_65).abs() < 1e-9);
}

#[test]
fn the_unit_of_the_file_counts_and_a_contradiction_is_refused_with_both() {
    let channel = named("X", Some("m/s^2"));
    let read = decided_scale("X", &channel, Calibration::default(), None).expect("stated");
    assert!((read.calibration.to_m_s2(2.0) - 2.0).abs() < 1e-12);
    let g = Calibration::stated(Some(AccelUnit::G), None, 0.0).expect("valid");
    let error = decided_scale("X", &channel, g, None).err().expect("refused");
    assert!(error.contains("m/s^2") && error.contains("says g"), "{error}");
    let read = decided_scale("X", &channel, g, Some(Preferred::Option)).expect("decided");
    assert!((read.calibration.to_m_s2(1.0) - 9.806_65).abs() < 1e-9 && read.note.is_some());
    let mv = decided_scale("X", &named("X", Some("mV")), Calibration::default(), None);
    assert!(mv.err().expect("refused").contains("--sensitivity"));
}

#[test]
fn volts_become_millivolts_before_the_sensitivity() {
    let unit = AccelUnit::Millivolt { sensitivity_mv_per_g: 100.0 };
    let given = Calibration::stated(Some(unit), None, 0.0).expect("valid");
    let read = decided_scale("A", &named("A", Some("V")), given, None).expect("stated");
    assert!((read.calibration.to_m_s2(0.1) - 9.806_65).abs() < 1e-9);
}

#[test]
fn rates_that_differ_are_refused_with_both_and_agree_within_one_percent() {
    let times: Vec<f64> = (0..1000).map(|n| f64::from(n) / 1000.0).collect();
    let axis = TimeAxis::of_column(&times, Some(1.0)).expect("a time");
    let rate = |option_hz, prefer| {
        let all = RateStatements { option_hz, file_hz: None, axis: Some(&axis), prefer };
        decided_rate(all).map(|(hz, source, _)| (hz, source))
    };
    assert_eq!(rate(None, None), Ok((1000.0, StatementSource::TimeColumn)));
    assert_eq!(rate(Some(1005.0), None), Ok((1005.0, StatementSource::Option)));
    let error = rate(Some(2560.0), None).expect_err("refused");
    assert!(error.contains("1000 Hz") && error.contains("2560 Hz"), "{error}");
    let option = rate(Some(2560.0), Some(Preferred::Option));
    assert_eq!(option, Ok((2560.0, StatementSource::Option)));
    let file = rate(Some(2560.0), Some(Preferred::File));
    assert_eq!(file, Ok((1000.0, StatementSource::TimeColumn)));
}

/// R-EDGE-4: a unit beside integers hid the gain beside them, and the values were fifty times too
/// large.
#[test]
fn integers_beside_a_gain_are_refused_with_its_name_and_an_option_decides() {
    let encoding = NumberEncoding::Counts { bits: 16 };
    let factor = |name: &str, number: f64| Some((name.to_owned(), number));
    let counts =
        StatedChannel { encoding, factor: factor("gain", 0.02), ..named("x", Some("m/s2")) };
    let plain = Calibration::default();
    let error = decided_scale("x", &counts, plain, None).err().expect("open");
    assert!(error.contains("\"gain\" is 0.02") && error.contains("--scale 0.02"), "{error}");
    let given = Calibration::stated(None, Some(0.02), 0.0).expect("valid");
    let read = decided_scale("x", &counts, given, None).expect("decided");
    assert!((read.calibration.to_m_s2(100.0) - 2.0).abs() < 1e-9);
    let inverse =
        StatedChannel { factor: factor("lsb_per_g", 2048.0), unit: None, ..counts.clone() };
    let error = decided_scale("x", &inverse, plain, None).err().expect("open");
    assert!(error.contains("--scale 0.00048828125"), "{error}");
    let real = StatedChannel { encoding: NumberEncoding::Real, ..counts.clone() };
    let told = decided_scale("x", &real, plain, None).expect("reads").note.expect("told");
    assert!(told.contains("\"gain\" (0.02)") && told.contains("not applied"), "{told}");
    let one = StatedChannel { factor: factor("gain", 1.0), ..counts };
    assert!(decided_scale("x", &one, plain, None).is_ok(), "a gain of 1 changes nothing");
}

/// A scale beside counts is that of the counts; beside other numbers nothing tells whether it is in
/// them.
#[test]
fn the_scale_of_the_file_makes_counts_a_quantity_and_a_second_scale_is_refused() {
    let encoding = NumberEncoding::Counts { bits: 16 };
    let counts = StatedChannel { encoding, scale: Some(0.5), ..named("x", Some("mg")) };
    let plain = Calibration::default();
    let read = decided_scale("x", &counts, plain, None).expect("stated");
    assert!((read.calibration.to_m_s2(1000.0) - 0.5 * 9.806_65).abs() < 1e-9);
    assert_eq!(read.channel.unit, "mg at 0.5 a count");
    let no_unit = StatedChannel { unit: None, ..counts.clone() };
    let read = decided_scale("x", &no_unit, plain, None).expect("stated");
    assert!((read.calibration.to_m_s2(2.0) - 9.806_65).abs() < 1e-9);
    let given = Calibration::stated(None, Some(0.25), 0.0).expect("valid");
    let error = decided_scale("x", &counts, given, None).err().expect("two scales");
    assert!(
        error.contains("0.5") && error.contains("0.25") && error.contains("--prefer"),
        "{error}"
    );
    for (side, expected) in [(Preferred::File, 0.5), (Preferred::Option, 0.25)] {
        let read = decided_scale("x", &counts, given, Some(side)).expect("decided");
        assert!((read.calibration.scale() / 9.806_65e-3 - expected).abs() < 1e-9, "{side}");
    }
    let real = StatedChannel { scale: Some(0.5), ..named("x", Some("g")) };
    let error = decided_scale("x", &real, plain, None).err().expect("open");
    assert!(error.contains("--scale 1 or --scale 0.5"), "{error}");
    assert!(decided_scale("x", &StatedChannel { scale: Some(1.0), ..real }, plain, None).is_ok());
}

#[test]
fn a_column_in_a_unit_that_is_not_known_is_no_acceleration_by_itself() {
    let plain = Calibration::default();
    let error = decided_scale("x", &named("Flow (gpm)", None), plain, None).err().expect("unknown");
    assert!(error.contains("\"gpm\"") && error.contains("--unit"), "{error}");
    assert!(decided_scale("x", &named("Acc (filtered)", None), plain, None).is_ok());
    let g = Calibration::stated(Some(AccelUnit::G), None, 0.0).expect("valid");
    assert!(decided_scale("x", &named("Flow (gpm)", None), g, None).is_ok(), "it is stated");
}

#[test]
fn a_unit_of_the_file_that_is_not_known_is_refused_and_never_taken_for_g() {
    let channel = named("X", Some("quux"));
    let error = decided_scale("X", &channel, Calibration::default(), None).err().expect("refused");
    assert!(error.contains("\"quux\"") && error.contains("--unit"), "{error}");
    let none = decided_scale("X", &named("X", Some("-")), Calibration::default(), None);
    assert_eq!(none.expect("no unit").channel.unit_source, StatementSource::Assumed);
    let words = named("X", Some("meters per second squared"));
    let read = decided_scale("X", &words, Calibration::default(), None).expect("known");
    assert!((read.calibration.to_m_s2(2.0) - 2.0).abs() < 1e-12);
}

/// Issue 32: the limit held for times in a text alone.
#[test]
fn a_rate_above_the_limit_is_refused_whatever_states_it() {
    let statements = |option_hz, file_hz| RateStatements {
        option_hz,
        file_hz,
        axis: None,
        prefer: Some(Preferred::Option),
    };
    for (option, file, place) in [
        (None, Some(2.56e6), "the file states 2560000 Hz"),
        (None, Some(25.6e9), "the file states"),
        (Some(2e6), None, "--rate: 2000000 Hz"),
        (Some(2e6), Some(2e6), "--rate"),
    ] {
        let error = decided_rate(statements(option, file)).expect_err("too fast");
        assert!(error.contains(place) && error.contains("1000000 Hz"), "{error}");
    }
    let (rate, ..) = decided_rate(statements(Some(25_600.0), Some(25.6e9))).expect("decided");
    assert!((rate - 25_600.0).abs() < 1e-9);
    assert!(decided_rate(statements(None, Some(MOST_HZ))).is_ok());
    assert!(believed_rate(1e6).is_ok() && believed_rate(1.1e6).is_err());
    assert!(believed_rate(f64::NAN).is_err() && believed_rate(-1.0).is_err());
}
