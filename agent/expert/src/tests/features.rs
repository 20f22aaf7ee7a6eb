//! Claims on what a contributor of an anomaly asks for, by its kind, where nothing else is shown.

use pdm_shared::event::{DefectLine, Event};
use pdm_shared::fault::Fault;
use pdm_shared::feature::{Feature, FeatureKind, LineFigure};
use pdm_shared::risk::RiskLevel;

use super::{Life, example, judge_one};

/// The contract's event with quiet lines and a usual kurtosis, whose anomaly rests on these
/// features.
fn quiet(contributors: &[Feature]) -> Event {
    let mut event = example();
    event.time_domain.kurtosis = Some(3.1);
    let lines = &mut event.frequency_domain;
    (lines.dominant_fault, lines.confidence) = (None, 0.0);
    for line in [&mut lines.bpfo, &mut lines.bpfi, &mut lines.bsf, &mut lines.ftf] {
        *line = DefectLine { score: Some(0.0), snr_db: Some(2.0), ..DefectLine::default() };
    }
    event.anomaly.contributors = contributors.iter().map(|one| one.key().into_owned()).collect();
    if let Some(first) = contributors.first() {
        event.trend.feature = first.key().into_owned();
    }
    if contributors.contains(&Feature::LowBandRms) {
        event.time_domain.velocity_rms_mm_s = None;
        event.time_domain.iso_zone = None;
        event.time_domain.low_band_rms_g = Some(0.35);
    }
    event
}

/// Every feature alone, and a column of a historian.
fn alone() -> Vec<Feature> {
    let levels = Fault::ALL.map(|fault| Feature::Line(Some(fault), LineFigure::Level));
    let other = Feature::Other("Pump_ch1_rms".to_owned());
    Feature::OF_WAVEFORM.into_iter().chain(levels).chain([other]).collect()
}

/// A velocity and its stand-in ask for the same: the machine's balance, not a bearing.
#[test]
fn the_stand_in_of_the_velocity_asks_for_what_the_velocity_asks_for() {
    let [velocity, low_band] = [Feature::Velocity, Feature::LowBandRms]
        .map(|feature| judge_one(&quiet(&[feature])).diagnosis);
    assert_eq!(velocity.recommendation, low_band.recommendation);
    assert!(velocity.recommendation.en.contains("alignment"), "{:?}", velocity.recommendation);
    assert_eq!((velocity.risk_level, velocity.fault_stage), (RiskLevel::Warning, 0));
    assert_eq!((low_band.risk_level, low_band.fault_stage), (RiskLevel::Warning, 0));
}

/// STAGE-2B wants a sign of the bearing with the level.
#[test]
fn a_level_alone_is_a_check_of_the_machine_and_no_order_of_a_bearing() {
    for contributors in [vec![Feature::Rms], vec![Feature::Velocity, Feature::Rms]] {
        let diagnosis = judge_one(&quiet(&contributors)).diagnosis;
        assert_eq!((diagnosis.risk_level, diagnosis.fault_stage), (RiskLevel::Warning, 0));
        assert!(diagnosis.is_of_machine());
        let advice = &diagnosis.recommendation;
        assert!(!advice.ko.contains("교체") && !advice.en.contains("eplace"), "{advice:?}");
        assert!(!advice.ko.contains("발주") && !advice.en.contains("order"), "{advice:?}");
    }
}

/// A feature that speaks of the bearing gives a stage, one that does not gives none, whatever it
/// is.
#[test]
fn every_feature_alone_gives_a_stage_if_its_kind_speaks_of_the_bearing() {
    for feature in alone() {
        let diagnosis = judge_one(&quiet(std::slice::from_ref(&feature))).diagnosis;
        let is_staged = diagnosis.fault_stage > 0;
        assert_eq!(is_staged, feature.kind().is_of_bearing(), "{feature:?}");
        let speaks_of_bearing = diagnosis.recommendation.ko.contains("교체");
        assert_eq!(speaks_of_bearing, is_staged, "{feature:?} {:?}", diagnosis.recommendation);
    }
}

#[test]
fn a_level_with_a_sign_of_the_bearing_is_stage_two() {
    for feature in alone().into_iter().filter(|one| one.kind().is_of_bearing()) {
        let diagnosis = judge_one(&quiet(&[Feature::Rms, feature.clone()])).diagnosis;
        assert_eq!(diagnosis.fault_stage, 2, "{feature:?}");
    }
}

/// A bearing whose damage was judged before is not forgotten for a window that shows a level alone.
#[test]
fn a_standing_stage_keeps_the_advice_on_the_bearing() {
    let mut life = Life::new();
    life.next(&example());
    let diagnosis = life.next(&quiet(&[Feature::Velocity])).diagnosis;
    assert_eq!((diagnosis.fault_stage, diagnosis.fault_type), (2, Some(Fault::OuterRace)));
    assert!(diagnosis.recommendation.ko.contains("교체"), "{:?}", diagnosis.recommendation);
}

#[test]
fn an_emergency_of_the_machine_stops_it_and_replaces_no_bearing() {
    let mut event = quiet(&[Feature::Rms]);
    event.anomaly.level_ratio = Some(6.0);
    let diagnosis = judge_one(&event).diagnosis;
    assert_eq!((diagnosis.risk_level, diagnosis.fault_stage), (RiskLevel::Critical, 0));
    let advice = &diagnosis.recommendation;
    assert!(advice.en.contains("inspect the machine") && advice.ko.contains("LOTO"), "{advice:?}");
    assert!(!advice.en.contains("eplace"), "{advice:?}");
}

/// Cards, reports and messages are made of these texts.
#[test]
fn no_text_of_a_judgement_holds_the_key_of_a_feature() {
    for feature in alone() {
        let is_known = feature.kind() != FeatureKind::Unknown;
        let diagnosis = judge_one(&quiet(std::slice::from_ref(&feature))).diagnosis;
        let thoughts = diagnosis.thoughts.iter().map(|thought| &thought.conclusion);
        for text in thoughts.chain([&diagnosis.recommendation, &diagnosis.memory.summary]) {
            for told in [&text.ko, &text.en] {
                assert!(!is_known || !told.contains('_'), "{feature:?}: {told}");
            }
        }
    }
}
