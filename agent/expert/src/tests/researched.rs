//! Tests the changes that research makes in a judgement (R-AGENT-6).

use pdm_shared::diagnosis::{Diagnosis, ResearchEffect, ThoughtTitle, UncertaintyLevel};
use pdm_shared::event::{Event, TrendDirection};
use pdm_shared::fault::Fault;
use serde_json::Map;

use super::{example, judge_with, shipped};
use crate::case::{Case, Memory};
use crate::grounding::{Grounds, withhold};
use crate::research::{
    Document, HISTORY, Inquiry, LookupOutcome, MANUAL, Question, ask, tell_research,
};
use crate::rules::Rules;

fn accelerating() -> Event {
    let mut event = example();
    event.trend.trend_direction = TrendDirection::Rising;
    event.trend.acceleration_detected = true;
    event
}

/// Returns an event with the same fault of the inner race and the signs of MH-06, sixteen days
/// before its end.
fn inner_race() -> Event {
    let mut event = accelerating();
    let line = event.frequency_domain.bpfo.clone();
    event.frequency_domain.bpfo = event.frequency_domain.bpfi.clone();
    event.frequency_domain.bpfi = line;
    event.frequency_domain.bpfi.snr_db = Some(10.5);
    event.frequency_domain.bpfi.harmonics.truncate(1);
    event.frequency_domain.bpfi.sidebands.count = 2;
    event.frequency_domain.dominant_fault = Some(Fault::InnerRace);
    event
}

fn found(round: u32, tool: &str, documents: Vec<Document>, inquiry: &mut Inquiry) {
    let question = Question {
        round,
        tool: tool.to_owned(),
        arguments: Map::new(),
        why: pdm_shared::text::Text::new("", ""),
        rule: "RESEARCH-1".to_owned(),
        drawn_from: None,
    };
    inquiry.note(question, LookupOutcome { documents, ..LookupOutcome::default() });
}

fn told(event: &Event, memory: &Memory, inquiry: &Inquiry) -> Diagnosis {
    let mut diagnosis = judge_with(event, memory, &Rules::default()).diagnosis;
    let now = event.measured_at.plus_seconds(2.0);
    tell_research(&mut diagnosis, &Case { event, memory, now }, inquiry);
    let grounds = Grounds { event, memory, inquiry };
    assert_eq!(
        withhold(&mut diagnosis, &grounds, &Rules::default()),
        Vec::<String>::new(),
        "{diagnosis:#?}"
    );
    diagnosis
}

fn effects(diagnosis: &Diagnosis) -> Vec<ResearchEffect> {
    let research = diagnosis.research.as_ref().expect("researched");
    research.changes.iter().map(|change| change.effect).collect()
}

fn thought(diagnosis: &Diagnosis, title: ThoughtTitle) -> String {
    let thought = diagnosis.thoughts.iter().find(|thought| thought.title == title);
    thought.expect("there").conclusion.ko.clone()
}

/// A case that is most like this one but for how it ended, as a plant may have it.
fn planted(event: &Event) -> Document {
    let line = event.frequency_domain.bpfo.snr_db.expect("a line");
    let harmonics = event.frequency_domain.bpfo.harmonics.len();
    let kurtosis = event.time_domain.kurtosis.expect("measured");
    Document {
        id: "PLANT-7".to_owned(),
        title: "급수 펌프 P-109 외륜 오진".to_owned(),
        text: format!(
            "1 설비 정보 (Equipment)\n- P-109\n2 고장 개요 (Failure)\n- 외륜 결함으로 보고 교체했으나 \
             뺀 베어링은 멀쩡했다.\n3 진행 경과 (Course)\n- 9일 전: BPFO 결함선 {line:.0} dB, 고조파 \
             {harmonics}개, 첨도 {kurtosis:.1}. 2단계.\n4 근본 원인 (Root cause)\n- 이웃 베어링의 진동 \
             전달.\n5 조치 (Action)\n- 이웃 베어링 교체.\n"
        ),
        source: "PLANT-7 (plant)".to_owned(),
    }
}

#[test]
fn a_planted_case_that_contradicts_is_found_and_told() {
    let event = accelerating();
    let memory = Memory::default();
    let mut inquiry = Inquiry::default();
    found(1, HISTORY, vec![shipped("05"), planted(&event)], &mut inquiry);
    let diagnosis = told(&event, &memory, &inquiry);
    assert!(effects(&diagnosis).contains(&ResearchEffect::Contradiction), "{diagnosis:#?}");
    let last = thought(&diagnosis, ThoughtTitle::OverallRisk);
    assert!(last.contains("반대 사례 PLANT-7") && last.contains("손상이 아니었음"), "{last}");
    assert!(diagnosis.uncertainty.level >= UncertaintyLevel::Medium);
    let against = diagnosis.research.as_ref().expect("researched").compared.iter();
    assert_eq!(against.filter(|one| one.against).count(), 1);
    // and the next round asks what tells the two apart
    found(2, MANUAL, Vec::new(), &mut inquiry);
    found(2, HISTORY, vec![shipped("12")], &mut inquiry);
    let case = Case { event: &event, memory: &memory, now: event.measured_at };
    let asked = ask(&diagnosis, &case, &inquiry);
    let about = asked.iter().filter(|question| question.drawn_from.as_deref() == Some("PLANT-7"));
    assert!(about.count() >= 1, "{asked:#?}");
}

