//! The numbers by which the models judge.

use std::sync::Arc;

use super::ByModel;
use super::nearness::Nearness;
use super::reading::{ChunkReading, Matched};
use super::terms::Term;

/// Names of the evidence of one chunk, in its order; the last two only where a model makes the
/// embedding.
pub const ONE: [&str; 18] = [
    "ln(1 + rare terms in title and keywords)",
    "ln(1 + rare terms in the best section)",
    "ln(1 + rare terms in the chunk)",
    "share of the question in title and keywords",
    "share in the best section",
    "share in the chunk",
    "rarest term",
    "share that no candidate has",
    "rare terms against the best candidate",
    "concepts among the terms",
    "1 / place by words and the local embedding",
    "cosine of the local embedding",
    "ln(1 + rare terms in the best question that it answers)",
    "share in the best question that it answers",
    "likeness of the best question that it answers",
    "cosine of the local embedding with the nearest question that it answers",
    "endpoint's cosine above the candidates' mean, in their spread",
    "endpoint's nearness to its questions above the candidates' mean, in their spread",
];

/// Names of the evidence that any chunk answers.
pub const ANY: [&str; 13] = [
    "log-odds that the best candidate answers",
    "terms, 3 to 15",
    "share of the question in the best candidate",
    "ln(1 + terms that some candidate has)",
    "highest cosine of the local embedding",
    "verbs that some candidate has",
    "ln(1 + verbs that none has)",
    "topics of elsewhere that no candidate names, at most 2",
    "topics of elsewhere that the best candidate does not name, at most 2",
    "ln(1 + what no candidate has of the terms that are no verbs)",
    "share of the question in the best question of any candidate",
    "likeness of the best question of any candidate",
    "highest cosine of the local embedding with a question of any candidate",
];

/// Places of the topics of elsewhere in [`ANY`].
pub const ELSEWHERE: [usize; 2] = [7, 8];
/// Places of the numbers of [`ONE`] that come from the questions that a chunk says it answers.
const ASKED: std::ops::Range<usize> = 12..16;
/// Places of the numbers of [`ONE`] that an endpoint's model makes.
pub const BY_MODEL: std::ops::Range<usize> = 16..18;
/// Places of the numbers of [`ONE`] that all chunks of a question share.
pub const SHARED: [usize; 2] = [7, 9];

/// Most topics of elsewhere that count: the second one makes an answer no less likely than a third
/// would.
const MOST_TOPICS: usize = 2;
/// Most terms that count: nine of ten questions have fewer, and a line fitted to those does not
/// hold for a whole page that is pasted as a question.
const MOST_TERMS: usize = 15;
/// Terms that a question counts as at least: the sets hold hardly any of one word, and one that
/// names what a document is about needs no second.
const LEAST_TERMS: usize = 3;

/// The evidence of a question and its candidates.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// The numbers of each candidate, in the order of [`ONE`].
    pub one: Vec<Vec<f32>>,
    asked: Vec<AskedTerm>,
    /// The number of the question's topics of elsewhere that each candidate does not name.
    foreign: Vec<usize>,
    /// Topics that no candidate names.
    unnamed: usize,
    /// Highest cosine of the local embedding.
    nearest: f32,
}

/// A term of the question, with how far each candidate has it.
#[derive(Debug, Clone, PartialEq)]
struct AskedTerm {
    weight: f32,
    is_verb: bool,
    matched: Vec<f32>,
}

/// One term with what every candidate has of it.
struct Row {
    weight: f32,
    is_concept: bool,
    is_verb: bool,
    /// Inverse document frequency among the candidates.
    rarity: f32,
    matched: Vec<Matched>,
    /// The most that any candidate has.
    best: f32,
}

/// The parts of a question besides its words: terms, foreign topics and nearness.
pub(super) struct Question<'a> {
    pub(super) terms: &'a [Term],
    /// Its topics that documents on bearings seldom treat.
    pub(super) elsewhere: &'a [usize],
    pub(super) nearness: Nearness,
    /// Nearness by an endpoint's embedding.
    pub(super) by_model: Option<&'a ByModel>,
}

