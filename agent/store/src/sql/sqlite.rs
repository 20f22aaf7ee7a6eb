//! The store in one SQLite file, for one agent.
//!
//! WAL with `synchronous = FULL`: what is committed survives a power cut. One connection writes, so
//! that writers queue in this process and never meet `SQLITE_BUSY`; a few others read beside it.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pdm_service::files::{NameLeads, WatchedName, make_private_database};
use pdm_shared::time::Timestamp;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Connection as _, SqlitePool};

use super::last_write::LastWrite;
use crate::{MissingRows, StoreError};

pub(crate) mod bulk;
mod recovery;

pub use recovery::{RecoveredTable, Recovery, recover};

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("migrations/sqlite");

/// Connections that read: the judging, the HTTP server and one more each get one at once.
const READERS: u32 = 3;
/// The writer's page cache, 16 MiB (a negative number is KiB). With 10 million rows a batch touches
/// one place for each bearing in three indexes; these pages outgrow the default of 2 MB and would
/// be read again for every batch.
const WRITER_CACHE: &str = "-16384";
/// Pages of the log after which they are written into the file: four times the default. A page that
/// every batch changes is then written once for many batches; the log stays at 16 MB (pages of 4
/// KiB).
const CHECKPOINT_PAGES: &str = "4000";
/// Rows that the connection's thread may read ahead. A claim (256 rows) or a batch of events (256)
/// fits whole, so reading it wakes each side once.
const ROWS_AHEAD: usize = 512;
/// How long a writer waits for another process that holds the file.
const BUSY: Duration = Duration::from_secs(10);
/// How long a caller waits for a connection until the store counts as unavailable: three times as
/// long as the writer may wait for another process, so that such a wait alone is no failure.
const ACQUIRE: Duration = Duration::from_secs(30);
/// The name that claims rows of the outbox: a file has one agent.
pub(crate) const REPLICA: &str = "agent";

/// One file.
#[derive(Debug, Clone)]
pub(crate) struct Sqlite {
    writer: SqlitePool,
    reader: SqlitePool,
    name: Arc<WatchedName>,
    /// The name of the log (`-wal`), which is there from the first write on.
    log_name: Arc<OnceLock<WatchedName>>,
    place: Arc<Path>,
    last_write: Arc<LastWrite>,
}

impl Sqlite {
    /// Opens the file, creating it and its folder if need be.
    pub(crate) async fn open(path: &Path) -> Result<Self, StoreError> {
        make_private_database(path).map_err(|error| cannot_open(path, error.into()))?;
        Self::connect(path, options(path)).await
    }

    async fn connect(path: &Path, options: SqliteConnectOptions) -> Result<Self, StoreError> {
        let cached = options
            .clone()
            .pragma("cache_size", WRITER_CACHE)
            .pragma("wal_autocheckpoint", CHECKPOINT_PAGES);
        let writer = pool(1, cached).await.map_err(|source| cannot_open(path, source))?;
        let reader = pool(READERS, options).await.map_err(|source| cannot_open(path, source))?;
        let name = WatchedName::new(path).map_err(|error| cannot_open(path, error.into()))?;
        let last_write = Arc::new(LastWrite::beside(path));
        let (name, log_name) = (Arc::new(name), Arc::default());
        Ok(Self { writer, reader, name, log_name, place: path.into(), last_write })
    }

    /// Checks after a write that the names of the file and of its log still lead to the open ones.
    /// SQLite writes on without an error where one was moved or removed.
    pub(crate) fn stands(&self) -> Result<(), StoreError> {
        let place = self.place.display().to_string();
        let gone = |name: &WatchedName| match name.leads() {
            NameLeads::ToIt => None,
            NameLeads::Nowhere => Some("moved or removed"),
            NameLeads::ToAnother => Some("replaced by another file"),
        };
        if let Some(what) = gone(&self.name) {
            return Err(StoreError::Moved { place, what });
        }
        let log_place = format!("{place}-wal");
        let Some(log) = self.log_name.get() else {
            if let Ok(log) = WatchedName::new(Path::new(&log_place)) {
                // another look that came first watches the same file
                let _watched = self.log_name.set(log);
            }
            return Ok(());
        };
        match gone(log) {
            Some(what) => Err(StoreError::LogMoved { place: log_place, what }),
            None => Ok(()),
        }
    }

    /// Notes beside the file that a row of this time is in it.
    pub(crate) fn note_write(&self, at_ms: i64) {
        self.last_write.note(at_ms);
    }

    /// Returns when the agent last wrote into the file, as its marker tells.
    pub(crate) fn last_write_ms(&self) -> Option<i64> {
        self.last_write.read_ms()
    }

    /// Returns the missing rows, if the newest row was written at `found_ms` and the agent last
    /// wrote at `written_ms`; `None` if none are missing.
    pub(crate) fn missing(&self, written_ms: i64, found_ms: Option<i64>) -> Option<MissingRows> {
        if found_ms.is_some_and(|found_ms| found_ms >= written_ms) {
            return None;
        }
        Some(MissingRows {
            place: self.place.display().to_string(),
            is_server: false,
            written_at: Timestamp::from_unix_ms(written_ms)?,
            found_at: found_ms.and_then(Timestamp::from_unix_ms),
        })
    }

    pub(crate) fn writer(&self) -> &SqlitePool {
        &self.writer
    }

