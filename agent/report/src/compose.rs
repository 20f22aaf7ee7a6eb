//! Composes the document in one language from the report as data.

use pdm_shared::text::Language;

use super::data::{Passage, Report, Subject};
use super::document::{Block, Document, DocumentTable, Mark, Pair, Speaker, colour};
use super::words;

mod grounds;
mod plots;
mod waveform;

use grounds::{history, research, thoughts};
use plots::plots;
pub(crate) use waveform::waveform_blocks;

/// The document of a report.
pub fn document(report: &Report, language: Language) -> Document {
    let speaker = Speaker::to_reader(language, &report.subject);
    let kind = if report.is_full() {
        speaker.word("베어링 분석 리포트", "Bearing analysis report")
    } else {
        speaker.word("베어링 상태 알림", "Bearing status")
    };
    let finding = report.summary.first().map(|line| speaker.say(&line.text)).unwrap_or_default();
    Document {
        language,
        kind,
        title: title(&report.subject, speaker),
        subtitle: finding,
        number: report.event_id.to_string(),
        written_at: report.judged_at,
        risk: Some(report.risk_level),
        head: head(report, speaker),
        blocks: if report.is_full() { full(report, speaker) } else { short(report, speaker) },
    }
}

/// Machine and bearing, with the plant's names.
pub(crate) fn title(subject: &Subject, speaker: Speaker) -> String {
    let named = |id: String, name: &Option<pdm_shared::text::Text>| match name {
        Some(name) => format!("{id} {}", speaker.say(name)),
        None => id,
    };
    let machine = named(subject.equipment_id.to_string(), &subject.equipment_name);
    let bearing = named(subject.bearing_id.to_string(), &subject.location);
    format!("{machine} · {} {bearing}", speaker.word("베어링", "bearing"))
}

/// Site and designation, for the head of a document.
pub(crate) fn whereabouts(subject: &Subject, speaker: Speaker) -> Vec<Pair> {
    let site = match &subject.site_name {
        Some(name) => format!("{} ({})", speaker.say(name), subject.site),
        None => subject.site.to_string(),
    };
    let unknown = speaker.word("확인 필요", "to be checked");
    let designation = subject.designation.clone().unwrap_or(unknown);
    let mut pairs = vec![
        speaker.pair("사업장", "Site", site),
        speaker.pair("베어링 형번", "Designation", designation),
    ];
    if let Some(point) = &subject.measuring_point {
        pairs.push(speaker.pair("측정점", "Measuring point", point.clone()));
    }
    pairs
}

fn head(report: &Report, speaker: Speaker) -> Vec<Pair> {
    let mut pairs = whereabouts(&report.subject, speaker);
    pairs.push(speaker.pair("측정", "Measured", speaker.moment(report.measured_at)));
    pairs.push(speaker.pair("판정", "Judged", speaker.moment(report.judged_at)));
    pairs.push(speaker.pair(
        "판정 주체",
        "Judged by",
        speaker.say(&words::reasoner(report.reasoner)),
    ));
    pairs
}

fn recommendation(report: &Report, speaker: Speaker) -> Block {
    Block::Callout {
        label: speaker.word("권고", "Recommendation"),
        text: speaker.say(&report.recommendation),
        tone: colour(report.risk_level),
    }
}

fn summary(report: &Report, speaker: Speaker) -> Block {
    let rows =
        report.summary.iter().map(|line| vec![speaker.say(&line.label), speaker.say(&line.text)]);
    Block::Table(DocumentTable {
        head: vec![String::new(); 2],
        shares: vec![0.17, 0.83],
        rows: rows.collect(),
    })
}

/// The blocks for Normal and Watch: finding, recommendation, uncertainty.
fn short(report: &Report, speaker: Speaker) -> Vec<Block> {
    let mut blocks =
        vec![recommendation(report, speaker), summary(report, speaker), tiles(report, speaker)];
    blocks.push(speaker.section("데이터 품질", "Data quality"));
    blocks.push(speaker.bullets(&report.data_quality));
    blocks
}

fn full(report: &Report, speaker: Speaker) -> Vec<Block> {
    let mut blocks = vec![recommendation(report, speaker)];
    blocks.push(speaker.section("요약", "Summary"));
    blocks.push(summary(report, speaker));
    blocks.push(speaker.section("핵심 측정값", "Key values"));
    blocks.push(tiles(report, speaker));
    blocks.extend(plots(report, speaker));
    blocks.extend(waveform_blocks(report.waveform.as_ref(), speaker));
    blocks.extend(thoughts(report, speaker));
    blocks.extend(history(report, speaker));
    blocks.extend(research(report, speaker));
    blocks.extend(uncertainty(report, speaker));
    blocks.extend(knowledge(report, speaker));
    blocks
}

fn tiles(report: &Report, speaker: Speaker) -> Block {
    let tiles = report.figures.iter().map(|told| Pair {
        label: speaker.say(&told.label),
        value: words::quantity(told.value, &told.unit),
    });
    Block::Tiles(tiles.collect())
}

fn uncertainty(report: &Report, speaker: Speaker) -> Vec<Block> {
    let level = speaker.say(&words::uncertainty(report.uncertainty.level));
    let mut blocks = vec![
        speaker.section("불확실성과 데이터 품질", "Uncertainty and data quality"),
        Block::Text(format!("{}: {level}", speaker.word("불확실성", "Uncertainty"))),
    ];
    let mut part = |ko: &str, en: &str, texts: &[pdm_shared::text::Text]| {
        if !texts.is_empty() {
            blocks.push(Block::Sub(speaker.word(ko, en)));
            blocks.push(speaker.bullets(texts));
        }
    };
    part("불확실성의 원인", "Why not surer", &report.uncertainty.causes);
    part("판정을 바꿀 수 있는 것", "What would change the judgement", &report.would_change);
    part("데이터 품질", "Data quality", &report.data_quality);
    if let Some(disagreement) = &report.disagreement {
        blocks.push(Block::Callout {
            label: speaker.word("판단 불일치", "Disagreement"),
            text: speaker.say(disagreement),
            tone: super::drawing::Colour::Warning,
        });
    }
    blocks
}

fn knowledge(report: &Report, speaker: Speaker) -> Vec<Block> {
    if report.knowledge.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![speaker.section("참고 지식", "From the knowledge base")];
    blocks.extend(report.knowledge.iter().flat_map(|told| passage(told, Mark::Bullet, speaker)));
    blocks
}

/// The block of a passage with its source.
pub(crate) fn passage(passage: &Passage, mark: Mark, speaker: Speaker) -> Vec<Block> {
    vec![
        Block::Sub(speaker.say(&passage.title)),
        Block::Items { mark, items: passage.items.iter().map(|item| speaker.say(item)).collect() },
        Block::Source(format!("{}: {}", speaker.word("출처", "Source"), passage.source)),
    ]
}