pub(super) fn evidence_of(question: &Question<'_>, readings: &[Arc<ChunkReading>]) -> Evidence {
    let rows: Vec<Row> = question.terms.iter().map(|term| row(term, readings)).collect();
    let names = |topic: &usize, reading: &Arc<ChunkReading>| reading.names(*topic);
    let topics = question.elsewhere;
    let foreign = readings
        .iter()
        .map(|reading| topics.iter().filter(|topic| !names(topic, reading)).count())
        .collect();
    let unnamed = topics.iter().filter(|topic| !readings.iter().any(|r| names(topic, r))).count();
    let cosines = &question.nearness.cosines;
    Evidence {
        one: one(&rows, question, readings),
        foreign,
        unnamed,
        nearest: cosines.iter().copied().fold(0.0, f32::max),
        asked: rows.into_iter().map(AskedTerm::from).collect(),
    }
}

impl From<Row> for AskedTerm {
    fn from(row: Row) -> Self {
        let matched = row.matched.iter().map(|matched| matched.all).collect();
        Self { weight: row.weight, is_verb: row.is_verb && !row.is_concept, matched }
    }
}

/// The evidence of each candidate.
fn one(rows: &[Row], question: &Question<'_>, readings: &[Arc<ChunkReading>]) -> Vec<Vec<f32>> {
    let candidates = readings.len();
    let heights = question.by_model.map(|by| heights(&by.cosines)).unwrap_or_default();
    let of_questions = question.by_model.map(|by| heights_of_some(&by.asked)).unwrap_or_default();
    let concepts = rows.iter().filter(|row| row.is_concept).count();
    let concepts = concepts as f32 / rows.len().max(1) as f32;
    let all_rare: f32 = rows.iter().map(|row| row.weight * row.rarity).sum::<f32>().max(1e-6);
    let missing: f32 =
        rows.iter().map(|row| row.weight * row.rarity * (1.0 - row.best)).sum::<f32>() / all_rare;
    let of = |row: &Row, at: usize| {
        row.weight * row.rarity * row.matched.get(at).map_or(0.0, |matched| matched.all)
    };
    let rare: Vec<f32> =
        (0..candidates).map(|at| rows.iter().map(|row| of(row, at)).sum()).collect();
    let best_rare = rare.iter().copied().fold(0.0, f32::max);
    let one = rare.iter().enumerate().map(|(at, rare)| {
        let (head, section, rarest) = parts(rows, at);
        let asked = readings.get(at).map(|reading| asked(rows, at, reading, all_rare));
        let asked = asked.unwrap_or_default();
        let place = question.nearness.places.get(at).copied().unwrap_or(candidates);
        vec![
            head.ln_1p(),
            section.ln_1p(),
            rare.ln_1p(),
            head / all_rare,
            section / all_rare,
            rare / all_rare,
            rarest,
            missing,
            rare / best_rare.max(1e-6),
            concepts,
            1.0 / (place + 1) as f32,
            question.nearness.cosines.get(at).copied().unwrap_or_default(),
            asked.rare.ln_1p(),
            asked.rare / all_rare,
            asked.likeness,
            question.nearness.asked.get(at).copied().unwrap_or_default(),
            heights.get(at).copied().unwrap_or_default(),
            of_questions.get(at).copied().unwrap_or_default(),
        ]
    });
    one.collect()
}

impl Evidence {
    /// The evidence that any candidate answers, in the order of [`ANY`]. `log_odds` are those of
    /// each candidate.
    pub fn any(&self, log_odds: &[f32]) -> Vec<f32> {
        let odds = log_odds.iter().copied().enumerate();
        let best = odds.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        let (top, odds) = best.unwrap_or_default();
        let all: f32 = self.asked.iter().map(|term| term.weight).sum::<f32>().max(1e-6);
        let in_top = |term: &AskedTerm| term.matched.get(top).copied().unwrap_or_default();
        let in_any = |term: &AskedTerm| term.matched.iter().copied().fold(0.0, f32::max);
        let covered: f32 = self.asked.iter().map(|term| term.weight * in_top(term)).sum();
        let known: f32 = self.asked.iter().map(|term| term.weight * in_any(term)).sum();
        let verbs = || self.asked.iter().filter(|term| term.is_verb);
        let highest =
            |at: usize| self.one.iter().filter_map(|row| row.get(at)).copied().fold(0.0, f32::max);
        let others = self.asked.iter().filter(|term| !term.is_verb);
        let unknown: f32 = others.map(|term| term.weight * (1.0 - in_any(term))).sum();
        let topics = |count: usize| count.min(MOST_TOPICS) as f32;
        vec![
            odds,
            self.asked.len().clamp(LEAST_TERMS, MOST_TERMS) as f32,
            covered / all,
            known.ln_1p(),
            self.nearest,
            verbs().map(in_any).sum(),
            verbs().map(|term| 1.0 - in_any(term)).sum::<f32>().ln_1p(),
            topics(self.unnamed),
            topics(self.foreign.get(top).copied().unwrap_or_default()),
            unknown.ln_1p(),
            highest(ASKED.start + 1),
            highest(ASKED.start + 2),
            highest(ASKED.start + 3),
        ]
    }
}

