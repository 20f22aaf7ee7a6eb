//! One claim a rule.

use pdm_shared::diagnosis::{DegradationSpeed, ThoughtTitle, UncertaintyLevel};
use pdm_shared::event::{
    BaselineState, Harmonic, IsoZone, OpenDamage, QualityFlag, Rul, TrendDirection,
};
use pdm_shared::fault::Fault;
use pdm_shared::follow_up::FollowUpState;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;

use super::{Life, example, healthy, judge_one, judge_with, withheld};
use crate::case::{Case, Memory, Work};
use crate::judge_raised;
use crate::rules::Rules;

fn used(judgement: &crate::Judgement, rule: &str) -> bool {
    judgement
        .diagnosis
        .thoughts
        .iter()
        .flat_map(|thought| &thought.evidence)
        .any(|evidence| evidence.rule.as_deref() == Some(rule))
}

/// R-AGENT-4, R-AGENT-7: the contract's own event and diagnosis.
#[test]
fn the_contracts_event_is_judged_as_the_contract_shows() {
    let diagnosis = judge_one(&example()).diagnosis;
    assert_eq!(diagnosis.fault_type, Some(Fault::OuterRace));
    assert_eq!((diagnosis.fault_stage, diagnosis.risk_level), (2, RiskLevel::Warning));
    assert_eq!(diagnosis.degradation.speed, DegradationSpeed::Moderate);
    assert_eq!(diagnosis.rul_assessment.hours, Some(120.0));
    assert_eq!(diagnosis.uncertainty.level, UncertaintyLevel::Low, "{:?}", diagnosis.uncertainty);
    let titles: Vec<ThoughtTitle> =
        diagnosis.thoughts.iter().map(|thought| thought.title).collect();
    assert_eq!(
        titles,
        [
            ThoughtTitle::InitialScreening,
            ThoughtTitle::PfStage,
            ThoughtTitle::Degradation,
            ThoughtTitle::Rul,
            ThoughtTitle::OverallRisk
        ]
    );
}

#[test]
fn evidence_that_the_event_does_not_hold_is_withheld() {
    let (event, memory) = (example(), Memory::default());
    let mut judgement = judge_one(&event);
    assert_eq!(super::withheld(&judgement, &event, &memory), Vec::<String>::new());
    // another reasoner claims another level, and words that lean on it
    let thought = &mut judgement.diagnosis.thoughts[0];
    let claim = thought.evidence.iter_mut().find(|e| e.path.ends_with("snr_db")).expect("a line");
    claim.value = 33.3.into();
    thought.conclusion = Text::new("33.3 dB 높음", "33.3 dB above");
    let missing = super::withheld(&judgement, &event, &memory);
    assert_eq!(missing, ["frequency_domain.bpfo.snr_db = 33.3", "33.3", "33.3"]);
}

#[test]
fn a_healthy_window_is_normal_after_the_cross_check() {
    let judgement = judge_one(&healthy());
    assert_eq!(judgement.diagnosis.risk_level, RiskLevel::Normal);
    assert_eq!(judgement.diagnosis.fault_stage, 0);
    assert!(judgement.diagnosis.thoughts[0].conclusion.ko.contains("교차 확인"));
}

#[test]
fn unflagged_evidence_must_stand_three_times_before_it_moves_the_risk() {
    let mut event = example();
    event.anomaly_detected = false;
    event.rul = Rul::unknown("no anomaly");
    let mut life = Life::new();
    assert_eq!(life.repeat(&event, 2).diagnosis.risk_level, RiskLevel::Normal);
    let third = life.next(&event);
    assert_eq!(third.diagnosis.risk_level, RiskLevel::Watch);
    assert!(used(&third, "SCREEN-4"));
}

#[test]
fn kurtosis_alone_moves_the_risk_only_while_the_baseline_is_learnt() {
    let mut event = healthy();
    event.time_domain.kurtosis = Some(9.0);
    let learnt = Life::new().repeat(&event, 30);
    assert_eq!(learnt.diagnosis.risk_level, RiskLevel::Normal);
    event.anomaly.baseline.state = pdm_shared::event::BaselineState::Learning;
    assert_eq!(Life::new().repeat(&event, 3).diagnosis.risk_level, RiskLevel::Watch);
}

