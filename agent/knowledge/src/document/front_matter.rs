//! Front matter: the description of a document, in TOML before its text.

use std::path::Path;

use pdm_service::config::{self, ConfigError};
use pdm_shared::fault::Fault;
use pdm_shared::text::Text;
use serde::Deserialize;

use crate::about::{Collection, DocType, Keywords};
use crate::section::Section;

/// Line that opens and closes front matter.
const FENCE: &str = "+++";
/// Longest id, bytes.
pub(super) const MAX_ID: usize = 100;
/// Most questions of a document or a failure mode: two for each line of a long procedure.
const MAX_ASKED: usize = 120;
/// Longest question, characters.
const MAX_QUESTION: usize = 300;

/// A failure mode of an FMEA.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureMode {
    /// Number of the mode's section.
    pub section: String,
    /// Title of the mode.
    pub title: Text,
    /// Words to find the mode by.
    #[serde(default)]
    pub keywords: Keywords,
    /// Fault of the mode.
    #[serde(default)]
    pub fault_type: Option<Fault>,
    /// Questions that the mode answers.
    #[serde(default)]
    pub asked: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FrontMatter {
    pub(super) id: String,
    pub(super) collection: Collection,
    pub(super) doc_type: DocType,
    pub(super) title: Text,
    #[serde(default)]
    pub(super) keywords: Keywords,
    pub(super) equipment: Option<String>,
    pub(super) bearing: Option<String>,
    pub(super) fault_type: Option<Fault>,
    #[serde(default)]
    pub(super) synthetic: bool,
    #[serde(default)]
    pub(super) sources: Vec<String>,
    #[serde(default)]
    pub(super) asked: Vec<String>,
    #[serde(default)]
    pub(super) modes: Vec<FailureMode>,
}

/// The front matter and the text after it.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix(FENCE)?;
    let rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'))?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == FENCE {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

impl FrontMatter {
    pub(super) fn read(path: &Path, front: &str) -> Result<Self, ConfigError> {
        // one line in front, so that the parser's line numbers match those of the file
        let front: Self = config::parse(path, &format!("\n{front}"))?;
        check_id(path, &front.id)?;
        check_asked(path, "asked", &front.asked)?;
        front.modes.iter().try_for_each(|mode| check_asked(path, "modes.asked", &mode.asked))?;
        Ok(front)
    }

    /// Checks that only an FMEA has failure modes, and that each mode belongs to a section.
    pub(super) fn check_modes(&self, path: &Path, sections: &[Section]) -> Result<(), ConfigError> {
        let is_fmea = self.doc_type == DocType::Fmea;
        if is_fmea == self.modes.is_empty() {
            let allowed = "one [[modes]] or more for an fmea, none for anything else";
            return Err(ConfigError::value(path, "modes", self.modes.len(), allowed));
        }
        let missing =
            self.modes.iter().find(|mode| !sections.iter().any(|s| s.number == mode.section));
        missing.map_or(Ok(()), |mode| {
            Err(ConfigError::value(
                path,
                "modes.section",
                &mode.section,
                "a section of this document",
            ))
        })
    }
}

fn check_asked(path: &Path, key: &str, asked: &[String]) -> Result<(), ConfigError> {
    if asked.len() > MAX_ASKED {
        return Err(ConfigError::value(path, key, asked.len(), "at most 120 questions"));
    }
    let is_wrong =
        |question: &&String| question.trim().is_empty() || question.chars().count() > MAX_QUESTION;
    asked.iter().find(is_wrong).map_or(Ok(()), |question| {
        Err(ConfigError::value(path, key, question, "questions of 1 to 300 characters"))
    })
}

fn check_id(path: &Path, id: &str) -> Result<(), ConfigError> {
    let allowed =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    if id.is_empty() || id.len() > MAX_ID || !id.chars().all(allowed) {
        let what = "1 to 100 ASCII letters, digits, '-', '_', '.'";
        return Err(ConfigError::value(path, "id", id, what));
    }
    Ok(())
}
