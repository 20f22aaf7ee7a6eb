//! Makes the report as data from the case file.

use pdm_expert::wording::{element, frequency};
use pdm_knowledge::DocType;
use pdm_shared::diagnosis::{ToolUse, UncertaintyLevel};
use pdm_shared::feature::Feature;
use pdm_shared::text::Text;

use super::case_file::CaseFile;
use super::data::{
    Figure, Passage, Past, PastJudgement, REPORT_SCHEMA, Report, Subject, SummaryLine, Thinking,
};
use super::{doubts, passages, plots, words};

/// The report of a case.
pub fn report(case: &CaseFile) -> Report {
    let diagnosis = &case.diagnosis;
    Report {
        schema: REPORT_SCHEMA.to_owned(),
        event_id: case.event.event_id,
        subject: subject(case),
        measured_at: case.event.measured_at,
        judged_at: diagnosis.judged_at,
        reasoner: diagnosis.reasoner,
        risk_level: diagnosis.risk_level,
        fault_type: diagnosis.fault_type,
        fault_stage: diagnosis.fault_stage,
        rul_assessment: diagnosis.rul_assessment.clone(),
        summary: summary(case),
        recommendation: diagnosis.recommendation.clone(),
        figures: figures(case),
        thoughts: thoughts(case),
        memory: Past {
            summary: diagnosis.memory.summary.clone(),
            judgements: case.memory.iter().map(PastJudgement::from).collect(),
        },
        research: case.research.clone(),
        english: case.english.clone(),
        tools: looked_up(case),
        uncertainty: diagnosis.uncertainty.clone(),
        would_change: doubts::would_change(case),
        data_quality: doubts::data_quality(case),
        disagreement: diagnosis.disagreement.clone(),
        knowledge: knowledge(case),
        plots: plots::plots(case),
        waveform: case.waveform.clone(),
    }
}

/// The calls of tools for the report. The message to staff comes after the report and is left out,
/// so that a report that is written again is the same.
fn looked_up(case: &CaseFile) -> Vec<ToolUse> {
    case.diagnosis.tools.iter().filter(|tool| tool.round > 0).cloned().collect()
}

/// The bearing, with the plant's names.
pub(crate) fn subject(case: &CaseFile) -> Subject {
    let event = &case.event;
    Subject {
        site: event.site.clone(),
        equipment_id: event.equipment_id.clone(),
        bearing_id: event.bearing_id.clone(),
        measuring_point: event.measuring_point.as_ref().map(ToString::to_string),
        site_name: case.asset.site.clone(),
        equipment_name: case.asset.equipment.clone(),
        location: case.asset.location.clone(),
        designation: case.asset.designation.clone(),
        zone: case.asset.zone.clone(),
    }
}

/// The finding in a phrase: `외륜 결함, P-F 2단계`.
pub(crate) fn finding(case: &CaseFile) -> Text {
    let stage = case.diagnosis.fault_stage;
    let what = match case.diagnosis.fault_type {
        Some(fault) => {
            let name = element(fault);
            Text::new(format!("{} 결함", name.ko), format!("{} fault", name.en))
        }
        None if stage == 0 => Text::new("결함 징후 없음", "no sign of damage"),
        None => Text::new("이상, 결함 부위 미특정", "anomaly, element not named"),
    };
    if stage == 0 {
        return what;
    }
    Text::new(format!("{}, P-F {stage}단계", what.ko), format!("{}, P-F stage {stage}", what.en))
}

/// Asset and finding; uncertainty; start; growth; remaining life; reasons for the risk (ISA-18.2
/// practice).
fn summary(case: &CaseFile) -> Vec<SummaryLine> {
    let diagnosis = &case.diagnosis;
    let line = |ko: &str, en: &str, text: Text| SummaryLine { label: Text::new(ko, en), text };
    let thought = |index: usize| diagnosis.thoughts.get(index).map(|told| told.conclusion.clone());
    let mut lines = vec![line("판정", "Finding", finding(case))];
    lines.push(line("확실성", "Certainty", certainty(case)));
    if diagnosis.memory.used > 0 {
        lines.push(line("이력", "History", diagnosis.memory.summary.clone()));
    }
    let rest = [
        ("열화 속도", "How fast", 2),
        ("잔여수명", "Remaining life", 3),
        ("위험도 근거", "Why this risk", 4),
    ];
    for (ko, en, index) in rest {
        lines.extend(thought(index).map(|text| line(ko, en, text)));
    }
    lines
}

