//! Tests that open questions are told as open; that a stop has a ground; that a finding of no
//! bearing has no life.

use pdm_shared::diagnosis::{Diagnosis, ThoughtTitle};
use pdm_shared::event::{
    BaselineState, Event, Harmonic, IsoZone, QualityFlag, Rul, TrendDirection,
};
use pdm_shared::fault::Fault;
use pdm_shared::risk::RiskLevel;

use super::{Life, example, healthy, judge_one};

/// One recording of a sound bearing, as `pdm-edge analyze` gives it.
fn recording() -> Event {
    let mut event = healthy();
    (event.anomaly.baseline.state, event.anomaly.baseline.windows) = (BaselineState::Learning, 0);
    event.anomaly.level_ratio = None;
    event.rul = Rul::unknown("one recording has no history");
    event.trend.trend_direction = TrendDirection::Unknown;
    event
}

fn told(diagnosis: &Diagnosis, title: ThoughtTitle) -> String {
    let thought = diagnosis.thoughts.iter().find(|thought| thought.title == title);
    thought.expect("five thoughts").conclusion.en.clone()
}

fn all(diagnosis: &Diagnosis) -> String {
    let thoughts = diagnosis.thoughts.iter().map(|one| one.conclusion.en.as_str());
    let advice = [diagnosis.recommendation.en.as_str()];
    thoughts.chain(advice).collect::<Vec<_>>().join("\n")
}

/// SCREEN-8: every reason of the gateway is told, in words of both languages, with the step that
/// settles it.
#[test]
fn what_the_gateway_cannot_judge_is_told_and_never_called_sound() {
    for (reason, step) in [
        ("the record holds 12.0 shaft turns, a verdict needs at least 15", "longer"),
        (
            "the stated speed does not fit: the lines of a shaft stand at 1487 rpm, beyond the \
             speed's tolerance; correct the speed or widen its tolerance",
            "true speed",
        ),
        (
            "lines at 5.414 times the shaft speed fit no part of the configured bearing: is \
             another one built in? They would be of 6205 inner race",
            "designation",
        ),
        ("lines of outer_race are seen, but confidence 0.49 is too low to name it", "longer"),
        (
            "lines near those of ball can be explained by something that strikes at 21.4 Hz: belt \
             or other shaft",
            "another speed or load",
        ),
        (
            "lines near those of ball can be explained by 6 times the cage speed: cage or rolling \
             element",
            "longer",
        ),
        (
            "lines near those of outer_race can be explained by the mains frequency 120 Hz",
            "with its power off",
        ),
        ("lines of the cage stand out: the cage or a rolling element may be damaged", "longer"),
        ("a reason of a later version", "measure again"),
    ] {
        let mut event = recording();
        event.frequency_domain.undetermined = Some(reason.to_owned());
        let diagnosis = judge_one(&event).diagnosis;
        let said = all(&diagnosis);
        assert_eq!(diagnosis.risk_level, RiskLevel::Normal, "{reason}: no alarm by itself");
        for never in ["agree", "Keep running", "nothing that asks for action", "No sign of damage"]
        {
            assert!(!said.contains(never), "{reason}: {never}: {said}");
        }
        assert!(told(&diagnosis, ThoughtTitle::OverallRisk).starts_with("Not judged:"), "{said}");
        assert!(diagnosis.recommendation.en.contains(step), "{reason}: {said}");
        let quoted = &diagnosis.thoughts[0].evidence;
        assert!(quoted.iter().any(|fact| fact.value == reason), "{reason}: {quoted:?}");
        // with a baseline the level is judged, and the lines are not
        event.anomaly.baseline.state = BaselineState::Ready;
        let said = all(&judge_one(&event).diagnosis);
        assert!(said.contains("neither found nor excluded"), "{reason}: {said}");
    }
}

