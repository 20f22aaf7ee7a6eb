//! Ingestion: files and folders of Markdown, text and PDF into the store.
//!
//! A file is read, cut and compared by content hash; only new and changed documents are embedded
//! and stored. A file that is not a document is reported and changes nothing.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use super::about::{Added, Collection};
use super::chunk::cut;
use pdm_service::document_text::{MAX_FILE_BYTES, MAX_TEXT_BYTES};
use pdm_service::files::read_regular;

use super::document::{Document, DocumentError};
use super::pdf::PdfReader;
use super::{Knowledge, KnowledgeError, shipped};

/// Deepest level of folders below the given folder.
const MAX_DEPTH: usize = 8;

/// A file and its result.
#[derive(Debug)]
pub struct Ingested {
    /// The file.
    pub path: PathBuf,
    /// The document in the file and its ingestion, or the reason why there is none.
    pub outcome: Result<IngestOutcome, KnowledgeError>,
}

/// The ingestion of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngestOutcome {
    /// The document's id.
    pub document: String,
    /// Title of the document, Korean.
    pub title: String,
    /// Collection of the document.
    pub collection: Collection,
    /// Number of the document's chunks.
    pub chunks: usize,
    /// Whether the document was new or changed; if not, nothing was written.
    pub is_changed: bool,
}

impl Knowledge {
    /// Ingests a file, or every `.md`, `.txt` and `.pdf` below a folder. Files without front matter
    /// go into `collection`.
    ///
    /// # Errors
    /// [`KnowledgeError::Document`] if `path` itself cannot be read; the failure of a single file
    /// is in its [`Ingested`].
    pub async fn ingest(
        &self,
        path: &Path,
        collection: Collection,
    ) -> Result<Vec<Ingested>, KnowledgeError> {
        self.ingest_added(path, collection, None).await
    }

    /// As [`Self::ingest`], with who brings the files.
    ///
    /// # Errors
    /// As [`Self::ingest`].
    pub async fn ingest_added(
        &self,
        path: &Path,
        collection: Collection,
        added: Option<&Added>,
    ) -> Result<Vec<Ingested>, KnowledgeError> {
        let mut all = Vec::new();
        for path in files(path)? {
            let outcome = self.ingest_file(&path, collection, added).await;
            if let Err(error) = &outcome {
                metrics::counter!("pdm_agent_documents_refused_total").increment(1);
                tracing::warn!(path = %path.display(), %error, "document not ingested");
            }
            all.push(Ingested { path, outcome });
        }
        Ok(all)
    }

    async fn ingest_file(
        &self,
        path: &Path,
        collection: Collection,
        added: Option<&Added>,
    ) -> Result<IngestOutcome, KnowledgeError> {
        let (from, reader) = (path.to_owned(), self.pdf_reader.clone());
        self.ingest_read(path, added, move || read_document(&from, collection, &reader)).await
    }

    /// Ingests the content of a file called `name`, which somebody brings; without front matter it
    /// goes into `collection`.
    ///
    /// # Errors
    /// [`KnowledgeError`].
    pub async fn ingest_bytes(
        &self,
        name: &Path,
        bytes: Vec<u8>,
        collection: Collection,
        added: &Added,
    ) -> Result<IngestOutcome, KnowledgeError> {
        let (called, reader) = (name.to_owned(), self.pdf_reader.clone());
        let read = move || parse(&called, bytes, collection, &reader);
        self.ingest_read(name, Some(added), read).await
    }

    /// Ingests a file that somebody brought; it is read off the async threads. A document that
    /// comes with the program cannot be replaced: its instructions are cited by their id.
    async fn ingest_read(
        &self,
        name: &Path,
        added: Option<&Added>,
        read: impl FnOnce() -> Result<Document, DocumentError> + Send + 'static,
    ) -> Result<IngestOutcome, KnowledgeError> {
        let mut document = tokio::task::spawn_blocking(read).await.unwrap_or_else(|_panicked| {
            let reason = "the reader failed on it".to_owned();
            Err(DocumentError::Pdf { path: name.display().to_string(), reason })
        })?;
        if shipped::is_claimed_by(&document) {
            let (path, id) = (name.display().to_string(), document.id);
            return Err(DocumentError::Shipped { path, id }.into());
        }
        document.about.added = added.cloned();
        self.ingest_document(&document).await
    }

