//! The sections on the grounds of a judgement: the thoughts with their evidence, the bearing's
//! earlier judgements, the research.

use pdm_expert::wording::{element, figure};
use pdm_shared::text::Language;
use serde_json::Value;

use crate::data::Report;
use crate::document::{Block, DocumentTable, Speaker, sign};
use crate::drawing::Colour;
use crate::words;

/// The five thoughts, each with its evidence.
pub(super) fn thoughts(report: &Report, speaker: Speaker) -> Vec<Block> {
    let mut blocks = vec![speaker.section("판단 과정", "Reasoning")];
    for (at, thought) in report.thoughts.iter().enumerate() {
        blocks.push(Block::Sub(format!("{}. {}", at + 1, speaker.say(&thought.title))));
        blocks.push(Block::Text(speaker.say(&thought.conclusion)));
        if let Some(words) = &thought.model_words {
            let whose = speaker.word("언어 모델", "Language model");
            blocks.push(Block::Text(format!("{whose}: {}", speaker.say(words))));
        }
        if thought.evidence.is_empty() {
            continue;
        }
        let rows = thought.evidence.iter().map(|fact| {
            let name =
                words::feature(&fact.path).map(|name| speaker.say(&name)).unwrap_or_default();
            let value = words::names_of_features(fact).map_or_else(
                || told(&fact.value, words::unit(&fact.path), report, speaker),
                |names| speaker.say(&names),
            );
            let rule = fact.rule.clone().or_else(|| fact.source.clone()).unwrap_or_default();
            vec![name, value, fact.path.clone(), rule]
        });
        blocks.push(Block::Table(DocumentTable {
            head: vec![
                speaker.word("근거", "Evidence"),
                speaker.word("값", "Value"),
                speaker.word("위치", "Where it stands"),
                speaker.word("규칙·출처", "Rule, source"),
            ],
            shares: vec![0.28, 0.18, 0.38, 0.16],
            rows: rows.collect(),
        }));
    }
    blocks
}

/// A value of evidence as text.
fn told(value: &Value, unit: &str, report: &Report, speaker: Speaker) -> String {
    match value {
        Value::Number(number) => {
            number.as_f64().map_or_else(|| number.to_string(), |value| words::quantity(value, unit))
        }
        Value::Bool(true) => speaker.word("예", "yes"),
        Value::Bool(false) => speaker.word("아니오", "no"),
        Value::Null => speaker.word("없음", "none"),
        Value::String(text) => words::word_of_value(text)
            .map_or_else(|| quote(text, report, speaker), |word| speaker.say(&word)),
        Value::Array(all) => {
            let told: Vec<String> =
                all.iter().map(|one| told(one, unit, report, speaker)).collect();
            told.join(", ")
        }
        Value::Object(_) => value.to_string(),
    }
}

/// A quote in the reader's language, if its document has one.
fn quote(text: &str, report: &Report, speaker: Speaker) -> String {
    translated(text, report, speaker).unwrap_or_else(|| speaker.quote(text))
}

fn translated(text: &str, report: &Report, speaker: Speaker) -> Option<String> {
    (speaker.0 == Language::En).then(|| report.in_english(text)).flatten()
}

/// The section on earlier judgements.
pub(super) fn history(report: &Report, speaker: Speaker) -> Vec<Block> {
    let mut blocks = vec![speaker.section("판정 이력", "Earlier judgements")];
    blocks.push(Block::Text(speaker.say(&report.memory.summary)));
    if report.memory.judgements.is_empty() {
        return blocks;
    }
    let rows = report.memory.judgements.iter().map(|past| {
        let risk = past.risk_level;
        let fault =
            past.fault_type.map_or_else(|| "–".to_owned(), |fault| speaker.say(&element(fault)));
        let measured = match past.since {
            Some(since) => {
                format!("{} – {}", speaker.moment(since), speaker.moment(past.measured_at))
            }
            None => speaker.moment(past.measured_at),
        };
        let life =
            past.rul_hours.map_or_else(|| "–".to_owned(), |life| format!("{} h", figure(life)));
        vec![
            measured,
            format!("{} {}", sign(risk), speaker.say(&risk.label())),
            past.fault_stage.to_string(),
            fault,
            life,
        ]
    });
    blocks.push(Block::Table(DocumentTable {
        head: vec![
            speaker.word("측정", "Measured"),
            speaker.word("위험도", "Risk"),
            speaker.word("P-F 단계", "P-F stage"),
            speaker.word("결함 부위", "Element"),
            speaker.word("당시 잔여수명", "Life then"),
        ],
        shares: vec![0.36, 0.18, 0.12, 0.18, 0.16],
        rows: rows.collect(),
    }));
    blocks
}

/// The rounds of deep research: question and reason, hits with sources, lesson.
pub(super) fn research(report: &Report, speaker: Speaker) -> Vec<Block> {
    if report.research.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![speaker.section("심층 조사", "Deep research")];
    for round in &report.research {
        let number = round.round;
        blocks.push(Block::Sub(format!(
            "{} {number}: {}",
            speaker.word("조사", "Round"),
            speaker.quote(&round.question)
        )));
        blocks.push(Block::Text(format!(
            "{}: {}",
            speaker.word("이유", "Why"),
            speaker.say(&round.why)
        )));
        for hit in &round.hits {
            // a title is not marked as an original
            let title =
                translated(&hit.title, report, speaker).unwrap_or_else(|| hit.title.clone());
            let quote = quote(&hit.quote, report, speaker);
            blocks.push(Block::Text(format!("{} {title}: {quote}", hit.id)));
            let source = match hit.title.as_str() {
                "" => hit.source.clone(),
                own => hit.source.replace(own, &title),
            };
            blocks.push(Block::Source(format!("{}: {source}", speaker.word("출처", "Source"))));
        }
        // what the hits say is quoted above: only an answer without hits has a word of its own
        if round.hits.is_empty() {
            blocks.push(Block::Callout {
                label: speaker.word("결과", "Result"),
                text: speaker.say(&round.learnt),
                tone: Colour::Course,
            });
        }
    }
    blocks
}