/// RISK-11, RISK-12
#[test]
fn an_unnamed_element_is_as_bad_as_its_level_and_no_worse() {
    let mut event = example();
    event.frequency_domain.dominant_fault = None;
    event.trend.acceleration_detected = true;
    (event.rul.hours, event.rul.ci_high_hours) = (Some(100.0), Some(200.0));
    for (ratio, risk) in
        [(1.3, RiskLevel::Watch), (2.5, RiskLevel::Warning), (6.0, RiskLevel::Critical)]
    {
        event.anomaly.level_ratio = Some(ratio);
        let judgement = Life::new().repeat(&event, 5);
        assert_eq!(judgement.diagnosis.risk_level, risk, "{ratio}");
        let weighed = used(&judgement, "RISK-11") || used(&judgement, "RISK-12");
        assert!(weighed || risk == RiskLevel::Critical, "{ratio}");
    }
}

/// RISK-10
#[test]
fn evidence_without_the_anomaly_flag_is_watch_at_most() {
    let mut event = example();
    event.anomaly_detected = false;
    event.rul = Rul::unknown("no trend");
    let judgement = Life::new().repeat(&event, 10);
    assert_eq!(judgement.diagnosis.risk_level, RiskLevel::Watch);
    assert!(used(&judgement, "RISK-10"));
    event.anomaly_detected = true;
    assert_eq!(judge_one(&event).diagnosis.risk_level, RiskLevel::Warning);
}

/// A bearing that was damaged before the first measurement: missing data never caps the risk.
#[test]
fn a_baseline_that_is_still_learnt_does_not_cap_the_risk() {
    let mut event = example();
    event.anomaly_detected = false;
    event.anomaly.baseline.state = pdm_shared::event::BaselineState::Learning;
    event.time_domain.iso_zone = Some(IsoZone::D);
    let judgement = Life::new().repeat(&event, 3);
    assert_eq!(judgement.diagnosis.risk_level, RiskLevel::Critical);
    assert_ne!(judgement.diagnosis.uncertainty.level, UncertaintyLevel::Low);
}

#[test]
fn a_bad_signal_keeps_the_risk_and_raises_the_uncertainty() {
    let mut life = Life::new();
    life.next(&example());
    let mut bad = healthy();
    bad.signal_quality.valid = false;
    bad.signal_quality.flags = vec![QualityFlag::FlatLine];
    let judgement = life.next(&bad);
    assert_eq!(judgement.diagnosis.risk_level, RiskLevel::Warning);
    assert_eq!(judgement.diagnosis.uncertainty.level, UncertaintyLevel::High);
    assert!(judgement.diagnosis.thoughts[0].conclusion.ko.contains("판정 불가"));
}

#[test]
fn a_standing_machine_is_neither_healthy_nor_faulty() {
    let mut off = healthy();
    off.operating.running = false;
    let mut life = Life::new();
    life.next(&example());
    let judgement = life.repeat(&off, 100);
    assert_eq!(judgement.diagnosis.risk_level, RiskLevel::Warning);
    assert!(judgement.diagnosis.thoughts[0].conclusion.ko.contains("설비 정지"));
}

#[test]
fn a_clear_multiple_makes_a_weak_line_clear() {
    let mut event = example();
    event.frequency_domain.bpfo.snr_db = Some(2.0);
    assert_eq!(judge_one(&event).diagnosis.fault_stage, 2, "its second multiple stands 14 dB high");
    event.frequency_domain.bpfo.harmonics.clear();
    assert_eq!(judge_one(&event).diagnosis.fault_stage, 1);
}

