//! Composes the document in one language from the work order as data.

use pdm_shared::text::Language;

use super::data::{Priority, Resource, WorkOrder};
use crate::compose::{passage, title, waveform_blocks, whereabouts};
use crate::data::Passage;
use crate::document::{Block, Document, DocumentTable, Mark, Speaker, colour};
use crate::drawing::Colour;

/// The document of a work order.
pub fn document(order: &WorkOrder, language: Language) -> Document {
    let speaker = Speaker::to_reader(language, &order.subject);
    let mut head = vec![
        speaker.pair("작업지시 번호", "Number", order.number.clone()),
        speaker.pair("우선순위", "Priority", priority(order.priority, speaker)),
    ];
    if !order.supersedes.is_empty() {
        let numbers = order.supersedes.join(", ");
        head.push(speaker.pair("대체하는 작업지시", "Supersedes", numbers));
    }
    head.extend(whereabouts(&order.subject, speaker));
    head.push(speaker.pair("발행", "Issued", speaker.moment(order.created_at)));
    Document {
        language,
        kind: speaker.word("작업지시서", "Work order"),
        title: title(&order.subject, speaker),
        subtitle: speaker.say(&order.title),
        number: order.number.clone(),
        written_at: order.created_at,
        risk: Some(order.risk_level),
        head,
        blocks: blocks(order, speaker),
    }
}

fn priority(priority: Priority, speaker: Speaker) -> String {
    match priority {
        Priority::Emergency => speaker.word("긴급(즉시)", "Emergency (at once)"),
        Priority::Urgent => speaker.word("우선", "Urgent"),
        Priority::Planned => speaker.word("계획", "Planned"),
    }
}

fn blocks(order: &WorkOrder, speaker: Speaker) -> Vec<Block> {
    let mut blocks = vec![
        Block::Callout {
            label: speaker.word("사유", "Why"),
            text: speaker.say(&order.reason),
            tone: colour(order.risk_level),
        },
        Block::Text(format!(
            "{}: {}",
            speaker.word("권고", "Recommendation"),
            speaker.say(&order.recommendation)
        )),
    ];
    blocks.extend(schedule(order, speaker));
    blocks.push(Block::Callout {
        label: speaker
            .word("안전: 작업 전 잠금·표지(LOTO)", "Safety: lockout and tagout (LOTO) before work"),
        text: speaker.word(
            "영(0) 에너지를 확인하기 전에는 작업하지 않는다.",
            "No work before zero energy is verified.",
        ),
        tone: Colour::Critical,
    });
    blocks.extend(quoted(&order.safety, speaker));
    blocks.extend(resources(order, speaker));
    blocks.push(speaker.section("작업 절차", "Procedure"));
    if order.preparation.is_empty() && order.procedure.is_empty() {
        blocks.push(Block::Text(speaker.word(
            "지식 베이스에 이 작업의 절차서가 없음: 사내 절차를 확인",
            "The knowledge base has no procedure for this work: follow the plant's own",
        )));
    }
    blocks.extend(quoted(&order.preparation, speaker));
    blocks.extend(quoted(&order.procedure, speaker));
    if !order.acceptance.is_empty() {
        blocks.push(speaker.section("작업 후 인수", "Acceptance"));
        blocks.extend(quoted(&order.acceptance, speaker));
    }
    blocks.extend(waveform_blocks(order.waveform.as_ref(), speaker));
    blocks.push(speaker.section("확인", "Sign-off"));
    blocks.push(Block::Text(
        speaker.word("역할 · 성명 · 일시 · 서명", "Role · name · date · signature"),
    ));
    blocks.push(Block::Signs(order.sign_off.iter().map(|role| speaker.say(role)).collect()));
    blocks
}

fn quoted(passages: &[Passage], speaker: Speaker) -> Vec<Block> {
    passages.iter().flat_map(|told| passage(told, Mark::Step, speaker)).collect()
}

fn schedule(order: &WorkOrder, speaker: Speaker) -> Vec<Block> {
    let schedule = &order.schedule;
    let at_once = speaker.word("즉시", "at once");
    let when = |at: Option<pdm_shared::time::Timestamp>| match at {
        Some(at) if at > order.created_at => speaker.moment(at),
        Some(_) | None => at_once.clone(),
    };
    let finish = if schedule.at_once { at_once.clone() } else { when(schedule.finish_by) };
    vec![
        speaker.section("일정", "Schedule"),
        Block::Pairs(vec![
            speaker.pair("완료 기한", "Finish by", finish),
            speaker.pair("발주 기한", "Order by", when(schedule.order_by)),
        ]),
        Block::Text(speaker.say(&schedule.basis)),
    ]
}

fn resources(order: &WorkOrder, speaker: Speaker) -> Vec<Block> {
    let mut blocks = vec![speaker.section("필요 자원", "Resources")];
    if !order.parts.is_empty() {
        let rows = order.parts.iter().map(|part| {
            let unknown = speaker.word("확인 필요", "to be checked");
            let designation = part.designation.clone().unwrap_or(unknown);
            vec![speaker.say(&part.name), designation, speaker.say(&part.note)]
        });
        blocks.push(Block::Table(DocumentTable {
            head: vec![
                speaker.word("부품", "Part"),
                speaker.word("형번", "Designation"),
                speaker.word("비고", "Note"),
            ],
            shares: vec![0.2, 0.3, 0.5],
            rows: rows.collect(),
        }));
    }
    let told = |resource: &Resource| {
        let text = speaker.say(&resource.text);
        match &resource.source {
            Some(source) => format!("{text} [{source}]"),
            None => text,
        }
    };
    let mut rows = if order.people.text == order.hours.text {
        // one sentence of the procedure says both
        vec![vec![speaker.word("인원·작업 시간", "People, hours"), told(&order.people)]]
    } else {
        vec![
            vec![speaker.word("인원", "People"), told(&order.people)],
            vec![speaker.word("작업 시간", "Hours"), told(&order.hours)],
        ]
    };
    if !order.tools.is_empty() {
        let tools: Vec<String> = order.tools.iter().map(|tool| speaker.say(tool)).collect();
        rows.push(vec![speaker.word("공구", "Tools"), tools.join(", ")]);
    }
    blocks.push(Block::Table(DocumentTable {
        head: vec![String::new(); 2],
        shares: vec![0.2, 0.8],
        rows,
    }));
    blocks
}
