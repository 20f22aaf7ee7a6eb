//! The numbers by which the models judge.

use std::sync::Arc;

use super::reading::{Matched, Reading};
use super::terms::Term;

/// Names of the evidence of one chunk, in its order; the last only where there are cosines.
pub const ONE: [&str; 12] = [
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
    "1 / place in the fused search",
    "cosine above the candidates' mean, in their spread",
];

/// Names of the evidence that any chunk answers.
pub const ANY: [&str; 12] = [
    "share of the question that some candidate has",
    "share in the best candidate",
    "share of the rare terms in the best candidate",
    "ln(1 + rare terms in the best candidate)",
    "ln(1 + terms that some candidate has)",
    "ln(1 + terms that none has)",
    "concepts among the terms",
    "ln(1 + concepts that the best candidate has)",
    "ln(1 + other nouns that it has)",
    "verbs that it has",
    "topics of elsewhere that no candidate names, at most 2",
    "best cosine above the candidates' mean, in their spread",
];

/// The evidence of a question and its candidates.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// By candidate, in the order of [`ONE`].
    pub one: Vec<Vec<f32>>,
    /// In the order of [`ANY`].
    pub any: Vec<f32>,
}

/// One term with what every candidate has of it.
struct Row {
    weight: f32,
    kind: Kind,
    /// Inverse document frequency among the candidates.
    rarity: f32,
    matched: Vec<Matched>,
    /// The most that any candidate has.
    best: f32,
}

/// What a term is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Concept,
    Noun,
    Verb,
}

/// Place of the topics of elsewhere in [`ANY`].
pub const ELSEWHERE: usize = 10;
/// Places of the numbers of [`ONE`] that all chunks of a question share.
pub const SHARED: [usize; 2] = [7, 9];

/// Most topics of elsewhere that count: the second one makes an answer no less likely than a third would.
const MOST_TOPICS: usize = 2;

/// `elsewhere` are the topics of the question that documents on bearings seldom treat.
pub(super) fn of(
    terms: &[Term],
    elsewhere: &[usize],
    readings: &[Arc<Reading>],
    cosines: Option<&[f32]>,
) -> Evidence {
    let rows: Vec<Row> = terms.iter().map(|term| row(term, readings)).collect();
    let heights = cosines.map(heights);
    let concepts = terms.iter().filter(|term| !term.concepts.is_empty()).count();
    let concepts = concepts as f32 / terms.len().max(1) as f32;
    let all_rare: f32 = rows.iter().map(|row| row.weight * row.rarity).sum::<f32>().max(1e-6);
    let all: f32 = rows.iter().map(|row| row.weight).sum::<f32>().max(1e-6);
    let missing: f32 =
        rows.iter().map(|row| row.weight * row.rarity * (1.0 - row.best)).sum::<f32>() / all_rare;
    let of = |row: &Row, at: usize| {
        row.weight * row.rarity * row.matched.get(at).map_or(0.0, |matched| matched.all)
    };
    let rare: Vec<f32> =
        (0..readings.len()).map(|at| rows.iter().map(|row| of(row, at)).sum()).collect();
    let best_rare = rare.iter().copied().fold(0.0, f32::max);
    let one = rare.iter().enumerate().map(|(at, rare)| {
        let (head, section, rarest) = parts(&rows, at);
        let height = heights.as_ref().and_then(|heights| heights.get(at)).copied();
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
            1.0 / (at + 1) as f32,
            height.unwrap_or_default(),
        ]
    });
    let one = one.collect();
    let unnamed = |topic: &&usize| !readings.iter().any(|reading| reading.names(**topic));
    let foreign = elsewhere.iter().filter(unnamed).count().min(MOST_TOPICS) as f32;
    let any = any(&rows, &rare, (all, all_rare), (concepts, foreign), heights);
    Evidence { one, any }
}

/// The evidence that any candidate answers.
fn any(
    rows: &[Row],
    rare: &[f32],
    (all, all_rare): (f32, f32),
    (concepts, foreign): (f32, f32),
    heights: Option<Vec<f32>>,
) -> Vec<f32> {
    let top = rare.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)));
    let top = top.map_or(0, |(at, _)| at);
    let has = |row: &Row, at: usize| row.matched.get(at).map_or(0.0, |matched| matched.all);
    let of_kind = |kind: Kind| -> f32 {
        let rows = rows.iter().filter(|row| row.kind == kind);
        rows.map(|row| row.weight * has(row, top)).sum()
    };
    let plain = |at: usize| rows.iter().map(|row| row.weight * has(row, at)).sum::<f32>();
    let best = (0..rare.len()).map(plain).fold(0.0, f32::max);
    let best_rare = rare.iter().copied().fold(0.0, f32::max);
    let known: f32 = rows.iter().map(|row| row.weight * row.best).sum();
    let highest = heights.map_or(0.0, |all| all.into_iter().fold(0.0, f32::max));
    vec![
        known / all,
        best / all,
        best_rare / all_rare,
        best_rare.ln_1p(),
        known.ln_1p(),
        (all - known).max(0.0).ln_1p(),
        concepts,
        of_kind(Kind::Concept).ln_1p(),
        of_kind(Kind::Noun).ln_1p(),
        of_kind(Kind::Verb),
        foreign,
        highest,
    ]
}

fn row(term: &Term, readings: &[Arc<Reading>]) -> Row {
    let matched: Vec<Matched> = readings.iter().map(|reading| reading.matched(term)).collect();
    let with: f32 = matched.iter().map(|matched| matched.all).sum();
    let best = matched.iter().map(|matched| matched.all).fold(0.0, f32::max);
    let rarity = (1.0 + (readings.len() as f32 - with + 0.5) / (with + 0.5)).ln();
    let kind = match (term.concepts.is_empty(), term.is_verb) {
        (false, _) => Kind::Concept,
        (true, false) => Kind::Noun,
        (true, true) => Kind::Verb,
    };
    Row { weight: term.weight, kind, rarity, matched, best }
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

/// How far each cosine stands above their mean, in standard deviations.
fn heights(cosines: &[f32]) -> Vec<f32> {
    let count = cosines.len().max(1) as f32;
    let mean = cosines.iter().sum::<f32>() / count;
    let spread = (cosines.iter().map(|c| (c - mean).powi(2)).sum::<f32>() / count).sqrt();
    let scaled = |cosine: &f32| if spread > 1e-6 { (cosine - mean) / spread } else { 0.0 };
    cosines.iter().map(scaled).collect()
}
