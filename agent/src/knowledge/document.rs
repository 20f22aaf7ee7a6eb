//! A document as it is written: front matter between `+++` lines (TOML), then Markdown with
//! numbered sections. Text and PDF come without front matter; their id is the file's name.
//!
//! ```text
//! +++
//! id = "MH-03"
//! collection = "maintenance_history"
//! doc_type = "report"
//! title = { ko = "…", en = "…" }
//! keywords = { ko = ["…"], en = ["…"] }
//! equipment = "P-101"            # optional, as are bearing, fault_type
//! synthetic = true               # default false
//! sources = ["…"]
//! +++
//! ## 1. 설비 정보
//! …
//! ### 1.1 …
//! ```
//!
//! A section may carry its English below a line `<!-- en -->`, item for item: what documents in
//! English quote. It is not searched; titles and keywords are, in both languages.
//!
//! An FMEA lists its failure modes (`[[modes]]`: section, title, keywords, fault_type).

use std::path::Path;

use pdm_shared::config::{self, ConfigError};
use pdm_shared::fault::Fault;
use pdm_shared::text::Text;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::chunk::{About, Collection, DocType, Keywords};
use super::items;

/// Line that opens and closes front matter.
const FENCE: &str = "+++";
/// Line after which a section's English stands, up to the next heading.
const ENGLISH: &str = "<!-- en -->";

/// Longest id, bytes.
const MAX_ID: usize = 100;

/// A file that is no document. The caller shows it and goes on with the next file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The file cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        /// Which.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The front matter is wrong.
    #[error(transparent)]
    FrontMatter(#[from] ConfigError),
    /// The kind of file is none that is read.
    #[error("{path}: only .md, .txt and .pdf are read")]
    Kind {
        /// Which.
        path: String,
    },
    /// The file is larger than allowed.
    #[error("{path}: {bytes} bytes, at most {limit} are read")]
    TooLarge {
        /// Which.
        path: String,
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// There is no text in it.
    #[error("{path}: no text in it")]
    Empty {
        /// Which.
        path: String,
    },
    /// The PDF does not parse.
    #[error("{path}: no readable PDF: {reason}")]
    Pdf {
        /// Which.
        path: String,
        /// The parser's words.
        reason: String,
    },
}

/// A numbered section.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// `2`, `2.1`; empty for text before the first heading.
    pub number: String,
    /// Heading without its number.
    pub title: String,
    /// Text under it, without deeper sections.
    pub body: String,
    /// The same in English, item for item; empty if it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub english: String,
}

impl Section {
    /// Number, heading and text.
    pub fn whole(&self) -> String {
        let heading = format!("{} {}", self.number, self.title);
        format!("{}\n{}", heading.trim(), self.body).trim().to_owned()
    }

    /// Whether it is section `number` or one below it.
    pub fn is_within(&self, number: &str) -> bool {
        self.number
            .strip_prefix(number)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// The section in pieces of at most `limit` characters, cut at line ends where there are any.
    pub(super) fn pieces(&self, limit: usize) -> Vec<Self> {
        let mut pieces = vec![String::new()];
        let mut filled = 0;
        for part in self.body.split_inclusive('\n') {
            let letters: Vec<char> = part.chars().collect();
            for run in letters.chunks(limit) {
                if filled > 0 && filled + run.len() > limit {
                    pieces.push(String::new());
                    filled = 0;
                }
                filled += run.len();
                if let Some(piece) = pieces.last_mut() {
                    piece.extend(run);
                }
            }
        }
        let mut english = self.english.clone();
        pieces
            .into_iter()
            .map(|body| Self {
                number: self.number.clone(),
                title: self.title.clone(),
                body,
                english: std::mem::take(&mut english),
            })
            .collect()
    }
}

/// A failure mode of an FMEA.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureMode {
    /// The section that is about it.
    pub section: String,
    /// Its title.
    pub title: Text,
    /// Words to find it by.
    #[serde(default)]
    pub keywords: Keywords,
    /// The fault it is.
    #[serde(default)]
    pub fault_type: Option<Fault>,
}

/// A document, read but not yet cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// `MH-03`.
    pub id: String,
    /// What is said of it.
    pub about: About,
    /// Failure modes, of an FMEA.
    pub modes: Vec<FailureMode>,
    /// The text.
    pub sections: Vec<Section>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    id: String,
    collection: Collection,
    doc_type: DocType,
    title: Text,
    #[serde(default)]
    keywords: Keywords,
    equipment: Option<String>,
    bearing: Option<String>,
    fault_type: Option<Fault>,
    #[serde(default)]
    synthetic: bool,
    #[serde(default)]
    sources: Vec<String>,
    #[serde(default)]
    modes: Vec<FailureMode>,
}

