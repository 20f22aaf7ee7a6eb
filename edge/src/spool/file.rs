//! Opening the SQLite file: one connection that writes, one that only reads, and the lock.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pdm_service::files::{NameLeads, WatchedName, make_private_database};
use pdm_shared::id::GatewayId;
use sqlx::Connection as _;
use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteSynchronous,
};

use super::numbering::{self, Numbering};
use super::tally::Standing;
use super::{SpoolError, Tally, tally};

/// Files up to this size are checked page by page at opening. 64 MiB take about a second on storage
/// that reads 60 MB/s; damage in a larger file is found when its pages are read.
const CHECKED_AT_OPENING_BYTES: u64 = 64 << 20;

/// Page cache of a connection, in KiB (SQLite writes KiB as a negative number; its default is 2 MiB
/// each). Payloads are read once and in order, so the reader needs only the inner pages of the
/// trees: 128 KiB are 32 pages. A batch larger than the writer's cache goes to the WAL before its
/// commit.
const READER_CACHE: &str = "-128";
const WRITER_CACHE: &str = "-256";

/// The connections to one spool file.
#[derive(Debug, Clone)]
pub(super) struct Files {
    path: PathBuf,
    /// One connection: all writing is serial.
    pub(super) writer: SqlitePool,
    /// One connection: reading does not wait for a commit.
    pub(super) reader: SqlitePool,
    pub(super) numbering: Numbering,
    name: Arc<WatchedName>,
}

/// Takes the lock beside the spool. The lock is held while the returned file is open.
pub(super) fn lock(path: &Path) -> Result<std::fs::File, SpoolError> {
    let lock = beside(path, "lock");
    let file = std::fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&lock)
        .map_err(|source| SpoolError::Folder { path: lock.clone(), source })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => {
            Err(SpoolError::Locked { path: path.to_owned(), lock })
        }
        Err(std::fs::TryLockError::Error(source)) => Err(SpoolError::Folder { path: lock, source }),
    }
}

/// The path of a file that belongs to the spool: its name and `.suffix`.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

/// The path of a file that SQLite keeps beside the database: its name and `-wal` or `-shm`.
pub(super) fn companion(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

impl Files {
    /// Opens the file, or creates it with `first_sequence` as its first sequence number.
    pub(super) async fn open(
        path: &Path,
        gateway: &GatewayId,
        first_sequence: u64,
        now_ms: i64,
    ) -> Result<Self, SpoolError> {
        let failed = |source| SpoolError::sqlite(path, source);
        make_private_database(path)
            .map_err(|source| SpoolError::Folder { path: path.to_owned(), source })?;
        let size = std::fs::metadata(path).map_or(0, |meta| meta.len());
        let writer = pool(options(path).create_if_missing(true)).await.map_err(failed)?;
        if size > 0 && size <= CHECKED_AT_OPENING_BYTES {
            check_pages(path, &writer).await?;
        }
        migrate(path, &writer).await?;
        claim(path, &writer, gateway, first_sequence).await?;
        let numbering = numbering::settle(&writer, now_ms).await.map_err(failed)?;
        // parked rows wait again: the limit of the broker or the configuration may have changed
        let mut tx = writer.begin().await.map_err(failed)?;
        tally::move_all(&mut tx, Standing::Parked, Standing::Waiting).await.map_err(failed)?;
        tx.commit().await.map_err(failed)?;
        let reading = SqliteConnectOptions::new()
            .filename(path)
            .busy_timeout(Duration::from_secs(5))
            .pragma("cache_size", READER_CACHE)
            .pragma("query_only", "1");
        let reader = pool(reading).await.map_err(failed)?;
        let name = WatchedName::new(path)
            .map_err(|source| SpoolError::Folder { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), writer, reader, numbering, name: Arc::new(name) })
    }

    /// Returns where the file's name leads: SQLite writes on without an error where it was moved or
    /// removed.
    pub(super) fn name_leads(&self) -> NameLeads {
        self.name.leads()
    }

    /// Whether the file can be read and its pages are consistent.
    pub(super) async fn is_sound(&self) -> bool {
        check_pages(&self.path, &self.writer).await.is_ok()
    }

    pub(super) async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
    }

    pub(super) fn damaged(&self, reason: &str) -> SpoolError {
        SpoolError::Damaged { path: self.path.clone(), reason: reason.to_owned() }
    }

    pub(super) fn failed(&self, source: sqlx::Error) -> SpoolError {
        SpoolError::sqlite(&self.path, source)
    }

    /// Reads the tally.
    pub(super) async fn tally(&self) -> Result<Tally, SpoolError> {
        let mut reader = self.reader.acquire().await.map_err(|source| self.failed(source))?;
        tally::read_tally(&mut reader).await.map_err(|source| self.failed(source))
    }
}

