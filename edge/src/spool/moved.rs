//! A spool whose file was moved, removed or replaced while the gateway had it open: by a clean-up,
//! a backup that was put back, a volume that was mounted anew. SQLite writes on without an error,
//! and everything that waits is gone at the next start.
//!
//! Where the name leads nowhere, the open file is copied under its name and the spool goes on with
//! the copy. Where another file stands there, it may be meant, so it stays, and health and staff
//! are told.

use pdm_service::files::{NameLeads, make_private, make_private_folder};

use super::file::{Files, companion};
use super::{Spool, SpoolError, log};

impl Spool {
    /// Checks that the name of the file leads somewhere. Callers ask before they commit.
    ///
    /// # Errors
    /// [`SpoolError::Moved`] if the file was moved or removed; [`Spool::repair`] writes it anew.
    pub fn has_a_name(&self) -> Result<(), SpoolError> {
        match self.files().name_leads() {
            NameLeads::ToIt | NameLeads::ToAnother => Ok(()),
            NameLeads::Nowhere => {
                let path = self.path().to_owned();
                Err(SpoolError::Moved { path, what: "moved or removed" })
            }
        }
    }

    /// Whether another file stands under the name of the open one.
    pub fn is_replaced(&self) -> bool {
        self.files().name_leads() == NameLeads::ToAnother
    }

    /// Copies the open file under its name and goes on with the copy; false if the name leads to a
    /// file. The caller holds the lock of repairs.
    pub(super) async fn write_anew(&self) -> Result<bool, SpoolError> {
        let files = self.files();
        if files.name_leads() != NameLeads::Nowhere {
            return Ok(false);
        }
        copy_under_its_name(&files, self.path()).await?;
        let mark = self.inner.ledger.lock().await.mark();
        let fresh = Files::open(self.path(), self.gateway(), mark, self.now_ms()).await?;
        let tally = fresh.tally().await?;
        self.go_on_with(fresh).await;
        log::written_anew(self.path(), tally.waiting);
        Ok(true)
    }
}

/// Copies the spool under its name. Events that are acknowledged between copy and exchange are sent
/// once more, and the agent drops them.
async fn copy_under_its_name(files: &Files, path: &std::path::Path) -> Result<(), SpoolError> {
    let copy = companion(path, ".copy");
    let cannot = |source| SpoolError::Beside { path: copy.clone(), source };
    if let Some(folder) = path.parent() {
        make_private_folder(folder).map_err(cannot)?;
    }
    remove_if_there(&copy).map_err(cannot)?;
    make_private(&copy).map_err(cannot)?;
    sqlx::query("VACUUM INTO ?")
        .bind(copy.to_string_lossy().into_owned())
        .execute(&files.writer)
        .await
        .map_err(|source| files.failed(source))?;
    // the log of the old file must not be taken for that of the copy
    files.close().await;
    for suffix in ["-wal", "-shm"] {
        remove_if_there(&companion(path, suffix)).map_err(cannot)?;
    }
    std::fs::rename(&copy, path).map_err(cannot)
}

fn remove_if_there(path: &std::path::Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        Err(_) | Ok(()) => Ok(()),
    }
}
