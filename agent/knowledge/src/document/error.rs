//! Errors of files that are not documents.

use std::path::Path;

use pdm_service::config::ConfigError;

/// A file that is not a document. The caller shows the error and continues with the next file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The file cannot be read.
    #[error("cannot read {path}")]
    Unreadable {
        /// The file.
        path: String,
        /// The error of the read.
        #[source]
        source: std::io::Error,
    },
    /// The front matter has an error.
    #[error(transparent)]
    FrontMatter(#[from] ConfigError),
    /// The extension is not one of those that are read.
    #[error(
        "{path}: only .md, .txt and .pdf are read; save other documents (HWP, HWPX, DOCX) as PDF"
    )]
    Kind {
        /// The file.
        path: String,
    },
    /// The file is larger than allowed.
    #[error("{path}: larger than {limit} bytes, the most that is read of its kind")]
    TooLarge {
        /// The file.
        path: String,
        /// The limit.
        limit: u64,
    },
    /// The id is that of another document, which comes with the program.
    #[error("{path}: the id {id} is that of a document of the program; choose another id")]
    Shipped {
        /// The file.
        path: String,
        /// The id.
        id: String,
    },
    /// The file holds no text.
    #[error("{path}: no text in it")]
    Empty {
        /// The file.
        path: String,
    },
    /// No program that reads PDFs is installed.
    #[error(
        "{path}: PDFs are not read here, because {program} is not there: install pdm-pdf beside \
         this program, or name it in knowledge.pdf_reader"
    )]
    NoPdfReader {
        /// The file.
        path: String,
        /// The program that was looked for.
        program: String,
    },
    /// The PDF cannot be parsed.
    #[error("{path}: no readable PDF: {reason}")]
    Pdf {
        /// The file.
        path: String,
        /// The parser's message.
        reason: String,
    },
}

impl DocumentError {
    /// The file at `path` cannot be read, because of `source`.
    pub fn unreadable(path: &Path, source: std::io::Error) -> Self {
        Self::Unreadable { path: path.display().to_string(), source }
    }
}
