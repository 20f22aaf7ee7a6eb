//! The witness reads the edges' commits from their spools during the run.
//!
//! A row must reach the agent from the moment its commit returned. So the witness reads it every
//! few milliseconds, before the agent's receipt can have deleted it. The connection only reads and
//! is closed at once, so that a killed edge finds its file as a crash leaves it. A row that is
//! deleted between two reads is not witnessed; the arrival of its window is checked all the same.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Row as _};

use super::oracle::Digest;

/// Time between two reads.
const LOOK: Duration = Duration::from_millis(15);
/// Most payloads that are kept for publishing again.
const KEPT: usize = 2000;
/// Most rows of one read.
const MOST: i64 = 4000;

/// A row that was seen in a spool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witnessed {
    /// The event's identity.
    pub event_id: Vec<u8>,
    /// Digest of the payload.
    pub digest: Digest,
}

/// The witnessed rows of all gateways.
#[derive(Debug, Default)]
pub struct Seen {
    /// Rows by gateway and sequence.
    pub rows: BTreeMap<(usize, i64), Witnessed>,
    /// The last payloads.
    pub recent: VecDeque<Vec<u8>>,
    /// Highest sequence by gateway.
    pub highest: BTreeMap<usize, i64>,
}

/// The witness of a run, shared by its tasks.
#[derive(Debug, Clone, Default)]
pub struct Witness {
    seen: Arc<Mutex<Seen>>,
}

impl Witness {
    /// Watches the spool of a gateway until the task is dropped.
    pub async fn watch(self, gateway: usize, spool: PathBuf) {
        let mut last = 0;
        loop {
            // the file does not exist yet, or is being created: the next read will find it
            if let Ok(rows) = read(&spool, last).await {
                last = rows.last().map_or(last, |row| row.0);
                self.note(gateway, rows);
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn note(&self, gateway: usize, rows: Vec<(i64, Vec<u8>, Vec<u8>)>) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for (sequence, event_id, payload) in rows {
            let digest = Digest::of(&payload);
            seen.rows.insert((gateway, sequence), Witnessed { event_id, digest });
            seen.highest.insert(gateway, sequence);
            if seen.recent.len() == KEPT {
                seen.recent.pop_front();
            }
            seen.recent.push_back(payload);
        }
    }

    /// All witnessed rows.
    pub fn take(&self) -> Seen {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls `look` with the witnessed rows.
    pub fn with<T>(&self, look: impl FnOnce(&Seen) -> T) -> T {
        look(&self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Options of a connection that changes nothing.
pub(super) fn reading(file: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(file)
        .read_only(true)
        .busy_timeout(Duration::from_secs(2))
        .disable_statement_logging()
}

async fn read(spool: &Path, after: i64) -> Result<Vec<(i64, Vec<u8>, Vec<u8>)>, sqlx::Error> {
    let mut connection = reading(spool).connect().await?;
    let rows = sqlx::query(
        "SELECT sequence, event_id, payload FROM event WHERE sequence > ?
         ORDER BY sequence LIMIT ?",
    )
    .bind(after)
    .bind(MOST)
    .fetch_all(&mut connection)
    .await;
    connection.close().await?;
    rows?.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))).collect()
}

/// The state of a spool: the highest number given out, and the number of rows in any state.
pub(super) async fn level(spool: &Path) -> Result<(i64, i64), sqlx::Error> {
    let mut connection = reading(spool).connect().await?;
    let row =
        sqlx::query("SELECT (SELECT next_sequence - 1 FROM gateway), (SELECT count(*) FROM event)")
            .fetch_one(&mut connection)
            .await;
    connection.close().await?;
    let row = row?;
    Ok((row.try_get(0)?, row.try_get(1)?))
}