impl Document {
    /// Reads Markdown or plain text; without front matter it is free text of `collection`.
    ///
    /// # Errors
    /// [`DocumentError::FrontMatter`] with file, line and key; [`DocumentError::Empty`].
    pub fn parse(path: &Path, text: &str, collection: Collection) -> Result<Self, DocumentError> {
        let text = text.trim_start_matches('\u{feff}');
        match front_matter(text) {
            Some((front, body)) => Self::with_front_matter(path, text, front, body),
            None => Self::free_text(path, text, collection),
        }
    }

    fn with_front_matter(
        path: &Path,
        text: &str,
        front: &str,
        body: &str,
    ) -> Result<Self, DocumentError> {
        // one line in front, so that the parser's line numbers are the file's
        let front: FrontMatter = config::parse(path, &format!("\n{front}"))?;
        check_id(path, &front.id)?;
        let sections = sections(body);
        check_modes(path, &front, &sections)?;
        check_english(path, &sections)?;
        let origin = path.display().to_string();
        if sections.is_empty() {
            return Err(DocumentError::Empty { path: origin });
        }
        let about = About {
            collection: front.collection,
            doc_type: front.doc_type,
            title: front.title,
            keywords: front.keywords,
            equipment: front.equipment,
            bearing: front.bearing,
            fault_type: front.fault_type,
            synthetic: front.synthetic,
            sources: front.sources,
            origin,
            hash: hash(text.as_bytes()),
        };
        Ok(Self { id: front.id, about, modes: front.modes, sections })
    }

    fn free_text(path: &Path, text: &str, collection: Collection) -> Result<Self, DocumentError> {
        let sections = sections(text);
        let origin = path.display().to_string();
        if sections.is_empty() {
            return Err(DocumentError::Empty { path: origin });
        }
        let stem = path.file_stem().map_or_else(|| origin.clone(), |s| s.to_string_lossy().into());
        let title = text
            .lines()
            .find_map(|line| line.strip_prefix("# "))
            .map_or_else(|| stem.clone(), |line| line.trim().to_owned());
        let mut id = stem;
        id.truncate((0..=MAX_ID).rev().find(|at| id.is_char_boundary(*at)).unwrap_or(0));
        let about = About {
            collection,
            doc_type: DocType::FreeText,
            title: Text::new(title.clone(), title),
            keywords: Keywords::default(),
            equipment: None,
            bearing: None,
            fault_type: None,
            synthetic: false,
            sources: Vec::new(),
            origin,
            hash: hash(text.as_bytes()),
        };
        Ok(Self { id, about, modes: Vec::new(), sections })
    }
}

