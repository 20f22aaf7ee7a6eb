//! The store in one SQLite file, for one agent.
//!
//! WAL with `synchronous = FULL`: what is committed survives a power cut. One connection writes, so
//! that writers queue in this process and never meet `SQLITE_BUSY`; a few others read beside it.

use std::future::{Ready, ready};
use std::path::Path;
use std::time::Duration;

use pdm_shared::time::Timestamp;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Connection as _, SqlitePool};

use super::{Forget, Incoming, StoreError};

mod bulk;
mod dialect;
#[path = "sql/mod.rs"]
#[expect(clippy::duplicate_mod, reason = "the same SQL, compiled for each database's types")]
mod sql;
mod turns;

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("migrations/sqlite");

/// Connections that read.
const READERS: u32 = 3;
/// Memory for pages of the writer, KiB with SQLite's minus. Chosen: with 10 million rows the pages
/// that a batch goes through (one place for each bearing in three indexes) outgrow the default of
/// 2 MB and are read again and again.
const WRITER_CACHE: &str = "-16384";
/// Pages of the log after which they are written to their places. Chosen: four times the default, so
/// that a page that every batch changes is written once for many of them; the log stays at 16 MB.
const CHECKPOINT_PAGES: &str = "4000";
/// Rows that the connection's thread may read ahead. Chosen: a claim or a batch of events whole, so
/// that reading it wakes each side once.
const ROWS_AHEAD: usize = 512;
/// How long a writer waits for another process that holds the file.
const BUSY: Duration = Duration::from_secs(10);
/// How long a caller waits for a connection before it is told that the store is away.
const ACQUIRE: Duration = Duration::from_secs(30);
/// Who claims rows of the outbox: one file has one agent.
const REPLICA: &str = "agent";

/// The store in one file.
#[derive(Debug, Clone)]
pub struct SqliteStore {
    writer: SqlitePool,
    reader: SqlitePool,
}

impl SqliteStore {
    /// Opens the file, creating it and its folder if need be. [`super::Store::migrate`] comes next.
    ///
    /// # Errors
    /// [`StoreError::Open`] if it cannot be opened.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| failed(path, error.into()))?;
        }
        Self::connect(path, options(path)).await
    }

    async fn connect(path: &Path, options: SqliteConnectOptions) -> Result<Self, StoreError> {
        let cached = options
            .clone()
            .pragma("cache_size", WRITER_CACHE)
            .pragma("wal_autocheckpoint", CHECKPOINT_PAGES);
        let writer = pool(1, cached).await.map_err(|source| failed(path, source))?;
        let reader = pool(READERS, options).await.map_err(|source| failed(path, source))?;
        Ok(Self { writer, reader })
    }

    fn writer(&self) -> &SqlitePool {
        &self.writer
    }

    fn reader(&self) -> &SqlitePool {
        &self.reader
    }

    #[expect(clippy::unused_self, reason = "on a server it is the replica's own")]
    fn replica(&self) -> &'static str {
        REPLICA
    }

    async fn install(&self) -> Result<(), StoreError> {
        MIGRATIONS.run(&self.writer).await.map_err(StoreError::Migrate)
    }

    /// One table holds whatever comes.
    #[expect(clippy::unused_self, reason = "on a server partitions are made")]
    fn make_room(&self, _batch: &[Incoming], _now: Timestamp) -> Ready<Result<(), StoreError>> {
        ready(Ok(()))
    }

    /// What waits for a judgement stays.
    async fn forget_events(
        &self,
        forget: &Forget,
        now: Timestamp,
    ) -> Result<(u64, bool), StoreError> {
        let mut transaction = dialect::begin(&self.writer).await?;
        let reached = sql::days::reached(&mut transaction, forget.events_days, now).await?;
        let Some(reached) = reached else { return Ok((0, false)) };
        let gone = sqlx::query(
            "DELETE FROM events WHERE arrival IN (
                 SELECT arrival FROM events WHERE arrival <= $1 AND judged = 1
                 ORDER BY arrival LIMIT $2)",
        )
        .bind(reached.arrival)
        .bind(forget.limit)
        .execute(&mut *transaction)
        .await?
        .rows_affected();
        transaction.commit().await?;
        Ok((gone, gone >= u64::from(forget.limit)))
    }

    async fn end(&self) {
        self.reader.close().await;
        self.writer.close().await;
    }
}

