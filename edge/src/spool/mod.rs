//! The spool: every event on disk before anything else learns of it, until the agent has it.
//!
//! Between [`crate::pipeline`], which commits, and [`crate::publish`], which sends. One SQLite
//! file (WAL, `synchronous=FULL`), format 4 (`migrations/`); a lock file beside it keeps a second
//! program away, and a ledger file holds a mark that no sequence number reached yet. Payloads are
//! written once (`event`); where each row stands is kept beside them (`delivery`).
//!
//! **A commit** ([`Spool::commit`]) is ONE transaction: sequence numbers, event rows, the retained
//! state of each bearing, and the pipeline's memory (monitors, position in the source). So after a
//! crash, memory and events tell the same story: nothing is measured twice, nothing is skipped.
//!
//! **States of a row**
//! ```text
//!            commit             PUBACK                  receipt covers it
//!  measured ────────► waiting ────────► acknowledged ─────────────────────► deleted
//!                      │  ▲                  │
//!   too large for      │  └──────────────────┘ receipt says it is missing
//!   the broker: parked ┘        (parked rows wait again after the next start)
//! ```
//! "Sent" is not on disk: what is in flight is known to the publisher alone, so whatever has no
//! PUBACK is sent again after a reconnect or a crash. A PUBACK is no promise of durability, so it
//! only makes a row *eligible*; a receipt deletes eligible rows up to `stored_through` that it
//! does not list as missing. With `await_receipt = false` a PUBACK deletes at once (for consumers
//! that write no receipts). Where receipts stand still while rows are acknowledged, the last of
//! them is sent again now and then ([`Spool::call_back_last`]): a broker may have acknowledged the
//! end of the sequence and forgotten it, and nobody else would notice.
//!
//! **Caps.** Over the cap in bytes or age, acknowledged rows go first, oldest first (counted as
//! `unconfirmed`), then waiting rows by policy: `oldest` deletes the oldest, `newest` refuses the
//! new ones before they get a number. An age is counted in
//! hours in which something was committed, so no clock that is set makes a row old. Every loss is counted in the file, logged and in the metrics.
//!
//! **Invariants.** Sequence numbers are gap-free from 1 in the order of commits and are never given
//! out twice, also after the file was damaged or deleted. A payload on disk never changes; the two
//! fields `replayed` and `delayed_s` are set in the copy that is sent ([`Row::payload_at`]).
//!
//! **Corruption.** A file that SQLite calls damaged is renamed to `….damaged-<time>`, what can still
//! be read is copied into a new one, and the service goes on ([`Spool::repair`]).

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, PoisonError, RwLock};

use pdm_service::clock::SharedClock;
use pdm_shared::id::GatewayId;
use tokio::sync::watch;

mod batch;
mod caps;
mod change;
mod error;
mod file;
mod hours;
mod ledger;
mod outbox;
mod receipt;
mod row;
mod salvage;
mod tally;
#[cfg(test)]
mod tests;
mod waiting;

pub use batch::{Batch, Committed};
pub use caps::{Limits, Policy};
pub use error::{Disposition, SpoolError};
pub use receipt::Covered;
pub use row::{BearingState, Lane, Row};
pub use tally::Tally;

use file::Files;

/// How a spool is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct SpoolSettings {
    /// The SQLite file; its folder is made if missing.
    pub path: PathBuf,
    /// What it may hold.
    pub limits: Limits,
    /// Keep acknowledged rows until a receipt covers them (R-EDGE-10). False: a PUBACK deletes.
    pub await_receipt: bool,
}

/// The spool of one gateway. Clones share it.
#[derive(Debug, Clone)]
pub struct Spool {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    settings: SpoolSettings,
    gateway: GatewayId,
    clock: SharedClock,
    files: RwLock<Files>,
    repairing: tokio::sync::Mutex<()>,
    ledger: tokio::sync::Mutex<ledger::Ledger>,
    changed: watch::Sender<Tally>,
    /// Changes so far, and the one that `changed` shows.
    turn: AtomicU64,
    told: AtomicU64,
    lock: std::fs::File,
}

impl Spool {
    /// Opens the spool, makes it if there is none, and salvages it if it is damaged.
    ///
    /// # Errors
    /// [`SpoolError::Locked`] if another program has it, [`SpoolError::Foreign`] if it belongs to
    /// another gateway, [`SpoolError::Newer`] if a later version wrote it, else what the disk says.
    pub async fn open(
        settings: SpoolSettings,
        gateway: GatewayId,
        clock: SharedClock,
    ) -> Result<Self, SpoolError> {
        let path = &settings.path;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|source| SpoolError::Folder { path: folder.to_owned(), source })?;
        }
        let lock = file::lock(path)?;
        let mut ledger = ledger::Ledger::open(path)?;
        let files = match Files::open(path, &gateway, ledger.mark()).await {
            Err(error) if error.disposition() == Disposition::Repair => {
                salvage::replace(path, &gateway, ledger.mark(), &clock, &error).await?
            }
            outcome => outcome?,
        };
        let tally = files.tally().await?;
        ledger.reserve(tally.last_sequence + 1)?;
        let inner = Inner {
            settings,
            gateway,
            clock,
            files: RwLock::new(files),
            repairing: tokio::sync::Mutex::new(()),
            ledger: tokio::sync::Mutex::new(ledger),
            changed: watch::Sender::new(tally),
            turn: AtomicU64::new(0),
            told: AtomicU64::new(0),
            lock,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Sets a damaged file aside and goes on with what could be read of it. Callers do this when
    /// an operation fails with [`Disposition::Repair`], then repeat the operation.
    ///
    /// # Errors
    /// [`SpoolError`] if no new file can be made.
    pub async fn repair(&self, why: &SpoolError) -> Result<(), SpoolError> {
        let _one_at_a_time = self.inner.repairing.lock().await;
        let files = self.files();
        if files.is_sound().await {
            return Ok(());
        }
        files.close().await;
        let mark = self.inner.ledger.lock().await.mark();
        let fresh =
            salvage::replace(self.path(), &self.inner.gateway, mark, &self.inner.clock, why)
                .await?;
        *self.inner.files.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        self.refresh().await;
        Ok(())
    }

    /// The tally, kept up to date with every change.
    pub fn watch(&self) -> watch::Receiver<Tally> {
        self.inner.changed.subscribe()
    }

    /// The tally as the file has it.
    ///
    /// # Errors
    /// [`SpoolError`] if the file cannot be read.
    pub async fn tally(&self) -> Result<Tally, SpoolError> {
        self.files().tally().await
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.inner.settings.path
    }

    /// Whose spool it is.
    pub fn gateway(&self) -> &GatewayId {
        &self.inner.gateway
    }

    /// Writes what is left in the WAL into the file, closes it and lets go of the lock, whatever
    /// clones there are.
    pub async fn close(&self) {
        self.files().close().await;
        // a lock that cannot be let go of now goes with the last clone
        let _goes_later = self.inner.lock.unlock();
    }

    fn files(&self) -> Files {
        self.inner.files.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn now_ms(&self) -> i64 {
        self.inner.clock.now().unix_ms()
    }
}
