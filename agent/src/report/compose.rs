//! From the report as data to the document in one language.

use pdm_expert::wording::element;
use pdm_shared::text::Language;
use serde_json::Value;

use super::chart;
use super::data::{Passage, Report, Subject};
use super::document::{Block, Document, Mark, Pair, Speaker, Table, colour, sign};
use super::words::{self, moment};

/// The document of a report.
pub fn document(report: &Report, language: Language) -> Document {
    let speaker = Speaker(language);
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
        risk: report.risk_level,
        head: head(report, speaker),
        blocks: if report.is_full() { full(report, speaker) } else { short(report, speaker) },
    }
}

/// Machine and bearing with the plant's names.
pub(crate) fn title(subject: &Subject, speaker: Speaker) -> String {
    let named = |id: String, name: &Option<pdm_shared::text::Text>| match name {
        Some(name) => format!("{id} {}", speaker.say(name)),
        None => id,
    };
    let machine = named(subject.equipment_id.to_string(), &subject.equipment_name);
    let bearing = named(subject.bearing_id.to_string(), &subject.location);
    format!("{machine} · {} {bearing}", speaker.word("베어링", "bearing"))
}

/// Site and designation, for the head of any document.
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
    pairs.push(speaker.pair("측정", "Measured", moment(report.measured_at)));
    pairs.push(speaker.pair("판정", "Judged", moment(report.judged_at)));
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
    Block::Table(Table {
        head: vec![String::new(); 2],
        shares: vec![0.17, 0.83],
        rows: rows.collect(),
    })
}

/// Normal and Watch: what is found, what to do, how sure.
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

fn plots(report: &Report, speaker: Speaker) -> Vec<Block> {
    let mut blocks = vec![speaker.section("추세와 스펙트럼", "Trend and spectrum")];
    if let Some(plot) = &report.plots.trend {
        let name = words::feature(&plot.feature)
            .map_or_else(|| plot.feature.clone(), |name| speaker.say(&name));
        blocks.push(Block::Plot {
            title: format!("{} {name} ({})", speaker.word("추세:", "Trend:"), plot.unit),
            caption: speaker.word(
                "파란 선: 측정값, 붉은 점: 이상 감지 구간, 검은 점: 이번 측정, 주황 띠: 예상 수명 구간(RUL 하한–상한)",
                "Blue line: measured; red dots: anomaly flagged; black dot: this window; orange band: expected end of life (lower to upper bound)",
            ),
            drawing: chart::trend(plot, speaker.0),
        });
    }
    if let Some(plot) = &report.plots.envelope {
        blocks.push(Block::Plot {
            title: format!("{} ({})", speaker.word("제곱 포락선 스펙트럼", "Squared-envelope spectrum"), plot.unit),
            caption: speaker.word(
                "붉은 점선: 판정된 결함의 주파수와 배수, 회색 점선: 다른 결함 주파수의 위치",
                "Red dashes: the named fault's frequency and multiples; grey dashes: where other faults would show",
            ),
            drawing: chart::envelope(plot),
        });
    }
    if let Some(plot) = &report.plots.risk {
        blocks.push(Block::Plot {
            title: speaker.word("위험도 경과", "Risk over time"),
            caption: speaker.word(
                "계단: 판정된 위험도, 숫자: P-F 단계",
                "Steps: the risk as judged; numbers: P-F stage",
            ),
            drawing: chart::risk(plot, speaker.0),
        });
    }
    if blocks.len() == 1 {
        blocks.push(Block::Text(speaker.word(
            "그릴 이전 측정과 스펙트럼이 없음",
            "No earlier windows and no spectrum to draw",
        )));
    }
    blocks
}

