//! Vectors of the questions that documents say they answer, where a model makes the embedding.
//!
//! A question is nearer to another question than to a page of text, so these are compared beside
//! the vector of the whole chunk. They stand in memory alone: the lines of the documents (1,340 of
//! the shipped ones) are embedded anew after a start, in the background of the first search, and
//! until then a search judges by words ([`Questions::nearness`] gives nothing). No store has to
//! keep a hundred vectors for a chunk.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pdm_service::resting::Resting;

use crate::chunk::Chunk;
use crate::embed::{EmbedError, Embedder, Passage};
use crate::store::Hit;

/// Most questions whose vectors are kept: those of a hundred documents, 50 MB at 1,536 coordinates.
/// Beyond them a search with a candidate that is not learnt judges by words.
const KEPT: usize = 8_000;

/// How many of a chunk's questions count. Chosen on a prototype (`multilingual-e5-small`), by
/// models of the other sets: with the mean of the three nearest the mean nDCG@3 of seven sets is
/// 0.940, with the nearest alone 0.939. `retrieval --fit --embed` prints 0.938 of this program, and
/// 0.926 without an endpoint.
const NEAREST: usize = 3;

/// The vectors; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Questions(Arc<Mutex<Learnt>>);

/// The vectors of a chunk's questions.
type Vectors = Arc<Vec<Vec<f32>>>;

#[derive(Debug, Default)]
struct Learnt {
    /// The vectors by collection and chunk, with the hash of the document.
    chunks: HashMap<String, (String, Vectors)>,
    /// Somebody learns.
    is_busy: bool,
    /// The endpoint rests after a failure: nobody learns.
    resting: Resting<()>,
}

impl Learnt {
    fn of(&self, chunk: &Chunk) -> Option<Vectors> {
        let (hash, vectors) = self.chunks.get(&key(chunk))?;
        (*hash == chunk.about.hash).then(|| Arc::clone(vectors))
    }
}

impl Questions {
    /// Returns how near `asked`, the vector of a question, is to those that each candidate says it
    /// answers, with `None` for a candidate that names no question. Returns `None` while some are
    /// not learnt.
    pub(crate) fn nearness(&self, asked: &[f32], found: &[Hit]) -> Option<Vec<Option<f32>>> {
        let learnt = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found
            .iter()
            .map(|hit| {
                if hit.chunk.about.asked.is_empty() {
                    return Some(None);
                }
                learnt.of(&hit.chunk).map(|vectors| Some(near(asked, &vectors)))
            })
            .collect()
    }

    /// Begins to learn those of the candidates in the background, if they are not learnt and nobody
    /// does.
    pub(crate) fn learn_later(&self, found: &[Hit], embedder: &Arc<dyn Embedder>) {
        let wanted: Vec<Chunk> = found.iter().map(|hit| hit.chunk.clone()).collect();
        let (questions, embedder) = (self.clone(), Arc::clone(embedder));
        if !self.begin() {
            return;
        }
        tokio::spawn(async move {
            let learnt = questions.learn(&wanted, embedder.as_ref()).await;
            if let Err(error) = &learnt {
                tracing::warn!(%error, "the questions of documents are not embedded, trying later");
            }
            questions.end(learnt.is_err());
        });
    }

    /// Learns the questions of these chunks.
    ///
    /// # Errors
    /// [`EmbedError`]; what was learnt until then is kept.
    pub(crate) async fn learn(
        &self,
        chunks: &[Chunk],
        embedder: &dyn Embedder,
    ) -> Result<(), EmbedError> {
        for chunk in chunks.iter().filter(|chunk| !chunk.about.asked.is_empty()) {
            if self.has_room_for(chunk) {
                let passage = |head: &String| Passage { head: head.clone(), body: String::new() };
                let passages: Vec<Passage> = chunk.about.asked.iter().map(passage).collect();
                let vectors = Arc::new(embedder.embed_passages(&passages).await?);
                let mut learnt = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                learnt.chunks.insert(key(chunk), (chunk.about.hash.clone(), vectors));
            }
        }
        Ok(())
    }