/// SCREEN-8: a line that stands plainly is no sound bearing, whatever its name; one of the first
/// day is no news.
#[test]
fn a_plain_line_without_a_name_is_not_called_sound() {
    let mut event = recording();
    let line = &mut event.frequency_domain.bpfo;
    line.snr_db = Some(33.0);
    line.harmonics =
        (1..=4).map(|n| Harmonic { n, frequency_hz: 107.4 * f64::from(n), snr_db: 20.0 }).collect();
    let said = all(&judge_one(&event).diagnosis);
    assert!(said.contains("33 dB above the floor without a name"), "{said}");
    let stood = pdm_shared::event::StoodLine { fault: Fault::OuterRace, level_db: 30.0 };
    event.frequency_domain.since_commissioning = vec![stood];
    assert!(!all(&judge_one(&event).diagnosis).contains("without a name"));
}

/// SCREEN-9: zone D of ISO 20816-3, by the gateway or beyond the limits of every class, and heavy
/// impacts.
#[test]
fn one_recording_in_zone_d_or_with_heavy_impacts_asks_for_a_check_of_the_machine() {
    let mut zone = recording();
    zone.time_domain.iso_zone = Some(IsoZone::D);
    let mut velocity = recording();
    (velocity.time_domain.iso_zone, velocity.time_domain.velocity_rms_mm_s) = (None, Some(12.5));
    let mut impacts = recording();
    (impacts.time_domain.kurtosis, impacts.time_domain.peak_g) = (Some(25.0), Some(14.0));
    for event in [zone, velocity, impacts] {
        let diagnosis = judge_one(&event).diagnosis;
        assert_eq!((diagnosis.risk_level, diagnosis.fault_stage), (RiskLevel::Watch, 0));
        let advice = &diagnosis.recommendation.en;
        let is_striking = event.time_domain.peak_g == Some(14.0);
        let asked =
            if is_striking { "Find what strikes" } else { "balance, alignment and tightness" };
        assert!(advice.contains(asked), "{advice}");
        assert!(!all(&diagnosis).contains("agree"), "{}", all(&diagnosis));
    }
    // zone C of every class asks for a check, too; a usual velocity does not
    let mut limited = recording();
    (limited.time_domain.iso_zone, limited.time_domain.velocity_rms_mm_s) = (None, Some(8.7));
    let diagnosis = judge_one(&limited).diagnosis;
    assert_eq!(diagnosis.risk_level, RiskLevel::Watch);
    assert!(diagnosis.recommendation.en.contains("alignment"), "{:?}", diagnosis.recommendation);
    limited.time_domain.velocity_rms_mm_s = Some(2.0);
    assert!(judge_one(&limited).diagnosis.recommendation.en.contains("Keep running"));
    // sound recordings reach a kurtosis of 47 at 5 g
    let mut sound = recording();
    (sound.time_domain.kurtosis, sound.time_domain.peak_g) = (Some(47.0), Some(5.0));
    assert_eq!(judge_one(&sound).diagnosis.risk_level, RiskLevel::Normal);
}

/// RISK-15: harmonics and sidebands of a first spall ask for a plan, a level at which bearings end
/// for a stop.
#[test]
fn an_early_spall_stops_no_machine_before_its_level_is_up() {
    let mut event = example();
    let line = &mut event.frequency_domain.bpfo;
    line.harmonics.push(Harmonic { n: 3, frequency_hz: 322.2, snr_db: 11.0 });
    line.sidebands.count = 4;
    event.trend.acceleration_detected = true;
    for (ratio, risk) in
        [(1.2, RiskLevel::Warning), (2.1, RiskLevel::Warning), (5.5, RiskLevel::Critical)]
    {
        event.anomaly.level_ratio = Some(ratio);
        let diagnosis = judge_one(&event).diagnosis;
        assert_eq!((diagnosis.fault_stage, diagnosis.risk_level), (3, risk), "{ratio}");
    }
}

