//! One collection in memory: a matrix of embeddings and posting lists, both searched exactly.
//!
//! Rows are only added. A replaced row is marked dead, left out of every search, and removed when a
//! quarter of the rows is dead. Texts stay on disk; a row has the key of its text.

use std::collections::HashMap;

use ndarray::{ArrayView1, ArrayView2};
use pdm_shared::rank::rank_weight;

use super::{Filter, Query};
use crate::chunk::Chunk;
use crate::words::{Sparse, rarity};

/// Multiplications from which a second thread is used: about a millisecond of one core.
const PARALLEL_FROM: usize = 2_000_000;

/// The fields of a row that filters use.
#[derive(Debug)]
struct Row {
    key: i64,
    document: Box<str>,
    equipment: Option<Box<str>>,
    bearing: Option<Box<str>>,
    doc_type: crate::about::DocType,
    fault_type: Option<pdm_shared::fault::Fault>,
    alive: bool,
}

impl Row {
    fn passes(&self, filter: &Filter) -> bool {
        let same = |asked: &Option<String>, is: Option<&str>| {
            asked.as_deref().is_none_or(|asked| is == Some(asked))
        };
        self.alive
            && same(&filter.equipment, self.equipment.as_deref())
            && same(&filter.bearing, self.bearing.as_deref())
            && same(&filter.document, Some(&self.document))
            && filter.doc_type.is_none_or(|asked| asked == self.doc_type)
            && filter.fault_type.is_none_or(|asked| self.fault_type == Some(asked))
            && !filter.without.iter().any(|document| **document == *self.document)
    }
}

/// The index of one collection.
#[derive(Debug, Default)]
pub(super) struct Index {
    rows: Vec<Row>,
    alive: usize,
    dimensions: usize,
    matrix: Vec<f32>,
    postings: HashMap<u32, Vec<(u32, f32)>>,
    /// Rows of each document, including dead ones.
    documents: HashMap<Box<str>, Vec<u32>>,
}

impl Index {
    /// An empty index for vectors of `dimensions`.
    pub(super) fn new(dimensions: usize) -> Self {
        Self { dimensions, ..Self::default() }
    }

    /// Adds a row. `dense` has the index's dimensions (checked by the store).
    pub(super) fn push(&mut self, key: i64, chunk: &Chunk, dense: &[f32], sparse: &Sparse) {
        let boxed = |text: &Option<String>| text.as_deref().map(Box::from);
        let at = self.rows.len() as u32;
        self.rows.push(Row {
            key,
            document: chunk.document.as_str().into(),
            equipment: boxed(&chunk.about.equipment),
            bearing: boxed(&chunk.about.bearing),
            doc_type: chunk.about.doc_type,
            fault_type: chunk.about.fault_type,
            alive: true,
        });
        self.alive += 1;
        self.documents.entry(chunk.document.as_str().into()).or_default().push(at);
        self.matrix.extend(dense);
        for (term, value) in sparse.indices.iter().zip(&sparse.values) {
            self.postings.entry(*term).or_default().push((at, *value));
        }
    }

    /// Marks the rows of these documents dead.
    pub(super) fn bury(&mut self, documents: &[String]) {
        let rows = documents.iter().filter_map(|document| self.documents.get(document.as_str()));
        for at in rows.flatten() {
            let row = &mut self.rows[*at as usize];
            if row.alive {
                row.alive = false;
                self.alive -= 1;
            }
        }
    }

    /// Removes the dead rows if they are a quarter of all; the others keep their order.
    pub(super) fn tidy(&mut self) {
        if self.rows.len() <= self.alive + self.alive / 4 + 64 {
            return;
        }
        let mut next = 0;
        let place = |row: &Row| {
            let here = next;
            next += u32::from(row.alive);
            row.alive.then_some(here)
        };
        let places: Vec<Option<u32>> = self.rows.iter().map(place).collect();
        for (from, to) in places.iter().enumerate() {
            if let Some(to) = to {
                let vector = from * self.dimensions..(from + 1) * self.dimensions;
                self.matrix.copy_within(vector, *to as usize * self.dimensions);
            }
        }
        self.matrix.truncate(self.alive * self.dimensions);
        self.postings.retain(|_, rows| {
            rows.retain_mut(|(row, _)| match places[*row as usize] {
                Some(place) => {
                    *row = place;
                    true
                }
                None => false,
            });
            !rows.is_empty()
        });
        self.documents.retain(|_, rows| {
            *rows = rows.iter().filter_map(|row| places[*row as usize]).collect();
            !rows.is_empty()
        });
        self.rows.retain(|row| row.alive);
    }

