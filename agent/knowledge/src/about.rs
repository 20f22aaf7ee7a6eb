//! What is said of a document beside its text: collection, kind, title, machine, fault, origin.

use pdm_shared::fault::Fault;
use pdm_shared::text::Text;
use serde::{Deserialize, Serialize};

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
