//! A database file that is not there yet: whether the service could make it. The check makes none, because a
//! file of whoever checks, such as root, would be in the way of the service's user.

use std::path::{Path, PathBuf};

use pdm_service::exit::Exit;

use super::Finding;

/// Where a file would be made, or the folder in which it cannot be.
pub(super) struct Unmade {
    place: Result<PathBuf, (PathBuf, std::io::Error)>,
}

/// Looks at a file that is not there; nothing if it is there.
pub(super) fn file(path: &Path) -> Option<Unmade> {
    matches!(path.try_exists(), Ok(false)).then(|| Unmade { place: writable(path) })
}

/// The nearest folder above a path that is there, if a file can be written in it. The file is removed again.
fn writable(path: &Path) -> Result<PathBuf, (PathBuf, std::io::Error)> {
    let mut folder = path.to_owned();
    folder.pop();
    while !folder.as_os_str().is_empty() && !folder.exists() {
        folder.pop();
    }
    if folder.as_os_str().is_empty() {
        folder = PathBuf::from(".");
    }
    let probe = folder.join(format!(".pdm-agent-check-{}", std::process::id()));
    let tried = std::fs::write(&probe, b"check").and_then(|()| std::fs::remove_file(&probe));
    match tried {
        Ok(()) => Ok(folder),
        Err(error) => Err((folder, error)),
    }
}

impl Unmade {
    /// What the check says of it; `exit` becomes [`Exit::Io`] where it cannot be made.
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
