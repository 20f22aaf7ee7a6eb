//! Whether PDFs can be read: the program that reads them is installed apart (`pdm-pdf`).

use pdm_knowledge::{KnowledgeSettings, PdfReader};

use super::Finding;

const TOLD: &str = "is not there, so every PDF is refused by name: install pdm-pdf";

/// Where the program is; one that the configuration names has to be there.
pub(super) fn reader(settings: &KnowledgeSettings) -> Option<Finding> {
    let reader = PdfReader::new(settings.pdf_reader.as_deref());
    let program = reader.program().display();
    if reader.is_installed() {
        return Some(Finding { what: format!("PDFs by {program}"), wrong: None });
    }
    let wrong = format!("{program} {TOLD} there, or leave the key out");
    settings.pdf_reader.as_ref()?;
    Some(Finding { what: "knowledge.pdf_reader".to_owned(), wrong: Some(wrong) })
}

/// The warning where a build or an installation has none.
pub(super) fn absence(settings: &KnowledgeSettings) -> Option<String> {
    let reader = PdfReader::new(None);
    (settings.pdf_reader.is_none() && !reader.is_installed())
        .then(|| format!("{} {TOLD} beside this program", reader.program().display()))
}