#[test]
fn harmonics_with_sidebands_are_stage_three() {
    let mut event = example();
    let line = &mut event.frequency_domain.bpfo;
    line.harmonics.push(Harmonic { n: 3, frequency_hz: 322.2, snr_db: 11.0 });
    line.sidebands.count = 4;
    let judgement = judge_one(&event);
    assert_eq!(judgement.diagnosis.fault_stage, 3);
    assert!(used(&judgement, "STAGE-3A"));
}

#[test]
fn lines_in_zone_d_are_stage_four_and_critical() {
    let mut event = example();
    event.time_domain.iso_zone = Some(IsoZone::D);
    let judgement = judge_one(&event);
    assert_eq!(
        (judgement.diagnosis.fault_stage, judgement.diagnosis.risk_level),
        (4, RiskLevel::Critical)
    );
}

#[test]
fn kurtosis_that_falls_while_the_level_is_up_is_no_recovery() {
    let mut life = Life::new();
    let mut event = example();
    event.time_domain.kurtosis = Some(9.0);
    life.next(&event);
    event.time_domain.kurtosis = Some(3.6);
    event.anomaly.contributors = vec!["rms_g".to_owned()];
    let judgement = life.next(&event);
    assert_eq!(judgement.diagnosis.fault_stage, 3);
    assert!(used(&judgement, "STAGE-3E"));
}

#[test]
fn a_floor_that_drowns_the_lines_is_stage_four() {
    let mut life = Life::new();
    life.next(&healthy());
    life.next(&example());
    let mut end = example();
    end.frequency_domain.dominant_fault = None;
    end.frequency_domain.noise_floor_g = Some(0.004);
    let judgement = life.next(&end);
    assert_eq!(judgement.diagnosis.fault_stage, 4);
    assert!(used(&judgement, "STAGE-4B"));
    assert_eq!(judgement.diagnosis.fault_type, Some(Fault::OuterRace), "remembered");
}

#[test]
fn velocity_alone_is_the_rotor_not_the_bearing() {
    let mut event = healthy();
    event.anomaly_detected = true;
    event.anomaly.contributors = vec!["velocity_rms_mm_s".to_owned()];
    let judgement = judge_one(&event);
    assert_eq!(
        (judgement.diagnosis.fault_stage, judgement.diagnosis.risk_level),
        (0, RiskLevel::Watch)
    );
    assert!(judgement.diagnosis.recommendation.ko.contains("축정렬"));
}

#[test]
fn acceleration_takes_the_lower_bound_and_is_rapid() {
    let mut event = example();
    event.trend.acceleration_detected = true;
    event.frequency_domain.dominant_fault = None;
    event.anomaly.contributors = vec!["kurtosis".to_owned()];
    let diagnosis = judge_one(&event).diagnosis;
    assert_eq!(diagnosis.degradation.speed, DegradationSpeed::Rapid);
    assert_eq!(diagnosis.rul_assessment.basis.as_deref(), Some("ci_low_hours"));
    assert!(diagnosis.rul_assessment.conservative);
}

#[test]
fn a_life_shorter_than_the_lead_time_is_critical() {
    let mut event = example();
    event.rul.hours = Some(100.0);
    event.rul.ci_low_hours = Some(60.0);
    event.rul.ci_high_hours = Some(200.0);
    let judgement = judge_one(&event);
    assert_eq!(judgement.diagnosis.risk_level, RiskLevel::Critical);
    assert!(used(&judgement, "RISK-5"));
    assert!(judgement.diagnosis.recommendation.ko.contains("LOTO"));
}

