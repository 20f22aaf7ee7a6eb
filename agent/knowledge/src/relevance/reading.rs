//! A chunk as the relevance reads it: its words with the parts they stand in, and the concepts of
//! each part. A part is the head (title and keywords), a section with its English, or a question
//! that the document says it answers.

use std::collections::{HashMap, HashSet};

use super::likeness::Spelt;
use super::terms::Term;
use crate::chunk::Chunk;
use crate::embed::local::LocalEmbedder;
use crate::glossary::{concepts, topics};
use crate::words::{fold, marked_words, passage_vector};

/// The number of sections, and of questions, that are parts of a chunk besides its head. Further
/// ones count as the last of their kind.
const SECTIONS: usize = 63;
const QUESTIONS: usize = 128;
/// The part of the first question.
const FIRST_QUESTION: usize = 1 + SECTIONS;

/// The number of mentions that reach half of a concept's worth; three or more are worth all.
const HALF: f32 = 0.6;
/// Scales one mention of a concept to 0.81 and two to 1.
const FULL: f32 = 1.3;

/// A chunk, read.
#[derive(Debug)]
pub(super) struct ChunkReading {
    /// Each word once, with the parts that it stands in; part 0 is the head.
    words: Vec<(Spelt, Places)>,
    /// Mentions of concepts by part.
    mentions: Vec<HashMap<usize, u32>>,
    /// Mentions of concepts in all parts.
    all: HashMap<usize, u32>,
    /// Topics of elsewhere that it names.
    topics: HashSet<usize>,
    /// The questions that it says it answers.
    pub(super) asked: Vec<AskedLine>,
    /// Its vector by the local embedding.
    pub(super) dense: Vec<f32>,
    /// Its words as the keyword search counts them.
    pub(super) sparse: HashMap<u32, f32>,
}

/// A question that a chunk says it answers.
#[derive(Debug)]
pub(super) struct AskedLine {
    /// Number of its words.
    pub(super) words: usize,
    /// Its vector by the local embedding.
    pub(super) dense: Vec<f32>,
}

/// A set of parts.
#[derive(Debug, Clone, Copy, Default)]
struct Places([u64; (FIRST_QUESTION + QUESTIONS).div_ceil(64)]);

impl Places {
    fn insert(&mut self, part: usize) {
        if let Some(bits) = self.0.get_mut(part / 64) {
            *bits |= 1 << (part % 64);
        }
    }

    fn contains(&self, part: usize) -> bool {
        self.0.get(part / 64).is_some_and(|bits| bits >> (part % 64) & 1 == 1)
    }
}

/// How far a chunk has what a term asks for, 0…1.
#[derive(Debug, Clone, Default)]
pub(super) struct Matched {
    pub(super) head: f32,
    pub(super) all: f32,
    /// The values by section.
    pub(super) sections: Vec<f32>,
    /// The values by question.
    pub(super) asked: Vec<f32>,
}

impl ChunkReading {
    pub(super) fn of(chunk: &Chunk) -> Self {
        let (head, body) = (chunk.head(), chunk.searched());
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
            asked: Vec::new(),
            dense: LocalEmbedder::vector(&head, &body),
            sparse: sparse.indices.into_iter().zip(sparse.values).collect(),
        };
        let mut places: HashMap<String, usize> = HashMap::new();
        for (at, text) in std::iter::once(head).chain(sections).enumerate() {
            reading.take(&fold(&text), at.min(SECTIONS), &mut places);
        }
        for (at, question) in chunk.about.asked.iter().enumerate() {
            let part = FIRST_QUESTION + at.min(QUESTIONS - 1);
            let words = reading.take(&fold(question), part, &mut places);
            reading.asked.push(AskedLine { words, dense: LocalEmbedder::vector(question, "") });
        }
        reading
    }

    /// Takes the text of a part; the number of its words.
    fn take(&mut self, folded: &str, part: usize, places: &mut HashMap<String, usize>) -> usize {
        let words = marked_words(folded);
        let count = words.len();
        for (word, _whole) in words {
            let next = self.words.len();
            let at = *places.entry(word.clone()).or_insert(next);
            if at == next {
                self.words.push((Spelt::of(&word), Places::default()));
            }
            if let Some((_, parts)) = self.words.get_mut(at) {
                parts.insert(part);
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
        count
    }

    /// Whether the chunk names a topic of elsewhere.
    pub(super) fn names(&self, topic: usize) -> bool {
        self.topics.contains(&topic)
    }

    /// Returns how far the chunk and its parts have what `term` asks for.
    pub(super) fn matched(&self, term: &Term) -> Matched {
        let mut parts = vec![0.0_f32; self.mentions.len()];
        let mut whole = 0.0_f32;
        if let Some(word) = &term.word {
            for (own, places) in &self.words {
                let likeness = word.likeness(own);
                if likeness > 0.0 {
                    whole = whole.max(likeness);
                    for (at, part) in parts.iter_mut().enumerate() {
                        if places.contains(at) {
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
        let asked = parts.split_off(parts.len().min(FIRST_QUESTION));
        let sections = parts.split_off(parts.len().min(1));
        Matched { head: parts.first().copied().unwrap_or_default(), all: whole, sections, asked }
    }
}

/// Returns the worth of this many mentions of a concept, 0…1.
fn worth(mentions: Option<&u32>) -> f32 {
    mentions.map_or(0.0, |count| {
        let count = *count as f32;
        (FULL * count / (count + HALF)).min(1.0)
    })
}