    /// Ingests a document that is already read.
    ///
    /// # Errors
    /// An error of the store or the embedding.
    pub async fn ingest_document(
        &self,
        document: &Document,
    ) -> Result<IngestOutcome, KnowledgeError> {
        let chunks = cut(document);
        let count = chunks.len();
        let is_changed = self.put(chunks).await?;
        Ok(IngestOutcome {
            document: document.id.clone(),
            title: document.about.title.ko.clone(),
            collection: document.about.collection,
            chunks: count,
            is_changed,
        })
    }
}

/// Reads one file as a document.
///
/// # Errors
/// [`DocumentError`]; a path that is not a regular file is not waited for.
pub fn read_document(
    path: &Path,
    collection: Collection,
    reader: &PdfReader,
) -> Result<Document, DocumentError> {
    let limit = FileKind::of(path)?.max_bytes();
    match read_regular(path, limit) {
        Ok(Some(bytes)) => parse(path, bytes, collection, reader),
        Ok(None) => Err(DocumentError::TooLarge { path: path.display().to_string(), limit }),
        Err(source) => Err(DocumentError::unreadable(path, source)),
    }
}

/// Reads the content of a file called `name` as a document. Blocks, because parsing a PDF takes
/// long.
///
/// # Errors
/// [`DocumentError`].
pub fn parse(
    name: &Path,
    bytes: Vec<u8>,
    collection: Collection,
    reader: &PdfReader,
) -> Result<Document, DocumentError> {
    let kind = FileKind::of(name)?;
    let limit = kind.max_bytes();
    if bytes.len() as u64 > limit {
        return Err(DocumentError::TooLarge { path: name.display().to_string(), limit });
    }
    match kind {
        // an archive or a picture under the name of a text would become passages of nonsense
        FileKind::Text if bytes.contains(&0) => {
            let told = "is no text: it holds the character U+0000";
            Err(DocumentError::unreadable(name, Error::new(ErrorKind::InvalidData, told)))
        }
        FileKind::Text => Document::parse(name, &String::from_utf8_lossy(&bytes), collection),
        FileKind::Pdf => Document::parse(name, &reader.text(name, bytes)?, collection),
    }
}

/// Largest content, bytes, of a file with this name.
///
/// # Errors
/// [`DocumentError::Kind`] if files with its extension are not read.
pub fn max_bytes(name: &Path) -> Result<u64, DocumentError> {
    FileKind::of(name).map(FileKind::max_bytes)
}

/// The kind of a file, by the extension of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Text,
    Pdf,
}

impl FileKind {
    fn of(name: &Path) -> Result<Self, DocumentError> {
        match extension(name).as_deref() {
            Some("md" | "markdown" | "txt") => Ok(Self::Text),
            Some("pdf") => Ok(Self::Pdf),
            _ => Err(DocumentError::Kind { path: name.display().to_string() }),
        }
    }

    const fn max_bytes(self) -> u64 {
        match self {
            Self::Text => MAX_TEXT_BYTES as u64,
            Self::Pdf => MAX_FILE_BYTES,
        }
    }
}

fn extension(path: &Path) -> Option<String> {
    path.extension().map(|extension| extension.to_string_lossy().to_lowercase())
}

/// The file itself, or the documents below a folder, ordered by name. Hidden files and links to
/// folders are left out.
fn files(path: &Path) -> Result<Vec<PathBuf>, DocumentError> {
    let about =
        std::fs::metadata(path).map_err(|source| DocumentError::unreadable(path, source))?;
    if !about.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    walk(path, 0, &mut found)?;
    found.sort();
    Ok(found)
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), DocumentError> {
    let entries =
        std::fs::read_dir(folder).map_err(|source| DocumentError::unreadable(folder, source))?;
    for entry in entries {
        let entry = entry.map_err(|source| DocumentError::unreadable(folder, source))?;
        let path = entry.path();
        let kind = entry.file_type().map_err(|source| DocumentError::unreadable(&path, source))?;
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if kind.is_dir() && depth < MAX_DEPTH {
            walk(&path, depth + 1, found)?;
        } else if FileKind::of(&path).is_ok() {
            found.push(path);
        }
    }
    Ok(())
}