/// RUL-6: neither a lower bound nor a median with a wide interval stops a machine at stage 2 and
/// zone A.
#[test]
fn a_forecast_that_cannot_be_trusted_asks_for_a_plan_and_stops_nothing() {
    let mut event = example();
    event.trend.acceleration_detected = true;
    event.time_domain.iso_zone = Some(IsoZone::A);
    event.anomaly.level_ratio = Some(1.10);
    for (low, median, high) in [(6.0, 300.0, 900.0), (6.0, 100.0, 900.0)] {
        event.rul.ci_low_hours = Some(low);
        event.rul.hours = Some(median);
        event.rul.ci_high_hours = Some(high);
        let diagnosis = Life::new().repeat(&event, 5).diagnosis;
        assert_eq!((diagnosis.fault_stage, diagnosis.risk_level), (2, RiskLevel::Warning));
        assert!(!diagnosis.recommendation.en.contains("Stop as soon"), "{diagnosis:#?}");
    }
    event.trend.trend_direction = TrendDirection::Stable;
    event.trend.acceleration_detected = false;
    event.rul.ci_high_hours = Some(120.0);
    let diagnosis = judge_one(&event).diagnosis;
    assert_eq!(diagnosis.risk_level, RiskLevel::Warning, "no significant growth");
}

/// One recording is a technician's whole evidence (SCREEN-6, STAGE-2C): as `judge --help` pipes it.
#[test]
fn one_recording_of_a_plain_fault_is_watch_and_asks_for_a_second_measurement() {
    let mut event = example();
    event.anomaly_detected = false;
    event.anomaly.baseline.state = BaselineState::Learning;
    event.anomaly.level_ratio = None;
    event.rul = Rul::unknown("one recording has no history");
    event.trend.trend_direction = TrendDirection::Unknown;
    event.frequency_domain.confidence = 0.99;
    let line = &mut event.frequency_domain.bpfo;
    line.harmonics.push(Harmonic { n: 3, frequency_hz: 322.2, snr_db: 11.0 });
    line.sidebands.count = 4;
    let judgement = judge_one(&event);
    let diagnosis = &judgement.diagnosis;
    assert_eq!((diagnosis.risk_level, diagnosis.fault_stage), (RiskLevel::Watch, 2));
    assert_eq!(diagnosis.fault_type, Some(Fault::OuterRace));
    assert!(used(&judgement, "STAGE-2C") && used(&judgement, "RISK-1"));
    assert!(diagnosis.recommendation.en.contains("second measurement"), "{diagnosis:#?}");
    assert!(diagnosis.recommendation.ko.contains("같은 측정점"), "{diagnosis:#?}");
    let all: Vec<&str> = diagnosis.thoughts.iter().map(|one| one.conclusion.en.as_str()).collect();
    let said = all.join("\n");
    assert!(!said.contains("nothing that asks for action") && !said.contains("Normal"), "{said}");
    // the same again is more than one recording
    let third = Life::new().repeat(&event, 3).diagnosis;
    assert_eq!((third.risk_level, third.fault_stage), (RiskLevel::Warning, 3));
    // while a gateway learns, a name that is less certain is no alarm, and says that it is to be
    // confirmed
    event.frequency_domain.confidence = 0.8;
    event.anomaly.baseline.windows = 12;
    let unsure = judge_one(&event).diagnosis;
    assert_eq!(unsure.risk_level, RiskLevel::Normal);
    assert!(unsure.thoughts[4].conclusion.en.contains("further measurement"), "{unsure:#?}");
}

/// SCREEN-6: a name of the only recording is no less than damage whose part is open. Paderborn's
/// KA16 at 0.899 was told as Normal.
#[test]
fn a_less_certain_name_in_the_only_recording_is_watch_too() {
    let mut event = example();
    event.anomaly_detected = false;
    (event.anomaly.baseline.state, event.anomaly.baseline.windows) = (BaselineState::Learning, 0);
    event.anomaly.level_ratio = None;
    event.time_domain.kurtosis = Some(3.0);
    event.rul = Rul::unknown("one recording has no history");
    event.trend.trend_direction = TrendDirection::Unknown;
    event.frequency_domain.confidence = 0.72;
    event.frequency_domain.bpfo.snr_db = Some(8.0);
    let judgement = judge_one(&event);
    let diagnosis = &judgement.diagnosis;
    assert_eq!((diagnosis.risk_level, diagnosis.fault_stage), (RiskLevel::Watch, 2));
    assert!(used(&judgement, "STAGE-2C"), "{judgement:#?}");
    assert!(diagnosis.recommendation.en.contains("second measurement"), "{diagnosis:#?}");
    let said = &diagnosis.thoughts[0].conclusion;
    assert!(said.en.contains("signs of a defect") && !said.en.contains("plain"), "{said:?}");
    let doubts = &diagnosis.uncertainty.causes;
    assert!(doubts.iter().any(|doubt| doubt.en.contains("moderate confidence")), "{doubts:?}");
    // a sound bearing's recording asks for nothing
    event.frequency_domain.dominant_fault = None;
    assert_eq!(judge_one(&event).diagnosis.risk_level, RiskLevel::Normal);
}

