//! Claims about the choice among the variables of a file (issue 32, point 3).

use pdm_shared::time::Timestamp;

use super::*;

fn variable(path: &str, numbers: Vec<f64>) -> Variable {
    Variable { path: path.to_owned(), numbers, ..Variable::default() }
}

fn waves(length: usize) -> Vec<f64> {
    (0..length).map(|n| (n as f64 * 0.7).sin()).collect()
}

fn times(length: usize, first: f64, step: f64) -> Vec<f64> {
    (0..length).map(|n| first + step * n as f64).collect()
}

fn chosen(variables: Vec<Variable>, wanted: Option<&str>) -> Result<RawRecording, String> {
    let path = Path::new("t");
    recording_of_variables(path, "archive", variables, &[], wanted).map_err(|e| e.to_string())
}

fn rate_beside_time(time: Variable) -> Option<f64> {
    let length = time.numbers.len();
    let recording = chosen(vec![time, variable("a", waves(length))], None).expect("valid");
    assert_eq!(recording.channels.len(), 1);
    recording.stated_rate_hz.map(|rate| (rate * 10.0).round() / 10.0)
}

/// A field with a rate may be left over from another recording.
#[test]
fn a_stated_rate_that_the_times_contradict_stands_beside_their_own() {
    let mut wave = variable("a", waves(64));
    wave.rate_hz = Some(12_000.0);
    let time = variable("t", times(64, 0.0, 1.0 / 2560.0));
    let recording = chosen(vec![time, wave], None).expect("valid");
    assert_eq!(recording.stated_rate_hz, Some(12_000.0));
    let axis = recording.time.expect("the times are told");
    assert_eq!((axis.column.as_str(), axis.rate_hz(1.0)), ("t", 2560.0));
}

#[test]
fn a_time_gives_the_rate_in_the_unit_that_is_stated_or_told_by_its_size() {
    let step = 1.0 / 2560.0;
    assert_eq!(rate_beside_time(variable("t", times(64, 0.0, step))), Some(2560.0));
    assert_eq!(rate_beside_time(variable("t_ms", times(64, 0.0, 1e3 * step))), Some(2560.0));
    let mut with_unit = variable("x", times(64, 0.0, 1e6 * step));
    with_unit.stated.unit = Some("µs".to_owned());
    assert_eq!(rate_beside_time(with_unit), Some(2560.0));
    let since_1970 = variable("stamp", times(64, 1.78e9, step));
    assert_eq!(rate_beside_time(since_1970), Some(2560.0));
    let in_ms = variable("stamp", times(64, 1.78e12, 1e3 * step));
    assert_eq!(rate_beside_time(in_ms), Some(2560.0));
    let in_days = variable("datum", times(4096, 739_000.0, 0.01 / 86_400.0));
    assert_eq!(rate_beside_time(in_days), Some(100.0));
}

/// A count, or a time in milliseconds that says so nowhere, states no rate.
#[test]
fn a_count_is_no_channel_and_states_no_rate() {
    assert_eq!(rate_beside_time(variable("n", times(64, 0.0, 1.0))), None);
    assert_eq!(rate_beside_time(variable("t", times(64, 0.0, 0.390_625))), None);
}

#[test]
fn a_rising_vector_alone_or_in_another_unit_is_a_channel() {
    let alone = chosen(vec![variable("ramp", times(64, 0.0, 0.01))], None).expect("valid");
    assert_eq!((alone.channels.len(), alone.stated_rate_hz), (1, None));
    let mut ramp = variable("ramp", times(64, 0.0, 0.01));
    ramp.stated.unit = Some("g".to_owned());
    let both = chosen(vec![ramp, variable("a", waves(64))], None).expect("valid");
    assert_eq!(both.channels.len(), 2);
}

#[test]
fn one_set_that_speaks_of_acceleration_is_the_recording() {
    let sets = || vec![variable("current", waves(4000)), variable("vibration", waves(1000))];
    let recording = chosen(sets(), None).expect("valid");
    assert_eq!((recording.samples, recording.channels.len()), (1000, 1));
    let mut two = sets();
    two.push(variable("acc_2", waves(3000)));
    let error = chosen(two.clone(), None).err().expect("ambiguous");
    assert!(error.contains("vibration, 1000") && error.contains("acc_2, 3000"), "{error}");
    assert_eq!(chosen(two, Some("acc_2")).expect("valid").samples, 3000);
}

#[test]
fn equally_long_variables_of_two_rates_are_not_one_recording() {
    let mut slow = variable("a", waves(100));
    slow.rate_hz = Some(10.0);
    let mut fast = variable("b", waves(100));
    fast.rate_hz = Some(1000.0);
    assert!(chosen(vec![slow, fast], None).err().expect("ambiguous").contains("length or rate"));
}

#[test]
fn names_are_paths_columns_or_last_parts_that_are_single() {
    let all = || {
        vec![
            variable("run/acc[0]", waves(9)),
            variable("run/acc[1]", waves(9)),
            variable("run/force", waves(9)),
            variable("cal/force", waves(9)),
        ]
    };
    let count = |name: &str| chosen(all(), Some(name)).map(|r| r.channels.len());
    assert_eq!(count("run/acc"), Ok(2));
    assert_eq!(count("run/acc[1]"), Ok(1));
    assert_eq!(count("run/acc[0],cal/force"), Ok(2));
    assert!(count("force").is_err_and(|error| error.contains("run/force, 9")));
}