/// SHA-256, hexadecimal.
pub(super) fn hash(bytes: &[u8]) -> String {
    use std::fmt::Write;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _infallible = write!(text, "{byte:02x}");
        text
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

fn check_modes(path: &Path, front: &FrontMatter, sections: &[Section]) -> Result<(), ConfigError> {
    let is_fmea = front.doc_type == DocType::Fmea;
    if is_fmea == front.modes.is_empty() {
        let allowed = "one [[modes]] or more for an fmea, none for anything else";
        return Err(ConfigError::value(path, "modes", front.modes.len(), allowed));
    }
    let missing =
        front.modes.iter().find(|mode| !sections.iter().any(|s| s.number == mode.section));
    missing.map_or(Ok(()), |mode| {
        Err(ConfigError::value(path, "modes.section", &mode.section, "a section of this document"))
    })
}

/// A step that is lost in one language may cost a hand: items must pair.
fn check_english(path: &Path, sections: &[Section]) -> Result<(), ConfigError> {
    for section in sections.iter().filter(|section| !section.english.is_empty()) {
        let own = items::split(&section.body).len();
        let english = items::split(&section.english).len();
        if own != english {
            let key = format!("section {:?}, items below {ENGLISH}", section.number);
            let allowed = format!("as many as above it, {own}");
            return Err(ConfigError::value(path, key, english, allowed));
        }
    }
    Ok(())
}

/// Front matter and what follows it.
fn front_matter(text: &str) -> Option<(&str, &str)> {
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

/// Cuts text at its headings: Markdown (`## 2. …`), or a bare numbered line (`2.1 …`).
fn sections(text: &str) -> Vec<Section> {
    let mut all = vec![Section::default()];
    let mut is_english = false;
    for line in text.lines() {
        if let Some((number, title)) = heading(line) {
            all.push(Section { number, title, ..Section::default() });
            is_english = false;
        } else if line.trim() == ENGLISH {
            is_english = true;
        } else if let Some(section) = all.last_mut() {
            let part = if is_english { &mut section.english } else { &mut section.body };
            part.push_str(line);
            part.push('\n');
        }
    }
    for section in &mut all {
        section.body = section.body.trim().to_owned();
        section.english = section.english.trim().to_owned();
    }
    all.retain(|section| !(section.body.is_empty() && section.number.is_empty()));
    all
}

/// Number and title of a heading line. The document's own title (`# …`) is text.
fn heading(line: &str) -> Option<(String, String)> {
    let marked = line.trim_start_matches('#');
    let level = line.len() - marked.len();
    if (2..=6).contains(&level) && marked.starts_with(' ') {
        return Some(split_number(marked.trim()));
    }
    None
}

fn split_number(title: &str) -> (String, String) {
    let end = title.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(title.len());
    let (number, rest) = title.split_at(end);
    if number.starts_with(|c: char| c.is_ascii_digit()) && rest.starts_with([' ', '\t']) {
        (number.trim_end_matches('.').to_owned(), rest.trim().to_owned())
    } else {
        (String::new(), title.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::chunk::cut;

    const REPORT: &str = "+++\nid = \"MH-90\"\ncollection = \"maintenance_history\"\n\
        doc_type = \"report\"\ntitle = { ko = \"외륜\", en = \"Outer\" }\n+++\n# Title\n\
        ## 1. 설비 정보\nP-101\n## 2. 경과\nBPFO\n### 2.1 근거\nRMS\n";

    fn read(text: &str) -> Result<Document, DocumentError> {
        Document::parse(Path::new("a/mh-90.md"), text, Collection::EquipmentManual)
    }

    #[test]
    fn front_matter_and_numbered_sections_are_read() {
        let document = read(REPORT).expect("document");
        assert_eq!((document.id.as_str(), document.about.doc_type), ("MH-90", DocType::Report));
        let numbers: Vec<&str> = document.sections.iter().map(|s| s.number.as_str()).collect();
        assert_eq!(numbers, ["", "1", "2", "2.1"]);
        assert_eq!(cut(&document).len(), 1);
    }

    #[test]
    fn a_mistyped_key_is_told_with_its_line_in_the_file() {
        let error = read(&REPORT.replace("doc_type", "doctype")).expect_err("wrong");
        assert!(error.to_string().starts_with("a/mh-90.md:4:1:"), "{error}");
    }

    #[test]
    fn english_stands_beside_its_section_and_must_pair() {
        let text = REPORT.replace("P-101\n", "- 하나\n- 둘\n\n<!-- en -->\n- one\n- two\n");
        let document = read(&text).expect("document");
        assert_eq!(document.sections[1].body, "- 하나\n- 둘");
        assert_eq!(document.sections[1].english, "- one\n- two");
        assert_eq!(document.sections[2].english, "", "the next section has none");
        let error = read(&text.replace("- two\n", "")).expect_err("a step is missing").to_string();
        assert!(error.contains("section \"1\"") && error.contains("above it, 2"), "{error}");
    }

    #[test]
    fn an_fmea_is_cut_into_its_failure_modes_and_loses_no_section() {
        let text = "+++\nid = \"EM-07\"\ncollection = \"equipment_manual\"\ndoc_type = \"fmea\"\n\
            title = { ko = \"가\", en = \"a\" }\n[[modes]]\nsection = \"2\"\n\
            title = { ko = \"나\", en = \"b\" }\n[[modes]]\nsection = \"3\"\n\
            title = { ko = \"다\", en = \"c\" }\n+++\n## 1. scale\nS\n## 2. outer\nO\n\
            ### 2.1 more\nM\n## 3. inner\nI\n";
        let chunks = cut(&read(text).expect("document"));
        let ids: Vec<&str> = chunks.iter().map(|chunk| chunk.id.as_str()).collect();
        assert_eq!(ids, ["EM-07#2", "EM-07#3"]);
        assert_eq!(chunks.iter().map(|chunk| chunk.sections.len()).sum::<usize>(), 4);
    }

    #[test]
    fn an_fmea_without_modes_is_refused() {
        let error = read(&REPORT.replace("report", "fmea")).expect_err("wrong").to_string();
        assert!(error.contains("modes is 0, allowed is one [[modes]] or more"), "{error}");
    }

    #[test]
    fn a_long_free_text_is_cut_and_a_short_one_is_not() {
        let long = "가나다라 ".repeat(2000);
        assert_eq!(cut(&read(&long).expect("document")).len(), 4);
        assert_eq!(cut(&read("짧은 글").expect("document")).len(), 1);
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics_or_loses_letters(text in "\\PC{0,200}") {
            if let Ok(document) = read(&text) {
                let kept: usize = cut(&document).iter().map(|chunk| chunk.body().len()).sum();
                proptest::prop_assert!(kept > 0);
            }
        }
    }
}