    /// The documents of the `count` rows to delete first: rows without a fault before the others,
    /// in each group the oldest first.
    pub(super) fn oldest(&self, count: usize) -> Vec<String> {
        let of = |has_fault: bool| {
            let rows = self.rows.iter();
            rows.filter(move |row| row.alive && row.fault_type.is_some() == has_fault)
        };
        of(false).chain(of(true)).take(count).map(|row| row.document.to_string()).collect()
    }

    /// Number of rows that are not dead.
    pub(super) fn alive(&self) -> usize {
        self.alive
    }

    /// Keys of the best rows with their scores, best first; equal scores by row.
    pub(super) fn search(&self, query: &Query) -> Vec<(i64, f32)> {
        let passes: Vec<bool> = self.rows.iter().map(|row| row.passes(&query.filter)).collect();
        let best = match (&query.dense, &query.sparse) {
            (Some(dense), Some(sparse)) => {
                let lists = [
                    best(&self.cosines(dense), &passes, query.candidates(), f32::NEG_INFINITY),
                    best(&self.relevances(sparse), &passes, query.candidates(), 0.0),
                ];
                fuse(&lists, query.top_k)
            }
            (Some(dense), None) => {
                best(&self.cosines(dense), &passes, query.top_k, f32::NEG_INFINITY)
            }
            (None, Some(sparse)) => best(&self.relevances(sparse), &passes, query.top_k, 0.0),
            (None, None) => Vec::new(),
        };
        best.into_iter().map(|(at, score)| (self.rows[at as usize].key, score)).collect()
    }

    /// Cosine of every row: the dot product, because vectors have length 1.
    fn cosines(&self, dense: &[f32]) -> Vec<f32> {
        let mut scores = vec![0.0; self.rows.len()];
        if dense.len() != self.dimensions || self.dimensions == 0 {
            return scores;
        }
        let threads = if self.matrix.len() < PARALLEL_FROM {
            1
        } else {
            std::thread::available_parallelism().map_or(1, |n| n.get().min(8))
        };
        let rows = self.rows.len().div_ceil(threads).max(1);
        std::thread::scope(|scope| {
            let blocks = self.matrix.chunks(rows * self.dimensions).zip(scores.chunks_mut(rows));
            for (at, (block, scores)) in blocks.enumerate() {
                if at + 1 == threads {
                    product(block, dense, scores);
                } else {
                    scope.spawn(move || product(block, dense, scores));
                }
            }
        });
        scores
    }

    /// BM25 of every row: the stored values times the rarity of the terms.
    fn relevances(&self, sparse: &Sparse) -> Vec<f32> {
        let mut scores = vec![0.0; self.rows.len()];
        let all = self.alive as f32;
        for (term, weight) in sparse.indices.iter().zip(&sparse.values) {
            let Some(postings) = self.postings.get(term) else { continue };
            let with = (postings.len() as f32).min(all);
            let idf = rarity(all, with);
            for (row, value) in postings {
                scores[*row as usize] += weight * idf * value;
            }
        }
        scores
    }
}

fn product(block: &[f32], dense: &[f32], scores: &mut [f32]) {
    let shape = (scores.len(), dense.len());
    if let Ok(matrix) = ArrayView2::from_shape(shape, block) {
        let dense = ArrayView1::from(dense);
        for (row, score) in matrix.rows().into_iter().zip(scores) {
            *score = row.dot(&dense);
        }
    }
}

