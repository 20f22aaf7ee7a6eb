//! Whether a document answers a question, as a probability, so that a search can say "nothing found".
//!
//! ```text
//! candidates of the store ─► terms × parts ─► evidence of each chunk ─► probability (order of the hits)
//!                                          └► evidence of all       ─► probability that any answers (cut-off)
//! ```
//!
//! A question is cut into terms: words, and concepts of the glossary; a misspelt word names the concept that it
//! misses by one slip ([`spelling`]). A term matches a part of a chunk (title and keywords, or one section) by
//! the same word, by a word that is spelt much alike, or by the same concept. Rare terms count more (inverse
//! document frequency among the candidates), words that any talk is full of count less (`words/common.rs`).
//! From this, and from how near a chunk is by its words and the local embedding ([`nearness`]), come numbers of
//! evidence ([`Evidence`]), and two logistic models turn them into probabilities: that one chunk answers, and
//! that any does. The second weighs the log-odds of the best chunk, how much of the question that chunk covers,
//! and the question's topics of elsewhere (food, cranes, hydraulics: `glossary/elsewhere.rs`,
//! `glossary/beyond.rs`) that it does not name. Where an endpoint makes the embeddings, how far a chunk's cosine
//! stands above those of the other candidates is evidence too; its scale is that of no model.
//!
//! The models' coefficients ([`fitted`]) come from the questions that may be used (`tests/data/retrieval*.toml`
//! with `split = "choose"`) by `cargo run -p pdm-tests --bin retrieval -- --fit`.
//!
//! What was tried, each judged by models of the other sets (area under the curve of "any answers", all sets and
//! with the topics hidden; nDCG@3 where nothing is refused, mean of four sets):
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
//! The margin to the second chunk adds nothing beside the rest, and the cosine of each section costs an
//! endpoint ten times the vectors: both are left out.

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

pub use evidence::{ANY, ELSEWHERE, Evidence, ONE, SHARED};
use fitted::Model;
use reading::Reading;

/// Most chunks whose reading is kept: about 40 KB each.
const KEPT: usize = 256;

/// Probability that any candidate answers, below which a search has found nothing. By models of the other sets 12
/// of 285 questions with an answer are refused, and 124 of 125 without one. The topics of elsewhere were listed
/// with these questions known: where they are hidden, 98 of 125 are refused. From 0.25 to 0.4 that number rises
/// from 90 to 100, and the wrong refusals from 10 to 14.
pub const CUT_OFF: f32 = 0.35;

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

/// Judges candidates; keeps what it has read of chunks.
#[derive(Debug, Default)]
pub struct Relevance {
    read: Mutex<HashMap<String, (String, Arc<Reading>)>>,
}

impl Relevance {
    /// Judges the candidates of a search. `cosines` are those of an endpoint's embedding, one for each
    /// candidate; without them words decide.
    pub fn judge(&self, query: &str, candidates: Vec<Hit>, cosines: Option<&[f32]>) -> Judged {
        let evidence = self.evidence(query, &candidates, cosines);
        let (one, any) = match cosines {
            Some(_) => (&fitted::ONE_WITH_COSINE, &fitted::ANY_WITH_COSINE),
            None => (&fitted::ONE, &fitted::ANY),
        };
        let answered = if candidates.is_empty() {
            0.0
        } else {
            any.probability(&evidence.any(|row| one.log_odds(row)))
        };
        let scored = candidates.into_iter().zip(&evidence.one);
        let mut hits: Vec<Hit> =
            scored.map(|(hit, row)| Hit { score: one.probability(row), ..hit }).collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.chunk.id.cmp(&b.chunk.id)));
        Judged { answered, hits }
    }

    /// The evidence that the models weigh.
    pub fn evidence(&self, query: &str, candidates: &[Hit], cosines: Option<&[f32]>) -> Evidence {
        let readings: Vec<Arc<Reading>> =
            candidates.iter().map(|hit| self.reading(&hit.chunk)).collect();
        let elsewhere = glossary::topics(&words::fold(query));
        let question = evidence::Question {
            terms: &terms::terms(query),
            elsewhere: &elsewhere,
            nearness: nearness::of(query, &readings),
            cosines,
        };
        evidence::of(&question, &readings)
    }

    fn reading(&self, chunk: &Chunk) -> Arc<Reading> {
        let key = format!("{}/{}", chunk.about.collection, chunk.id);
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((hash, known)) = read.get(&key)
            && *hash == chunk.about.hash
        {
            return Arc::clone(known);
        }
        let fresh = Arc::new(Reading::of(chunk));
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
        1.0 / (1.0 + (-self.log_odds(row)).exp())
    }
}
