//! Claims about what a judgement rests on: standstills between, no signal, repairs nobody reports,
//! intervals that say nothing, impacts and velocities that nobody named.

use pdm_shared::diagnosis::{Diagnosis, ThoughtTitle};
use pdm_shared::event::{BaselineState, Event, Harmonic, Rul, SecondFault, TrendDirection};
use pdm_shared::fault::Fault;
use pdm_shared::risk::RiskLevel;

use super::{Life, example, healthy, judge_one};
use crate::is_not_judged;

fn told(diagnosis: &Diagnosis, title: ThoughtTitle) -> String {
    let thought = diagnosis.thoughts.iter().find(|thought| thought.title == title);
    thought.map(|thought| thought.conclusion.en.clone()).expect("five thoughts")
}

fn all(diagnosis: &Diagnosis) -> String {
    let thoughts = diagnosis.thoughts.iter().map(|thought| thought.conclusion.en.as_str());
    let causes = diagnosis.uncertainty.causes.iter().map(|cause| cause.en.as_str());
    let advice = std::iter::once(diagnosis.recommendation.en.as_str());
    thoughts.chain(causes).chain(advice).collect::<Vec<_>>().join(" | ")
}

/// One recording of a bearing that nothing is known of.
fn record() -> Event {
    let mut event = healthy();
    event.anomaly.baseline.state = BaselineState::Learning;
    event.anomaly.baseline.windows = 0;
    event.trend.trend_direction = TrendDirection::Unknown;
    event.rul = Rul::unknown("one recording has no history");
    event.time_domain.iso_zone = None;
    event
}

/// A named line whose flag stays down, with quiet windows in between that show no line.
#[test]
fn signs_are_confirmed_although_the_machine_idles_in_between() {
    let mut named = example();
    named.anomaly_detected = false;
    named.frequency_domain.confidence = 0.97;
    let mut idle = healthy();
    idle.time_domain.rms_g = Some(0.02);
    let mut life = Life::new();
    let risks: Vec<RiskLevel> = (0..12)
        .map(|n| life.next(if n % 3 == 0 { &named } else { &idle }).diagnosis.risk_level)
        .collect();
    assert!(risks.last() > Some(&RiskLevel::Normal), "{risks:?}");
    // a window under the same load without the line is counter-evidence
    let mut life = Life::new();
    let mut sound = healthy();
    sound.time_domain.rms_g = named.time_domain.rms_g;
    let mut alternate = (0..12).map(|n| life.next(if n % 3 == 0 { &named } else { &sound }));
    assert!(alternate.all(|judged| judged.diagnosis.risk_level == RiskLevel::Normal));
}

#[test]
fn a_record_without_a_signal_is_not_sound() {
    let mut event = record();
    (event.time_domain.rms_g, event.time_domain.peak_g) = (Some(0.0007), Some(0.003));
    event.time_domain.velocity_rms_mm_s = Some(0.03);
    let diagnosis = judge_one(&event).diagnosis;
    let said = all(&diagnosis);
    assert!(is_not_judged(&diagnosis) && said.contains("Nothing was measured"), "{said}");
    assert!(said.contains("check sensor") && !said.contains("Keep running"), "{said}");
}

#[test]
fn a_level_that_has_fallen_away_from_its_baseline_does_not_agree_with_it() {
    for (ratio, word) in [(0.4, "has fallen to 0.4 times"), (1.7, "has moved to 1.7 times")] {
        let mut event = healthy();
        event.anomaly.level_ratio = Some(ratio);
        let diagnosis = judge_one(&event).diagnosis;
        let said = all(&diagnosis);
        assert_eq!(diagnosis.risk_level, RiskLevel::Normal);
        assert!(said.contains(word) && said.contains("Find what changed"), "{said}");
        assert!(!said.contains("agree with their baseline"), "{said}");
    }
}

