//! The store that needs no server: one SQLite file, searched exactly in memory.
//!
//! The file is authoritative: table `chunk` holds each chunk as JSON with its two vectors
//! (little-endian `f32` and `u32`). Opening loads everything that a search needs except the texts.
//! A write is one transaction and changes memory after the commit. SQLite's `data_version` shows a
//! write of another process (`pdm-agent knowledge ingest` beside a running agent); the next search
//! then loads the file again. The number of judgements is limited ([`EmbeddedStore::bounded`]), so
//! that neither memory nor file grows without end.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, RwLock};

use async_trait::async_trait;
use pdm_service::files::make_private_database;
use sqlx::SqliteConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions};
use tokio::sync::Mutex;

use super::index::Index;
use super::{Filter, Hit, Point, Query, StoreError, Stored, VectorStore};
use crate::about::Collection;

mod healing;
mod rows;

pub use healing::SetAside;

/// How the reason of a row begins that cannot be read.
const UNREADABLE: &str = "unreadable row";

/// Version of the file's schema, in `PRAGMA user_version`.
const FORM: i64 = 1;

const SCHEMA: &str = "
create table if not exists chunk (
  key integer primary key autoincrement,
  collection text not null,
  id text not null,
  document text not null,
  embedder text not null,
  content text not null,
  dense blob not null,
  terms blob not null,
  weights blob not null,
  unique (collection, id)
) strict;
create index if not exists chunk_document on chunk (collection, document);
";

type Indexes = HashMap<Collection, Index>;

/// A store in a SQLite file.
#[derive(Debug, Clone)]
pub struct EmbeddedStore {
    path: PathBuf,
    dimensions: usize,
    /// Most judgements; `None` is no limit.
    most: Option<usize>,
    /// One connection, so that `data_version` changes for other processes only.
    pool: SqlitePool,
    /// The `data_version` at which `indexes` were loaded; locked while the file is read or written.
    version: Arc<Mutex<Option<i64>>>,
    indexes: Arc<RwLock<Indexes>>,
}

impl EmbeddedStore {
    /// Opens the file for vectors of `dimensions`, and creates it if it does not exist.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the file cannot be opened or has a newer schema.
    pub async fn open(path: &Path, dimensions: usize) -> Result<Self, StoreError> {
        make_private_database(path).map_err(|error| unavailable(path, &error))?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .busy_timeout(std::time::Duration::from_secs(10));
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .min_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_with(options)
            .await
            .map_err(|error| unavailable(path, &error))?;
        let store = Self {
            path: path.to_owned(),
            dimensions,
            most: None,
            pool,
            version: Arc::default(),
            indexes: Arc::default(),
        };
        store.prepare().await?;
        Ok(store)
    }

    /// Limits the stored judgements to `most` and one batch of new ones; judgements above it are
    /// deleted at once. Those without a fault are deleted first, in each group the oldest first.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`].
    pub async fn bounded(mut self, most: usize) -> Result<Self, StoreError> {
        self.most = Some(most);
        self.replace(Collection::AnalysisHistory, &[], Vec::new()).await?;
        Ok(self)
    }

    fn failed(&self, error: impl std::fmt::Display) -> StoreError {
        unavailable(&self.path, &error)
    }

    /// Loads the file if another process has changed it, or if it was never loaded.
    async fn refresh(&self) -> Result<(), StoreError> {
        let mut version = self.version.lock().await;
        let mut connection = self.pool.acquire().await.map_err(|e| self.failed(e))?;
        let now = self.number(&mut connection, "pragma data_version").await?;
        if *version != Some(now) {
            let loaded = self.load(&mut connection).await?;
            self.swap(loaded);
            *version = Some(now);
        }
        Ok(())
    }

    fn swap(&self, loaded: Indexes) {
        *self.indexes.write().unwrap_or_else(std::sync::PoisonError::into_inner) = loaded;
    }

    async fn number(
        &self,
        connection: &mut SqliteConnection,
        sql: &'static str,
    ) -> Result<i64, StoreError> {
        sqlx::query_scalar(sql).fetch_one(connection).await.map_err(|e| self.failed(e))
    }

    /// The judgements to delete before `coming` new ones are stored: 5 % of the limit more than
    /// needed, so that deletions are rare.
    fn surplus(&self, collection: Collection, coming: usize) -> Vec<String> {
        let Some(most) = self.most.filter(|_| collection == Collection::AnalysisHistory) else {
            return Vec::new();
        };
        let indexes = self.indexes.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some(index) = indexes.get(&collection) else { return Vec::new() };
        match (index.alive() + coming).saturating_sub(most) {
            0 => Vec::new(),
            surplus => index.oldest(surplus + most / 20),
        }
    }