/// Issue 35, point 4 (SCREEN-7, STAGE-2D): damage is seen, its element is open.
#[test]
fn damage_whose_part_is_open_is_watch_and_names_the_two_that_it_may_be() {
    let mut event = example();
    event.anomaly_detected = false;
    event.anomaly.baseline.state = BaselineState::Learning;
    event.anomaly.level_ratio = None;
    event.time_domain.kurtosis = Some(3.0);
    event.rul = Rul::unknown("one recording has no history");
    event.trend.trend_direction = TrendDirection::Unknown;
    (event.frequency_domain.dominant_fault, event.frequency_domain.confidence) = (None, 0.4);
    let open = OpenDamage { most_likely: Fault::InnerRace, or_else: Fault::Ball };
    event.frequency_domain.damaged = Some(open);
    let judgement = judge_one(&event);
    let diagnosis = &judgement.diagnosis;
    assert_eq!((diagnosis.risk_level, diagnosis.fault_stage), (RiskLevel::Watch, 2));
    assert_eq!(diagnosis.fault_type, None, "no part is named");
    assert!(used(&judgement, "SCREEN-7") && used(&judgement, "STAGE-2D"));
    let advice = &diagnosis.recommendation;
    assert!(advice.en.contains("candidates: inner race, rolling element"), "{advice:?}");
    assert!(advice.en.contains("second measurement"), "{advice:?}");
    assert!(advice.ko.contains("부위 미확정"), "{advice:?}");
    assert!(!advice.en.contains("  "), "{advice:?}");
    assert_eq!(withheld(&judgement, &event, &Memory::default()), Vec::<String>::new());
    assert!(diagnosis.thoughts[0].conclusion.en.contains("candidates: inner race"));
    // against a ready baseline that raises no flag it moves nothing
    event.anomaly.baseline.state = BaselineState::Ready;
    assert_eq!(judge_one(&event).diagnosis.risk_level, RiskLevel::Normal);
}

/// RISK-14: nothing changes, so the judgement does not change when the baseline is complete and the
/// edge turns to its fast path.
#[test]
fn a_bearing_that_was_damaged_at_commissioning_stays_what_it_is() {
    let mut event = example();
    event.anomaly_detected = false;
    event.anomaly.baseline.state = BaselineState::Learning;
    event.rul = Rul::unknown("no trend");
    event.trend.trend_direction = TrendDirection::Stable;
    event.frequency_domain.confidence = 0.99;
    let line = &mut event.frequency_domain.bpfo;
    line.harmonics.push(Harmonic { n: 3, frequency_hz: 322.2, snr_db: 11.0 });
    line.sidebands.count = 4;
    let mut life = Life::new();
    let learnt = life.repeat(&event, 50).diagnosis;
    assert_eq!((learnt.risk_level, learnt.fault_stage), (RiskLevel::Warning, 3));
    event.anomaly.baseline.state = BaselineState::Ready;
    event.frequency_domain.bpfo.harmonics.truncate(1);
    event.frequency_domain.bpfo.sidebands.count = 0;
    let last = life.repeat(&event, 100);
    let diagnosis = &last.diagnosis;
    assert_eq!((diagnosis.risk_level, diagnosis.fault_stage), (RiskLevel::Warning, 3));
    assert!(used(&last, "RISK-14"));
    let row = diagnosis.thoughts[4].evidence.iter().find(|one| one.path.starts_with("config.risk"));
    let row = row.expect("the row of the matrix");
    assert_eq!((row.path.as_str(), &row.value), ("config.risk.stable[3]", &"Warning".into()));
    let causes = &diagnosis.uncertainty.causes;
    assert!(causes.iter().any(|cause| cause.en.contains("damaged already")), "{causes:?}");
    // once the damage is gone, it is over
    assert_eq!(life.repeat(&healthy(), 40).diagnosis.risk_level, RiskLevel::Normal);
}