/// A damaged bearing at Critical whose replacement nobody reports.
#[test]
fn a_bearing_that_is_as_usual_again_neither_grows_nor_stays_critical_for_weeks() {
    let mut worn = example();
    worn.anomaly.level_ratio = Some(7.0);
    worn.anomaly.contributors = vec!["rms_g".into(), "kurtosis".into()];
    worn.time_domain.rms_g = healthy().time_domain.rms_g.map(|rms| 7.0 * rms);
    worn.trend.acceleration_detected = true;
    let mut life = Life::new();
    life.step_s = 10.0 * 3600.0;
    life.repeat(&healthy(), 5);
    assert_eq!(life.repeat(&worn, 10).diagnosis.risk_level, RiskLevel::Critical);
    let mut new = healthy();
    // flag, ratio, trend and life are of the windows before
    new.anomaly_detected = true;
    new.anomaly.clone_from(&worn.anomaly);
    new.trend.clone_from(&worn.trend);
    new.rul.clone_from(&worn.rul);
    let first = life.next(&new).diagnosis;
    let said = all(&first);
    for wrong in ["accelerating", "level itself is up", "lower bound", "Stop as soon"] {
        assert!(!said.contains(wrong), "{wrong}: {said}");
    }
    assert!(said.contains("back at its usual level"), "{said}");
    assert_eq!(life.repeat(&new, 9).diagnosis.risk_level, RiskLevel::Watch);
    // a damage whose level falls back keeps its line, and is no repair
    let mut life = Life::new();
    life.step_s = 10.0 * 3600.0;
    life.repeat(&healthy(), 5);
    life.repeat(&worn, 10);
    let mut quiet = worn.clone();
    quiet.time_domain.rms_g = healthy().time_domain.rms_g;
    assert_eq!(life.repeat(&quiet, 12).diagnosis.risk_level, RiskLevel::Critical);
}

#[test]
fn an_interval_that_no_plan_fits_is_not_told_as_a_life() {
    let mut event = example();
    (event.rul.hours, event.rul.ci_low_hours) = (Some(50.0), Some(3.0));
    event.rul.ci_high_hours = Some(900.0);
    let diagnosis = judge_one(&event).diagnosis;
    assert_eq!(diagnosis.rul_assessment.hours, None);
    let life = told(&diagnosis, ThoughtTitle::Rul);
    assert!(life.contains("cannot be told yet") && !life.contains("median"), "{life}");
    assert!(diagnosis.risk_level <= RiskLevel::Warning, "{:?}", diagnosis.risk_level);
}

#[test]
fn an_acceleration_without_a_significant_rise_stops_no_machine() {
    let mut event = example();
    event.trend.trend_direction = TrendDirection::Stable;
    event.trend.acceleration_detected = true;
    event.anomaly.level_ratio = Some(2.1);
    event.anomaly.contributors = vec!["rms_g".into(), "kurtosis".into()];
    event.rul = Rul::unknown("the growth of the damage is not significant yet");
    let diagnosis = judge_one(&event).diagnosis;
    assert!(diagnosis.risk_level < RiskLevel::Critical, "{}", all(&diagnosis));
    assert!(!all(&diagnosis).contains("accelerating"), "{}", all(&diagnosis));
}

/// A level at a multiple that stops a machine was "P-F stage 1, no rising trend".
#[test]
fn a_machine_that_its_level_stops_is_told_its_level() {
    let mut event = example();
    event.frequency_domain.dominant_fault = None;
    event.trend.trend_direction = TrendDirection::Stable;
    (event.anomaly.level_ratio, event.rul) = (Some(40.0), Rul::unknown("no"));
    event.anomaly.contributors = vec!["rms_g".into(), "envelope_rms_g".into()];
    let diagnosis = judge_one(&event).diagnosis;
    let overall = told(&diagnosis, ThoughtTitle::OverallRisk);
    assert_eq!((diagnosis.risk_level, diagnosis.fault_stage), (RiskLevel::Critical, 3));
    assert!(overall.contains("40 times its baseline"), "{overall}");
    assert!(!overall.contains("no rising trend"), "{overall}");
}

/// The envelope stands at five times its baseline weeks before the RMS does, with a life whose
/// interval is a hundred times wide.
#[test]
fn an_envelope_that_runs_ahead_of_the_level_asks_for_a_plan_and_stops_nothing() {
    let mut event = example();
    event.anomaly.contributors = vec!["rms_g".into(), "envelope_rms_g".into(), "kurtosis".into()];
    event.anomaly.level_ratio = Some(5.4);
    event.trend.acceleration_detected = true;
    (event.rul.hours, event.rul.ci_low_hours) = (Some(80.0), Some(15.0));
    event.rul.ci_high_hours = Some(1500.0);
    let normal = healthy().time_domain.rms_g.expect("measured");
    for (times, risk) in [(3.3, RiskLevel::Warning), (6.0, RiskLevel::Critical)] {
        let mut life = Life::new();
        life.repeat(&healthy(), 5);
        event.time_domain.rms_g = Some(times * normal);
        let diagnosis = life.repeat(&event, 5).diagnosis;
        assert_eq!(diagnosis.risk_level, risk, "{times}: {}", all(&diagnosis));
    }
    // a life that is short by both ends of its interval is no matter of the RMS
    event.time_domain.rms_g = Some(3.3 * normal);
    event.rul.ci_high_hours = Some(200.0);
    let mut life = Life::new();
    life.repeat(&healthy(), 5);
    assert_eq!(life.repeat(&event, 5).diagnosis.risk_level, RiskLevel::Critical);
}

