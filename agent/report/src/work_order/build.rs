//! Makes the work order as data from the case file.

use pdm_expert::wording::{element, figure, hours, life};
use pdm_knowledge::{Chunk, DocType, Section};
use pdm_shared::event::Event;
use pdm_shared::follow_up::FollowUpState;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;

use super::data::{Part, Priority, Resource, Schedule, WORK_ORDER_SCHEMA, WorkKind, WorkOrder};
use crate::build::{finding, subject};
use crate::case_file::CaseFile;
use crate::data::Passage;
use crate::passages;

/// The stage from which a bearing is replaced even if no element is named, because damage is
/// certain.
const REPLACED_FROM: u8 = 3;

/// The work order of a case; `None` below Warning.
pub fn work_order(case: &CaseFile) -> Option<WorkOrder> {
    let diagnosis = &case.diagnosis;
    if diagnosis.risk_level < RiskLevel::Warning {
        return None;
    }
    let kind = if diagnosis.fault_type.is_some() || diagnosis.fault_stage >= REPLACED_FROM {
        WorkKind::Replace
    } else {
        WorkKind::Inspect
    };
    let quoted = Quoted::of(case, kind);
    let mut sources: Vec<String> = quoted.all().map(|passage| passage.source.clone()).collect();
    sources.dedup();
    Some(WorkOrder {
        schema: WORK_ORDER_SCHEMA.to_owned(),
        number: number(&case.event),
        supersedes: supersedes(case),
        event_id: case.event.event_id,
        subject: subject(case),
        created_at: diagnosis.judged_at,
        kind,
        title: title(case, kind),
        priority: priority(case),
        risk_level: diagnosis.risk_level,
        fault_type: diagnosis.fault_type,
        fault_stage: diagnosis.fault_stage,
        reason: reason(case),
        recommendation: diagnosis.recommendation.clone(),
        schedule: schedule(case),
        parts: parts(case, kind),
        tools: quoted.tools(),
        people: people(case, &quoted),
        hours: work_hours(case, &quoted),
        sign_off: sign_off(),
        waveform: case.waveform.clone(),
        safety: quoted.safety,
        preparation: quoted.preparation,
        procedure: quoted.procedure,
        acceptance: quoted.acceptance,
        sources,
    })
}

/// The number: `WO-20261121-2F0D5C8E4B11`, the day of the window and the last twelve digits of the
/// event's id.
pub fn number(event: &Event) -> String {
    let day = event.measured_at.date_time().format("%Y%m%d");
    let id = event.event_id.0.simple().to_string().to_uppercase();
    let tail: String = id.chars().skip(id.len().saturating_sub(12)).collect();
    format!("WO-{day}-{tail}")
}

/// The orders of the bearing that are open and that this one replaces.
fn supersedes(case: &CaseFile) -> Vec<String> {
    let open = case.work.iter().filter(|work| work.state == FollowUpState::Open);
    let mut numbers: Vec<String> = open.filter_map(|work| work.work_order.clone()).collect();
    numbers.dedup();
    numbers
}

fn title(case: &CaseFile, kind: WorkKind) -> Text {
    let part = case.diagnosis.fault_type.map(element);
    match (kind, part) {
        (WorkKind::Replace, Some(part)) => Text::new(
            format!("베어링 교체({} 결함)", part.ko),
            format!("Replace the bearing ({} fault)", part.en),
        ),
        (WorkKind::Replace, None) => Text::new("베어링 교체", "Replace the bearing"),
        (WorkKind::Inspect, _) => Text::new("진동 이상 점검", "Inspect a vibration anomaly"),
    }
}

/// The priority: Critical is an emergency. Warning is urgent if the remaining life is shorter than
/// the lead time or the damage accelerates, else planned.
fn priority(case: &CaseFile) -> Priority {
    if case.diagnosis.risk_level == RiskLevel::Critical {
        return Priority::Emergency;
    }
    let lead = case.planning.lead_time.total_h();
    let short = lower_bound(case).is_some_and(|left| left <= lead);
    if short || case.event.trend.acceleration_detected {
        Priority::Urgent
    } else {
        Priority::Planned
    }
}

