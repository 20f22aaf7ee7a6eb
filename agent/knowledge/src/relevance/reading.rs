//! A chunk as the relevance reads it: its words with the parts they stand in, and the concepts of each
//! part. A part is the head (title and keywords) or a section with its English.

use std::collections::{HashMap, HashSet};

use super::likeness::Spelt;
use super::terms::Term;
use crate::chunk::Chunk;
use crate::embed::local::LocalEmbedder;
use crate::glossary::{concepts, topics};
use crate::words::{fold, marked_words, passage_vector};

/// Most parts of a chunk; further sections count as the last one.
const MAX_PARTS: usize = 64;

/// Half of a concept's worth is reached by so many mentions; three or more are worth all.
const HALF: f32 = 0.6;
/// Scales one mention of a concept to 0.81 and two to 1.
const FULL: f32 = 1.3;

/// A chunk, read.
#[derive(Debug)]
pub(super) struct Reading {
    /// Each word once, with one bit for each part it stands in; bit 0 is the head.
    words: Vec<(Spelt, u64)>,
    /// Mentions of concepts by part.
    mentions: Vec<HashMap<usize, u32>>,
    /// Mentions of concepts in all parts.
    all: HashMap<usize, u32>,
    /// Topics of elsewhere that it names.
    topics: HashSet<usize>,
    /// Its vector by the local embedding.
    pub(super) dense: Vec<f32>,
    /// Its words as the keyword search counts them.
    pub(super) sparse: HashMap<u32, f32>,
}

/// How far a chunk has what a term asks for, 0…1.
#[derive(Debug, Clone, Default)]
pub(super) struct Matched {
    pub(super) head: f32,
    pub(super) all: f32,
    /// By section.
    pub(super) sections: Vec<f32>,
}

impl Reading {
    pub(super) fn of(chunk: &Chunk) -> Self {
        let (head, body) = (chunk.head(), chunk.body());
        let sparse = passage_vector(&head, &body);
        let sections = chunk
            .sections
            .iter()
            .map(|section| format!("{}\n{}\n{}", section.title, section.body, section.english));
        let mut reading = Self {
            words: Vec::new(),
            mentions: Vec::new(),
            all: HashMap::new(),
            topics: HashSet::new(),
            dense: LocalEmbedder::vector(&head, &body),
            sparse: sparse.indices.into_iter().zip(sparse.values).collect(),
        };
        let mut places: HashMap<String, usize> = HashMap::new();
        for (at, text) in std::iter::once(head).chain(sections).enumerate() {
            reading.take(&fold(&text), at.min(MAX_PARTS - 1), &mut places);
        }
        reading
    }

    fn take(&mut self, folded: &str, part: usize, places: &mut HashMap<String, usize>) {
        for (word, _whole) in marked_words(folded) {
            let next = self.words.len();
            let at = *places.entry(word.clone()).or_insert(next);
            if at == next {
                self.words.push((Spelt::of(&word), 0));
            }
            if let Some((_, parts)) = self.words.get_mut(at) {
                *parts |= 1 << part;
            }
        }
        if self.mentions.len() <= part {
            self.mentions.resize_with(part + 1, HashMap::new);
        }
        for (concept, count) in concepts(folded) {
            if let Some(mentions) = self.mentions.get_mut(part) {
                *mentions.entry(concept).or_default() += count;
            }
            *self.all.entry(concept).or_default() += count;
        }
        self.topics.extend(topics(folded));
    }

    /// Whether the chunk names a topic of elsewhere.
    pub(super) fn names(&self, topic: usize) -> bool {
        self.topics.contains(&topic)
    }

    /// How far the chunk and its parts have what `term` asks for.
    pub(super) fn matched(&self, term: &Term) -> Matched {
        let mut parts = vec![0.0_f32; self.mentions.len()];
        let mut whole = 0.0_f32;
        if let Some(word) = &term.word {
            for (own, places) in &self.words {
                let likeness = word.likeness(own);
                if likeness > 0.0 {
                    whole = whole.max(likeness);
                    for (at, part) in parts.iter_mut().enumerate() {
                        if places >> at & 1 == 1 {
                            *part = part.max(likeness);
                        }
                    }
                }
            }
        }
        for concept in &term.concepts {
            whole = whole.max(worth(self.all.get(concept)));
            for (part, mentions) in parts.iter_mut().zip(&self.mentions) {
                *part = part.max(worth(mentions.get(concept)));
            }
        }
        let sections = parts.split_off(parts.len().min(1));
        Matched { head: parts.first().copied().unwrap_or_default(), all: whole, sections }
    }
}

/// The worth of so many mentions of a concept, 0…1.
fn worth(mentions: Option<&u32>) -> f32 {
    mentions.map_or(0.0, |count| {
        let count = *count as f32;
        (FULL * count / (count + HALF)).min(1.0)
    })
}
