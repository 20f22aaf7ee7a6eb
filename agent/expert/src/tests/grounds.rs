//! Claims about what a judgement rests on: standstills between, no signal, repairs nobody reports,
//! intervals that say nothing, impacts and velocities that nobody named.

use pdm_shared::diagnosis::{Diagnosis, ThoughtTitle};
use pdm_shared::event::{BaselineState, Event, Rul, TrendDirection};
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