/// The five thoughts, each with its evidence.
fn thoughts(report: &Report, speaker: Speaker) -> Vec<Block> {
    let mut blocks = vec![speaker.section("판단 과정", "Reasoning")];
    for (at, thought) in report.thoughts.iter().enumerate() {
        blocks.push(Block::Sub(format!("{}. {}", at + 1, speaker.say(&thought.title))));
        blocks.push(Block::Text(speaker.say(&thought.conclusion)));
        if thought.evidence.is_empty() {
            continue;
        }
        let rows = thought.evidence.iter().map(|fact| {
            let name =
                words::feature(&fact.path).map(|name| speaker.say(&name)).unwrap_or_default();
            let value = told(&fact.value, words::unit(&fact.path), speaker);
            let rule = fact.rule.clone().or_else(|| fact.source.clone()).unwrap_or_default();
            vec![name, value, fact.path.clone(), rule]
        });
        blocks.push(Block::Table(Table {
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

/// A value of evidence in words.
fn told(value: &Value, unit: &str, speaker: Speaker) -> String {
    match value {
        Value::Number(number) => {
            number.as_f64().map_or_else(|| number.to_string(), |value| words::quantity(value, unit))
        }
        Value::Bool(true) => speaker.word("예", "yes"),
        Value::Bool(false) => speaker.word("아니오", "no"),
        Value::Null => speaker.word("없음", "none"),
        Value::String(text) => text.clone(),
        Value::Array(all) => {
            let told: Vec<String> = all.iter().map(|one| told(one, unit, speaker)).collect();
            told.join(", ")
        }
        Value::Object(_) => value.to_string(),
    }
}

fn history(report: &Report, speaker: Speaker) -> Vec<Block> {
    let mut blocks = vec![speaker.section("판정 이력", "Earlier judgements")];
    blocks.push(Block::Text(speaker.say(&report.memory.summary)));
    if report.memory.judgements.is_empty() {
        return blocks;
    }
    let rows = report.memory.judgements.iter().map(|past| {
        let risk = past.risk_level;
        let fault =
            past.fault_type.map_or_else(|| "–".to_owned(), |fault| speaker.say(&element(fault)));
        vec![
            moment(past.measured_at),
            format!("{} {}", sign(risk), speaker.say(&risk.label())),
            past.fault_stage.to_string(),
            fault,
        ]
    });
    blocks.push(Block::Table(Table {
        head: vec![
            speaker.word("측정", "Measured"),
            speaker.word("위험도", "Risk"),
            speaker.word("P-F 단계", "P-F stage"),
            speaker.word("결함 부위", "Element"),
        ],
        shares: vec![0.34, 0.22, 0.18, 0.26],
        rows: rows.collect(),
    }));
    blocks
}

/// Rounds of deep research: what was asked and why, what was found and where, what was learnt.
fn research(report: &Report, speaker: Speaker) -> Vec<Block> {
    if report.research.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![speaker.section("심층 조사", "Deep research")];
    for round in &report.research {
        let number = round.round;
        blocks.push(Block::Sub(format!(
            "{} {number}: {}",
            speaker.word("조사", "Round"),
            round.question
        )));
        blocks.push(Block::Text(format!(
            "{}: {}",
            speaker.word("이유", "Why"),
            speaker.say(&round.why)
        )));
        for hit in &round.hits {
            blocks.push(Block::Text(format!("{} {}: {}", hit.id, hit.title, hit.quote)));
            blocks.push(Block::Source(format!(
                "{}: {}",
                speaker.word("출처", "Source"),
                hit.source
            )));
        }
        blocks.push(Block::Callout {
            label: speaker.word("알게 된 것", "What was learnt"),
            text: speaker.say(&round.learnt),
            tone: super::drawing::Colour::Course,
        });
    }
    blocks
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

/// A passage with its source.
pub(crate) fn passage(passage: &Passage, mark: Mark, speaker: Speaker) -> Vec<Block> {
    vec![
        Block::Sub(speaker.say(&passage.title)),
        Block::Items { mark, items: passage.items.iter().map(|item| speaker.say(item)).collect() },
        Block::Source(format!("{}: {}", speaker.word("출처", "Source"), passage.source)),
    ]
}
