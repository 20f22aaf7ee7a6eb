//! Judges whether a document answers a question, as a probability, so that a search can say
//! "nothing found".
//!
//! ```text
//! candidates of the store ─► terms × parts ─► evidence of each chunk ─► probability (order of the hits)
//!                                          └► evidence of all       ─► probability that any answers (cut-off)
//! ```
//!
//! A question is cut into terms: words, and concepts of the glossary; a misspelt word names the
//! concept that it misses by one slip ([`spelling`]). A term matches a part of a chunk (title and
//! keywords, one section, or one of the questions that the document says it answers) by the same
//! word, by a word that is spelt much alike, or by the same concept. Rare terms count more (inverse
//! document frequency among the candidates), words that are common in any talk count less (`common`
//! of `config/words/grammar.toml`). From this, and from how near a chunk is by its words and the
//! local embedding ([`nearness`]), come numbers of evidence ([`Evidence`]), and logistic models
//! turn them into probabilities: that one chunk answers (one model for chunks that name questions,
//! one for those that do not), and that any does. The latter weighs the log-odds of the best chunk,
//! how much of the question that chunk covers, and the question's topics of elsewhere (food,
//! cranes, hydraulics: `config/words/topics.toml`) that it does not name. Where an endpoint makes
//! the embeddings, two more numbers are evidence: how far a chunk's cosine stands above those of
//! the other candidates, and how near the question is to the questions that a chunk says it
//! answers. Their scale does not depend on the endpoint's model.
//!
//! The models' coefficients ([`fitted`]) come from the questions that may be used
//! (`tests/data/retrieval*.toml` with `split = "choose"`) by `cargo run -p pdm-tests --bin
//! retrieval -- --fit`.
//!
//! These variants were tried, each judged by models of the other sets (area under the curve of "any
//! answers", all sets and with the topics hidden; nDCG@3 where nothing is refused, mean of four
//! sets):
//!
//! | | any answers | hidden | nDCG@3 |
//! |---|---|---|---|
//! | before: eleven numbers on terms | 0.969 | 0.928 | 0.869 |
//! | topics that the *best* chunk does not name | 0.977 | 0.928 | |
//! | log-odds of the best chunk and its margin, instead of the eleven | 0.986 | 0.936 | |
//! | log-odds, number of terms, share covered, cosine of the local embedding | 0.988 | 0.954 | 0.871 |
//! | common words count less | 0.990 | 0.957 | 0.875 |
//! | English of the documents in words and local embedding | | | 0.869 |
//! | BM25 score, ranks of either search, best section and head against the others' | | | 0.86 to 0.87 |
//! | endpoint (e5): cosine of each section, highest and mean of three | 0.988 | 0.953 | 0.875 to 0.886 |
//!
//! That documents name the questions that they answer is worth more than all of these. nDCG@3 where
//! nothing is refused, by models of the other sets: the mean of seven sets, and the two sets that
//! were written by people who knew no search and that nobody had read (`more`, `third-blind`):
//!
//! | | mean | more | third-blind |
//! |---|---|---|---|
//! | no document names questions | 0.883 | 0.871 | 0.725 |
//! | every second one does | 0.908 | 0.911 | 0.811 |
//! | all do | 0.926 | 0.936 | 0.848 |
//!
//! The margin to the second chunk adds nothing beside the rest, and the cosine of each section
//! costs an endpoint ten times the vectors: both are left out.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::chunk::Chunk;
use crate::glossary;
use crate::store::Hit;
use crate::words;

mod evidence;
pub mod fitted;
mod likeness;
mod nearness;
mod reading;
mod spelling;
mod terms;

pub use evidence::{ANY, BY_MODEL, ELSEWHERE, Evidence, ONE, SHARED};
use fitted::{Model, QuestionModels, WordModels};
use reading::ChunkReading;

/// Most chunks whose reading is kept: about 40 KB each, and 1 KB more for each question that it
/// names.
const KEPT: usize = 256;

/// Probability that any candidate answers, below which a search has found nothing: it is more
/// likely than not that nothing answers. By models of the other sets 22 of 475 questions with an
/// answer are refused, and 320 of 345 without one. The topics of elsewhere were listed with most of
/// these questions known: where they are hidden, 288 of 345 are refused. From 0.35 to 0.6 that
/// number rises from 271 to 298, and the wrong refusals from 14 to 33. Where every second document
/// names no questions, 44 and 328 are refused at 0.5.
pub const CUT_OFF: f32 = 0.5;