/// An order to replace a bearing names what speaks of it; dry grease, cavitation and a loose sensor
/// do not.
#[test]
fn signs_without_a_name_are_inspected_and_replace_no_bearing_by_themselves() {
    let mut event = example();
    (event.frequency_domain.dominant_fault, event.frequency_domain.confidence) = (None, 0.0);
    event.anomaly.level_ratio = Some(8.0);
    for (kurtosis, first) in [(3.0, "lubrication first"), (9.0, "cause of the impacts")] {
        event.time_domain.kurtosis = Some(kurtosis);
        event.anomaly.contributors = vec!["rms_g".to_owned(), "envelope_rms_g".to_owned()];
        let diagnosis = Life::new().repeat(&event, 4).diagnosis;
        assert_eq!(diagnosis.risk_level, RiskLevel::Critical);
        let advice = &diagnosis.recommendation;
        assert!(advice.en.contains("Stop as soon as it is safe and inspect"), "{advice:?}");
        assert!(
            advice.en.contains(first) && !advice.en.contains("replace the bearing."),
            "{advice:?}"
        );
    }
}

/// RISK-16: at 1,797 rpm even one impact a turn of the cage has a kurtosis of some hundred.
#[test]
fn spikes_of_a_cable_ask_for_a_check_of_the_sensor() {
    let mut event = example();
    (event.frequency_domain.dominant_fault, event.frequency_domain.confidence) = (None, 0.0);
    event.time_domain.kurtosis = Some(4200.0);
    event.anomaly.contributors = vec!["kurtosis".to_owned(), "crest_factor".to_owned()];
    let diagnosis = Life::new().repeat(&event, 5).diagnosis;
    assert_eq!((diagnosis.risk_level, diagnosis.fault_stage), (RiskLevel::Watch, 0));
    assert!(diagnosis.recommendation.en.contains("cable"), "{:?}", diagnosis.recommendation);
    // a slow shaft has long pauses between its impacts
    event.operating.shaft_speed_rpm = Some(12.0);
    assert!(judge_one(&event).diagnosis.fault_stage > 0);
}

/// RISK-7: after a replacement the level falls with the last windows, and nothing asks for the stop
/// again.
#[test]
fn a_bearing_that_was_replaced_is_not_ordered_to_stop_for_ever() {
    let mut bad = example();
    bad.anomaly.level_ratio = Some(8.0);
    let mut life = Life::new();
    assert_eq!(life.repeat(&bad, 5).diagnosis.risk_level, RiskLevel::Critical);
    // the flag and the median of the level follow the new bearing some windows later
    let mut sound = healthy();
    sound.anomaly_detected = true;
    sound.anomaly.contributors = vec!["bpfo.snr_db".to_owned()];
    for ratio in [7.5, 5.5, 1.02, 1.01] {
        sound.anomaly.level_ratio = Some(ratio);
        life.next(&sound);
    }
    let first = life.next(&healthy()).diagnosis;
    assert_eq!(first.risk_level, RiskLevel::Critical, "one window is no improvement that lasts");
    let said = all(&first);
    assert!(!said.contains("No sign of damage") && !said.contains("Stop as soon"), "{said}");
    assert!(said.contains("If the bearing was replaced or greased, record the work"), "{said}");
    assert_eq!(life.repeat(&healthy(), 29).diagnosis.risk_level, RiskLevel::Normal);
}

#[test]
fn nothing_degrades_without_an_anomaly_or_with_a_falling_slope() {
    let mut event = healthy();
    event.trend.trend_direction = TrendDirection::Rising;
    event.trend.acceleration_detected = true;
    event.trend.slope = Some(0.000_161);
    let speed = told(&judge_one(&event).diagnosis, ThoughtTitle::Degradation);
    assert!(speed.contains("load, speed or season") && !speed.contains("rapid"), "{speed}");
    let mut event = example();
    (event.trend.acceleration_detected, event.trend.slope) = (true, Some(-0.001_35));
    event.trend.trend_direction = TrendDirection::Stable;
    let speed = told(&judge_one(&event).diagnosis, ThoughtTitle::Degradation);
    assert_eq!(speed, "No significant trend");
    event.anomaly.level_ratio = Some(12.0);
    let speed = told(&judge_one(&event).diagnosis, ThoughtTitle::Degradation);
    assert!(speed.contains("stands at 12 times its baseline"), "{speed}");
}

