//! Writes the documents of a case into a folder. A file is written whole or not at all; one event
//! always has the same file names.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use pdm_shared::event::Event;
use pdm_shared::text::Language;
use serde::{Deserialize, Serialize};

use super::case_file::CaseFile;
use super::document::Document;
use super::{build, compose, grounding, html, pdf};
use crate::work_order;

/// A format of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A page for a browser and for printing.
    Html,
    /// A page for printing and archiving.
    Pdf,
    /// Data for other programs.
    Json,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Html, Self::Pdf, Self::Json];

    /// The format's name in the configuration, which is also the file extension.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Pdf => "pdf",
            Self::Json => "json",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that is not a [`Format`]. The caller shows it with the allowed ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no format; there are html, pdf and json")]
pub struct UnknownFormat(String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(word: &str) -> Result<Self, UnknownFormat> {
        let named = Self::ALL.into_iter().find(|format| format.as_str() == word);
        named.ok_or_else(|| UnknownFormat(word.to_owned()))
    }
}

/// The documents were not written; files that were written are complete.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilesError {
    /// The folder or a file cannot be written: full, forbidden, gone. The caller tries again later.
    #[error("cannot write {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
    /// The HTML page could not be made.
    #[error(transparent)]
    Html(#[from] html::HtmlError),
    /// The PDF could not be made.
    #[error(transparent)]
    Pdf(#[from] pdf::PdfError),
    /// The data could not be written as JSON.
    #[error("cannot tell a document as JSON")]
    Json(#[from] serde_json::Error),
}

/// The result of writing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// The files, reports first.
    pub files: Vec<PathBuf>,
    /// Figures of the texts that are in none of their sources; empty if all are grounded.
    pub ungrounded: Vec<String>,
}

/// One of the two documents of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// The report, or the short status below Warning.
    Report,
    /// The work order; not written below Warning.
    WorkOrder,
}

impl DocumentKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::WorkOrder => "work-order",
        }
    }
}

/// Writes report and work order of a case. A risk below Warning has no work order.
///
/// # Errors
/// [`FilesError`].
pub fn write(
    case: &CaseFile,
    folder: &Path,
    languages: &[Language],
    formats: &[Format],
) -> Result<Written, FilesError> {
    let mut written = write_part(case, DocumentKind::Report, folder, languages, formats)?;
    let order = write_part(case, DocumentKind::WorkOrder, folder, languages, formats)?;
    written.files.extend(order.files);
    written.ungrounded.extend(order.ungrounded);
    Ok(written)
}

/// Writes one of the two documents.
///
/// # Errors
/// [`FilesError`].
pub fn write_part(
    case: &CaseFile,
    kind: DocumentKind,
    folder: &Path,
    languages: &[Language],
    formats: &[Format],
) -> Result<Written, FilesError> {
    let told = |document: &dyn Fn(Language) -> Document| -> Vec<Document> {
        languages.iter().map(|language| document(*language)).collect()
    };
    let (data, documents, ungrounded) = match kind {
        DocumentKind::Report => {
            let report = build::report(case);
            let documents = told(&|language| compose::document(&report, language));
            (json(&report)?, documents, grounding::of_report(case, &report))
        }
        DocumentKind::WorkOrder => {
            let Some(order) = work_order::work_order(case) else { return Ok(Written::default()) };
            let documents = told(&|language| work_order::document(&order, language));
            (json(&order)?, documents, grounding::of_order(case, &order))
        }
    };
    let names = names(&case.event, kind, languages, formats);
    std::fs::create_dir_all(folder)
        .map_err(|source| FilesError::Io { path: folder.to_owned(), source })?;
    let mut files = Vec::new();
    let mut bytes = Vec::new();
    if formats.contains(&Format::Json) {
        bytes.push(data);
    }
    for document in documents {
        bytes.extend(pages(&document, formats)?);
    }
    for (name, bytes) in names.iter().zip(&bytes) {
        let path = folder.join(name);
        whole(&path, bytes).map_err(|source| FilesError::Io { path: path.clone(), source })?;
        files.push(path);
    }
    if !files.is_empty() {
        settle(folder)?;
    }
    Ok(Written { files, ungrounded })
}

fn json(value: &impl serde::Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The pages of a document, in the order of [`PAGES`].
fn pages(document: &Document, formats: &[Format]) -> Result<Vec<Vec<u8>>, FilesError> {
    let mut pages = Vec::new();
    for format in PAGES.into_iter().filter(|format| formats.contains(format)) {
        pages.push(match format {
            Format::Html => html::html(document)?.into_bytes(),
            Format::Pdf => pdf::pdf(document)?,
            Format::Json => continue,
        });
    }
    Ok(pages)
}

/// The forms that a document has in each language.
const PAGES: [Format; 2] = [Format::Html, Format::Pdf];

/// The names of the files that [`write_part`] writes, known before it does: they follow from the
/// event.
pub fn names(
    event: &Event,
    kind: DocumentKind,
    languages: &[Language],
    formats: &[Format],
) -> Vec<String> {
    let stem = format!("{}-{}", stem(event), kind.name());
    let json = formats.contains(&Format::Json).then(|| format!("{stem}.json"));
    let pages = languages.iter().flat_map(|language| {
        let formats = PAGES.into_iter().filter(|format| formats.contains(format));
        let language = code(*language);
        let stem = &stem;
        formats.map(move |format| format!("{stem}.{language}.{format}"))
    });
    json.into_iter().chain(pages).collect()
}

const fn code(language: Language) -> &'static str {
    match language {
        Language::Ko => "ko",
        Language::En => "en",
    }
}

/// The file name: `20261121T051021Z-<event id>`. Files sort by time, and an event has one set.
fn stem(event: &Event) -> String {
    let at = event.measured_at.date_time().format("%Y%m%dT%H%M%SZ");
    format!("{at}-{}", event.event_id)
}

/// Writes another file first and renames it: a reader sees the old file or the new one.
///
/// The other file always has the same name, so that the remains of a killed process are replaced
/// and do not stay. Of two processes that write one file at once, the last to rename succeeds and
/// the other gets an error.
fn whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    match std::fs::remove_file(&part) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let done = std::fs::File::create_new(&part)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&part, path));
    if done.is_err() {
        // a half-written file is useless; the first error is the one to report
        let _gone = std::fs::remove_file(&part);
    }
    done
}

/// Makes the renaming survive a power cut, because the judgement that names the files is stored
/// next.
fn settle(folder: &Path) -> Result<(), FilesError> {
    let synced = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|source| FilesError::Io { path: folder.to_owned(), source })
}