/// Hours to plan with: the interval's lower bound, else the hours of the judgement.
fn lower_bound(case: &CaseFile) -> Option<f64> {
    case.event.rul.ci_low_hours.or(case.diagnosis.rul_assessment.hours)
}

fn reason(case: &CaseFile) -> Text {
    let finding = finding(case);
    match case.diagnosis.thoughts.last() {
        Some(risk) => Text::new(
            format!("{}. {}", finding.ko, risk.conclusion.ko),
            format!("{}. {}", finding.en, risk.conclusion.en),
        ),
        None => finding,
    }
}

/// The schedule: work ends by the window's time plus the lower bound; parts are ordered earlier by
/// the lead time. A date in the past becomes "at once".
fn schedule(case: &CaseFile) -> Schedule {
    let lead = &case.planning.lead_time;
    let now = case.diagnosis.judged_at;
    if case.diagnosis.risk_level == RiskLevel::Critical {
        let basis = Text::new(
            "위험 판정: 안전하게 멈출 수 있는 가장 빠른 시점에 정지하고 작업",
            "Critical: stop and work as soon as it is safe",
        );
        return Schedule { at_once: true, finish_by: None, order_by: Some(now), basis };
    }
    let after = |at: Timestamp, hours: f64| at.plus_seconds(hours * 3600.0);
    let Some(left) = lower_bound(case) else {
        let told = hours(lead.total_h());
        let basis = Text::new(
            format!("잔여수명을 추정할 수 없어 교체 리드타임({}) 안에 작업", told.ko),
            format!("No remaining life can be told: within the lead time ({})", told.en),
        );
        let finish_by = Some(after(now, lead.total_h()));
        return Schedule { at_once: false, finish_by, order_by: Some(now), basis };
    };
    let end = after(case.event.measured_at, left);
    let order_by = after(end, -lead.total_h()).max(now);
    // as the judgement tells the same bound
    let (left, lead) = (life(left), hours(lead.total_h()));
    let basis = if order_by == now {
        Text::new(
            format!(
                "RUL 하한 {}, 교체 리드타임 {}: 지금 발주하고 긴급 조달을 검토",
                left.ko, lead.ko
            ),
            format!(
                "Lower bound {}, lead time {}: order now, consider expediting",
                left.en, lead.en
            ),
        )
    } else {
        Text::new(
            format!("RUL 하한 {} 안에 작업을 마치고, 교체 리드타임 {} 전에 발주", left.ko, lead.ko),
            format!(
                "Finish within the lower bound of {}, order the lead time of {} before",
                left.en, lead.en
            ),
        )
    };
    Schedule { at_once: false, finish_by: Some(end.max(now)), order_by: Some(order_by), basis }
}

fn parts(case: &CaseFile, kind: WorkKind) -> Vec<Part> {
    if kind == WorkKind::Inspect {
        return Vec::new();
    }
    let designation = case.asset.designation.clone();
    let note = if designation.is_some() {
        Text::new(
            "형번 끝자리(틈새 기호)를 현품과 대조",
            "Compare the suffix (clearance) with what is fitted",
        )
    } else {
        Text::new(
            "형번 확인 필요: 현품과 도면을 대조",
            "Designation to be checked against bearing and drawing",
        )
    };
    vec![Part { name: Text::new("베어링", "Bearing"), designation, note }]
}

fn people(case: &CaseFile, quoted: &Quoted) -> Resource {
    match case.planning.people {
        Some(people) => Resource {
            amount: Some(f64::from(people)),
            text: Text::new(format!("{people}명"), format!("{people}")),
            source: Some("config".to_owned()),
        },
        None => quoted.resource(&["인원", "Crew", "People"]),
    }
}

fn work_hours(case: &CaseFile, quoted: &Quoted) -> Resource {
    match case.planning.work_hours {
        Some(hours) => Resource {
            amount: Some(hours),
            text: Text::new(format!("{}시간", figure(hours)), format!("{} h", figure(hours))),
            source: Some("config".to_owned()),
        },
        None => quoted.resource(&["시간", "hours"]),
    }
}

