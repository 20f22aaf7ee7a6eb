//! A complete case: a bearing that degraded over five days, with research and passages.

use std::collections::BTreeMap;
use std::path::Path;

use pdm_expert::case::{Case, Memory, PastEvent, Remembered};
use pdm_expert::judge;
use pdm_expert::rules::Rules;
use pdm_knowledge::chunk::cut;
use pdm_knowledge::document::Document;
use pdm_knowledge::{Chunk, Collection};
use pdm_report::{Asset, CaseFile, HistoryPoint, Planning, ResearchHit, ResearchRound};
use pdm_shared::event::{Event, Spectra, SpectrumLines};
use pdm_shared::fault::Fault;
use pdm_shared::id::EventId;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;

/// Windows of the case, one for each hour.
const HOURS: i64 = 120;

/// The contract's example event, with the spectrum that it describes.
fn event() -> Event {
    let mut event: Event =
        serde_json::from_str(include_str!("../../../../config/examples/event.json"))
            .expect("event");
    event.spectra = Some(spectra());
    event
}

/// A floor, and lines at BPFO, 2×BPFO, 3×BPFO.
fn spectra() -> Spectra {
    let amplitude: Vec<f64> = (0..650)
        .map(|line| {
            let hz = f64::from(line);
            let floor =
                0.0012 + 0.0005 * (hz * 0.7).sin().powi(2) + 0.0003 * (hz * 3.1).cos().powi(2);
            let peak = |at: f64, high: f64| high * (-((hz - at) / 0.9).powi(2)).exp();
            floor + peak(107.4, 0.024) + peak(214.8, 0.015) + peak(322.2, 0.008)
        })
        .collect();
    let lines = |unit: &str| SpectrumLines {
        df_hz: 1.0,
        unit: unit.to_owned(),
        amplitude: amplitude.clone(),
    };
    Spectra { envelope: lines("g"), acceleration: lines("g") }
}

fn past(hours_ago: i64) -> PastEvent {
    let mut event = Event { spectra: None, ..event() };
    let age = (HOURS - hours_ago) as f64;
    let grown = 0.04 + 0.08 * (age / HOURS as f64).powi(3);
    let noise = 0.004 * (age * 1.7).sin();
    event.time_domain.envelope_rms_g = Some(grown + noise);
    event.measured_at = event.measured_at.plus_seconds(-3600.0 * hours_ago as f64);
    event.anomaly_detected = age > 70.0;
    if hours_ago > 0 {
        event.event_id = EventId::at(event.measured_at.unix_ms());
    }
    let (risk, stage) = match age {
        age if age > 100.0 => (RiskLevel::Warning, 2),
        age if age > 70.0 => (RiskLevel::Watch, 1),
        _ => (RiskLevel::Normal, 0),
    };
    let fault = (stage > 0).then_some(Fault::OuterRace);
    let judged = Remembered::verdict(event.measured_at, risk, stage, fault);
    PastEvent { event, judged: Some(judged) }
}

/// The documents of the knowledge base.
fn document(name: &str) -> Vec<Chunk> {
    let path = format!("{}/../../config/knowledge/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("there");
    cut(&Document::parse(Path::new(name), &text, Collection::EquipmentManual).expect("document"))
}

fn research() -> Vec<ResearchRound> {
    let hit = |id: &str, title: &str, quote: &str| ResearchHit {
        id: id.to_owned(),
        title: title.to_owned(),
        source: format!("{id} {title} (config/knowledge)"),
        quote: quote.to_owned(),
    };
    vec![
        ResearchRound {
            round: 1,
            tool: "search_equipment_manual".to_owned(),
            question: "외륜 결함 급속 열화 조건".to_owned(),
            why: Text::new("열화 가속이 감지됨", "Acceleration was detected"),
            hits: vec![hit(
                "EM-02",
                "외륜 결함 가이드",
                "과부하, 윤활 부족, 박리 가장자리의 2차 압흔이 겹칠 때 급히 진행한다.",
            )],
            learnt: Text::new(
                "과부하와 윤활 부족이 급속 열화의 조건",
                "Overload and starvation make it grow fast",
            ),
        },
        ResearchRound {
            round: 2,
            tool: "search_maintenance_history".to_owned(),
            question: "외륜 박리 과부하 고장까지 소요 시간".to_owned(),
            why: Text::new(
                "앞 조사에서 과부하가 원인 후보로 나옴",
                "The round before named overload",
            ),
            hits: vec![hit("MH-03", "외륜 박리 사례", "BPFO 상승 뒤 이틀 남짓에 정지하였다.")],
            learnt: Text::new(
                "유사 사례는 며칠 안에 고장에 이름",
                "A similar case failed within days",
            ),
        },
    ]
}

/// The complete case.
pub(crate) fn case() -> CaseFile {
    let event = event();
    let history: Vec<PastEvent> = (0..=HOURS).rev().map(past).collect();
    let recent: Vec<Remembered> = history
        .iter()
        .rev()
        .skip(1)
        .step_by(20)
        .take(5)
        .filter_map(|past| past.judged.clone())
        .collect();
    let memory = Memory { recent: recent.clone(), ..Memory::default() };
    let now = event.measured_at.plus_seconds(2.0);
    let judgement = judge(&Case { event: &event, memory: &memory, now }, &Rules::default());
    let grounds = ["em-06.md", "em-02.md", "em-07.md"]
        .iter()
        .flat_map(|name| document(&format!("equipment_manual/{name}")))
        .filter(|chunk| chunk.about.fault_type.is_none_or(|fault| fault == Fault::OuterRace));
    CaseFile {
        diagnosis: judgement.diagnosis,
        memory: recent,
        work: Vec::new(),
        history: history.iter().map(HistoryPoint::of).collect(),
        research: research(),
        steps: Vec::new(),
        grounds: grounds.collect(),
        english: BTreeMap::new(),
        asset: Asset {
            site: Some(Text::new("울산 1공장", "Ulsan plant 1")),
            equipment: Some(Text::new("냉각수 펌프", "Cooling water pump")),
            location: Some(Text::new("구동측", "drive end")),
            designation: Some("6205-2RS/C3".to_owned()),
            zone: None,
        },
        planning: Planning {
            lead_time: Rules::default().lead_time,
            people: None,
            work_hours: None,
            planner: None,
        },
        waveform: None,
        event,
    }
}
