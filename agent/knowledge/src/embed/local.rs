//! The local embedding: no network, no model, and the same vector on every machine.
//!
//! A vector has two parts. The first [`CONCEPT_DIMENSIONS`] coordinates are the glossary's
//! concepts, which have the same meaning in Korean and English. The others hold hashed words
//! (feature hashing with signs: Weinberger et al. 2009, doi:10.1145/1553374.1553516) for words
//! outside the glossary. Each part is scaled to length 1 before they are weighted and joined.

use async_trait::async_trait;

use super::{EmbedError, Embedder, Passage, normalise};
use crate::glossary::{concept_list, concepts};
use crate::words::{coordinate, fold, words};

/// Coordinates of concepts, with room for more entries in the glossary.
const CONCEPT_DIMENSIONS: usize = 128;

/// Coordinates of hashed words.
const WORD_DIMENSIONS: usize = 128;

/// Share of the concepts in the squared length of a vector; the words have the rest. Data: fused
/// nDCG@3 of the retrieval questions for choosing is flat (0.94–0.95) from 0.4 to 0.7.
const CONCEPT_SHARE: f32 = 0.6;

/// Weight of a term of title and keywords against one of the text. Data: nDCG@3 is flat from 2 to 5
/// on the same questions.
const HEAD_WEIGHT: f32 = 3.0;

/// The embedding that needs no configuration.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalEmbedder;

impl LocalEmbedder {
    /// Length of the vectors.
    pub const DIMENSIONS: usize = CONCEPT_DIMENSIONS + WORD_DIMENSIONS;

    /// The vector of a passage, or of a question given as its head.
    pub fn vector(head: &str, body: &str) -> Vec<f32> {
        let mut concept_part = vec![0.0; CONCEPT_DIMENSIONS];
        let mut word_part = vec![0.0; WORD_DIMENSIONS];
        for (text, weight) in [(head, HEAD_WEIGHT), (body, 1.0)] {
            let folded = fold(text);
            for (at, count) in concepts(&folded) {
                if let Some(slot) = concept_part.get_mut(at) {
                    *slot += weight * count as f32;
                }
            }
            for word in words(&folded) {
                let hash = coordinate(&word);
                let sign = if hash & 0x8000_0000 == 0 { 1.0 } else { -1.0 };
                word_part[hash as usize % WORD_DIMENSIONS] += sign * weight;
            }
        }
        // ten mentions of a concept do not count ten times
        for (slot, concept) in concept_part.iter_mut().zip(concept_list()) {
            *slot = slot.ln_1p() * concept.weight;
        }
        for slot in &mut word_part {
            *slot = slot.signum() * slot.abs().ln_1p();
        }
        let concept_part = normalise(concept_part);
        let word_part = normalise(word_part);
        let parts = concept_part
            .iter()
            .map(|value| value * CONCEPT_SHARE.sqrt())
            .chain(word_part.iter().map(|value| value * (1.0 - CONCEPT_SHARE).sqrt()));
        normalise(parts.collect())
    }
}

#[async_trait]
impl Embedder for LocalEmbedder {
    fn id(&self) -> &'static str {
        "local/4"
    }

    fn dimensions(&self) -> usize {
        Self::DIMENSIONS
    }

    fn is_model(&self) -> bool {
        false
    }

    async fn embed_passages(&self, passages: &[Passage]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let passages = passages.to_vec();
        let vectors = move || {
            passages.iter().map(|passage| Self::vector(&passage.head, &passage.body)).collect()
        };
        // computation: kept off the async threads
        tokio::task::spawn_blocking(vectors).await.map_err(|error| EmbedError::Unavailable {
            url: "local".to_owned(),
            reason: error.to_string(),
        })
    }

    async fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(Self::vector(query, ""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        let (a, b) = (LocalEmbedder::vector(a, ""), LocalEmbedder::vector(b, ""));
        a.iter().zip(&b).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn the_same_thing_in_two_languages_is_near() {
        let same = cosine("외륜 박리", "outer race spalling");
        let other = cosine("외륜 박리", "cage fracture");
        assert!(same > 0.5 && same > other + 0.4, "{same} {other}");
    }

    #[test]
    fn the_glossary_fits_into_its_coordinates() {
        assert!(concept_list().len() <= CONCEPT_DIMENSIONS, "{}", concept_list().len());
    }

    /// A changed word of `config/words/` changes stored vectors: then the version of
    /// [`LocalEmbedder`] and that of the counted words rise with this digest.
    #[test]
    fn shipped_words_give_the_vectors_of_this_version() {
        use sha2::{Digest, Sha256};
        let mut hasher = Sha256::new();
        for chunk in
            crate::shipped::documents().expect("documents").iter().flat_map(crate::chunk::cut)
        {
            let body = chunk.body();
            for text in body.lines().chain([body.as_str()]) {
                for value in LocalEmbedder::vector(text, &body) {
                    hasher.update(value.to_le_bytes());
                }
                let topics = crate::glossary::topics(&fold(text));
                hasher.update(format!("{:?} {topics:?}", crate::words::query_vector(text)));
            }
        }
        let digest = hasher.finalize();
        assert_eq!(digest[..8], [0x14, 0x73, 0xe8, 0x56, 0x68, 0xe8, 0xc4, 0x5e]);
    }

    proptest::proptest! {
        #[test]
        fn vectors_have_length_one_or_zero(text in "\\PC{0,80}") {
            let vector = LocalEmbedder::vector(&text, "");
            let length: f32 = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
            proptest::prop_assert!(length < 1e-6 || (length - 1.0).abs() < 1e-5, "{length}");
        }
    }
}