#[test]
fn a_case_with_the_same_signs_confirms_the_stage_and_shows_its_own_life() {
    let event = inner_race();
    let mut inquiry = Inquiry::default();
    found(1, HISTORY, vec![shipped("06")], &mut inquiry);
    let diagnosis = told(&event, &Memory::default(), &inquiry);
    let effects = effects(&diagnosis);
    assert!(effects.contains(&ResearchEffect::StageConfirmed), "{diagnosis:#?}");
    assert!(effects.contains(&ResearchEffect::SpeedConfirmed), "{effects:?}");
    let life = thought(&diagnosis, ThoughtTitle::Rul);
    assert!(life.contains("참고 사례 MH-06: 비슷한 징후에서 16일 뒤"), "{life}");
}

/// A case that is invented for teaching is never taken for the plant's own record.
#[test]
fn a_teaching_case_is_named_as_that() {
    let event = inner_race();
    let mut inquiry = Inquiry::default();
    let mut case = shipped("06");
    case.source = "MH-06 내륜 박리 (mh-06.md, synthetic)".to_owned();
    found(1, HISTORY, vec![case], &mut inquiry);
    let diagnosis = told(&event, &Memory::default(), &inquiry);
    let life = thought(&diagnosis, ThoughtTitle::Rul);
    assert!(life.contains("MH-06(교육용 사례): 비슷한 징후에서 16일 뒤"), "{life}");
    let english = diagnosis.thoughts.iter().map(|thought| thought.conclusion.en.as_str());
    let english = english.collect::<Vec<_>>().join("\n");
    assert!(english.contains("compare MH-06 (teaching case), which was replaced"), "{english}");
    assert!(!english.contains("MH-06, which") && !english.contains("MH-06 was"), "{english}");
}

/// "stage 2 for 9 days, faster than MH-05": the bearing's own time beside that of the case.
#[test]
fn the_bearings_pace_is_told_beside_that_of_a_case() {
    let mut event = accelerating();
    event.time_domain.kurtosis = Some(4.8);
    event.frequency_domain.bpfo.snr_db = Some(12.0);
    let mut memory = Memory::default();
    let now = event.measured_at;
    memory.state.reached.insert(1, now.plus_seconds(-60.0 * 86_400.0));
    memory.state.reached.insert(2, now.plus_seconds(-50.0 * 86_400.0));
    let mut inquiry = Inquiry::default();
    found(1, HISTORY, vec![shipped("05")], &mut inquiry);
    let diagnosis = told(&event, &memory, &inquiry);
    let speed = thought(&diagnosis, ThoughtTitle::Degradation);
    assert!(speed.contains("2단계 50일, MH-05(32일)보다 느림"), "{speed}");
    let stage = thought(&diagnosis, ThoughtTitle::PfStage);
    assert!(stage.contains("2단계에 이른 지 50일"), "{stage}");
}

#[test]
fn nothing_like_it_is_said_so() {
    let mut inquiry = Inquiry::default();
    found(1, HISTORY, vec![shipped("11")], &mut inquiry);
    let diagnosis = told(&accelerating(), &Memory::default(), &inquiry);
    assert_eq!(effects(&diagnosis), [ResearchEffect::NothingKnown]);
    assert!(diagnosis.uncertainty.level >= UncertaintyLevel::Medium);
}

/// Questions are of the case: another line, other signs, other questions.
#[test]
fn questions_are_made_from_what_the_case_leaves_open() {
    let memory = Memory::default();
    let asked = |event: &Event| {
        let case = Case { event, memory: &memory, now: event.measured_at };
        let diagnosis = judge_with(event, &memory, &Rules::default()).diagnosis;
        ask(&diagnosis, &case, &Inquiry::default())
    };
    let plain = accelerating();
    let mut open = accelerating();
    open.frequency_domain.bpfi.snr_db = Some(14.0);
    let rules = |event: &Event| -> Vec<String> {
        asked(event).into_iter().map(|question| question.rule).collect()
    };
    assert!(!rules(&plain).contains(&"RESEARCH-3".to_owned()));
    assert!(rules(&open).contains(&"RESEARCH-3".to_owned()));
    let first = asked(&plain)[0].arguments["query"].as_str().expect("a text").to_owned();
    let other = asked(&inner_race())[0].arguments["query"].as_str().expect("a text").to_owned();
    assert_ne!(first, other);
    assert!(first.contains("결함선") && first.contains("단계"), "{first}");
}

/// A case of another element speaks against a name only where the name is not sure.
#[test]
fn another_element_contradicts_an_unsure_name_alone() {
    let contradicts = |confidence: f64| {
        let mut event = accelerating();
        event.frequency_domain.confidence = confidence;
        let mut other = planted(&event);
        other.title = "송풍기 F-7 내륜 결함".to_owned();
        other.text = other
            .text
            .replace("외륜 결함으로 보고 교체했으나", "교체하니")
            .replace("멀쩡했다", "상했다");
        let mut inquiry = Inquiry::default();
        found(1, HISTORY, vec![other], &mut inquiry);
        let diagnosis = told(&event, &Memory::default(), &inquiry);
        effects(&diagnosis).contains(&ResearchEffect::Contradiction)
    };
    assert!(contradicts(0.75) && !contradicts(0.95));
}
