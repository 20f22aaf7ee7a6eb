//! A judgement as a chunk of `analysis_history`: its five conclusions and its verdict. A search
//! then finds a similar case by its conclusions.

use pdm_shared::diagnosis::{DegradationSpeed, Diagnosis, ThoughtTitle, UncertaintyLevel};
use pdm_shared::fault::Fault;
use pdm_shared::follow_up::Verdict;
use pdm_shared::text::Text;

use super::about::{About, Collection, DocType, Keywords};
use super::chunk::Chunk;
use super::document::hash;
use super::section::Section;

/// The chunk of a judgement. Its id is that of the event, so a second judgement of the event
/// replaces the first.
pub fn chunk(diagnosis: &Diagnosis) -> Chunk {
    let id = format!("AH-{}", diagnosis.event_id);
    let mut sections = vec![verdict(diagnosis), reasoning(diagnosis), advice(diagnosis)];
    sections.extend(found(diagnosis));
    let whole: Vec<String> = sections.iter().map(Section::whole).collect();
    let title = title(diagnosis);
    let about = About {
        collection: Collection::AnalysisHistory,
        doc_type: DocType::Judgement,
        keywords: keywords(diagnosis),
        asked: Vec::new(),
        equipment: Some(diagnosis.equipment_id.to_string()),
        bearing: Some(diagnosis.bearing_id.to_string()),
        fault_type: diagnosis.fault_type,
        synthetic: false,
        sources: vec![format!("event {}", diagnosis.event_id)],
        origin: format!("judgement of {}", diagnosis.judged_at),
        hash: hash(format!("{}\n{}\n{}", title.ko, title.en, whole.join("\n")).as_bytes()),
        added: None,
        title,
    };
    Chunk { document: id.clone(), id, about, sections }
}

fn title(diagnosis: &Diagnosis) -> Text {
    let (place, risk) = (
        format!("{} {}", diagnosis.equipment_id, diagnosis.bearing_id),
        format!("{:?}", diagnosis.risk_level),
    );
    let fault = fault(diagnosis.fault_type);
    let stage = diagnosis.fault_stage;
    Text::new(
        format!("{place} {} {stage}단계 {risk} 판정", fault.ko),
        format!("{place}: {}, stage {stage}, {risk}", fault.en),
    )
}

fn fault(fault: Option<Fault>) -> Text {
    match fault {
        None => Text::new("결함 없음", "no fault"),
        Some(Fault::OuterRace) => Text::new("외륜 결함", "outer race fault"),
        Some(Fault::InnerRace) => Text::new("내륜 결함", "inner race fault"),
        Some(Fault::Ball) => Text::new("전동체 결함", "rolling element fault"),
        Some(Fault::Cage) => Text::new("보지기 결함", "cage fault"),
    }
}

fn keywords(diagnosis: &Diagnosis) -> Keywords {
    let speed = match diagnosis.degradation.speed {
        DegradationSpeed::None => Text::new("열화 없음", "no degradation"),
        DegradationSpeed::Slow => Text::new("느린 열화", "slow degradation"),
        DegradationSpeed::Moderate => Text::new("보통 열화", "moderate degradation"),
        DegradationSpeed::Rapid => Text::new("급속 열화", "rapid degradation"),
    };
    Keywords { ko: vec![speed.ko], en: vec![speed.en] }
}

fn section(number: &str, title: &str, lines: Vec<String>) -> Section {
    Section {
        number: number.to_owned(),
        title: title.to_owned(),
        body: lines.join("\n"),
        english: String::new(),
    }
}

fn verdict(diagnosis: &Diagnosis) -> Section {
    let rul = &diagnosis.rul_assessment;
    let rul = match (rul.hours, &rul.unknown) {
        (Some(hours), _) => format!("잔여수명 (RUL): {hours} h"),
        (None, reason) => format!("잔여수명 (RUL): {}", reason.as_deref().unwrap_or("unknown")),
    };
    let level = match diagnosis.uncertainty.level {
        UncertaintyLevel::Low => "불확실성 낮음 (low uncertainty)",
        UncertaintyLevel::Medium => "불확실성 중간 (medium uncertainty)",
        UncertaintyLevel::High => "불확실성 높음 (high uncertainty)",
    };
    let judged = format!("{} {:?}", diagnosis.judged_at, diagnosis.risk_level);
    section("1", "판정 (Verdict)", vec![judged, rul, level.to_owned()])
}

fn reasoning(diagnosis: &Diagnosis) -> Section {
    let lines = diagnosis.thoughts.iter().map(|thought| {
        let title = match thought.title {
            ThoughtTitle::InitialScreening => "초기 판별",
            ThoughtTitle::PfStage => "단계 판정",
            ThoughtTitle::Degradation => "열화 평가",
            ThoughtTitle::Rul => "잔여수명 평가",
            ThoughtTitle::OverallRisk => "종합 판단",
        };
        format!("{title}: {} / {}", thought.conclusion.ko, thought.conclusion.en)
    });
    section("2", "추론 (Reasoning)", lines.collect())
}

fn advice(diagnosis: &Diagnosis) -> Section {
    let advice = &diagnosis.recommendation;
    section("3", "권고 (Recommendation)", vec![advice.ko.clone(), advice.en.clone()])
}

/// Returns the section on staff's later finding on the machine.
fn found(diagnosis: &Diagnosis) -> Option<Section> {
    let found = diagnosis.found.as_ref()?;
    let verdict = match found.verdict {
        Verdict::Right => "판정이 맞았음 (the judgement was right)",
        Verdict::Wrong => "이상이 없었음 (nothing was wrong)",
        Verdict::OtherCause => "다른 원인이었음 (another cause)",
    };
    let mut lines = vec![verdict.to_owned()];
    lines.extend(found.element.map(|element| {
        let name = fault(Some(element));
        format!("{} ({})", name.ko, name.en)
    }));
    lines.extend(found.cause.clone());
    Some(section("4", "확인 결과 (Found)", lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Diagnosis {
        let text = include_str!("../../../config/examples/diagnosis.json");
        serde_json::from_str(text).expect("diagnosis")
    }

    #[test]
    fn a_judgement_is_one_chunk_with_all_its_conclusions() {
        let diagnosis = example();
        let chunk = chunk(&diagnosis);
        let body = chunk.body();
        for thought in &diagnosis.thoughts {
            assert!(body.contains(&thought.conclusion.ko), "{body}");
        }
        assert_eq!(chunk.about.equipment.as_deref(), Some("P-101"));
    }

    #[test]
    fn another_verdict_on_the_same_event_has_the_same_id_and_another_hash() {
        let before = example();
        let mut after = before.clone();
        after.fault_stage = 3;
        let (before, after) = (chunk(&before), chunk(&after));
        assert_eq!(before.id, after.id);
        assert_ne!(before.about.hash, after.about.hash);
    }
}