/// RUL-7
#[test]
fn a_rotor_fault_has_no_life_of_a_bearing() {
    let mut event = healthy();
    event.anomaly_detected = true;
    event.anomaly.contributors = vec!["velocity_rms_mm_s".to_owned()];
    event.rul = example().rul;
    let diagnosis = judge_one(&event).diagnosis;
    assert_eq!(diagnosis.rul_assessment.hours, None);
    assert!(told(&diagnosis, ThoughtTitle::Rul).contains("cannot be estimated"));
    // nor has a level about the usual one that no line explains
    let mut event = example();
    (event.frequency_domain.dominant_fault, event.anomaly.level_ratio) = (None, Some(1.3));
    (event.rul.hours, event.rul.ci_high_hours) = (Some(0.4), Some(0.8));
    let diagnosis = judge_one(&event).diagnosis;
    assert_eq!((diagnosis.risk_level, diagnosis.rul_assessment.hours), (RiskLevel::Watch, None));
}

#[test]
fn a_first_window_that_cannot_be_judged_keeps_nothing() {
    let mut bad = healthy();
    bad.signal_quality.valid = false;
    bad.signal_quality.flags = vec![QualityFlag::Clipping];
    let said = all(&judge_one(&bad).diagnosis);
    assert!(said.contains("Not judged:") && !said.contains("former"), "{said}");
}

/// STAGE-3E: the level of the window itself is up, and it is no longer impulsive.
#[test]
fn kurtosis_that_falls_to_the_usual_level_is_no_spreading_damage() {
    let mut life = Life::new();
    life.repeat(&healthy(), 3);
    let mut event = example();
    event.time_domain.kurtosis = Some(19.0);
    life.next(&event);
    event.time_domain.kurtosis = Some(3.0);
    event.time_domain.rms_g = healthy().time_domain.rms_g;
    event.anomaly.contributors = vec!["rms_g".to_owned()];
    let stage = told(&life.next(&event).diagnosis, ThoughtTitle::PfStage);
    assert!(!stage.contains("spreading"), "{stage}");
    event.time_domain.rms_g = healthy().time_domain.rms_g.map(|rms| 3.0 * rms);
    let stage = told(&life.next(&event).diagnosis, ThoughtTitle::PfStage);
    assert!(stage.contains("spreading"), "{stage}");
}

/// MEM-2: a second measurement that confirms a stage is no progress.
#[test]
fn a_constant_fault_makes_no_progress() {
    let mut event = recording();
    let plain = example().frequency_domain;
    event.frequency_domain = plain;
    event.frequency_domain.confidence = 0.99;
    let line = &mut event.frequency_domain.bpfo;
    line.harmonics.push(Harmonic { n: 3, frequency_hz: 322.2, snr_db: 11.0 });
    line.sidebands.count = 4;
    let mut life = Life::new();
    for _ in 0..4 {
        let diagnosis = life.next(&event).diagnosis;
        let stage = told(&diagnosis, ThoughtTitle::PfStage);
        assert!(!stage.contains("from stage"), "{stage}");
    }
}

/// MEM-6: a median that moved on with the clock for eight days was told as if it were new each
/// time.
#[test]
fn a_life_that_was_outlived_is_told_as_that() {
    let mut life = Life::new();
    let mut event = example();
    (event.rul.hours, event.rul.ci_low_hours) = (Some(16.0), Some(4.0));
    event.rul.ci_high_hours = Some(90.0);
    assert!(!told(&life.next(&event).diagnosis, ThoughtTitle::Rul).contains("has run longer"));
    let mut last = life.next(&event);
    for _ in 0..80 {
        last = life.next(&event);
    }
    let told = told(&last.diagnosis, ThoughtTitle::Rul);
    assert!(told.contains("has run longer"), "{told}");
}
