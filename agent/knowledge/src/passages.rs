//! A small set of passages in memory, searched by words and by meaning at once: the articles of one
//! document, which are no chunks of the knowledge base and are stored nowhere.

use std::collections::HashMap;
use std::sync::Arc;

use pdm_shared::rank::{fused, ranked_above};

use super::embed::{EmbedError, Embedder, Passage};
use super::words::{self, Sparse, rarity};

/// Passages with their vectors.
#[derive(Debug)]
pub struct Passages {
    embedder: Arc<dyn Embedder>,
    dense: Vec<Vec<f32>>,
    sparse: Vec<Sparse>,
    /// Passages that hold a term.
    holders: HashMap<u32, usize>,
}

impl Passages {
    /// Embeds and counts the passages.
    ///
    /// # Errors
    /// [`EmbedError`] of the embedding.
    pub async fn new(
        embedder: Arc<dyn Embedder>,
        passages: &[Passage],
    ) -> Result<Self, EmbedError> {
        let dense = embedder.embed_passages(passages).await?;
        let sparse: Vec<Sparse> =
            passages.iter().map(|one| words::passage_vector(&one.head, &one.body)).collect();
        let mut holders = HashMap::new();
        for term in sparse.iter().flat_map(|one| &one.indices) {
            *holders.entry(*term).or_default() += 1;
        }
        Ok(Self { embedder, dense, sparse, holders })
    }

    /// The passages that have to do with `query`, best first, as their places in the list. A
    /// passage without a word of the question is among them only where a trained model makes the
    /// vectors, because the local embedding knows no more than the words.
    ///
    /// # Errors
    /// [`EmbedError`] of the embedding.
    pub async fn search(&self, query: &str, most: usize) -> Result<Vec<usize>, EmbedError> {
        let by_words = self.relevances(&words::query_vector(query));
        let asked = self.embedder.embed_query(query).await?;
        let by_meaning: Vec<f32> = self.dense.iter().map(|one| dot(one, &asked)).collect();
        let orders = [&by_words, &by_meaning].map(|scores| ranked_above(scores, 0.0));
        let sums = fused(self.dense.len(), &orders);
        let is_model = self.embedder.is_model();
        let mut order = ranked_above(&sums, 0.0);
        order.retain(|at| is_model || by_words[*at] > 0.0);
        order.truncate(most);
        Ok(order)
    }

    /// BM25 of every passage, as in the knowledge base's own index.
    fn relevances(&self, query: &Sparse) -> Vec<f32> {
        let all = self.sparse.len() as f32;
        let weight = |term: &u32| {
            let with = self.holders.get(term).copied().unwrap_or_default() as f32;
            rarity(all, with)
        };
        let asked: HashMap<u32, f32> = query
            .indices
            .iter()
            .zip(&query.values)
            .map(|(term, value)| (*term, value * weight(term)))
            .collect();
        let score = |one: &Sparse| -> f32 {
            let terms = one.indices.iter().zip(&one.values);
            terms.filter_map(|(term, value)| Some(asked.get(term)? * value)).sum()
        };
        self.sparse.iter().map(score).collect()
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::local::LocalEmbedder;

    #[tokio::test]
    async fn the_passage_that_answers_comes_first_and_strangers_not_at_all() {
        let passage = |head: &str, body: &str| Passage { head: head.into(), body: body.into() };
        let passages = [
            passage("목적", "이 계약은 데이터를 제공하는 조건을 정한다"),
            passage("손해배상", "상대방에게 손해를 입힌 때에는 배상한다"),
            passage("관할", "분쟁은 울산지방법원에서 해결한다"),
        ];
        let index = Passages::new(Arc::new(LocalEmbedder), &passages).await.expect("indexed");
        assert_eq!(index.search("손해배상 조건", 5).await.expect("found").first(), Some(&1));
        assert_eq!(index.search("분쟁은 어느 법원에서?", 1).await.expect("found"), [2]);
        assert!(index.search("quantum chromodynamics", 5).await.expect("found").is_empty());
    }
}
