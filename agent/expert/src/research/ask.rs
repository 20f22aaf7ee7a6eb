//! The next questions, made from what the case leaves open.
//!
//! A round asks what is missing between the hypothesis and the evidence: which of the candidates,
//! how far, how fast such cases went, what was done and whether it helped, what speaks against. The
//! words of a question are the case's own signs and what the round before found.

use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::event::Event;
use pdm_shared::fault::Fault;
use pdm_shared::particle::{Particle, with_particle};
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use serde_json::{Map, Value};

use super::compare::{self, Comparison};
use super::signs::{self, SignKind};
use super::{
    HISTORY, Inquiry, JUDGEMENTS, Learnt, Lesson, MANUAL, MAX_ROUNDS, MIN_ROUNDS, Question,
    SURE_CONFIDENCE, is_due, is_news,
};
use crate::case::Case;

/// Level from which the line of another element is a second candidate, dB: that of
/// `screening.suspicious_snr_db` in the shipped rules.
const CANDIDATE_SNR_DB: f64 = 6.0;
/// Returns the next questions; empty when nothing is open.
pub fn ask(diagnosis: &Diagnosis, case: &Case<'_>, inquiry: &Inquiry) -> Vec<Question> {
    let research = is_due(diagnosis);
    let round = inquiry.round() + 1;
    let event = case.event;
    match round {
        1 if research => first(diagnosis, event, "RESEARCH-1"),
        1 if is_news(diagnosis, &case.memory.recent) => first(diagnosis, event, "GROUND-1"),
        1 => Vec::new(),
        _ if !research || round > MAX_ROUNDS => Vec::new(),
        2 => second(diagnosis, event, inquiry),
        _ if round > MIN_ROUNDS && !inquiry.is_news(round - 1) => Vec::new(),
        _ => third(diagnosis, event, inquiry, round),
    }
}

/// The case's signs in the words of the reports: `결함선 18 dB 고조파 2개 첨도 4.4`.
fn signs_in_words(event: &Event, diagnosis: &Diagnosis) -> String {
    let told =
        signs::of_case(event, diagnosis).into_iter().filter_map(|(kind, value)| match kind {
            SignKind::LineSnr if value >= 3.0 => Some(format!("결함선 {value:.0} dB")),
            SignKind::Harmonics if value >= 1.0 => Some(format!("고조파 {value:.0}개")),
            SignKind::Sidebands if value >= 1.0 => Some("측대파".to_owned()),
            SignKind::Kurtosis if value >= 3.5 => Some(format!("첨도 {value:.1}")),
            SignKind::LevelRatio if value >= 1.2 => Some(format!("실효값 {value:.1}배")),
            SignKind::LineSnr
            | SignKind::Harmonics
            | SignKind::Sidebands
            | SignKind::Kurtosis
            | SignKind::LevelRatio
            | SignKind::Velocity
            | SignKind::Stage
            | SignKind::Acceleration => None,
        });
    told.collect::<Vec<_>>().join(" ")
}

/// The elements that the evidence leaves open beside the named one.
fn candidates(event: &Event, diagnosis: &Diagnosis) -> Vec<Fault> {
    let is_sure =
        diagnosis.fault_type.is_some() && event.frequency_domain.confidence >= SURE_CONFIDENCE;
    let others = Fault::ALL.into_iter().filter(|fault| Some(*fault) != diagnosis.fault_type);
    others
        .filter(|fault| {
            let snr = event.frequency_domain.line(*fault).snr_db.unwrap_or(0.0);
            snr >= CANDIDATE_SNR_DB && (!is_sure || snr >= 2.0 * CANDIDATE_SNR_DB)
        })
        .collect()
}

/// The element at fault in the words of the documents.
fn subject(diagnosis: &Diagnosis) -> &'static str {
    named(diagnosis.fault_type)
}

const fn named(fault: Option<Fault>) -> &'static str {
    match fault {
        Some(Fault::OuterRace) => "외륜 결함",
        Some(Fault::InnerRace) => "내륜 결함",
        Some(Fault::Ball) => "전동체 결함",
        Some(Fault::Cage) => "보지기 결함",
        None => "베어링 이상 진동",
    }
}

fn question(
    round: u32,
    tool: &str,
    query: String,
    more: &[(&str, &str)],
    (rule, why): (&str, Text),
) -> Question {
    let mut arguments = Map::from_iter([("query".to_owned(), Value::from(query))]);
    let more = more.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
    arguments.extend(more);
    let (tool, rule) = (tool.to_owned(), rule.to_owned());
    Question { round, tool, arguments, why, rule, drawn_from: None }
}