fn sign_off() -> Vec<Text> {
    vec![
        Text::new("작업 승인", "Approved"),
        Text::new("LOTO 설치 확인", "Lockout verified"),
        Text::new("작업 완료", "Work done"),
        Text::new("LOTO 해제 확인", "Lockout removed"),
        Text::new("인수 확인", "Accepted"),
    ]
}

/// The quoted passages, by their section of the order.
#[derive(Debug, Default)]
struct Quoted {
    safety: Vec<Passage>,
    preparation: Vec<Passage>,
    procedure: Vec<Passage>,
    acceptance: Vec<Passage>,
}

impl Quoted {
    /// Takes procedures by their headings, and from the guide of the fault its checks and actions.
    fn of(case: &CaseFile, kind: WorkKind) -> Self {
        let mut quoted = Self::default();
        for chunk in of_type(case, DocType::Procedure) {
            for section in chunk.sections.iter().filter(|section| !section.body.is_empty()) {
                quoted.put(chunk, section, kind);
            }
        }
        for chunk in of_type(case, DocType::FaultGuide) {
            let actions =
                chunk.sections.iter().filter(|section| says(section, &["조치", "Action"]));
            quoted.procedure.extend(actions.map(|section| passages::passage(chunk, section)));
        }
        quoted
    }

    fn put(&mut self, chunk: &Chunk, section: &Section, kind: WorkKind) {
        if section.number.is_empty() {
            return;
        }
        let passage = passages::passage(chunk, section);
        if says(section, &["안전", "LOTO", "Safety"]) {
            self.safety.push(passage);
        } else if kind == WorkKind::Inspect {
            // an inspection dismantles nothing
        } else if says(section, &["준비", "Preparation"]) {
            self.preparation.push(passage);
        } else if says(section, &["길들이기", "인수", "Run-in", "Acceptance"]) {
            self.acceptance.push(passage);
        } else {
            self.procedure.push(passage);
        }
    }

    fn all(&self) -> impl Iterator<Item = &Passage> {
        [&self.safety, &self.preparation, &self.procedure, &self.acceptance].into_iter().flatten()
    }

    /// The items after "Tools:" in the preparation.
    fn tools(&self) -> Vec<Text> {
        let items = self.preparation.iter().flat_map(|passage| &passage.items);
        let list = |text: &str| -> Option<Vec<String>> {
            let rest = ["공구:", "Tools:"].iter().find_map(|mark| text.strip_prefix(mark))?;
            let parts = rest.trim().trim_end_matches('.').split(',');
            Some(parts.map(|part| part.trim().to_owned()).collect())
        };
        items
            .filter_map(|item| Some((list(&item.ko)?, list(&item.en)?)))
            .flat_map(|(ko, en)| {
                let same = ko.len() == en.len();
                let en = if same { en } else { ko.clone() };
                ko.into_iter().zip(en).map(|(ko, en)| Text::new(ko, en)).collect::<Vec<_>>()
            })
            .collect()
    }

    /// The item of the preparation that contains one of `words`, quoted; else "to be planned".
    fn resource(&self, words: &[&str]) -> Resource {
        let found = self.preparation.iter().find_map(|passage| {
            let speaks = |item: &&Text| {
                words.iter().any(|word| item.ko.contains(word) || item.en.contains(word))
            };
            passage.items.iter().find(speaks).map(|item| (item.clone(), passage.source.clone()))
        });
        match found {
            Some((text, source)) => Resource { amount: None, text, source: Some(source) },
            None => Resource {
                amount: None,
                text: Text::new("계획 필요", "to be planned"),
                source: None,
            },
        }
    }
}

fn of_type(case: &CaseFile, doc_type: DocType) -> impl Iterator<Item = &Chunk> {
    case.grounds.iter().filter(move |chunk| chunk.about.doc_type == doc_type)
}

fn says(section: &Section, words: &[&str]) -> bool {
    words.iter().any(|word| section.title.contains(word))
}