#[test]
fn an_unknown_life_is_said_to_be_unknown() {
    let mut event = example();
    event.rul = Rul::unknown("no significant trend");
    let diagnosis = judge_one(&event).diagnosis;
    assert_eq!(diagnosis.rul_assessment.hours, None);
    assert_eq!(diagnosis.rul_assessment.unknown.as_deref(), Some("no significant trend"));
    assert_ne!(diagnosis.uncertainty.level, UncertaintyLevel::Low);
}

#[test]
fn a_life_of_bearings_in_general_is_no_news_of_this_one() {
    let mut event = example();
    event.rul = Rul::unknown("no anomaly");
    let without = judge_one(&event).diagnosis;
    event.rul = Rul {
        hours: Some(20.0),
        ci_low_hours: Some(5.0),
        ci_high_hours: Some(100.0),
        confidence: Some(0.8),
        model: Some("population".to_owned()),
        unknown: None,
    };
    let diagnosis = judge_one(&event).diagnosis;
    assert_eq!(diagnosis.risk_level, without.risk_level);
    assert_eq!(diagnosis.rul_assessment.hours, None);
    assert_eq!(diagnosis.recommendation, without.recommendation);
    assert_ne!(diagnosis.uncertainty.level, UncertaintyLevel::Low);
}

#[test]
fn a_critical_asset_is_one_level_higher() {
    let mut rules = Rules::default();
    rules.risk.critical_asset = true;
    let judgement = judge_with(&example(), &crate::case::Memory::default(), &rules);
    assert_eq!(judgement.diagnosis.risk_level, RiskLevel::Critical);
}

/// R-AGENT-5, RISK-13: a model in the loop raises and never lowers, and what it raised stands.
#[test]
fn a_model_may_ask_for_more_and_never_for_less() {
    let (rules, memory) = (Rules::default(), Memory::default());
    let event = example();
    let case = Case { event: &event, memory: &memory, now: event.measured_at.plus_seconds(2.0) };
    let floor = judge_one(&event);
    for asked in [RiskLevel::Normal, RiskLevel::Watch, RiskLevel::Warning] {
        assert_eq!(judge_raised(&case, &rules, asked), floor, "{asked}");
    }
    let raised = judge_raised(&case, &rules, RiskLevel::Critical);
    assert_eq!(raised.diagnosis.risk_level, RiskLevel::Critical);
    assert_eq!(raised.state.risk(), RiskLevel::Critical, "the bearing stands there");
    assert!(used(&raised, "RISK-13") && !used(&floor, "RISK-13"));
    assert_ne!(raised.diagnosis.recommendation, floor.diagnosis.recommendation);
    let mut life = Life::new();
    life.memory.recall(&event, &raised);
    assert_eq!(life.next(&example()).diagnosis.risk_level, RiskLevel::Critical);
}

#[test]
fn the_risk_falls_only_after_lasting_improvement() {
    let mut life = Life::new();
    life.next(&example());
    let after = life.rules.risk.downgrade_after as usize;
    assert_eq!(life.repeat(&healthy(), after - 1).diagnosis.risk_level, RiskLevel::Warning);
    let judgement = life.next(&healthy());
    assert_eq!(judgement.diagnosis.risk_level, RiskLevel::Normal);
    assert_eq!((judgement.diagnosis.fault_stage, judgement.diagnosis.fault_type), (0, None));
}

