//! One agent on a SQLite file. Two of them would share the outbox, the turns of bearings and the
//! marker of the last write without knowing of each other: each judges and tells as if it were
//! alone. So the second one does not start, before it has opened the store or changed its schema.
//!
//! The lock is one of the operating system's on the file `FILE.lock`: it ends with its process,
//! however that ends. Replicas share a PostgreSQL server.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pdm_store::settings::{StorePlace, StoreSettings};
use tokio::time::Instant;

use super::log;

/// How long an agent that is about to end may hold the lock. Chosen: as long as an orderly stop
/// takes at least, so that a supervisor that starts the next one at once needs no second try.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(200);

/// Another agent runs on the store. The caller ends with 69.
#[derive(Debug, thiserror::Error)]
#[error(
    "another agent{} runs on the store {}: two on one file would each judge and tell; stop it, \
     or give this one a file of its own (store.sqlite), or let both share a PostgreSQL server \
     (store.postgres) (lock {})",
    .process.as_ref().map_or_else(String::new, |id| format!(" (process {id})")),
    .file.display(),
    .lock.display()
)]
pub struct StoreTaken {
    file: PathBuf,
    lock: PathBuf,
    /// The process that holds it, as it has written.
    process: Option<u32>,
}

/// The sole use of a store, for as long as this is kept.
#[derive(Debug)]
pub(super) struct SoleUse {
    _lock: File,
}

impl SoleUse {
    /// Takes the sole use of a store that is a file; `None` for a server, and where there is no
    /// place for a lock, which is logged: the store then says what is wrong.
    ///
    /// # Errors
    /// [`StoreTaken`] while another agent runs on it.
    pub(super) async fn claim(settings: &StoreSettings) -> Result<Option<Self>, StoreTaken> {
        let StorePlace::Sqlite(file) = &settings.place else { return Ok(None) };
        let path = lock_of(file);
        let begun = Instant::now();
        loop {
            let lock = match open(&path) {
                Ok(lock) => lock,
                Err(error) => {
                    log::no_lock(&path, &error);
                    return Ok(None);
                }
            };
            match lock.try_lock() {
                Ok(()) => {
                    sign(&lock);
                    return Ok(Some(Self { _lock: lock }));
                }
                Err(TryLockError::Error(error)) => {
                    log::no_lock(&path, &error);
                    return Ok(None);
                }
                Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => {
                    tokio::time::sleep(PAUSE).await;
                }
                Err(TryLockError::WouldBlock) => {
                    let process = process_in(lock);
                    return Err(StoreTaken { file: file.clone(), lock: path, process });
                }
            }
        }
    }
}

/// The lock beside the file itself, by whichever link it is named.
fn lock_of(file: &Path) -> PathBuf {
    let own = std::fs::canonicalize(file).unwrap_or_else(|_missing| file.to_owned());
    let mut name = own.into_os_string();
    name.push(".lock");
    name.into()
}

fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    // as the store itself: its owner's alone, whatever the umask is
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Writes who holds the lock. It holds without this, so a failure is none.
fn sign(mut lock: &File) {
    let _unsigned = lock
        .set_len(0)
        .and_then(|()| lock.write_all(format!("{}\n", std::process::id()).as_bytes()));
}

fn process_in(mut lock: File) -> Option<u32> {
    let mut text = String::new();
    lock.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(file: &Path) -> StoreSettings {
        let text = format!("sqlite = \"{}\"", file.display());
        toml::from_str(&text).expect("settings")
    }

    #[tokio::test]
    async fn a_file_has_one_agent_by_whichever_name_it_goes() {
        let folder = tempfile::tempdir().expect("folder");
        let (file, link) = (folder.path().join("agent.db"), folder.path().join("link.db"));
        std::fs::write(&file, "").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        let first = SoleUse::claim(&settings(&file)).await.expect("free").expect("a file");
        let taken = SoleUse::claim(&settings(&link)).await.expect_err("taken").to_string();
        let process = format!("another agent (process {}) runs on", std::process::id());
        assert!(taken.contains(&process) && taken.contains("store.postgres"), "{taken}");
        drop(first);
        assert!(SoleUse::claim(&settings(&link)).await.expect("free again").is_some());
        let nowhere = folder.path().join("none/agent.db");
        assert!(SoleUse::claim(&settings(&nowhere)).await.expect("no place").is_none());
    }
}
