//! The ledger: a small file beside the spool with a mark above all sequence numbers given out.
//!
//! If the whole database is lost, numbers continue at the mark. This leaves a gap of at most
//! [`AHEAD`] numbers, and no number is given out twice. The mark is raised and synced to disk
//! before a commit passes it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use pdm_shared::event::HIGHEST_SEQUENCE;

use super::SpoolError;
use super::file::beside;

/// Distance from the next number to a new mark: one small synced write for each thousand events.
pub(super) const AHEAD: u64 = 1000;

/// The mark and its file.
#[derive(Debug)]
pub(super) struct Ledger {
    path: PathBuf,
    mark: u64,
}

impl Ledger {
    /// Reads the mark; 1 if the file is missing or holds no number.
    pub(super) fn open(spool: &Path) -> Result<Self, SpoolError> {
        let path = beside(spool, "sequence");
        let mark = match std::fs::read_to_string(&path) {
            // a higher mark comes from a false receipt that an earlier version followed
            Ok(text) => {
                text.trim().parse().ok().filter(|mark| *mark <= HIGHEST_SEQUENCE).unwrap_or(1)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => 1,
            Err(source) => return Err(SpoolError::Beside { path, source }),
        };
        Ok(Self { path, mark })
    }

    /// The mark: neither this number nor any above it has been given out.
    pub(super) const fn mark(&self) -> u64 {
        self.mark
    }

    /// Raises the mark if it is not above `next + AHEAD / 2`. Must be called before `next` is given
    /// out.
    pub(super) fn reserve(&mut self, next: u64) -> Result<(), SpoolError> {
        if next.saturating_add(AHEAD / 2) < self.mark {
            return Ok(());
        }
        let mark = next.saturating_add(AHEAD);
        self.write(mark)
            .map_err(|source| SpoolError::Beside { path: self.path.clone(), source })?;
        self.mark = mark;
        Ok(())
    }

    fn write(&self, mark: u64) -> std::io::Result<()> {
        let draft = beside(&self.path, "new");
        let mut file = std::fs::File::create(&draft)?;
        writeln!(file, "{mark}")?;
        file.sync_all()?;
        std::fs::rename(&draft, &self.path)?;
        // the rename is durable only after its folder is synced
        self.path.parent().map_or(Ok(()), |folder| {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            std::fs::File::open(folder)?.sync_all()
        })
    }
}
