//! Text of a PDF. A PDF is foreign input in a complex format, so it is read on a separate thread
//! with limits on bytes, pages and time. A panic of the parser counts as a file that cannot be
//! parsed.
//!
//! Pages become sections `1`, `2`, …, so that the look-up of sections finds a page.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use oxidize_pdf::parser::{PdfDocument, PdfReader};

use super::document::DocumentError;

/// Largest file, bytes: a scanned manual of some hundred pages.
pub(super) const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Most pages.
const MAX_PAGES: u32 = 2000;

/// Longest time for one file. After it the reader is abandoned; its thread ends when the parser
/// returns.
const MAX_TIME: Duration = Duration::from_mins(1);

/// The text of all pages of the file called `path`, as Markdown with a section for each page.
///
/// # Errors
/// [`DocumentError::Pdf`] with the parser's message; an error if there is no text.
pub fn text(path: &Path, bytes: Vec<u8>) -> Result<String, DocumentError> {
    let bad = |reason: String| DocumentError::Pdf { path: path.display().to_string(), reason };
    let (done, result) = sync_channel(1);
    std::thread::Builder::new()
        .name("pdf".to_owned())
        .spawn(move || {
            let read = catch_unwind(AssertUnwindSafe(|| pages(bytes)));
            // the time limit has passed, and the receiver is gone
            let _late = done.send(read.unwrap_or_else(|_| Err("the parser panicked".to_owned())));
        })
        .map_err(|source| DocumentError::unreadable(path, source))?;
    let pages = result
        .recv_timeout(MAX_TIME)
        .map_err(|_timeout| bad(format!("not read within {} s", MAX_TIME.as_secs())))?
        .map_err(bad)?;
    if pages.iter().all(|page| page.trim().is_empty()) {
        return Err(DocumentError::Empty { path: path.display().to_string() });
    }
    let sections = pages
        .iter()
        .enumerate()
        .map(|(at, page)| format!("## {} p.{}\n{}\n", at + 1, at + 1, page.trim()));
    Ok(sections.collect())
}

fn pages(bytes: Vec<u8>) -> Result<Vec<String>, String> {
    let reader = PdfReader::new(Cursor::new(bytes)).map_err(|error| error.to_string())?;
    let document = PdfDocument::new(reader);
    let count = document.page_count().map_err(|error| error.to_string())?;
    if count > MAX_PAGES {
        return Err(format!("{count} pages, at most {MAX_PAGES} are read"));
    }
    (0..count)
        .map(|page| {
            let text = document.extract_text_from_page(page);
            text.map(|text| text.text).map_err(|error| format!("page {}: {error}", page + 1))
        })
        .collect()
}
