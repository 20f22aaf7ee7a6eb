//! Whether a document answers a question, as a probability, so that a search can say "nothing found".
//!
//! ```text
//! candidates of the store ─► terms × parts ─► evidence of each chunk ─► probability (order of the hits)
//!                                          └► evidence of all       ─► probability that any answers (cut-off)
//! ```
//!
//! A question is cut into terms: words, and concepts of the glossary. A term matches a part of a chunk
//! (title and keywords, or one section) by the same word, by a word that is spelt much alike, or by the same
//! concept. Rare terms count more (inverse document frequency among the candidates); a term that no candidate
//! has is as rare as can be. A topic of elsewhere (food, cranes, hydraulics: `glossary/elsewhere.rs`) that no
//! candidate names speaks against an answer. From this come numbers of evidence ([`Evidence`]), and two
//! logistic models turn them into probabilities. Where an endpoint makes the embeddings, how far a chunk's
//! cosine stands above those of the other candidates is evidence too; its scale is that of no model.
//!
//! The models' coefficients ([`fitted`]) come from the questions that may be used (`tests/data/retrieval*.toml`
//! with `split = "choose"`) by `cargo run -p pdm-tests --bin retrieval -- --fit`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::chunk::Chunk;
use crate::glossary;
use crate::store::Hit;
use crate::words;

mod evidence;
pub mod fitted;
mod likeness;
mod reading;
mod terms;

pub use evidence::{ANY, ELSEWHERE, Evidence, ONE, SHARED};
use fitted::Model;
use reading::Reading;

/// Most chunks whose reading is kept: about 30 KB each.
const KEPT: usize = 256;

/// Probability that any candidate answers, below which a search has found nothing. Chosen so that on no set more
/// than 3 of 40 questions with an answer are refused by a model of the other sets (8 of 114, 3 of 55 and 3 of
/// 40 are, and 58 of 60, 20 of 25 and 19 of 20 without one). The topics of elsewhere were listed with these
/// questions known: in ten parts of all sets, each judged by a model of the other nine, 97 of 105 questions
/// without an answer are refused, and 71 where their topics are hidden.
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
        let answered = if candidates.is_empty() { 0.0 } else { any.probability(&evidence.any) };
        let scored = candidates.into_iter().zip(&evidence.one);
        let mut hits: Vec<Hit> =
            scored.map(|(hit, row)| Hit { score: one.probability(row), ..hit }).collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.chunk.id.cmp(&b.chunk.id)));
        Judged { answered, hits }
    }

    /// The evidence that the models weigh. `candidates` are in the order of the fused search.
    pub fn evidence(&self, query: &str, candidates: &[Hit], cosines: Option<&[f32]>) -> Evidence {
        let readings: Vec<Arc<Reading>> =
            candidates.iter().map(|hit| self.reading(&hit.chunk)).collect();
        let elsewhere = glossary::topics(&words::fold(query));
        evidence::of(&terms::terms(query), &elsewhere, &readings, cosines)
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
    /// The probability of this evidence.
    fn probability(&self, row: &[f32]) -> f32 {
        let sum: f32 = self.weights.iter().zip(row).map(|(weight, value)| weight * value).sum();
        1.0 / (1.0 + (-(self.bias + sum)).exp())
    }
}