    /// Updates the memory after a commit.
    fn remember(&self, collection: Collection, gone: &[String], points: &[(i64, Point)]) {
        let mut indexes = self.indexes.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let index = indexes.entry(collection).or_insert_with(|| Index::new(self.dimensions));
        index.bury(gone);
        for (key, point) in points {
            index.push(*key, &point.chunk, &point.dense, &point.sparse);
        }
        index.tidy();
    }

    async fn hits(&self, found: Vec<(i64, f32)>) -> Result<Vec<Hit>, StoreError> {
        let mut connection = self.pool.acquire().await.map_err(|e| self.failed(e))?;
        let mut hits = Vec::with_capacity(found.len());
        for (key, score) in found {
            let content: Option<String> =
                sqlx::query_scalar("select content from chunk where key = ?")
                    .bind(key)
                    .fetch_optional(&mut *connection)
                    .await
                    .map_err(|e| self.failed(e))?;
            // a row that was replaced meanwhile is left out
            if let Some(content) = content {
                hits.push(Hit { chunk: self.chunk(&content)?, score });
            }
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.chunk.id.cmp(&b.chunk.id)));
        Ok(hits)
    }
}

fn unavailable(path: &Path, reason: &impl std::fmt::Display) -> StoreError {
    let (place, reason) = (path.display().to_string(), reason.to_string());
    if is_damage(&reason) {
        StoreError::Damaged { place, reason }
    } else {
        StoreError::Unavailable { place, reason }
    }
}

/// Whether a message is one of damage: SQLite's for a damaged file (codes 11 and 26), or this
/// store's for a row that it has not written.
fn is_damage(reason: &str) -> bool {
    ["malformed", "file is not a database", UNREADABLE].iter().any(|sign| reason.contains(sign))
}

#[async_trait]
impl VectorStore for EmbeddedStore {
    async fn prepare(&self) -> Result<(), StoreError> {
        let mut connection = self.pool.acquire().await.map_err(|e| self.failed(e))?;
        let form = self.number(&mut connection, "pragma user_version").await?;
        if form > FORM {
            return Err(self.failed(format!("form {form} is newer than {FORM}")));
        }
        if form < FORM {
            sqlx::raw_sql(SCHEMA).execute(&mut *connection).await.map_err(|e| self.failed(e))?;
            sqlx::raw_sql("pragma user_version = 1")
                .execute(&mut *connection)
                .await
                .map_err(|e| self.failed(e))?;
        }
        drop(connection);
        self.refresh().await
    }

    async fn replace(
        &self,
        collection: Collection,
        documents: &[String],
        points: Vec<Point>,
    ) -> Result<(), StoreError> {
        for point in &points {
            self.check_dimensions(collection, point.dense.len())?;
        }
        self.refresh().await?;
        let _still = self.version.lock().await;
        let surplus = self.surplus(collection, points.len());
        let gone: Vec<String> = documents.iter().chain(&surplus).cloned().collect();
        let mut transaction =
            self.pool.begin_with("begin immediate").await.map_err(|e| self.failed(e))?;
        self.delete(&mut transaction, collection, &gone).await?;
        let stored = self.insert(&mut transaction, collection, points).await?;
        transaction.commit().await.map_err(|e| self.failed(e))?;
        self.remember(collection, &gone, &stored);
        if !surplus.is_empty() {
            metrics::counter!("pdm_agent_forgotten_total", "what" => "analysis_history")
                .increment(surplus.len() as u64);
            tracing::info!(judgements = surplus.len(), "Forgotten by the knowledge base.");
        }
        Ok(())
    }

    async fn search(&self, collection: Collection, query: &Query) -> Result<Vec<Hit>, StoreError> {
        self.refresh().await?;
        let (indexes, query) = (Arc::clone(&self.indexes), query.clone());
        let found = tokio::task::spawn_blocking(move || {
            let indexes = indexes.read().unwrap_or_else(std::sync::PoisonError::into_inner);
            indexes.get(&collection).map_or_else(Vec::new, |index| index.search(&query))
        });
        self.hits(found.await.map_err(|e| self.failed(e))?).await
    }

    async fn list(
        &self,
        collection: Collection,
        filter: &Filter,
    ) -> Result<Vec<Stored>, StoreError> {
        let sql = "select content, embedder from chunk where collection = ?1 \
                   and (?2 is null or document = ?2) order by id";
        let rows = sqlx::query_as::<_, (String, String)>(sql)
            .bind(collection.as_str())
            .bind(&filter.document)
            .fetch_all(&self.pool)
            .await
            .map_err(|e| self.failed(e))?;
        let mut all = Vec::with_capacity(rows.len());
        for (content, embedder) in rows {
            all.push(Stored { chunk: self.chunk(&content)?, embedder });
        }
        all.retain(|stored| filter.passes(&stored.chunk));
        Ok(all)
    }

    async fn count(&self, collection: Collection) -> Result<u64, StoreError> {
        self.refresh().await?;
        let indexes = self.indexes.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(indexes.get(&collection).map_or(0, |index| index.alive() as u64))
    }
}