/// A bearing that breaks between two measurements: two windows of 3.5 g after 0.06 g, with the
/// outer race named, were Normal.
#[test]
fn a_certain_name_at_a_level_that_has_leapt_waits_for_no_further_window() {
    let mut broken = example();
    broken.anomaly_detected = false;
    broken.anomaly.level_ratio = Some(1.0);
    broken.anomaly.contributors.clear();
    broken.trend.trend_direction = TrendDirection::Stable;
    broken.rul = Rul::unknown("no anomaly");
    broken.frequency_domain.confidence = 0.97;
    let normal = healthy().time_domain.rms_g.expect("measured");
    broken.time_domain.rms_g = Some(30.0 * normal);
    let mut life = Life::new();
    life.repeat(&healthy(), 5);
    let diagnosis = life.next(&broken).diagnosis;
    let said = all(&diagnosis);
    assert_eq!(diagnosis.risk_level, RiskLevel::Warning, "{said}");
    assert!(said.contains("far above the highest normal one"), "{said}");
    assert!(diagnosis.recommendation.en.starts_with("Measure again at once"), "{said}");
    assert!(!said.contains("order the parts") && !said.contains("Watch while"), "{said}");
    // a load that the point has seen explains the level
    let mut life = Life::new();
    let mut loaded = healthy();
    loaded.time_domain.rms_g = broken.time_domain.rms_g;
    life.next(&loaded);
    life.repeat(&healthy(), 5);
    assert_eq!(life.next(&broken).diagnosis.risk_level, RiskLevel::Normal);
}

/// A hum of 7.6 mm/s at twice the mains, beside an early outer race: parts were ordered at once.
#[test]
fn one_recording_with_a_velocity_in_a_bad_zone_is_confirmed_before_parts_are_ordered() {
    let mut event = record();
    event.frequency_domain = example().frequency_domain;
    event.frequency_domain.confidence = 0.97;
    for (velocity, risk) in [(7.6, RiskLevel::Watch), (12.0, RiskLevel::Warning)] {
        event.time_domain.velocity_rms_mm_s = Some(velocity);
        let diagnosis = judge_one(&event).diagnosis;
        let said = all(&diagnosis);
        assert_eq!((diagnosis.risk_level, diagnosis.fault_stage), (risk, 2), "{said}");
        let advice = &diagnosis.recommendation.en;
        assert!(advice.contains("second measurement"), "{advice}");
        assert!(advice.contains("cause of the velocity"), "{advice}");
        assert!(!advice.contains("order the parts") && !advice.contains("Stop as soon"), "{said}");
        assert!(said.contains("whether the bearing or the machine makes it is open"), "{said}");
    }
}

#[test]
fn a_second_damaged_part_has_its_place_in_stage_and_advice() {
    let mut event = record();
    event.frequency_domain = example().frequency_domain;
    event.frequency_domain.confidence = 0.97;
    let second = SecondFault { fault: Fault::InnerRace, confidence: 0.96 };
    event.frequency_domain.second_fault = Some(second);
    let diagnosis = judge_one(&event).diagnosis;
    let stage = told(&diagnosis, ThoughtTitle::PfStage);
    assert!(stage.contains("lines of the inner race as well"), "{stage}");
    let advice = &diagnosis.recommendation.en;
    assert!(advice.contains("outer race fault, perhaps inner race too"), "{advice}");
}

/// Sidebands of a stable damage came in one window, and made Warning with an order of parts.
#[test]
fn multiples_with_sidebands_in_a_single_quiet_window_are_no_progress() {
    let mut event = example();
    event.anomaly_detected = false;
    event.anomaly.baseline.state = BaselineState::Learning;
    event.rul = Rul::unknown("no trend");
    event.trend.trend_direction = TrendDirection::Stable;
    event.frequency_domain.confidence = 0.99;
    let mut life = Life::new();
    life.repeat(&event, 50);
    event.anomaly.baseline.state = BaselineState::Ready;
    life.repeat(&event, 10);
    let mut once = event.clone();
    let line = &mut once.frequency_domain.bpfo;
    line.harmonics.push(Harmonic { n: 3, frequency_hz: 322.2, snr_db: 11.0 });
    line.sidebands.count = 2;
    let first = life.next(&once).diagnosis;
    assert_eq!((first.risk_level, first.fault_stage), (RiskLevel::Watch, 2));
    let third = life.repeat(&once, 2).diagnosis;
    assert_eq!((third.risk_level, third.fault_stage), (RiskLevel::Warning, 3));
}