#[test]
fn one_bad_window_in_the_improvement_starts_it_again() {
    let mut life = Life::new();
    life.next(&example());
    for _ in 0..3 {
        life.repeat(&healthy(), 29);
        life.next(&example());
    }
    assert_eq!(life.repeat(&healthy(), 29).diagnosis.risk_level, RiskLevel::Warning);
}

#[test]
fn a_late_event_does_not_lower_the_risk_nor_count_as_better() {
    let mut life = Life::new();
    life.next(&example());
    let state = life.memory.state.clone();
    let mut late = healthy();
    late.measured_at = example().measured_at.plus_seconds(-60.0);
    let judgement = judge_with(&late, &life.memory, &life.rules);
    assert!(judgement.late);
    assert_eq!(judgement.diagnosis.risk_level, RiskLevel::Warning);
    assert_eq!(judgement.state.points, state.points);
}

/// An event dated 9999 would be the bearing's last for ever: everything after it would be late.
#[test]
fn an_event_ahead_of_the_clock_is_judged_and_moves_no_memory() {
    let mut life = Life::new();
    life.next(&healthy());
    let before = life.memory.clone();
    let now = life.at;
    let mut ahead = example();
    for ahead_s in [3601.0, 3e11] {
        ahead.measured_at = Timestamp::parse("9999-12-31T23:59:59Z").expect("a time");
        if ahead_s < 1e6 {
            ahead.measured_at = now.plus_seconds(ahead_s);
        }
        let case = crate::case::Case { event: &ahead, memory: &life.memory, now };
        let judgement = crate::judge(&case, &life.rules);
        assert!(judgement.late && judgement.ahead);
        assert_eq!(judgement.diagnosis.risk_level, RiskLevel::Warning, "as bad as it says");
        assert_eq!(judgement.diagnosis.uncertainty.level, UncertaintyLevel::High);
        assert_eq!(judgement.state, before.state);
        life.memory.recall(&ahead, &judgement);
        assert_eq!(life.memory, before);
    }
    let judgement = life.next(&example());
    assert!(!judgement.late, "the next window of a right clock is no late one");
    ahead.measured_at = now.plus_seconds(3599.0);
    let case = crate::case::Case { event: &ahead, memory: &life.memory, now };
    assert!(!case.is_ahead(&life.rules));
}

#[test]
fn a_bearing_stands_as_its_worst_measuring_point() {
    let mut life = Life::new();
    life.next(&example());
    let mut other = healthy();
    other.measuring_point = Some("DE-V".parse().expect("name"));
    let judgement = life.repeat(&other, 100);
    assert_eq!(judgement.diagnosis.risk_level, RiskLevel::Warning);
    assert!(judgement.diagnosis.thoughts[4].conclusion.ko.contains("다른 측정점"));
}

/// A run to failure whose bearing never shows a defect line, as in FEMTO.
#[test]
fn a_bearing_without_lines_still_goes_from_normal_to_critical() {
    let mut life = Life::new();
    let mut event = healthy();
    let mut seen = vec![life.repeat(&event, 20).diagnosis.risk_level];
    event.anomaly_detected = true;
    event.anomaly.contributors = vec!["envelope_rms_g".to_owned()];
    event.time_domain.envelope_rms_g = Some(0.08);
    seen.push(life.repeat(&event, 5).diagnosis.risk_level);
    event.anomaly.contributors = vec!["rms_g".to_owned(), "envelope_rms_g".to_owned()];
    event.time_domain.rms_g = Some(0.16);
    event.trend.trend_direction = TrendDirection::Rising;
    seen.push(life.repeat(&event, 5).diagnosis.risk_level);
    event.time_domain.kurtosis = Some(6.0);
    event.trend.acceleration_detected = true;
    seen.push(life.repeat(&event, 5).diagnosis.risk_level);
    assert_eq!(seen, RiskLevel::ALL);
    let last = life.next(&event).diagnosis;
    assert_eq!(last.fault_type, None);
    assert_ne!(last.uncertainty.level, UncertaintyLevel::Low);
}