pub(super) fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .auto_vacuum(SqliteAutoVacuum::Incremental)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(Duration::from_secs(5))
        .pragma("cache_size", WRITER_CACHE)
        // 16 MiB: the size to which the WAL is truncated after a backlog made it grow
        .pragma("journal_size_limit", "16777216")
}

pub(super) async fn pool(options: SqliteConnectOptions) -> Result<SqlitePool, sqlx::Error> {
    SqlitePoolOptions::new()
        .max_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .acquire_timeout(Duration::from_secs(30))
        // SQLite ends a transaction by itself when the disk is full. sqlx 0.9 cannot roll back such
        // a transaction and would count it as open for ever, so the connection is replaced.
        .before_acquire(|connection, _meta| {
            let is_sound = !connection.is_in_transaction();
            Box::pin(async move { Ok(is_sound) })
        })
        .connect_with(options)
        .await
}

async fn check_pages(path: &Path, pool: &SqlitePool) -> Result<(), SpoolError> {
    let verdict: String = sqlx::query_scalar("PRAGMA quick_check(1)")
        .fetch_one(pool)
        .await
        .map_err(|source| SpoolError::sqlite(path, source))?;
    if verdict == "ok" {
        Ok(())
    } else {
        Err(SpoolError::Damaged { path: path.to_owned(), reason: verdict })
    }
}

async fn migrate(path: &Path, pool: &SqlitePool) -> Result<(), SpoolError> {
    use sqlx::migrate::MigrateError;
    match sqlx::migrate!("./migrations").run(pool).await {
        Ok(()) => Ok(()),
        Err(error @ (MigrateError::VersionMissing(_) | MigrateError::VersionTooNew(..))) => {
            Err(SpoolError::Newer { path: path.to_owned(), reason: error.to_string() })
        }
        Err(MigrateError::Execute(source) | MigrateError::ExecuteMigration(source, _)) => {
            Err(SpoolError::sqlite(path, source))
        }
        Err(error) => Err(SpoolError::Damaged { path: path.to_owned(), reason: error.to_string() }),
    }
}

/// Writes the gateway's name into a new file; refuses the file of another gateway.
async fn claim(
    path: &Path,
    pool: &SqlitePool,
    gateway: &GatewayId,
    first_sequence: u64,
) -> Result<(), SpoolError> {
    let failed = |source| SpoolError::sqlite(path, source);
    sqlx::query(
        "INSERT INTO gateway (id, gateway_id, next_sequence) VALUES (1, ?, ?)
         ON CONFLICT (id) DO NOTHING",
    )
    .bind(gateway.as_str())
    .bind(first_sequence.max(1).cast_signed())
    .execute(pool)
    .await
    .map_err(failed)?;
    let got: String = sqlx::query_scalar("SELECT gateway_id FROM gateway")
        .fetch_one(pool)
        .await
        .map_err(failed)?;
    if got == gateway.as_str() {
        Ok(())
    } else {
        Err(SpoolError::Foreign { path: path.to_owned(), expected: gateway.clone(), got })
    }
}