/// Probability below which a single hit is left out beside better ones.
pub const LEAST: f32 = 0.004;

/// How a question stands to the candidates of a search.
#[derive(Debug, Clone)]
pub struct Judged {
    /// Probability that any of them answers, 0…1.
    pub answered: f32,
    /// The candidates with their probability as [`Hit::score`], best first.
    pub hits: Vec<Hit>,
}

/// The nearness of a search's candidates by an endpoint's embedding.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ByModel {
    /// Cosine of each candidate with the question.
    pub cosines: Vec<f32>,
    /// How near the question is to those that each candidate says it answers; `None` where it names
    /// none.
    pub asked: Vec<Option<f32>>,
}

/// Judges candidates; keeps the readings of chunks.
#[derive(Debug, Default)]
pub struct Relevance {
    read: Mutex<HashMap<String, (String, Arc<ChunkReading>)>>,
}

impl Relevance {
    /// Judges the candidates of a search. Without the nearness by an endpoint's embedding, words
    /// decide.
    pub fn judge(&self, query: &str, candidates: Vec<Hit>, by_model: Option<&ByModel>) -> Judged {
        let evidence = self.evidence(query, &candidates, by_model);
        let names_questions = candidates.iter().any(|hit| !hit.chunk.about.asked.is_empty());
        let by_questions = |models: QuestionModels| {
            let QuestionModels { named, unnamed, any } = models;
            (Some(named), unnamed, any)
        };
        let by_words = |models: WordModels| (None, models.unnamed, models.any);
        let (named, unnamed, any) = match (names_questions, by_model) {
            (false, None) => by_words(fitted::WORDS),
            (false, Some(_)) => by_words(fitted::WORDS_AND_MODEL),
            (true, None) => by_questions(fitted::QUESTIONS),
            (true, Some(_)) => by_questions(fitted::QUESTIONS_AND_MODEL),
        };
        let rows = candidates.iter().zip(&evidence.one);
        let odds: Vec<f32> = rows
            .map(|(hit, row)| {
                let own = named.filter(|_| !hit.chunk.about.asked.is_empty());
                own.unwrap_or(unnamed).log_odds(row)
            })
            .collect();
        let answered =
            if candidates.is_empty() { 0.0 } else { any.probability(&evidence.any(&odds)) };
        let scored = candidates.into_iter().zip(&odds);
        let mut hits: Vec<Hit> =
            scored.map(|(hit, odds)| Hit { score: probability(*odds), ..hit }).collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.chunk.id.cmp(&b.chunk.id)));
        Judged { answered, hits }
    }

    /// The evidence that the models weigh.
    pub fn evidence(
        &self,
        query: &str,
        candidates: &[Hit],
        by_model: Option<&ByModel>,
    ) -> Evidence {
        let readings: Vec<Arc<ChunkReading>> =
            candidates.iter().map(|hit| self.reading(&hit.chunk)).collect();
        let elsewhere = glossary::topics(&words::fold(query));
        let question = evidence::Question {
            terms: &terms::terms(query),
            elsewhere: &elsewhere,
            nearness: nearness::nearness_of(query, &readings),
            by_model,
        };
        evidence::evidence_of(&question, &readings)
    }

    fn reading(&self, chunk: &Chunk) -> Arc<ChunkReading> {
        let key = format!("{}/{}", chunk.about.collection, chunk.id);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((hash, known)) = read.get(&key)
            && *hash == chunk.about.hash
        {
            return Arc::clone(known);
        }
        let fresh = Arc::new(ChunkReading::of(chunk));
        if read.len() >= KEPT {
            read.clear();
        }
        read.insert(key, (chunk.about.hash.clone(), Arc::clone(&fresh)));
        fresh
    }
}

impl Model<'_> {
    /// The log-odds of this evidence.
    fn log_odds(&self, row: &[f32]) -> f32 {
        let sum: f32 = self.weights.iter().zip(row).map(|(weight, value)| weight * value).sum();
        self.bias + sum
    }

    /// The probability of this evidence.
    fn probability(&self, row: &[f32]) -> f32 {
        probability(self.log_odds(row))
    }
}

fn probability(log_odds: f32) -> f32 {
    1.0 / (1.0 + (-log_odds).exp())
}