fn first(diagnosis: &Diagnosis, event: &Event, rule: &str) -> Vec<Question> {
    let subject = subject(diagnosis);
    let stage = diagnosis.fault_stage;
    let rapid = is_due(diagnosis);
    let signs = signs_in_words(event, diagnosis);
    let speed = if rapid { "급속 열화 가속" } else { "진행 경과" };
    let cases = format!("{subject} {signs} {stage}단계 {speed} 고장까지 걸린 시간 근본 원인");
    let guide = if rapid {
        format!("{subject} 급속 열화 조건")
    } else {
        format!("{subject} 단계별 모습 점검과 조치")
    };
    let kind = [("doc_type", "fault_guide")];
    let kind: &[(&str, &str)] = if diagnosis.fault_type.is_some() { &kind } else { &[] };
    let how = Text::new(
        "어느 단계이며 이런 사례는 얼마나 빨리 진행했는가",
        "How far it is, and how fast such cases went",
    );
    let when = Text::new("무엇이 이 결함을 빠르게 키우는가", "What makes this fault grow fast");
    let mut questions = vec![
        question(1, HISTORY, cases, &[], (rule, how)),
        question(1, MANUAL, guide, kind, (rule, when)),
    ];
    if let Some(other) = candidates(event, diagnosis).first() {
        let why = Text::new(
            "두 부위의 결함선이 함께 보임: 어느 쪽인가",
            "Lines of two elements stand: which is it",
        );
        let both = with_particle(subject, Particle::And);
        let query = format!("{both} {} 구분 방법 주파수 측대파", named(Some(*other)));
        questions.push(question(1, MANUAL, query, kind, ("RESEARCH-3", why)));
    }
    if diagnosis.risk_level >= RiskLevel::Warning {
        let place = [
            ("equipment_id", diagnosis.equipment_id.as_str()),
            ("bearing_id", diagnosis.bearing_id.as_str()),
        ];
        let why = Text::new(
            "이 베어링의 이전 판단과 일치하는가",
            "Whether it agrees with the earlier judgements",
        );
        let query = format!("{subject} {stage}단계 판정 확인 결과");
        questions.push(question(1, JUDGEMENTS, query, &place, ("GROUND-2", why)));
    }
    questions
}

/// The first lesson of this kind, from the nearest document.
fn learnt(inquiry: &Inquiry, round: u32, lesson: Lesson) -> Option<&Learnt> {
    inquiry
        .of_round(round)
        .flat_map(|answered| &answered.learnt)
        .find(|learnt| learnt.lesson == lesson)
}

fn second(diagnosis: &Diagnosis, event: &Event, inquiry: &Inquiry) -> Vec<Question> {
    let subject = subject(diagnosis);
    let compared = compare::all(event, diagnosis, inquiry);
    let mut questions = Vec::new();
    if let Some(cause) = cause(diagnosis, inquiry, &compared) {
        let why = Text::new(
            format!("{}의 근본 원인이 이 설비에도 해당하는가, 무엇을 확인하는가", cause.document),
            format!("Whether the root cause of {} applies here, and how to check", cause.document),
        );
        let query = format!("{subject} {} 점검 조치", topic_of(&cause.quote));
        questions.push(drawn(question(2, MANUAL, query, &[], ("RESEARCH-2", why)), cause));
    }
    if let Some(condition) = learnt(inquiry, 1, Lesson::RapidGrowth) {
        let why = Text::new(
            format!(
                "{} 말하는 급속 열화 조건에서 실제로 어떻게 되었는가",
                with_particle(&condition.document, Particle::Subject)
            ),
            format!("What happened under the conditions that {} names", condition.document),
        );
        let query = format!("{subject} 급속 열화 {}", topic_of(&condition.quote));
        questions.push(drawn(question(2, HISTORY, query, &[], ("RESEARCH-3", why)), condition));
    }
    if questions.is_empty() {
        questions = broader();
    }
    questions.push(against(diagnosis, event));
    questions
}

/// Returns the questions for any element, where nothing was found for the named one.
fn broader() -> Vec<Question> {
    let why = Text::new(
        "찾은 것이 없어 부위를 가리지 않고 다시 질문",
        "Nothing was found: asked again for any element",
    );
    let manual = "베어링 급속 열화 조건과 조치".to_owned();
    let history = "급속 열화 가속 진행 근본 원인".to_owned();
    vec![
        question(2, MANUAL, manual, &[], ("RESEARCH-4", why.clone())),
        question(2, HISTORY, history, &[], ("RESEARCH-4", why)),
    ]
}

/// Returns the question for evidence against the hypothesis: cases with these signs in which the
/// bearing was whole.
fn against(diagnosis: &Diagnosis, event: &Event) -> Question {
    let why = Text::new(
        "같은 징후인데 손상이 아니었던 사례가 있는가",
        "Whether these signs have come without damage",
    );
    let signs = signs_in_words(event, diagnosis);
    let query = format!("오진 오경보 헛교체 다른 원인 {} {signs}", subject(diagnosis));
    question(2, HISTORY, query, &[], ("RESEARCH-7", why))
}

