//! Chunks: the pieces that are embedded, stored and found, with what is needed to cite them.
//!
//! A report, a guide or a procedure is one chunk, an FMEA one for each failure mode, a judgement
//! one. A document of no known kind is cut between sections at [`FREE_TEXT_CHARS`]: no embedding
//! takes a whole handbook.

use pdm_shared::fault::Fault;
use pdm_shared::text::Text;
use serde::{Deserialize, Serialize};

use super::document::{Document, Section};

/// Characters at which a document without a known kind is cut. Chosen: two printed pages, and below
/// the 8,191 tokens of `text-embedding-3-small` at two tokens a Hangul syllable.
pub const FREE_TEXT_CHARS: usize = 3000;

/// A set of documents that is searched by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Collection {
    /// Reports of past failures and repairs.
    MaintenanceHistory,
    /// Specifications, guides, procedures, FMEA.
    EquipmentManual,
    /// The agent's own judgements.
    AnalysisHistory,
}

impl Collection {
    /// All of them.
    pub const ALL: [Self; 3] =
        [Self::MaintenanceHistory, Self::EquipmentManual, Self::AnalysisHistory];

    /// Its name in stores and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MaintenanceHistory => "maintenance_history",
            Self::EquipmentManual => "equipment_manual",
            Self::AnalysisHistory => "analysis_history",
        }
    }
}

impl std::fmt::Display for Collection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl std::str::FromStr for Collection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|collection| collection.as_str() == text);
        found.ok_or_else(|| {
            format!(
                "no collection {text:?}; there are maintenance_history, equipment_manual, analysis_history"
            )
        })
    }
}

/// What kind of document it is; decides how it is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocType {
    /// A maintenance report.
    Report,
    /// A bearing's or machine's data.
    Specification,
    /// How one kind of fault shows and grows.
    FaultGuide,
    /// Steps of a repair.
    Procedure,
    /// Failure modes, effects, their rating.
    Fmea,
    /// A judgement of the agent.
    Judgement,
    /// Anything else.
    FreeText,
}

impl DocType {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Report,
        Self::Specification,
        Self::FaultGuide,
        Self::Procedure,
        Self::Fmea,
        Self::Judgement,
        Self::FreeText,
    ];

    /// Its name in front matter, filters and stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Specification => "specification",
            Self::FaultGuide => "fault_guide",
            Self::Procedure => "procedure",
            Self::Fmea => "fmea",
            Self::Judgement => "judgement",
            Self::FreeText => "free_text",
        }
    }
}

impl std::str::FromStr for DocType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|kind| kind.as_str()).collect();
            format!("no document type {text:?}; there are {}", names.join(", "))
        })
    }
}

/// Words to find a document by, beside its text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Keywords {
    /// Korean.
    pub ko: Vec<String>,
    /// English.
    pub en: Vec<String>,
}

/// What a document says of itself, and each of its chunks with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Where it is searched.
    pub collection: Collection,
    /// Its kind.
    pub doc_type: DocType,
    /// Its title.
    pub title: Text,
    /// Words to find it by.
    pub keywords: Keywords,
    /// The machine it is about.
    pub equipment: Option<String>,
    /// The bearing it is about.
    pub bearing: Option<String>,
    /// The fault it is about.
    pub fault_type: Option<Fault>,
    /// The case is made up to teach; no such machine failed.
    pub synthetic: bool,
    /// What it rests on itself.
    pub sources: Vec<String>,
    /// The file it came from, as it was named.
    pub origin: String,
    /// SHA-256 of the whole document, hexadecimal.
    pub hash: String,
}

/// One piece of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// `MH-03`, or `EM-07#2` for a piece of a document that is cut.
    pub id: String,
    /// The document's id.
    pub document: String,
    /// What is said of it: the document's, or its failure mode's.
    #[serde(flatten)]
    pub about: About,
    /// Its text, by section.
    pub sections: Vec<Section>,
}

impl Chunk {
    /// Titles and keywords: what weighs most when it is searched for.
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

    /// The text with its headings.
    pub fn body(&self) -> String {
        let parts: Vec<String> = self.sections.iter().map(Section::whole).collect();
        parts.join("\n\n")
    }

    /// How a hit is cited: `MH-03 외륜 박리 … (config/knowledge/mh-03.md)`.
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

/// One chunk for each failure mode. What the modes share (scales, rules) goes with the first, so
/// that no section is lost and no mode is drowned in text that all have.
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
