//! The next questions.

use pdm_shared::diagnosis::Diagnosis;
use pdm_shared::fault::Fault;
use pdm_shared::risk::RiskLevel;
use pdm_shared::text::Text;
use serde_json::{Map, Value};

use super::{
    HISTORY, Inquiry, JUDGEMENTS, Learnt, Lesson, MANUAL, MAX_ROUNDS, MIN_ROUNDS, Question, is_due,
    is_news,
};
use crate::case::Remembered;

/// Longest quote in a question, characters. Chosen: one sentence; more blurs what is looked for.
const QUOTE_CHARS: usize = 120;

/// The next questions; none when the judgement has its grounds.
pub fn ask(diagnosis: &Diagnosis, recent: &[Remembered], inquiry: &Inquiry) -> Vec<Question> {
    let research = is_due(diagnosis);
    let round = inquiry.round() + 1;
    match round {
        1 if research => first(diagnosis, "RESEARCH-1"),
        1 if is_news(diagnosis, recent) => first(diagnosis, "GROUND-1"),
        1 => Vec::new(),
        _ if !research || round > MAX_ROUNDS => Vec::new(),
        2 => second(diagnosis, inquiry),
        _ if round > MIN_ROUNDS && !inquiry.is_news(round - 1) => Vec::new(),
        _ => third(diagnosis, inquiry, round),
    }
}

/// The element at fault in the words of the documents.
fn subject(diagnosis: &Diagnosis) -> &'static str {
    match diagnosis.fault_type {
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

fn first(diagnosis: &Diagnosis, rule: &str) -> Vec<Question> {
    let subject = subject(diagnosis);
    let stage = diagnosis.fault_stage;
    let rapid = is_due(diagnosis);
    let speed = if rapid { "급속 열화 가속" } else { "진행 경과" };
    let cases = format!("{subject} {speed} {stage}단계 근본 원인 고장까지 걸린 시간");
    let guide = if rapid {
        format!("{subject} 급속 열화 조건")
    } else {
        format!("{subject} 단계별 모습 점검과 조치")
    };
    let kind = [("doc_type", "fault_guide")];
    let kind: &[(&str, &str)] = if diagnosis.fault_type.is_some() { &kind } else { &[] };
    let mut questions = vec![
        question(
            1,
            HISTORY,
            cases,
            &[],
            (rule, Text::new("유사 사례의 진행과 원인 확인", "How similar cases went on and why")),
        ),
        question(
            1,
            MANUAL,
            guide,
            kind,
            (rule, Text::new("결함 가이드의 조건 확인", "What the fault's guide says")),
        ),
    ];
    if diagnosis.risk_level >= RiskLevel::Warning {
        let place = [
            ("equipment_id", diagnosis.equipment_id.as_str()),
            ("bearing_id", diagnosis.bearing_id.as_str()),
        ];
        let why =
            Text::new("이전 판단과의 일관성 확인", "Whether it agrees with earlier judgements");
        let query = format!("{subject} {stage}단계 판정");
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

fn second(diagnosis: &Diagnosis, inquiry: &Inquiry) -> Vec<Question> {
    let subject = subject(diagnosis);
    let mut questions = Vec::new();
    if let Some(cause) = learnt(inquiry, 1, Lesson::RootCause) {
        let why = Text::new(
            format!("{}의 근본 원인이 이 설비에도 해당하는지 확인", cause.document),
            format!("Whether the root cause of {} applies here too", cause.document),
        );
        let query = format!("{subject} {}", short(&cause.quote));
        questions.push(drawn(question(2, MANUAL, query, &[], ("RESEARCH-2", why)), cause));
    }
    if let Some(condition) = learnt(inquiry, 1, Lesson::RapidGrowth) {
        let why = Text::new(
            format!("{}이 말하는 급속 열화 조건의 실제 사례 확인", condition.document),
            format!("Cases under the conditions of rapid growth that {} names", condition.document),
        );
        let query = short(&condition.quote);
        questions.push(drawn(question(2, HISTORY, query, &[], ("RESEARCH-3", why)), condition));
    }
    if questions.is_empty() {
        let why = Text::new(
            "찾은 것이 없어 부위를 가리지 않고 다시 질문",
            "Nothing was found: asked again for any element",
        );
        let reason = ("RESEARCH-4", why.clone());
        questions.push(question(2, MANUAL, "베어링 급속 열화 조건과 조치".into(), &[], reason));
        let query = "급속 열화 가속 진행 근본 원인".to_owned();
        questions.push(question(2, HISTORY, query, &[], ("RESEARCH-4", why)));
    }
    questions
}

fn third(diagnosis: &Diagnosis, inquiry: &Inquiry, round: u32) -> Vec<Question> {
    let kinds = [Lesson::RootCause, Lesson::RapidGrowth, Lesson::FailureMode, Lesson::Action];
    let Some(found) = kinds.iter().find_map(|kind| learnt(inquiry, round - 1, *kind)) else {
        return Vec::new();
    };
    let why = Text::new(
        format!("{}에서 새로 확인한 원인의 고장모드와 위험우선순위 확인", found.document),
        format!("The failure mode and its priority for what {} added", found.document),
    );
    let query = format!("{} 고장모드 {}", subject(diagnosis), short(&found.quote));
    let kind = [("doc_type", "fmea")];
    vec![drawn(question(round, MANUAL, query, &kind, ("RESEARCH-5", why)), found)]
}

fn drawn(mut question: Question, from: &Learnt) -> Question {
    question.drawn_from = Some(from.document.clone());
    question
}

/// A quote short enough to be a question.
fn short(quote: &str) -> String {
    quote.chars().take(QUOTE_CHARS).collect()
}