    pub(crate) fn reader(&self) -> &SqlitePool {
        &self.reader
    }

    pub(crate) async fn migrate(&self) -> Result<(), StoreError> {
        MIGRATIONS
            .run(&self.writer)
            .await
            .map_err(|error| StoreError::of_migration(error, &MIGRATIONS))
    }

    /// Installs the schema as it was before a version.
    #[cfg(test)]
    pub(crate) async fn migrate_before(&self, version: i64) {
        let earlier = MIGRATIONS.iter().filter(|one| one.version < version).cloned().collect();
        let earlier = sqlx::migrate::Migrator::with_migrations(earlier);
        earlier.run(&self.writer).await.expect("migrated");
    }

    /// Returns the faults that `PRAGMA integrity_check` finds; empty for a sound file.
    pub(crate) async fn damage(&self) -> Result<Vec<String>, StoreError> {
        let lines: Vec<String> =
            sqlx::query_scalar("PRAGMA integrity_check(20)").fetch_all(&self.reader).await?;
        Ok(lines.into_iter().filter(|line| line != "ok").collect())
    }

    /// Closes the readers first: the last connection to close writes the log into the file, and
    /// that has to be the writer.
    pub(crate) async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
    }
}

fn cannot_open(path: &Path, source: sqlx::Error) -> StoreError {
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
        // SQLite ends a transaction by itself when the disk is full; sqlx 0.9 then cannot roll the
        // transaction back and would count it as open for ever: such a connection is replaced
        .before_acquire(|connection, _meta| {
            let is_sound = !connection.is_in_transaction();
            Box::pin(async move { Ok(is_sound) })
        })
        .connect_with(options)
        .await
}

#[cfg(test)]
mod tests {
    use pdm_shared::delivery::DeadLetter;
    use pdm_shared::time::Timestamp;

    use super::*;
    use crate::{Incoming, Store};

    #[tokio::test]
    async fn sqlite_does_what_every_store_must_do() {
        let folder = tempfile::tempdir().expect("folder");
        let count = std::sync::atomic::AtomicU32::new(0);
        Box::pin(crate::conformance::suite(async || {
            let number = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let path = folder.path().join(format!("{number}/agent.db"));
            Store::open_sqlite(&path).await.expect("opens")
        }))
        .await;
    }

    #[tokio::test]
    async fn sqlite_goes_on_with_rows_of_earlier_versions() {
        let folder = tempfile::tempdir().expect("folder");
        let count = std::sync::atomic::AtomicU32::new(0);
        crate::conformance::before::suite(async || {
            let number = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let path = folder.path().join(format!("before-{number}/agent.db"));
            Store::open_sqlite(&path).await.expect("opens")
        })
        .await;
    }

    #[tokio::test]
    async fn a_file_that_is_no_database_is_named_in_the_error() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("agent.db");
        std::fs::write(&path, "not a database, certainly not".repeat(100)).expect("write");
        let opened = Store::open_sqlite(&path).await;
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
        let store = Store::open_sqlite(&path).await.expect("opens");
        store.migrate().await.expect("migrated");
        let now = Timestamp::from_unix_ms(1_000_000).expect("in range");
        let letter = DeadLetter::of("t", b"x", "r".to_owned(), now);
        store
            .intake()
            .store(&[Incoming::Refused(letter.into())], now, "dead")
            .await
            .expect("stored");
        let later = now.plus_seconds(1e6);
        assert_eq!(
            store.outbox().claim("dead_letters", now, later, 9).await.expect("claimed").len(),
            1
        );
        store.close().await;
        let store = Store::open_sqlite(&path).await.expect("opens");
        store.migrate().await.expect("migrated");
        assert_eq!(
            store.outbox().claim("dead_letters", now, later, 9).await.expect("read").len(),
            0,
            "held on"
        );
        store.take_over().await.expect("taken over");
        assert_eq!(
            store.outbox().claim("dead_letters", now, later, 9).await.expect("claimed").len(),
            1
        );
    }

    /// SQLite ends a transaction by itself when the disk is full: the next ones must not hang.
    #[tokio::test]
    async fn a_full_disk_refuses_and_once_there_is_room_it_goes_on() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("agent.db");
        let store = Store::open_sqlite(&path).await.expect("opens");
        store.migrate().await.expect("migrated");
        store.close().await;
        let small = options(&path).pragma("max_page_count", "60");
        let store = Store::on(Sqlite::connect(&path, small).await.expect("opens"));
        let now = Timestamp::from_unix_ms(1_000_000).expect("in range");
        let letters = |count: usize| -> Vec<Incoming> {
            (0..count)
                .map(|number| {
                    let text = format!("{number} {}", "x".repeat(3000));
                    let reason = "r".to_owned();
                    let letter = DeadLetter::of("t", text.as_bytes(), reason, now);
                    Incoming::Refused(letter.into())
                })
                .collect()
        };
        for _ in 0..3 {
            let error =
                store.intake().store(&letters(300), now, "dead").await.expect_err("no room");
            assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
        }
        let wait = Duration::from_secs(20);
        let stored =
            tokio::time::timeout(wait, store.intake().store(&letters(1), now, "dead")).await;
        assert_eq!(stored.expect("does not hang").expect("there is room for one").letters, 1);
    }
}