    /// Whether a chunk is to be learnt.
    fn has_room_for(&self, chunk: &Chunk) -> bool {
        let learnt = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept: usize = learnt.chunks.values().map(|(_, vectors)| vectors.len()).sum();
        learnt.of(chunk).is_none() && kept + chunk.about.asked.len() <= KEPT
    }

    fn begin(&self) -> bool {
        let mut learnt = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let may = !learnt.is_busy && !learnt.resting.rests(&());
        learnt.is_busy |= may;
        may
    }

    fn end(&self, has_failed: bool) {
        let mut learnt = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        learnt.is_busy = false;
        if has_failed {
            learnt.resting.begin((), "questions are not embedded");
        } else {
            learnt.resting.end(&());
        }
    }
}

fn key(chunk: &Chunk) -> String {
    format!("{}/{}", chunk.about.collection, chunk.id)
}

/// Mean cosine of the nearest questions; vectors have length 1.
fn near(asked: &[f32], questions: &[Vec<f32>]) -> f32 {
    let cosine = |one: &Vec<f32>| one.iter().zip(asked).map(|(a, b)| a * b).sum::<f32>();
    let mut cosines: Vec<f32> = questions.iter().map(cosine).collect();
    cosines.sort_by(|a, b| b.total_cmp(a));
    cosines.truncate(NEAREST);
    cosines.iter().sum::<f32>() / cosines.len().max(1) as f32
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;

    use super::*;
    use crate::embed::local::LocalEmbedder;

    /// An endpoint that can be away.
    #[derive(Debug)]
    struct Endpoint {
        is_away: bool,
    }

    #[async_trait]
    impl Embedder for Endpoint {
        fn id(&self) -> &'static str {
            "test"
        }

        fn dimensions(&self) -> usize {
            LocalEmbedder::DIMENSIONS
        }

        async fn embed_passages(&self, passages: &[Passage]) -> Result<Vec<Vec<f32>>, EmbedError> {
            if self.is_away {
                let (url, reason) = ("test".to_owned(), "away".to_owned());
                return Err(EmbedError::Unavailable { url, reason });
            }
            LocalEmbedder.embed_passages(passages).await
        }

        async fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
            LocalEmbedder.embed_query(query).await
        }
    }

    fn hits() -> Vec<Hit> {
        let documents = crate::shipped::documents().expect("documents");
        let chunks = documents.iter().flat_map(crate::chunk::cut);
        chunks.map(|chunk| Hit { chunk, score: 0.0 }).collect()
    }

    #[tokio::test]
    async fn a_search_has_the_nearness_of_questions_once_they_are_learnt() {
        let (questions, found) = (Questions::default(), hits());
        let wanted = found[3].chunk.about.asked[0].clone();
        let asked = LocalEmbedder::vector(&wanted, "");
        assert_eq!(questions.nearness(&asked, &found), None, "nothing is learnt");
        let away: Arc<dyn Embedder> = Arc::new(Endpoint { is_away: true });
        questions.learn_later(&found, &away);
        tokio::time::timeout(std::time::Duration::from_secs(10), async {
            while questions.0.lock().expect("lock").is_busy {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        })
        .await
        .expect("it gives up");
        assert!(!questions.begin(), "the endpoint rests after it failed");
        let chunks: Vec<Chunk> = found.iter().map(|hit| hit.chunk.clone()).collect();
        questions.learn(&chunks, &Endpoint { is_away: false }).await.expect("learnt");
        let mut found = found;
        found[0].chunk.about.asked.clear();
        let near = questions.nearness(&asked, &found).expect("learnt");
        assert_eq!(near[0], None, "it says none");
        let best = near.iter().enumerate().max_by(|a, b| a.1.partial_cmp(b.1).expect("numbers"));
        assert_eq!(best.map(|(at, _)| at), Some(3));
        found[3].chunk.about.hash = "another".to_owned();
        assert_eq!(questions.nearness(&asked, &found), None, "the document has changed");
    }
}
