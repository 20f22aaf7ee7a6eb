//! Chunks: the pieces of documents that are embedded, stored, found and cited.
//!
//! A report, a guide, a procedure and a judgement are one chunk each; an FMEA is one chunk for each
//! failure mode. A document of unknown kind is cut between sections at [`FREE_TEXT_CHARS`], because
//! no embedding takes a whole handbook.

use serde::{Deserialize, Serialize};

use crate::about::{About, DocType};
use crate::document::Document;
use crate::section::Section;

/// Characters at which a document of unknown kind is cut: two printed pages. At two tokens a Hangul
/// syllable this is 6,000 tokens, below the 8,191 of `text-embedding-3-small`.
pub const FREE_TEXT_CHARS: usize = 3000;

/// One piece of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// Identity: `MH-03`, or `EM-07#2` for a piece of a document that is cut.
    pub id: String,
    /// Identity of the document.
    pub document: String,
    /// Description of the document, or of its failure mode.
    #[serde(flatten)]
    pub about: About,
    /// Text of the chunk, by section.
    pub sections: Vec<Section>,
}

impl Chunk {
    /// Titles and keywords, which have the highest weight in a search.
    pub fn head(&self) -> String {
        let mut parts = vec![self.about.title.ko.as_str(), self.about.title.en.as_str()];
        parts.extend(self.about.keywords.ko.iter().map(String::as_str));
        parts.extend(self.about.keywords.en.iter().map(String::as_str));
        if let [section] = self.sections.as_slice() {
            parts.push(&section.title);
        }
        parts.extend(self.about.equipment.as_deref());
        parts.extend(self.about.bearing.as_deref());
        parts.join("\n")
    }

    /// The text of the chunk with its headings.
    pub fn body(&self) -> String {
        let parts: Vec<String> = self.sections.iter().map(Section::whole).collect();
        parts.join("\n\n")
    }

    /// The English text of the chunk with its headings; empty if it has none.
    pub fn body_in_english(&self) -> String {
        let parts = self.sections.iter().map(Section::whole_in_english);
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the text that a search by words or by meaning reads below the head: the text, and
    /// the questions that it answers.
    pub fn searched(&self) -> String {
        let mut text = self.body();
        for question in &self.about.asked {
            text.push('\n');
            text.push_str(question);
        }
        text
    }

    /// The citation of a hit: `MH-03 외륜 박리 … (config/knowledge/mh-03.md)`.
    pub fn citation(&self) -> String {
        let made_up = if self.about.synthetic { ", synthetic" } else { "" };
        format!("{} {} ({}{made_up})", self.id, self.about.title.ko, self.about.origin)
    }
}

/// Cuts a document into its chunks.
pub fn cut(document: &Document) -> Vec<Chunk> {
    match document.about.doc_type {
        DocType::Report
        | DocType::Specification
        | DocType::FaultGuide
        | DocType::Procedure
        | DocType::Judgement => vec![whole(document)],
        DocType::Fmea => modes(document),
        DocType::FreeText => by_size(document),
    }
}

fn whole(document: &Document) -> Chunk {
    Chunk {
        id: document.id.clone(),
        document: document.id.clone(),
        about: document.about.clone(),
        sections: document.sections.clone(),
    }
}

/// One chunk for each failure mode. Text that all modes share (scales, rules) goes into the first
/// chunk only: no section is lost, and no mode is hidden by shared text.
fn modes(document: &Document) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = document
        .modes
        .iter()
        .map(|mode| {
            let belongs = |section: &&Section| section.is_within(&mode.section);
            let sections = document.sections.iter().filter(belongs).cloned().collect();
            let about = About {
                title: mode.title.clone(),
                keywords: mode.keywords.clone(),
                asked: mode.asked.clone(),
                fault_type: mode.fault_type,
                ..document.about.clone()
            };
            let id = format!("{}#{}", document.id, mode.section);
            Chunk { id, document: document.id.clone(), about, sections }
        })
        .collect();
    let shared = document
        .sections
        .iter()
        .filter(|section| !document.modes.iter().any(|mode| section.is_within(&mode.section)));
    if let Some(first) = chunks.first_mut() {
        first.sections.extend(shared.cloned());
        first.about.asked.extend(document.about.asked.iter().cloned());
    }
    chunks
}

fn by_size(document: &Document) -> Vec<Chunk> {
    let mut groups: Vec<Vec<Section>> = vec![Vec::new()];
    let mut filled = 0;
    for piece in document.sections.iter().flat_map(|section| section.pieces(FREE_TEXT_CHARS)) {
        let length = piece.body.chars().count();
        if filled > 0 && filled + length > FREE_TEXT_CHARS {
            groups.push(Vec::new());
            filled = 0;
        }
        filled += length;
        if let Some(group) = groups.last_mut() {
            group.push(piece);
        }
    }
    let single = groups.len() == 1;
    let chunks = groups.into_iter().enumerate().map(|(at, sections)| {
        let id = if single { document.id.clone() } else { format!("{}#{}", document.id, at + 1) };
        Chunk { id, sections, ..whole(document) }
    });
    chunks.collect()
}
