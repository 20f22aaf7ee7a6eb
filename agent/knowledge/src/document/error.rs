//! Files that are no document.

use std::path::Path;

use pdm_service::config::ConfigError;

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

impl DocumentError {
    /// The file at `path` cannot be read, because of `source`.
    pub fn unreadable(path: &Path, source: std::io::Error) -> Self {
        Self::Unreadable { path: path.display().to_string(), source }
    }
}
