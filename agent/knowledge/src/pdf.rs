//! Text of a PDF. Pages become sections `1`, `2`, …, so that the look-up of sections finds a page.
//!
//! A PDF is foreign input in a complex format: 7 KB of nested brackets overflow the parser's stack,
//! which ends the process and cannot be caught. So a program parses a PDF in a child process
//! ([`PdfReader::own_program`]): the same program with the command [`COMMAND`], which limits itself
//! before it reads ([`child`]). Whatever a file does to the child, the program gets its text or an
//! error.
//!
//! ```text
//! bytes ─► reader ─ standard input ─► child: limits, parser ─ standard output ─► reader ─► Markdown
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use oxidize_pdf::parser::{PdfDocument, PdfReader as Parser};

use self::bounded::BoundedFile;
use super::document::DocumentError;

mod bounded;
pub mod child;
mod reader;

pub use reader::PdfReader;

/// The hidden command of a program that can read documents: it parses a PDF from standard input.
pub const COMMAND: &str = "parse-document";

/// Largest file, bytes: a scanned manual of some hundred pages.
pub(super) const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Most bytes of text, the same as of a text file: about a thousand pages. A compressed page can
/// announce any number of letters.
const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;

/// Most pages.
const MAX_PAGES: u32 = 2000;

/// The text of all pages of the file called `path`, as Markdown with a section for each page, read
/// in this process: for files of one's own, since a hostile one can end the process.
///
/// # Errors
/// [`DocumentError::Pdf`] with the parser's message; an error if there is no text.
pub fn text(path: &Path, bytes: Vec<u8>) -> Result<String, DocumentError> {
    markdown(bytes).and_then(not_blank).map_err(|fault| fault.at(path))
}

/// Why a PDF has no text.
#[derive(Debug)]
enum PdfFault {
    /// No page holds a letter.
    Empty,
    /// The parser's message.
    Refused(String),
}

impl PdfFault {
    fn at(self, path: &Path) -> DocumentError {
        let path = path.display().to_string();
        match self {
            Self::Empty => DocumentError::Empty { path },
            Self::Refused(reason) => DocumentError::Pdf { path, reason },
        }
    }
}

/// The pages as Markdown; empty text if no page holds a letter.
fn markdown(bytes: Vec<u8>) -> Result<String, PdfFault> {
    let read = catch_unwind(AssertUnwindSafe(|| pages(bytes)));
    let panicked = |_| Err("the parser panicked".to_owned());
    let pages = read.unwrap_or_else(panicked).map_err(PdfFault::Refused)?;
    if pages.iter().all(|page| page.trim().is_empty()) {
        return Ok(String::new());
    }
    let sections = pages
        .iter()
        .enumerate()
        .map(|(at, page)| format!("## {} p.{}\n{}\n", at + 1, at + 1, page.trim()));
    Ok(sections.collect())
}

fn not_blank(text: String) -> Result<String, PdfFault> {
    if text.is_empty() { Err(PdfFault::Empty) } else { Ok(text) }
}

fn pages(bytes: Vec<u8>) -> Result<Vec<String>, String> {
    let reader = Parser::new(BoundedFile::new(bytes)).map_err(|error| error.to_string())?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The parser's own loop over the lines of a table does not end where the file does.
    #[test]
    fn a_file_that_ends_within_its_cross_reference_table_is_refused_or_read() {
        let endless = include_bytes!("../../fuzz/hostile/pdf/table-without-trailer.pdf");
        let told = text(Path::new("cut.pdf"), endless.to_vec());
        assert!(told.is_err(), "{told:?}");

        let whole = include_str!("../../fuzz/seeds/pdf/plain.pdf");
        let read = text(Path::new("a.pdf"), whole.into()).expect("text");
        let cut = whole.replace("trailer\n<< /Size 6 /Root 1 0 R >>\n", "");
        let told = text(Path::new("cut.pdf"), cut.into());
        assert_eq!(told.expect("its objects are found without the table"), read);
    }
}
