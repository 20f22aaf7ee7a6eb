//! A document in its written form: front matter between `+++` lines (TOML), then Markdown with
//! numbered sections. Text and PDF have no front matter; their id is the file's name.
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
//! asked = ["…", "…"]             # questions that it answers, in the words of those who ask; optional
//! +++
//! ## 1. 설비 정보
//! …
//! ### 1.1 …
//! ```
//!
//! A section may have its English below a line `<!-- en -->`, item for item: English documents
//! quote it. A search covers titles and keywords in both languages, but not this English text.
//!
//! An FMEA lists its failure modes (`[[modes]]`: section, title, keywords, fault_type, asked).

use std::path::Path;

use pdm_shared::bounds::is_hidden;
use pdm_shared::text::Text;
use sha2::{Digest, Sha256};

use super::about::{About, Collection, DocType, Keywords};

mod error;
mod front_matter;

use crate::section::{self, Section};
pub use error::DocumentError;
pub use front_matter::FailureMode;
use front_matter::FrontMatter;

/// A document, read but not yet cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Identity, such as `MH-03`.
    pub id: String,
    /// Description of the document.
    pub about: About,
    /// Failure modes of an FMEA; empty for other kinds.
    pub modes: Vec<FailureMode>,
    /// Text of the document.
    pub sections: Vec<Section>,
}

impl Document {
    /// Reads Markdown or plain text; without front matter the document is free text of
    /// `collection`.
    ///
    /// # Errors
    /// [`DocumentError::FrontMatter`] with file, line and key; [`DocumentError::Empty`].
    pub fn parse(path: &Path, text: &str, collection: Collection) -> Result<Self, DocumentError> {
        let text = text.trim_start_matches('\u{feff}');
        match front_matter::split(text) {
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
        let front = FrontMatter::read(path, front)?;
        let sections = section::sections(body);
        front.check_modes(path, &sections)?;
        section::check_english(path, &sections)?;
        let origin = path.display().to_string();
        if sections.is_empty() {
            return Err(DocumentError::Empty { path: origin });
        }
        let about = About {
            collection: front.collection,
            doc_type: front.doc_type,
            title: front.title,
            keywords: front.keywords,
            asked: front.asked,
            equipment: front.equipment,
            bearing: front.bearing,
            fault_type: front.fault_type,
            synthetic: front.synthetic,
            sources: front.sources,
            origin,
            hash: hash(text.as_bytes()),
            added: None,
        };
        Ok(Self { id: front.id, about, modes: front.modes, sections })
    }

    fn free_text(path: &Path, text: &str, collection: Collection) -> Result<Self, DocumentError> {
        let sections = section::sections(text);
        let origin = path.display().to_string();
        if sections.is_empty() {
            return Err(DocumentError::Empty { path: origin });
        }
        let stem = path.file_stem().map_or_else(|| origin.clone(), |s| s.to_string_lossy().into());
        let title = text
            .lines()
            .find_map(|line| line.strip_prefix("# "))
            .map_or_else(|| stem.clone(), |line| line.trim().to_owned());
        // a file's name is anybody's: what may stand in a page or a line of a log without harm
        let plain = |c: char| if is_hidden(c) || "<>&\"'`".contains(c) { '_' } else { c };
        let mut id: String = stem.chars().map(plain).collect();
        id.truncate(
            (0..=front_matter::MAX_ID).rev().find(|at| id.is_char_boundary(*at)).unwrap_or(0),
        );
        let about = About {
            collection,
            doc_type: DocType::FreeText,
            title: Text::new(title.clone(), title),
            keywords: Keywords::default(),
            asked: Vec::new(),
            equipment: None,
            bearing: None,
            fault_type: None,
            synthetic: false,
            sources: Vec::new(),
            origin,
            hash: hash(text.as_bytes()),
            added: None,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::cut;

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
    fn the_questions_that_a_document_answers_are_read_and_bounded() {
        let with = |asked: &str| {
            read(&REPORT.replace("\n+++\n# Title", &format!("\nasked = {asked}\n+++\n# Title")))
        };
        let document = with("[\"왜 이리 시끄럽지\", \"why so loud\"]").expect("document");
        assert_eq!(document.about.asked, ["왜 이리 시끄럽지", "why so loud"]);
        let chunk = &cut(&document)[0];
        assert!(chunk.searched().ends_with("왜 이리 시끄럽지\nwhy so loud"));
        assert!(!chunk.body().contains("loud"), "what is quoted is the text alone");
        for (wrong, told) in [
            ("[\" \"]".to_owned(), "allowed is questions of 1 to 300 characters"),
            (format!("[\"{}\"]", "x".repeat(301)), "allowed is questions of 1 to 300 characters"),
            (
                format!("[{}]", "\"x\",".repeat(121)),
                "asked is 121, allowed is at most 120 questions",
            ),
        ] {
            let error = with(&wrong).expect_err("wrong").to_string();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn a_failure_mode_has_its_own_questions_and_the_first_those_of_the_document() {
        let text = "+++\nid = \"EM-07\"\ncollection = \"equipment_manual\"\ndoc_type = \"fmea\"\n\
            title = { ko = \"가\", en = \"a\" }\nasked = [\"scales?\"]\n[[modes]]\nsection = \"1\"\n\
            title = { ko = \"나\", en = \"b\" }\nasked = [\"outer?\"]\n[[modes]]\nsection = \"2\"\n\
            title = { ko = \"다\", en = \"c\" }\n+++\n## 1. outer\nO\n## 2. inner\nI\n";
        let chunks = cut(&read(text).expect("document"));
        assert_eq!(chunks[0].about.asked, ["outer?", "scales?"]);
        assert!(chunks[1].about.asked.is_empty());
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
