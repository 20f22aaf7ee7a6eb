//! Errors of reading vibration. Bad *samples* are not errors: the stage `quality` judges them.

use std::io;
use std::path::{Path, PathBuf};

use pdm_service::exit::Exit;

/// A source cannot deliver. The source does not try again by itself; [`Self::exit`] gives the exit
/// code of a command that fails with the error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The file or folder does not exist. The caller reports the error and continues with the next
    /// file.
    #[error("{}: no such file or folder", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The operating system refused. The caller reports the error; a later attempt may succeed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or device.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The content does not follow its format: truncated, of another format, or of a variant that
    /// is not supported. The caller reports the error and continues with the next file.
    #[error("{}: {what}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The fault, its place, and the allowed content.
        what: String,
    },
    /// No file of a folder can be read; each is named in the log. A service leaves the source out
    /// and measures the others; a command reports the error.
    #[error("{}: no readable recording in this folder; the last error: {last}", path.display())]
    NothingReadable {
        /// The folder.
        path: PathBuf,
        /// The error of the last file.
        last: String,
    },
    /// The options do not fit the file. The person who gave them corrects them.
    #[error("{}: {what}", path.display())]
    Options {
        /// The file.
        path: PathBuf,
        /// The option, its value and the allowed values.
        what: String,
    },
    /// The program has failed while it read: a bug. A live source is opened again.
    #[error("{name}: reading has failed by a fault of this program; the log has its place")]
    Failed {
        /// The source.
        name: String,
    },
}

impl SourceError {
    /// The exit code of a command that fails with this error.
    pub const fn exit(&self) -> Exit {
        match self {
            Self::Missing { .. } => Exit::NoInput,
            Self::Io { .. } => Exit::Io,
            Self::Malformed { .. } | Self::NothingReadable { .. } => Exit::BadInput,
            Self::Options { .. } => Exit::Usage,
            Self::Failed { .. } => Exit::Software,
        }
    }

    /// The variant for an error of the operating system.
    pub(crate) fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        let kind = source.kind();
        if kind == io::ErrorKind::NotFound {
            Self::Missing { path }
        } else if kind == io::ErrorKind::UnexpectedEof {
            Self::malformed(&path, "the file ends too early: it is truncated")
        } else if matches!(kind, io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) {
            Self::Malformed { path, what: format!("damaged content: {source}") }
        } else {
            Self::Io { path, source }
        }
    }

    /// The error for content that does not follow its format.
    pub(crate) fn malformed(path: &Path, what: impl Into<String>) -> Self {
        Self::Malformed { path: path.to_owned(), what: what.into() }
    }

    /// The error for options that do not fit the file.
    pub(crate) fn options(path: &Path, what: impl Into<String>) -> Self {
        Self::Options { path: path.to_owned(), what: what.into() }
    }
}
