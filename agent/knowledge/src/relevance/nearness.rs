//! Measures how near each candidate is to the question by its words and by the local embedding,
//! whatever embedding the store was searched by.
//!
//! An endpoint's model orders the candidates of this field worse than the local embedding does
//! (nDCG@3 of its cosine alone, `multilingual-e5-small`, is 0.42 to 0.68 on four sets of
//! questions), so a place that comes from it would cost what the local one gives. Its cosine is
//! evidence of its own.

use pdm_shared::rank::{fused, ranked_above};

use super::reading::ChunkReading;
use crate::embed::local::LocalEmbedder;
use crate::words::{query_vector, rarity};

/// The candidates' places and nearness, in the order of the candidates.
pub(super) struct Nearness {
    /// Place from 0 in the fusion of both orders.
    pub(super) places: Vec<usize>,
    /// Cosine of the local embedding.
    pub(super) cosines: Vec<f32>,
    /// Highest cosine of the local embedding with a question that the candidate says it answers; 0
    /// without one.
    pub(super) asked: Vec<f32>,
}

/// The nearness of each candidate.
pub(super) fn nearness_of(query: &str, readings: &[impl AsRef<ChunkReading>]) -> Nearness {
    let asked = LocalEmbedder::vector(query, "");
    let dot = |dense: &[f32]| dense.iter().zip(&asked).map(|(a, b)| a * b).sum::<f32>();
    let cosines: Vec<f32> = readings.iter().map(|reading| dot(&reading.as_ref().dense)).collect();
    let nearest = |reading: &ChunkReading| {
        reading.asked.iter().map(|one| dot(&one.dense)).fold(0.0, f32::max)
    };
    let nearest: Vec<f32> = readings.iter().map(|reading| nearest(reading.as_ref())).collect();
    let words = by_words(query, readings);
    let orders = [ranked_above(&cosines, f32::NEG_INFINITY), ranked_above(&words, 0.0)];
    let sums = fused(readings.len(), &orders);
    let mut places = vec![0; readings.len()];
    for (place, at) in ranked_above(&sums, f32::NEG_INFINITY).into_iter().enumerate() {
        places[at] = place;
    }
    Nearness { places, cosines, asked: nearest }
}

/// BM25 of each candidate, with the inverse document frequency among the candidates.
fn by_words(query: &str, readings: &[impl AsRef<ChunkReading>]) -> Vec<f32> {
    let all = readings.len() as f32;
    let mut scores = vec![0.0; readings.len()];
    for term in query_vector(query).indices {
        let values: Vec<Option<f32>> =
            readings.iter().map(|reading| reading.as_ref().sparse.get(&term).copied()).collect();
        let with = values.iter().flatten().count() as f32;
        let rarity = rarity(all, with);
        for (score, value) in scores.iter_mut().zip(values) {
            *score += rarity * value.unwrap_or_default();
        }
    }
    scores
}
