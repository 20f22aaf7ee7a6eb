//! What can go wrong when vibration is read. Bad *samples* are no error: signal quality judges
//! them.

use std::io;
use std::path::{Path, PathBuf};

use pdm_service::exit::Exit;

/// A source that cannot deliver. Nothing is tried again by the source itself; [`Self::exit`] says
/// what kind of failure it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The file or folder is not there. The caller reports it and goes on with the next file.
    #[error("{}: no such file or folder", path.display())]
    Missing {
        /// Which.
        path: PathBuf,
    },
    /// The operating system refused. The caller reports it; it may help to try again later.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which file or device.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The content is not what its format allows: truncated, of another format, of a form that is
    /// not read. The caller reports it and goes on with the next file.
    #[error("{}: {what}", path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// What is wrong, where, and what is allowed.
        what: String,
    },
    /// The options do not fit the file. The person who gave them corrects them.
    #[error("{}: {what}", path.display())]
    Options {
        /// Which file.
        path: PathBuf,
        /// Which option, its value and what is allowed.
        what: String,
    },
}

impl SourceError {
    /// The exit code of a command that fails with this error.
    pub const fn exit(&self) -> Exit {
        match self {
            Self::Missing { .. } => Exit::NoInput,
            Self::Io { .. } => Exit::Io,
            Self::Malformed { .. } => Exit::BadInput,
            Self::Options { .. } => Exit::Usage,
        }
    }

    /// A failure of the operating system, told by what it means for the file.
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

    /// Content that its format does not allow.
    pub(crate) fn malformed(path: &Path, what: impl Into<String>) -> Self {
        Self::Malformed { path: path.to_owned(), what: what.into() }
    }

    /// Options that do not fit the file.
    pub(crate) fn options(path: &Path, what: impl Into<String>) -> Self {
        Self::Options { path: path.to_owned(), what: what.into() }
    }
}
