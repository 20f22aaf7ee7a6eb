//! The ledger: a small file beside the spool with a mark that no sequence number has reached.
//!
//! If the database is lost as a whole, numbers go on from the mark: a gap of at most [`AHEAD`]
//! numbers, never a number given out twice. The mark is raised, durably, before a commit passes it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::SpoolError;
use super::file::beside;

/// How far ahead the mark is set. Chosen: one small write per thousand events.
pub(super) const AHEAD: u64 = 1000;

/// The mark and where it stands.
#[derive(Debug)]
pub(super) struct Ledger {
    path: PathBuf,
    mark: u64,
}

impl Ledger {
    /// Reads the mark; 1 if there is none or it cannot be understood.
    pub(super) fn open(spool: &Path) -> Result<Self, SpoolError> {
        let path = beside(spool, "sequence");
        let mark = match std::fs::read_to_string(&path) {
            Ok(text) => text.trim().parse().unwrap_or(1),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => 1,
            Err(source) => return Err(SpoolError::Beside { path, source }),
        };
        Ok(Self { path, mark })
    }

    /// A number that has not been given out, nor has any above it.
    pub(super) const fn mark(&self) -> u64 {
        self.mark
    }

    /// Makes sure that the mark lies above `next + AHEAD / 2`; call before `next` is given out.
    pub(super) fn reserve(&mut self, next: u64) -> Result<(), SpoolError> {
        if next + AHEAD / 2 < self.mark {
            return Ok(());
        }
        let mark = next + AHEAD;
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
        // the rename itself must be durable too
        self.path.parent().map_or(Ok(()), |folder| {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            std::fs::File::open(folder)?.sync_all()
        })
    }
}