/// The root cause of the case most like this one, else of the nearest document.
fn cause<'a>(
    diagnosis: &Diagnosis,
    inquiry: &'a Inquiry,
    compared: &[Comparison],
) -> Option<&'a Learnt> {
    let likest = compared.iter().find(|one| one.is_for(diagnosis));
    let of_likest = likest.and_then(|one| {
        let all = inquiry.answered.iter().flat_map(|answered| &answered.learnt);
        let mut causes = all.filter(|learnt| learnt.lesson == Lesson::RootCause);
        causes.find(|learnt| learnt.document == one.record.document)
    });
    of_likest.or_else(|| learnt(inquiry, 1, Lesson::RootCause))
}

fn third(diagnosis: &Diagnosis, event: &Event, inquiry: &Inquiry, round: u32) -> Vec<Question> {
    let subject = subject(diagnosis);
    let compared = compare::all(event, diagnosis, inquiry);
    let mut questions = Vec::new();
    if let Some(one) = compared.iter().find(|one| one.is_against(event, diagnosis)) {
        let document = one.record.document.clone();
        let why = Text::new(
            format!("반대 사례 {document}: 두 경우를 무엇으로 가리는가"),
            format!("{document} speaks against it: what tells the two apart"),
        );
        let other = one.record.cause.as_deref().unwrap_or_default();
        let both = with_particle(subject, Particle::And);
        let query = format!("{both} 구분 확인 방법 {}", topic_of(other));
        let mut asked = question(round, MANUAL, query, &[], ("RESEARCH-8", why));
        asked.drawn_from = Some(document);
        questions.push(asked);
    }
    if let Some(one) = compared.iter().find(|one| one.is_for(diagnosis))
        && let Some(action) = &one.record.action
    {
        let document = one.record.document.clone();
        let why = Text::new(
            format!("{document}에서 한 조치가 도움이 되었는가, 되풀이되었는가"),
            format!("Whether what was done in {document} helped, or it came again"),
        );
        let query = format!("{subject} 재발 {} 이후 결과", topic_of(action));
        let mut asked = question(round, HISTORY, query, &[], ("RESEARCH-9", why));
        asked.drawn_from = Some(document);
        questions.push(asked);
    }
    let kinds = [Lesson::RootCause, Lesson::RapidGrowth, Lesson::FailureMode, Lesson::Action];
    if let Some(found) = kinds.iter().find_map(|kind| learnt(inquiry, round - 1, *kind)) {
        let why = Text::new(
            format!("{}에서 새로 확인한 원인의 고장모드와 위험우선순위", found.document),
            format!("The failure mode and its priority for what {} added", found.document),
        );
        let query = format!("{subject} 고장모드 {}", topic_of(&found.quote));
        let kind = [("doc_type", "fmea")];
        questions.push(drawn(question(round, MANUAL, query, &kind, ("RESEARCH-5", why)), found));
    }
    questions
}

fn drawn(mut question: Question, from: &Learnt) -> Question {
    question.drawn_from = Some(from.document.clone());
    question
}

/// Causes and actions by the words that documents use for them, the most special first.
const TOPICS: [(&[&str], &str); 14] = [
    (&["전식", "축전류", "전류", "electric", "fluting"], "전식 축전류"),
    (&["편심", "축정렬", "정렬", "misalign", "alignment", "coupling"], "축정렬 불량"),
    (&["불평형", "unbalance"], "불평형"),
    (&["예압", "틈새", "clearance", "preload"], "틈새 예압"),
    (&["끼워맞춤", "열박음", "조립", "설치", "fit", "mounting", "mounted"], "조립 끼워맞춤"),
    (&["수분", "물이", "water", "moisture"], "수분 침입"),
    (&["오염", "이물", "분진", "contaminat", "dust", "particle"], "오염 이물 침입"),
    (&["급유", "그리스", "윤활", "유막", "grease", "lubric", "oil"], "윤활 급유"),
    (&["이완", "풀림", "체결", "loose"], "체결 이완"),
    (&["과부하", "하중", "부하", "load"], "과부하 하중"),
    (&["과열", "온도", "heat", "temperature"], "과열 온도"),
    (&["공진", "resonan"], "공진"),
    (&["피로", "박리", "fatigue", "spall"], "피로 박리"),
    (&["교체", "replace"], "베어링 교체"),
];

/// Returns the subject of a quote, in words of our own: figures and names of another machine do not
/// belong in a question about this one.
fn topic_of(quote: &str) -> &'static str {
    let quote = quote.to_lowercase();
    let found = TOPICS.iter().find(|(words, _)| words.iter().any(|word| quote.contains(word)));
    found.map_or("근본 원인 확인 방법", |(_, topic)| topic)
}