/// The P-F curve is that of the bearing, and nothing names one here.
#[test]
fn a_stage_by_levels_alone_is_told_with_its_condition() {
    let mut event = example();
    event.frequency_domain.dominant_fault = None;
    event.anomaly.level_ratio = Some(3.0);
    event.anomaly.contributors = vec!["rms_g".into(), "envelope_rms_g".into()];
    let diagnosis = judge_one(&event).diagnosis;
    let (stage, overall) =
        (told(&diagnosis, ThoughtTitle::PfStage), told(&diagnosis, ThoughtTitle::OverallRisk));
    assert!(stage.contains("if the bearing is the cause"), "{stage}");
    assert!(overall.contains("if the bearing is the cause"), "{overall}");
    let stage = told(&judge_one(&example()).diagnosis, ThoughtTitle::PfStage);
    assert!(!stage.contains("if the bearing"), "{stage}");
}

/// Spikes of a cable or a press are advised upon as that, and not as an unbalance.
#[test]
fn spikes_too_short_for_a_bearing_are_advised_upon_as_that() {
    let mut event = record();
    (event.time_domain.kurtosis, event.time_domain.peak_g) = (Some(900.0), Some(8.0));
    let diagnosis = judge_one(&event).diagnosis;
    let advice = &diagnosis.recommendation.en;
    assert!(advice.contains("cable") && !advice.contains("balance"), "{advice}");
}

#[test]
fn a_level_that_changed_at_once_is_told_although_its_state_is_known() {
    let mut event = healthy();
    event.operating.state = "default~2".to_owned();
    let said = all(&judge_one(&event).diagnosis);
    assert!(said.contains("to which they changed at once"), "{said}");
    event.operating.state = "n~low".to_owned();
    assert!(!all(&judge_one(&event).diagnosis).contains("at once"));
}

#[test]
fn impacts_that_no_line_names_are_neither_sound_nor_of_the_machine_alone() {
    let mut event = record();
    (event.time_domain.kurtosis, event.time_domain.peak_g) = (Some(15.0), Some(6.0));
    let diagnosis = judge_one(&event).diagnosis;
    let said = all(&diagnosis);
    assert!(is_not_judged(&diagnosis) && said.contains("no line names what strikes"), "{said}");
    assert!(diagnosis.recommendation.en.contains("Check the speed"), "{said}");
    event.time_domain.peak_g = Some(19.0);
    let said = all(&judge_one(&event).diagnosis);
    assert!(
        !said.contains("No bearing damage is seen") && said.contains("not ruled out"),
        "{said}"
    );
    event.time_domain.velocity_rms_mm_s = Some(9.3);
    let diagnosis = judge_one(&event).diagnosis;
    assert_eq!(diagnosis.risk_level, RiskLevel::Warning);
    assert!(diagnosis.recommendation.en.contains("inspect the bearing"), "{}", all(&diagnosis));
}

#[test]
fn a_velocity_whose_zone_depends_on_the_group_asks_for_the_group() {
    let mut event = record();
    event.time_domain.velocity_rms_mm_s = Some(5.2);
    let diagnosis = judge_one(&event).diagnosis;
    let said = all(&diagnosis);
    assert!(said.contains("5.2 mm/s may be in zone B, C or D"), "{said}");
    assert!(is_not_judged(&diagnosis) && !said.contains("nothing that asks for action"), "{said}");
    event.time_domain.velocity_rms_mm_s = Some(8.1);
    let diagnosis = judge_one(&event).diagnosis;
    let said = all(&diagnosis);
    assert_eq!(diagnosis.risk_level, RiskLevel::Watch);
    assert!(said.contains("zone C or worse whatever the machine's group"), "{said}");
    assert!(!said.contains("No velocity zone"), "{said}");
    event.time_domain.velocity_rms_mm_s = Some(1.9);
    assert!(!is_not_judged(&judge_one(&event).diagnosis));
}
