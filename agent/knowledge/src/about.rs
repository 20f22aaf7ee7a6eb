//! The description of a document beside its text: collection, kind, title, machine, fault, origin.

use pdm_shared::fault::Fault;
use pdm_shared::text::Text;
use pdm_shared::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A set of documents that is searched separately.
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
    /// All collections.
    pub const ALL: [Self; 3] =
        [Self::MaintenanceHistory, Self::EquipmentManual, Self::AnalysisHistory];

    /// The collection's name in stores and on the command line.
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
                "no collection {text:?}; there are maintenance_history, equipment_manual, \
                 analysis_history"
            )
        })
    }
}

/// The kind of a document; decides how the document is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocType {
    /// A maintenance report.
    Report,
    /// A bearing's or machine's data.
    Specification,
    /// Symptoms and growth of one kind of fault.
    FaultGuide,
    /// Steps of a repair.
    Procedure,
    /// Failure modes, their effects and their rating.
    Fmea,
    /// A judgement of the agent.
    Judgement,
    /// A document of another kind.
    FreeText,
}

impl DocType {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Report,
        Self::Specification,
        Self::FaultGuide,
        Self::Procedure,
        Self::Fmea,
        Self::Judgement,
        Self::FreeText,
    ];

    /// The kind's name in front matter, filters and stores.
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

/// Words, beside the text, by which a document is found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Keywords {
    /// Korean words.
    pub ko: Vec<String>,
    /// English words.
    pub en: Vec<String>,
}

/// Who brought a document into the knowledge base, when, and by which way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Added {
    /// The name of the person or program, as they are known at the way.
    pub by: String,
    /// The way: `page`, `api`, `cli`.
    pub via: String,
    /// When.
    pub at: Timestamp,
}

/// The description of a document, which each of its chunks carries too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Collection in which the document is searched.
    pub collection: Collection,
    /// Kind of the document.
    pub doc_type: DocType,
    /// Title of the document.
    pub title: Text,
    /// Words to find the document by.
    pub keywords: Keywords,
    /// Questions that the document answers, in the words of those who ask: a search compares them
    /// with its question (document expansion by queries: Nogueira et al. 2019, arXiv:1904.08375).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<String>,
    /// Machine of the document.
    pub equipment: Option<String>,
    /// Bearing of the document.
    pub bearing: Option<String>,
    /// Fault of the document.
    pub fault_type: Option<Fault>,
    /// Whether the case is invented for teaching; no such machine failed.
    pub synthetic: bool,
    /// Sources that the document cites.
    pub sources: Vec<String>,
    /// File of the document, with the path that was given.
    pub origin: String,
    /// SHA-256 of the whole document, hexadecimal.
    pub hash: String,
    /// Who brought this text; `None` for what comes with the program or from the configured folder,
    /// and for what an earlier version took in. The same text again changes it for nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<Added>,
}