/// The `most` best rows above `floor` for which `passes` is true.
fn best(scores: &[f32], passes: &[bool], most: usize, floor: f32) -> Vec<(u32, f32)> {
    let mut found: Vec<(u32, f32)> = Vec::with_capacity(2 * most);
    let mut least = floor;
    for (at, (score, passes)) in scores.iter().zip(passes).enumerate() {
        if *passes && *score > least {
            found.push((at as u32, *score));
            if found.len() == 2 * most {
                keep_best(&mut found, most);
                // rows come in order, so a later row with an equal score is left out
                least = found[most - 1].1;
            }
        }
    }
    keep_best(&mut found, most);
    found
}

fn keep_best(found: &mut Vec<(u32, f32)>, most: usize) {
    found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(most);
}

/// Reciprocal rank fusion.
fn fuse(lists: &[Vec<(u32, f32)>], most: usize) -> Vec<(u32, f32)> {
    let mut sums: HashMap<u32, f32> = HashMap::new();
    for list in lists {
        for (rank, (row, _score)) in list.iter().enumerate() {
            *sums.entry(*row).or_default() += rank_weight(rank) as f32;
        }
    }
    let mut fused: Vec<(u32, f32)> = sums.into_iter().collect();
    keep_best(&mut fused, most);
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_both_lists_know_beats_one_that_leads_a_single_list() {
        let lists = [vec![(1, 0.9), (2, 0.8)], vec![(3, 7.0), (2, 6.0)]];
        let fused = fuse(&lists, 3);
        assert_eq!(fused[0].0, 2);
        assert_eq!(fused.len(), 3);
    }

    fn index(rows: usize) -> Index {
        let mut index = Index::new(2);
        let text = include_str!("../../../../config/examples/diagnosis.json");
        let mut chunk = crate::judgement::chunk(&serde_json::from_str(text).expect("diagnosis"));
        for at in 0..rows {
            chunk.document = format!("D{at}");
            chunk.about.fault_type = (at % 3 == 0).then_some(pdm_shared::fault::Fault::Cage);
            let sparse = Sparse { indices: vec![7, 100 + at as u32], values: vec![1.0, 2.0] };
            let key = i64::try_from(at).expect("few");
            index.push(key, &chunk, &[at as f32, 1.0], &sparse);
        }
        index
    }

    #[test]
    fn tidied_up_it_finds_what_it_found_before() {
        let (mut index, gone) = (index(400), |at: usize| at.is_multiple_of(7) || at < 100);
        let dead: Vec<String> =
            (0..400).filter(|at| gone(*at)).map(|at| format!("D{at}")).collect();
        index.bury(&dead);
        let ask = |sparse: Option<Sparse>| Query {
            dense: Some(vec![0.6, 0.8]),
            sparse,
            filter: Filter::default(),
            top_k: 50,
        };
        let by_meaning = index.search(&ask(None));
        index.tidy();
        assert_eq!(index.rows.len(), index.alive());
        assert_eq!(index.alive(), (0..400).filter(|at| !gone(*at)).count());
        assert_eq!(index.matrix.len(), 2 * index.alive());
        assert_eq!(index.documents.len(), index.alive());
        assert_eq!(index.search(&ask(None)), by_meaning);
        let sparse = Sparse { indices: vec![100 + 201], values: vec![1.0] };
        let query = Query { dense: None, ..ask(Some(sparse)) };
        assert_eq!(index.search(&query).iter().map(|(key, _)| *key).collect::<Vec<_>>(), [201]);
    }

    #[test]
    fn what_names_no_fault_goes_before_what_names_one() {
        let index = index(7);
        assert_eq!(index.oldest(3), ["D1", "D2", "D4"]);
        assert_eq!(index.oldest(9), ["D1", "D2", "D4", "D5", "D0", "D3", "D6"]);
    }

    proptest::proptest! {
        #[test]
        fn the_best_are_those_of_a_full_sort(
            scores in proptest::collection::vec(-1.0f32..1.0, 0..200),
            most in 1usize..20,
        ) {
            let passes: Vec<bool> = (0..scores.len()).map(|at| at % 3 != 0).collect();
            let mut all: Vec<(u32, f32)> =
                scores.iter().enumerate().map(|(at, s)| (at as u32, *s)).collect();
            all.retain(|(at, _)| passes[*at as usize]);
            all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            all.truncate(most);
            proptest::prop_assert_eq!(best(&scores, &passes, most, f32::NEG_INFINITY), all);
        }
    }
}