fn repaired(at: Timestamp) -> Work {
    Work {
        event_id: example().event_id,
        asked_at: at,
        action: Text::new("베어링 교체", "Replace the bearing"),
        due_at: None,
        work_order: None,
        state: FollowUpState::Done,
        at: Some(at),
        repaired: true,
        found: None,
    }
}

/// R-AGENT-9: a repair that is reported and a baseline begun anew end the episode, neither alone.
#[test]
fn a_reported_repair_with_a_new_baseline_ends_the_episode() {
    let mut learning = healthy();
    learning.anomaly.baseline.state = BaselineState::Learning;
    let warned = || {
        let mut life = Life::new();
        life.repeat(&healthy(), 3);
        assert_eq!(life.repeat(&example(), 3).diagnosis.risk_level, RiskLevel::Warning);
        life
    };
    let mut life = warned();
    assert_eq!(life.next(&learning).diagnosis.risk_level, RiskLevel::Warning, "relearnt alone");
    life.memory.work.push(repaired(life.at));
    let closed = life.next(&learning);
    assert_eq!((closed.diagnosis.risk_level, closed.diagnosis.fault_stage), (RiskLevel::Normal, 0));
    assert!(used(&closed, "REPAIR-1") && closed.state.repaired_at.is_some());
    assert!(closed.state.reached.is_empty());
    assert_eq!(life.next(&example()).diagnosis.risk_level, RiskLevel::Warning, "a new episode");
    let mut life = warned();
    life.memory.work.push(repaired(life.at));
    assert_eq!(life.next(&healthy()).diagnosis.risk_level, RiskLevel::Warning, "reported alone");
}

/// R-AGENT-9: thoughts two and five say how long, three how the remaining life moved.
#[test]
fn the_thoughts_tell_the_course_in_days() {
    let mut life = Life::new();
    life.step_s = 86_400.0;
    life.repeat(&healthy(), 2);
    let mut event = example();
    for hours in [800.0, 760.0, 300.0] {
        event.rul = Rul { ci_low_hours: Some(hours), ..event.rul };
        life.next(&event);
    }
    let mut event = example();
    event.rul = Rul { ci_low_hours: Some(120.0), ..event.rul };
    let told = life.next(&event).diagnosis;
    let of = |title: ThoughtTitle| {
        let thought = told.thoughts.iter().find(|thought| thought.title == title);
        thought.expect("there").conclusion.en.clone()
    };
    assert!(of(ThoughtTitle::PfStage).contains("at stage 2 for 3 days"), "{told:#?}");
    let speed = of(ThoughtTitle::Degradation);
    assert!(speed.contains("from 33 days to 5 days in 3 days: faster than time passes"), "{speed}");
    assert!(of(ThoughtTitle::OverallRisk).contains("Warning for 3 days"), "{told:#?}");
}

/// Values of a transmitter: that no line stands out is no finding, since none could be looked for.
#[test]
fn values_without_a_waveform_rule_no_bearing_damage_out() {
    let mut event = healthy();
    event.window.samples = 0;
    let says = |event: &pdm_shared::event::Event| {
        let diagnosis = judge_one(event).diagnosis;
        assert!(withheld(&judge_one(event), event, &Memory::default()).is_empty());
        let doubts = diagnosis.uncertainty.causes.iter().map(|cause| cause.en.clone());
        let thoughts = diagnosis.thoughts.iter().map(|thought| thought.conclusion.en.clone());
        doubts.chain(thoughts).collect::<Vec<_>>().join("\n")
    };
    let told = says(&event);
    assert!(told.contains("neither found nor ruled out"), "{told}");
    event.anomaly_detected = true;
    event.anomaly.contributors = vec!["velocity_rms_mm_s".to_owned(), "rms_g".to_owned()];
    let told = says(&event);
    assert!(told.contains("neither bearing damage nor a matter of the machine"), "{told}");
    assert!(!told.contains("without a sign of bearing damage"), "{told}");
    event.window.samples = 25_600;
    assert!(says(&event).contains("without a sign of bearing damage"));
}
