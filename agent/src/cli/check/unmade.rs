//! A database file that is not there yet: whether the service could make it. The check makes none,
//! because a file of whoever checks, such as root, would be in the way of the service's user.

use std::path::{Path, PathBuf};

use pdm_service::exit::Exit;
use pdm_service::files::writable_folder;

use super::Finding;

/// Where a file would be made, or the folder in which it cannot be.
pub(super) struct Unmade {
    place: Result<PathBuf, (PathBuf, std::io::Error)>,
}

/// Looks at a file that is not there; `None` if it is there.
pub(super) fn file(path: &Path) -> Option<Unmade> {
    matches!(path.try_exists(), Ok(false))
        .then(|| Unmade { place: writable_folder(path, "pdm-agent") })
}

impl Unmade {
    /// Returns the check's finding on it; sets `exit` to [`Exit::Io`] if it cannot be made.
    pub(super) fn finding(self, what: &str, exit: &mut Exit) -> Finding {
        match self.place {
            Ok(folder) => {
                let what = format!("{what}: will be made in {}", folder.display());
                Finding { what, wrong: None }
            }
            Err((folder, error)) => {
                *exit = Exit::Io;
                let wrong = format!("cannot write in {}: {error}", folder.display());
                Finding { what: what.to_owned(), wrong: Some(wrong) }
            }
        }
    }
}