fn row(term: &Term, readings: &[Arc<ChunkReading>]) -> Row {
    let matched: Vec<Matched> = readings.iter().map(|reading| reading.matched(term)).collect();
    let with: f32 = matched.iter().map(|matched| matched.all).sum();
    let best = matched.iter().map(|matched| matched.all).fold(0.0, f32::max);
    let rarity = (1.0 + (readings.len() as f32 - with + 0.5) / (with + 0.5)).ln();
    let is_concept = !term.concepts.is_empty();
    Row { weight: term.weight, is_concept, is_verb: term.is_verb, rarity, matched, best }
}

/// Rare terms in the head and in the best section of a candidate, and its rarest term.
fn parts(rows: &[Row], at: usize) -> (f32, f32, f32) {
    let (mut head, mut rarest) = (0.0, 0.0_f32);
    let mut sections: Vec<f32> = Vec::new();
    for row in rows {
        let Some(matched) = row.matched.get(at) else { continue };
        let worth = row.weight * row.rarity;
        head += worth * matched.head;
        rarest = rarest.max(worth * matched.all);
        sections.resize(sections.len().max(matched.sections.len()), 0.0);
        for (sum, part) in sections.iter_mut().zip(&matched.sections) {
            *sum += worth * part;
        }
    }
    (head, sections.into_iter().fold(0.0, f32::max), rarest)
}

/// [`heights`] of those that are there; the others stand at their mean.
fn heights_of_some(cosines: &[Option<f32>]) -> Vec<f32> {
    let there: Vec<f32> = cosines.iter().copied().flatten().collect();
    let mut heights = heights(&there).into_iter();
    cosines.iter().map(|one| one.and_then(|_| heights.next()).unwrap_or_default()).collect()
}

/// The question that a candidate says it answers and that is most like the one asked.
#[derive(Debug, Clone, Copy, Default)]
struct BestAsked {
    /// Rare terms in it.
    rare: f32,
    /// Share of the question asked that is in it, times the share of its words that are asked for:
    /// the root.
    likeness: f32,
}

fn asked(rows: &[Row], at: usize, reading: &ChunkReading, all_rare: f32) -> BestAsked {
    let mut best = BestAsked::default();
    for (number, asked) in reading.asked.iter().enumerate() {
        let (mut rare, mut words) = (0.0, 0.0);
        for row in rows {
            let matched = row.matched.get(at).and_then(|matched| matched.asked.get(number));
            let matched = matched.copied().unwrap_or_default();
            rare += row.weight * row.rarity * matched;
            words += matched;
        }
        let covered = (words / asked.words.max(1) as f32).min(1.0);
        best.rare = best.rare.max(rare);
        best.likeness = best.likeness.max((rare / all_rare * covered).sqrt());
    }
    best
}

/// Returns how far each cosine stands above their mean, in standard deviations.
fn heights(cosines: &[f32]) -> Vec<f32> {
    let count = cosines.len().max(1) as f32;
    let mean = cosines.iter().sum::<f32>() / count;
    let spread = (cosines.iter().map(|c| (c - mean).powi(2)).sum::<f32>() / count).sqrt();
    let scaled = |cosine: &f32| if spread > 1e-6 { (cosine - mean) / spread } else { 0.0 };
    cosines.iter().map(scaled).collect()
}
