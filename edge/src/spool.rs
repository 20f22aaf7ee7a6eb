//! The spool: keeps every event on disk from its measurement until the agent has stored it.
//!
//! Stands between the `pipeline`, which commits, and `publish`, which sends. One SQLite file (WAL,
//! `synchronous=FULL`), format 5 (`migrations/`). A lock file beside it keeps a second program out,
//! and a ledger file holds a mark above all sequence numbers given out. A payload is written once
//! (table `event`); the state of its delivery is in a table beside it (`delivery`).
//!
//! **A commit** ([`Spool::commit`]) is ONE transaction: sequence numbers, event rows, the retained
//! state of each bearing, and the pipeline's memory (monitors, position in the source). So after a
//! crash memory and events agree: no window is measured twice, and none is skipped.
//!
//! **States of a row**
//! ```text
//!            commit             PUBACK                  receipt covers it
//!  measured ────────► waiting ────────► acknowledged ─────────────────────► deleted
//!                      │  ▲                  │
//!   too large for      │  └──────────────────┘ receipt says it is missing
//!   the broker: parked ┘        (parked rows wait again after the next start)
//! ```
//! There is no state "sent": only the publisher knows which rows are in flight, so every row
//! without a PUBACK is sent again after a reconnect or a crash. A PUBACK does not promise
//! durability, so it only makes a row *eligible* for deletion. A receipt deletes the eligible rows
//! up to `stored_through` that it does not list as missing. With `await_receipt = false` a PUBACK
//! deletes at once (for consumers that write no receipts). If receipts do not advance while rows
//! are acknowledged, the last of these rows is sent again from time to time
//! ([`Spool::call_back_last`]): a broker may have acknowledged the end of the sequence and lost it,
//! and the agent cannot miss a number that it never saw.
//!
//! **Caps.** Over the cap in bytes or age, acknowledged rows are deleted first, oldest first
//! (counted as `unconfirmed`), then waiting rows by policy: `oldest` deletes the oldest, `newest`
//! refuses new events before they get a number. Age is counted in hours in which an event was
//! committed, so setting the clock makes no row old. Every loss is counted in the file and in the
//! metrics, and logged.
//!
//! **Invariants.** Sequence numbers are gap-free from 1 in the order of commits and are never given
//! out twice, also after the file was damaged or deleted; no receipt changes them. A receipt that
//! says more than was ever given out is refused ([`Implausible`]). A payload on disk never changes;
//! the two fields `replayed` and `delayed_s` are set in the copy that is sent
//! ([`Row::payload_at`]), and `epoch` in rows that do not have the file's ([`labelled`]).
//!
//! **Corruption.** A file that SQLite reports as damaged is renamed to `….damaged-<time>`, its
//! readable rows are copied into a new file, and the service continues ([`Spool::repair`]).

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, PoisonError, RwLock};

use pdm_service::clock::SharedClock;
use pdm_service::files::make_private_folder;
use pdm_shared::id::GatewayId;
use tokio::sync::watch;

mod batch;
mod caps;
mod change;
mod error;
mod file;
mod hours;
mod ledger;
pub(crate) mod log;
mod moved;
mod numbering;
mod outbox;
mod receipt;
mod row;
mod salvage;
mod states;
mod tally;
#[cfg(test)]
mod tests;
mod waiting;

pub use batch::{Batch, Committed};
pub use caps::{Limits, Policy};
pub use error::{Disposition, SpoolError};
pub use numbering::Numbering;
pub use receipt::{Covered, Implausible, ReceiptOutcome};
pub use row::{BearingState, Lane, Row, labelled};
pub use tally::Tally;

use file::Files;

/// The settings of a spool.
#[derive(Debug, Clone, PartialEq)]
pub struct SpoolSettings {
    /// The SQLite file. Its folder is created if it is missing.
    pub path: PathBuf,
    /// Limits of size and age.
    pub limits: Limits,
    /// True: acknowledged rows are kept until a receipt covers them (R-EDGE-10). False: a PUBACK
    /// deletes the row.
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
    /// Number of changes so far, and the number of the change whose tally `changed` holds.
    turn: AtomicU64,
    told: AtomicU64,
    lock: std::fs::File,
}

impl Spool {
    /// Opens the spool. A missing file is created, a damaged one is salvaged.
    ///
    /// # Errors
    /// [`SpoolError::Locked`] if another program uses the spool, [`SpoolError::Foreign`] if the
    /// spool belongs to another gateway, [`SpoolError::Newer`] if a later version wrote it, else
    /// the error of the operating system or of SQLite.
    pub async fn open(
        settings: SpoolSettings,
        gateway: GatewayId,
        clock: SharedClock,
    ) -> Result<Self, SpoolError> {
        let path = &settings.path;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            make_private_folder(folder)
                .map_err(|source| SpoolError::Folder { path: folder.to_owned(), source })?;
        }
        let lock = file::lock(path)?;
        let mut ledger = ledger::Ledger::open(path)?;
        let now_ms = clock.now().unix_ms();
        let files = match Files::open(path, &gateway, ledger.mark(), now_ms).await {
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

    /// Renames a damaged file and continues with a new file that holds the readable rows; a file
    /// that was moved or removed is copied under its name. Callers do this when an operation fails
    /// with [`Disposition::Repair`], then repeat the operation. False if the file is sound, so that
    /// nothing was changed: the operation may then fail again, and callers pause before they repeat
    /// it.
    ///
    /// # Errors
    /// [`SpoolError`] if no new file can be made.
    pub async fn repair(&self, why: &SpoolError) -> Result<bool, SpoolError> {
        let _one_at_a_time = self.inner.repairing.lock().await;
        if matches!(why, SpoolError::Moved { .. }) {
            return self.write_anew().await;
        }
        let files = self.files();
        // several tasks may report the same damage: the first repairs, the others find a sound file
        if files.is_sound().await {
            return Ok(false);
        }
        files.close().await;
        let mark = self.inner.ledger.lock().await.mark();
        let fresh =
            salvage::replace(self.path(), &self.inner.gateway, mark, &self.inner.clock, why)
                .await?;
        self.go_on_with(fresh).await;
        Ok(true)
    }

    async fn go_on_with(&self, fresh: Files) {
        *self.inner.files.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        self.refresh().await;
    }

    /// The tally, kept up to date with every change.
    pub fn watch(&self) -> watch::Receiver<Tally> {
        self.inner.changed.subscribe()
    }

    /// The tally, read from the file.
    ///
    /// # Errors
    /// [`SpoolError`] if the file cannot be read.
    pub async fn tally(&self) -> Result<Tally, SpoolError> {
        self.files().tally().await
    }

    /// The count of sequence numbers.
    pub fn numbering(&self) -> Numbering {
        self.inner.files.read().unwrap_or_else(PoisonError::into_inner).numbering
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.inner.settings.path
    }

    /// The gateway that the spool belongs to.
    pub fn gateway(&self) -> &GatewayId {
        &self.inner.gateway
    }

    /// Writes the WAL into the file, closes the file and releases the lock, although clones may
    /// still exist.
    pub async fn close(&self) {
        self.files().close().await;
        // if unlocking fails, the lock is released when the last clone closes the lock file
        let _released_later = self.inner.lock.unlock();
    }

    fn files(&self) -> Files {
        self.inner.files.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn now_ms(&self) -> i64 {
        self.inner.clock.now().unix_ms()
    }
}