fn certainty(case: &CaseFile) -> Text {
    let uncertainty = &case.diagnosis.uncertainty;
    let level = words::uncertainty(uncertainty.level);
    let told = Text::new(format!("불확실성 {}", level.ko), format!("Uncertainty {}", level.en));
    match uncertainty.causes.first() {
        Some(cause) if uncertainty.level != UncertaintyLevel::Low => {
            Text::new(format!("{}: {}", told.ko, cause.ko), format!("{}: {}", told.en, cause.en))
        }
        Some(_) | None => told,
    }
}

/// The most important measured values.
fn figures(case: &CaseFile) -> Vec<Figure> {
    let event = &case.event;
    let named = case.diagnosis.fault_type.map(|fault| (fault, event.frequency_domain.line(fault)));
    let mut figures = Vec::new();
    let mut add = |path: String, value: Option<f64>, label: Option<Text>| {
        let label = label.or_else(|| words::feature(&path));
        if let (Some(value), Some(label)) = (value, label) {
            let unit = words::unit(&path).to_owned();
            figures.push(Figure { label, value, unit, path });
        }
    };
    for feature in [
        Feature::Velocity,
        Feature::LowBandRms,
        Feature::Rms,
        Feature::EnvelopeRms,
        Feature::Kurtosis,
        Feature::CrestFactor,
    ] {
        add(format!("time_domain.{}", feature.key()), event.figure(&feature), None);
    }
    if let Some((fault, line)) = named {
        let at = format!("frequency_domain.{}", fault.frequency_key());
        let label = Text::new(frequency(fault), frequency(fault));
        let frequency_hz =
            line.harmonics.first().map(|first| first.frequency_hz).or(line.frequency_hz);
        let path =
            if line.harmonics.is_empty() { "frequency_hz" } else { "harmonics[0].frequency_hz" };
        add(format!("{at}.{path}"), frequency_hz, Some(label));
        add(format!("{at}.snr_db"), line.snr_db, None);
        add(
            "frequency_domain.confidence".to_owned(),
            Some(event.frequency_domain.confidence),
            None,
        );
    }
    add("anomaly.score".to_owned(), event.anomaly.score, None);
    add("operating.shaft_speed_rpm".to_owned(), event.operating.shaft_speed_rpm, None);
    add("rul.ci_low_hours".to_owned(), event.rul.ci_low_hours, None);
    add("rul.hours".to_owned(), event.rul.hours, None);
    add("rul.ci_high_hours".to_owned(), event.rul.ci_high_hours, None);
    figures
}

fn thoughts(case: &CaseFile) -> Vec<Thinking> {
    let told = case.diagnosis.thoughts.iter().map(|thought| Thinking {
        title: words::thought(thought.title),
        conclusion: thought.conclusion.clone(),
        model_words: thought.model_words.clone(),
        evidence: thought.evidence.clone(),
    });
    told.collect()
}

/// Passages of guides and failure modes about the fault; procedures go into the work order.
fn knowledge(case: &CaseFile) -> Vec<Passage> {
    let chunks = case
        .grounds
        .iter()
        .filter(|chunk| matches!(chunk.about.doc_type, DocType::FaultGuide | DocType::Fmea));
    chunks
        .flat_map(|chunk| chunk.sections.iter().map(move |section| (chunk, section)))
        .filter(|(_, section)| !section.body.is_empty() && !section.number.is_empty())
        .map(|(chunk, section)| passages::passage(chunk, section))
        .collect()
}