fn at_rate(path: &str, length: usize, rate_hz: f64, unit: Option<&str>) -> Variable {
    let mut own = variable(path, waves(length));
    own.rate_hz = Some(rate_hz);
    own.stated.unit = unit.map(str::to_owned);
    own
}

/// Issue 32: what is shorter than a part of the recording was left out without a word.
#[test]
fn another_quantity_of_another_rate_is_told_and_lists_of_settings_are_not() {
    let slow = at_rate("/slow/temperature", 128, 256.0, Some("degC"));
    let list = variable("/settings", vec![3.0, 1.0, 4.0]);
    let fast = at_rate("/fast/acc", 2048, 4096.0, None);
    let recording = chosen(vec![fast, slow, list], None).expect("valid");
    let notes = recording.notes.join("; ");
    assert!(notes.contains("/slow/temperature in degC at 256 Hz, 128 numbers"), "{notes}");
    assert!(!notes.contains("settings"), "{notes}");
    let trend = at_rate("/trend/acc_rms", 128, 0.1, Some("g"));
    let fast = at_rate("/fast/acc", 2048, 4096.0, Some("g"));
    assert!(chosen(vec![fast, trend], None).is_ok(), "a level each ten seconds is no waveform");
}

/// Issue 32: two groups of two rates were read as the one that speaks, or as the longer one.
#[test]
fn a_set_of_another_rate_that_may_be_vibration_is_refused_with_the_candidates() {
    let cases = [
        ("both speak", "/fast/acc", "/slow/acc", 1024),
        ("both speak, one is short", "/fast/acc", "/slow/acc", 128),
        ("one speaks", "/fast/acc", "/slow/signal", 1024),
        ("none speaks", "fast/ai0", "slow/ai1", 1024),
        ("none speaks, one is short", "fast/ai0", "slow/ai1", 128),
        ("equally long", "a.x", "b.x", 2048),
    ];
    for (what, fast, slow, length) in cases {
        let all = || vec![at_rate(fast, 2048, 4096.0, None), at_rate(slow, length, 512.0, None)];
        let error = chosen(all(), None).err().expect(what);
        assert!(error.contains("--variable"), "{what}: {error}");
        assert!(error.contains(fast) && error.contains(&format!("{slow} at 512 Hz")), "{error}");
        let one = chosen(all(), Some(slow)).expect("named");
        assert_eq!((one.samples, one.stated_rate_hz), (length, Some(512.0)), "{what}");
    }
}

#[test]
fn variables_of_two_rates_are_not_read_together_by_name() {
    let all = vec![at_rate("a.x", 512, 4096.0, None), at_rate("b.x", 512, 512.0, None)];
    let error = chosen(all, Some("a.x,b.x")).err().expect("two rates");
    assert!(error.contains("different rates") && error.contains("--variable"), "{error}");
}

/// A rate belongs to the group in which it stands.
#[test]
fn a_group_without_a_rate_does_not_take_that_of_another_group() {
    let all = |place: &str| vec![at_rate("/a/acc", 512, 4096.0, None), variable(place, waves(512))];
    let error = chosen(all("/b/acc"), None).err().expect("open");
    assert!(error.contains("/a/acc at 4096 Hz") && error.contains("/b/acc, 512"), "{error}");
    assert_eq!(chosen(all("/a/acc_2"), None).expect("one group").channels.len(), 2);
}

/// Two groups, each with its own times and no stated rate.
#[test]
fn the_times_of_a_group_give_the_rate_of_its_vectors() {
    let all = || {
        vec![
            variable("/fast/time", times(512, 0.0, 1.0 / 4096.0)),
            variable("/fast/acc", waves(512)),
            variable("/slow/time", times(512, 0.0, 1.0 / 512.0)),
            variable("/slow/acc", waves(512)),
        ]
    };
    let error = chosen(all(), None).err().expect("two rates");
    assert!(error.contains("/slow/acc at 512 Hz"), "{error}");
    let slow = chosen(all(), Some("/slow/acc")).expect("named");
    assert_eq!(slow.stated_rate_hz, Some(512.0));
}

#[test]
fn channels_that_begin_at_different_times_are_told() {
    let starts = |second_ms: i64| {
        let at = |ms| {
            let at = Timestamp::from_unix_ms(1_700_000_000_000 + ms)?;
            Some(StatedStart { at, is_local: false, origin: "wf_start_time".to_owned() })
        };
        let mut all = vec![at_rate("g/a", 512, 512.0, None), at_rate("g/b", 512, 512.0, None)];
        (all[0].started_at, all[1].started_at) = (at(0), at(second_ms));
        chosen(all, None).expect("valid").notes.join("; ")
    };
    assert!(starts(3000).contains("g/b begins 3.000 s after g/a"), "{}", starts(3000));
    assert_eq!(starts(1), "", "less than a sample");
}