fn failed(path: &Path, source: sqlx::Error) -> StoreError {
    StoreError::Open { place: path.display().to_string(), source }
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY)
        .row_buffer_size(ROWS_AHEAD)
}

async fn pool(connections: u32, options: SqliteConnectOptions) -> Result<SqlitePool, sqlx::Error> {
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE)
        .idle_timeout(None)
        .max_lifetime(None)
        // SQLite ends a transaction by itself when the disk is full; sqlx 0.9 then cannot roll it
        // back and would count it as open for ever: such a connection is replaced
        .before_acquire(|connection, _meta| {
            let is_sound = !connection.is_in_transaction();
            Box::pin(async move { Ok(is_sound) })
        })
        .connect_with(options)
        .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store as _;

    #[tokio::test]
    async fn sqlite_does_what_every_store_must_do() {
        let folder = tempfile::tempdir().expect("folder");
        let count = std::sync::atomic::AtomicU32::new(0);
        crate::store::conformance::suite(async || {
            let number = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let path = folder.path().join(format!("{number}/agent.db"));
            SqliteStore::open(&path).await.expect("opens")
        })
        .await;
    }

    #[tokio::test]
    async fn a_file_that_is_no_database_is_named_in_the_error() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("agent.db");
        std::fs::write(&path, "not a database, certainly not".repeat(100)).expect("write");
        let opened = SqliteStore::open(&path).await;
        let error = match opened {
            Ok(store) => store.migrate().await.expect_err("no database"),
            Err(error) => error,
        };
        assert!(error.to_string().contains("store"), "{error}");
    }

    #[tokio::test]
    async fn a_restarted_agent_sends_what_its_predecessor_had_claimed() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("agent.db");
        let store = SqliteStore::open(&path).await.expect("opens");
        store.migrate().await.expect("migrated");
        let now = Timestamp::from_unix_ms(1_000_000).expect("in range");
        let letter = pdm_shared::delivery::DeadLetter::of("t", b"x", "r".to_owned(), now);
        store.store(&[Incoming::Refused(letter)], now, "dead").await.expect("stored");
        let later = now.plus_seconds(1e6);
        assert_eq!(store.claim("mqtt", now, later, 9).await.expect("claimed").len(), 1);
        store.close().await;
        let store = SqliteStore::open(&path).await.expect("opens");
        store.migrate().await.expect("migrated");
        assert_eq!(store.claim("mqtt", now, later, 9).await.expect("read").len(), 0, "held on");
        store.take_over().await.expect("taken over");
        assert_eq!(store.claim("mqtt", now, later, 9).await.expect("claimed").len(), 1);
    }

    /// A full disk ends SQLite's transaction behind the driver's back: the next ones must not hang.
    #[tokio::test]
    async fn a_full_disk_refuses_and_once_there_is_room_it_goes_on() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("agent.db");
        let store = SqliteStore::open(&path).await.expect("opens");
        store.migrate().await.expect("migrated");
        store.close().await;
        let small = options(&path).pragma("max_page_count", "60");
        let store = SqliteStore::connect(&path, small).await.expect("opens");
        let now = Timestamp::from_unix_ms(1_000_000).expect("in range");
        let letters = |count: usize| -> Vec<Incoming> {
            (0..count)
                .map(|number| {
                    let text = format!("{number} {}", "x".repeat(3000));
                    let reason = "r".to_owned();
                    let letter =
                        pdm_shared::delivery::DeadLetter::of("t", text.as_bytes(), reason, now);
                    Incoming::Refused(letter)
                })
                .collect()
        };
        for _ in 0..3 {
            let error = store.store(&letters(300), now, "dead").await.expect_err("no room");
            assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
        }
        let wait = Duration::from_secs(20);
        let stored = tokio::time::timeout(wait, store.store(&letters(1), now, "dead")).await;
        assert_eq!(stored.expect("does not hang").expect("there is room for one").letters, 1);
    }
}
