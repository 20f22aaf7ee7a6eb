//! Text of a PDF (R-KB-7). Pages become sections `1`, `2`, …, so that the look-up of sections finds
//! a page.
//!
//! A PDF is foreign input in a complex format: 7 KB of nested brackets overflow the parser's stack,
//! which ends the process and cannot be caught. So the agent parses a PDF in a process of its own:
//! the program `pdm-pdf`, which limits itself before it reads ([`child`]). Whatever a file does to
//! it, the agent gets the text or an error.
//!
//! ```text
//! agent ─ standard input ─► pdm-pdf: limits, parser ─ standard output ─► agent (pdm_knowledge::pdf)
//! ```
//!
//! A package of its own, because its parser takes a tenth of the time of a build and its peak of
//! memory (docs/build.md): a build without it refuses PDFs by name and reads everything else.

use std::panic::{AssertUnwindSafe, catch_unwind};

use oxidize_pdf::parser::{PdfDocument, PdfReader};
use pdm_service::document_text::{DocumentText, MAX_TEXT_BYTES};

use crate::bounded::BoundedFile;

mod bounded;
pub mod child;

/// Most pages.
const MAX_PAGES: u32 = 2000;

/// The text of all pages, as Markdown with a section for each page, parsed in this process: for
/// files of one's own, since a hostile one can end the process.
pub fn text(bytes: Vec<u8>) -> DocumentText {
    let parsed = catch_unwind(AssertUnwindSafe(|| pages(bytes)));
    let pages = match parsed.unwrap_or_else(|_| Err("the parser panicked".to_owned())) {
        Ok(pages) => pages,
        Err(reason) => return DocumentText::Refused(reason),
    };
    if pages.iter().all(|page| page.trim().is_empty()) {
        return DocumentText::Empty;
    }
    let sections = pages
        .iter()
        .enumerate()
        .map(|(at, page)| format!("## {} p.{}\n{}\n", at + 1, at + 1, page.trim()));
    DocumentText::Markdown(sections.collect())
}

fn pages(bytes: Vec<u8>) -> Result<Vec<String>, String> {
    let reader = PdfReader::new(BoundedFile::new(bytes)).map_err(|error| error.to_string())?;
    let document = PdfDocument::new(reader);
    let count = document.page_count().map_err(|error| error.to_string())?;
    if count > MAX_PAGES {
        return Err(format!("{count} pages, at most {MAX_PAGES} are read"));
    }
    let mut pages = Vec::new();
    let mut letters = 0;
    for page in 0..count {
        let text = document.extract_text_from_page(page);
        let text = text.map_err(|error| format!("page {}: {error}", page + 1))?.text;
        letters += text.len();
        if letters > MAX_TEXT_BYTES {
            return Err(format!(
                "more than {MAX_TEXT_BYTES} bytes of text up to page {}",
                page + 1
            ));
        }
        pages.push(text);
    }
    Ok(pages)
}
